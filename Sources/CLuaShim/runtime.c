// Creation, the module searcher, native modules.
#include "internal.h"
#include <stdlib.h>

char clua_types_key;

const char *clua_lua_version(void) { return LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE; }
const char *clua_lua_ident(void) { return lua_ident; }

struct clua_module {
    lua_State *L;
    /// Stack index of the module's table.
    int table;
};

/// Where a type's metatable keeps its tables of methods and of properties.
enum { METHODS = 1, PROPERTIES = 2 };

static int handle_gc(lua_State *L) {
    clua_handle *handle = lua_touserdata(L, 1);
    if (handle == NULL || handle->object == NULL) return 0;
    clua_runtime *runtime = clua_runtime_of(L);
    void *object = handle->object;
    handle->object = NULL;
    runtime->objects--;
    runtime->callbacks.object_released(runtime->callbacks.context, handle->type, object);
    return 0;
}

static int run_host(lua_State *L, clua_function function, void *context) {
    size_t base = clua_runtime_of(L)->out.count;
    switch ((enum clua_outcome)function(context, L)) {
    case CLUA_RETURN: return clua_push_outbox(L, base);
    case CLUA_PARK: return clua_park(L);
    case CLUA_RAISE: break;
    }
    lua_settop(L, 0);
    luaL_where(L, 1);
    if (clua_push_outbox(L, base) == 1 && lua_type(L, -1) == LUA_TSTRING) lua_concat(L, 2);
    return lua_error(L);
}

static int trampoline(lua_State *L) {
    clua_function function = (clua_function)lua_touserdata(L, lua_upvalueindex(1));
    return run_host(L, function, lua_touserdata(L, lua_upvalueindex(2)));
}

static void push_function(lua_State *L, clua_function function, void *context) {
    lua_pushlightuserdata(L, (void *)function);
    lua_pushlightuserdata(L, context);
    lua_pushcclosure(L, trampoline, 2);
}

void clua_add_function(clua_module *module, const char *name, clua_function function, void *context) {
    push_function(module->L, function, context);
    lua_setfield(module->L, module->table, name);
}

void clua_add_type(clua_module *module, const char *name, int32_t type) {
    lua_State *L = module->L;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_types_key);
    lua_newtable(L);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    lua_pushcfunction(L, handle_gc);
    lua_setfield(L, -2, "__gc");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, module->table, name);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, METHODS);
    lua_setfield(L, -2, "__index");
    lua_rawseti(L, -2, type + 1);
    lua_pop(L, 1);
}

void clua_add_method(clua_module *module, int32_t type, const char *name, clua_function function, void *context) {
    lua_State *L = module->L;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_types_key);
    lua_rawgeti(L, -1, type + 1);
    if (strncmp(name, "__", 2) != 0) lua_rawgeti(L, -1, METHODS);
    push_function(L, function, context);
    lua_setfield(L, -2, name);
    lua_settop(L, module->table);
}

typedef struct property {
    clua_function function;
    void *context;
} property;

// __index of a type with properties; upvalues: methods, properties. Methods come first, so that Lua code may override.
static int index_object(lua_State *L) {
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) == LUA_TNIL) return 1;
    const property *found = lua_touserdata(L, -1);
    lua_settop(L, 1);
    return run_host(L, found->function, found->context);
}

void clua_add_property(clua_module *module, int32_t type, const char *name, clua_function function, void *context) {
    lua_State *L = module->L;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_types_key);
    lua_rawgeti(L, -1, type + 1);
    if (lua_rawgeti(L, -1, PROPERTIES) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, PROPERTIES);
        lua_rawgeti(L, -2, METHODS);
        lua_pushvalue(L, -2);
        lua_pushcclosure(L, index_object, 2);
        lua_setfield(L, -3, "__index");
    }
    property *entry = lua_newuserdatauv(L, sizeof *entry, 0);
    entry->function = function;
    entry->context = context;
    lua_setfield(L, -2, name);
    lua_settop(L, module->table);
}

static int load_native(lua_State *L) {
    clua_runtime *runtime = clua_runtime_of(L);
    const char *name = lua_tostring(L, lua_upvalueindex(1));
    lua_settop(L, 0);
    lua_newtable(L);
    clua_module module = {L, 1};
    runtime->callbacks.open_native(runtime->callbacks.context, name, &module);
    lua_settop(L, 1);
    return 1;
}

static int is_native(clua_runtime *runtime, const char *name) {
    return runtime->callbacks.open_native(runtime->callbacks.context, name, NULL);
}

// Comes before the file searchers: the standard library is the same everywhere.
static int search_embedded(lua_State *L) {
    clua_runtime *runtime = clua_runtime_of(L);
    const char *name = luaL_checkstring(L, 1);
    const char *module = NULL;
    size_t length = 0;
    if (strcmp(name, "httpscript.fiber") == 0) {
        lua_pushcfunction(L, clua_open_fiber);
        return 1;
    }
    if (is_native(runtime, name)) {
        lua_pushvalue(L, 1);
        lua_pushcclosure(L, load_native, 1);
        return 1;
    }
    if (!runtime->callbacks.find_module(runtime->callbacks.context, name, &module, &length)) {
        lua_pushfstring(L, "no module '%s' in the executable", name);
        return 1;
    }
    const char *chunk = lua_pushfstring(L, "=[httpscript]%s", name);
    if (luaL_loadbufferx(L, module, length, chunk, "bt") != LUA_OK) return lua_error(L);
    lua_pushliteral(L, ":embedded:");
    return 2;
}

static void add_searcher(lua_State *L) {
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_getfield(L, -1, "searchers");
    for (lua_Integer i = (lua_Integer)lua_rawlen(L, -1); i >= 2; i--) {
        lua_rawgeti(L, -1, i);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushcfunction(L, search_embedded);
    lua_rawseti(L, -2, 2);
    lua_pop(L, 2);
}

// os.exit([code [, close]]) as the manual has it, but: what a signal asked for wins over the script's status, and the
// host is told first, so that partial files go.
static int os_exit(lua_State *L) {
    clua_runtime *runtime = clua_runtime_of(L);
    int status = EXIT_SUCCESS;
    if (lua_isboolean(L, 1)) status = lua_toboolean(L, 1) ? EXIT_SUCCESS : EXIT_FAILURE;
    else status = (int)luaL_optinteger(L, 1, EXIT_SUCCESS);
    int number = clua_pending_signal(runtime);
    if (number != 0) status = clua_signal_status(number);
    runtime->callbacks.exiting(runtime->callbacks.context);
    if (lua_toboolean(L, 2)) lua_close(runtime->L);
    exit(status);
}

static int open_body(lua_State *L) {
    luaL_openlibs(L);
    lua_getglobal(L, LUA_OSLIBNAME);
    lua_pushcfunction(L, os_exit);
    lua_setfield(L, -2, "exit");
    lua_pop(L, 1);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_types_key);
    add_searcher(L);
    clua_open_coroutine(L);
    lua_gc(L, LUA_GCGEN, 0, 0);
    return 0;
}

clua_runtime *clua_create(clua_callbacks callbacks) {
    clua_runtime *runtime = calloc(1, sizeof *runtime);
    if (runtime == NULL) return NULL;
    runtime->callbacks = callbacks;
    runtime->dispatcher = LUA_NOREF;
    runtime->yielded = LUA_NOREF;
    runtime->heap = clua_heap_create();
    runtime->L = runtime->heap ? luaL_newstate() : NULL;
    if (runtime->L == NULL) {
        free(runtime->heap);
        free(runtime);
        return NULL;
    }
    // The blocks it has made already come to the lists when they are freed. (lua_newstate would leave out warn.)
    lua_setallocf(runtime->L, clua_reallocate, runtime->heap);
    *clua_extra(runtime->L) = (uintptr_t)runtime;
    lua_pushcfunction(runtime->L, open_body);
    if (lua_pcall(runtime->L, 0, 0, 0) != LUA_OK) {
        clua_destroy(runtime);
        return NULL;
    }
    return runtime;
}

void clua_destroy(clua_runtime *runtime) {
    clua_forget_signals(runtime);
    lua_close(runtime->L);
    clua_heap_destroy(runtime->heap);
    free(runtime->out.bytes);
    free(runtime->error);
    free(runtime);
}

clua_outbox *clua_outbox_of(clua_runtime *runtime) { return &runtime->out; }

static int arguments_body(lua_State *L) {
    clua_runtime *runtime = clua_runtime_of(L);
    lua_createtable(L, runtime->argument_count, 1);
    for (int i = 0; i < runtime->argument_count; i++) {
        lua_pushstring(L, runtime->arguments[i]);
        lua_rawseti(L, -2, i - runtime->script_index);
    }
    lua_setglobal(L, "arg");
    return 0;
}

bool clua_set_arguments(clua_runtime *runtime, const char *const *arguments, int count, int script_index) {
    runtime->arguments = arguments;
    runtime->argument_count = count;
    runtime->script_index = script_index;
    lua_pushcfunction(runtime->L, arguments_body);
    if (lua_pcall(runtime->L, 0, 0, 0) == LUA_OK) return true;
    lua_pop(runtime->L, 1);
    return false;
}

static int add_path_body(lua_State *L) {
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_getfield(L, -1, "path");
    lua_pushfstring(L, "%s" LUA_PATH_SEP "%s", lua_tostring(L, -1), (const char *)lua_touserdata(L, 1));
    lua_setfield(L, -3, "path");
    return 0;
}

bool clua_add_package_path(clua_runtime *runtime, const char *templates) {
    lua_pushcfunction(runtime->L, add_path_body);
    lua_pushlightuserdata(runtime->L, (void *)templates);
    if (lua_pcall(runtime->L, 1, 0, 0) == LUA_OK) return true;
    lua_pop(runtime->L, 1);
    return false;
}

int64_t clua_memory(clua_runtime *runtime) {
    return (int64_t)lua_gc(runtime->L, LUA_GCCOUNT) * 1024 + lua_gc(runtime->L, LUA_GCCOUNTB);
}
int64_t clua_objects(clua_runtime *runtime) { return runtime->objects; }
int64_t clua_references(clua_runtime *runtime) { return runtime->references; }
void clua_collect(clua_runtime *runtime) { lua_gc(runtime->L, LUA_GCCOLLECT); }
