/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning a queue from the configuration: its header, its behaviours, its layout and its cost.
 */
#ifndef GYRE_CORE_PLAN_QUEUE_PLAN_H
#define GYRE_CORE_PLAN_QUEUE_PLAN_H

#include "core/config/config.h"
#include "core/dispatch/dispatch.h"
#include "core/plan/queue_types.h"
#include "core/queue/header.h"
#include "core/ring/options.h"
#include "core/ring/slot.h"
#include "core/types/types.h"

/**
 * A word of a queue's section as the API's number of it (policy, idle, shard): they stand in the same order, and the
 * API's begin with 1.
 */
uint32_t gyre_queue_plan_word(const struct gyre_config *config, const char *section, const char *key);
/** INVALID when a descriptor has an unknown policy or idle strategy. */
gyre_status gyre_queue_plan_check_choices(gyre_full_policy policy, gyre_idle_strategy idle);
/** What messages of a type measure in a ring: the largest, and those with a tail with nothing in it (0: they have none). */
gyre_status gyre_queue_plan_measure(const gyre_type *type, uint32_t *size, uint32_t *least);
/** What fits all queues that the configuration names, and the others: what a kernel is compiled for. */
struct gyre_header_plan gyre_queue_plan_all(const struct gyre_config *config);
/** Header and behaviours into the options of the queue `options->name`, which have its policy and whether it is lent.
 * CONFIG with the place of what does not go together in its section. */
gyre_status gyre_queue_plan_choose(const struct gyre_config *config, const char *section,
                                   struct gyre_queue_options *options);

/** Slots, where neither the program nor the configuration says how many; the options have the messages' sizes. */
void gyre_queue_plan_capacity(const struct gyre_config *config, const struct gyre_dispatch *device,
                              const char *section, struct gyre_queue_options *options);

/* The words of the setting `layout`, in their order. */
enum { GYRE_LAYOUT_AUTO, GYRE_LAYOUT_SLOTS, GYRE_LAYOUT_BRIDGED };

/**
 * Whether messages of the queue's types, which the options have, lie in slots or back to back, and whether requests
 * have express copies. CONFIG or UNIMPLEMENTED when the section asks for what is not there.
 */
gyre_status gyre_queue_plan_layout(const struct gyre_config *config, const struct gyre_queue_site *site,
                                   const char *section, struct gyre_queue_options *options);

/** Whether a queue of the section may have the journal that is configured, of that kernel; `record` NULL: of any. */
gyre_status gyre_queue_plan_journal(const struct gyre_config *config, const char *section,
                                    const gyre_kernel_record *record, const char *kernel);
/** Whether the large spans of its requests may travel in memory of the device, if that is configured. */
gyre_status gyre_queue_plan_spans(const struct gyre_config *config, const char *kernel, const char *section,
                                  const struct gyre_queue_options *options);

/** CONFIG with its place for a section by which no queue of any kernel can be made. */
gyre_status gyre_queue_sections_check(const struct gyre_config *config);
/**
 * The memory of a queue that is configured by [queue.SECTION], for that kernel on that device. Nothing is made.
 * Fails as a launch would for a section that no queue of the kernel can go by, or a shape that it cannot have.
 */
gyre_status gyre_queue_cost_get(const struct gyre_config *config, const struct gyre_dispatch *device,
                                const gyre_kernel_record *record, const char *section,
                                struct gyre_queue_cost *cost);

#endif
