// Swift's runtime on Linux looks for argv before main by reading all of /proc/self/maps: 5 % of the time that
// `httpscript -e ''` takes. glibc hands argv to every constructor, so the two functions behind CommandLine are defined
// here: linked first, they keep the runtime's own (CommandLine.cpp) out of the executable. Where the runtime asks for
// other names, it brings its own again and nothing but time is lost.
#include "CArguments.h"

char **_swift_stdlib_getUnsafeArgvArgc(int *count);
void _swift_stdlib_overrideUnsafeArgvArgc(char **words, int count);

static char **arguments;
static int argument_count;

__attribute__((constructor)) static void keep(int count, char **words) {
  arguments = words;
  argument_count = count;
}

char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
  *count = argument_count;
  return arguments;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **words, int count) { keep(count, words); }
