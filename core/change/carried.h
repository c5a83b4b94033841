/* SPDX-License-Identifier: Apache-2.0 */
/* Copies in this program of what a kernel keeps on its device, while the kernel is changed. Call without kernel->lock, while no
 * handler of the kernel runs. */
#ifndef GYRE_CORE_CHANGE_CARRIED_H
#define GYRE_CORE_CHANGE_CARRIED_H

#include "core/device/buffer.h"
#include "core/kernel/kernel.h"

/** What has to be copied. */
enum gyre_carry {
    GYRE_CARRY_NOTHING = 0,
    GYRE_CARRY_STATE = 1,
    GYRE_CARRY_WRITTEN = 2, /* the buffers that the handler writes */
    GYRE_CARRY_BUFFERS = 4  /* all bound buffers */
};

struct gyre_carried_buffer {
    struct gyre_buffer *buffer;
    unsigned char *bytes;
};

struct gyre_carried {
    const gyre_type *type; /* of the state */
    unsigned char *state;  /* NULL: none was carried */
    unsigned char *grown;  /* the state as the other body's type; NULL: it was not converted (yet) */
    struct gyre_carried_buffer *buffers;
    uint32_t buffer_count;
};

/** Copies from the device; `what`: bits of enum gyre_carry. The caller finishes *out in any case. */
gyre_status gyre_carried_take(gyre_kernel *kernel, unsigned what, struct gyre_carried *out);
/** Puts what was carried into the kernel's present memory: a state of the carried type as it is, of another type as `grown`. */
gyre_status gyre_carried_put(const gyre_kernel *kernel, const struct gyre_carried *carried);
void gyre_carried_finish(struct gyre_carried *carried);

#endif
