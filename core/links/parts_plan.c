/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the parts of a pipeline of several devices (apart.h), and checks what they can have. */
#include "core/links/apart.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/kernel/node_keep.h"
#include "core/links/cycles.h"
#include "core/links/station.h"

static const char *name_of(const gyre_pipeline *pipeline, int node)
{
    return pipeline->nodes[node].facts.name;
}

static const char *backend_of(const gyre_pipeline *pipeline, int node)
{
    return gyre_dispatch_backend(pipeline->nodes[node].facts.device);
}

/* ---- what parts cannot have ---- */

static gyre_status check_node(const gyre_pipeline *pipeline, int node)
{
    const struct gyre_node_facts *facts = &pipeline->nodes[node].facts;
    if (pipeline->nodes[node].enters)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "entry '%s' is on backend '%s', and other kernels of the pipeline are on another device: clients enter such a "
            "pipeline by a kernel on backend 'cpu'%s",
            facts->name, backend_of(pipeline, node), facts->in_worker ? " that is in no worker process" : "");
    if (facts->in_worker && gyre_node_has_checkpoints(pipeline->nodes[node].kernel))
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' has checkpoints, and other kernels of the pipeline are on another device than its worker process: "
            "leave checkpoints out, or run all kernels of the pipeline in one worker process",
            facts->name);
    if (!(gyre_dispatch_device_info(facts->device)->knows_links & GYRE_LINKING_TOPICS))
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' is on backend '%s', whose kernels send only to kernels of their own "
            "device: give all kernels of the pipeline the same backend and device",
            facts->name, backend_of(pipeline, node));
    if (facts->record->flow_size)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' has memory of flows (GYRE_FLOW), and is on backend '%s', where a message from another device "
            "begins a flow of its own: run it on backend 'cpu'",
            facts->name, backend_of(pipeline, node));
    return GYRE_OK;
}

static bool crosses(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    if (link->to == GYRE_NODE_NOWHERE)
        return false;
    const struct gyre_node *from = &pipeline->nodes[link->from], *to = &pipeline->nodes[link->to];
    return (from->is_apart || to->is_apart) && from->home != to->home;
}

/* The tap within a part through which messages come to the kernel; NULL: there is none. */
static const struct gyre_link *find_tap_before(const gyre_pipeline *pipeline, int node)
{
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *tap = &pipeline->links[i];
        if (tap->slow == GYRE_SLOW_TAP && tap->to != GYRE_NODE_NOWHERE && pipeline->nodes[tap->to].is_apart &&
            !crosses(pipeline, tap) && (tap->to == node || gyre_links_lead(pipeline, tap->to, node)))
            return tap;
    }
    return NULL;
}

/* A link that begins or ends at a kernel that is apart, and at one of another device. */
static gyre_status check_crossing(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const char *from = name_of(pipeline, link->from), *to = name_of(pipeline, link->to);
    if (link->slow != GYRE_SLOW_WAIT && pipeline->nodes[link->from].is_apart)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' is on backend '%s', and subscriber '%s' of its topic '%s' is on another device, where it is waited "
            "for: set slow to wait, and name no taps there",
            from, backend_of(pipeline, link->from), to, link->topic);
    if (link->key.share == GYRE_LINK_SHARE_KEY && pipeline->nodes[link->to].is_apart)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "link '%s' shares its messages by key among the blocks of kernel '%s' on backend '%s', and comes from another "
            "device: give the kernel one block, and leave `share` out",
            link->name, to, backend_of(pipeline, link->to));
    if (link->choice)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "link '%s' leads to one of the types of kernel '%s', and kernel '%s' is on another device, one of which moves its "
            "messages by itself: run both on one device, or let '%s' take one type",
            link->name, to, from, to);
    if (link->level && pipeline->nodes[link->to].is_apart)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "link '%s' has a level, and leads from another device to kernel '%s' on backend '%s', where its messages come by "
            "a queue: leave the level out",
            link->name, to, backend_of(pipeline, link->to));
    const struct gyre_link *tap =
        pipeline->nodes[link->from].is_apart ? find_tap_before(pipeline, link->from) : NULL;
    if (tap)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' on backend '%s' gets messages of tap '%s' of topic '%s', which belong to no request, and sends "
            "to kernel '%s' on another device: name '%s' in `to`, or run it on backend 'cpu'",
            from, backend_of(pipeline, link->from), name_of(pipeline, tap->to), tap->topic, to,
            name_of(pipeline, tap->to));
    return GYRE_OK;
}

static gyre_status check(const gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    gyre_status status = GYRE_OK;
    int apart = GYRE_NODE_NOWHERE;
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++) {
        if (!pipeline->nodes[i].is_apart)
            continue;
        apart = apart == GYRE_NODE_NOWHERE ? i : apart;
        status = check_node(pipeline, i);
    }
    if (status == GYRE_OK && apart != GYRE_NODE_NOWHERE && (pipeline->window || pipeline->quota)) {
        gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "the pipeline has a window or a quota, and kernel '%s' on backend '%s' would not count its messages "
            "with those of other devices: leave both out, or run the pipeline on one device",
            name_of(pipeline, apart), backend_of(pipeline, apart));
        return gyre_wiring_blame(pipeline->quota ? wiring->quota : wiring->window, GYRE_UNIMPLEMENTED);
    }
    for (int i = 0; i < pipeline->link_count && status == GYRE_OK; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (!crosses(pipeline, link))
            continue;
        status = check_crossing(pipeline, link);
        if (status != GYRE_OK)
            return gyre_wiring_blame(link->place.to, status);
    }
    return status;
}

/* ---- the parts ---- */

static bool is_station(const gyre_pipeline *pipeline, int node)
{
    for (int i = 0; i < pipeline->link_count; i++)
        if (pipeline->links[i].to == node && crosses(pipeline, &pipeline->links[i]))
            return true;
    return false;
}

static struct gyre_pipeline_part *find_part(const gyre_pipeline *pipeline, const struct gyre_dispatch *home)
{
    struct gyre_pipeline_part *part = pipeline->parts;
    while (part && part->home != home)
        part = part->next;
    return part;
}

static struct gyre_pipeline_part *add_part(gyre_pipeline *pipeline, struct gyre_dispatch *home)
{
    struct gyre_pipeline_part *part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    pthread_mutex_init(&part->lock, NULL);
    part->home = home;
    part->whole = pipeline;
    part->next = pipeline->parts;
    pipeline->parts = part;
    part->control = aligned_alloc(GYRE_LINE_SIZE, sizeof *part->control);
    part->stations = calloc(GYRE_NODES_MAX, sizeof *part->stations);
    if (!part->control || !part->stations)
        return NULL;
    memset(part->control, 0, sizeof *part->control);
    part->control->command.parks = 1; /* stations sleep without a heavy barrier */
    return part;
}

static void add_station(struct gyre_pipeline_part *part, int node)
{
    struct gyre_station *station = &part->stations[part->station_count];
    *station = (struct gyre_station){.part = part, .node = node, .number = part->station_count};
    pthread_mutex_init(&station->lock, NULL);
    pthread_cond_init(&station->fed, NULL);
    part->station_count++;
}

static gyre_status add_node(gyre_pipeline *pipeline, int node)
{
    struct gyre_dispatch *home = pipeline->nodes[node].home;
    struct gyre_pipeline_part *part = find_part(pipeline, home);
    if (!part)
        part = add_part(pipeline, home);
    if (!part)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a pipeline of several devices");
    pipeline->nodes[node].part = part;
    if (is_station(pipeline, node))
        add_station(part, node);
    return GYRE_OK;
}

/* What other stages see of the node is what the stations of its part have. */
static void disguise(struct gyre_node *node)
{
    node->facts.movers = node->part->station_count;
    node->facts.in_host = true;
    node->facts.control = (uint64_t)(uintptr_t)node->part->control;
    node->facts.control_here = node->part->control;
}

gyre_status gyre_parts_plan(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    gyre_status status = check(pipeline, wiring);
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++)
        if (pipeline->nodes[i].is_apart)
            status = add_node(pipeline, i);
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++)
        if (pipeline->nodes[i].is_apart)
            disguise(&pipeline->nodes[i]);
    return status;
}
