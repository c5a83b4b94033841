/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The named table "peers" of a backend (get_extension of backend.h): devices of one plugin that reach each other's memory. For
 * backend authors. A backend without it loses nothing but speed: the core copies through the host.
 *
 * All devices of a call are opened by this process, and have this plugin. The core makes no other call with any of them meanwhile, except
 * those that any thread may make. Stability: as backend.h.
 */
#ifndef GYRE_PEER_H
#define GYRE_PEER_H

#include "gyre/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GYRE_PEERS_NAME    "peers"
#define GYRE_PEERS_VERSION 1

/** By which way bytes get from one device to another. */
typedef enum gyre_peer_way {
    GYRE_PEER_NONE = 0, /* not without the host */
    GYRE_PEER_BUS = 1,  /* over the machine's bus */
    GYRE_PEER_LINK = 2  /* over a link of the devices' own */
} gyre_peer_way;

/** What becomes of the elements with one index of several memories; the numbers are those of gyre/collect.h. */
typedef enum gyre_combine_rule {
    GYRE_COMBINE_SUM = 1,
    GYRE_COMBINE_MIN = 2,
    GYRE_COMBINE_MAX = 3,
    GYRE_COMBINE_TAKE = 4 /* that of part `root` */
} gyre_combine_rule;

/** The type of the elements; the numbers are those of gyre/collect.h. */
typedef enum gyre_combine_element {
    GYRE_COMBINE_BYTE = 0, /* with TAKE alone */
    GYRE_COMBINE_U32 = 1,
    GYRE_COMBINE_I32 = 2,
    GYRE_COMBINE_U64 = 3,
    GYRE_COMBINE_I64 = 4,
    GYRE_COMBINE_F32 = 5,
    GYRE_COMBINE_F64 = 6
} gyre_combine_element;

enum { GYRE_COMBINE_PARTS_MAX = 16, GYRE_COMBINE_SKEW = 64 };

typedef struct gyre_combine_part {
    gyre_device *device;
    gyre_memory *memory;
    /*
     * Memory of the device that is to hold what the elements were, from byte `offset % GYRE_COMBINE_SKEW` on; of a part that gets nothing,
     * NULL.
     */
    gyre_memory *before;
    uint32_t gets; /* 1: the result is written into its memory */
} gyre_combine_part;

typedef struct gyre_combine_desc {
    size_t size;
    gyre_combine_rule rule;
    gyre_combine_element element;
    const gyre_combine_part *parts; /* at least two, each with a memory of its own, in the order of a sum */
    uint32_t part_count;
    uint32_t root;   /* of TAKE; this part gets nothing */
    uint64_t offset; /* of the elements in each memory; a multiple of the element's size */
    uint64_t byte_count;
    uint64_t
        deadline_ns; /* combine_prepare fails rather than wait longer for kernels or a compiler, and combine for devices */
} gyre_combine_desc;

typedef struct gyre_peer_ops {
    size_t size; /* sizeof(gyre_peer_ops) as the plugin was compiled */

    /* required   threads: one per device (both)   blocks: no. Constant while both devices are open. */
    gyre_peer_way (*way)(gyre_device *source, gyre_device *target);

    /*
     * required   threads: one per device (both)   blocks: until the copy is made
     * Copies from memory of `source` to memory of `target`, between which `way` is not NONE. The core has checked the bounds.
     * Kernels of both devices may run meanwhile, as with memory_copy.
     */
    gyre_status (*copy)(gyre_device *source, gyre_device *target, const gyre_copy_desc *desc);

    /*
     * optional since 0.1   threads: one per device (all)   blocks: until kernels of the devices have made room
     * Makes the devices ready for `combine` with these parts, rule and element, of which only `device` and `gets` are looked at; cheap where they are.
     * UNIMPLEMENTED, or another failure: the core combines in the host's memory. Absent: so it does always.
     */
    gyre_status (*combine_prepare)(const gyre_combine_desc *desc);

    /*
     * with combine_prepare, which has succeeded   threads: one per device (all)   blocks: until all is written
     * Combines the elements of all parts, in their order, each addition of floats rounded to the type, to nearest, with no small number taken
     * for zero; as gyre/collect.h has it for zeros and NaN. Writes the result into each memory that gets it, and before that what the
     * elements were into `before`. Between any two devices `way` is not NONE. After a failure every memory holds what it held, but for the
     * memories of a lost device. TIMEOUT: the devices were not through until the deadline. A setting of the backend may have sums of floats
     * made in another order.
     */
    gyre_status (*combine)(const gyre_combine_desc *desc);

    /*
     * optional since 0.1   threads: one per device (both)   blocks: until kernels of both devices have made room
     * Lets kernels of `source` use memory of `target` (memory_alloc), between which `way` is LINK: by the addresses that memory_address
     * says, with atomics, and each block with fences in its own order, as long as both devices are open. Absent, or a failure: links
     * between kernels of the two go through the host.
     */
    gyre_status (*let_in)(gyre_device *source, gyre_device *target);
} gyre_peer_ops;

#ifdef __cplusplus
}
#endif
#endif
