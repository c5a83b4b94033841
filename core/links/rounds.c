/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of a pipeline (rounds.h). Changes the pipeline's own lists only. */
#include "core/links/rounds.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/dispatch/dispatch.h"
#include "core/links/asks.h"
#include "core/types/types.h"

#define ROUNDS "rounds"

static const gyre_kernel_record *record_of(const gyre_pipeline *pipeline, int node)
{
    return pipeline->nodes[node].facts.record;
}

static const char *name_of(const gyre_pipeline *pipeline, int node)
{
    return pipeline->nodes[node].facts.name;
}

uint32_t gyre_rounds_size(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    return link->talk == GYRE_TALK_ROUNDS ? (uint32_t)record_of(pipeline, link->to)->request->size : 0;
}

/* ---- checks ---- */

static gyre_status find_kernel(const gyre_pipeline *pipeline, const char *name, int *out)
{
    const char *names[GYRE_NODES_MAX];
    char hint[GYRE_TEXT_HINT_SIZE];
    for (*out = 0; *out < pipeline->node_count; ++*out) {
        names[*out] = name_of(pipeline, *out);
        if (strcmp(names[*out], name) == 0)
            return GYRE_OK;
    }
    return gyre_error_set(GYRE_INVALID,
                          ROUNDS ": expected a kernel of the pipeline, found '%s': link one to it%s", name,
                          gyre_text_hint(name, names, (size_t)pipeline->node_count, hint));
}

/* What begins a round is a message without content, so it has one size. */
static gyre_status check_type(const gyre_pipeline *pipeline, int node)
{
    gyre_layout *layout = NULL;
    const char *name = name_of(pipeline, node);
    gyre_status status = gyre_layout_create(record_of(pipeline, node)->request, GYRE_MESSAGE_MAX, &layout);
    if (status == GYRE_OK && layout->shape == GYRE_SHAPE_CHOICE)
        status = gyre_error_set(GYRE_INVALID,
                                ROUNDS
                                ": expected a kernel whose requests are of one type, found '%s', which takes "
                                "several (GYRE_PROTOCOL)",
                                name);
    else if (status == GYRE_OK && layout->tail)
        status = gyre_error_set(
            GYRE_INVALID,
            ROUNDS
            ": expected a kernel whose requests have one size, found '%s': its messages '%s' have a tail",
            name, record_of(pipeline, node)->request->name);
    gyre_layout_destroy(layout);
    return status;
}

/* The number of a round comes where the token of an answer does. */
static gyre_status check_talk(const gyre_pipeline *pipeline, int node)
{
    for (uint32_t port = 0; port < record_of(pipeline, node)->port_count; port++)
        if (gyre_asks_reply(record_of(pipeline, node), port))
            return gyre_error_set(
                GYRE_INVALID,
                ROUNDS
                ": expected a kernel that asks nobody, found '%s', whose port '%s' asks: let another kernel "
                "begin the rounds",
                name_of(pipeline, node), record_of(pipeline, node)->ports[port].name);
    return GYRE_OK;
}

/* What begins a round has no key. */
static gyre_status check_key(const gyre_pipeline *pipeline, int node, struct gyre_link_key *key)
{
    const struct gyre_link_key_wish wish = {.share = GYRE_SHARE_ANY};
    const gyre_status status = gyre_link_key_resolve(&pipeline->nodes[node].facts, &wish, key);
    if (status != GYRE_OK || key->share == GYRE_LINK_SHARE_ANY)
        return status;
    return gyre_error_set(
        GYRE_INVALID,
        ROUNDS
        ": expected a kernel whose blocks take any message, found the keyed actor '%s': let another kernel "
        "begin the rounds",
        name_of(pipeline, node));
}

static gyre_status check_devices(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++) {
        struct gyre_dispatch *device = pipeline->nodes[i].facts.device;
        if (!(gyre_dispatch_device_info(device)->knows_links & GYRE_LINKING_ROUNDS))
            return gyre_error_set(
                GYRE_UNIMPLEMENTED,
                "the pipeline has " ROUNDS
                ", and backend '%s' of kernel '%s' does not have them yet: run the pipeline on "
                "backend 'cpu', or on another one that has them",
                gyre_dispatch_backend(device), name_of(pipeline, i));
    }
    return GYRE_OK;
}

/* Each kernel may handle the last message of a round. On a GPU it was compiled for that, or not. */
static gyre_status check_build(const gyre_pipeline *pipeline, int node)
{
    if (!record_of(pipeline, node)->is_roundless)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "the pipeline has " ROUNDS ", and kernel '%s' was compiled without what begins them: launch it with "
        "gyre_launch_desc.stage = GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_ROUNDS (and what else it needs), or set " ROUNDS
        " in [pipeline.%s]",
        name_of(pipeline, node), pipeline->name);
}

/* ---- adding ---- */

/* Finds the kernels that handle messages of flows: a bit for each. What a tap gets, and what comes of that, ends no round. */
static uint64_t find_counted(const gyre_pipeline *pipeline)
{
    uint64_t found = 0, before = 0;
    for (int i = 0; i < pipeline->node_count; i++)
        found |= (uint64_t)pipeline->nodes[i].enters << i;
    while (found != before) {
        before = found;
        for (int i = 0; i < pipeline->link_count; i++) {
            const struct gyre_link *link = &pipeline->links[i];
            if (link->to != GYRE_NODE_NOWHERE && link->slow != GYRE_SLOW_TAP && found >> link->from & 1)
                found |= (uint64_t)1 << link->to;
        }
    }
    return found;
}

static gyre_status add_link(gyre_pipeline *pipeline, int from, int to, const struct gyre_link_key *key,
                            const char *place)
{
    const uint32_t port = gyre_asks_port_count(pipeline, from);
    if (port >= GYRE_PORTS_MAX)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' has %u ports, those by which it answers included, and a pipeline with " ROUNDS
            " needs one more of each kernel; %d is the most: let two kernels share the work",
            name_of(pipeline, from), port, GYRE_PORTS_MAX);
    struct gyre_link *link = &pipeline->links[pipeline->link_count++];
    *link = (struct gyre_link){
        .from = from,
        .to = to,
        .port = port,
        .sends = {.name = ROUNDS, .type = record_of(pipeline, to)->request, .most = 1},
        .talk = GYRE_TALK_ROUNDS,
        .key = *key,
        .place = {.from = place, .to = place},
    };
    snprintf(link->name, sizeof link->name, ROUNDS " (%.64s)", name_of(pipeline, from));
    return GYRE_OK;
}

gyre_status gyre_rounds_add(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    const char *name = wiring->desc.rounds;
    struct gyre_link_key key;
    int to;
    if (!name || !name[0])
        return GYRE_OK;
    gyre_status status = find_kernel(pipeline, name, &to);
    if (status == GYRE_OK)
        status = check_type(pipeline, to);
    if (status == GYRE_OK)
        status = check_talk(pipeline, to);
    if (status == GYRE_OK)
        status = check_key(pipeline, to, &key);
    if (status == GYRE_OK)
        status = check_devices(pipeline);
    const uint64_t counted = find_counted(pipeline);
    for (int i = 0; i < pipeline->node_count && status == GYRE_OK; i++)
        if (counted >> i & 1) {
            status = check_build(pipeline, i);
            if (status == GYRE_OK)
                status = add_link(pipeline, i, to, &key, wiring->rounds);
        }
    pipeline->has_rounds = true;
    return gyre_wiring_blame(wiring->rounds, status);
}
