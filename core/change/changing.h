/* SPDX-License-Identifier: Apache-2.0 */
/* A change of a kernel that is under way (change.h). The thread's that makes it. */
#ifndef GYRE_CORE_CHANGE_CHANGING_H
#define GYRE_CORE_CHANGE_CHANGING_H

#include "core/change/carried.h"
#include "core/kernel/kernel.h"
#include "core/kernel/queue_home.h"

/** What a kernel is made of besides its queues, its control region and its shape. */
struct gyre_kernel_body {
    struct gyre_dispatch *dispatch;
    struct gyre_build *build;
    const gyre_kernel_record *record;
    struct gyre_kernel_memory memory;
};

/** A change of a kernel, from its preparation to its end. */
struct gyre_kernel_change {
    gyre_kernel *kernel;
    struct gyre_kernel_body other; /* the body that is not in the kernel at the moment */
    bool moves;                    /* the other body is on another device */
    bool goes_back;                /* the other body could not be launched, and the old one is taken back */
    bool converts;                 /* the other body's state has another type */
    struct gyre_carried carried;   /* what the old device kept, while neither of the two has it for sure */
    struct gyre_queue_homes homes; /* for a move: the queues' places on the other device */
    struct gyre_moved_buffer {     /* for a move: the bound buffers' memory on the other device */
        struct gyre_buffer *buffer;
        gyre_memory *memory;
    } * buffers;
    uint32_t buffer_count;
    struct gyre_dispatch *buffer_device; /* the device of `memory` */
    bool through_host;                   /* the device could not copy straight: the bytes are `carried` */
    bool stands;                         /* one of the bodies was launched, and stands */
    uint64_t stood_ns;                   /* when the kernel began to stand */
};

#endif
