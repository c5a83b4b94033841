/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which devices of a pipeline reach each other's memory (homes.h). */
#include "core/links/homes.h"

#include <string.h>

#include "core/base/error.h"
#include "core/device/peers.h"

/* ---- who reaches whom ---- */

static bool are_of_one_backend(const struct gyre_dispatch *one, const struct gyre_dispatch *other)
{
    return strcmp(gyre_dispatch_backend(one), gyre_dispatch_backend(other)) == 0;
}

static void tell_host(const gyre_pipeline *pipeline, const struct gyre_dispatch *one,
                      const struct gyre_dispatch *other, const char *why)
{
    gyre_runtime_log(pipeline->runtime, GYRE_LOG_INFO,
                     "pipeline '%s': links between devices %u and %u of '%s' go through the host: %s",
                     pipeline->name, gyre_dispatch_ordinal(one), gyre_dispatch_ordinal(other),
                     gyre_dispatch_backend(one), why);
}

/* Lets the kernels of both devices use the other one's memory. The first time, kernels of both make room for that. */
static bool reach(const gyre_pipeline *pipeline, struct gyre_dispatch *one, struct gyre_dispatch *other)
{
    if (!are_of_one_backend(one, other) || gyre_dispatch_isolated(one) || gyre_dispatch_isolated(other))
        return false;
    if (gyre_peers_reach(pipeline->runtime, one, other) != GYRE_REACH_LINK ||
        gyre_peers_reach(pipeline->runtime, other, one) != GYRE_REACH_LINK) {
        const bool wanted = gyre_config_bool(pipeline->runtime->config, GYRE_SECTION_GYRE, NULL, "peers");
        tell_host(pipeline, one, other,
                  wanted ? "no link of their own joins them, which carries atomics" : "gyre.peers is false");
        return false;
    }
    gyre_error_hold();
    const bool open =
        gyre_dispatch_peer_let_in(one, other) == GYRE_OK && gyre_dispatch_peer_let_in(other, one) == GYRE_OK;
    if (!open)
        tell_host(pipeline, one, other, gyre_error_text());
    gyre_error_let_go();
    return open;
}

/* Whether the node's device reaches all those that have the home. */
static bool suits(const gyre_pipeline *pipeline, int node, const struct gyre_dispatch *home)
{
    struct gyre_dispatch *device = pipeline->nodes[node].facts.device, *last = NULL;
    for (int i = 0; i < node; i++) {
        struct gyre_dispatch *other = pipeline->nodes[i].facts.device;
        if (pipeline->nodes[i].home != home || other == last)
            continue;
        if (!reach(pipeline, device, other))
            return false;
        last = other;
    }
    return true;
}

/* ---- homes ---- */

bool gyre_homes_add(gyre_pipeline *pipeline, int node)
{
    for (int i = 0; i < pipeline->node_count; i++)
        if (i != node && pipeline->nodes[i].facts.device == pipeline->nodes[node].facts.device) {
            pipeline->nodes[node].home = pipeline->nodes[i].home;
            return true;
        }
    return false;
}

/* Of the nodes before it, some have its device, or one that its device reaches; else it is at home on its own device. */
static void find_home(gyre_pipeline *pipeline, int node)
{
    struct gyre_node *its = &pipeline->nodes[node];
    its->home = its->facts.device;
    for (int i = 0; i < node; i++)
        if (pipeline->nodes[i].facts.device == its->facts.device) {
            its->home = pipeline->nodes[i].home;
            return;
        }
    for (int i = 0; i < node && !its->facts.is_shared; i++) {
        struct gyre_dispatch *home = pipeline->nodes[i].home;
        if (are_of_one_backend(home, its->facts.device) && suits(pipeline, node, home)) {
            its->home = home;
            return;
        }
    }
}

void gyre_homes_find(gyre_pipeline *pipeline)
{
    bool several = false;
    for (int i = 0; i < pipeline->node_count; i++) {
        find_home(pipeline, i);
        pipeline->is_mixed |= pipeline->nodes[i].home != pipeline->nodes[0].home;
        several |= pipeline->nodes[i].facts.device != pipeline->nodes[0].facts.device;
    }
    pipeline->is_far = several && !pipeline->is_mixed;
    for (int i = 0; i < pipeline->node_count; i++)
        pipeline->nodes[i].is_apart = pipeline->is_mixed && !pipeline->nodes[i].facts.is_shared;
}

struct gyre_dispatch *gyre_homes_of_link(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const int fetches = link->to == GYRE_NODE_NOWHERE ? link->from : link->to;
    return pipeline->is_far ? pipeline->nodes[fetches].facts.device : pipeline->device;
}
