/// Calls of the GNU C library that Swift's Glibc module leaves out.
#ifndef CTESTSHIM_H
#define CTESTSHIM_H

#include <spawn.h>
#include <stddef.h>

/// pipe2(2) with O_CLOEXEC: both ends stay out of every child. Returns 0, or -1 with errno.
int ctest_pipe(int ends[2]);

/// accept4(2) with SOCK_CLOEXEC. Returns the descriptor, or -1 with errno.
int ctest_accept(int listener);

/// posix_spawn_file_actions_addchdir_np(3).
int ctest_spawn_in_directory(posix_spawn_file_actions_t *actions, const char *path);

/// Waits until the peer of a socket has closed or the time has passed (poll(2) for POLLRDHUP).
/// Returns 1 when it has closed.
int ctest_wait_for_hangup(int descriptor, int milliseconds);

/// A new pseudo-terminal (pty(7)) of a width: the test's end, which stays out of every child, and the name of the
/// program's end. Returns the descriptor, or -1 with errno.
int ctest_open_terminal(int columns, char *name, size_t size);

/// POSIX_SPAWN_SETSID: the child leads a new session.
short ctest_spawn_new_session(void);

#endif
