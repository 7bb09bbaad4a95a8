/// The whole door between Swift and Lua.
///
/// Lua raises errors and yields by longjmp; a Swift frame that is jumped over leaks and is undefined behaviour.
/// So `lua.h` is not visible to Swift, and everything here keeps to three rules:
///
/// - What Swift calls directly cannot raise: it only looks at the stack, or appends to the outbox.
/// - A host function is Swift code that *returns an outcome*; the trampoline pushes the values it left in the outbox,
///   raises or yields once the Swift frame is gone.
/// - Everything else (calling Lua, building tables, creating objects) happens in C under a protected call.
#ifndef CLUASHIM_H
#define CLUASHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct lua_State lua_State;
typedef struct clua_runtime clua_runtime;
/// A native module while it is being opened.
typedef struct clua_module clua_module;
struct json_t;

// MARK: Outbox

/// Values on their way from Swift to Lua, as a flat byte string of tagged records.
///
/// It is used like a stack: who appends notes where it began, and who pushes the values truncates it there again, so
/// that a finaliser which calls a host function in the middle of a push does no harm.
typedef struct clua_outbox {
    unsigned char *bytes;
    size_t count;
    size_t capacity;
    /// Memory ran out while appending: pushing raises "not enough memory".
    bool failed;
} clua_outbox;

enum clua_tag {
    CLUA_TAG_NIL,
    CLUA_TAG_FALSE,
    CLUA_TAG_TRUE,
    CLUA_TAG_INTEGER,
    CLUA_TAG_NUMBER,
    CLUA_TAG_STRING,
    CLUA_TAG_BORROWED,
    CLUA_TAG_OBJECT,
    CLUA_TAG_LIST,
    CLUA_TAG_RECORD,
    CLUA_TAG_JSON,
};

/// Makes room for `size` more bytes; false when there is no memory.
bool clua_out_grow(clua_outbox *out, size_t size);

static inline void clua_out_raw(clua_outbox *out, unsigned char tag, const void *data, size_t size) {
    if (out->capacity - out->count < size + 1 && !clua_out_grow(out, size + 1)) return;
    out->bytes[out->count] = tag;
    if (size > 0) memcpy(out->bytes + out->count + 1, data, size);
    out->count += size + 1;
}

static inline void clua_out_nil(clua_outbox *out) { clua_out_raw(out, CLUA_TAG_NIL, NULL, 0); }
static inline void clua_out_boolean(clua_outbox *out, bool value) {
    clua_out_raw(out, value ? CLUA_TAG_TRUE : CLUA_TAG_FALSE, NULL, 0);
}
static inline void clua_out_integer(clua_outbox *out, int64_t value) {
    clua_out_raw(out, CLUA_TAG_INTEGER, &value, sizeof value);
}
static inline void clua_out_number(clua_outbox *out, double value) {
    clua_out_raw(out, CLUA_TAG_NUMBER, &value, sizeof value);
}
/// Copies the bytes into the outbox.
void clua_out_string(clua_outbox *out, const void *bytes, size_t length);
/// Begins a string whose bytes come by `clua_out_extend`; `clua_out_end`, given what this returns, is its end.
size_t clua_out_begin(clua_outbox *out);
/// So many bytes more, which the caller fills at once; NULL when there is no memory.
void *clua_out_extend(clua_outbox *out, size_t size);
void clua_out_end(clua_outbox *out, size_t begun);
/// Notes where the bytes are; they must stay there until the values have been pushed.
void clua_out_borrowed(clua_outbox *out, const void *bytes, size_t length);
/// A Swift object (retained by the caller for Lua; released by its finaliser) of a type made by `clua_define_type`.
void clua_out_object(clua_outbox *out, int32_t type, void *object);
/// A table whose sequence is the next `count` values.
static inline void clua_out_list(clua_outbox *out, int32_t count) {
    clua_out_raw(out, CLUA_TAG_LIST, &count, sizeof count);
}
/// A table made from the next `count` pairs of key and value.
static inline void clua_out_record(clua_outbox *out, int32_t count) {
    clua_out_raw(out, CLUA_TAG_RECORD, &count, sizeof count);
}

// MARK: Looking at arguments (never raises)

enum clua_type {
    CLUA_NONE = -1,
    CLUA_NIL = 0,
    CLUA_BOOLEAN = 1,
    CLUA_LIGHTUSERDATA = 2,
    CLUA_NUMBER = 3,
    CLUA_STRING = 4,
    CLUA_TABLE = 5,
    CLUA_FUNCTION = 6,
    CLUA_USERDATA = 7,
    CLUA_THREAD = 8,
};

int clua_top(lua_State *L);
int clua_typeof(lua_State *L, int index);
const char *clua_type_name(lua_State *L, int index);
bool clua_boolean(lua_State *L, int index);
/// False unless the value is a number that an integer can represent exactly.
bool clua_integer(lua_State *L, int index, int64_t *value);
/// False unless the value is a number (strings are not converted).
bool clua_number(lua_State *L, int index, double *value);
/// NULL unless the value is a string. Valid while it stays on the stack.
const char *clua_string(lua_State *L, int index, size_t *length);
/// The Swift object, or NULL when the value is not one of this type.
void *clua_object(lua_State *L, int index, int32_t type);

// MARK: Runtime

enum clua_outcome {
    /// Push what is in the outbox and return it.
    CLUA_RETURN = 0,
    /// Raise the outbox's one value; the caller's position is put before a text.
    CLUA_RAISE = 1,
    /// Suspend the fiber until the scheduler resumes it; the call then returns nothing.
    CLUA_PARK = 2,
};

/// A host function: looks at the arguments on `L`, appends results to the outbox, returns an outcome.
typedef int (*clua_function)(void *context, lua_State *L);

/// What the Swift side gives the shim at creation. None of these may call into Lua.
typedef struct clua_callbacks {
    void *context;
    /// A fiber was made; its registry reference is the number Lua knows it by.
    void (*fiber_created)(void *context, int reference);
    /// A Swift object is no longer used by Lua.
    void (*object_released)(void *context, int32_t type, void *object);
    /// The script called os.exit: the process ends when this returns.
    void (*exiting)(void *context);
    /// Source text or bytecode of an embedded module, or false. `*chunk` must stay valid for ever.
    bool (*find_module)(void *context, const char *name, const char **chunk, size_t *length);
    /// Calls `clua_add_function` / `clua_add_type` for a native module's members; false when there is none of the name.
    bool (*open_native)(void *context, const char *name, clua_module *module);
} clua_callbacks;

/// As in "5.4.4".
const char *clua_lua_version(void);
/// What the library that is loaded says of itself: its release, and more.
const char *clua_lua_ident(void);
/// Makes an interpreter with the standard libraries, the module searcher and yield-transparent coroutines.
/// NULL when there is no memory.
clua_runtime *clua_create(clua_callbacks callbacks);
/// Closes the state; finalisers run.
void clua_destroy(clua_runtime *runtime);
clua_outbox *clua_outbox_of(clua_runtime *runtime);
/// Sets `arg` and keeps the script's arguments for `clua_load_main`.
bool clua_set_arguments(clua_runtime *runtime, const char *const *arguments, int count, int script_index);
/// Adds templates behind `package.path`.
bool clua_add_package_path(clua_runtime *runtime, const char *templates);

/// Only while a module is being opened: a function of the module.
void clua_add_function(clua_module *module, const char *name, clua_function function, void *context);
/// Only while a module is being opened: a type for `clua_out_object`, its methods to be added with
/// `clua_add_method`. The table of methods becomes the module's field `name`, so that Lua code may add more.
void clua_add_type(clua_module *module, const char *name, int32_t type);
/// `name` may be a metamethod such as `__tostring`.
void clua_add_method(
    clua_module *module, int32_t type, const char *name, clua_function function, void *context);
/// A field that is computed when it is read: the function is called with the object. Methods of the same name win.
void clua_add_property(
    clua_module *module, int32_t type, const char *name, clua_function function, void *context);

// MARK: Running Lua (protected)

enum clua_status {
    CLUA_FINISHED,
    /// Waiting for the scheduler.
    CLUA_PARKED,
    /// The script's own `coroutine.yield`.
    CLUA_YIELDED,
    /// The error's text is in `clua_error_text`.
    CLUA_FAILED,
    /// A server that waits for the next event.
    CLUA_IDLE,
};

/// Compiles a chunk, makes it a fiber (with the script's arguments) and answers its reference, or -1.
int clua_load_main(clua_runtime *runtime, const char *text, size_t length, const char *name);
/// Runs a fiber until it ends, parks, yields or fails. A finished or failed one is released.
/// The outbox values from `base` on are what its wait returns; the outbox is truncated to `base`.
int clua_resume(clua_runtime *runtime, int reference, size_t base);
/// Makes a server, a fiber that calls events' handlers one after another, and answers its reference; -1 without memory.
int clua_make_server(clua_runtime *runtime);
/// Gives an idle server the event in the outbox from `base` on (its kind and values), and runs it until it is idle
/// again, parks, yields or fails. `*taken` is false where there was no memory for the event.
int clua_deliver(clua_runtime *runtime, int reference, size_t base, bool *taken);
/// The reference of the fiber that runs now, 0 outside.
int clua_current_fiber(clua_runtime *runtime);
/// Drops a fiber without running it again (its to-be-closed variables are closed).
void clua_discard(clua_runtime *runtime, int reference);
/// Calls the registered handler of the first outbox value from `base` on (the event's kind) with the values behind it;
/// truncates the outbox to `base`.
int clua_dispatch(clua_runtime *runtime, size_t base);
/// The message of the last failure, with traceback where there is one.
const char *clua_error_text(clua_runtime *runtime, size_t *length);
/// Bytes in use by Lua, live references in the registry, and Swift objects that Lua holds (for leak tests).
int64_t clua_objects(clua_runtime *runtime);
int64_t clua_memory(clua_runtime *runtime);
int64_t clua_references(clua_runtime *runtime);
void clua_collect(clua_runtime *runtime);

// MARK: Signals

/// Installs handlers for SIGINT, SIGTERM and SIGALRM, and for SIGPIPE where standard output is what broke. The first signal wakes the loop through `wake_descriptor` and arms a hook
/// that interrupts Lua code which does not come back to the loop within a quarter of a second; a second one ends the
/// process at once with status 128 + n.
void clua_install_signals(clua_runtime *runtime, int wake_descriptor);
/// Sends SIGALRM to the process after so many seconds: handled as a first signal, with the exit status 124.
void clua_set_alarm(double seconds);
/// Ends the process after so many seconds, with the status of the signal that is pending: for Lua code that does not
/// come back to the loop while the script is being ended.
void clua_set_deadline(double seconds);
/// The exit status that a signal asks for: 128 + n, or 124 for SIGALRM.
int clua_signal_status(int number);
/// The first signal that arrived, or 0. Disarms the hook.
int clua_pending_signal(clua_runtime *runtime);
/// The same, and forgets it: the next one is a first one again. For a dialogue, which goes on after SIGINT.
int clua_take_signal(clua_runtime *runtime);
/// While set, a second SIGINT within a second of the first does not end the process.
void clua_be_patient(bool is_patient);
/// From now on SIGCONT and SIGWINCH wake the loop.
void clua_watch_terminal(void);
/// Whether one of these came since the last call: the prompt has to be drawn again.
bool clua_take_terminal_change(void);

/// Writes out what is buffered for standard output. 0, or the exit status when that or an earlier write failed: 128 + n
/// of SIGPIPE where nobody reads it any more, 1 otherwise.
int clua_flush_output(void);

// MARK: JSON

/// A parsed document; the outbox owns it from now on.
void clua_out_json(clua_outbox *out, struct json_t *document);

typedef struct clua_json_format {
    /// Spaces for each level; 0: everything on one line.
    int32_t indent;
    /// Members in the order of their names' bytes, not in that of `next`.
    bool sort_keys;
    /// Escape everything beyond ASCII.
    bool ascii;
    /// Writes a finite number as JSON text into `text` (32 bytes); answers the length.
    size_t (*write_real)(double value, char *text);
} clua_json_format;

enum clua_json_status {
    CLUA_JSON_DONE,
    /// A value of a type that JSON has not; `detail` is the type's name.
    CLUA_JSON_TYPE,
    /// NaN or an infinity; `detail` says which.
    CLUA_JSON_NUMBER,
    CLUA_JSON_UTF8,
    /// A table that contains itself.
    CLUA_JSON_CYCLE,
    CLUA_JSON_DEPTH,
    /// A member's key is no string; `detail` is its type's name.
    CLUA_JSON_KEY,
    /// An array's key is no integer from 1 on; `detail` is its type's name.
    CLUA_JSON_MIXED,
    /// An element before an array's last one is nil.
    CLUA_JSON_HOLE,
    CLUA_JSON_MEMORY,
};

/// Deepest nesting that is written; jansson reads as much.
#define CLUA_JSON_MAX_DEPTH 2048

typedef struct clua_json_failure {
    const char *detail;
    /// Where in the value: `items[3].name`; empty for the value itself.
    char path[256];
} clua_json_failure;

/// Appends the JSON text of the value at `index` to the outbox, as one string; anything but `CLUA_JSON_DONE` appends
/// nothing. Tables are read raw: no metamethod runs. Never raises.
enum clua_json_status clua_json_encode(
    lua_State *L, int index, const clua_json_format *format, clua_outbox *out, clua_json_failure *failure);

#endif
