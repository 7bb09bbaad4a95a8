// A Lua value as JSON text, written straight into the outbox.
//
// Not by way of a jansson document: building and freeing one costs more than half of writing it again, jansson prints
// every real with the same number of digits, and its errors do not say where in the value they are.
#include "json.h"
#include <stdio.h>
#include <stdlib.h>

/// A table that is being written; together they are the path to the value at hand.
typedef struct frame {
    const struct frame *outer;
    const void *table;
    /// The member's name, or NULL in an array.
    const char *key;
    size_t key_length;
    lua_Integer index;
} frame;

typedef struct encoder {
    lua_State *L;
    const clua_json_format *format;
    clua_outbox *out;
    clua_json_failure *failure;
    int depth;
    enum clua_json_status status;
} encoder;

/// Where `encode_body` keeps the marks on its stack.
#define MARK(mark) ((mark) + 2)

// Path

static bool is_name(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool letter = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return length > 0;
}

static size_t describe_step(const frame *step, bool first, char *text, size_t size) {
    int written;
    int length = step->key_length > 60 ? 60 : (int)step->key_length;
    if (step->key == NULL) written = snprintf(text, size, "[%lld]", (long long)step->index);
    else if (is_name(step->key, step->key_length))
        written = snprintf(text, size, "%s%.*s", first ? "" : ".", length, step->key);
    else written = snprintf(text, size, "[\"%.*s\"]", length, step->key);
    return written > 0 ? (size_t)written : 0;
}

// Outermost first, so a path too long for the buffer loses its end.
static size_t describe_path(const frame *step, char *text, size_t size) {
    if (step == NULL) return 0;
    size_t used = describe_path(step->outer, text, size);
    if (used >= size) return used;
    used += describe_step(step, used == 0, text + used, size - used);
    if (used >= size) memcpy(text + size - 4, "...", 4);
    return used;
}

static bool fail(encoder *e, const frame *at, enum clua_json_status status, const char *detail) {
    e->status = status;
    e->failure->detail = detail;
    describe_path(at, e->failure->path, sizeof e->failure->path);
    return false;
}

// Too deep: by a cycle, or honestly? The path named is the shortest that leads back to where it has been.
static bool fail_depth(encoder *e, const frame *at, const void *table) {
    const frame *shortest = NULL;
    for (const frame *inner = at; inner != NULL; inner = inner->outer) {
        for (const frame *outer = inner->outer; outer != NULL; outer = outer->outer)
            if (outer->table == inner->table) {
                shortest = inner->outer;
                break;
            }
    }
    if (shortest != NULL) return fail(e, shortest, CLUA_JSON_CYCLE, "");
    for (const frame *outer = at; outer != NULL; outer = outer->outer)
        if (outer->table == table) return fail(e, at, CLUA_JSON_CYCLE, "");
    return fail(e, at, CLUA_JSON_DEPTH, "");
}

// Values

static bool write_value(encoder *e, const frame *outer);

static void new_line(encoder *e) {
    if (e->format->indent == 0) return;
    json_put_byte(e->out, '\n');
    for (int i = e->format->indent * e->depth; i > 0; i--) json_put_byte(e->out, ' ');
}

static void begin_element(encoder *e, bool first) {
    if (!first) json_put_byte(e->out, ',');
    new_line(e);
}

static bool write_element(encoder *e, frame *f) {
    begin_element(e, f->index == 1);
    if (!write_value(e, f)) return false;
    lua_pop(e->L, 1);
    return true;
}

// The keys came out of order: some are in the table's hash part. Those left must be exactly from f->index on.
static bool write_unordered(encoder *e, frame *f, int table) {
    lua_State *L = e->L;
    lua_Integer first = f->index;
    lua_Integer last = first - 1;
    lua_Integer count = 0;
    do {
        lua_pop(L, 1);
        if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 1)
            return fail(e, f->outer, CLUA_JSON_MIXED, luaL_typename(L, -1));
        if (lua_tointeger(L, -1) > last) last = lua_tointeger(L, -1);
        count++;
    } while (lua_next(L, table));
    bool whole = last - first + 1 == count;
    for (lua_Integer i = 0; i < count; i++, f->index++) {
        if (lua_rawgeti(L, table, f->index) == LUA_TNIL) return fail(e, f, CLUA_JSON_HOLE, "");
        if (!whole) lua_pop(L, 1);
        else if (!write_element(e, f)) return false;
    }
    return whole || fail(e, f, CLUA_JSON_HOLE, "");
}

static bool write_elements(encoder *e, frame *f, int table) {
    lua_State *L = e->L;
    lua_pushnil(L);
    for (f->index = 1; lua_next(L, table); f->index++) {
        if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) != f->index) return write_unordered(e, f, table);
        if (!write_element(e, f)) return false;
    }
    return true;
}

static bool write_member(encoder *e, frame *f, bool first) {
    begin_element(e, first);
    if (!json_put_string(e->out, f->key, f->key_length, e->format->ascii)) return fail(e, f, CLUA_JSON_UTF8, "key");
    json_put_byte(e->out, ':');
    if (e->format->indent > 0) json_put_byte(e->out, ' ');
    if (!write_value(e, f)) return false;
    lua_pop(e->L, 1);
    return true;
}

// The member whose key is on top, below its value if there is one. Strings only: lua_tolstring would change a number.
static bool take_key(encoder *e, frame *f, int key) {
    lua_State *L = e->L;
    if (lua_type(L, key) != LUA_TSTRING) return fail(e, f->outer, CLUA_JSON_KEY, luaL_typename(L, key));
    f->key = lua_tolstring(L, key, &f->key_length);
    return true;
}

static bool write_members(encoder *e, frame *f, int table) {
    lua_State *L = e->L;
    bool first = true;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        if (!take_key(e, f, -2) || !write_member(e, f, first)) return false;
        first = false;
    }
    return true;
}

typedef struct sorted_key {
    const char *text;
    size_t length;
    lua_Integer number;
} sorted_key;

static int compare_keys(const void *left, const void *right) {
    const sorted_key *a = left;
    const sorted_key *b = right;
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    if (order != 0) return order;
    return a->length < b->length ? -1 : a->length > b->length;
}

static size_t count_members(lua_State *L, int table) {
    size_t count = 0;
    lua_pushnil(L);
    for (; lua_next(L, table); count++) lua_pop(L, 1);
    return count;
}

// The keys are kept alive by a table of their own: making it may run finalisers, and these may change anything.
static bool write_sorted(encoder *e, frame *f, int table) {
    lua_State *L = e->L;
    size_t room = count_members(L, table);
    sorted_key *keys = lua_newuserdatauv(L, (room + 1) * sizeof *keys, 0);
    lua_createtable(L, room > INT_MAX ? INT_MAX : (int)room, 0);
    int names = lua_gettop(L);
    size_t count = 0;
    lua_pushnil(L);
    for (; count < room && lua_next(L, table); count++) {
        lua_pop(L, 1);
        if (!take_key(e, f, -1)) return false;
        keys[count] = (sorted_key){f->key, f->key_length, (lua_Integer)count + 1};
        lua_pushvalue(L, -1);
        lua_rawseti(L, names, keys[count].number);
    }
    lua_settop(L, names);
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++) {
        f->key = keys[i].text;
        f->key_length = keys[i].length;
        lua_rawgeti(L, names, keys[i].number);
        lua_rawget(L, table);
        if (!write_member(e, f, i == 0)) return false;
    }
    lua_settop(L, names - 2);
    return true;
}

// A table with a mark is what the mark says. One without is an array when it is not empty and has an integer key.
static bool is_array(encoder *e, int table) {
    lua_State *L = e->L;
    if (lua_getmetatable(L, table)) {
        bool array = lua_rawequal(L, -1, MARK(JSON_MARK_ARRAY));
        bool object = lua_rawequal(L, -1, MARK(JSON_MARK_OBJECT));
        lua_pop(L, 1);
        if (array || object) return array;
    }
    lua_pushnil(L);
    if (!lua_next(L, table)) return false;
    bool array = lua_isinteger(L, -2);
    lua_pop(L, 2);
    return array;
}

static bool write_table(encoder *e, const frame *outer) {
    lua_State *L = e->L;
    int table = lua_gettop(L);
    frame f = {outer, lua_topointer(L, table), NULL, 0, 0};
    if (e->depth == CLUA_JSON_MAX_DEPTH) return fail_depth(e, outer, f.table);
    luaL_checkstack(L, 8, "value nested too deeply");
    bool array = is_array(e, table);
    json_put_byte(e->out, array ? '[' : '{');
    size_t begun = e->out->count;
    e->depth++;
    bool done = array                   ? write_elements(e, &f, table)
                : e->format->sort_keys ? write_sorted(e, &f, table)
                                        : write_members(e, &f, table);
    e->depth--;
    if (!done) return false;
    if (e->out->count > begun) new_line(e);
    json_put_byte(e->out, array ? ']' : '}');
    return true;
}

static bool write_number(encoder *e, const frame *outer) {
    lua_State *L = e->L;
    if (lua_isinteger(L, -1)) {
        json_put_integer(e->out, lua_tointeger(L, -1));
        return true;
    }
    double value = lua_tonumber(L, -1);
    if (value != value) return fail(e, outer, CLUA_JSON_NUMBER, "not a number");
    if (value - value != 0) return fail(e, outer, CLUA_JSON_NUMBER, "infinite");
    char text[32];
    json_put(e->out, text, e->format->write_real(value, text));
    return true;
}

// The value on top of the stack, which stays there.
static bool write_value(encoder *e, const frame *outer) {
    lua_State *L = e->L;
    size_t length = 0;
    switch (lua_type(L, -1)) {
    case LUA_TTABLE: return write_table(e, outer);
    case LUA_TNUMBER: return write_number(e, outer);
    case LUA_TBOOLEAN:
        if (lua_toboolean(L, -1)) json_put(e->out, "true", 4);
        else json_put(e->out, "false", 5);
        return true;
    case LUA_TSTRING: {
        const char *text = lua_tolstring(L, -1, &length);
        return json_put_string(e->out, text, length, e->format->ascii) || fail(e, outer, CLUA_JSON_UTF8, "string");
    }
    case LUA_TUSERDATA:
        if (lua_rawequal(L, -1, MARK(JSON_MARK_NULL))) {
            json_put(e->out, "null", 4);
            return true;
        }
        break;
    default: break;
    }
    return fail(e, outer, CLUA_JSON_TYPE, luaL_typename(L, -1));
}

static int encode_body(lua_State *L) {
    encoder *e = lua_touserdata(L, 1);
    clua_push_json_marks(L);
    lua_pushvalue(L, 2);
    write_value(e, NULL);
    return 0;
}

enum clua_json_status clua_json_encode(
    lua_State *L, int index, const clua_json_format *format, clua_outbox *out, clua_json_failure *failure) {
    encoder e = {L, format, out, failure, 0, CLUA_JSON_DONE};
    size_t base = out->count;
    size_t length = 0;
    failure->detail = "";
    failure->path[0] = 0;
    if (!lua_checkstack(L, 3)) return CLUA_JSON_MEMORY;
    clua_out_string(out, "", 0);
    size_t begun = out->count;
    lua_pushcfunction(L, encode_body);
    lua_pushlightuserdata(L, &e);
    lua_pushvalue(L, index < 0 ? index - 2 : index);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
        lua_pop(L, 1);
        e.status = CLUA_JSON_MEMORY;
    }
    if (e.status != CLUA_JSON_DONE || out->failed) {
        out->count = base;
        out->failed = false;
        return e.status == CLUA_JSON_DONE ? CLUA_JSON_MEMORY : e.status;
    }
    length = out->count - begun;
    memcpy(out->bytes + begun - sizeof length, &length, sizeof length);
    return CLUA_JSON_DONE;
}
