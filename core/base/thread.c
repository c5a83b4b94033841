/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which signals a thread of Gyre's own takes: those that it causes itself, for which the program may have a
 * handler, and that of profilers. Any other would run the program's handler in the midst of Gyre, or be taken
 * away from a thread that waits for it with sigwait or signalfd.
 */
#include "core/base/thread.h"

#include <signal.h>

int gyre_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    static const int taken[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF};
    pthread_attr_t attributes;
    sigset_t blocked;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        sigdelset(&blocked, taken[i]);
    error = pthread_attr_setsigmask_np(&attributes, &blocked);
    if (!error)
        error = pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return error;
}
