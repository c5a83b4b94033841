/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of links (link_level.h). No locks, no state. */
#include "core/links/link_level.h"

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"

/* Why a link has no level; NULL: it may have one. */
static const char *why_none(const struct gyre_link *link)
{
    return link->is_outlet                 ? "programs get its messages, and no kernel chooses among them"
           : link->to == GYRE_NODE_NOWHERE ? "its messages are thrown away"
           : link->pool[0]                 ? "a member of a pool takes from whichever ring has most"
           : link->slow == GYRE_SLOW_TAP   ? "a tap holds nobody up, and comes behind all else"
                                           : NULL;
}

static gyre_status check_target(const struct gyre_link *link, const struct gyre_node_facts *to)
{
    if (!(gyre_dispatch_device_info(to->device)->knows_links & GYRE_LINKING_LEVELS))
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "level: kernel '%s' runs on backend '%s', which takes messages of all links alike: leave it out, or run the "
            "kernel on backend 'cpu', or on another one that has levels",
            to->name, gyre_dispatch_backend(to->device));
    if (to->record->is_flat)
        return gyre_error_set(
            GYRE_INVALID,
            "level: kernel '%s' was compiled without what chooses among links: launch it with gyre_launch_desc.stage = 10 "
            "(8 more than without levels), or set the level in the section of the link '%s'",
            to->name, link->name);
    return GYRE_OK;
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
    if (!is_member(pipeline, link->to))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "level: kernel '%s' is a member of a pool, and takes from whichever ring has most: leave the "
        "level out",
        pipeline->nodes[link->to].facts.name);
}

gyre_status gyre_link_level_check(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const char *none = why_none(link);
    if (link->level == 0)
        return GYRE_OK;
    if (link->level > GYRE_LEVEL_MAX)
        return gyre_error_set(GYRE_INVALID,
                              "level: expected 0 to %d, of which the highest comes first, found %u",
                              GYRE_LEVEL_MAX, link->level);
    if (none)
        return gyre_error_set(GYRE_INVALID, "level: expected 0, found %u: %s", link->level, none);
    const gyre_status status = check_target(link, &pipeline->nodes[link->to].facts);
    return status == GYRE_OK ? check_no_member(pipeline, link) : status;
}

/* Members of pools that were added behind the link. */
gyre_status gyre_link_levels_check(const gyre_pipeline *pipeline)
{
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (link->level)
            status = check_no_member(pipeline, link);
        if (status != GYRE_OK)
            status = gyre_wiring_blame(link->place.level, gyre_error_add(status, "link '%s'", link->name));
    }
    return status;
}
