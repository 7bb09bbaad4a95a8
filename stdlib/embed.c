#include "Stdlib.h"
#include <stdint.h>
#include <string.h>

typedef struct module {
    const char *name;
    const char *text;
    size_t length;
} module;

#include "modules.h"

// Bytecode is made by a script before the build and may be missing, or of other texts than are embedded here.
typedef struct compiled {
    /// Of the text it was made of.
    uint64_t digest;
    const char *bytes;
    size_t length;
} compiled;

#if __has_include("chunks.h")
#include "chunks.h"
#else
static const char compiler[] = "";
static const compiled chunks[sizeof modules / sizeof modules[0]];
#endif

size_t stdlib_count(void) { return sizeof modules / sizeof modules[0]; }
const char *stdlib_name(size_t index) { return modules[index].name; }

// As in scripts/embed: FNV-1a over words of eight bytes, the last one filled up with NUL.
static uint64_t digest(const char *text, size_t length) {
    uint64_t value = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, text + i, length - i < 8 ? length - i : 8);
        value = (value ^ word) * 0x100000001b3u;
    }
    return value;
}

// Bytecode of another release of Lua may look the same and mean something else.
static bool is_usable(size_t index, const char *lua) {
    if (index >= sizeof chunks / sizeof chunks[0] || chunks[index].bytes == NULL) return false;
    return strstr(lua, compiler) != NULL && chunks[index].digest == digest(modules[index].text, modules[index].length);
}

bool stdlib_find(const char *name, const char *lua, const char **chunk, size_t *length) {
    for (size_t i = 0; i < stdlib_count(); i++) {
        if (strcmp(modules[i].name, name) != 0) continue;
        bool usable = is_usable(i, lua);
        *chunk = usable ? chunks[i].bytes : modules[i].text;
        *length = usable ? chunks[i].length : modules[i].length;
        return true;
    }
    return false;
}
