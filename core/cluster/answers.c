/* SPDX-License-Identifier: Apache-2.0 */
/* See answers.h. No state. */
#include "core/cluster/answers.h"

#include <stdlib.h>

#include "core/base/error.h"

static bool has_reply(const unsigned char *block, size_t size, const char *log, uint32_t shard,
                      uint64_t number)
{
    struct gyre_cluster_replies head;
    struct gyre_cluster_walk walk;
    if (gyre_cluster_replies_open(block, size, log, &head, &walk) != GYRE_OK) {
        gyre_error_clear();
        return false;
    }
    while (head.shard == shard && gyre_cluster_walk_next(&walk))
        if (walk.message.number >= number)
            return true;
    return false;
}

gyre_status gyre_answers_find(struct gyre_transport *transport,
                              const unsigned char client[GYRE_CLIENT_ID_SIZE], uint32_t shard,
                              uint64_t number, bool *found)
{
    char log[GYRE_CLUSTER_NAME_SIZE];
    unsigned char *block = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    uint64_t last = 0;
    *found = false;
    if (!block)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a block of replies");
    gyre_status status = gyre_transport_last(transport, gyre_cluster_client_name(log, client), &last);
    for (uint64_t at = 0; status == GYRE_OK && !*found && at < last;) {
        size_t size;
        status = gyre_transport_read(transport, log, at, block, GYRE_TRANSPORT_BLOCK_MAX, &size, &at);
        *found = status == GYRE_OK && has_reply(block, size, log, shard, number);
    }
    free(block);
    return status == GYRE_AGAIN
               ? gyre_error_set(GYRE_UNAVAILABLE, "the cluster's log '%s' ended before block %llu", log,
                                (unsigned long long)last)
               : status;
}
