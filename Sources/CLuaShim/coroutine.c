// coroutine.resume, wrap, yield, status and close that are transparent to waiting: when code inside a coroutine of the
// script's own waits for the scheduler, the yield passes through every resumer up to the fiber, and the scheduler's
// resume goes down the same way. So a generator that fetches pages is ordinary code.
#include "internal.h"

char clua_token;

static bool is_waiting(lua_State *co) { return *clua_extra(co) & 1; }

static lua_State *check_coroutine(lua_State *L) {
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co, 1, "coroutine");
    return co;
}

static bool is_wait(lua_State *co, int results) {
    return results > 0 && lua_touserdata(co, -results) == (void *)&clua_token;
}

int clua_run(clua_runtime *runtime, lua_State *co, lua_State *from, int arguments, int *results) {
    lua_State *before = runtime->running;
    int blocked = from != NULL && !lua_isyieldable(from);
    runtime->unyieldable += blocked;
    runtime->running = co;
    int status = lua_resume(co, from, arguments, results);
    runtime->running = before;
    runtime->unyieldable -= blocked;
    if (before != NULL) clua_interrupt_again(before);
    return status;
}

int clua_park(lua_State *L) {
    lua_pushlightuserdata(L, &clua_token);
    return lua_yield(L, 1);
}

bool clua_can_park(lua_State *L) { return lua_isyieldable(L) && clua_runtime_of(L)->unyieldable == 0; }

static int finish_resume(lua_State *L, int count);
static int finish_wrap(lua_State *L, int count);

// Resumes `co` with the topmost `arguments` values of L. Negative: failed, the message is on top of L. When the
// coroutine waits, L itself yields and `k` goes on later.
static int resume_step(lua_State *L, lua_State *co, int arguments, lua_KContext context, lua_KFunction k) {
    clua_runtime *runtime = clua_runtime_of(L);
    int results = 0;
    if (!lua_checkstack(co, arguments)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, arguments);
    int status = clua_run(runtime, co, L, arguments, &results);
    if (status == LUA_YIELD && is_wait(co, results)) {
        lua_pop(co, results);
        clua_set_waiting(co, true);
        lua_pushlightuserdata(L, &clua_token);
        return lua_yieldk(L, 1, context, k);
    }
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(co, L, 1);
        return -1;
    }
    if (!lua_checkstack(L, results + 1)) {
        lua_pop(co, results);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(co, L, results);
    return results;
}

static int resume_continue(lua_State *L, int status, lua_KContext context) {
    (void)status;
    lua_State *co = (lua_State *)context;
    clua_set_waiting(co, false);
    return finish_resume(L, resume_step(L, co, lua_gettop(L) - 1, context, resume_continue));
}

static int finish_resume(lua_State *L, int count) {
    if (count < 0) {
        lua_pushboolean(L, 0);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushboolean(L, 1);
    lua_insert(L, -(count + 1));
    return count + 1;
}

static int co_resume(lua_State *L) {
    lua_State *co = check_coroutine(L);
    if (is_waiting(co)) {
        lua_pushboolean(L, 0);
        lua_pushliteral(L, "cannot resume non-suspended coroutine");
        return 2;
    }
    return finish_resume(L, resume_step(L, co, lua_gettop(L) - 1, (lua_KContext)co, resume_continue));
}

static int wrap_continue(lua_State *L, int status, lua_KContext context) {
    (void)status;
    lua_State *co = (lua_State *)context;
    clua_set_waiting(co, false);
    return finish_wrap(L, resume_step(L, co, lua_gettop(L), context, wrap_continue));
}

// As the manual has it for wrap: an error closes the coroutine and goes on to the caller, with a position.
static int finish_wrap(lua_State *L, int count) {
    if (count >= 0) return count;
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
        status = lua_resetthread(co);
        if (status != LUA_OK) lua_xmove(co, L, 1);
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int wrap_call(lua_State *L) {
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    if (is_waiting(co)) return luaL_error(L, "cannot resume non-suspended coroutine");
    return finish_wrap(L, resume_step(L, co, lua_gettop(L), (lua_KContext)co, wrap_continue));
}

static int co_wrap(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    clua_set_waiting(co, false);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, wrap_call, 1);
    return 1;
}

static int finish_yield(lua_State *L, int status, lua_KContext context) {
    (void)status, (void)context;
    return lua_gettop(L);
}

// A yield that no coroutine of the script's resumed is a wait, which may end with an error as every other.
static int continue_yield(lua_State *L, int status, lua_KContext context) {
    clua_runtime *runtime = clua_runtime_of(L);
    if (runtime->fiber == L && runtime->yielded != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, runtime->yielded);
        lua_callk(L, 0, 0, context, finish_yield);
    }
    return finish_yield(L, status, context);
}

static int co_yield(lua_State *L) { return lua_yieldk(L, lua_gettop(L), 0, continue_yield); }

// The original functions are upvalues: only a waiting coroutine is special.
static int co_status(lua_State *L) {
    lua_State *co = check_coroutine(L);
    if (is_waiting(co)) {
        lua_pushliteral(L, "normal");
        return 1;
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static int co_close(lua_State *L) {
    lua_State *co = check_coroutine(L);
    if (is_waiting(co)) return luaL_error(L, "cannot close a normal coroutine");
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static void replace(lua_State *L, const char *name, lua_CFunction function) {
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

void clua_open_coroutine(lua_State *L) {
    lua_getglobal(L, LUA_COLIBNAME);
    replace(L, "resume", co_resume);
    replace(L, "wrap", co_wrap);
    replace(L, "yield", co_yield);
    replace(L, "status", co_status);
    replace(L, "close", co_close);
    lua_pop(L, 1);
}
