/* SPDX-License-Identifier: Apache-2.0 */
/* Pools (work_pool.h). No locks, no state. */
#include "core/links/work_pool.h"

#include <string.h>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"

/* ---- what members have in common ---- */

bool gyre_work_pool_shares(const struct gyre_link *one, const struct gyre_link *other)
{
    return one->pool[0] && other->pool[0] && one->from == other->from && one->port == other->port;
}

const struct gyre_link *gyre_work_pool_first(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    for (const struct gyre_link *first = pipeline->links; first < link; first++)
        if (gyre_work_pool_shares(first, link))
            return first;
    return link;
}

uint32_t gyre_work_pool_takers(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    uint32_t takers = 0;
    if (!link->pool[0])
        return pipeline->nodes[link->to].facts.movers;
    for (int i = 0; i < pipeline->link_count; i++)
        if (gyre_work_pool_shares(link, &pipeline->links[i]))
            takers += pipeline->nodes[pipeline->links[i].to].facts.movers;
    return takers;
}

uint32_t gyre_work_pool_word(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    bool own = false;
    if (!link->pool[0])
        return 0;
    for (int i = 0; i < pipeline->link_count; i++)
        own |= gyre_work_pool_shares(link, &pipeline->links[i]) && pipeline->links[i].to == link->from;
    return gyre_work_pool_takers(pipeline, link) | (own ? GYRE_POOL_OWN : 0) |
           (own && link->order == GYRE_POOL_NEWEST_FIRST ? GYRE_POOL_NEWEST : 0);
}

/* ---- checks ---- */

/* Whether the kernel is a member already, by a link of the same port. */
static bool is_member(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    for (int i = 0; i < pipeline->link_count; i++)
        if (gyre_work_pool_shares(link, &pipeline->links[i]) && pipeline->links[i].to == link->to)
            return true;
    return false;
}

gyre_status gyre_work_pool_check(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    if (link->to == GYRE_NODE_NOWHERE)
        return gyre_error_set(GYRE_INVALID, "the members of a pool are kernels, found " GYRE_WIRING_NOWHERE
                                            " or " GYRE_WIRING_HOST);
    const char *name = pipeline->nodes[link->to].facts.name;
    if (link->answer)
        return gyre_error_set(
            GYRE_INVALID,
            "port '%s' asks, and leads to a pool: who asks names the kernel that answers, so "
            "give it a link of its own",
            link->sends.name);
    if (link->key.share != GYRE_LINK_SHARE_ANY)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' is a keyed actor, whose blocks handle the messages of their keys, and a "
            "member of a pool takes any: link it by itself",
            name);
    if (is_member(pipeline, link))
        return gyre_error_set(GYRE_INVALID, "kernel '%s' is a member twice", name);
    return GYRE_OK;
}

static bool has_pools(const struct gyre_node_facts *facts)
{
    return gyre_dispatch_device_info(facts->device)->knows_links & GYRE_LINKING_POOLS;
}

/* Whoever takes from the rings of a pool reaches the counters of all that do. */
static gyre_status check_compiled(const struct gyre_link *link, const struct gyre_node_facts *to)
{
    if (!to->record->is_poolless)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "kernel '%s' is a member of pool '%s', and was compiled without what takes from pools: launch it with "
        "gyre_launch_desc.stage = GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_POOL (and what else it needs), or name it in `members` of a section [pool.NAME]",
        to->name, link->pool);
}

static gyre_status check_member(const struct gyre_link *link, const struct gyre_node_facts *from,
                                const struct gyre_node_facts *to)
{
    const char *backend = gyre_dispatch_backend(to->device);
    if (!has_pools(to))
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' is a member of pool '%s', and backend '%s' has no pools yet: run all of its members "
            "on a backend that has them, as 'cpu' has, or give the kernel a link of its own",
            to->name, link->pool, backend);
    if (to->device != from->device && !(to->is_shared && from->is_shared))
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' on backend '%s' is a member of pool '%s', and kernel '%s', which sends to it, is on another "
            "device: run both on the same one",
            to->name, backend, link->pool, from->name);
    return check_compiled(link, to);
}

gyre_status gyre_work_pools_check_device(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        const struct gyre_node_facts *from = &pipeline->nodes[link->from].facts;
        if (!link->pool[0])
            continue;
        if (!has_pools(from)) {
            gyre_error_set(
                GYRE_UNIMPLEMENTED,
                "kernel '%s' sends to pool '%s', and backend '%s' has no pools yet: run the pipeline on "
                "a backend that has them, as 'cpu' has, or give the port a link to one kernel",
                from->name, link->pool, gyre_dispatch_backend(from->device));
            return gyre_wiring_blame(link->place.from, GYRE_UNIMPLEMENTED);
        }
        const gyre_status status = check_member(link, from, &pipeline->nodes[link->to].facts);
        if (status != GYRE_OK)
            return gyre_wiring_blame(link->place.to, status);
    }
    return GYRE_OK;
}
