#include "CSQLiteShim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static csqlite_functions functions;
static bool is_complete;

/* dlsym's object pointers are function pointers here; POSIX asks for this way of saying so. */
static bool find(void *library, const char *name, void *place) {
  *(void **)place = dlsym(library, name);
  return *(void **)place != NULL;
}

static void load(void) {
  void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
#define FIND(name) find(library, "sqlite3_" #name, &functions.name)
  is_complete = FIND(open_v2) && FIND(close_v2) && FIND(errmsg) && FIND(extended_errcode) && FIND(errstr) &&
                FIND(busy_timeout) && FIND(changes) && FIND(last_insert_rowid) && FIND(get_autocommit) &&
                FIND(prepare_v2) && FIND(step) && FIND(reset) && FIND(finalize) && FIND(clear_bindings) &&
                FIND(bind_null) && FIND(bind_int64) && FIND(bind_double) && FIND(bind_text) && FIND(bind_blob) &&
                FIND(column_type) && FIND(column_int64) && FIND(column_double) && FIND(column_text) &&
                FIND(column_blob) && FIND(column_bytes);
#undef FIND
}

const csqlite_functions *csqlite_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_complete ? &functions : NULL;
}

sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }
