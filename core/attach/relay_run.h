/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the relay of a kept queue (relay.h), and lets its clients join and leave. */
#ifndef GYRE_CORE_ATTACH_RELAY_RUN_H
#define GYRE_CORE_ATTACH_RELAY_RUN_H

#include "core/attach/relay.h"

/** Makes a ring for a client of the kernel's queue [queue.SECTION]. Call it only where gyre_kernel_relays says so. */
gyre_status gyre_relay_join(struct gyre_server *server, gyre_kernel *kernel, const char *section,
                            const struct gyre_attach_request *request, struct gyre_queue_options *options,
                            struct gyre_relay_ring **out);

/** Wakes the relay's thread because the ring's client rang its doorbell. */
void gyre_relay_wake(struct gyre_relay_ring *ring);

/**
 * Takes the ring off the relay. Waits until every request that was taken from it is completed, at most until the
 * deadline. True: all are completed, and the requests left in the ring were completed as unhandled. The caller still
 * releases the ring.
 */
bool gyre_relay_leave(struct gyre_relay_ring *ring, uint64_t deadline_ns);

void gyre_relay_release(struct gyre_relay_ring *ring);

/** Ends all relays of a server that has no client any more. */
void gyre_relays_end(struct gyre_server *server);

#endif
