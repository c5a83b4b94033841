/* SPDX-License-Identifier: Apache-2.0 */
/* See offer.h. */
#include "core/cluster/offer.h"

#include <stddef.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

/* What another process wrote is shown to people, so it has one line of plain characters. */
static void make_printable(char *text, size_t room)
{
    text[room - 1] = 0;
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = ' ';
}

gyre_status gyre_offer_read(struct gyre_transport *transport, uint32_t shard, struct gyre_cluster_offer *out,
                            uint64_t *revision)
{
    char name[GYRE_CLUSTER_NAME_SIZE];
    unsigned char bytes[GYRE_TRANSPORT_RECORD_MAX];
    const size_t least = offsetof(struct gyre_cluster_offer, followed); /* of members that do not follow */
    size_t size;
    *out = (struct gyre_cluster_offer){.state = 0};
    *revision = 0;
    gyre_status status = gyre_transport_record_get(transport, gyre_cluster_shard_name(name, "offer", shard),
                                                   bytes, sizeof bytes, &size, revision);
    if (status == GYRE_NOT_FOUND)
        return GYRE_OK;
    if (status == GYRE_OK)
        status = gyre_block_check(bytes, size, GYRE_BLOCK_OFFER, least, name, NULL);
    if (status != GYRE_OK)
        return status;
    memcpy(out, bytes, size >= sizeof *out ? sizeof *out : least);
    if (size < sizeof *out)
        out->followed = UINT64_MAX;
    make_printable(out->why, sizeof out->why);
    if (gyre_cluster_text_is_name(out->member, sizeof out->member, false))
        return GYRE_OK;
    *out = (struct gyre_cluster_offer){.state = 0};
    return gyre_error_set(GYRE_INCOMPATIBLE, "the cluster's record '%s': expected the name of a member",
                          name);
}

gyre_status gyre_offer_write(struct gyre_transport *transport, uint32_t shard,
                             const struct gyre_cluster_offer *offer, uint64_t deadline_ns)
{
    char name[GYRE_CLUSTER_NAME_SIZE];
    gyre_cluster_shard_name(name, "offer", shard);
    for (;;) {
        struct gyre_cluster_offer its, record = *offer;
        uint64_t revision;
        gyre_status status = gyre_offer_read(transport, shard, &its, &revision);
        if (status == GYRE_OK && offer->state != GYRE_OFFER_READY && its.state == GYRE_OFFER_READY &&
            its.epoch == offer->epoch && its.incarnation != offer->incarnation)
            return GYRE_OK;
        if (status != GYRE_OK && status != GYRE_INCOMPATIBLE)
            return status;
        if (status == GYRE_INCOMPATIBLE && !revision)
            revision = GYRE_TRANSPORT_ANY; /* it is as damaged as the record */
        gyre_block_seal(&record, sizeof record, GYRE_BLOCK_OFFER);
        status = gyre_transport_record_put(transport, name, &record, sizeof record, revision, &revision);
        if (status != GYRE_AGAIN || gyre_clock_ns() >= deadline_ns)
            return status;
    }
}
