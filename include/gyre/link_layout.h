/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared-memory layouts of links: what a kernel's blocks read and write when the kernel is a stage of a pipeline.
 * One text for host C and all kernel dialects. Included by the core, by backends and by device code; applications never
 * need it.
 *
 * The protocol in short. A port of a kernel is joined by a link to another kernel, the link's target. Each block of the
 * sending kernel has a ring of its own for each of its ports; only this block writes into it. The target's blocks claim
 * messages of a ring in runs, handle them where they lie, and count them as fetched. A block begins a message only when
 * each of its rings has room for all that one call may emit, so emitting never waits.
 *
 * A flow is everything that one request of a client causes, until its one completion. Each message of a link says which
 * flow it belongs to (its origin). A message that is the only one of its flow says so (GYRE_ORIGIN_SOLE); else the flow
 * counts its messages, in its entry of the table of flows. Who handles the last message of a flow completes the request,
 * in the reply slot of the queue that the request came in.
 *
 * A port may lead to a topic, which has several subscribers: each has rings of its own, as if it were the only one. The handler
 * emits into the rings of one of them, and what it emitted is copied into the others' rings. A subscriber that holds nobody up
 * misses what its ring has no room for. A message for a tap, and whatever the tap emits, says GYRE_ORIGIN_TAP: it belongs to no
 * flow, which may be settled already.
 *
 * A port may lead to a pool, whose members are several kernels: any block of any of them takes a message of the port's rings, one
 * at a time. Where the sending kernel is a member, a block takes what it emitted itself first, and other blocks steal from it.
 *
 * A port may ask (ASK in kernel.h): then the kernel that it leads to, when its handler replies to such a message, sends the reply
 * back to the asker's kernel, by a ring of its own for each ask that leads to it. These rings are those of further ports, behind
 * the ports that the kernel declares. What is asked says whom the answer goes to, and what whoever asked was asked itself: so a
 * kernel that asks before it answers knows afterwards whom it owes its answer (gyre_link_ask). A flow counts the asks of its
 * messages that are not answered.
 *
 * Links may form cycles. Then no ring of a cycle may ever be full for good: the flows that are under way at once, and the
 * messages of each that are alive, are limited so that they fit any ring of the cycle (gyre_link_admission). A flow that exceeds
 * its quota fails, and the handlers of its other messages are not called.
 *
 * One writer per cache line, as in ring_layout.h; each struct names its writers.
 *
 * Stability: part of the backend ABI; a change bumps GYRE_ABI_MAJOR.
 */
#ifndef GYRE_LINK_LAYOUT_H
#define GYRE_LINK_LAYOUT_H

#include "gyre/ring_layout.h"

#define GYRE_PORTS_MAX     8     /* ports of one kernel */
#define GYRE_PORT_MOST_MAX 4096  /* messages that one call may emit to a port */
#define GYRE_LINK_SECTIONS 16    /* parts of a ring, whose fetched messages are counted together */
#define GYRE_FLOW_SIZE_MAX 65536 /* bytes of memory that a flow has at one kernel (GYRE_FLOW) */
#define GYRE_ENTRIES_MAX   64    /* queues through which clients use a pipeline */
#define GYRE_BRANCHES_MAX  64    /* subscribers of all topics that one kernel sends to */
#define GYRE_ASKS_DEEP     7     /* asks that wait for each other: each was made to answer the one before */

/** The header of a link's slot; the payload follows it. Written last: `sequence`. */
typedef struct gyre_link_slot {
    gyre_u64 origin;   /* GYRE_ORIGIN_... */
    gyre_u32 length;   /* bytes of payload */
    gyre_u32 sequence; /* the low half of index + 1 when filled */
} gyre_link_slot;

/**
 * What stands between the header of a slot and the payload in a ring whose messages ask or answer (gyre_link_ring.talk).
 * `returns` has the asks that wait for each other, the latest last: of a message that asks, that is the ask itself.
 */
typedef struct gyre_link_ask {
    gyre_u32 token; /* of an answer: what the asker called its ask; else 0 */
    gyre_u32 depth; /* how many of `returns` count */
    struct {
        gyre_u32
            port; /* of the kernel that was asked: the one behind its own ports that leads to the asker */
        gyre_u32 token;
    } returns[GYRE_ASKS_DEEP];
} gyre_link_ask;

enum gyre_link_talk {
    GYRE_TALK_TELLS = 0,   /* the messages have no gyre_link_ask */
    GYRE_TALK_ASKS = 1,    /* they ask the target */
    GYRE_TALK_ANSWERS = 2, /* they are what the target asked for */
    /*
     * only for a device with GYRE_LINKING_ROUNDS: each says that a flow, all of whose messages were handled, goes on with another round.
     * Its token is the round's number, its depth 0, and its payload zeros. Whoever handles the last message of a flow in which nobody
     * replied or failed sends one, unless nothing was emitted since the last one
     */
    GYRE_TALK_ROUNDS = 3
};

/*
 * An origin: the flow's place in the table of flows (bits 0 to 31), the number of the table (32 to 37), how many links
 * the message came by, at most GYRE_HOPS_MAX (48 to 61), whether the message was seen by a tap (62), and whether it is its flow's
 * only one (63). Bits 38 to 47 belong to the device. A device may put the lower bits of the request's lap there (GYRE_ORIGIN_LAP), which is
 * the request's index divided by the entry's capacity; then gyre_flow.index is written only for an entry whose client is another program.
 */
#define GYRE_ORIGIN_SOLE         ((gyre_u64)1 << 63)
#define GYRE_ORIGIN_TAP          ((gyre_u64)1 << 62)
#define GYRE_ORIGIN_PLACE(o)     ((gyre_u32)(o))
#define GYRE_ORIGIN_TABLE(o)     ((gyre_u32)((o) >> 32) & (GYRE_ENTRIES_MAX - 1))
#define GYRE_ORIGIN_LAP_SHIFT    38
#define GYRE_ORIGIN_LAP_BITS     9
#define GYRE_ORIGIN_LAP(lap)     (((gyre_u64)(lap) & ((1u << GYRE_ORIGIN_LAP_BITS) - 1)) << GYRE_ORIGIN_LAP_SHIFT)
#define GYRE_HOPS_MAX            0x3fff
#define GYRE_ORIGIN_HOPS(o)      ((gyre_u32)((o) >> 48) & GYRE_HOPS_MAX)
#define GYRE_ORIGIN_OF(t, place) ((gyre_u64)(t) << 32 | (place))
/** The origin, one link further; it never says SOLE. */
#define GYRE_ORIGIN_NEXT(o)                                                                                  \
    (((o) & ~GYRE_ORIGIN_SOLE) + ((gyre_u64)(GYRE_ORIGIN_HOPS(o) != GYRE_HOPS_MAX) << 48))

/** Which block of the target handles a message of a ring, where the target has several. */
enum gyre_link_share {
    GYRE_LINK_SHARE_ANY = 0,
    /* only for a device with GYRE_LINKING_KEYS: each block reads all messages, and handles those whose keys it owns: */
    GYRE_LINK_SHARE_KEY = 1,  /* by a hash of a field (key_hash.h), scaled to the blocks */
    GYRE_LINK_SHARE_TABLE = 2 /* as the target's table of keys says, which is a keyed actor */
};

/*
 * gyre_link_ring.pool: how many blocks of all members take messages of the ring (bits 0 to 15); whether the sending block is
 * one of them; and whether that one takes the newest message first, while the others take the oldest.
 */
#define GYRE_POOL_TAKERS(pool) ((pool)&0xffff)
#define GYRE_POOL_OWN          ((gyre_u32)1 << 16)
#define GYRE_POOL_NEWEST       ((gyre_u32)1 << 17) /* only with GYRE_POOL_OWN */

enum {
    GYRE_LEVEL_MAX = 3,   /* the highest level of a link */
    GYRE_LEVEL_TURNS = 16 /* runs that a block takes, one of which knows no levels */
};

/** A ring of a link. Its slots lie elsewhere, so that they begin at a line and may be large. */
typedef struct gyre_link_ring {
    /* constant */
    gyre_u64 slots;    /* address of slot 0 */
    gyre_u32 capacity; /* slots, a power of two of GYRE_LINK_SECTIONS at least */
    gyre_u32 stride;   /* bytes from slot to slot, a multiple of 16; no slot of up to a line crosses lines */
    gyre_u32 run;      /* of a ring in a cycle: messages that a block may claim at once; 0: as it likes */
    gyre_u32 talk;     /* enum gyre_link_talk; not 0 only for a device with GYRE_LINKING_ASKS (backend.h) */
    gyre_u32 back;     /* of a ring that asks: the port of the target by which the answers come back */
    /*
     * of one that answers, and, on a device with GYRE_LINKING_CHOICES, of one that neither asks nor answers: the number of the messages' type
     * among those that the target takes; 0: it takes one. Of one by which rounds begin: bytes of a message. Whether the sender puts
     * the number and the length in front of what a port emitted, as GYRE_PROTOCOL has them, or the target does, is the device's own matter
     */
    gyre_u32 choice;
    gyre_u32 share;                /* enum gyre_link_share */
    gyre_u32 key_offset, key_size; /* with GYRE_LINK_SHARE_KEY: where the field lies in a message */
    gyre_u32 pool;                 /* 0: the ring is of no pool; else GYRE_POOL_... */
    gyre_u64 key_seed[2];
    /* written by the target's blocks: the first message that no block has claimed; not in use where keys decide */
    gyre_u64 claimed;
    /*
     * with GYRE_POOL_NEWEST, in place of `claimed` and of the slots' sequences: the messages that no block has taken are those
     * from the lower half on, below the upper half. Other blocks raise the lower half; the sending block raises the upper one by
     * what it emits, and lowers it by what it takes itself. `head` is lowered with it
     */
    gyre_u64 ends;
    /*
     * constant; only for a device with GYRE_LINKING_TIMES. Not 0: the address of the ring's gyre_link_times, where the sender notes when
     * it sent each so manieth message, and the target's blocks count how long it waited for its handler
     */
    gyre_u64 times;
    /* constant; only for a device with GYRE_LINKING_LEVELS: of the target's rings those of higher levels come first; 0: the lowest */
    gyre_u32 level;
    gyre_u32 reserved_level;
    gyre_u64 reserved_claimed[4];
    /* written by the target's blocks: how many messages of each section of the ring were fetched, ever */
    gyre_u64 fetched[GYRE_LINK_SECTIONS];
    /* written by the sending block: where it writes next; below `tail` everything was fetched, in whole sections */
    gyre_u64 head, tail;
    gyre_u32 starved; /* not 0: the block is about to sleep, or sleeps, until there is room */
    gyre_u32 reserved_starved;
    gyre_u64 missed; /* messages of a topic that found no room, ever */
    /*
     * constant; only for a device with GYRE_TABLE_FAR. Not 0: the address of counts that are raised in place of `fetched`. They lie in
     * memory of the sender, which asks for them often, and the ring in memory of the target
     */
    gyre_u64 credit;
    gyre_u64 sent_times; /* constant: as `times`, for the sender */
    gyre_u64 reserved_head[2];
} gyre_link_ring;

/** When a message was sent. */
typedef struct gyre_link_sent {
    gyre_u64 number; /* its place in the ring, plus 1; written last */
    gyre_u64 sent_ns;
} gyre_link_sent;

/**
 * How long messages of a ring waited, from being sent until a handler began with them: those whose place is a multiple of `every`, a
 * power of two. The buckets are those of gyre_control_times.
 */
typedef struct gyre_link_times {
    /* constant */
    gyre_u32 every;
    gyre_u32
        places; /* of gyre_link_sent behind this struct, a power of two: message N has N / every, modulo this */
    gyre_u64 reserved[7];
    /* written by the target's blocks */
    gyre_u64 sum_ns;
    gyre_u64 reserved_sum[7];
    gyre_u64 buckets[GYRE_TIMES_BUCKETS];
    /* then `places` times gyre_link_sent, written by the sending block */
} gyre_link_times;

/**
 * The messages that a block of the target claimed and has not handled: one for each ring and block. It alone writes it. Where keys
 * decide, `next` is the first message that the block has not looked at. What lies below the ring's `tail` was handled by others.
 */
typedef struct gyre_link_window {
    gyre_u64 next, end;
    /* of a ring of a pool, whose blocks claim one message at a time: what the block took, ever, and what of it is stolen */
    gyre_u64 taken, stolen;
    gyre_u64 reserved[4];
} gyre_link_window;

/** A flow: one entry for each slot of an entry queue. */
typedef struct gyre_flow {
    /* of the request; written by the block that handles it. Where origins have laps, only of an entry whose client is another program */
    gyre_u64 index;
    gyre_u32 alive;    /* messages under way, unless only one is and says so */
    gyre_u32 answers;  /* handlers that replied; the first one's reply is in the reply slot */
    gyre_u32 failures; /* handlers that failed; the first one's failure is below */
    gyre_u32 length;   /* of the reply */
    gyre_failure failure;
    /*
     * of an entry whose client is another program (gyre_queue_slots.foreign): 1 from the block that takes the request until the
     * flow is settled. Such a client may fill a slot again too early: a request whose place is busy is passed over
     */
    gyre_u32 busy;
    gyre_u32 reserved_busy; /* 0: the host reads both as one word */
    gyre_u64 started_ns;    /* of an entry with stamps: when the request was taken */
    gyre_u32 over;          /* not 0: it exceeded its quota, so no handler is called for it any more */
    /* of a pipeline with asks (gyre_flow_head): asks less answers. Below 0: a handler answered twice */
    gyre_i32 asking;
    /* of a pipeline with rounds: how many began, and whether something was emitted in the present one */
    gyre_u32 rounds, stirred;
    gyre_u64 reserved[3];
} gyre_flow;

/** How many flows of a pipeline are under way, and may be. */
typedef struct gyre_link_admission {
    /* written by blocks that take requests, and by those that settle flows */
    gyre_u32 under_way;
    gyre_u32 reserved_under_way[15];
    /* constant */
    gyre_u32 window;        /* a block takes a request of an entry only while fewer flows are under way */
    gyre_u32 control_count; /* kernels that clients enter by */
    gyre_u64 reserved[7];
    gyre_u64 controls[GYRE_ENTRIES_MAX]; /* addresses of their control regions */
} gyre_link_admission;

/** What all flows of an entry have in common. Constant except `lap`. It lies right before the first of them. */
typedef struct gyre_flow_head {
    gyre_u64 admission;   /* address of the gyre_link_admission; 0: any number of flows may be under way */
    gyre_u32 quota;       /* messages of one flow that may be alive; 0: any number */
    gyre_u32 memory_size; /* bytes of memory of each flow, at all kernels together; whole lines */
    gyre_u64 memory;      /* address of the first flow's */
    gyre_u32 asks;        /* not 0: kernels of the pipeline ask, so gyre_flow.asking counts */
    gyre_u32 reserved_asks;
    gyre_u64 serial; /* of the pipeline: not 0, and no other one of this process has it */
    /* the lap of the latest request that was taken, about: blocks that take the first request of a lap raise it (GYRE_ORIGIN_LAP) */
    gyre_u64 lap;
    gyre_u64 reserved[2];
} gyre_flow_head;

/**
 * The table of flows of one entry queue, and where their completions go. Constant. Behind the flows of a queue with
 * GYRE_FOREIGN_RING lie copies of its headers, header_size bytes each: a stage sees a header as it was when the request was taken.
 */
typedef struct gyre_link_entry {
    gyre_u64 flows;  /* address of the first gyre_flow, behind the gyre_flow_head; 0: no queue here */
    gyre_u64 region; /* address of the queue's region */
    gyre_u64 serial; /* of the queue in the table of queues of its kernel; 0: it is another kernel's */
    gyre_u32 queue;  /* its number in that table */
    gyre_u32 memory; /* where this kernel's part of a flow's memory begins */
    gyre_queue_slots slots;
} gyre_link_entry;

enum gyre_port_use {
    GYRE_PORT_UNWIRED = 0, /* to emit is a failure */
    GYRE_PORT_LINKED = 1,
    GYRE_PORT_NOWHERE = 2, /* what is emitted is counted, and thrown away */
    GYRE_PORT_TOPIC = 3,   /* only for a device with GYRE_LINKING_TOPICS (backend.h) */
    GYRE_PORT_POOL =
        4 /* only for a device with GYRE_LINKING_POOLS and _SHARED; without the latter a pool is LINKED */
};

/** Where a port leads. Constant. */
typedef struct gyre_link_port {
    gyre_u64 rings; /* address of the first of one gyre_link_ring for each block of the sending kernel */
    gyre_u64
        control; /* address of the target's control region; of a topic, and of a pool: of its gyre_link_topic */
    gyre_u32 use;  /* enum gyre_port_use */
    gyre_u32 most; /* messages that one call may emit */
} gyre_link_port;

/** What a topic does when a subscriber's ring has no room. */
enum gyre_branch_slow {
    GYRE_BRANCH_WAIT = 0, /* the sender waits, as with a link */
    GYRE_BRANCH_DROP = 1, /* the subscriber misses the message */
    GYRE_BRANCH_CUT = 2,  /* the subscriber misses it, and every later one of the topic */
    GYRE_BRANCH_TAP = 3   /* as DROP, and flows do not wait for what the subscriber gets */
};

/** Whether a subscriber is cut off. A line of its own. Senders of the topic write it, once. */
typedef struct gyre_link_gate {
    gyre_u32 cut;
    gyre_u32 reserved[15];
} gyre_link_gate;

/** A subscriber of a topic, as one port sees it. Constant. */
typedef struct gyre_link_branch {
    gyre_u64 rings;   /* address of the first of one gyre_link_ring for each block of the sending kernel */
    gyre_u64 control; /* address of the subscriber's control region */
    gyre_u64 gate;    /* address of the subscriber's gyre_link_gate; 0 unless `slow` is CUT */
    gyre_u32 slow;    /* enum gyre_branch_slow */
    /*
     * only for a device with GYRE_LINKING_CLIENTS or _COPIES. Not 0: the subscriber is no kernel but a program. Its messages belong to no
     * flow, as those of a tap, whatever `slow` says. `control` is a region of which only the doorbell, `parked` and `parks`
     * count
     */
    gyre_u32 is_client;
} gyre_link_branch;

/**
 * A topic, as one port sees it. Constant. The port's own rings are those of a branch that waits, which are written in place. If
 * none does, they belong to nobody: what is emitted into them is copied to the branches, and thrown away. A pool has a branch for
 * each member, and all of them have the port's own rings.
 */
typedef struct gyre_link_topic {
    gyre_u32 branch_count, reserved;
    /* then branch_count times gyre_link_branch */
} gyre_link_topic;

/** A ring that a kernel fetches from. Constant. */
typedef struct gyre_link_inlet {
    gyre_u64 ring;    /* address of the gyre_link_ring */
    gyre_u64 windows; /* address of the first of one gyre_link_window for each block of this kernel */
    gyre_u64 control; /* address of the sending kernel's control region */
} gyre_link_inlet;

/**
 * Everything that a kernel needs to know as a stage of a pipeline. Constant: the host announces another table by another
 * address (gyre_control_command.links) and a new command, and frees the old one when all blocks obeyed.
 */
typedef struct gyre_link_table {
    gyre_u32 port_count; /* with those by which answers go back, behind the ports that the kernel declares */
    gyre_u32 inlet_count, entry_count;
    gyre_u32 answers; /* bits of gyre_table_does */
    gyre_link_port ports[GYRE_PORTS_MAX];
    gyre_link_entry entries[GYRE_ENTRIES_MAX];
    /* then inlet_count times gyre_link_inlet, then the topics of ports, each with its branches */
} gyre_link_table;

/** gyre_link_table.answers. */
enum gyre_table_does {
    GYRE_TABLE_ANSWERS = 1, /* what the kernel replies answers the client of the flow */
    /*
     * for a device with GYRE_LINKING_WORKER (backend.h): it is in a worker process: blocks say in gyre_control_block.working which
     * flow a handler is at
     */
    GYRE_TABLE_TELLS = 2,
    /* for a device that is let into another one's memory (peer.h): stages of the pipeline are on several such devices */
    GYRE_TABLE_FAR = 4
};

#define GYRE_LINK_TABLE_SIZE(inlets) (sizeof(gyre_link_table) + (inlets) * sizeof(gyre_link_inlet))

#if defined(GYRE_DIALECT_C) && !defined(__cplusplus)
_Static_assert(sizeof(gyre_link_slot) == GYRE_SLOT_HEADER_SIZE, "slot header");
_Static_assert(sizeof(gyre_link_ask) == 64, "one line");
_Static_assert(sizeof(gyre_link_ring) == 320, "five lines");
_Static_assert(sizeof(gyre_link_times) % 64 == 0, "whole lines");
_Static_assert(sizeof(gyre_link_window) == 64, "one line");
_Static_assert(sizeof(gyre_link_gate) == 64, "one line");
_Static_assert(sizeof(gyre_link_branch) == 32 && sizeof(gyre_link_topic) == 8, "words of 8 bytes");
_Static_assert(sizeof(gyre_flow) == 128, "two lines");
_Static_assert(sizeof(gyre_flow_head) == 64, "one line");
_Static_assert(__builtin_offsetof(gyre_link_admission, window) == 64, "a line of its own");
_Static_assert(__builtin_offsetof(gyre_flow, busy) % 8 == 0, "a word of its own");
#endif

#endif
