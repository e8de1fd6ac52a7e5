// SQLite's header, and inline functions for those parts of its API that are macros.
#pragma once
#if !__has_include(<sqlite3.h>)
#error "LoadingKit needs SQLite: apt-get install libsqlite3-dev, or dnf install sqlite-devel"
#else
#include <sqlite3.h>

// SQLite copies the bytes before these functions return (SQLITE_TRANSIENT). Without bytes the value is an empty text or
// blob, not NULL.
static inline int lk_sqlite3_bind_text(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(
        statement, index, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int lk_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}
#endif
