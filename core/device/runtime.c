/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs lines of a runtime, lists the runtime's guests, and checks that the calling process owns the runtime.
 * Lock: runtime->lock for the guests.
 */
#include "core/device/runtime.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/error.h"

void gyre_runtime_log(const gyre_runtime *runtime, gyre_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (!runtime->log || (int)level > __atomic_load_n(&runtime->log_level, __ATOMIC_RELAXED))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    runtime->log(runtime->log_context, (int)level, text);
}

void gyre_runtime_add_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest)
{
    pthread_mutex_lock(&runtime->lock);
    guest->next = runtime->guests;
    runtime->guests = guest;
    pthread_mutex_unlock(&runtime->lock);
}

bool gyre_runtime_remove_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest)
{
    pthread_mutex_lock(&runtime->lock);
    struct gyre_runtime_guest **link = &runtime->guests;
    while (*link && *link != guest)
        link = &(*link)->next;
    bool listed = *link != NULL;
    if (listed)
        *link = guest->next;
    pthread_mutex_unlock(&runtime->lock);
    return listed;
}

gyre_status gyre_runtime_check_own(const gyre_runtime *runtime, const char *call)
{
    if (!runtime->foreign)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID, "%s: this runtime belongs to the process that forked this one; open another one here",
        call);
}
