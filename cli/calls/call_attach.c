/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches to a server, and says what it waits for (call_attach.h). */
#include "cli/calls/call_attach.h"

#include <stdio.h>

#include "cli/hush.h"
#include "core/base/error.h"
#include "gyre/attach.h"

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

gyre_status call_attach(const char *name, const char *path, uint64_t timeout_ms, gyre_queue **queue)
{
    const uint64_t deadline_ns = timeout_ms ? gyre_in_ms(timeout_ms) : GYRE_FOREVER;
    if (!cli_is_watched() || (timeout_ms && timeout_ms <= CALL_ATTACH_TOLD_MS))
        return attach_until(name, path, deadline_ns, queue);
    const gyre_status status = attach_until(name, path, gyre_in_ms(CALL_ATTACH_TOLD_MS), queue);
    if (status != GYRE_TIMEOUT && status != GYRE_UNAVAILABLE && status != GYRE_EXHAUSTED)
        return status;
    fprintf(stderr, "gyre: %s (waiting on, as long as --timeout says)\n", gyre_error_text());
    gyre_error_clear();
    return attach_until(name, path, deadline_ns, queue);
}
