/* SPDX-License-Identifier: Apache-2.0 */
/* The dead letters of a shard, in the log dead.SHARD, for people: shown, and sent once more. */
#ifndef GYRE_CORE_CLUSTER_LETTERS_H
#define GYRE_CORE_CLUSTER_LETTERS_H

#include "core/cluster/format.h"
#include "core/transport/transport.h"
#include "gyre/gyre.h"

/** A dead letter that was read: its number in the log, and its bytes, which are valid for the call. */
struct gyre_letter_view {
    uint64_t number;
    struct gyre_cluster_letter letter;
    const unsigned char *bytes;
};

/** Calls `each` with every dead letter of the shard that is there, until it returns false. INCOMPATIBLE when one is damaged. */
gyre_status gyre_letters_read(struct gyre_transport *transport, uint32_t shard,
                              bool (*each)(void *context, const struct gyre_letter_view *view),
                              void *context);

struct gyre_letter_answer {
    enum gyre_completion_outcome outcome;
    int32_t code;
    char text[256];  /* of a failure */
    uint32_t length; /* of a reply */
};

/**
 * Sends the request of a dead letter to its shard again, as that of a new client, and waits for the reply. The letter stays. TIMEOUT when no reply
 * came until the deadline: the request is in the log, and is handled as any other.
 */
gyre_status gyre_letter_send_again(struct gyre_transport *transport, uint32_t shard,
                                   const struct gyre_letter_view *view, uint64_t deadline_ns,
                                   struct gyre_letter_answer *answer);

#endif
