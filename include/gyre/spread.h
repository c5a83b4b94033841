/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One kernel on several devices behind one name, for applications with more messages than a device handles: a launch on each
 * device, and one queue for them all (gyre_shards of shards.h), whose rule says which device a message goes to.
 *
 *     [kernel.trade]
 *     device = 0, 1
 *     shard = key
 *     key = account
 *
 *     gyre_spread *trade;
 *     gyre_launch_desc launch = {.size = sizeof launch, .source = "trade.gyre.c", .name = "trade"};
 *     gyre_spread_desc desc = {.size = sizeof desc, .launch = &launch};
 *     gyre_spread_launch(runtime, &desc, &trade);
 *     gyre_shards_send(gyre_spread_shards(trade), &order, sizeof order, NULL, gyre_in_ms(100));
 *
 * The parts are kernels of the names NAME#DEVICE (trade#0, trade#1), configured by [kernel.NAME] and [queue.NAME], listed, observed
 * and reported by these names. Each has a state and buffers of its own: nothing is shared between devices. With `key`, every message
 * of a key goes to the same device, as long as the list of devices is the same, and messages of a key are answered in the order in
 * which a thread sent them; with `producer`, all messages of a thread are. Between devices there is no order.
 *
 * A device that dies takes its part alone: sends to that part end with LOST and the part's name, and the others go on. Threads,
 * deadlines and errors as in gyre.h. Stability: as gyre.h.
 */
#ifndef GYRE_SPREAD_H
#define GYRE_SPREAD_H

#include "gyre/attach.h"
#include "gyre/shards.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gyre_spread gyre_spread; /* a kernel on several devices */

enum { GYRE_SPREAD_DEVICES_MAX = 16 };

typedef struct gyre_spread_desc {
    size_t size;
    /** Of each part; `device`, `bindings` and `binding_count` are not looked at. `name` NULL: the kernel's, or the file's. */
    const gyre_launch_desc *launch;
    const uint32_t
        *devices; /* ordinals on the backend, each once; NULL: as configured ([kernel.NAME] device) */
    uint32_t device_count;
    gyre_shard_rule rule; /* which device a message goes to; DEFAULT: as configured ([kernel.NAME] shard) */
    const char *key;      /* as in gyre_shards_desc; NULL: as configured, and of a keyed actor its own key */
    /** For each device, in the order of `devices`: buffers of that device, `binding_count` of them; NULL: none. */
    const gyre_binding_name *const *bindings;
    size_t binding_count;
} gyre_spread_desc;

/**
 * Launches the kernel on each device. When one launch fails, those before it are taken back, and the sentence says which device it
 * was. CONFIG, or INVALID for what `desc` says: a device that is named twice or is not there, `key` without a field of the request,
 * a keyed actor whose messages do not go by its key, a queue with a journal. Owner of *out: the caller, until gyre_spread_release,
 * or gyre_close.
 */
GYRE_API gyre_status gyre_spread_launch(gyre_runtime *runtime, const gyre_spread_desc *desc,
                                        gyre_spread **out);

/** Returns the number of devices; 0 for NULL. */
GYRE_API uint32_t gyre_spread_count(const gyre_spread *spread);
/** Returns the kernel on device number `part` of the list; NULL when there is none. The spread owns it: it is not released. */
GYRE_API gyre_kernel *gyre_spread_part(const gyre_spread *spread, uint32_t part);
/** Returns the queue: ring number `part` is that of gyre_spread_part. The spread owns it: gyre_shards_close does nothing with it. */
GYRE_API gyre_shards *gyre_spread_shards(const gyre_spread *spread);

/**
 * Terminates all parts as gyre_kernel_terminate does, with one deadline. *unhandled (may be NULL): the sum. Returns the first failure,
 * after all were asked.
 */
GYRE_API gyre_status gyre_spread_terminate(gyre_spread *spread, uint64_t drain_deadline_ns,
                                           uint64_t *unhandled);
/** Frees all parts as gyre_kernel_release does. Receivers that wait return first. Accepts NULL. */
GYRE_API void gyre_spread_release(gyre_spread *spread);

/**
 * Attaches to a kernel on several devices of a server, "KERNEL" or "KERNEL/QUEUE" as gyre_attach has it: to each part with a queue of
 * this program, behind the rule that the server has. Fails as gyre_attach does; NOT_FOUND when the kernel is on one device;
 * INVALID with desc->reconnect or desc->client, which are for one queue. Owner of *out: the caller, until gyre_shards_close.
 */
GYRE_API gyre_status gyre_attach_shards(const char *name, const gyre_attach_desc *desc, gyre_shards **out);

#ifdef __cplusplus
}
#endif
#endif
