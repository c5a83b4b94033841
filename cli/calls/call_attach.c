/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches to a server, and says what it waits for (call_attach.h). */
#include "cli/calls/call_attach.h"

#include <stdio.h>

#include "cli/base/hush.h"
#include "core/base/error.h"
#include "gyre/attach.h"

enum { CAUSE_SIZE = 1024 };

/* A client cannot reconnect to a queue with levels (UNIMPLEMENTED), so such a queue is attached without reconnecting. */
static gyre_status attach_until(const char *name, const char *path, uint64_t deadline_ns, gyre_queue **queue)
{
    gyre_attach_desc desc = {
        .size = sizeof desc, .path = path, .deadline_ns = deadline_ns, .reconnect = true};
    const gyre_status status = gyre_attach(name, &desc, queue);
    if (status != GYRE_UNIMPLEMENTED)
        return status;
    gyre_error_clear();
    desc.reconnect = false;
    return gyre_attach(name, &desc, queue);
}

/* Tells how long the person waited in all: the sentence of the second attempt counts that one alone. */
static gyre_status tell_waited(gyre_status status, uint64_t begun_ns)
{
    char cause[CAUSE_SIZE];
    snprintf(cause, sizeof cause, "%s", gyre_error_cause());
    return gyre_error_set(status, "waited %llu ms for a server: %s",
                          (unsigned long long)((gyre_now_ns() - begun_ns) / 1000000), cause);
}

gyre_status call_attach(const char *name, const char *path, uint64_t timeout_ms, gyre_queue **queue)
{
    const uint64_t begun_ns = gyre_now_ns(), deadline_ns = timeout_ms ? gyre_in_ms(timeout_ms) : GYRE_FOREVER;
    if (!cli_is_watched() || (timeout_ms && timeout_ms <= CALL_ATTACH_TOLD_MS))
        return attach_until(name, path, deadline_ns, queue);
    gyre_status status = attach_until(name, path, gyre_in_ms(CALL_ATTACH_TOLD_MS), queue);
    if (status != GYRE_TIMEOUT && status != GYRE_UNAVAILABLE && status != GYRE_EXHAUSTED)
        return status;
    fprintf(stderr, "gyre: %s (waiting on, as long as --timeout says)\n", gyre_error_text());
    gyre_error_clear();
    status = attach_until(name, path, deadline_ns, queue);
    return status == GYRE_UNAVAILABLE ? tell_waited(status, begun_ns) : status;
}
