#define _GNU_SOURCE
#include "CTestShim.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

int ctest_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int ctest_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

int ctest_spawn_in_directory(posix_spawn_file_actions_t *actions, const char *path) {
  return posix_spawn_file_actions_addchdir_np(actions, path);
}

int ctest_wait_for_hangup(int descriptor, int milliseconds) {
  struct pollfd entry = {.fd = descriptor, .events = POLLRDHUP};
  return poll(&entry, 1, milliseconds) > 0;
}
