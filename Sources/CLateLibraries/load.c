#define _GNU_SOURCE
#include "CLateLibraries.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum library {
#define LIBRARY(library, file) library,
#define FUNCTION(library, name)
#include "functions.h"
#undef LIBRARY
#undef FUNCTION
};

static const char *const files[] = {
#define LIBRARY(library, file) file,
#define FUNCTION(library, name)
#include "functions.h"
#undef LIBRARY
#undef FUNCTION
};

static const struct {
    unsigned char library;
    const char *name;
} functions[] = {
#define LIBRARY(library, file)
#define FUNCTION(library, name) {library, #name},
#include "functions.h"
};

/// One for each function, in the order of the list. (entries.S)
extern void *late_slots[];

static _Noreturn void fail(void) {
    const char *reason = dlerror();
    fflush(NULL);
    fprintf(stderr, "httpscript: a library is missing: %s\n", reason ? reason : "unknown error");
    _exit(1);
}

/// Whether something stands between the program and the C library (a preloaded library, a sanitizer), for libraries as
/// well.
static bool is_interposed(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
    return true;
#endif
#endif
    return getenv("LD_PRELOAD") != NULL || access("/etc/ld.so.preload", F_OK) == 0;
}

/// NULL where it is missing.
static void *load(unsigned char number) {
    static void *loaded[sizeof files / sizeof files[0]];
    void *library = __atomic_load_n(&loaded[number], __ATOMIC_ACQUIRE);
    if (library != NULL) return library;
    // Global, so that what a library brings along can be looked up, as if it had been linked. Looking for its own
    // references in the library first, and not in the program, takes a tenth of the time off.
    library = dlopen(files[number], RTLD_LAZY | RTLD_GLOBAL | (is_interposed() ? 0 : RTLD_DEEPBIND));
    if (library != NULL) __atomic_store_n(&loaded[number], library, __ATOMIC_RELEASE);
    return library;
}

bool late_load(const char *file) {
    for (size_t number = 0; number < sizeof files / sizeof files[0]; number++)
        if (strcmp(files[number], file) == 0) return load((unsigned char)number) != NULL;
    return false;
}

// Threads may come here at once; each finds the same.
void *late_resolve(void **slot) {
    size_t index = (size_t)(slot - late_slots);
    void *library = load(functions[index].library);
    void *function = library == NULL ? NULL : dlsym(library, functions[index].name);
    if (function == NULL) fail();
    __atomic_store_n(slot, function, __ATOMIC_RELEASE);
    return function;
}
