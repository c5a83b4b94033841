/* SPDX-License-Identifier: Apache-2.0 */
/* Decides by which way bytes get from one device to another (peers.h). No lock but those of the devices (core/dispatch). */
#include "core/device/peers.h"

#include "core/base/error.h"
#include "core/device/runtime.h"

const char *gyre_reach_word(enum gyre_reach reach)
{
    static const char *const words[] = {"host", "same", "bus", "link"};
    return words[reach];
}

static bool is_wanted(const gyre_runtime *runtime)
{
    return gyre_config_bool(runtime->config, GYRE_SECTION_GYRE, NULL, "peers");
}

enum gyre_reach gyre_peers_reach(const gyre_runtime *runtime, struct gyre_dispatch *source,
                                 struct gyre_dispatch *target)
{
    if (gyre_dispatch_isolated(source) || gyre_dispatch_isolated(target))
        return GYRE_REACH_HOST; /* the next worker gets the uploads again, and not the copies */
    if (source == target)
        return gyre_dispatch_can_copy(source) ? GYRE_REACH_SAME : GYRE_REACH_HOST;
    if (!is_wanted(runtime))
        return GYRE_REACH_HOST;
    switch (gyre_dispatch_peer_way(source, target)) {
    case GYRE_PEER_BUS:
        return GYRE_REACH_BUS;
    case GYRE_PEER_LINK:
        return GYRE_REACH_LINK;
    default:
        return GYRE_REACH_HOST;
    }
}

static void tell_host(gyre_runtime *runtime, const struct gyre_dispatch *source,
                      const struct gyre_dispatch *target)
{
    if (source == target || __atomic_exchange_n(&runtime->host_copies_told, true, __ATOMIC_RELAXED))
        return;
    gyre_runtime_log(
        runtime, GYRE_LOG_INFO, "copies from device %u of '%s' to device %u of '%s' go through the host: %s",
        gyre_dispatch_ordinal(source), gyre_dispatch_backend(source), gyre_dispatch_ordinal(target),
        gyre_dispatch_backend(target),
        is_wanted(runtime) ? "neither reaches the other's memory from this process" : "gyre.peers is false");
}

gyre_status gyre_peers_copy(gyre_runtime *runtime, struct gyre_dispatch *source, struct gyre_dispatch *target,
                            const gyre_copy_desc *desc)
{
    switch (gyre_peers_reach(runtime, source, target)) {
    case GYRE_REACH_SAME:
        return gyre_dispatch_memory_copy(source, desc);
    case GYRE_REACH_BUS:
    case GYRE_REACH_LINK:
        return gyre_dispatch_peer_copy(source, target, desc);
    default:
        tell_host(runtime, source, target);
        return GYRE_UNIMPLEMENTED;
    }
}
