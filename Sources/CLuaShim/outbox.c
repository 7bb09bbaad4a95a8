// Values from Swift to Lua.
#include "internal.h"
#include <stdlib.h>

bool clua_out_grow(clua_outbox *out, size_t size) {
    size_t wanted = out->count + size;
    size_t capacity = out->capacity ? out->capacity * 2 : 1024;
    if (capacity < wanted) capacity = wanted;
    unsigned char *grown = out->failed ? NULL : realloc(out->bytes, capacity);
    if (grown == NULL) {
        out->failed = true;
        return false;
    }
    out->bytes = grown;
    out->capacity = capacity;
    return true;
}

void *clua_out_extend(clua_outbox *out, size_t size) {
    if (out->capacity - out->count < size && !clua_out_grow(out, size)) return NULL;
    unsigned char *at = out->bytes + out->count;
    out->count += size;
    return at;
}

static void *begin_string(clua_outbox *out, size_t length, size_t room) {
    unsigned char *at = clua_out_extend(out, 1 + sizeof length + room);
    if (at == NULL) return NULL;
    *at = CLUA_TAG_STRING;
    memcpy(at + 1, &length, sizeof length);
    return at + 1 + sizeof length;
}

size_t clua_out_begin(clua_outbox *out) {
    begin_string(out, 0, 0);
    return out->count;
}

void clua_out_end(clua_outbox *out, size_t begun) {
    size_t length = out->count - begun;
    // Without memory, its place may be missing.
    if (!out->failed) memcpy(out->bytes + begun - sizeof length, &length, sizeof length);
}

void clua_out_string(clua_outbox *out, const void *bytes, size_t length) {
    void *at = begin_string(out, length, length);
    if (at != NULL && length > 0) memcpy(at, bytes, length);
}

void clua_out_borrowed(clua_outbox *out, const void *bytes, size_t length) {
    struct {
        const void *bytes;
        size_t length;
    } record = {bytes, length};
    clua_out_raw(out, CLUA_TAG_BORROWED, &record, sizeof record);
}

typedef struct object_record {
    void *object;
    int32_t type;
} object_record;

void clua_out_object(clua_outbox *out, int32_t type, void *object) {
    object_record record;
    memset(&record, 0, sizeof record);
    record.object = object;
    record.type = type;
    clua_out_raw(out, CLUA_TAG_OBJECT, &record, sizeof record);
}

static void take(clua_outbox *out, size_t *offset, void *into, size_t size) {
    memcpy(into, out->bytes + *offset, size);
    *offset += size;
}

// The userdata is made and given its metatable before it takes the object over, so that a memory error in between
// leaves no handle that would release twice.
static void push_object(lua_State *L, const object_record *record) {
    clua_handle *handle = lua_newuserdatauv(L, sizeof *handle, 0);
    handle->magic = CLUA_MAGIC;
    handle->type = record->type;
    handle->object = NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_types_key);
    lua_rawgeti(L, -1, record->type + 1);
    lua_remove(L, -2);
    lua_setmetatable(L, -2);
    handle->object = record->object;
    clua_runtime_of(L)->objects++;
}

static void push_table(lua_State *L, clua_outbox *out, size_t *offset, bool list) {
    int32_t count;
    take(out, offset, &count, sizeof count);
    luaL_checkstack(L, 4, "value nested too deeply");
    lua_createtable(L, list ? count : 0, list ? 0 : count);
    for (int32_t i = 1; i <= count; i++) {
        clua_push_value(L, out, offset);
        if (list) {
            lua_rawseti(L, -2, i);
        } else {
            clua_push_value(L, out, offset);
            lua_rawset(L, -3);
        }
    }
}

void clua_push_value(lua_State *L, clua_outbox *out, size_t *offset) {
    unsigned char tag = out->bytes[(*offset)++];
    int64_t integer;
    double number;
    size_t length;
    struct {
        const char *bytes;
        size_t length;
    } borrowed;
    object_record object;
    struct json_t *document;
    switch ((enum clua_tag)tag) {
    case CLUA_TAG_NIL: lua_pushnil(L); break;
    case CLUA_TAG_FALSE: lua_pushboolean(L, 0); break;
    case CLUA_TAG_TRUE: lua_pushboolean(L, 1); break;
    case CLUA_TAG_INTEGER:
        take(out, offset, &integer, sizeof integer);
        lua_pushinteger(L, integer);
        break;
    case CLUA_TAG_NUMBER:
        take(out, offset, &number, sizeof number);
        lua_pushnumber(L, number);
        break;
    case CLUA_TAG_STRING: {
        take(out, offset, &length, sizeof length);
        size_t start = *offset;
        *offset += length;
        lua_pushlstring(L, (const char *)out->bytes + start, length);
        break;
    }
    case CLUA_TAG_BORROWED:
        take(out, offset, &borrowed, sizeof borrowed);
        lua_pushlstring(L, borrowed.bytes, borrowed.length);
        break;
    case CLUA_TAG_OBJECT:
        take(out, offset, &object, sizeof object);
        push_object(L, &object);
        break;
    case CLUA_TAG_LIST: push_table(L, out, offset, true); break;
    case CLUA_TAG_RECORD: push_table(L, out, offset, false); break;
    case CLUA_TAG_JSON:
        take(out, offset, &document, sizeof document);
        clua_push_json(L, document);
        break;
    }
}

/// Places on the stack that a value may need while it is being made, of which it keeps one; and for how many more room is
/// made at a time.
enum { PLACES = 4, ROOM = 16 };

int clua_push_outbox(lua_State *L, size_t base) {
    clua_outbox *out = &clua_runtime_of(L)->out;
    if (out->failed) {
        out->failed = false;
        out->count = base;
        luaL_error(L, "not enough memory");
    }
    int before = lua_gettop(L);
    size_t end = out->count;
    size_t offset = base;
    for (int room = 0; offset < end; room--) {
        if (room < PLACES) {
            luaL_checkstack(L, ROOM, "too many results");
            room = ROOM;
        }
        clua_push_value(L, out, &offset);
    }
    out->count = base;
    return lua_gettop(L) - before;
}
