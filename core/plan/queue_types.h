/* SPDX-License-Identifier: Apache-2.0 */
/* The types and the form of a queue's messages, compared with the kernel's. No state. */
#ifndef GYRE_CORE_PLAN_QUEUE_TYPES_H
#define GYRE_CORE_PLAN_QUEUE_TYPES_H

#include <stdbool.h>

#include "core/config/config.h"
#include "core/dispatch/dispatch.h"
#include "core/ring/options.h"
#include "core/types/types.h"

/** Where a queue is: of which kernel, on which device, with so many blocks. */
struct gyre_queue_site {
    const char *kernel;
    const gyre_kernel_record *record;
    const struct gyre_dispatch *device;
    uint32_t blocks;
    bool
        migrates; /* the kernel only converts the state of a journal: the form of its messages does not matter */
};

/**
 * Holds the kernel's types against those of the caller, and the queue's form of messages (options->wire) against the
 * kernel's, by [queue.SECTION]; fills in what follows from the types. INCOMPATIBLE, INVALID, CONFIG.
 */
gyre_status gyre_queue_choose_types(const struct gyre_config *config, const struct gyre_queue_site *site,
                                    const gyre_queue_desc *desc, const char *section,
                                    struct gyre_queue_options *options);
/** The part of it that holds one type against a caller's (NULL: unchecked). The caller owns *growth. */
gyre_status gyre_queue_check_caller(const gyre_type *kernels, const gyre_type *callers, uint32_t *size,
                                    struct gyre_queue_growth *growth);

/** The form of the messages of a kernel's main queue: the number of its word. */
uint32_t gyre_kernel_wire(const struct gyre_config *config, const char *name);
/** Whether the kernel was compiled for the form that options->wire says. */
gyre_status gyre_queue_check_wire(const struct gyre_config *config, const char *kernel, const char *section,
                                  const gyre_layout *request, struct gyre_queue_options *options);
#endif
