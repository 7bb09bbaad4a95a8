/// Calls of the GNU C library that Swift's Glibc module leaves out.
#ifndef CTESTSHIM_H
#define CTESTSHIM_H

#include <spawn.h>

/// pipe2(2) with O_CLOEXEC: both ends stay out of every child. Returns 0, or -1 with errno.
int ctest_pipe(int ends[2]);

/// accept4(2) with SOCK_CLOEXEC. Returns the descriptor, or -1 with errno.
int ctest_accept(int listener);

/// posix_spawn_file_actions_addchdir_np(3).
int ctest_spawn_in_directory(posix_spawn_file_actions_t *actions, const char *path);

/// Waits until the peer of a socket has closed or the time has passed (poll(2) for POLLRDHUP).
/// Returns 1 when it has closed.
int ctest_wait_for_hangup(int descriptor, int milliseconds);

#endif
