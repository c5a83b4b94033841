/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers which refusals the server's log has told (refusals.h). Lock: its functions take server->lock. */
#include "core/attach/refusals.h"

#include "core/attach/server.h"

static uint64_t refusal_hash(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

static bool refusal_was_told(const struct gyre_refusals *refusals, struct gyre_refusal refusal)
{
    for (uint32_t i = 0; i < GYRE_REFUSALS_MAX; i++)
        if (refusals->told[i].who == refusal.who && refusals->told[i].why == refusal.why)
            return true;
    return false;
}

bool gyre_refusals_are_new(struct gyre_server *server, const char *who, const char *why)
{
    const struct gyre_refusal refusal = {refusal_hash(who), refusal_hash(why)};
    struct gyre_refusals *refusals = &server->refusals;
    pthread_mutex_lock(&server->lock);
    const bool is_new = !refusal_was_told(refusals, refusal);
    if (is_new)
        refusals->told[refusals->next++ % GYRE_REFUSALS_MAX] = refusal;
    pthread_mutex_unlock(&server->lock);
    return is_new;
}

void gyre_refusals_forget(struct gyre_server *server, const char *who)
{
    const uint64_t hash = refusal_hash(who);
    pthread_mutex_lock(&server->lock);
    for (uint32_t i = 0; i < GYRE_REFUSALS_MAX; i++)
        if (server->refusals.told[i].who == hash)
            server->refusals.told[i] = (struct gyre_refusal){0, 0};
    pthread_mutex_unlock(&server->lock);
}
