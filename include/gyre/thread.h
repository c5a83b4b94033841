/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts threads of Gyre beside the program's own threads. For the core and for backends; header-only, POSIX, C11 and
 * C++17.
 *
 * Stability: like backend.h.
 */
#ifndef GYRE_THREAD_H
#define GYRE_THREAD_H

/* Strict ISO C (-std=c11) hides POSIX, unless a file asks for it in front of its first header. */
#if defined(__STRICT_ANSI__) && !defined(_GNU_SOURCE) && !defined(_DEFAULT_SOURCE) &&                        \
    !defined(_POSIX_C_SOURCE)
#define _DEFAULT_SOURCE 1
#endif

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#ifndef SIG_SETMASK
#error "gyre/thread.h needs POSIX, which -std=c11 hides: include it first, or define _DEFAULT_SOURCE"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Starts a thread as pthread_create does, but with the program's signals blocked. So the program's own threads get its
 * signals. Otherwise the program's handlers would run in the midst of Gyre, or on the stack of a lane, and sigwait
 * would miss the signals that such a thread takes. Two kinds of signals still reach the thread: signals that it causes
 * itself, which the program may handle, and the signal of profilers. Returns 0, or the error of pthread_create:
 * gyre_lack_remedy (gyre/lack.h) says what people can do about it.
 */
static inline int gyre_thread_start(pthread_t *thread, const pthread_attr_t *attributes,
                                    void *(*run)(void *argument), void *argument)
{
    static const int taken[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        sigdelset(&blocked, taken[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before); /* the new thread inherits the mask */
    const int error = pthread_create(thread, attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

#ifdef __cplusplus
}
#endif
#endif
