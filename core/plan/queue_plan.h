/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans a queue from its section [queue.NAME]: the header of its messages, its options, where its messages lie, and how
 * much memory it takes. The types of its messages are in queue_types.h. The queue itself is made in core/stages/make.h.
 */
#ifndef GYRE_CORE_PLAN_QUEUE_PLAN_H
#define GYRE_CORE_PLAN_QUEUE_PLAN_H

#include "core/config/config.h"
#include "core/dispatch/dispatch.h"
#include "core/plan/queue_types.h"
#include "core/queue/header_words.h"
#include "core/ring/ring_options.h"
#include "core/ring/slot.h"
#include "core/types/types.h"

/**
 * The value of a setting that is one of several words (policy, idle, shard), as the number that the enum in gyre.h gives
 * that word. The words of the setting stand in the order of the enum, which begins with 1.
 */
uint32_t gyre_queue_plan_word(const struct gyre_config *config, const char *section, const char *key);
/** INVALID when the policy or the idle strategy in a caller's gyre_queue_desc is unknown. */
gyre_status gyre_queue_plan_check_choices(gyre_full_policy policy, gyre_idle_strategy idle);
/** The sizes of messages of this type in a ring. *size: of the largest message. *least: of a message with an empty tail; 0:
 * the type has no tail. */
gyre_status gyre_queue_plan_measure(const gyre_type *type, uint32_t *size, uint32_t *least);
/** The header that a kernel is compiled for: large enough for every queue, with a section or without. */
struct gyre_header_plan gyre_queue_plan_all(const struct gyre_config *config);
/** Reads the header and the settings of a section into `options`. The caller has set `name`, `policy` and `lent` there.
 * CONFIG with the place of the setting when two settings of the section contradict each other. */
gyre_status gyre_queue_plan_choose(const struct gyre_config *config, const char *section,
                                   struct gyre_queue_options *options);

/** Chooses options->capacity unless the program has set it: the section's capacity, else as many slots as the device
 * suggests for messages of this size. The caller has set the sizes of messages in `options`. */
void gyre_queue_plan_capacity(const struct gyre_config *config, const struct gyre_dispatch *device,
                              const char *section, struct gyre_queue_options *options);

/* The values of the setting `layout`, in the order of its words: Gyre chooses; messages in slots; back to back. */
enum { GYRE_LAYOUT_AUTO, GYRE_LAYOUT_SLOTS, GYRE_LAYOUT_BRIDGED };

/**
 * Decides whether messages lie in slots or back to back, and whether the queue has express lines (a copy of a lone request
 * beside its slot). The caller has set the sizes of messages in `options`. CONFIG or UNIMPLEMENTED when the section asks
 * for a layout or a seal that the kernel or the device does not have.
 */
gyre_status gyre_queue_plan_layout(const struct gyre_config *config, const struct gyre_queue_site *site,
                                   const char *section, struct gyre_queue_options *options);

/** CONFIG when the section asks for a journal and the queue cannot have one. `record` and `kernel` are the kernel's; a NULL
 * `record` leaves out the checks that need a kernel. */
gyre_status gyre_queue_plan_journal(const struct gyre_config *config, const char *section,
                                    const gyre_kernel_record *record, const char *kernel);
/** CONFIG when the section lets large spans of requests (arrays in a request's tail) travel in device memory and this
 * queue cannot do so. */
gyre_status gyre_queue_plan_spans(const struct gyre_config *config, const char *kernel, const char *section,
                                  const struct gyre_queue_options *options);

/** CONFIG, with the place of the setting, when a section fits no kernel at all. */
gyre_status gyre_queue_sections_check(const struct gyre_config *config);
/**
 * Computes the memory that a queue with the settings of [queue.SECTION] takes, for this kernel on this device. Makes
 * nothing. Fails as a launch would: when the section does not fit the kernel, or the kernel cannot have its lanes and
 * blocks.
 */
gyre_status gyre_queue_cost_get(const struct gyre_config *config, const struct gyre_dispatch *device,
                                const gyre_kernel_record *record, const char *section,
                                struct gyre_queue_cost *cost);

#endif
