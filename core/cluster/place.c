/* SPDX-License-Identifier: Apache-2.0 */
/* See place.h. No state. */
#include "core/cluster/place.h"

#include <stddef.h>
#include <string.h>

#include "core/base/error.h"

gyre_status gyre_place_read(struct gyre_transport *transport, uint32_t shard, struct gyre_shard_place *out)
{
    char name[GYRE_CLUSTER_NAME_SIZE];
    unsigned char bytes[GYRE_TRANSPORT_RECORD_MAX];
    struct gyre_cluster_place place = {.epoch = 0};
    const size_t least = offsetof(struct gyre_cluster_place, trial); /* of records without one */
    const size_t with_trial = offsetof(struct gyre_cluster_place, closing_ns);
    const size_t with_pause = offsetof(struct gyre_cluster_place, works);
    const size_t with_works = offsetof(struct gyre_cluster_place, handled);
    size_t size;
    *out = (struct gyre_shard_place){0};
    gyre_status status = gyre_transport_record_get(transport, gyre_cluster_shard_name(name, "place", shard),
                                                   bytes, sizeof bytes, &size, &out->revision);
    if (status == GYRE_NOT_FOUND)
        return GYRE_OK;
    if (status == GYRE_OK)
        status = gyre_block_check(bytes, size, GYRE_BLOCK_PLACE, least, name, NULL);
    if (status != GYRE_OK)
        return status;
    memcpy(&place, bytes,
           size >= sizeof place ? sizeof place
           : size >= with_works ? with_works
           : size >= with_pause ? with_pause
           : size >= with_trial ? with_trial
                                : least);
    if (!gyre_cluster_text_is_name(place.owner, sizeof place.owner, true) || place.epoch > UINT64_MAX / 2)
        return gyre_error_set(GYRE_INCOMPATIBLE, "the cluster's record '%s': expected the name of an owner",
                              name);
    out->epoch = place.epoch;
    out->incarnation = place.incarnation;
    out->is_kept = place.is_kept != 0;
    out->trial = place.trial;
    out->closing_ns = place.closing_ns;
    out->pause_ns = place.pause_ns;
    out->works = place.works != 0;
    out->handled = place.handled;
    memcpy(out->owner, place.owner, sizeof out->owner);
    return GYRE_OK;
}

gyre_status gyre_place_write(struct gyre_transport *transport, uint32_t shard, struct gyre_shard_place *place)
{
    char name[GYRE_CLUSTER_NAME_SIZE];
    uint64_t revision;
    struct gyre_cluster_place record = {.epoch = place->epoch,
                                        .incarnation = place->incarnation,
                                        .is_kept = place->is_kept,
                                        .trial = place->trial,
                                        .closing_ns = place->closing_ns,
                                        .pause_ns = place->pause_ns,
                                        .works = place->works,
                                        .handled = place->handled};
    memcpy(record.owner, place->owner, sizeof record.owner);
    gyre_block_seal(&record, sizeof record, GYRE_BLOCK_PLACE);
    const gyre_status status =
        gyre_transport_record_put(transport, gyre_cluster_shard_name(name, "place", shard), &record,
                                  sizeof record, place->revision, &revision);
    if (status == GYRE_OK)
        place->revision = revision;
    return status;
}
