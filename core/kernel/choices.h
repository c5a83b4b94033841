/* SPDX-License-Identifier: Apache-2.0 */
/* The types of a kernel, and of its queues' messages. */
#ifndef GYRE_CORE_KERNEL_CHOICES_H
#define GYRE_CORE_KERNEL_CHOICES_H

#include "core/kernel/kernel.h"

/** The types of a kernel, from its name and its records. The caller owns *out, even after a failure. */
gyre_status gyre_kernel_types_create(const char *name, const gyre_type *request, const gyre_type *reply,
                                     struct gyre_kernel_types **out);
/**
 * The types of a queue whose caller has a protocol that one side extended: its messages are converted, so it sends and
 * receives its own types, while headers and queries are the kernel's. *out NULL: they are the kernel's own. The caller owns
 * *out, even after a failure.
 */
gyre_status gyre_kernel_types_create_grown(const struct gyre_kernel_types *kernels,
                                           const struct gyre_queue_growth *request,
                                           const struct gyre_queue_growth *reply,
                                           struct gyre_kernel_types **out);
/** Accepts NULL. */
void gyre_kernel_types_destroy(struct gyre_kernel_types *types);
/** Notes which types have read-only handlers; `queries` as in gyre_kernel_record. EXHAUSTED. */
gyre_status gyre_kernel_types_mark(struct gyre_kernel_types *types, const char *queries);
/** Gives a queue of the kernel the number of each type of its protocol, and which types are queries. */
void gyre_kernel_types_name(struct gyre_kernel_types *types, gyre_queue *queue);
/** The layout of the kernel's requests on the device; NULL before gyre_kernel_types_create. */
const gyre_layout *gyre_kernel_request_layout(const gyre_kernel *kernel);

#endif
