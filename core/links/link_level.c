/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of links (link_level.h). No locks, no state. */
#include "core/links/link_level.h"

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/links/work_pool.h"

/* Whether the kernel chooses among all that leads to it: taps and pools as well. */
static bool chooses_among_all(const gyre_pipeline *pipeline, int node)
{
    struct gyre_dispatch *device = pipeline->nodes[node].facts.device;
    return gyre_dispatch_device_info(device)->knows_links & GYRE_LINKING_SIDE_LEVELS;
}

/* Why a link has no level; NULL: it may have one. */
static const char *why_none(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return link->is_outlet                 ? "programs get its messages, and no kernel chooses among them"
           : link->to == GYRE_NODE_NOWHERE ? "its messages are thrown away"
           : chooses_among_all(pipeline, link->to) ? NULL
           : link->pool[0]                         ? "a member of a pool takes from whichever ring has most"
           : link->slow == GYRE_SLOW_TAP           ? "a tap holds nobody up, and comes behind all else"
                                                   : NULL;
}

static gyre_status check_target(const struct gyre_node_facts *to)
{
    const struct gyre_node_need need = {.before = "level: ",
                                        .linking = GYRE_LINKING_LEVELS,
                                        .device_lacks = "takes messages of all links alike",
                                        .is_left_out = to->record->is_flat,
                                        .build_lacks = "what chooses among links",
                                        .stage = "GYRE_STAGE_WITH_LEVELS",
                                        .instead = "set the level in the section of the link"};
    return gyre_node_check_need(to, &need);
}

static bool is_member(const gyre_pipeline *pipeline, int node)
{
    for (int i = 0; i < pipeline->link_count; i++)
        if (pipeline->links[i].to == node && pipeline->links[i].pool[0])
            return true;
    return false;
}

static gyre_status check_no_member(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    if (chooses_among_all(pipeline, link->to) || !is_member(pipeline, link->to))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "level: kernel '%s' is a member of a pool, and takes from whichever ring has most: leave the "
        "level out",
        pipeline->nodes[link->to].facts.name);
}

gyre_status gyre_link_level_check(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const char *none = why_none(pipeline, link);
    if (link->level == 0)
        return GYRE_OK;
    if (link->level > GYRE_LEVEL_MAX)
        return gyre_error_set(GYRE_INVALID,
                              "level: expected 0 to %d, of which the highest comes first, found %u",
                              GYRE_LEVEL_MAX, link->level);
    if (none)
        return gyre_error_set(GYRE_INVALID, "level: expected 0, found %u: %s", link->level, none);
    const gyre_status status = check_target(&pipeline->nodes[link->to].facts);
    return status == GYRE_OK ? check_no_member(pipeline, link) : status;
}

/* The members of a pool take from the same rings. */
static gyre_status check_agrees(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const struct gyre_link *first = gyre_work_pool_first(pipeline, link);
    if (!link->pool[0] || first->level == link->level)
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID,
                          "level: the members of pool '%s' take from the same rings, which have one level: "
                          "expected %u, as kernel '%s' has it, found %u",
                          link->pool, first->level, pipeline->nodes[first->to].facts.name, link->level);
}

/* Members of pools that were added behind the link. */
gyre_status gyre_link_levels_check(const gyre_pipeline *pipeline)
{
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        status = check_agrees(pipeline, link);
        if (status == GYRE_OK && link->level)
            status = check_no_member(pipeline, link);
        if (status != GYRE_OK)
            status = gyre_wiring_blame(link->place.level, gyre_error_add(status, "link '%s'", link->name));
    }
    return status;
}
