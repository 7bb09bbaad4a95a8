/* Runs a program and tells what it cost: run PROGRAM [ARGUMENT ...]
 *
 * Its output is dropped. Prints exit status, wall seconds, CPU seconds (user and system) and peak memory in KiB. A small
 * program does this, because a child begins with its parent's peak memory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec * 1e-6; }

static void become(char **command) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  execv(command[0], command);
  _exit(127);
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  double begun = now();
  pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) become(arguments + 1);
  int status = 0;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) != child) return 1;
  double wall = now() - begun;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  printf("%d %.6f %.6f %ld\n", code, wall, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss);
  return 0;
}
