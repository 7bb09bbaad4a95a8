#ifndef CSQLITESHIM_H
#define CSQLITESHIM_H

#include <sqlite3.h>

/* SQLite without being linked to it: a script that keeps nothing must not wait for the library to be loaded. */

typedef struct {
  __typeof__(&sqlite3_open_v2) open_v2;
  __typeof__(&sqlite3_close_v2) close_v2;
  __typeof__(&sqlite3_errmsg) errmsg;
  __typeof__(&sqlite3_extended_errcode) extended_errcode;
  __typeof__(&sqlite3_errstr) errstr;
  __typeof__(&sqlite3_busy_timeout) busy_timeout;
  __typeof__(&sqlite3_changes) changes;
  __typeof__(&sqlite3_last_insert_rowid) last_insert_rowid;
  __typeof__(&sqlite3_get_autocommit) get_autocommit;
  __typeof__(&sqlite3_prepare_v2) prepare_v2;
  __typeof__(&sqlite3_step) step;
  __typeof__(&sqlite3_reset) reset;
  __typeof__(&sqlite3_finalize) finalize;
  __typeof__(&sqlite3_clear_bindings) clear_bindings;
  __typeof__(&sqlite3_bind_null) bind_null;
  __typeof__(&sqlite3_bind_int64) bind_int64;
  __typeof__(&sqlite3_bind_double) bind_double;
  __typeof__(&sqlite3_bind_text) bind_text;
  __typeof__(&sqlite3_bind_blob) bind_blob;
  __typeof__(&sqlite3_column_type) column_type;
  __typeof__(&sqlite3_column_int64) column_int64;
  __typeof__(&sqlite3_column_double) column_double;
  __typeof__(&sqlite3_column_text) column_text;
  __typeof__(&sqlite3_column_blob) column_blob;
  __typeof__(&sqlite3_column_bytes) column_bytes;
} csqlite_functions;

/* Loads the library with the first call. NULL: it is not there, or lacks a function. */
const csqlite_functions *csqlite_load(void);

/* SQLITE_TRANSIENT, a cast that Swift does not see: SQLite copies what is bound. */
sqlite3_destructor_type csqlite_transient(void);

#endif
