// Swift's runtime on Linux looks for argv before main by reading all of /proc/self/maps: 5 % of the time that
// `httpscript -e ''` takes. glibc hands argv to every constructor, so the two functions behind CommandLine are defined
// here: linked first, they keep the runtime's own (CommandLine.cpp) out of the executable. Where the runtime asks for
// other names, it brings its own again and nothing but time is lost.
#include "CArguments.h"

#include <stdio.h>
#include <unistd.h>

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

// Only there where what runs is counted (scripts/profile).
int __llvm_profile_write_file(void) __attribute__((weak));

void end_process(int status) {
  fflush(NULL);
  if (__llvm_profile_write_file) __llvm_profile_write_file();
  _exit(status);
}
