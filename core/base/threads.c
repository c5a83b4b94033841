/* SPDX-License-Identifier: Apache-2.0 */
/* Starts threads, and writes the sentence when no thread can be started. No state. */
#include "core/base/threads.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/lack.h"
#include "gyre/thread.h"

gyre_status gyre_thread_need(pthread_t *thread, void *(*run)(void *argument), void *argument,
                             const char *purpose, ...)
{
    char what[128];
    va_list args;
    const int error = gyre_thread_start(thread, NULL, run, argument);
    if (!error)
        return GYRE_OK;
    va_start(args, purpose);
    vsnprintf(what, sizeof what, purpose, args);
    va_end(args);
    return gyre_error_set(GYRE_EXHAUSTED, "no thread %s: %s%s", what, strerror(error),
                          gyre_lack_remedy(error));
}
