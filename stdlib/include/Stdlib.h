/// The Lua standard library as bytes in the executable.
#ifndef HTTPSCRIPT_STDLIB_H
#define HTTPSCRIPT_STDLIB_H

#include <stdbool.h>
#include <stddef.h>

/// The source text of the module that `require` calls `name`; false when there is none. The text is static.
bool stdlib_find(const char *name, const char **text, size_t *length);
/// The number of embedded modules, and the name of each.
size_t stdlib_count(void);
const char *stdlib_name(size_t index);

#endif
