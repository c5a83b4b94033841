/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared-memory layouts of kernels and queues: one text for host C and all kernel dialects, so that the two
 * sides cannot drift apart. Included by the core, by backends and by device code; applications never need it.
 *
 * The protocol in short. A queue has `capacity` (a power of two) request slots and as many reply slots. The
 * client alone keeps the credit: it sends index i only while i - received < capacity. It fills request slot i
 * & mask and stores sequence i + 1 last (release). A device worker that sees sequence i + 1 (acquire) runs
 * the handler and completes the request in the reply slot of the same index, again storing sequence i + 1
 * last. Every request has exactly one completion. No index word crosses from one side to the other and no
 * slot is ever reset.
 *
 * One writer per cache line: each struct below is one line and names its writer. "host" is any thread of the
 * client side (serialised by the core where a word is read-modify-written), "device" any worker of the
 * backend.
 *
 * Stability: part of the backend ABI; a change bumps GYRE_ABI_MAJOR.
 */
#ifndef GYRE_RING_LAYOUT_H
#define GYRE_RING_LAYOUT_H

#include "gyre/header.h"
#include "gyre/types.h"

#define GYRE_LINE_SIZE          64
#define GYRE_SLOT_HEADER_SIZE   16
#define GYRE_SLOT_SMALL_PAYLOAD 48 /* bytes that share a line with the sequence: one transfer each way */
#define GYRE_PAYLOAD_MAX        65536
#define GYRE_QUEUES_MAX         64   /* queues of one kernel */
#define GYRE_HANDLES_MAX        1024 /* buffers of one device that messages may name, a power of two */

/** The header of a slot; the payload follows it. Written last: `sequence`. */
typedef struct gyre_slot {
    gyre_u64 sequence; /* index + 1 when filled */
    gyre_u32 length;   /* bytes of payload */
    gyre_u32 info;     /* replies: an outcome; requests: 0, or GYRE_REQUEST_ANSWERED */
} gyre_slot;

/** How a request was completed: `info` of its reply slot. */
enum gyre_outcome {
    GYRE_OUTCOME_REPLY = 1,    /* the handler replied; the payload is the reply */
    GYRE_OUTCOME_NO_REPLY = 2, /* the handler ran and did not reply */
    GYRE_OUTCOME_FAILED = 3,   /* the handler failed it; the payload is a gyre_failure */
    GYRE_OUTCOME_DROPPED = 4,  /* discarded before it was handled (policy drop_oldest) */
    GYRE_OUTCOME_UNHANDLED = 5 /* the kernel was terminated before it was handled */
};

/**
 * The `length` and `info` of a request that was already answered, by a device that has died since: its completion is in
 * the reply slot. A device that can skip such requests (device_info.can_skip) leaves the completion alone and goes on.
 */
#define GYRE_LENGTH_ANSWERED  0xffffffffu
#define GYRE_REQUEST_ANSWERED 1u

/** The payload of a failed completion; fits the smallest slot. */
typedef struct gyre_failure {
    gyre_i32 code;
    char text[44]; /* NUL-terminated, cut */
} gyre_failure;

/** Failure codes. Codes below 0 are Gyre's own; handlers use 0 and up. */
#define GYRE_FAILURE_LENGTH (-1) /* the request does not have the size of its type */
#define GYRE_FAILURE_ASSERT (-2) /* gyre_assert was false */
/* Lanes of a block met different barriers, some lanes left without meeting a barrier, or the kernel has no blocks. */
#define GYRE_FAILURE_BARRIER (-3)
#define GYRE_FAILURE_MEMORY  (-4) /* the device had no memory to run the lanes of a block */
#define GYRE_FAILURE_RESULT                                                                                  \
    (-5) /* the handler returned neither GYRE_REPLY nor GYRE_NO_REPLY, and did not fail */
#define GYRE_FAILURE_CODE      (-6) /* the handler called gyre_fail with a code below 0 */
#define GYRE_FAILURE_CODE_TEXT "gyre_fail: own codes are 0 and up"
#define GYRE_FAILURE_BUFFER                                                                                  \
    (-7) /* the request names a buffer that was freed, is another device's, or is smaller than it says */
#define GYRE_FAILURE_PART                                                                                    \
    (-8) /* a part of the request, an index into a part, or the cut of a part is wrong; the text says which */
#define GYRE_FAILURE_TAIL (-9) /* the handler wrote more than the tail of its reply holds */
/* the request's handler took the worker process down, each time it was tried */
#define GYRE_FAILURE_CRASH   (-10)
#define GYRE_FAILURE_EXPIRED (-11) /* no handler began with the request before its deadline */
#define GYRE_FAILURE_SEAL    (-12) /* the checksum of the request, or of its reply, is wrong */
#define GYRE_FAILURE_TYPE    (-13) /* the kernel has no handler for a message of this number */
#define GYRE_FAILURE_OUTCOME (-14) /* the device completed the request with none of the outcomes above */
#define GYRE_FAILURE_INDEX                                                                                   \
    (-15) /* its handler, compiled with checks, was about to use an index out of range */
#define GYRE_FAILURE_QUOTA                                                                                   \
    (-16) /* more messages of one flow were alive than the quota of its pipeline allows */
#define GYRE_FAILURE_PORT    (-17) /* the handler emitted to a port without a link */
#define GYRE_FAILURE_REPLIES (-18) /* two handlers replied to the same request of a client */
#define GYRE_FAILURE_ANSWER  (-19) /* a handler replied whose kernel may not answer */
#define GYRE_FAILURE_FINDING (-20) /* a check of the CPU backend (`check`) found a mistake of its handler */
#define GYRE_FAILURE_KEYS    (-21) /* the table of a keyed actor has no room for the request's key */
#define GYRE_FAILURE_ASK     (-22) /* an ask was not answered, or asks that wait for each other are too many */
#define GYRE_FAILURE_ELSEWHERE                                                                               \
    (-23) /* a kernel of another device was lost, or what it sent elsewhere was incomplete */

/*
 * Whether the length of a message is wrong. A message without a tail is as long as its type. A message with a tail
 * says its length in its first word, from `least` (an empty tail) to the size of its type, and the slot says the same.
 * A type without a tail has `least` equal to `size`. Both are constants, so the check costs such a type one comparison
 * and no more. The macro evaluates its arguments more than once, so a caller reads a first word into a local before.
 */
#define GYRE_LENGTH_WRONG_(length, least, size, first_word)                                                  \
    ((least) == (size) ? (length) != (size)                                                                  \
                       : (length) < (least) || (length) > (size) || (length) != (first_word))
#define GYRE_REPLY_LENGTH_(least, size, first_word)                                                          \
    ((least) == (size) ? (size) : (first_word) > (size) || (first_word) < (least) ? (size) : (first_word))
#define GYRE_LENGTH_TEXT_ "the request has not the size of its type"

/* ---- a queue's region ---------------------------------------------------------------------------------- */

#define GYRE_QUEUE_MAGIC 0x51455247u /* "GREQ" */

/**
 * Line 0 of a queue's region: its shape. The host writes it once, before the queue is attached, for tools and programs
 * that look at the region later.
 */
typedef struct gyre_queue_shape {
    gyre_u32 magic;
    gyre_u32 version;
    gyre_u64 capacity; /* slots, a power of two */
    /* bytes from slot to slot, multiples of 16: a line for payloads that share it with their header; larger
     * slots may begin within a line, and the neighbours that share one have the same writer */
    gyre_u32 request_stride, reply_stride;
    gyre_u32 request_size, reply_size;     /* largest payloads */
    gyre_u64 request_offset, reply_offset; /* where slot 0 lies in the region; multiples of a line */
    gyre_u64 region_size;
    gyre_u64 first; /* the index of the first request ever */
} gyre_queue_shape;

/** Line 1 of a queue's region, written by the host (the client's side). */
typedef struct gyre_queue_host {
    /* The device completes requests below this index as DROPPED without running the handler. The host lowers it by one
     * when the last sender that asked for the drop gives up; a device that already read the higher value still
     * drops. */
    gyre_u64 drop_before;
    gyre_u32 waiting; /* clients parked on `bell`; the device rings after each message while it is not 0 */
    /* constant. 1: clients park at once, so the device makes a fence before it looks at `waiting` */
    gyre_u32 parks;
    /*
     * With gyre_control_command.by_ticks: requests from tick_index on are stamped with tick_ns (gyre_header.sent_ns), or later.
     * tick_index is written first; both grow
     */
    gyre_u64 tick_index, tick_ns;
    gyre_u32 reserved[8];
} gyre_queue_host;

/** Line 2 of a queue's region, written by the device, but for what the client tells there. */
typedef struct gyre_queue_device {
    gyre_u32 bell; /* futex word: incremented before a wake */
    gyre_u32 reserved;
    /*
     * Written by the client, which alone knows: sends that found the queue full and were told so, and messages that its policy discarded. They
     * stand here because this line is quiet while messages pass. A program that lent the queue shows them, and believes them nothing else.
     */
    gyre_u64 told_refused, told_discarded;
    gyre_u32 reserved_told[10];
} gyre_queue_device;

/**
 * Line 3 of a queue's region, written by the device's workers: the ticket (the next index to claim) of a queue that
 * several blocks serve.
 */
typedef struct gyre_queue_claim {
    gyre_u64 next; /* the first index that no worker has claimed */
    gyre_u64 reserved[7];
} gyre_queue_claim;

typedef struct gyre_queue_region {
    gyre_queue_shape shape;
    gyre_queue_host host;
    gyre_queue_device device;
    gyre_queue_claim claim;
    /* then, at the offsets of `shape`, request slots and reply slots, and the arrays that gyre_queue_slots has offsets
     * for */
} gyre_queue_region;

/**
 * When a request's handler began and ended, on the device's own clock: one stamp for each slot, in queues of kernels
 * that were compiled with GYRE_TIMED. The device writes it around the completion, in halves of 16 bytes: it is valid
 * once both sequences say index + 1. Both times are 0 where the device passed the message over because messages come too fast to time as
 * many; the next stamp counts for it.
 */
typedef struct gyre_stamp {
    gyre_u64 sequence, started_ns;
    gyre_u64 finished_ns, sequence_again;
} gyre_stamp;

/*
 * Kernels that time one message of GYRE_PACED_FROM or fewer time one in GYRE_PACE_NS at most: where messages come faster, more looks at
 * the clock would slow them. Those between are passed over by the client and by some devices, at most GYRE_PASS_MOST in a row by both
 * together (pace.h). The client counts the next one for them.
 */
#define GYRE_PACED_FROM 64
#define GYRE_PACE_NS    50000
#define GYRE_PASS_MOST  63

/* ---- express lines ----------------------------------------------------------------------------------------
 *
 * Express lines are a second copy of a lone request (sent while no other request is under way), beside its slot.
 *
 * A request beyond one line costs a device across a bus two journeys: one to see its sequence, and one for its payload,
 * which the device may read only after the sequence. A reply costs a fence between its payload and its sequence. So if
 * the device knows express lines, the client writes a lone request twice. The copy goes first, into lines that each
 * carry the request's sequence; then the client stores the slot's sequence. A device that finds the sequence in every
 * line of the request has the whole request, in whatever order it read the lines. Only the slot counts: the copy may be
 * missing, and then nothing but time is lost.
 *
 * A lone request may say that its sender awaits this very reply (GYRE_EXPRESS_AWAITED). Then a device that took the
 * request from express lines may answer with express lines in place of the reply slot, and the client fills in the
 * reply slot. Either side writes its express lines again only once the client has this reply. */

/** A line of a message: the next 56 bytes of its slot, from `length` on. */
typedef struct gyre_express_line {
    gyre_u64 sequence; /* index + 1, written last */
    gyre_u64 words[7];
} gyre_express_line;

#define GYRE_EXPRESS_MOST          2048 /* bytes of payload; with larger messages the journeys matter less */
#define GYRE_EXPRESS_LINES(length) (((length) + 8 + 55) / 56)
#define GYRE_EXPRESS_AWAITED       1u /* `info` of a request's lines */

/* ---- queues whose messages are stored back to back --------------------------------------------------------
 *
 * In a queue that stores messages back to back ("bridged", in either direction) every slot is one line. A message that
 * fits the line lies there. For a longer message the slot's payload is a gyre_place, and the message's bytes lie in a
 * ring of bytes, behind the bytes of the message before. Positions in a ring only grow; a message begins at its position
 * modulo the ring's size, and never wraps: behind the ring there is room for the largest message.
 *
 * The ring of requests is the client's: a request's bytes are free again once its completion was received. Replies have a
 * ring for each worker that allots by itself (a track). A device takes a request up when the track has room for the
 * largest reply, and then allots the bytes that the reply really needs, so a handled request never waits for room. The
 * client publishes each track's `tail`, below which all bytes are free again. Replies are freed in the order of requests,
 * which need not be the order in which they were allotted: should a track be full of later replies, the request that the
 * client waits for (`received`) may be answered in the spare place. */

/** Where a message lies in a ring of bytes: the payload of its slot. */
typedef struct gyre_place {
    gyre_u64 position; /* a multiple of 16 */
    gyre_u32 track;    /* a reply's track; GYRE_TRACK_SPARE: the spare place */
    gyre_u32 reserved;
} gyre_place;
#define GYRE_TRACK_SPARE 0xffffffffu

/**
 * The offsets of the rings of bytes from the start of a queue's region. A track is one worker's ring of reply bytes. All
 * zeros: every message lies in its slot.
 */
typedef struct gyre_bridge {
    gyre_u64 words_offset; /* where gyre_bridge_words lie; 0: no bridge */
    gyre_u64 request_offset;
    gyre_u64 reply_offset;  /* where the first track lies */
    gyre_u64 spare_offset;  /* where the spare place lies, which holds one reply */
    gyre_u32 request_bytes; /* the ring's size, a power of two; 0: requests lie in their slots */
    gyre_u32 reply_bytes;   /* size of each track, a power of two; 0: replies lie in their slots */
    gyre_u32 reply_stride;  /* distance from one track to the next */
    gyre_u32 tracks;
} gyre_bridge;

typedef struct gyre_bridge_track {
    gyre_u64 tail; /* written by the host: bytes below it are free again */
    gyre_u64 reserved[7];
    gyre_u64 head; /* written by the device when it may lose sight of the queue: where it allots next */
    gyre_u64 reserved_again[7];
} gyre_bridge_track;

typedef struct gyre_bridge_words {
    gyre_u64 received; /* written by the host: all completions below it were received */
    gyre_u64 reserved[7];
    /* written by the device: parked workers that have requests and no room for the replies. The host rings
     * the doorbell for all of them when it gives room back. */
    gyre_u32 starved;
    gyre_u32 reserved_again[15];
    /* then a gyre_bridge_track for each track */
} gyre_bridge_words;

/** The number of bytes that a message takes in a ring of bytes. */
#define GYRE_BRIDGE_UNITS(length) (((gyre_u64)(length) + 15) & ~(gyre_u64)15)
/**
 * The place in a ring of bytes where the message with that position begins; any `position` gives an aligned place
 * inside the ring.
 */
#define GYRE_BRIDGE_AT(position, bytes) ((position) & ((gyre_u64)(bytes)-16))

/* ---- a kernel's control region ------------------------------------------------------------------------- */

/** The host's order, in the low byte of `command`. The rest of `command` is an epoch that grows with every change. */
enum gyre_verb {
    GYRE_VERB_RUN = 1,   /* serve the queues of the table */
    GYRE_VERB_PAUSE = 2, /* touch no queue; keep everything queued */
    GYRE_VERB_STOP = 3,  /* leave for good at the next message boundary */
    GYRE_VERB_YIELD = 4  /* leave now with all state in memory; the host launches again */
};
#define GYRE_COMMAND_VERB(command) ((command)&0xffu)

/**
 * Line 0 of a kernel's control region, written by the host. A worker obeys a new command at a message boundary and
 * acknowledges it.
 */
typedef struct gyre_control_command {
    gyre_u64 command;     /* epoch << 8 | verb; also bumped when the queue table changed */
    gyre_u32 queue_count; /* entries of the table in use */
    /* constant. 1: workers park at once, so senders make a fence before they look at `parked` */
    gyre_u32 parks;
    gyre_u64 links; /* address of the kernel's gyre_link_table (link_layout.h); 0: it is in no pipeline */
    /* constant. 1: keys are reminded by the times at which requests were sent, which a replay repeats (gyre_queue_host.tick_ns) */
    gyre_u32 by_ticks;
    gyre_u32 reserved[9];
} gyre_control_command;

/** Line 1 of a kernel's control region, written by the host. */
typedef struct gyre_control_doorbell {
    gyre_u32 bell; /* futex word of parked workers: incremented before a wake */
    gyre_u32 reserved[15];
} gyre_control_doorbell;

/** Line 2 of a kernel's control region, written by the device. */
typedef struct gyre_control_device {
    gyre_u32 parked; /* workers about to park or parked on the doorbell; a sender rings while it is not 0 */
    gyre_u32 acknowledge_bell; /* futex word: incremented and woken when a block acknowledged a command */
    gyre_u32 lost;             /* not 0: the device died; its waiters give up */
    gyre_u8 lost_why[52];      /* why it died, a NUL-terminated text, written before `lost`; "": unknown */
} gyre_control_device;

/**
 * gyre_queue_slots.foreign: a device takes care with a queue of another program, or with a queue whose replies are
 * passed on to other programs.
 *
 * RING: another program can write the queue's region at any time. The device copies a request's length, payload, header
 * and seal once, before it checks any of them; handlers see the copy. A reply is built in memory of the device's own
 * and copied out; nothing of it is read back. Such a queue has no gyre_bridge.
 * REPLIES: bytes of a reply that its handler did not write, and padding, are sent as zeros.
 */
#define GYRE_FOREIGN_REPLIES 1
#define GYRE_FOREIGN_RING    2

/** The offsets of a queue's slots from the start of its region. */
typedef struct gyre_queue_slots {
    gyre_u64 capacity;
    gyre_u32 request_stride, reply_stride;
    gyre_u64 request_offset, reply_offset;
    gyre_u64 stamps_offset; /* where the first gyre_stamp lies; 0: there are none */
    /*
     * Offset of the first header: one for each slot, header_size bytes of a gyre_header; 0: there are none. The host
     * writes a header before the sequence of its request.
     */
    gyre_u64 headers_offset;
    gyre_u32 header_size;
    /*
     * 1: messages have seals (CRC-32C of header and payload). Behind the headers, from the next line on, lies a seal
     * for each request slot, which the host writes before the sequence; then, at GYRE_SEALS_ROUND, a seal for each
     * reply slot, which the device writes.
     */
    gyre_u8 sealed;
    gyre_u8 foreign; /* GYRE_FOREIGN_* */
    /*
     * how many gyre_express_line of requests lie right before request slot 0, and how many of replies before these; 0:
     * none
     */
    gyre_u8 express_requests, express_replies;
} gyre_queue_slots;

#define GYRE_SEALS_ROUND(capacity) (((capacity) + 15) / 16 * 16) /* seals of one direction, in whole lines */
#define GYRE_SEALS_OFFSET(slots)                                                                             \
    (((slots)->headers_offset + (slots)->capacity * (slots)->header_size + GYRE_LINE_SIZE - 1) /             \
     GYRE_LINE_SIZE * GYRE_LINE_SIZE)

/**
 * One entry of the table of queues, written by the host; a new command announces a change. A device reads from here
 * where the slots lie, and not from the region, which another program may be able to write.
 */
typedef struct gyre_control_queue {
    gyre_u64 address; /* of the queue's region, as the device sees it; 0: no queue here */
    gyre_u64 first;   /* the first index that the device has to handle when it first sees this entry */
    gyre_u64 serial;  /* differs between a new queue and the old queue in a reused entry */
    gyre_queue_slots slots;
    gyre_bridge bridge;
} gyre_control_queue;

#define GYRE_TELLS_TIME 2

/*
 * gyre_control_block.working of a stage of a pipeline while its handler is at a message of a flow: the number of the flow's entry in
 * the pipeline + 1 (bits 57 to 63), a count that makes it differ from the last one (32 to 56), and the low half of the request's index.
 */
#define GYRE_WORKING_FLOW(table, count, index)                                                               \
    ((gyre_u64)((table) + 1) << 57 | ((gyre_u64)(count)&0x1ffffff) << 32 | (gyre_u32)(index))
#define GYRE_WORKING_TABLE(working) ((working) >> 57) /* the entry's number + 1; 0: at no message of a flow */

/**
 * The state of a block: one line for each block. The block alone writes it, except the last four words where its
 * backend writes them.
 */
typedef struct gyre_control_block {
    gyre_u64 acknowledged; /* the last command obeyed */
    gyre_u64 handled;      /* messages completed, whatever the outcome */
    gyre_u64 failed;       /* `handled` messages that a handler failed */
    gyre_u64 heartbeat;    /* grows while the block is alive and awake */
    /* 0: the block handles no message; the value changes when it goes on to other messages */
    gyre_u64 working;
    gyre_u64 tells; /* who writes `working`: 1: the block; GYRE_TELLS_TIME: its backend; 0: nobody */
    /* GYRE_TELLS_TIME: how long the block had been at the same messages when the backend last looked */
    gyre_u64 working_ns;
    gyre_i64
        due_ns; /* with gyre_control_command.by_ticks: when the block has to remind a key; 0: none has a reminder */
} gyre_control_block;

/**
 * Line 3 of a kernel's control region, written by the backend's host side: how often the kernel left its device for a
 * while by itself (GYRE_VERB_YIELD, or the backend's own reasons) and how long it was away, from the order to the
 * return.
 */
typedef struct gyre_control_absences {
    gyre_u64 count;
    gyre_u64 total_ns, longest_ns;
    /*
     * How many stays of the kernel on its device have ended. Stays are measured by the device's own events around them. 0
     * unless `timed`, and on a device without such events.
     */
    gyre_u64 stays;
    gyre_u64 stayed_ns, longest_stay_ns;
    /*
     * Constants, set by the core. `timed`: 0, or the backend measures stays, and one message of so many is timed, a power of two.
     * `has_times`: 1: the region ends with a gyre_control_times; an older core left 0 here.
     */
    gyre_u64 timed;
    gyre_u64 has_times;
} gyre_control_absences;

typedef struct gyre_control_region {
    gyre_control_command command;
    gyre_control_doorbell doorbell;
    gyre_control_device device;
    gyre_control_absences absences;
    gyre_control_queue queues[GYRE_QUEUES_MAX];
    /* then one gyre_control_block for each block, then GYRE_HANDLES_MAX times gyre_control_handle, then a gyre_control_times */
} gyre_control_region;

/**
 * A buffer that messages may name, written by the host; entry number `id` % GYRE_HANDLES_MAX. `id` is stored last, and
 * cleared first. Before the buffer's memory is freed, the host announces a new command, which every block acknowledges
 * between two messages.
 */
typedef struct gyre_control_handle {
    gyre_u64 id;      /* `id` of the gyre_handle that names the buffer; 0: no buffer here */
    gyre_u64 address; /* the address of the buffer's first byte, as the backend told it */
    gyre_u64 size;    /* bytes */
    gyre_u64 reserved;
} gyre_control_handle;

/**
 * How long the handlers of a kernel ran, for messages that its device timed (gyre_control_absences.timed). The backend's host side
 * writes it, and nobody else does. Counts only grow while the kernel lives. The buckets are those of gyre_observe_histogram
 * (observe.h).
 */
#define GYRE_TIMES_BUCKETS 256
#define GYRE_TIMES_ALL     1 /* messages of queues of any program, and of links */
#define GYRE_TIMES_LINKS   2 /* messages of links, and of queues by which pipelines are entered */
typedef struct gyre_control_times {
    gyre_u64
        counts; /* GYRE_TIMES_: which messages the backend counts, stored before it launches the kernel; 0: none */
    gyre_u64 sum_ns;
    gyre_u64 buckets[GYRE_TIMES_BUCKETS];
    gyre_u64 reserved[6];
} gyre_control_times;

#define GYRE_CONTROL_SIZE(blocks)                                                                            \
    (sizeof(gyre_control_region) + (blocks) * sizeof(gyre_control_block) +                                   \
     GYRE_HANDLES_MAX * sizeof(gyre_control_handle) + sizeof(gyre_control_times))
/** The table of buffers of a kernel with `blocks` blocks, found from the address of its control region. */
#define GYRE_CONTROL_HANDLES(control, blocks)                                                                \
    ((gyre_control_handle *)((gyre_control_block *)((control) + 1) + (blocks)))
/** The times of its handlers, in a region that has them. */
#define GYRE_CONTROL_TIMES(control, blocks)                                                                  \
    ((gyre_control_times *)(GYRE_CONTROL_HANDLES(control, blocks) + GYRE_HANDLES_MAX))

#if defined(GYRE_DIALECT_C) && !defined(__cplusplus)
_Static_assert(sizeof(gyre_slot) == GYRE_SLOT_HEADER_SIZE, "slot header");
_Static_assert(sizeof(gyre_failure) == GYRE_SLOT_SMALL_PAYLOAD, "a failure fits the smallest slot");
_Static_assert(sizeof(gyre_queue_shape) == 64 && sizeof(gyre_queue_host) == 64, "one line each");
_Static_assert(sizeof(gyre_queue_device) == 64 && sizeof(gyre_queue_claim) == 64, "one line each");
_Static_assert(sizeof(gyre_control_command) == 64 && sizeof(gyre_control_doorbell) == 64, "one line each");
_Static_assert(sizeof(gyre_control_device) == 64 && sizeof(gyre_control_queue) == 128, "one line, and two");
_Static_assert(sizeof(gyre_control_block) == 64, "one line each");
_Static_assert(sizeof(gyre_stamp) == 32, "two a line");
_Static_assert(sizeof(gyre_express_line) == GYRE_LINE_SIZE, "one line");
_Static_assert(sizeof(gyre_queue_slots) == 56, "as devices load them");
_Static_assert(sizeof(gyre_place) == 16 && sizeof(gyre_bridge) == 48, "as devices load them");
_Static_assert(sizeof(gyre_bridge_words) == 128 && sizeof(gyre_bridge_track) == 128, "two lines");
_Static_assert(sizeof(gyre_control_handle) == 32, "two a line");
_Static_assert(sizeof(gyre_control_times) == 33 * 64, "whole lines");
_Static_assert(sizeof(gyre_control_region) == 256 + 128 * GYRE_QUEUES_MAX, "control region");
#endif

#endif
