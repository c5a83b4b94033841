/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a block knows of its kernel as a stage: its links and entries, the run that it works on, and where it keeps that.
 * Included by cuda_link_find.h.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_VIEW_H
#define GYRE_DIALECT_CUDA_LINK_VIEW_H

#define GYRE_LINK_LOADS 4 /* 16-byte loads in flight of each thread */
/* most messages of a run that are handled one after the other. A run of tasks costs 9 us beside them */
#if GYRE_POOLS
#define GYRE_LINK_IN_TURN 64
#else
#define GYRE_LINK_IN_TURN 32
#endif
/*
 * inlets whose words are kept in shared memory; those of a pool are as many as its senders have blocks. With asks there are fewer: a
 * block kernel has 48 KiB for all that it shares
 */
#if GYRE_POOLS
#define GYRE_LINK_INLETS (GYRE_ASKS ? 80 : 160)
#else
#define GYRE_LINK_INLETS 64
#endif
#define GYRE_LINK_WIDE    64   /* the first inlets, of which a block knows whether long runs come */
#define GYRE_DRAIN_MOST   1024 /* messages of a window of a backlog */
#define GYRE_DRAIN_GROUPS (GYRE_DRAIN_MOST / 32)
#define GYRE_LINK_ROWS    8  /* rows of slots that a look reads at once */
#define GYRE_LINK_STREAM  4  /* requests found together that are called a stream */
#define GYRE_LINK_NARROW  2  /* slots that a look at an idle queue reads */
#define GYRE_LINK_LONG    32 /* messages of a run that is called long: behind it others are hoped for */
#define GYRE_LINK_BUNDLE                                                                                     \
    8 /* messages that one call may emit to a port from which on they are moved neighbour by neighbour */
/* the bits of an origin that say which flow it is */
#define GYRE_FLOW_KEY_(origin) ((origin) & (((gyre_u64)GYRE_ENTRIES_MAX << 32) - 1))
#define GYRE_LINK_PICKED       32 /* most messages of a run of a link by key */
/*
 * Clocks until a queue whose requests were all taken is read again: a read of slots that the host is about to fill takes their
 * lines away from it, and it fills them an order of magnitude slower.
 */
#ifndef GYRE_LINK_STAND_OFF
#define GYRE_LINK_STAND_OFF 3000
#endif
#define GYRE_LINK_BESIDE 4  /* runs of queues with many requests for each look at the other queues */
#define GYRE_LINK_ASIDE  64 /* looks at links for each look at a queue that enters no pipeline */
#define GYRE_LINK_ASKS   64 /* looks that found nothing between two looks at the order */
/* clocks between two looks of a busy block at the order: a look takes 2 us, and a run of tasks longer than the usual time */
#define GYRE_LINK_LOOK_CLOCKS_                                                                               \
    (GYRE_POOLS ? 4 * GYRE_CUDA_LOOK_CLOCKS : GYRE_ASKS ? 2 * GYRE_CUDA_LOOK_CLOCKS : GYRE_CUDA_LOOK_CLOCKS)
/* clocks: a run in turn that took less may be twice as long the next time */
#define GYRE_LINK_TURN_LEAST (GYRE_POOLS ? 200000 : 100000)

#define GYRE_ALL_LANES 0xffffffffu

/* A function that all kernels of a file share: its text is long, and it runs once a run of messages. */
#define GYRE_OUTLINE_ static __device__ __noinline__

enum gyre_run_from_ {
    GYRE_RUN_NONE = 0, /* there is another order */
    GYRE_RUN_QUEUE,    /* a queue that enters no pipeline */
    GYRE_RUN_ENTRY,
    GYRE_RUN_LINK,
    GYRE_RUN_DRAIN, /* the backlog of links->source */
    GYRE_RUN_LATER  /* nothing came for a while */
};

/** A port, with the block's own ring. */
struct gyre_link_out_ {
    gyre_link_ring *ring;
    gyre_u8 *slots;
    gyre_u64 *fetched; /* gyre_link_ring.fetched, or what stands in its place */
    gyre_u64 head, tail;
    gyre_u64 next; /* behind what a run in turn has placed so far */
    gyre_u32 mask, stride;
    gyre_u32 shift; /* a section has 1 << shift slots */
    gyre_u32 use;   /* enum gyre_port_use */
    gyre_u32 share; /* enum gyre_link_share */
    gyre_u32 placed,
        heard;    /* of a topic: what is emitted is put into this ring; a subscriber fetches from it */
    gyre_u32 far; /* as gyre_link_view_.far */
    gyre_cuda_port_type type;
#if GYRE_ASKS
    gyre_u32 talk, back, choice; /* as in the ring */
#endif
#if GYRE_POOLS
    gyre_u32 pool; /* gyre_link_ring.pool */
#endif
};

/** A subscriber of a topic, with the block's own ring. */
struct gyre_link_branch_ {
    gyre_link_out_ out;
    gyre_link_gate *gate; /* NULL: it is never cut off */
    gyre_u32 port, slow;  /* slow: enum gyre_branch_slow */
    gyre_u32 in_place;    /* what is emitted is put into this ring, so nothing is copied */
    gyre_u32 left;        /* of one that may miss messages: how many of the present run have room */
#if GYRE_LIMITED
    gyre_u32 is_client, reserved; /* not 0: a program, for whose messages no flow waits */
#endif
};

/**
 * A ring to fetch from. `next`: the first message that no block claimed, where only this block claims; where keys decide, the
 * first one that the block has not looked at.
 */
struct gyre_link_in_ {
    gyre_link_ring *ring;
    const gyre_u8 *slots;
    gyre_u64 next;
    gyre_u32 mask, stride;
    gyre_u32 share,
        talk; /* enum gyre_link_share, enum gyre_link_talk; without GYRE_ASKS no message asks or answers */
    gyre_u32 pool;     /* 0: the ring is of no pool; else gyre_link_ring.pool, with GYRE_POOL_OWNER_ */
    gyre_u64 *fetched; /* as in gyre_link_out_ */
#if GYRE_LEVELS
    gyre_u32 level; /* gyre_link_ring.level */
#endif
#if GYRE_CHOICES
    gyre_u32 choice; /* gyre_link_ring.choice */
#endif
};

#define GYRE_NEEDS_CARE_   (GYRE_FOREIGN_RING | GYRE_FOREIGN_REPLIES)
#define GYRE_NEEDS_SEALS_  0x100u
#define GYRE_NEEDS_STAMPS_ 0x200u

/** An entry of the pipeline: where its flows, replies and headers lie. */
struct gyre_link_entry_ {
    gyre_flow *flows; /* NULL: there is none of that number */
    gyre_u8 *replies;
    const gyre_u8 *headers;
    gyre_u64 serial;
    gyre_u32 reply_stride, header_size, queue;
    gyre_u32 needs; /* bits: GYRE_FOREIGN_ and GYRE_NEEDS_; 0: nothing that cuda_link_entry.h does */
    gyre_u32 shift; /* its queue has 1 << shift places */
    gyre_u64 lap;   /* gyre_flow_head.lap, as it was seen with the present window (cuda_link_drain.h) */
#if GYRE_LIMITED
    gyre_link_admission *admission; /* NULL: any number of flows may be under way */
    gyre_u8 *memory;                /* of the first flow, at this kernel */
    gyre_u32 memory_size, window, quota, reserved;
#endif
};

/** One place to fetch from. */
struct gyre_link_source_ {
    const gyre_u8 *slots;
    gyre_u64 next;
    gyre_u32 mask, stride;
    gyre_u32 entry;  /* 1 + the number of the entry whose queue it is; 0: it is a ring */
    gyre_u32 which;  /* the number of the queue in view->served, or of the ring among the inlets */
    gyre_u32 shared; /* other blocks fetch from the ring too */
};

/** The messages that the block handles together. */
struct gyre_link_run_ {
    gyre_u64 first, mask, drop_before;
    const gyre_u8 *slots;
    gyre_link_ring *ring; /* of a link */
    gyre_u32 from;        /* enum gyre_run_from_ */
    gyre_u32 count, stride;
    gyre_u32 which;  /* the queue's number in view->served; of a link: the inlet's number */
    gyre_u32 entry;  /* the entry's number in the table */
    gyre_u32 hoped;  /* nobody has looked whether they are there, which is seen when they are fetched */
    gyre_u32 picked; /* they are no neighbours: gyre_link_view_.picked says where they lie */
#if GYRE_POOLS
    gyre_u32
        stays; /* the place of the message is that of the next one that the block emits: nobody gets it back */
#endif
};

/** The words of a stage that the threads of a block share, in shared memory. */
struct gyre_link_view_ {
    gyre_block_view *view;
    const gyre_link_table *table; /* NULL: the kernel is in no pipeline */
    gyre_u32 port_count, inlet_count, answers;
    gyre_u32 far;     /* not 0: kernels of other devices are stages of the pipeline */
    gyre_u32 turn;    /* runs that were taken: where to look first */
    gyre_u32 in_turn; /* messages of the next run in turn, at most */
    gyre_u32 enters;  /* how many of the served queues enter the pipeline */
    gyre_u32 hopes;   /* runs may be hoped for */
    gyre_u32 apart;   /* the messages of a run are handled at the same time */
#if GYRE_KEYED
    gyre_u32 by_first; /* the kernel is a keyed actor: its first block takes from links for all blocks */
#endif
    gyre_u32 looks;       /* looks at several queues */
    gyre_u64 inlets_wide; /* a bit for each of the first inlets: its last run was long */
    gyre_u64 wide;        /* a bit for each queue: its last look found many requests */
    gyre_u64 waits;       /* clock: until then nothing is hoped for of queues */
    gyre_link_run_ run;
    gyre_link_source_ source; /* of a backlog */
    gyre_u32 drains;          /* backlogs are worked off by windows (cuda_link_drain.h) */
    gyre_u32 owed;            /* the present window of a backlog owes something to flows */
    gyre_u32 tight;           /* a backlog waits for room, which the long way looks for */
    gyre_u32 aside;           /* the long way looks at queues first: there was a backlog elsewhere for long */
    gyre_u32 found;           /* messages of the hoped run that are there */
    gyre_u32 needs;           /* what all entries need together (gyre_link_entry_) */
    gyre_u32 entry_count;
    gyre_u32 begun;                    /* enum gyre_begun_, of the message that the block handles together */
    gyre_u32 picked[GYRE_LINK_PICKED]; /* how far behind the first one each message of a picked run lies */
    gyre_served nowhere;               /* of messages of links: no stamps, no headers, no seals */
    gyre_u64 to[GYRE_LINK_IN_TURN];
    struct gyre_link_group_ *group; /* of kernels whose messages are handled in turn (cuda_link_group.h) */
    gyre_u32 totals[GYRE_PORTS_MAX * 16]; /* what each warp emits to each port */
    gyre_u32 marks[GYRE_PORTS_MAX *
                   GYRE_DRAIN_GROUPS]; /* of each port: which messages of a window emitted to it */
    gyre_link_out_ outs[GYRE_PORTS_MAX];
    gyre_u32 branch_count;
    gyre_link_branch_ branches[GYRE_BRANCHES_MAX];
    gyre_link_in_ inlets[GYRE_LINK_INLETS];
    gyre_link_entry_ entries[GYRE_ENTRIES_MAX];
    gyre_u8 entry_of
        [GYRE_QUEUES_MAX]; /* of each served queue: 1 + its entry's number; 0: it enters no pipeline */
#if GYRE_LIMITED
    gyre_u64 pipeline; /* its serial; 0: none */
    gyre_u64 *keeps;   /* in device memory: the serial of the pipeline whose message is kept; 0: none is */
    gyre_u8
        *own; /* device memory of the block: the message that is kept, and memory for messages of no flow */
    gyre_u64 origin; /* with which the message of the present run is kept */
    gyre_u32 again;  /* the message of the present run is to be handled again */
    gyre_u32 kept;   /* how often the handler was called with the message that is kept; 0: there is none */
    gyre_u32 heard;  /* programs hear what is emitted: places are zeroed first */
#endif
#if GYRE_ASKS
    gyre_chunk asks[GYRE_LINK_IN_TURN * (sizeof(gyre_link_ask) / 16)]; /* of the messages of the run */
    /* of the short way (cuda_link_talk.h) */
    gyre_u32 talk_rests;                        /* runs until the short way looks again */
    gyre_u32 talk_runs;                         /* of the short way that the block had to settle */
    gyre_u32 talk_last;                         /* gyre_talk_look_.last of the message that it took last */
    gyre_u32 talked;                            /* the handler of the run's message was called, */
    gyre_u32 talk_emitted[GYRE_PORTS_MAX];      /* and emitted so much to each port */
    gyre_chunk talk_staged[GYRE_PORTS_MAX * 8]; /* what is asked by each port, as it will lie in a ring */
    gyre_u32 talk_port, talk_length; /* where the message that leaves goes, and the length of its payload, */
    const gyre_chunk *talk_from;     /* which lies here */
#endif
};

/* ---- the device's own memory ---- */

/* Orders accesses for all blocks of a pipeline. `far`: of several devices, for which a fence takes longer. */
GYRE_HELPER void gyre_link_fence_(gyre_u32 far)
{
    if (far)
        gyre_fence_system_();
    else
        __threadfence();
}

GYRE_HELPER gyre_chunk gyre_near_chunk_load_(const void *from)
{
    gyre_chunk chunk;
    asm volatile("ld.relaxed." GYRE_NEAR_SCOPE_ ".global.v2.u64 {%0,%1},[%2];"
                 : "=l"(chunk.x), "=l"(chunk.y)
                 : "l"(from)
                 : "memory");
    return chunk;
}

GYRE_HELPER void gyre_near_chunk_store_(void *to, gyre_chunk chunk)
{
    asm volatile("st.relaxed." GYRE_NEAR_SCOPE_ ".global.v2.u64 [%0],{%1,%2};" ::"l"(to), "l"(chunk.x),
                 "l"(chunk.y)
                 : "memory");
}

GYRE_HELPER void gyre_near_store_(gyre_u64 *to, gyre_u64 value)
{
    asm volatile("st.relaxed." GYRE_NEAR_SCOPE_ ".global.u64 [%0],%1;" ::"l"(to), "l"(value) : "memory");
}

GYRE_HELPER void gyre_near_half_store_(gyre_u32 *to, gyre_u32 value)
{
    asm volatile("st.relaxed." GYRE_NEAR_SCOPE_ ".global.u32 [%0],%1;" ::"l"(to), "r"(value) : "memory");
}

GYRE_HELPER void gyre_near_add_(gyre_u64 *to, gyre_u64 value)
{
    asm volatile("red.relaxed." GYRE_NEAR_SCOPE_ ".global.add.u64 [%0],%1;" ::"l"(to), "l"(value) : "memory");
}

#include "gyre/dialect/cuda_link_lap.h"

/* Where a slot of a link has its sequence. */
GYRE_HELPER gyre_u32 *gyre_link_sequence_(const gyre_u8 *slots, gyre_u64 index, gyre_u32 mask,
                                          gyre_u32 stride)
{
    return &((gyre_link_slot *)(slots + (index & mask) * stride))->sequence;
}

/* The index in its ring or queue of message `number` of the run. */
GYRE_HELPER gyre_u64 gyre_link_index_(const gyre_link_view_ *links, const gyre_link_run_ &run,
                                      gyre_u32 number)
{
    return run.first + (run.picked ? links->picked[number] : number);
}

GYRE_HELPER gyre_u32 gyre_link_is_filled_(const gyre_link_in_ &in, gyre_u64 index)
{
    return gyre_near_half_load_(gyre_link_sequence_(in.slots, index, in.mask, in.stride)) ==
           (gyre_u32)(index + 1);
}

/* The lanes of this thread's warp: a block kernel may have fewer than 32. */
GYRE_HELPER gyre_u32 gyre_warp_lanes_()
{
    const gyre_u32 left = blockDim.x - (threadIdx.x & ~31u);
    return left < 32 ? (1u << left) - 1 : 0xffffffffu;
}

GYRE_HELPER gyre_u64 gyre_shuffle_(gyre_u32 mask, gyre_u64 value, gyre_u32 from)
{
    return __shfl_sync(mask, value, (int)from);
}

/* Makes the threads of a run meet: the first warp, or the block. */
GYRE_HELPER void gyre_link_meet_(gyre_u32 threads)
{
    if (threads == 32)
        __syncwarp();
    else
        __syncthreads();
}

/*
 * Whether a subscriber fetches from the port's own ring. Where lanes emit, that counts in files with GYRE_LIMITED alone: of an outlet,
 * whose ring nobody fetches from, they count what was sent.
 */
#if GYRE_LIMITED
#define GYRE_LINK_IS_HEARD_(branch, is_own) (is_own)
#define GYRE_LINK_IS_COUNTED_(out)          ((out)->use != GYRE_PORT_TOPIC || (out)->placed || !(out)->heard)
#else
#define GYRE_LINK_IS_HEARD_(branch, is_own) ((branch)->in_place)
#define GYRE_LINK_IS_COUNTED_(out)          (!((out)->use == GYRE_PORT_TOPIC && !(out)->placed))
#endif

/* ---- where a run is worked on ---- */

/*
 * Kernels that have memory of flows handle their messages in turn, because those of one flow share it. A kernel with ports whose
 * file has GYRE_MORE takes one message at a time. What such blocks keep lies in device memory, behind what is thrown away.
 */
#if GYRE_LIMITED
#define GYRE_LINK_JOINS_(K)   (gyre_flow_size_of_<K>::size > 0)
#define GYRE_LINK_REPEATS_(K) (GYRE_AGAIN && K::gyre_its_port_count_ > 0)
#define GYRE_LINK_OWN_PARTS                                                                                  \
    3 /* the message that is kept; memory of a tap's message; memory of a queue's message */
#define GYRE_LINK_OWN_SIZE ((1u << 16) + 256)
#else
#define GYRE_LINK_JOINS_(K)   false
#define GYRE_LINK_REPEATS_(K) false
#define GYRE_LINK_OWN_PARTS   0
#define GYRE_LINK_OWN_SIZE    0
#endif

/** Constants of a kernel as a stage. */
template <class K> struct gyre_link_shape_ {
    static __device__ __forceinline__ constexpr gyre_u32 stride_of(int port)
    {
        return (GYRE_SLOT_HEADER_SIZE + K::gyre_its_ports_::of(port).size + 15) / 16 * 16;
    }
    /* Bytes that one call may emit before port `port`, or in all. */
    static __device__ __forceinline__ constexpr gyre_u64 offset_of(int port)
    {
        gyre_u64 bytes = 0;
        for (int i = 0; i < port; i++)
            bytes += (gyre_u64)K::gyre_its_ports_::of(i).most * stride_of(i);
        return bytes;
    }
    enum : gyre_u32 {
        ports = K::gyre_its_port_count_,
        pitch = GYRE_CUDA_EMITS(offset_of(K::gyre_its_port_count_)), /* of what lanes emit */
        cell_bytes = gyre_stage_<K>::cell * 16,
        scratch_bytes = gyre_stage_<K>::scratch_chunks * 16,
        /* a place for what is thrown away, large enough for any message */
        thrown_bytes = (1u << 16) + 256,
        far_bytes = GYRE_CUDA_STAGE_SIZE - thrown_bytes - GYRE_LINK_OWN_PARTS * GYRE_LINK_OWN_SIZE
    };
    /* whether messages are handled one after the other: also where one call may emit more than the stage holds */
    static constexpr bool in_turn = K::gyre_its_kernel_form_ != 1 ||
                                    GYRE_CUDA_EMITS(offset_of(K::gyre_its_port_count_)) + cell_bytes >
                                        far_bytes ||
                                    GYRE_LINK_JOINS_(K) || GYRE_LINK_REPEATS_(K) || GYRE_ASKS;
    /* whether shared memory has room for what the lanes of a warp emit, on every device of the architecture (linked_size in cuda_shape.c) */
    static constexpr bool emits_near =
        !in_turn && (GYRE_CUDA_EMITS(offset_of(K::gyre_its_port_count_)) + cell_bytes) * 32 <=
                        GYRE_CUDA_ROOM(__CUDA_ARCH__);
};

/*
 * Whether a block may fetch messages before it knows that they are there: each lies in one line, which a quad of lanes or fewer
 * reads by one instruction, together with its sequence.
 */
template <class K> GYRE_HELPER constexpr bool gyre_link_hopes_()
{
    return !GYRE_LIMITED && !gyre_link_shape_<K>::in_turn &&
           gyre_stage_<K>::request_chunks <= GYRE_LINE_SIZE / 16;
}

/** Where the block keeps a run. */
struct gyre_link_places_ {
    gyre_chunk *cells;
    gyre_u8 *emitted; /* of each thread, one behind the other; lane kernels only */
    gyre_u8 *thrown;
    gyre_u32 window; /* messages that fit */
};

template <class K>
GYRE_HELPER gyre_link_places_ gyre_link_places_of_(const gyre_cuda_arguments &arguments, gyre_chunk *memory)
{
    typedef gyre_link_shape_<K> shape;
    const gyre_u64 emits = shape::in_turn ? 0 : shape::pitch, cell = shape::cell_bytes;
#if GYRE_GRID /* the blocks of a grid kernel see its messages in device memory */
    const gyre_u64 room =
        K::gyre_its_kernel_form_ == 5 && gridDim.x > 1 ? 0 : gyre_dynamic_size_() - shape::scratch_bytes;
#else
    const gyre_u64 room = gyre_dynamic_size_() - shape::scratch_bytes;
#endif
    const gyre_u32 wanted = GYRE_LINK_REPEATS_(K) ? 1 : shape::in_turn ? GYRE_LINK_IN_TURN : blockDim.x;
    gyre_u8 *const near = (gyre_u8 *)memory + shape::scratch_bytes;
    gyre_u8 *const far = arguments.stage + (gyre_u64)blockIdx.x * GYRE_CUDA_STAGE_SIZE;
    gyre_link_places_ places;
    places.thrown = far + shape::far_bytes;
    const gyre_u64 few = wanted < 32 ? wanted : 32, each = cell + emits;
    gyre_u64 window = wanted;
    /* With emits_near `emitted` is said to be shared memory: if it could lie in `far`, the compiler took `thrown` for such, too. */
    if (shape::emits_near || each * few <= room) {
        window = each * window <= room ? window : room / each;
        places.cells = (gyre_chunk *)near;
        places.emitted = near + cell * window;
    } else if (cell * few <= room) {
        window = cell * window <= room ? window : room / cell;
        window = emits * window <= shape::far_bytes ? window : shape::far_bytes / (emits ? emits : 1);
        places.cells = (gyre_chunk *)near;
        places.emitted = far;
    } else {
        window = each * window <= shape::far_bytes ? window : shape::far_bytes / each;
        places.cells = (gyre_chunk *)far;
        places.emitted = far + cell * window;
    }
    places.window = (gyre_u32)window;
    return places;
}

/* ---- opening ---- */

/* The shift of a section of a ring. */
GYRE_HELPER gyre_u32 gyre_link_shift_(gyre_u32 mask)
{
    return (gyre_u32)__popc(mask / GYRE_LINK_SECTIONS);
}

/* Where the fetched messages of a ring are counted. */
GYRE_HELPER gyre_u64 *gyre_link_counts_(gyre_link_ring *ring)
{
    const gyre_u64 credit = gyre_near_load_(&ring->credit);
    return credit ? (gyre_u64 *)credit : ring->fetched;
}

/* The same for the ring of inlet `number`. */
GYRE_HELPER gyre_u64 *gyre_link_counts_of_(const gyre_link_view_ *links, gyre_link_ring *ring,
                                           gyre_u32 number)
{
    return number < GYRE_LINK_INLETS ? links->inlets[number].fetched : gyre_link_counts_(ring);
}

/* `rings`: the address of the first of the kernel's rings. */
GYRE_HELPER void gyre_link_open_ring_(gyre_link_out_ *out, gyre_u64 rings)
{
    out->ring = (gyre_link_ring *)rings + blockIdx.x;
    out->slots = (gyre_u8 *)gyre_near_load_(&out->ring->slots);
    out->fetched = gyre_link_counts_(out->ring);
    out->mask = gyre_near_half_load_(&out->ring->capacity) - 1;
    out->shift = gyre_link_shift_(out->mask);
    out->stride = gyre_near_half_load_(&out->ring->stride);
    out->share = gyre_near_half_load_(&out->ring->share);
#if GYRE_POOLS
    out->pool = gyre_near_half_load_(&out->ring->pool);
#endif
    out->head = out->next = gyre_near_load_(&out->ring->head);
    out->tail = gyre_near_load_(&out->ring->tail);
#if GYRE_ASKS
    out->talk = gyre_near_half_load_(&out->ring->talk);
    out->back = gyre_near_half_load_(&out->ring->back);
    out->choice = gyre_near_half_load_(&out->ring->choice);
#endif
}

GYRE_OUTLINE_ void gyre_link_open_out_(gyre_link_view_ *links, gyre_u32 number, gyre_cuda_port_type type)
{
    gyre_link_out_ *out = &links->outs[number];
    const gyre_link_port *port = &links->table->ports[number];
    *out = {0, 0, 0, 0, 0, 0, 0, 0, 0, GYRE_PORT_UNWIRED, 0, 0, 0, links->far, type};
    if (!links->table || number >= gyre_near_half_load_(&links->table->port_count))
        return;
    out->use = gyre_near_half_load_(&port->use);
    if (out->use == GYRE_PORT_UNWIRED)
        return;
    gyre_link_open_ring_(out, gyre_near_load_(&port->rings));
}

/*
 * How many blocks take messages from links, which of them a message of a ring goes to (enum gyre_link_share), and where a block reads
 * the table of links. The first block of a keyed actor takes for all of them, and their table of keys says which one handles a message.
 */
#if GYRE_KEYED
#define GYRE_LINK_TAKERS_(links)      ((links)->by_first ? 1u : gridDim.x)
#define GYRE_LINK_SHARE_(links, ring) ((links)->by_first ? 0u : gyre_near_half_load_(&(ring)->share))
#define GYRE_LINK_TABLE_(links, arguments)                                                                   \
    ((links)->by_first ? gyre_near_load_(&(arguments).relay->links)                                          \
                       : gyre_word_load_(&(arguments).control->command.links))
#define GYRE_LINK_KEEPS_NOTHING_(links) ((links)->by_first)
#else
#define GYRE_LINK_TAKERS_(links)           gridDim.x
#define GYRE_LINK_SHARE_(links, ring)      gyre_near_half_load_(&(ring)->share)
#define GYRE_LINK_TABLE_(links, arguments) gyre_word_load_(&(arguments).control->command.links)
#define GYRE_LINK_KEEPS_NOTHING_(links)    0
#endif

/* This block's window of an inlet. */
GYRE_HELPER gyre_link_window *gyre_link_window_(const gyre_link_view_ *links, gyre_u32 number)
{
    const gyre_link_inlet *inlet = (const gyre_link_inlet *)(links->table + 1) + number;
    return (gyre_link_window *)gyre_near_load_(&inlet->windows) + blockIdx.x;
}

/*
 * Adds the subscribers of the topic that a port leads to. What is emitted by kernels whose messages are handled in turn lies in the
 * port's own ring, which may be that of a subscriber; lanes emit elsewhere, so all subscribers get copies. Called by one thread.
 */
GYRE_OUTLINE_ void gyre_link_open_topic_(gyre_link_view_ *links, gyre_u32 number)
{
    gyre_link_out_ *out = &links->outs[number];
    if (out->use != GYRE_PORT_TOPIC)
        return;
    const gyre_link_topic *topic =
        (const gyre_link_topic *)gyre_near_load_(&links->table->ports[number].control);
    const gyre_u32 count = gyre_near_half_load_(&topic->branch_count);
    const gyre_u64 own = gyre_near_load_(&links->table->ports[number].rings);
    out->placed = !links->apart;
#pragma unroll 1
    for (gyre_u32 i = 0; i < count && links->branch_count < GYRE_BRANCHES_MAX; i++) {
        const gyre_link_branch *from = (const gyre_link_branch *)(topic + 1) + i;
        gyre_link_branch_ *branch = &links->branches[links->branch_count++];
        const gyre_u64 rings = gyre_near_load_(&from->rings);
        branch->out = *out;
        branch->out.use = GYRE_PORT_LINKED;
        gyre_link_open_ring_(&branch->out, rings);
        branch->gate = (gyre_link_gate *)gyre_near_load_(&from->gate);
        branch->slow = gyre_near_half_load_(&from->slow);
        branch->port = number;
        branch->in_place = out->placed && rings == own;
        branch->left = 0;
#if GYRE_LIMITED
        branch->is_client = gyre_near_half_load_(&from->is_client);
        links->heard |= branch->is_client;
#endif
        out->heard |= GYRE_LINK_IS_HEARD_(branch, rings == own);
    }
}

#if GYRE_ASKS
#define GYRE_LINK_TALK_(ring)          gyre_near_half_load_(&(ring)->talk)
#define GYRE_LINK_OPEN_ANSWERS_(links) gyre_link_open_answers_(links)

/* Opens the ports by which answers go back, which lie behind the kernel's own ones. Called by one thread. */
GYRE_OUTLINE_ void gyre_link_open_answers_(gyre_link_view_ *links)
{
    const gyre_u32 declared = links->port_count,
                   all = links->table ? gyre_near_half_load_(&links->table->port_count) : 0;
#pragma unroll 1
    for (gyre_u32 i = declared; i < all && i < GYRE_PORTS_MAX; i++) {
        gyre_link_open_out_(links, i, {0, 0, 1, 0});
        links->port_count = i + 1;
    }
}
#else
#define GYRE_LINK_TALK_(ring)          0
#define GYRE_LINK_OPEN_ANSWERS_(links) ((void)0)
#endif

#if GYRE_POOLS
#define GYRE_POOL_OWNER_SHIFT_   24
#define GYRE_POOL_OWNER_(number) ((number) << GYRE_POOL_OWNER_SHIFT_)

/* What a ring is of a pool: gyre_link_ring.pool and, if the block emits into it, 1 + the number of the port. */
GYRE_OUTLINE_ gyre_u32 gyre_pool_of_ring_(const gyre_link_view_ *links, const gyre_link_ring *ring)
{
    const gyre_u32 pool = gyre_near_half_load_(&ring->pool);
#pragma unroll 1
    for (gyre_u32 i = 0; pool && i < links->port_count; i++)
        if (links->outs[i].ring == ring && links->outs[i].use == GYRE_PORT_LINKED)
            return pool | GYRE_POOL_OWNER_(i + 1);
    return pool;
}
#endif

/* Reads an inlet from the table. */
GYRE_HELPER gyre_link_in_ gyre_link_in_load_(const gyre_link_view_ *links, gyre_u32 number)
{
    const gyre_link_inlet *inlet = (const gyre_link_inlet *)(links->table + 1) + number;
    gyre_link_in_ in;
    in.ring = (gyre_link_ring *)gyre_near_load_(&inlet->ring);
    in.slots = (const gyre_u8 *)gyre_near_load_(&in.ring->slots);
    in.mask = gyre_near_half_load_(&in.ring->capacity) - 1;
    in.stride = gyre_near_half_load_(&in.ring->stride);
    in.share = GYRE_LINK_SHARE_(links, in.ring);
    in.talk = GYRE_LINK_TALK_(in.ring);
#if GYRE_POOLS
    in.pool = gyre_pool_of_ring_(links, in.ring);
#else
    in.pool = 0;
#endif
    in.fetched = gyre_link_counts_(in.ring);
#if GYRE_LEVELS
    in.level = gyre_near_half_load_(&in.ring->level);
#endif
#if GYRE_CHOICES
    in.choice = gyre_near_half_load_(&in.ring->choice);
#endif
    in.next = gyre_near_load_(in.share ? &gyre_link_window_(links, number)->next : &in.ring->claimed);
    return in;
}

#if GYRE_LIMITED
/* Reads what limits the flows of an entry, and where they have memory at this kernel. */
GYRE_HELPER void gyre_link_open_limits_(const gyre_link_entry *from, gyre_link_entry_ *entry)
{
    if (!entry->flows)
        return;
    const gyre_flow_head *head = (const gyre_flow_head *)entry->flows - 1;
    const gyre_u32 quota = gyre_near_half_load_(&head->quota);
    entry->admission = (gyre_link_admission *)gyre_near_load_(&head->admission);
    entry->window = entry->admission ? gyre_near_half_load_(&entry->admission->window) : 0;
    entry->quota = quota ? quota : 0xffffffffu;
    entry->memory_size = gyre_near_half_load_(&head->memory_size);
    entry->memory = (gyre_u8 *)gyre_near_load_(&head->memory) + gyre_near_half_load_(&from->memory);
}
#endif

GYRE_HELPER void gyre_link_open_entry_(gyre_link_view_ *links, gyre_u32 number)
{
    const gyre_link_entry *from = &links->table->entries[number];
    gyre_link_entry_ *entry = &links->entries[number];
    const gyre_u64 region = gyre_near_load_(&from->region);
    const gyre_u64 headers = gyre_near_load_(&from->slots.headers_offset);
    entry->flows = (gyre_flow *)gyre_near_load_(&from->flows);
    entry->replies = (gyre_u8 *)region + gyre_near_load_(&from->slots.reply_offset);
    entry->headers = headers ? (const gyre_u8 *)region + headers : 0;
    entry->serial = gyre_near_load_(&from->serial);
    entry->reply_stride = gyre_near_half_load_(&from->slots.reply_stride);
    entry->header_size = gyre_near_half_load_(&from->slots.header_size);
    entry->queue = gyre_near_half_load_(&from->queue);
    entry->shift = (gyre_u32)__popcll(gyre_near_load_(&from->slots.capacity) - 1);
    entry->lap = 0;
    const gyre_u32 more = gyre_near_half_load_((const gyre_u32 *)&from->slots.sealed);
    entry->needs = (more >> 8 & GYRE_NEEDS_CARE_) | (more & 0xffu ? GYRE_NEEDS_SEALS_ : 0) |
                   (gyre_near_load_(&from->slots.stamps_offset) ? GYRE_NEEDS_STAMPS_ : 0);
    if (headers && entry->needs & GYRE_FOREIGN_RING) /* the copies of them */
        entry->headers = (const gyre_u8 *)(entry->flows + gyre_near_load_(&from->slots.capacity));
    if (entry->flows && entry->needs)
        atomicOr(&links->needs, entry->needs);
#if GYRE_LIMITED
    gyre_link_open_limits_(from, entry);
#endif
}

#if GYRE_LIMITED
/* Finds which pipeline it is, and whether a message of it is kept from before. Called by one thread, behind the entries. */
GYRE_OUTLINE_ void gyre_link_open_kept_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                        gyre_u32 entries)
{
    links->again = links->kept = 0;
    if (GYRE_LINK_KEEPS_NOTHING_(links)) /* the words behind `arrived` are for something else */
        return;
    links->keeps = arguments.arrived + gridDim.x + blockIdx.x;
    links->pipeline = 0;
#pragma unroll 1
    for (gyre_u32 i = 0; i < entries && !links->pipeline; i++)
        if (links->entries[i].flows)
            links->pipeline = gyre_near_load_(&((const gyre_flow_head *)links->entries[i].flows - 1)->serial);
    const gyre_u64 serial = gyre_near_load_(links->keeps);
    links->kept =
        serial && serial == links->pipeline ? gyre_near_half_load_((const gyre_u32 *)links->own) : 0;
    if (!links->kept)
        gyre_near_store_(links->keeps, 0);
}
#endif

/* Finds the entry that a served queue is. */
GYRE_HELPER gyre_u32 gyre_link_entry_of_(const gyre_cuda_arguments &arguments, const gyre_link_view_ *links,
                                         const gyre_served *queue)
{
    const gyre_u64 serial = gyre_near_load_(&arguments.relay->rows[queue->entry].row.serial);
    for (gyre_u32 i = 0; i < links->entry_count; i++)
        if (links->entries[i].flows && links->entries[i].queue == queue->entry &&
            links->entries[i].serial == serial)
            return i + 1;
    return 0;
}

/* A queue of the block is that entry: its lap is known to all stages before they get a message of it. Called by one thread. */
GYRE_HELPER void gyre_link_enter_by_(gyre_link_view_ *links, const gyre_link_entry_ *entry,
                                     const gyre_served *queue)
{
    atomicAdd(&links->enters, 1u);
    atomicMax_system(&gyre_entry_head_(entry)->lap, gyre_near_load_(&queue->claims->next) >> entry->shift);
    gyre_link_fence_(links->far);
}

/*
 * Takes up the table that the control region names now. The block has acknowledged the order that announced it, or an
 * earlier one: a table that is newer than the order stays until the block obeys the next order. Called by one thread.
 */
GYRE_OUTLINE_ void gyre_link_open_table_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                         gyre_link_view_ *links, gyre_u32 port_count)
{
    links->view = view;
    links->table = (const gyre_link_table *)GYRE_LINK_TABLE_(links, arguments);
    links->port_count = port_count;
    links->inlet_count = links->table ? gyre_near_half_load_(&links->table->inlet_count) : 0;
    links->entry_count = links->table ? gyre_near_half_load_(&links->table->entry_count) : 0;
    const gyre_u32 does = links->table ? gyre_near_half_load_(&links->table->answers) : 0;
    links->answers = does & GYRE_TABLE_ANSWERS;
    links->far = does & GYRE_TABLE_FAR;
#if GYRE_ASKS
    links->talk_rests = links->talk_runs = links->talk_last = links->talked = 0;
#endif
    /* A kernel that comes back again and again begins with another queue each time. */
    links->turn = (gyre_u32)clock64();
    links->enters = links->looks = links->inlets_wide = 0;
    links->tight = links->aside = links->needs = links->owed = 0;
    links->wide = links->waits = 0;
    links->branch_count = 0;
    links->run = {};
    links->in_turn = 1;
    links->nowhere = {};
#if GYRE_LIMITED
    links->heard = 0;
#endif
}

/* Reads the table's inlets and entries, and finds the entries among the served queues. Called by all threads. */
GYRE_OUTLINE_ void gyre_link_open_rest_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links)
{
    const gyre_u32 first = threadIdx.x, step = blockDim.x;
    const gyre_u32 entries = links->entry_count;
#pragma unroll 1
    for (gyre_u32 i = first; i < links->inlet_count && i < GYRE_LINK_INLETS; i += step)
        links->inlets[i] = gyre_link_in_load_(links, i);
#pragma unroll 1
    for (gyre_u32 i = first; i < entries; i += step)
        gyre_link_open_entry_(links, i);
    __syncthreads();
#if GYRE_LIMITED
    if (first == 0)
        gyre_link_open_kept_(arguments, links, entries);
#endif
#pragma unroll 1
    for (gyre_u32 i = first; i < links->view->queue_count; i += step) {
        const gyre_served *queue = &links->view->served[i];
        const gyre_u32 entry = gyre_link_entry_of_(arguments, links, queue);
        links->entry_of[i] = (gyre_u8)entry;
        if (entry)
            gyre_link_enter_by_(links, &links->entries[entry - 1], queue);
    }
}

/* Opens the kernel's links and entries. Called by all threads. */
template <class K>
GYRE_HELPER void gyre_link_open_(const gyre_cuda_arguments &arguments, gyre_block_view *view,
                                 gyre_link_view_ *links)
{
    if (threadIdx.x == 0) {
        gyre_link_open_table_(arguments, view, links, K::gyre_its_port_count_);
        links->hopes = gyre_link_hopes_<K>();
        links->apart = !gyre_link_shape_<K>::in_turn;
#if GYRE_LIMITED
        links->own = arguments.stage + (gyre_u64)blockIdx.x * GYRE_CUDA_STAGE_SIZE +
                     gyre_link_shape_<K>::far_bytes + gyre_link_shape_<K>::thrown_bytes;
#endif
#pragma unroll
        for (int i = 0; i < (int)K::gyre_its_port_count_; i++)
            gyre_link_open_out_(links, (gyre_u32)i, K::gyre_its_ports_::of(i));
        GYRE_LINK_OPEN_ANSWERS_(links);
#pragma unroll 1
        for (int i = 0; i < (int)K::gyre_its_port_count_; i++)
            gyre_link_open_topic_(links, (gyre_u32)i);
    }
    __syncthreads();
    gyre_link_open_rest_(arguments, links);
    __syncthreads();
}

/* The queue that the run came by; for a run of a link, one that has nothing of a queue. */
GYRE_HELPER const gyre_served *gyre_link_queue_(const gyre_link_view_ *links)
{
    return links->run.from == GYRE_RUN_QUEUE ? &links->view->served[links->run.which] : &links->nowhere;
}

#endif
