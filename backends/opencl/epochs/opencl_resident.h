/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launched kernel and its epochs (batches of requests). opencl_launch.c makes and ends it, opencl_pump.c is
 * its thread, opencl_carry.c carries messages to the device and back, and opencl_report.c reads its log. With
 * mode = resident, opencl_stay.c takes the place of the pump and the epochs.
 *
 * Once the pump runs, all members except `present` belong to it.
 */
#ifndef GYRE_OPENCL_RESIDENT_H
#define GYRE_OPENCL_RESIDENT_H

#include "gyre/waiting.h"
#include "backends/opencl/opencl_backend.h"

enum { OPENCL_LOG_LINES = 1024 };

/** The pump's view of one entry of the queue table. */
struct opencl_queue {
    gyre_queue_memory *memory; /* NULL: no queue */
    gyre_u64 address;          /* of its region, as the table has it */
    gyre_queue_slots slots;
    gyre_bridge bridge; /* zeros: every message lies in its slot */
    gyre_u64 serial;
    gyre_u64 next;      /* the first request that is in no epoch */
    uint32_t there;     /* requests from `next` on that were seen to be there */
    uint32_t under_way; /* requests in epochs that are not complete */
    uint64_t sent_ns;   /* when the last epoch of the queue began */
    gyre_u64 redo_end;  /* below it some requests are complete already: an epoch was called off there */
    uint32_t each;      /* most messages of the next epoch for one block, by the room for their replies */
    uint32_t promised;  /* replies for which the epochs under way have reserved room, of each block */
    bool spare;         /* the next epoch's one reply goes to the spare place */
    uint64_t stride,
        timed_ns; /* messages with multiples of that index are timed (pace.h), and when the last was; 0: none yet */
    const gyre_link_entry *entry; /* of a pipeline; NULL: its messages enter none */
};

/** An epoch: a batch of requests on its way through the device. */
struct opencl_epoch {
    struct opencl_queue *queue;
    gyre_u64 first;
    gyre_u64 command;         /* direct: the epoch is called off when the control word is another */
    uint32_t count, repeated; /* repeated: how many of `count` were complete before */
    uint32_t promised;        /* messages for which room is reserved in each block's track */
    bool spare;
    gyre_u64 timed_mask;          /* gyre_epoch.timed_mask */
    uint32_t first_block, groups; /* the blocks that the kernel runs in; staged: `first_block` may not be 0 */
    uint64_t start_ns;
    cl_command_queue commands;   /* staged: the command queue of this place, in order; direct: NULL */
    cl_event written, ran, done; /* `done`: the end of everything; NULL where nobody needs the event */
    cl_mem requests, replies;    /* staged: copies of slots; made when first needed */
    size_t requests_size, replies_size;
    bool gathered;               /* the messages go packed, by the stages `in` and `out` */
    struct opencl_stage in, out; /* kept for later epochs of this place */
    gyre_u64 mark;               /* staged: the value that a finished reply has in its member `sequence` */
    uint32_t handed_out;         /* gathered: replies that were handed to clients */
    uint32_t failed;             /* gathered: replies among them that a handler failed */
    uint32_t looks;              /* gathered: looks since the last reply */
    bool ended;                  /* gathered: the kernel was seen to have ended */
    bool reminds;                /* it has no messages, and reminds keys (opencl_reminders.h) */
    int64_t remind_ns;
};

struct opencl_links;

/** Sums of what the command queues measured, for the setting `profile`. */
struct opencl_profile {
    uint64_t epochs, messages, write_ns, run_ns, read_ns;
};

/**
 * A parameter of the entry: a buffer, or shared virtual memory; both NULL for a parameter without a buffer.
 */
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
    cl_command_queue compute; /* direct: all commands; staged: commands of no epoch */
    gyre_control_region *control;
    cl_mem control_memory;        /* direct: the control region; else a copy of its table of handles */
    gyre_control_handle *handles; /* the contents of that copy; NULL: direct, or no message names a buffer */
    struct opencl_argument state, bindings[GYRE_BINDINGS_MAX];
    gyre_u64 counts[GYRE_BINDINGS_MAX];
    cl_mem log_memory;
    struct opencl_log_memory *log; /* direct: the memory that the device writes; else a copy */
    uint32_t log_next, failed_seen;
    bool log_stale; /* staged: messages were handled since the log was read */
    uint64_t log_read_ns;
    void (*kernel_log)(void *context, const char *text, int64_t value);
    void *kernel_log_context;
    const gyre_trace_point *trace;

    uint32_t lanes, blocks, group_max; /* group_max: most work-items of a group; lanes, or fewer */
    /* the lanes of a block meet at barriers and handle a message together */
    bool lanes_meet;
    gyre_idle idle;
    uint32_t spin_turns;
    gyre_patience patience;
    int light_barriers;
    pthread_t thread;
    uint32_t present; /* futex word: 1 until the pump has left */

    struct opencl_queue queues[GYRE_QUEUES_MAX];
    uint32_t queue_count, turn; /* turn: the queue that is served first */
    cl_mem bound_queue;         /* the queue whose slots are the entry's present arguments */
    struct opencl_epoch epochs[OPENCL_EPOCHS_MAX];
    gyre_u64 marks;             /* marks that were given to epochs */
    uint32_t oldest, in_flight; /* of `epochs`, a ring of settings.epochs places */
    /* kernels that may run at once, each in its share of the blocks; the next kernel's share */
    uint32_t ways, way;
    uint32_t limit;      /* most messages of the next epoch */
    uint64_t message_ns; /* a message's share of an epoch's time, lately */
    uint64_t last_done_ns;
    struct opencl_profile profile;

    struct opencl_links *links; /* of a kernel that can be a stage of a pipeline; else NULL */

    /* of a keyed actor with reminders: no key is due before; by gyre_clock_ns, or of ticks; 0: nobody looked (opencl_reminders.c) */
    int64_t due_ns;
    uint64_t looked_ns;
    bool due_stale; /* an epoch was sent since */

    cl_mem cursors;       /* mode = resident: of the kernel that stays; NULL: epochs */
    uint32_t stay_blocks; /* blocks of the device that the staying kernel takes */
    uint32_t stay_over;   /* atomic: tells the watcher to end */
};

/** Whether one lane handles all messages, one after the other, whatever the launch's blocks: actors and keyed actors. */
static inline bool opencl_is_serial(const gyre_resident *resident)
{
    const gyre_form form = resident->kernel->record.form;
    return form == GYRE_FORM_ACTOR || form == GYRE_FORM_KEYED;
}

static inline uint32_t opencl_least(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

#endif
