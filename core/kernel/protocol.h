/* SPDX-License-Identifier: Apache-2.0 */
/* The types of a kernel with several types of requests, and the types that its queues' callers use. Why: protocol.c. */
#ifndef GYRE_CORE_KERNEL_PROTOCOL_H
#define GYRE_CORE_KERNEL_PROTOCOL_H

#include "core/kernel/kernel.h"

/** Makes the types of kernel `name` from the types of its messages. The caller owns *out, even after a failure. */
gyre_status gyre_kernel_types_create(const char *name, const gyre_type *request, const gyre_type *reply,
                                     struct gyre_kernel_types **out);
/**
 * Makes the types of a queue whose caller has another version of the kernel's protocol (a version with more types on one
 * side). The queue converts its messages, so the caller sends and receives the caller's types. Headers and queries stay the
 * kernel's. *out is NULL when the caller's types are the kernel's own. The caller owns *out, even after a failure.
 */
gyre_status gyre_kernel_types_create_grown(const struct gyre_kernel_types *kernels,
                                           const struct gyre_queue_growth *request,
                                           const struct gyre_queue_growth *reply,
                                           struct gyre_kernel_types **out);
/** Frees types of a kernel or a queue. Accepts NULL. */
void gyre_kernel_types_destroy(struct gyre_kernel_types *types);
/** Notes which types are queries (types whose handler is read-only); `queries` as in gyre_kernel_record. EXHAUSTED. */
gyre_status gyre_kernel_types_mark(struct gyre_kernel_types *types, const char *queries);
/** Tells a queue of the kernel the number of each type of the protocol, and which types are queries. */
void gyre_kernel_types_name(struct gyre_kernel_types *types, gyre_queue *queue);
/** The layout of the kernel's requests on the device; NULL before gyre_kernel_types_create. */
const gyre_layout *gyre_kernel_request_layout(const gyre_kernel *kernel);

#endif
