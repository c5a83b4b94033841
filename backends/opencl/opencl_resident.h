/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launched kernel: opencl_launch.c makes and ends it, opencl_pump.c is its thread, opencl_epoch.c carries
 * messages to the device and back, and opencl_report.c reads its log. With mode = resident, opencl_stay.c stands
 * in for the pump and the epochs.
 *
 * All members except `present` belong to the pump once it runs.
 */
#ifndef GYRE_OPENCL_RESIDENT_H
#define GYRE_OPENCL_RESIDENT_H

#include "gyre/waiting.h"
#include "opencl_backend.h"

enum { OPENCL_LOG_LINES = 1024 };

/** The pump's view of one entry of the queue table. */
struct opencl_queue {
    gyre_queue_memory *memory; /* NULL: no queue */
    gyre_queue_slots slots;
    gyre_bridge bridge; /* zeros: every message lies in its slot */
    gyre_u64 serial;
    gyre_u64 next;      /* the first request that is in no epoch */
    uint32_t there;     /* requests from `next` on that were seen to be there */
    uint32_t under_way; /* in epochs */
    uint64_t sent_ns;   /* when the last of these began */
    gyre_u64 redo_end;  /* below it some are complete already: an epoch was called off there */
    uint32_t each;      /* a block's messages of the next epoch at most: for so many replies there is room */
    uint32_t promised;  /* ... and of the epochs under way */
    bool spare;         /* the next epoch's one reply goes to the spare place */
};

/** A batch on its way. */
struct opencl_epoch {
    struct opencl_queue *queue;
    gyre_u64 first;
    gyre_u64 command;         /* direct: it is called off when the control word is another */
    uint32_t count, repeated; /* repeated: of these, complete before */
    uint32_t promised;        /* of each block's track: for so many messages */
    bool spare;
    uint32_t first_block, groups; /* the blocks that its kernel runs in; staged: not always from 0 on */
    uint64_t start_ns;
    cl_command_queue commands;   /* staged: the place's own, in order; direct: NULL */
    cl_event written, ran, done; /* `done`: everything; the others NULL where nothing asks for them */
    cl_mem requests, replies;    /* staged: copies of slots; made when first needed */
    size_t requests_size, replies_size;
    bool gathered;               /* staged: it goes by the stages instead */
    struct opencl_stage in, out; /* kept for later epochs of this place */
    gyre_u64 mark;               /* staged: in place of the sequence of a reply that is there */
    uint32_t handed_out;         /* gathered: of its replies, to clients */
    uint32_t failed;             /* gathered: of these, by a handler */
    uint32_t looks;              /* gathered: that found nothing since the last reply */
    bool ended;                  /* gathered: its kernel was seen to have ended */
    uint32_t carried;            /* gathered, atomic: an opencl_carry */
};

/** The thread that has the replies of an epoch. */
enum opencl_carry {
    OPENCL_CARRY_NOT,
    OPENCL_CARRY_GIVEN,    /* to the courier */
    OPENCL_CARRY_RECALLED, /* the pump waits for it */
    OPENCL_CARRY_DONE      /* the pump's again */
};

/** The second thread of a kernel (opencl_courier.c). */
struct opencl_courier {
    pthread_t thread;
    bool present;
    uint32_t bell;         /* futex word: grows when it is to look */
    uint32_t asleep, over; /* atomic */
};

/** Sums of what the command queues measured, for `profile`. */
struct opencl_profile {
    uint64_t epochs, messages, write_ns, run_ns, read_ns;
};

/** A parameter of the entry: a buffer, or shared virtual memory; neither for a parameter without a buffer. */
struct opencl_argument {
    cl_mem memory;
    void *address;
};

struct opencl_log_memory {
    gyre_device_log head;
    gyre_device_log_line lines[OPENCL_LOG_LINES];
};

struct gyre_resident {
    struct gyre_device *device;
    const struct opencl_kernel *kernel;
    cl_kernel entry;
    cl_command_queue compute; /* direct: everything; staged: what is no epoch */
    gyre_control_region *control;
    cl_mem control_memory;        /* direct: the control region; else a copy of its table of handles */
    gyre_control_handle *handles; /* the contents of the copy; NULL: direct, or no message names a buffer */
    struct opencl_argument state, bindings[GYRE_BINDINGS_MAX];
    gyre_u64 counts[GYRE_BINDINGS_MAX];
    cl_mem log_memory;
    struct opencl_log_memory *log; /* direct: what the device writes; else a copy */
    uint32_t log_next, failed_seen;
    bool log_stale; /* staged: messages were handled since it was read */
    uint64_t log_read_ns;
    void (*kernel_log)(void *context, const char *text, int64_t value);
    void *kernel_log_context;

    uint32_t lanes, blocks, group_max; /* group_max: work-items of a group at most; lanes, or fewer */
    bool lanes_meet;                   /* those of a block, at barriers, and handle a message together */
    gyre_idle idle;
    uint32_t spin_turns;
    gyre_patience patience;
    int light_barriers;
    pthread_t thread;
    uint32_t present; /* futex word: 1 until the pump left */

    struct opencl_queue queues[GYRE_QUEUES_MAX];
    uint32_t queue_count, turn; /* turn: the queue that is served first */
    cl_mem bound_queue;         /* the queue of the entry's present arguments for slots */
    struct opencl_epoch epochs[OPENCL_EPOCHS_MAX];
    gyre_u64 marks;             /* that were given to epochs */
    uint32_t oldest, in_flight; /* of `epochs`, a ring of settings.epochs */
    uint32_t ways, way;  /* kernels that may run at once, each in its share of the blocks; the next one's */
    uint32_t limit;      /* messages of the next epoch at most */
    uint64_t message_ns; /* a message's share of an epoch, lately */
    uint64_t last_done_ns;
    struct opencl_profile profile;
    struct opencl_courier courier;

    cl_mem cursors;       /* of a kernel that stays; NULL: epochs */
    uint32_t stay_blocks; /* that were taken of the device for it */
    uint32_t stay_over;   /* atomic: its watcher is to end */
};

static inline uint32_t opencl_least(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

#endif
