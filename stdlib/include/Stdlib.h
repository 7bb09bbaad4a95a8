/// The Lua standard library as bytes in the executable: as text, and compiled if `scripts/embed --compile` ran before.
#ifndef HTTPSCRIPT_STDLIB_H
#define HTTPSCRIPT_STDLIB_H

#include <stdbool.h>
#include <stddef.h>

/// The module that `require` calls `name`, for the release of Lua that calls itself `lua` (`lua_ident`): its bytecode
/// if that was made by the same release and of the same text, else the text; false when there is none. Static bytes.
bool stdlib_find(const char *name, const char *lua, const char **chunk, size_t *length);
/// The number of embedded modules, and the name of each.
size_t stdlib_count(void);
const char *stdlib_name(size_t index);

#endif
