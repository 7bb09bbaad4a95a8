#define _GNU_SOURCE
#include "CTestShim.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/ioctl.h>
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

int ctest_open_terminal(int columns, char *name, size_t size) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0) return -1;
  struct winsize window = {.ws_row = 50, .ws_col = (unsigned short)columns};
  if (grantpt(master) == 0 && unlockpt(master) == 0 && ioctl(master, TIOCSWINSZ, &window) == 0 &&
      ptsname_r(master, name, size) == 0)
    return master;
  close(master);
  return -1;
}

short ctest_spawn_new_session(void) { return POSIX_SPAWN_SETSID; }
