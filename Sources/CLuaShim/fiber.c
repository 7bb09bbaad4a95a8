// Fibers: the coroutines that the scheduler itself resumes.
#include "internal.h"
#include <stdlib.h>

// fiber(fn, ...) -> number. The coroutine starts at the next turn of the loop.
static int fiber_new(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    clua_runtime *runtime = clua_runtime_of(L);
    int count = lua_gettop(L);
    lua_State *co = lua_newthread(L);
    clua_set_waiting(co, false);
    lua_insert(L, 1);
    luaL_checkstack(co, count, "too many arguments");
    lua_xmove(L, co, count);
    int reference = luaL_ref(L, LUA_REGISTRYINDEX);
    runtime->references++;
    runtime->callbacks.fiber_created(runtime->callbacks.context, reference);
    lua_pushinteger(L, reference);
    return 1;
}

// park(): waits until the scheduler resumes this fiber.
static int fiber_park(lua_State *L) {
    if (!clua_can_park(L)) return luaL_error(L, "cannot wait here");
    return clua_park(L);
}

// can_park() -> whether every coroutine from here to the scheduler can yield.
static int fiber_can_park(lua_State *L) {
    lua_pushboolean(L, clua_can_park(L));
    return 1;
}

// current() -> the number of the running fiber.
static int fiber_current(lua_State *L) {
    lua_pushinteger(L, clua_runtime_of(L)->current);
    return 1;
}

// Keeps the argument in the place of what a registry reference had.
static int keep_argument(lua_State *L, int type, int *reference) {
    luaL_checktype(L, 1, type);
    lua_settop(L, 1);
    luaL_unref(L, LUA_REGISTRYINDEX, *reference);
    *reference = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

// dispatcher(handlers): a table of functions by event kind, which get the events' values.
static int fiber_dispatcher(lua_State *L) { return keep_argument(L, LUA_TTABLE, &clua_runtime_of(L)->dispatcher); }

// yielded(function): called when the scheduler goes on with a fiber's own coroutine.yield; it may wait or raise there.
static int fiber_yielded(lua_State *L) { return keep_argument(L, LUA_TFUNCTION, &clua_runtime_of(L)->yielded); }

int clua_open_fiber(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"fiber", fiber_new},
        {"park", fiber_park},
        {"current", fiber_current},
        {"can_park", fiber_can_park},
        {"dispatcher", fiber_dispatcher},
        {"yielded", fiber_yielded},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
    return 1;
}

void clua_keep_error(clua_runtime *runtime, lua_State *L, int index) {
    size_t length = 0;
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &length) : NULL;
    if (text == NULL) {
        text = "(error object is not a string)";
        length = strlen(text);
    }
    free(runtime->error);
    runtime->error = malloc(length + 1);
    runtime->error_length = 0;
    if (runtime->error == NULL) return;
    memcpy(runtime->error, text, length);
    runtime->error[length] = 0;
    runtime->error_length = length;
}

const char *clua_error_text(clua_runtime *runtime, size_t *length) {
    *length = runtime->error_length;
    return runtime->error ? runtime->error : "";
}

static void release_fiber(clua_runtime *runtime, int reference) {
    luaL_unref(runtime->L, LUA_REGISTRYINDEX, reference);
    runtime->references--;
}

static lua_State *fiber_at(clua_runtime *runtime, int reference) {
    lua_rawgeti(runtime->L, LUA_REGISTRYINDEX, reference);
    lua_State *co = lua_tothread(runtime->L, -1);
    return co;
}

// As lua.c shows an error: a text as it is, an object by its __tostring, anything else by its type.
static const char *error_message(lua_State *L, int index) {
    if (lua_type(L, index) == LUA_TSTRING || luaL_getmetafield(L, index, "__tostring") != LUA_TNIL)
        return luaL_tolstring(L, index, NULL);
    return lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, index));
}

// Text with traceback of an error that reached the scheduler. Runs protected.
static int describe_error(lua_State *L) {
    lua_State *co = lua_touserdata(L, 1);
    lua_xmove(co, L, 1);
    luaL_traceback(L, co, error_message(L, 2), 0);
    return 1;
}

static int fail(clua_runtime *runtime, lua_State *co) {
    lua_State *L = runtime->L;
    lua_pushcfunction(L, describe_error);
    lua_pushlightuserdata(L, co);
    lua_pcall(L, 1, 1, 0);
    clua_keep_error(runtime, L, -1);
    lua_pop(L, 1);
    return CLUA_FAILED;
}

// Stack: the values' fiber as a light userdata. Moves the outbox values from the given base on to the fiber.
static int hand_over(lua_State *L) {
    lua_State *co = lua_touserdata(L, 1);
    size_t base = (size_t)lua_tointeger(L, 2);
    lua_settop(L, 0);
    int count = clua_push_outbox(L, base);
    luaL_checkstack(co, count, "too many values");
    lua_xmove(L, co, count);
    lua_pushinteger(L, count);
    return 1;
}

// How many values the fiber gets; -1 when there is no memory for them.
static int give_values(clua_runtime *runtime, lua_State *co, size_t base) {
    lua_State *L = runtime->L;
    lua_pushcfunction(L, hand_over);
    lua_pushlightuserdata(L, co);
    lua_pushinteger(L, (lua_Integer)base);
    int count = lua_pcall(L, 2, 1, 0) == LUA_OK ? (int)lua_tointeger(L, -1) : -1;
    lua_pop(L, 1);
    return count;
}

// Runs a fiber, which is on top of the runtime's stack and is taken from there, until its turn ends.
static int run_turn(clua_runtime *runtime, lua_State *co, int reference, int arguments, size_t base) {
    lua_State *L = runtime->L;
    int results = 0;
    clua_set_waiting(co, false);
    runtime->current = reference;
    runtime->fiber = co;
    int status = clua_run(runtime, co, NULL, arguments, &results);
    runtime->current = 0;
    runtime->fiber = NULL;
    runtime->out.count = base;
    int outcome = CLUA_FINISHED;
    if (status == LUA_YIELD) {
        bool wait = results > 0 && lua_touserdata(co, -results) == (void *)&clua_token;
        lua_pop(co, results);
        outcome = !wait ? CLUA_YIELDED : results > 1 ? CLUA_IDLE : CLUA_PARKED;
        clua_set_waiting(co, true);
    } else {
        if (status != LUA_OK) outcome = fail(runtime, co);
        lua_resetthread(co);
        release_fiber(runtime, reference);
    }
    lua_pop(L, 1);
    return outcome;
}

int clua_resume(clua_runtime *runtime, int reference, size_t base) {
    lua_State *co = fiber_at(runtime, reference);
    if (co == NULL) {
        lua_pop(runtime->L, 1);
        return CLUA_FINISHED;
    }
    int arguments = 0;
    if (lua_status(co) == LUA_OK) arguments = lua_gettop(co) > 0 ? lua_gettop(co) - 1 : 0;
    else if (runtime->out.count > base) arguments = give_values(runtime, co, base);
    if (arguments < 0) {
        lua_pushboolean(co, 0);
        arguments = 1;
    }
    return run_turn(runtime, co, reference, arguments, base);
}

// Stack: an event's kind and its values. Calls the kind's handler, then waits for the next event.
static int serve_event(lua_State *L, int status, lua_KContext context);

static int wait_for_event(lua_State *L, int status, lua_KContext context) {
    (void)status;
    lua_settop(L, 0);
    lua_pushlightuserdata(L, &clua_token);
    lua_pushboolean(L, 1);
    return lua_yieldk(L, 2, context, serve_event);
}

static int serve_event(lua_State *L, int status, lua_KContext context) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, clua_runtime_of(L)->dispatcher);
    lua_pushvalue(L, 1);
    lua_rawget(L, -2);
    lua_replace(L, 1);
    lua_pop(L, 1);
    lua_callk(L, lua_gettop(L) - 1, 0, context, wait_for_event);
    return wait_for_event(L, status, context);
}

static int serve(lua_State *L) { return serve_event(L, LUA_OK, 0); }

static int server_new(lua_State *L) {
    lua_pushcfunction(L, serve);
    lua_State *co = lua_newthread(L);
    clua_set_waiting(co, false);
    lua_insert(L, 1);
    lua_xmove(L, co, 1);
    lua_pushinteger(L, luaL_ref(L, LUA_REGISTRYINDEX));
    return 1;
}

int clua_make_server(clua_runtime *runtime) {
    lua_State *L = runtime->L;
    lua_pushcfunction(L, server_new);
    int reference = lua_pcall(L, 0, 1, 0) == LUA_OK ? (int)lua_tointeger(L, -1) : -1;
    lua_pop(L, 1);
    if (reference >= 0) runtime->references++;
    return reference;
}

int clua_deliver(clua_runtime *runtime, int reference, size_t base, bool *taken) {
    lua_State *co = fiber_at(runtime, reference);
    int arguments = co != NULL ? give_values(runtime, co, base) : -1;
    *taken = arguments >= 0;
    if (*taken) return run_turn(runtime, co, reference, arguments, base);
    lua_pop(runtime->L, 1);
    runtime->out.count = base;
    return CLUA_IDLE;
}

int clua_current_fiber(clua_runtime *runtime) { return runtime->current; }

void clua_discard(clua_runtime *runtime, int reference) {
    lua_State *co = fiber_at(runtime, reference);
    if (co != NULL) lua_resetthread(co);
    lua_pop(runtime->L, 1);
    release_fiber(runtime, reference);
}

static int dispatch_body(lua_State *L) {
    size_t base = (size_t)lua_tointeger(L, 1);
    clua_runtime *runtime = clua_runtime_of(L);
    lua_settop(L, 0);
    lua_rawgeti(L, LUA_REGISTRYINDEX, runtime->dispatcher);
    int count = clua_push_outbox(L, base);
    lua_pushvalue(L, 2);
    lua_rawget(L, 1);
    lua_replace(L, 2);
    lua_call(L, count - 1, 0);
    return 0;
}

static int add_traceback(lua_State *L) {
    luaL_traceback(L, L, error_message(L, 1), 1);
    return 1;
}

int clua_dispatch(clua_runtime *runtime, size_t base) {
    lua_State *L = runtime->L;
    if (runtime->dispatcher == LUA_NOREF) {
        runtime->out.count = base;
        return CLUA_FINISHED;
    }
    lua_pushcfunction(L, add_traceback);
    lua_pushcfunction(L, dispatch_body);
    lua_pushinteger(L, (lua_Integer)base);
    runtime->running = L;
    int status = lua_pcall(L, 1, 0, -3);
    runtime->running = NULL;
    if (status != LUA_OK) {
        clua_keep_error(runtime, L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    runtime->out.count = base;
    return status == LUA_OK ? CLUA_FINISHED : CLUA_FAILED;
}

typedef struct load_request {
    const char *text;
    size_t length;
    const char *name;
    int reference;
} load_request;

static int load_body(lua_State *L) {
    load_request *request = lua_touserdata(L, 1);
    clua_runtime *runtime = clua_runtime_of(L);
    lua_settop(L, 0);
    if (luaL_loadbuffer(L, request->text, request->length, request->name) != LUA_OK) return lua_error(L);
    lua_State *co = lua_newthread(L);
    lua_insert(L, 1);
    int first = runtime->script_index + 1;
    int count = runtime->argument_count > first ? runtime->argument_count - first : 0;
    luaL_checkstack(L, count + 1, "too many arguments to the script");
    luaL_checkstack(co, count + 1, "too many arguments to the script");
    for (int i = 0; i < count; i++) lua_pushstring(L, runtime->arguments[first + i]);
    lua_xmove(L, co, count + 1);
    request->reference = luaL_ref(L, LUA_REGISTRYINDEX);
    runtime->references++;
    return 0;
}

int clua_load_main(clua_runtime *runtime, const char *text, size_t length, const char *name) {
    lua_State *L = runtime->L;
    load_request request = {text, length, name, -1};
    lua_pushcfunction(L, load_body);
    lua_pushlightuserdata(L, &request);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
        clua_keep_error(runtime, L, -1);
        lua_pop(L, 1);
        return -1;
    }
    return request.reference;
}
