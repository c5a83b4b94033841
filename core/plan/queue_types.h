/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the message types of a queue's caller, and the queue's wire form (messages as plain structs or as encoded
 * bytes), with those of the kernel. No state. */
#ifndef GYRE_CORE_PLAN_QUEUE_TYPES_H
#define GYRE_CORE_PLAN_QUEUE_TYPES_H

#include <stdbool.h>

#include "core/config/config.h"
#include "core/dispatch/dispatch.h"
#include "core/ring/ring_options.h"
#include "core/types/types.h"

/** The kernel and the device that a queue is planned for. */
struct gyre_queue_site {
    const char *kernel;
    const gyre_kernel_record *record;
    const struct gyre_dispatch *device;
    uint32_t blocks;
    bool
        migrates; /* the kernel only converts the state of a journal, so the wire form of messages does not matter */
};

/**
 * Compares the kernel's message types with the types in `desc`, and the queue's wire form (options->wire) with the wire
 * form that the kernel was compiled for. Fills in the options that follow from the types: the smallest sizes, the
 * caller's sizes, the conversions. INCOMPATIBLE, INVALID, CONFIG.
 */
gyre_status gyre_queue_choose_types(const struct gyre_config *config, const struct gyre_queue_site *site,
                                    const gyre_queue_desc *desc, const char *section,
                                    struct gyre_queue_options *options);
/** Compares one message type of the kernel with the same type of a caller (`callers` NULL: not compared). *size: the size
 * of the caller's type when one of the two has fields appended and neither has a tail, else 0. *growth: both layouts when
 * messages with tails have to be converted; the program that calls this owns them. */
gyre_status gyre_queue_check_caller(const gyre_type *kernels, const gyre_type *callers, uint32_t *size,
                                    struct gyre_queue_growth *growth);

/** The wire form of the kernel's main queue: the number of the word of the setting `wire` (0: none). */
uint32_t gyre_kernel_wire(const struct gyre_config *config, const char *name);
/** CONFIG unless the kernel was compiled for the wire form options->wire. Sets options->wire to 1 when the kernel's file
 * itself declares packets (encoded bytes). */
gyre_status gyre_queue_check_wire(const struct gyre_config *config, const char *kernel, const char *section,
                                  const gyre_layout *request, struct gyre_queue_options *options);
#endif
