/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives, for applications: sums, minima, maxima and copies over the buffers of several kernels, as a program needs them that
 * works on parts of one problem on several devices.
 *
 *     gyre_collect_desc gradients = {.size = sizeof gradients, .spread = trainer, .buffer = "gradients"};
 *     gyre_all_reduce(&gradients, GYRE_COLLECT_SUM, gyre_in_ms(1000));
 *
 * The kernels are the parts of a spread (spread.h), or any two or more kernels of a runtime, also of different backends. Each has bound
 * a buffer to the name `buffer` of its GYRE_BUFFERS, with elements of one type and, unless `count` is given, as many of them.
 *
 * **When.** At a moment between messages: every kernel stands at a message boundary before the first byte is read, and none goes on
 * before the last byte is written. So each request is handled either before the collective on its kernel or behind it. Requests that
 * are sent meanwhile wait.
 *
 * **Whole or not at all.** When the call fails, every buffer holds what it held: also when a device dies in the midst, or the time is
 * up. The deadline counts until the result is computed; then it is written, however long that takes. A worker process
 * (isolation = process) that dies in the midst is replaced and the call begins again, as long as there is time; a kernel that its worker's
 * death ends, because it has no checkpoints, makes the call fail with LOST and the kernel's name. A kernel with checkpoints has one
 * taken behind the result, so that later deaths do not take the result away. Until such a death is dealt with, a handler that only reads the
 * buffer (IN) may see the bytes of a result that was given up.
 *
 * A kernel that another thread releases meanwhile makes the call fail with CLOSED, and the release returns behind the call.
 *
 * **What is computed.** Integers wrap around. A sum of f32 or f64 is that of the parts in their order, (((0 + 1) + 2) + 3), each addition
 * rounded to the type, to nearest: it is the same bytes on all backends, whatever the number of threads and the floating-point
 * settings of the caller. Minima and maxima are those of IEEE 754-2019: -0 is less than +0, and a NaN in any part makes the element NaN. Every NaN
 * that is computed is the positive quiet NaN without payload. With `collectives = nccl` in [backend.cuda] sums of f32 and f64 between
 * NVIDIA GPUs are NCCL's, in its order and with its NaN.
 *
 * Another kernel that has the same buffer bound does not stand, and may see a part of the result, as with gyre_buffer_upload. Threads, deadlines
 * and errors as in gyre.h. Stability: as gyre.h.
 */
#ifndef GYRE_COLLECT_H
#define GYRE_COLLECT_H

#include "gyre/spread.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GYRE_COLLECT_PARTS_MAX = GYRE_SPREAD_DEVICES_MAX };

/** The type of a buffer's elements. */
typedef enum gyre_collect_element {
    GYRE_COLLECT_DECLARED = 0, /* as the kernels declare it */
    GYRE_COLLECT_U32 = 1,
    GYRE_COLLECT_I32 = 2,
    GYRE_COLLECT_U64 = 3,
    GYRE_COLLECT_I64 = 4,
    GYRE_COLLECT_F32 = 5,
    GYRE_COLLECT_F64 = 6
} gyre_collect_element;

/** What becomes of the elements with one index. */
typedef enum gyre_collect_rule {
    GYRE_COLLECT_SUM = 1,
    GYRE_COLLECT_MIN = 2,
    GYRE_COLLECT_MAX = 3
} gyre_collect_rule;

typedef struct gyre_collect_desc {
    size_t size;
    const gyre_spread *spread;   /* its parts take part, in their order; or, with NULL, */
    gyre_kernel *const *kernels; /* these, from part 0 on */
    uint32_t kernel_count;
    const char *buffer;           /* the name that the kernels declare */
    gyre_collect_element element; /* not DECLARED: the call fails when the kernels declare another type */
    uint64_t first, count;        /* the elements of each buffer; `count` 0: all from `first` on */
} gyre_collect_desc;

/**
 * Writes into every buffer what all of them make together. INVALID, and nothing happens: fewer than two kernels, or one of them twice;
 * buffers that are not there, differ in their type or number of elements, or are one and the same; elements that are no numbers; a kernel with a
 * journal, which would not hold the result together with the others. TIMEOUT: a handler did not come back in time. CLOSED, LOST: a kernel
 * ended, or was lost. EXHAUSTED: the program needs as much memory as all parts together that are not memory of this process, and as one more.
 */
GYRE_API gyre_status gyre_all_reduce(const gyre_collect_desc *desc, gyre_collect_rule rule,
                                     uint64_t deadline_ns);
/** As gyre_all_reduce, but only the buffer of part `root` gets the result. */
GYRE_API gyre_status gyre_reduce(const gyre_collect_desc *desc, gyre_collect_rule rule, uint32_t root,
                                 uint64_t deadline_ns);
/** Copies the elements of part `root` into the buffers of the others. Elements of any type. Fails as gyre_all_reduce. */
GYRE_API gyre_status gyre_broadcast(const gyre_collect_desc *desc, uint32_t root, uint64_t deadline_ns);
/**
 * Copies the elements of all parts, one part behind the other, into memory of the caller: `size` bytes, which must be as many as they are
 * all together. Elements of any type. No buffer is written. Fails as gyre_all_reduce; `items` then holds anything.
 */
GYRE_API gyre_status gyre_gather(const gyre_collect_desc *desc, void *items, size_t size,
                                 uint64_t deadline_ns);

#ifdef __cplusplus
}
#endif
#endif
