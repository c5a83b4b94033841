/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for a reply in the log of a client, out.CLIENT. No state. */
#ifndef GYRE_CORE_CLUSTER_ANSWERS_H
#define GYRE_CORE_CLUSTER_ANSWERS_H

#include "core/cluster/format.h"
#include "core/transport/transport.h"

/**
 * Whether the log has a reply of the shard to that request of the client, or to a later one. A client purges what it received long ago, and a
 * damaged block has no reply. UNAVAILABLE while the transport does not show all of the log.
 */
gyre_status gyre_answers_find(struct gyre_transport *transport,
                              const unsigned char client[GYRE_CLIENT_ID_SIZE], uint32_t shard,
                              uint64_t number, bool *found);

#endif
