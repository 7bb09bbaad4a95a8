#include <sqlite3.h>

/* SQLITE_TRANSIENT, a cast that Swift does not see: SQLite copies what is bound. */
static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }
