/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that lead back to the kernel that they begin at. Each block of such a cycle waits for room that the others make, so no ring
 * of it may ever be full for good. A ring has room for `most` messages, which the next call may emit, unless too many are alive:
 * room comes back by whole sections, and blocks of the target give back what they took together. So a ring that holds
 *
 *     capacity - a section - what all blocks of the target take at once - most
 *
 * messages of the cycle still has room, and `window` flows with `quota` messages each must not be more. A block of a kernel with
 * several blocks takes one message at a time: else it could sleep with one that it has no room for, while others go on behind
 * it, and room comes back in order only. Pure: changes the pipeline's own lists only.
 */
#include <stdint.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/dispatch/dispatch.h"
#include "core/links/asks.h"
#include "core/links/cycles.h"
#include "core/links/work_pool.h"

enum { RUN_MOST = 64 /* messages that a lone block takes at once: more make nothing faster */ };

/* ---- finding ---- */

static bool is_way(const struct gyre_link *link, bool waits)
{
    return link->to != GYRE_NODE_NOWHERE && !link->retired && (!waits || link->slow == GYRE_SLOW_WAIT);
}

/* `seen`: a bit for each node that was looked at. `waits`: by links only whose sender waits for room. */
static bool leads(const gyre_pipeline *pipeline, int from, int to, bool waits, uint64_t *seen)
{
    if (*seen >> from & 1)
        return false;
    *seen |= (uint64_t)1 << from;
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (link->from == from && is_way(link, waits) &&
            (link->to == to || leads(pipeline, link->to, to, waits, seen)))
            return true;
    }
    return false;
}

bool gyre_links_lead(const gyre_pipeline *pipeline, int from, int to)
{
    uint64_t seen = 0;
    return leads(pipeline, from, to, false, &seen);
}

static bool leads_back(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    uint64_t seen = 0;
    return is_way(link, true) &&
           (link->to == link->from || leads(pipeline, link->to, link->from, true, &seen));
}

/* The members of a pool take from the same rings, so one that leads back is enough. */
static bool is_in_cycle(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    bool found = leads_back(pipeline, link);
    for (int i = 0; i < pipeline->link_count && !found; i++)
        found = gyre_work_pool_shares(link, &pipeline->links[i]) && leads_back(pipeline, &pipeline->links[i]);
    return found;
}

static const char *name_of(const gyre_pipeline *pipeline, int node)
{
    return pipeline->nodes[node].facts.name;
}

/* What a tap gets belongs to no flow, so nothing would limit what goes round. */
static gyre_status check_tap(const gyre_pipeline *pipeline, const struct gyre_link *tap)
{
    for (int i = 0; i < pipeline->node_count; i++)
        if ((i == tap->to || gyre_links_lead(pipeline, tap->to, i)) && gyre_links_lead(pipeline, i, i)) {
            gyre_error_set(
                GYRE_INVALID,
                "tap '%s' of topic '%s' leads into the cycle of kernel '%s', and nothing limits the "
                "messages of a tap: name it in `to`, or let its ports end elsewhere",
                name_of(pipeline, tap->to), tap->topic, name_of(pipeline, i));
            return gyre_wiring_blame(tap->place.to, GYRE_INVALID);
        }
    return GYRE_OK;
}

/* `needed`: gyre_linking bits. */
static gyre_status check_device(const gyre_pipeline *pipeline, const char *what, uint32_t needed)
{
    for (int i = 0; i < pipeline->node_count; i++) {
        struct gyre_dispatch *device = pipeline->nodes[i].facts.device;
        if ((gyre_dispatch_device_info(device)->knows_links & needed) != needed)
            return gyre_error_set(
                GYRE_UNIMPLEMENTED,
                "%s, and backend '%s' does not have that yet: run the pipeline on backend 'cpu'", what,
                gyre_dispatch_backend(device));
    }
    return GYRE_OK;
}

static gyre_status check_cycle(const gyre_pipeline *pipeline, const struct gyre_link *link,
                               const struct gyre_wiring_config *wiring)
{
    char what[2 * GYRE_NAME_MAX + 64];
    const char *kernel = name_of(pipeline, link->from);
    if (link->talk == GYRE_TALK_ASKS)
        snprintf(what, sizeof what, "kernel '%s' asks kernel '%s', whose answers lead back to it (a cycle)",
                 kernel, name_of(pipeline, link->to));
    else
        snprintf(what, sizeof what, "links%s lead from kernel '%s' back to it (a cycle)",
                 pipeline->has_rounds ? " and rounds" : "", kernel);
    const gyre_status status = check_device(
        pipeline, what, GYRE_LINKING_CYCLES | (link->talk == GYRE_TALK_TELLS ? 0 : GYRE_LINKING_ASKS));
    if (status != GYRE_OK || wiring->desc.quota)
        return status;
    gyre_error_set(GYRE_INVALID,
                   "%s, and pipeline '%s' has no quota: set quota in [pipeline.%s] to the number of messages "
                   "of one request that may be alive at once",
                   what, pipeline->name, pipeline->name);
    return gyre_wiring_blame(wiring->entry, GYRE_INVALID);
}

gyre_status gyre_cycles_allow(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    gyre_status status = GYRE_OK;
    if (link->to == GYRE_NODE_NOWHERE)
        return GYRE_OK;
    if (link->to == link->from || gyre_links_lead(pipeline, link->to, link->from))
        return gyre_error_set(
            GYRE_INVALID,
            "links lead from kernel '%s' to kernel '%s': while a pipeline is open no new link may "
            "form a cycle",
            name_of(pipeline, link->to), name_of(pipeline, link->from));
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++)
        if (pipeline->links[i].slow == GYRE_SLOW_TAP && is_way(&pipeline->links[i], false))
            status = check_tap(pipeline, &pipeline->links[i]);
    return status;
}

gyre_status gyre_cycles_find(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    gyre_status status = GYRE_OK;
    pipeline->window = wiring->desc.window;
    pipeline->quota = wiring->desc.quota;
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++) {
        struct gyre_link *link = &pipeline->links[i];
        link->is_in_cycle = is_in_cycle(pipeline, link);
        if (link->is_in_cycle)
            status = check_cycle(pipeline, link, wiring);
        if (status == GYRE_OK && link->slow == GYRE_SLOW_TAP)
            status = check_tap(pipeline, link);
    }
    if (status == GYRE_OK && (pipeline->window || pipeline->quota))
        status = check_device(pipeline, "the pipeline has a window or a quota", GYRE_LINKING_CYCLES);
    return status;
}

/* ---- arithmetic ---- */

static uint64_t movers(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return gyre_work_pool_takers(pipeline, link);
}

uint32_t gyre_cycles_run(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const uint64_t section = link->capacity / GYRE_LINK_SECTIONS;
    if (!link->is_in_cycle)
        return 0;
    if (link->pool[0])
        return 1;
    return movers(pipeline, link) > 1 ? 1 : (uint32_t)(section < RUN_MOST ? section : RUN_MOST);
}

struct gyre_cycle_room gyre_cycles_room(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    struct gyre_cycle_room room = {.messages = 0};
    if (!link->is_in_cycle)
        return room;
    room.section = link->capacity / GYRE_LINK_SECTIONS;
    room.held = movers(pipeline, link) * gyre_cycles_run(pipeline, link);
    const uint64_t taken = room.section + room.held + link->sends.most;
    room.messages = link->capacity > taken ? link->capacity - taken : 0;
    return room;
}

uint64_t gyre_cycles_least(const gyre_pipeline *pipeline, const struct gyre_link *link, uint64_t least,
                           uint64_t bound)
{
    struct gyre_link tried = *link;
    const uint64_t wanted = (uint64_t)pipeline->quota * (pipeline->window ? pipeline->window : 1);
    for (tried.capacity = least; link->is_in_cycle && tried.capacity < bound; tried.capacity *= 2)
        if (gyre_cycles_room(pipeline, &tried).messages >= wanted)
            break;
    return tried.capacity;
}

static gyre_status tell_no_room(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                const struct gyre_wiring_config *wiring)
{
    const struct gyre_cycle_room room = gyre_cycles_room(pipeline, link);
    const uint32_t window = pipeline->window ? pipeline->window : 1;
    gyre_error_set(
        GYRE_INVALID,
        "link '%s' is in a cycle and has room for %llu of its messages: %llu of its capacity, less %llu "
        "(a section), %llu (taken by %llu block%s) and %u (the most of one call); expected room for %llu: "
        "window %u x quota %u. Lower these, or set capacity of the link to more",
        link->name, (unsigned long long)room.messages, (unsigned long long)link->capacity,
        (unsigned long long)room.section, (unsigned long long)room.held,
        (unsigned long long)movers(pipeline, link), gyre_text_plural(movers(pipeline, link)),
        link->sends.most, (unsigned long long)window * pipeline->quota, window, pipeline->quota);
    const char *place = link->place.capacity   ? link->place.capacity
                        : pipeline->window > 1 ? wiring->window
                                               : wiring->quota;
    return gyre_wiring_blame(place, GYRE_INVALID);
}

/* A kernel that was compiled before it was known that flows are limited, or ask, cannot count them. */
gyre_status gyre_cycles_count_by(const gyre_pipeline *pipeline, int node)
{
    if (!(pipeline->window || pipeline->quota) || !pipeline->nodes[node].facts.record->is_unlimited)
        return gyre_asks_count_by(pipeline, node);
    return gyre_error_set(
        GYRE_INVALID,
        "the pipeline has a window or a quota, and kernel '%s' was compiled without what counts its "
        "flows: launch it with gyre_launch_desc.stage = GYRE_STAGE_COUNTED, or set the quota in [pipeline.%s]",
        name_of(pipeline, node), pipeline->name);
}

static gyre_status check_kernels(const gyre_pipeline *pipeline)
{
    gyre_status status = GYRE_OK;
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++)
        status = gyre_cycles_count_by(pipeline, i);
    return status;
}

gyre_status gyre_cycles_admit(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    uint64_t most = UINT64_MAX;
    const gyre_status status = check_kernels(pipeline);
    if (status != GYRE_OK)
        return status;
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (!link->is_in_cycle)
            continue;
        const uint64_t flows = gyre_cycles_room(pipeline, link).messages / pipeline->quota;
        if (flows == 0 || flows < pipeline->window)
            return tell_no_room(pipeline, link, wiring);
        most = flows < most ? flows : most;
    }
    if (most == UINT64_MAX)
        return GYRE_OK;
    pipeline->window_most = (uint32_t)most;
    if (!pipeline->window)
        pipeline->window = pipeline->window_most;
    return GYRE_OK;
}
