/* SPDX-License-Identifier: Apache-2.0 */
/* See reading.h. */
#include "core/cluster/reading.h"

#include "core/base/error.h"
#include "gyre/waiting.h"

#define LOOK_NS UINT64_C(500000000)  /* between two reads of a log that seems to have ended, */
#define RARE_NS UINT64_C(2000000000) /* and at most, when it has been silent, */
#define EACH_NS UINT64_C(8000000)    /* or this for each of the logs that are read, if there are many */
#define NAP_NS  UINT64_C(20000000)

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

uint64_t gyre_reading_nap_ns(const struct gyre_reading *reading)
{
    return reading->next_ns >= RARE_NS ? 10 * NAP_NS : NAP_NS;
}

static uint64_t rare_ns(const struct gyre_reading *reading)
{
    return reading->logs * EACH_NS > RARE_NS ? reading->logs * EACH_NS : RARE_NS;
}

/* A transport that cannot say is read. */
static bool may_have_next(const struct gyre_reading *reading, struct gyre_transport *transport,
                          const char *log, uint64_t after, uint64_t now)
{
    return reading->next_ns == 0 || now - reading->read_ns >= reading->next_ns ||
           ask(transport, log, after, now) != GYRE_TIMEOUT;
}

gyre_status gyre_reading_next(struct gyre_reading *reading, struct gyre_transport *transport, const char *log,
                              uint64_t after, void *bytes, size_t *byte_count, uint64_t *number)
{
    const uint64_t now = gyre_clock_ns();
    if (!may_have_next(reading, transport, log, after, now))
        return GYRE_AGAIN;
    const gyre_status status =
        gyre_transport_read(transport, log, after, bytes, GYRE_TRANSPORT_BLOCK_MAX, byte_count, number);
    const uint64_t longer_ns = reading->next_ns ? 2 * reading->next_ns : LOOK_NS;
    const uint64_t most_ns = rare_ns(reading);
    reading->read_ns = now;
    reading->next_ns = status != GYRE_AGAIN ? LOOK_NS : longer_ns < most_ns ? longer_ns : most_ns;
    return status;
}
