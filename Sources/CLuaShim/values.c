// Looking at arguments: only functions that the manual marks as never raising.
#include "internal.h"

int clua_top(lua_State *L) { return lua_gettop(L); }
int clua_typeof(lua_State *L, int index) { return lua_type(L, index); }
const char *clua_type_name(lua_State *L, int index) { return lua_typename(L, lua_type(L, index)); }
bool clua_boolean(lua_State *L, int index) { return lua_toboolean(L, index); }

bool clua_integer(lua_State *L, int index, int64_t *value) {
    int is_integer = 0;
    if (lua_type(L, index) != LUA_TNUMBER) return false;
    *value = lua_tointegerx(L, index, &is_integer);
    return is_integer;
}

bool clua_number(lua_State *L, int index, double *value) {
    if (lua_type(L, index) != LUA_TNUMBER) return false;
    *value = lua_tonumberx(L, index, NULL);
    return true;
}

// The type is checked first: lua_tolstring would convert a number in place, which allocates.
const char *clua_string(lua_State *L, int index, size_t *length) {
    if (lua_type(L, index) != LUA_TSTRING) return NULL;
    return lua_tolstring(L, index, length);
}

void *clua_object(lua_State *L, int index, int32_t type) {
    if (lua_type(L, index) != LUA_TUSERDATA) return NULL;
    if (lua_rawlen(L, index) != sizeof(clua_handle)) return NULL;
    clua_handle *handle = lua_touserdata(L, index);
    if (handle->magic != CLUA_MAGIC || handle->type != type) return NULL;
    return handle->object;
}
