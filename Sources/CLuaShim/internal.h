#ifndef CLUASHIM_INTERNAL_H
#define CLUASHIM_INTERNAL_H

#include "CLuaShim.h"
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

/// What a userdata that stands for a Swift object holds.
typedef struct clua_handle {
    uint32_t magic;
    int32_t type;
    void *object;
} clua_handle;

#define CLUA_MAGIC 0x48545053u

/// Where Lua's memory comes from. (memory.c)
typedef struct clua_heap clua_heap;

struct clua_runtime {
    lua_State *L;
    clua_heap *heap;
    clua_callbacks callbacks;
    clua_outbox out;
    /// The coroutine whose code runs now; the signal handler hooks it.
    lua_State *volatile running;
    /// How many resumes are nested whose resumer could not yield: then nothing inside can wait.
    int unyieldable;
    /// Registry reference of the table of event handlers, by event kind.
    int dispatcher;
    /// Registry reference of what is called when the scheduler goes on with a fiber's own `coroutine.yield`.
    int yielded;
    /// The number of the fiber that runs now, 0 outside.
    int current;
    /// Its coroutine: those inside it are not the scheduler's to resume.
    lua_State *fiber;
    int64_t references;
    /// Swift objects that Lua holds.
    int64_t objects;
    char *error;
    size_t error_length;
    const char *const *arguments;
    int argument_count;
    int script_index;
};

/// First value of every yield that is meant for the scheduler.
extern char clua_token;
/// Registry key of the list of metatables, by type number.
extern char clua_types_key;

/// A thread's extra space holds the runtime; the lowest bit says that the thread waits for the scheduler.
static inline uintptr_t *clua_extra(lua_State *L) { return (uintptr_t *)lua_getextraspace(L); }
static inline clua_runtime *clua_runtime_of(lua_State *L) {
    return (clua_runtime *)(*clua_extra(L) & ~(uintptr_t)1);
}

static inline void clua_set_waiting(lua_State *co, bool waiting) {
    if (waiting) *clua_extra(co) |= 1;
    else *clua_extra(co) &= ~(uintptr_t)1;
}

/// Pushes the outbox values from `base` on and truncates it to `base`; returns how many. May raise.
int clua_push_outbox(lua_State *L, size_t base);
/// Pushes one record at `*offset`, and moves it on. May raise.
void clua_push_value(lua_State *L, clua_outbox *out, size_t *offset);
clua_heap *clua_heap_create(void);
/// After the state is closed.
void clua_heap_destroy(clua_heap *heap);
/// A lua_Alloc; the context is the heap.
void *clua_reallocate(void *context, void *block, size_t old, size_t size);
/// Pushes a JSON document as Lua values. May raise. (json.c)
void clua_push_json(lua_State *L, struct json_t *document);
/// Frees what an undelivered JSON record holds. (json.c)
void clua_release_json(struct json_t *document);

/// A fiber's lua_resume, with the bookkeeping the signal handler and the wait check need.
int clua_run(clua_runtime *runtime, lua_State *co, lua_State *from, int arguments, int *results);
/// Suspends the calling fiber; for `return clua_park(L)`.
int clua_park(lua_State *L);
/// Whether every coroutine from here to the scheduler can yield.
bool clua_can_park(lua_State *L);
/// Replaces coroutine.resume, wrap, yield, status and close.
void clua_open_coroutine(lua_State *L);
/// Functions for the module `httpscript.fiber`: fiber, park, can_park, current, dispatcher, yielded.
int clua_open_fiber(lua_State *L);
/// A coroutine goes on after one inside it has ended: the signal that interrupted that one is meant for it too.
void clua_interrupt_again(lua_State *L);
/// The signal handler no longer touches this runtime.
void clua_forget_signals(clua_runtime *runtime);
void clua_keep_error(clua_runtime *runtime, lua_State *L, int index);

#endif
