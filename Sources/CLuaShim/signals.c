// SIGINT, SIGTERM, SIGALRM and SIGPIPE. Only async-signal-safe calls in the handler; lua_sethook is, as lua.c itself
// relies on.
#include "internal.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static clua_runtime *volatile target;
static volatile sig_atomic_t pending;
/// The loop has seen the signal: Lua code is not interrupted any more.
static volatile sig_atomic_t taken;
static volatile int wake = -1;
/// A dialogue waits for input: pressing Ctrl-C more than once is no wish to end it.
static volatile sig_atomic_t patient;
static volatile sig_atomic_t terminal_changed;
/// The next SIGALRM ends the process.
static volatile sig_atomic_t is_over;
static struct timespec arrived;
static pthread_t lua_thread;
/// Lua code has been interrupted because of the pending signal.
static bool is_interrupted;

static double seconds_since_arrival(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - arrived.tv_sec) + (double)(now.tv_nsec - arrived.tv_nsec) * 1e-9;
}

// Code that returns to the loop in time is not disturbed: the loop then cancels its tasks in an orderly way. Other code
// is interrupted once, and when it has caught that and still goes on a second later, at its every step.
static void interrupt(lua_State *L, lua_Debug *record) {
    (void)record;
    if (pending == 0 || taken) {
        lua_sethook(L, NULL, 0, 0);
        return;
    }
    double seconds = seconds_since_arrival();
    if (seconds < (is_interrupted ? 1.25 : 0.25)) return;
    if (is_interrupted) lua_sethook(L, interrupt, LUA_MASKCOUNT, 1);
    is_interrupted = true;
    luaL_error(L, "interrupted");
}

void clua_interrupt_again(lua_State *L) {
    if (pending != 0 && !taken) lua_sethook(L, interrupt, LUA_MASKCOUNT, is_interrupted ? 1 : 1000);
}

static void wake_loop(void) {
    uint64_t one = 1;
    if (wake >= 0 && write(wake, &one, sizeof one) < 0) wake = -1;
}

// Whether a further signal ends the process at once. A patient dialogue that has not answered for a second is stuck.
static bool is_last(int number) {
    return pending != 0 && !(patient && number == SIGINT && seconds_since_arrival() < 1);
}

// SIGALRM says that the process's time is over (--timeout): it counts as a first signal, and as a second one only when
// the ending takes too long.
static void handle(int number) {
    // The kernel may choose any thread; Lua's state belongs to one.
    if (!pthread_equal(pthread_self(), lua_thread)) {
        pthread_kill(lua_thread, number);
        return;
    }
    if (number == SIGALRM && pending != 0 && !is_over) return;
    if (is_last(number)) _exit(clua_signal_status(pending == SIGALRM || number == SIGALRM ? pending : number));
    if (pending == 0) {
        clock_gettime(CLOCK_MONOTONIC, &arrived);
        is_interrupted = false;
    }
    pending = number;
    wake_loop();
    lua_State *running = target != NULL ? target->running : NULL;
    if (running != NULL) lua_sethook(running, interrupt, LUA_MASKCOUNT, 1000);
}

// Broken sockets are the transfers' matter. When it is standard output that nobody reads any more, the script ends as
// by a signal; what it still prints meanwhile is no second one.
static void pipe_broke(int number) {
    struct pollfd output = {STDOUT_FILENO, 0, 0};
    if (pending == 0 && poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP))) handle(number);
}

static void on_signal(int number, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void clua_install_signals(clua_runtime *runtime, int wake_descriptor) {
    target = runtime;
    wake = wake_descriptor;
    lua_thread = pthread_self();
    on_signal(SIGINT, handle, 0);
    on_signal(SIGTERM, handle, 0);
    on_signal(SIGALRM, handle, 0);
    on_signal(SIGPIPE, pipe_broke, SA_RESTART);
}

void clua_set_alarm(double seconds) {
    struct itimerval timer;
    memset(&timer, 0, sizeof timer);
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

void clua_set_deadline(double seconds) {
    is_over = 1;
    clua_set_alarm(seconds);
}

int clua_signal_status(int number) { return number == SIGALRM ? 124 : 128 + number; }

int clua_pending_signal(clua_runtime *runtime) {
    (void)runtime;
    taken = pending != 0;
    return pending;
}

int clua_take_signal(clua_runtime *runtime) {
    (void)runtime;
    int number = pending;
    pending = 0;
    taken = 0;
    return number;
}

void clua_be_patient(bool is_patient) { patient = is_patient; }

static void note_terminal(int number) {
    (void)number;
    terminal_changed = 1;
    wake_loop();
}

void clua_watch_terminal(void) {
    on_signal(SIGCONT, note_terminal, SA_RESTART);
    on_signal(SIGWINCH, note_terminal, SA_RESTART);
}

bool clua_take_terminal_change(void) {
    bool changed = terminal_changed != 0;
    terminal_changed = 0;
    return changed;
}

void clua_forget_signals(clua_runtime *runtime) {
    if (target != runtime) return;
    target = NULL;
    wake = -1;
}

int clua_flush_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    return pending == SIGPIPE ? clua_signal_status(SIGPIPE) : EXIT_FAILURE;
}
