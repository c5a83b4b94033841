/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the parts of a pipeline of several devices, and takes them apart (apart.h). */
#include "core/links/apart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/kernel/visit.h"
#include "core/links/link_sizes.h"
#include "core/links/joined.h"
#include "core/links/repeaters.h"
#include "core/links/station.h"
#include "core/queue/end.h"
#include "core/queue/queue.h"

enum {
    EMITTED_MOST = 1 << 22, /* messages that one request may send elsewhere */
    WINDOW_USUAL = 256,     /* requests of a station that an outlet has room for, if they fit into */
    OUTLET_BYTES_USUAL = 4 << 20,
    OUTLET_BYTES_MOST = 256 << 20 /* of each ring */
};

/* ---- from the whole to a part ---- */

static bool is_of(const gyre_pipeline *whole, int node, const struct gyre_pipeline_part *part)
{
    return node != GYRE_NODE_NOWHERE && whole->nodes[node].part == part;
}

/* Whether the link leads from the part to a kernel elsewhere. */
static bool leaves(const gyre_pipeline *whole, const struct gyre_link *link,
                   const struct gyre_pipeline_part *part)
{
    return is_of(whole, link->from, part) && link->to != GYRE_NODE_NOWHERE && !is_of(whole, link->to, part);
}

static int node_named(const gyre_pipeline *pipeline, const char *name, size_t length)
{
    for (int i = 0; i < pipeline->node_count; i++)
        if (strncmp(pipeline->nodes[i].facts.name, name, length) == 0 &&
            !pipeline->nodes[i].facts.name[length])
            return i;
    return GYRE_NODE_NOWHERE;
}

/* Room for the wiring of a part. */
struct part_wiring {
    struct gyre_wiring_config config;
    const char *entries[GYRE_NODES_MAX], *answers[GYRE_NODES_MAX];
    gyre_link_desc links[GYRE_WIRING_LINKS_MAX];
    struct gyre_wiring_place places[GYRE_WIRING_LINKS_MAX];
    char names[GYRE_WIRING_LINKS_MAX][24];
};

static bool is_listed(const gyre_pipeline_desc *desc, const char *from)
{
    for (size_t i = 0; i < desc->link_count; i++)
        if (strcmp(desc->links[i].from, from) == 0)
            return true;
    return false;
}

/* Whether the port leads to a kernel of the part as well: then its topic there is what the outlet hears. */
static bool stays_too(const struct gyre_pipeline_part *part, const struct gyre_wiring_config *whole,
                      const char *from)
{
    for (size_t i = 0; i < whole->desc.link_count; i++) {
        const char *to = whole->desc.links[i].to;
        if (strcmp(whole->desc.links[i].from, from) == 0 &&
            is_of(part->whole, node_named(part->whole, to, gyre_wiring_target_length(to)), part))
            return true;
    }
    return false;
}

/* Adds a link of the whole that begins in the part: as it is, or as an outlet, of which a port has one. */
static void add_link(const struct gyre_pipeline_part *part, struct part_wiring *wiring,
                     const struct gyre_wiring_config *whole, size_t number)
{
    gyre_pipeline_desc *desc = &wiring->config.desc;
    const gyre_link_desc *link = &whole->desc.links[number];
    const size_t at = desc->link_count;
    const int from = node_named(part->whole, link->from, gyre_wiring_kernel_length(link->from)),
              to = node_named(part->whole, link->to, gyre_wiring_target_length(link->to));
    if (!is_of(part->whole, from, part))
        return;
    wiring->links[at] = *link;
    wiring->places[at] = whole->links[number];
    if (to != GYRE_NODE_NOWHERE && !is_of(part->whole, to, part)) {
        if (stays_too(part, whole, link->from) || is_listed(desc, link->from))
            return;
        snprintf(wiring->names[at], sizeof wiring->names[at], "outlet %zu", at);
        wiring->links[at] = (gyre_link_desc){
            .size = sizeof *link, .name = wiring->names[at], .from = link->from, .to = GYRE_WIRING_HOST};
    }
    desc->link_count++;
}

static struct part_wiring *wiring_of(const struct gyre_pipeline_part *part,
                                     const struct gyre_wiring_config *whole)
{
    struct part_wiring *wiring = calloc(1, sizeof *wiring);
    if (!wiring)
        return NULL;
    gyre_pipeline_desc *desc = &wiring->config.desc;
    *desc = (gyre_pipeline_desc){.size = sizeof *desc,
                                 .name = part->whole->name,
                                 .entries = wiring->entries,
                                 .answers = wiring->answers,
                                 .links = wiring->links,
                                 .links_tight = whole->desc.links_tight};
    wiring->config.links = wiring->places;
    for (uint32_t i = 0; i < part->station_count; i++)
        wiring->entries[desc->entry_count++] = part->whole->nodes[part->stations[i].node].facts.name;
    for (int i = 0; i < part->whole->node_count; i++)
        if (is_of(part->whole, i, part) && part->whole->nodes[i].answers)
            wiring->answers[desc->answer_count++] = part->whole->nodes[i].facts.name;
    for (size_t i = 0; i < whole->desc.link_count; i++)
        add_link(part, wiring, whole, i);
    return wiring;
}

/* ---- how much a request sends elsewhere ---- */

static uint64_t add_bounded(uint64_t one, uint64_t other)
{
    return one + other < EMITTED_MOST ? one + other : EMITTED_MOST;
}

/* How often a request of `entry` has the kernels of the part called, at most. The part has no cycles. */
static void count_calls(const gyre_pipeline *inner, int entry, uint64_t calls[GYRE_NODES_MAX])
{
    uint64_t next[GYRE_NODES_MAX];
    memset(calls, 0, sizeof(uint64_t) * GYRE_NODES_MAX);
    for (int round = 0; round <= inner->node_count; round++) {
        memset(next, 0, sizeof next);
        next[entry] = 1;
        for (int i = 0; i < inner->link_count; i++) {
            const struct gyre_link *link = &inner->links[i];
            if (link->to != GYRE_NODE_NOWHERE)
                next[link->to] = add_bounded(next[link->to], calls[link->from] * link->sends.most);
        }
        memcpy(calls, next, sizeof next);
    }
}

/* Chooses how many messages an outlet holds: for a window of requests of each station, if there is memory. */
static gyre_status choose_capacity(const struct gyre_pipeline_part *part, const uint64_t *calls, bool tight,
                                   struct gyre_outlet *outlet)
{
    const gyre_kernel_record *record = part->inner->nodes[outlet->node].facts.record;
    const gyre_port_record *port = &record->ports[outlet->port];
    const uint32_t stride = gyre_link_stride(port->type->size);
    uint64_t most = 1;
    for (uint32_t i = 0; i < part->station_count; i++) {
        const uint64_t emitted = calls[i * GYRE_NODES_MAX + (uint32_t)outlet->node] * port->most;
        most = emitted > most ? emitted : most;
    }
    const uint64_t least = gyre_link_capacity_least((uint32_t)(most < EMITTED_MOST ? most : EMITTED_MOST)) *
                           (part->station_count > 1 ? 2 : 1);
    outlet->capacity = GYRE_LINK_SECTIONS;
    while (outlet->capacity < least || outlet->capacity * 15 / 16 / part->station_count < most)
        outlet->capacity *= 2;
    while (!tight && outlet->capacity / part->station_count < WINDOW_USUAL * most &&
           outlet->capacity * 2 * stride <= OUTLET_BYTES_USUAL)
        outlet->capacity *= 2;
    if (most < EMITTED_MOST && outlet->capacity * stride <= OUTLET_BYTES_MOST)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "one message from another device may have kernel '%s' emit %llu messages to port '%s' that leads to another device, "
        "and a ring there has at most %d bytes: lower what calls may emit (PORT)",
        part->inner->nodes[outlet->node].facts.name, (unsigned long long)most, port->name, OUTLET_BYTES_MOST);
}

/* Limits the requests of a station so that all that they send elsewhere has room. */
static void choose_window(struct gyre_station *station, const uint64_t *calls)
{
    const struct gyre_pipeline_part *part = station->part;
    const struct gyre_outlets *outlets = part->inner->outlets;
    uint64_t window = station->capacity;
    for (uint32_t i = 0; i < outlets->count; i++) {
        const struct gyre_outlet *outlet = &outlets->each[i];
        const uint64_t most = calls[station->number * GYRE_NODES_MAX + (uint32_t)outlet->node] *
                              part->inner->nodes[outlet->node].facts.record->ports[outlet->port].most;
        const uint64_t share = outlet->capacity * 15 / 16 / part->station_count;
        if (most && share / most < window)
            window = share / most;
    }
    station->window = (uint32_t)window;
}

/* ---- outlets ---- */

static bool is_outlet(const struct gyre_pipeline_part *part, const struct gyre_link *inner)
{
    const char *from = part->inner->nodes[inner->from].facts.name;
    const int node = node_named(part->whole, from, strlen(from));
    for (int i = 0; i < part->whole->link_count; i++) {
        const struct gyre_link *link = &part->whole->links[i];
        if (link->from == node && link->port == inner->port && leaves(part->whole, link, part))
            return true;
    }
    return false;
}

/* Whether one of the outlets has the link's port. */
static bool is_known(const struct gyre_outlet *each, uint32_t count, const struct gyre_link *link)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        found |= each[i].node == link->from && each[i].port == link->port;
    return found;
}

static gyre_status find_ways(struct gyre_pipeline_part *part, const struct gyre_outlet *outlet,
                             struct gyre_way *way)
{
    const char *from = part->inner->nodes[outlet->node].facts.name;
    const int node = node_named(part->whole, from, strlen(from));
    way->links = calloc((size_t)part->whole->link_count, sizeof *way->links);
    if (!way->links)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for links to other devices");
    for (int i = 0; i < part->whole->link_count; i++) {
        const struct gyre_link *link = &part->whole->links[i];
        if (link->from == node && link->port == outlet->port && leaves(part->whole, link, part))
            way->links[way->count++] = i;
    }
    return GYRE_OK;
}

static gyre_status make_outlets(struct gyre_pipeline_part *part, const uint64_t *calls, bool tight)
{
    struct gyre_outlet *each = calloc((size_t)part->inner->link_count + 1, sizeof *each);
    uint32_t count = 0;
    part->ways = calloc((size_t)part->inner->link_count + 1, sizeof *part->ways);
    if (!each || !part->ways) {
        free(each);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for links to other devices");
    }
    gyre_status status = GYRE_OK;
    for (int i = 0; i < part->inner->link_count && status == GYRE_OK; i++) {
        const struct gyre_link *link = &part->inner->links[i];
        if (link->is_own || !is_outlet(part, link) || is_known(each, count, link))
            continue;
        each[count] = (struct gyre_outlet){.node = link->from, .port = link->port};
        status = choose_capacity(part, calls, tight, &each[count]);
        if (status == GYRE_OK)
            status = find_ways(part, &each[count], &part->ways[count]);
        count++;
    }
    if (status == GYRE_OK)
        return gyre_outlets_make(part->inner, each, count, &part->inner->outlets);
    free(each);
    return status;
}

/* ---- stations ---- */

static gyre_status find_inlets(struct gyre_station *station)
{
    const gyre_pipeline *whole = station->part->whole;
    uint32_t count = 0;
    for (int i = 0; i < whole->link_count; i++)
        if (whole->links[i].to == station->node && !is_of(whole, whole->links[i].from, station->part))
            count += whole->nodes[whole->links[i].from].facts.movers;
    station->inlets = calloc(count ? count : 1, sizeof *station->inlets);
    if (!station->inlets)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for links from other devices");
    for (int i = 0; i < whole->link_count; i++) {
        const struct gyre_link *link = &whole->links[i];
        const struct gyre_node_facts *from = &whole->nodes[link->from].facts;
        if (link->to != station->node || is_of(whole, link->from, station->part))
            continue;
        for (uint32_t ring = 0; ring < from->movers; ring++)
            station->inlets[station->inlet_count++] = (struct gyre_station_inlet){
                .ring = (gyre_link_ring *)(uintptr_t)(whole->wires.address + link->rings) + ring,
                .sender = (gyre_control_region *)(uintptr_t)from->control};
    }
    return GYRE_OK;
}

/* Opens the queue of a station: entry number `number` of the part's pipeline. */
static gyre_status open_queue(struct gyre_station *station)
{
    gyre_pipeline *inner = station->part->inner;
    const char *kernel = station->part->whole->nodes[station->node].facts.name;
    char name[2 * GYRE_NAME_MAX];
    snprintf(name, sizeof name, "%s/%s", station->part->whole->name, kernel);
    const gyre_queue_desc desc = {.size = sizeof desc, .name = name, .policy = GYRE_FULL_BLOCK};
    const int node = node_named(inner, kernel, strlen(kernel));
    pthread_mutex_lock(&inner->lock);
    const gyre_status status = gyre_entries_open(
        inner, node, &(struct gyre_entry_wish){.desc = &desc, .section = ""}, &station->queue);
    pthread_mutex_unlock(&inner->lock);
    if (status != GYRE_OK)
        return status;
    station->capacity = gyre_ring_of(station->queue)->slots.capacity;
    station->reply_size = inner->records[node].reply->size;
    return find_inlets(station);
}

/* ---- making ---- */

static gyre_status begin_inner(struct gyre_pipeline_part *part)
{
    part->inner = calloc(1, sizeof *part->inner);
    if (!part->inner)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a part of a pipeline");
    part->inner->runtime = part->whole->runtime;
    part->inner->whole = part->whole;
    snprintf(part->inner->name, sizeof part->inner->name, "%s", part->whole->name);
    pthread_mutex_init(&part->inner->lock, NULL);
    pthread_cond_init(&part->inner->left, NULL);
    return GYRE_OK;
}

static gyre_status join_inner(struct gyre_pipeline_part *part, const struct gyre_wiring_config *whole)
{
    struct part_wiring *wiring = wiring_of(part, whole);
    if (!wiring)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a part of a pipeline");
    gyre_status status = gyre_wiring_resolve(part->inner, &wiring->config);
    if (status == GYRE_OK)
        status = gyre_stages_join(part->inner, &wiring->config);
    for (int i = 0; i < part->inner->node_count; i++)
        gyre_kernel_leave(part->inner->nodes[i].kernel); /* the whole visits it, too */
    free(wiring);
    return status;
}

static gyre_status make_part(struct gyre_pipeline_part *part, const struct gyre_wiring_config *wiring)
{
    uint64_t *calls = calloc((size_t)part->station_count * GYRE_NODES_MAX, sizeof *calls);
    gyre_status status =
        calls ? begin_inner(part) : gyre_error_set(GYRE_EXHAUSTED, "no memory for a part of a pipeline");
    if (status == GYRE_OK)
        status = join_inner(part, wiring);
    for (uint32_t i = 0; i < part->station_count && status == GYRE_OK; i++) {
        const char *kernel = part->whole->nodes[part->stations[i].node].facts.name;
        count_calls(part->inner, node_named(part->inner, kernel, strlen(kernel)),
                    calls + (size_t)i * GYRE_NODES_MAX);
    }
    if (status == GYRE_OK)
        status = make_outlets(part, calls, wiring->desc.links_tight != 0);
    for (uint32_t i = 0; i < part->station_count && status == GYRE_OK; i++) {
        status = open_queue(&part->stations[i]);
        if (status == GYRE_OK)
            choose_window(&part->stations[i], calls);
    }
    if (status == GYRE_OK)
        status = gyre_repeaters_begin(part->inner);
    for (uint32_t i = 0; i < part->station_count && status == GYRE_OK; i++)
        status = gyre_station_start(&part->stations[i]);
    free(calls);
    return status;
}

/* Links between kernels of a part are its own: what the whole tells of them is what they are there. */
static void adopt_sizes(gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (gyre_parts_home(pipeline, &link) == pipeline)
            continue;
        pipeline->links[i].capacity = link->capacity;
        pipeline->links[i].bytes = link->bytes;
    }
}

gyre_status gyre_parts_make(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    gyre_status status = GYRE_OK;
    for (struct gyre_pipeline_part *part = pipeline->parts; part && status == GYRE_OK; part = part->next)
        status = make_part(part, wiring);
    if (status == GYRE_OK)
        adopt_sizes(pipeline);
    return status;
}

const gyre_pipeline *gyre_parts_home(const gyre_pipeline *pipeline, const struct gyre_link **link)
{
    const struct gyre_link *given = *link;
    const struct gyre_pipeline_part *part = pipeline->nodes[given->from].part;
    if (!part || !part->inner || leaves(pipeline, given, part))
        return pipeline;
    for (int i = 0; i < part->inner->link_count; i++) {
        const struct gyre_link *own = &part->inner->links[i];
        const bool same_target =
            given->to == GYRE_NODE_NOWHERE || own->to == GYRE_NODE_NOWHERE
                ? given->to == own->to
                : strcmp(part->inner->nodes[own->to].facts.name, pipeline->nodes[given->to].facts.name) == 0;
        if (same_target && own->port == given->port &&
            strcmp(part->inner->nodes[own->from].facts.name, pipeline->nodes[given->from].facts.name) == 0) {
            *link = own;
            return part->inner;
        }
    }
    return pipeline;
}

/* ---- ending ---- */

static void hide_entries(gyre_pipeline *inner)
{
    for (int i = 0; i < inner->entry_count; i++)
        if (inner->entries[i].queue) {
            gyre_queue_close_sends(inner->entries[i].queue);
            gyre_node_hide_entry(inner->entries[i].queue);
        }
}

static gyre_status end_part(struct gyre_pipeline_part *part)
{
    gyre_pipeline *inner = part->inner;
    gyre_stations_stop(part);
    if (!inner || inner->shut)
        return GYRE_OK;
    pthread_mutex_lock(&inner->lock);
    inner->closing = true;
    hide_entries(inner);
    const gyre_status status = gyre_link_memory_withdraw(inner);
    pthread_mutex_unlock(&inner->lock);
    if (status != GYRE_OK)
        return status;
    inner->shut = true; /* nothing is left to end */
    for (int i = 0; i < inner->entry_count; i++)
        if (inner->entries[i].queue)
            gyre_node_close_entry(inner->entries[i].queue);
    gyre_stages_leave(inner);
    return GYRE_OK;
}

gyre_status gyre_parts_end(gyre_pipeline *pipeline)
{
    gyre_status status = GYRE_OK;
    for (struct gyre_pipeline_part *part = pipeline->parts; part && status == GYRE_OK; part = part->next)
        status = end_part(part);
    return status;
}

void gyre_parts_leave_behind(gyre_pipeline *pipeline)
{
    for (struct gyre_pipeline_part *part = pipeline->parts; part; part = part->next) {
        gyre_stations_stop(part);
        if (!part->inner || part->inner->shut)
            continue;
        for (int i = 0; i < part->inner->entry_count; i++)
            if (part->inner->entries[i].queue)
                gyre_node_abandon_entry(part->inner->entries[i].queue);
        gyre_stages_leave_used(part->inner);
    }
}

static void free_part(struct gyre_pipeline_part *part)
{
    for (uint32_t i = 0; i < part->station_count; i++)
        gyre_station_finish(&part->stations[i]);
    if (part->inner) {
        for (int i = 0; part->ways && i <= part->inner->link_count; i++)
            free(part->ways[i].links);
        gyre_outlets_free(part->inner->outlets);
        gyre_stages_free(part->inner);
        pthread_cond_destroy(&part->inner->left);
        pthread_mutex_destroy(&part->inner->lock);
    }
    pthread_mutex_destroy(&part->lock);
    free(part->ways);
    free(part->inner);
    free(part->stations);
    free(part->control);
    free(part);
}

void gyre_parts_free(gyre_pipeline *pipeline)
{
    while (pipeline->parts) {
        struct gyre_pipeline_part *part = pipeline->parts;
        pipeline->parts = part->next;
        free_part(part);
    }
}
