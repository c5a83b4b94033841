/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the buffer that is bound to a name which a kernel declares. */
#ifndef GYRE_CORE_KERNEL_NAMED_BUFFER_H
#define GYRE_CORE_KERNEL_NAMED_BUFFER_H

#include "core/device/buffer.h"
#include "core/kernel/kernel.h"
#include "core/types/buffers.h"
#include "core/types/types.h"

struct gyre_named_buffer {
    gyre_buffer *buffer;
    uint64_t elements, element_size;
    gyre_scalar scalar; /* NO for an element that is a message */
    uint64_t hash;      /* of the element's layout */
    char element[64];   /* its name, perhaps cut */
};

/** INVALID, with the call's name, when the kernel declares no such buffer. The kernel keeps its buffers until it is changed. */
gyre_status gyre_kernel_named_buffer(gyre_kernel *kernel, const char *name, const char *call,
                                     struct gyre_named_buffer *out);

/** INVALID, with the name nearest to it: kernel `kernel` declares no buffer `name`. `call` begins the sentence when it is not NULL. */
gyre_status gyre_kernel_unknown_buffer(const char *kernel, const gyre_buffer_list *list, const char *name,
                                       const char *call);

#endif
