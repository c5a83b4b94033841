/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of an entry of a pipeline that later ones have overtaken: they have no completion, and later ones have. A device without can_skip would
 * handle those once more. So the next device gets the others alone, by the entry's repeater (core/links/repeaters.h). Call without kernel->lock.
 */
#ifndef GYRE_CORE_KERNEL_OVERTAKEN_H
#define GYRE_CORE_KERNEL_OVERTAKEN_H

#include "core/kernel/node.h"

/** Gives an entry its repeater, before anybody has it. INVALID: their messages or headers have different sizes. */
gyre_status gyre_node_set_repeater(gyre_queue *entry, gyre_queue *repeater);
/** Whether requests of the entry were overtaken. */
bool gyre_node_has_overtaken(const gyre_queue *entry);
/** Drops what a dead device left in a repeater, and hides it. No device has it. */
void gyre_node_empty_repeater(gyre_queue *repeater);

/** What gyre_node_repeat_overtaken calls. */
struct gyre_overtaken_calls {
    bool (*watch)(void *context, uint64_t deadline_ns); /* as in gyre_node_repeat */
    /** Before request `index` goes by the repeater, whose number as an entry is `number`. */
    void (*begins)(void *context, const gyre_queue *entry, uint32_t number, uint64_t index);
    /** It is settled, and its completion not seen by anybody. */
    void (*settled)(void *context);
    void *context;
};
/**
 * Has the requests of the entry handled that were overtaken, one after the other. The device sees the repeater, and not the entry. LOST when it
 * died meanwhile.
 */
gyre_status gyre_node_repeat_overtaken(gyre_queue *entry, const struct gyre_overtaken_calls *calls);

#endif
