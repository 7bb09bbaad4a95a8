#include "Stdlib.h"
#include <string.h>

typedef struct module {
    const char *name;
    const char *text;
    size_t length;
} module;

#include "modules.h"

size_t stdlib_count(void) { return sizeof modules / sizeof modules[0]; }
const char *stdlib_name(size_t index) { return modules[index].name; }

bool stdlib_find(const char *name, const char **text, size_t *length) {
    for (size_t i = 0; i < stdlib_count(); i++) {
        if (strcmp(modules[i].name, name) != 0) continue;
        *text = modules[i].text;
        *length = modules[i].length;
        return true;
    }
    return false;
}
