#ifndef CLUASHIM_JSON_H
#define CLUASHIM_JSON_H

#include "internal.h"
#include <limits.h>

enum json_mark {
    /// Metatable of arrays.
    JSON_MARK_ARRAY = 1,
    /// Metatable of objects.
    JSON_MARK_OBJECT,
    /// The value that stands for null.
    JSON_MARK_NULL,
};

/// Pushes the three marks, in the order of the enum. Needs four free slots. May raise.
void clua_push_json_marks(lua_State *L);

/// Appends bytes without a tag; silent when there is no memory (`out->failed` says so).
static inline void json_put(clua_outbox *out, const void *bytes, size_t length) {
    if (out->capacity - out->count < length && !clua_out_grow(out, length)) return;
    memcpy(out->bytes + out->count, bytes, length);
    out->count += length;
}
static inline void json_put_byte(clua_outbox *out, char byte) {
    if (out->capacity == out->count && !clua_out_grow(out, 1)) return;
    out->bytes[out->count++] = (unsigned char)byte;
}
void json_put_integer(clua_outbox *out, int64_t value);
/// A string with its quotes; false when it is not UTF-8.
bool json_put_string(clua_outbox *out, const char *text, size_t length, bool ascii);

#endif
