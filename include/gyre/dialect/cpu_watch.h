/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the CPU backend's checks (backend.cpu.check) and a kernel file that was compiled for them. Such
 * a file calls the backend before each access of a handler to memory that other lanes or messages may see. Included by
 * dialect/c11_checked.h and by backends/cpu.
 *
 * Stability: none between versions; both sides compare GYRE_CPU_WATCH_VERSION.
 */
#ifndef GYRE_DIALECT_CPU_WATCH_H
#define GYRE_DIALECT_CPU_WATCH_H

#include "gyre/types.h"

#define GYRE_CPU_WATCH_VERSION 6

/** What a range of memory is. The backend watches none of the first sort: the handler's call has it to itself. */
enum {
    GYRE_SORT_OWN = 0,
    GYRE_SORT_REQUEST,
    GYRE_SORT_REPLY,
    GYRE_SORT_SCRATCH,
    GYRE_SORT_STATE,
    GYRE_SORT_BUFFER, /* bound, or named by a message */
    GYRE_SORT_FLOW,   /* memory of the flow */
    GYRE_SORT_EMITTED /* a message that the handler emits */
};

/** How memory is about to be touched. */
enum { GYRE_TOUCH_READS = 1, GYRE_TOUCH_WRITES = 2, GYRE_TOUCH_ATOMIC = 4 };

/** A range of memory that a handler may touch. */
typedef struct gyre_cpu_range {
    const gyre_u8 *from, *end;
    gyre_u64 item;    /* size of the items that an index counts */
    const char *name; /* NULL: the handler does not index this range. Not terminated */
    gyre_u32 length;  /* the name's length */
    gyre_u32 sort;    /* GYRE_SORT_... */
    /* NULL, or where the items were copied to: then the range is the range of the copy */
    const gyre_u8 *copy;
} gyre_cpu_range;

struct gyre_context;

/** The backend's functions for a watched handler. */
typedef struct gyre_cpu_watch {
    gyre_u32 version;
    /** One lane begins to handle a request of `size` bytes, and has ended; each lane of a block says so. */
    void (*begin)(struct gyre_context *context, const void *request, gyre_u64 size);
    void (*end)(struct gyre_context *context);
    /**
     * A lane is about to touch `size` bytes that lie in the range. `code`: the place in the handler. Returns where an atomic load is to
     * read: `at`, or a value that was there earlier.
     */
    const void *(*touch)(struct gyre_context *context, const gyre_cpu_range *range, const void *at,
                         gyre_u64 size, gyre_u32 how, const void *code);
    /** A lane is about to wait at a barrier. */
    void (*wait)(struct gyre_context *context, const void *code);
    /** A lane goes on at `code`, the begin of code without branches. Only files that are compiled for `traffic` say so. */
    void (*step)(struct gyre_context *context, const void *code);
    /** The handler asks for the number of its block, so it may have memory that is its block's own. */
    void (*block)(const struct gyre_context *context);
    /** A lane emits a message. Called before the place for it is looked for. */
    void (*emit)(struct gyre_context *context, const void *code);
    /** A lane asks for another call of the handler: it is about to return GYRE_MORE. */
    void (*more)(struct gyre_context *context, const void *code);
} gyre_cpu_watch;

/** Exported by watched files: takes the functions, and returns the version of this interface that the file has. */
typedef gyre_u32 (*gyre_cpu_watch_taker)(const gyre_cpu_watch *functions);
#define GYRE_CPU_WATCH_SYMBOL "gyre_cpu_watch_take"

#endif
