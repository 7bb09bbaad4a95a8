// A jansson document as Lua values, and the three values that stand for JSON's own kinds in Lua: the metatables that
// mark a table as array or as object, and null.
#include "internal.h"
#include "json.h"
#include <jansson.h>

/// Registry key of the list of marks; its elements are in the order of `enum json_mark`.
static char marks_key;

static int null_tostring(lua_State *L) {
    lua_pushliteral(L, "null");
    return 1;
}

static void push_marker(lua_State *L, const char *name) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
}

static void make_marks(lua_State *L) {
    lua_createtable(L, 3, 0);
    push_marker(L, "json.array");
    lua_rawseti(L, -2, JSON_MARK_ARRAY);
    push_marker(L, "json.object");
    lua_rawseti(L, -2, JSON_MARK_OBJECT);
    lua_newuserdatauv(L, 0, 0);
    push_marker(L, "json.null");
    lua_pushcfunction(L, null_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    lua_rawseti(L, -2, JSON_MARK_NULL);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &marks_key);
}

void clua_push_json_marks(lua_State *L) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &marks_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        make_marks(L);
    }
    int list = lua_gettop(L);
    for (int mark = JSON_MARK_ARRAY; mark <= JSON_MARK_NULL; mark++) lua_rawgeti(L, list, mark);
    lua_remove(L, list);
}

/// Where `push_body` keeps the marks on its stack.
#define MARK(mark) ((mark) + 1)

static void push_node(lua_State *L, json_t *node);

static void push_array(lua_State *L, json_t *array) {
    size_t count = json_array_size(array);
    lua_createtable(L, count > INT_MAX ? INT_MAX : (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_node(L, json_array_get(array, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushvalue(L, MARK(JSON_MARK_ARRAY));
    lua_setmetatable(L, -2);
}

static void push_members(lua_State *L, json_t *object) {
    size_t count = json_object_size(object);
    lua_createtable(L, 0, count > INT_MAX ? INT_MAX : (int)count);
    for (void *member = json_object_iter(object); member != NULL; member = json_object_iter_next(object, member)) {
        lua_pushlstring(L, json_object_iter_key(member), json_object_iter_key_len(member));
        push_node(L, json_object_iter_value(member));
        lua_rawset(L, -3);
    }
    lua_pushvalue(L, MARK(JSON_MARK_OBJECT));
    lua_setmetatable(L, -2);
}

// jansson parses no deeper than 2048 levels, so the recursion is bounded.
static void push_node(lua_State *L, json_t *node) {
    switch (json_typeof(node)) {
    case JSON_OBJECT:
        luaL_checkstack(L, 4, "document nested too deeply");
        push_members(L, node);
        break;
    case JSON_ARRAY:
        luaL_checkstack(L, 4, "document nested too deeply");
        push_array(L, node);
        break;
    case JSON_STRING: lua_pushlstring(L, json_string_value(node), json_string_length(node)); break;
    case JSON_INTEGER: lua_pushinteger(L, json_integer_value(node)); break;
    case JSON_REAL: lua_pushnumber(L, json_real_value(node)); break;
    case JSON_TRUE: lua_pushboolean(L, 1); break;
    case JSON_FALSE: lua_pushboolean(L, 0); break;
    case JSON_NULL: lua_pushvalue(L, MARK(JSON_MARK_NULL)); break;
    }
}

static int push_body(lua_State *L) {
    json_t *document = lua_touserdata(L, 1);
    clua_push_json_marks(L);
    push_node(L, document);
    return 1;
}

// Protected, so that the document is freed also when memory runs out on the way.
void clua_push_json(lua_State *L, json_t *document) {
    lua_pushcfunction(L, push_body);
    lua_pushlightuserdata(L, document);
    int status = lua_pcall(L, 1, 1, 0);
    json_decref(document);
    if (status != LUA_OK) lua_error(L);
}

void clua_out_json(clua_outbox *out, json_t *document) {
    size_t before = out->count;
    clua_out_raw(out, CLUA_TAG_JSON, &document, sizeof document);
    if (out->count == before) json_decref(document);
}

void clua_release_json(json_t *document) { json_decref(document); }
