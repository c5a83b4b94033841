/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the place of a shard that this member owns, again and again while the transport does not take it (owned_place.h). */
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/cluster/owned_place.h"
#include "core/cluster/shard.h"

gyre_status gyre_shard_lost_lease(const struct gyre_shard *shard)
{
    return gyre_error_set(
        GYRE_LOST,
        "shard %u: the lease of %llu ms ran out before this member could renew it, so another one may "
        "have the shard",
        shard->number, (unsigned long long)(shard->site->lease_ns / 1000000));
}

gyre_status gyre_shard_try_again(const struct gyre_shard *shard, gyre_status status, uint64_t begin_ns)
{
    if (status != GYRE_TIMEOUT && status != GYRE_UNAVAILABLE && status != GYRE_AGAIN)
        return status;
    if (!gyre_shard_has_lease(shard))
        return gyre_shard_lost_lease(shard);
    if (gyre_shard_is_stopping(shard) && gyre_clock_ns() - begin_ns >= shard->site->lease_ns)
        return gyre_error_add(GYRE_LOST, "shard %u: it is to be given back, and the transport takes nothing",
                              shard->number);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return GYRE_OK;
}

static bool is_same(const struct gyre_shard_place *one, const struct gyre_shard_place *other)
{
    return one->epoch == other->epoch && one->incarnation == other->incarnation &&
           one->is_kept == other->is_kept && one->closing_ns == other->closing_ns &&
           one->pause_ns == other->pause_ns && one->works == other->works && one->handled == other->handled &&
           strcmp(one->owner, other->owner) == 0 &&
           memcmp(&one->trial, &other->trial, sizeof one->trial) == 0;
}

/*
 * After a write that was refused, or may have taken place: OK when the record says what it should. While it has this owner's epoch nobody else
 * writes it, so it may be replaced as it is: AGAIN. LOST: another member has it.
 */
static gyre_status look_again(struct gyre_shard *shard)
{
    struct gyre_shard_place its;
    const gyre_status status = gyre_place_read(shard->site->transport, shard->number, &its);
    if (status != GYRE_OK)
        return status;
    if (its.epoch != shard->place.epoch)
        return gyre_error_set(GYRE_LOST, "shard %u: another member took it meanwhile", shard->number);
    shard->place.revision = its.revision;
    return is_same(&its, &shard->place) ? GYRE_OK : GYRE_AGAIN;
}

gyre_status gyre_shard_write_place(struct gyre_shard *shard)
{
    const uint64_t begin_ns = gyre_clock_ns();
    for (;;) {
        gyre_status status = gyre_place_write(shard->site->transport, shard->number, &shard->place);
        if (status == GYRE_AGAIN || status == GYRE_TIMEOUT)
            status = look_again(shard);
        if (status == GYRE_OK)
            return status;
        status = gyre_shard_try_again(shard, status, begin_ns);
        if (status != GYRE_OK)
            return status;
    }
}
