// SIGINT and SIGTERM. Only async-signal-safe calls in the handler; lua_sethook is, as lua.c itself relies on.
#include "internal.h"
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static clua_runtime *volatile target;
static volatile sig_atomic_t pending;
/// The loop has seen the signal: Lua code is not interrupted any more.
static volatile sig_atomic_t taken;
static volatile int wake = -1;
static struct timespec arrived;

static double seconds_since_arrival(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - arrived.tv_sec) + (double)(now.tv_nsec - arrived.tv_nsec) * 1e-9;
}

// Code that returns to the loop in time is not disturbed: the loop then cancels its tasks in an orderly way.
static void interrupt(lua_State *L, lua_Debug *record) {
    (void)record;
    if (pending == 0 || taken) {
        lua_sethook(L, NULL, 0, 0);
        return;
    }
    if (seconds_since_arrival() < 0.25) return;
    lua_sethook(L, NULL, 0, 0);
    luaL_error(L, "interrupted");
}

// The process's time is over (--timeout): as a first signal, but never as a second one.
static void handle(int number) {
    if (pending != 0) {
        if (number == SIGALRM) return;
        if (pending != SIGALRM || taken) _exit(pending == SIGALRM ? 124 : 128 + number);
    }
    pending = number;
    clock_gettime(CLOCK_MONOTONIC, &arrived);
    uint64_t one = 1;
    if (wake >= 0 && write(wake, &one, sizeof one) < 0) wake = -1;
    lua_State *running = target != NULL ? target->running : NULL;
    if (running != NULL) lua_sethook(running, interrupt, LUA_MASKCOUNT, 1000);
}

void clua_install_signals(clua_runtime *runtime, int wake_descriptor) {
    target = runtime;
    wake = wake_descriptor;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void clua_set_alarm(double seconds) {
    struct itimerval timer;
    memset(&timer, 0, sizeof timer);
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

int clua_signal_status(int number) { return number == SIGALRM ? 124 : 128 + number; }

int clua_pending_signal(clua_runtime *runtime) {
    (void)runtime;
    taken = pending != 0;
    return pending;
}

void clua_forget_signals(clua_runtime *runtime) {
    if (target != runtime) return;
    target = NULL;
    wake = -1;
}
