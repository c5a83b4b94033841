/* SPDX-License-Identifier: Apache-2.0 */
/* See reading.h. */
#include "core/cluster/reading.h"

#include "core/base/error.h"
#include "gyre/waiting.h"

#define LOOK_NS UINT64_C(500000000) /* the longest time between two reads of a log that seems to have ended */

static gyre_status ask(struct gyre_transport *transport, const char *log, uint64_t after, uint64_t now)
{
    gyre_error_hold();
    const gyre_status status = gyre_transport_wait(transport, log, after, now);
    gyre_error_let_go();
    return status;
}

bool gyre_reading_has_next(struct gyre_transport *transport, const char *log, uint64_t after)
{
    return ask(transport, log, after, gyre_clock_ns()) == GYRE_OK;
}

/* A transport that cannot say is read. */
static bool may_have_next(struct gyre_reading *reading, struct gyre_transport *transport, const char *log,
                          uint64_t after)
{
    const uint64_t now = gyre_clock_ns();
    if (reading->has_read && now - reading->read_ns < LOOK_NS)
        return ask(transport, log, after, now) != GYRE_TIMEOUT;
    reading->has_read = true;
    reading->read_ns = now;
    return true;
}

gyre_status gyre_reading_next(struct gyre_reading *reading, struct gyre_transport *transport, const char *log,
                              uint64_t after, void *bytes, size_t *byte_count, uint64_t *number)
{
    if (!may_have_next(reading, transport, log, after))
        return GYRE_AGAIN;
    return gyre_transport_read(transport, log, after, bytes, GYRE_TRANSPORT_BLOCK_MAX, byte_count, number);
}
