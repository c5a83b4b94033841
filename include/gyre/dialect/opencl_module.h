/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the OpenCL backend and a kernel file compiled as OpenCL C: the arguments of an epoch (one run
 * of a kernel over a batch of requests), and the items that describe kernels and messages. Host C and OpenCL C share
 * this text; kernel authors never need it.
 *
 * The entry of kernel NAME is `gyre_epoch_NAME`, with the parameters
 *
 *     const gyre_epoch epoch, u8 *requests, u8 *replies, void *state, gyre_device_log *log,
 *     gyre_control_region *control, void *buffer0 ... buffer7
 *
 * `control` is the kernel's control region; on a device that is not direct it is a copy of its table of handles.
 *
 * There are two ways to complete a message, chosen when the file is compiled. With GYRE_OPENCL_DIRECT the slots are
 * the queue's own, shared with clients: the sequence is stored last, with release, and messages that are complete
 * already are left alone. Without it the slots are copies, in the order of the epoch. Then the device writes the
 * epoch's mark in place of the sequences, and the host stores the sequences. With GYRE_OPENCL_REACHES the host may
 * look at the copies while the kernel runs.
 *
 * With GYRE_OPENCL_SOLO blocks have one lane, and block kernels take messages as lane kernels do.
 *
 * The entry of a kernel that can be a stage of a pipeline (GYRE_STAGE = 1) has one more parameter, gyre_cell_places. Its
 * slots are always copies.
 *
 * The kernel `gyre_describe` writes the items of the file one after the other (gyre_item).
 *
 * Stability: private to the pair; both sides compare GYRE_OPENCL_MODULE_VERSION.
 */
#ifndef GYRE_DIALECT_OPENCL_MODULE_H
#define GYRE_DIALECT_OPENCL_MODULE_H

#include "gyre/dialect/device_module.h"
#include "gyre/link_layout.h"

#define GYRE_OPENCL_MODULE_VERSION 11

/** The mark of a filled copy of a reply slot has this bit, which no message's sequence has. */
#define GYRE_EPOCH_DONE 0x8000000000000000ul

typedef struct gyre_epoch {
    gyre_u64 first;                        /* index of the epoch's first request */
    gyre_u64 start, mask;                  /* message i lies in slot (start + i) & mask */
    gyre_u64 request_offset, reply_offset; /* bytes from the buffers' start to slot 0 */
    gyre_u64
        stamps_offset;   /* direct: bytes from `replies` to the first gyre_stamp; 0: messages are not timed */
    gyre_u64 timed_mask; /* direct: messages whose index has one of these bits are passed over (gyre_stamp) */
    gyre_u64 headers_offset;     /* bytes from `requests` to the header of slot 0; 0: messages have none */
    gyre_u64 seals_offset;       /* bytes from `requests` to the checksum of slot 0; 0: there are none */
    gyre_u64 reply_seals_offset; /* bytes from `replies` to the checksum of reply slot 0 */
    gyre_u64 drop_before;        /* requests below it are completed as DROPPED */
    /* direct: some requests below it were completed by an epoch that was called off */
    gyre_u64 redo_end;
    /* not direct: GYRE_EPOCH_DONE | a number of the epoch; the device stores it in place of a reply's sequence */
    gyre_u64 mark;
    /* direct: the control word at the start; if it changes, the epoch is called off between two messages */
    gyre_u64 command;
    gyre_u64 time_ns, ticks, tick_rate; /* gyre_time_ns: opencl_functions.h */
    gyre_u64 handles_offset; /* bytes from `control` to the table of handles; all ones: there is none */
    gyre_u64 counts[GYRE_BINDINGS_MAX]; /* elements of the bound buffers */
    gyre_u32 count;                     /* requests */
    gyre_u32 request_stride, reply_stride;
    gyre_u32 spacing, span,
        step;             /* lane l handles l * spacing, then every step-th up to l * spacing + span */
    gyre_u32 block_count; /* blocks of the launch; an epoch may run in fewer, from first_block on */
    gyre_u32 first_block;
    gyre_u32 lane_count; /* lanes of the launch's blocks; an epoch whose lanes do not meet may run fewer */
    gyre_u32 header_size;
    /*
     * Direct: the queue's bridge (its messages are stored back to back), in which block b has track b. Not direct: a
     * request's place is an offset in `requests`, and the reply to message i is built at reply_offset + i *
     * reply_stride of `replies`.
     */
    gyre_bridge bridge;
    gyre_u32 spare;  /* direct: the epoch has one message, whose reply goes to the spare place */
    gyre_u32 fenced; /* not direct: a reply must be in memory before its mark is */
    /* of a keyed actor: */
    gyre_u32 reminds; /* not 0: keys that are due are reminded first */
    gyre_u32
        by_sent; /* reminders go by the times at which messages were sent (gyre_control_command.by_ticks) */
    gyre_i64 remind_ns; /* then: those that are due by then are */
} gyre_epoch;

/** What the entry of a kernel that can be a stage finds in the two cells of each message. Constant for a launch. */
typedef struct gyre_cell_places {
    gyre_u64 flow_offset;   /* bytes from a request's slot to its gyre_cell_flow */
    gyre_u64 counts_offset; /* bytes from a reply's slot to how much each port emitted, u32 each */
    gyre_u64 places_offset[GYRE_PORTS_MAX]; /* bytes from a reply's slot to the first place of a port */
    gyre_u32 strides[GYRE_PORTS_MAX];       /* bytes from place to place */
#if !defined(GYRE_DIALECT_OPENCL) || (defined(GYRE_STAGE) && GYRE_STAGE)
    gyre_u32 memory_size; /* bytes of memory of a flow at the kernel (GYRE_FLOW); 0: it has none */
    gyre_u32 reserved;
#endif
} gyre_cell_places;

/* The members of gyre_cell_flow.reserved. */
#define GYRE_CELL_TURN  0 /* how often the handler was called with the message before */
#define GYRE_CELL_TOKEN 1 /* of an answer: what the asker called its ask */
#define GYRE_CELL_MEMORY                                                                                     \
    2 /* where the flow's memory lies: so many times 16 bytes from the first reply's slot on; 0: nowhere */

/** Bytes in front of a place of a port that asks, which begin with the token. */
#define GYRE_CELL_ASK 16

/** What a message of a pipeline travels with; its header follows. */
typedef struct gyre_cell_flow {
    gyre_u64 origin;      /* link_layout.h; 0: it belongs to no flow */
    gyre_u64 id;          /* of the flow, for handlers */
    gyre_u32 header_size; /* 0: it has no header */
    gyre_u32 reserved[3];
} gyre_cell_flow;

/** Sums of an epoch, in spare words of gyre_device_log. */
#define GYRE_EPOCH_FAILED_WORD 0 /* messages failed by the handler */
#define GYRE_STAY_LEFT_WORD    1 /* blocks that have left, of a kernel that stays (opencl_stay.h) */
/*
 * Of a keyed actor with reminders, two words each, the lower half first. No key is due before, by the device's clock; 0: nobody looked yet. And what the
 * host goes by: how long that is from the end of the epoch on, or by ticks the time itself; the greatest value: no key has a reminder.
 */
#define GYRE_EPOCH_DUE_WORD  2
#define GYRE_EPOCH_LEFT_WORD 4

/**
 * The position in a queue of one block of a kernel that stays. Each block has GYRE_QUEUES_MAX of them; the host zeroes
 * them.
 */
typedef struct gyre_stay_cursor {
    gyre_u64 address, serial; /* from the queue's entry in the control region's table */
    gyre_u64 next, end;       /* with one block all requests from `next` on; else the claimed window */
} gyre_stay_cursor;

/**
 * Size of the memory of each block, behind all cursors, for one message of another program: the request's slot, its
 * header, its checksum and the reply's checksum, then the reply's slot. `asked` and `given` are the sizes of the
 * payloads.
 */
#define GYRE_STAY_ROUND_(size)     (((gyre_u64)(size) + 15) / 16 * 16)
#define GYRE_STAY_HEADER_AT(asked) (GYRE_SLOT_HEADER_SIZE + GYRE_STAY_ROUND_(asked))
#define GYRE_STAY_SEALS_AT(asked)  (GYRE_STAY_HEADER_AT(asked) + 64)
#define GYRE_STAY_REPLY_AT(asked)  (GYRE_STAY_SEALS_AT(asked) + 16)
#define GYRE_STAY_REPLY_SIZE(given)                                                                          \
    (GYRE_SLOT_HEADER_SIZE +                                                                                 \
     GYRE_STAY_ROUND_((given) > GYRE_SLOT_SMALL_PAYLOAD ? (given) : GYRE_SLOT_SMALL_PAYLOAD))
#define GYRE_STAY_STAGE(asked, given) (GYRE_STAY_REPLY_AT(asked) + GYRE_STAY_REPLY_SIZE(given))

/** The head of an item; `size` bytes follow, filled up to a multiple of 8. */
typedef struct gyre_item {
    gyre_u32 name_size; /* 0: there are no more items */
    gyre_u32 size;
    gyre_u64 layout[2]; /* a message's sizeof and alignment */
    char name[104];     /* gyre_text_NAME, gyre_layout_NAME, gyre_buffers_text_NAME, gyre_kernel_NAME */
} gyre_item;

/** The head of the list, before the first item. */
typedef struct gyre_item_list {
    gyre_u32 version;
    gyre_u32 count; /* items that the file declares; items beyond GYRE_ITEMS_MAX are not written */
    gyre_u64 size;  /* bytes that the items and this head need; nothing beyond the room is written */
} gyre_item_list;

#define GYRE_ITEMS_MAX 512

#if defined(GYRE_DIALECT_C) && !defined(__cplusplus)
_Static_assert(sizeof(gyre_epoch) == 320 && sizeof(gyre_item) == 128, "layout");
_Static_assert(sizeof(gyre_item_list) == 16 && sizeof(gyre_cell_flow) == 32, "layout");
#endif

#endif
