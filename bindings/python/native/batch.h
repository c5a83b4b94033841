/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the Python package does with queues. The module calls these functions without Python's global lock.
 *
 * A signal may raise an exception in Python between any two calls, so what has to be known afterwards is counted here: how
 * many completions of a queue are owed, and whether a call is at work in it. A wait ends at its deadline, and Python comes
 * again: between two waits it handles signals.
 *
 * Threads: any, where gyre.h allows several threads in one queue. Each function returns GYREPY_CLOSED, and does not touch
 * the object, once its gate is closed.
 */
#ifndef GYRE_BINDINGS_PYTHON_BATCH_H
#define GYRE_BINDINGS_PYTHON_BATCH_H

#include <gyre/attach.h>
#include <gyre/fields.h>
#include <gyre/gyre.h>
#include <gyre/pipeline.h>
#include <gyre/place.h>
#include <stdbool.h>

/* Beside the numbers of gyre_status. MORE: the slice of a wait is over, its time is not; Python looks for signals, and calls
 * again. */
enum { GYREPY_CLOSED = 100, GYREPY_MORE = 101 };
/* Messages in place were given, as with OK. WIDER: Python's array has to span more of the ring than it does. OTHER: no reply, or one
 * that may be shorter than its type, which needs an array of its own. */
enum { GYREPY_WIDER = 102, GYREPY_OTHER = 103 };

/** Who is at work in an object. Python owns the memory, which outlives the object. */
typedef struct gyrepy_gate {
    uint32_t busy, closed; /* calls at work; 1: no further call may begin */
} gyrepy_gate;

/** Lets no further call begin. True when none is at work: the object may be freed then. */
int gyrepy_close(gyrepy_gate *gate);

/** A kernel, for the functions of gyre.h with the same last word. */
typedef struct gyrepy_kernel {
    gyre_kernel *kernel;
    gyrepy_gate gate;
} gyrepy_kernel;

int gyrepy_kernel_info(gyrepy_kernel *kernel, gyre_kernel_info *info);
int gyrepy_kernel_state_read(gyrepy_kernel *kernel, void *state, size_t size);
int gyrepy_kernel_key_read(gyrepy_kernel *kernel, const char *key, void *state, size_t size);
int gyrepy_kernel_activate(gyrepy_kernel *kernel, uint64_t deadline_ns);
int gyrepy_kernel_deactivate(gyrepy_kernel *kernel, uint64_t deadline_ns);
int gyrepy_kernel_terminate(gyrepy_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled);

/** A queue and its users. */
typedef struct gyrepy_lane {
    gyre_queue *queue;
    uint64_t owed; /* requests that were sent, and whose completions were not received */
    gyrepy_gate gate;
    uint32_t in_place; /* reservations and peeks that are open */
} gyrepy_lane;

/** gyre_send_batch; *sent (may be NULL) is how many were accepted. */
int gyrepy_send(gyrepy_lane *lane, const void *requests, size_t size, size_t count, size_t *sent,
                uint64_t deadline_ns);
/** gyre_receive_batch; *received (may be NULL) is how many came. */
int gyrepy_receive(gyrepy_lane *lane, void *replies, size_t size, size_t count, gyre_completion *completions,
                   size_t *received, uint64_t deadline_ns);
/** Sends one request unless something is owed, and receives the next completion, or MORE. Nobody else may use the lane. */
int gyrepy_exchange(gyrepy_lane *lane, const void *request, size_t request_size, void *reply,
                    size_t reply_size, gyre_completion *completion, uint64_t deadline_ns);

/**
 * The part of a ring that Python has as one array, `count` messages that are `stride` bytes apart, and the block that was given in
 * it: those from `begin` on, up to `end`. So a block is a slice of an array that is there already. Begins as zeros, and grows with what
 * is given. Only messages of blocks may be touched: between them may be whatever lies between two of them.
 */
typedef struct gyrepy_window {
    uintptr_t first;
    size_t count, stride, begin, end;
} gyrepy_window;

/** Requests in place: `count` of them. */
typedef struct gyrepy_slots {
    size_t count;
    gyrepy_window window;
} gyrepy_slots;

/**
 * gyre_reserve for at most `count` requests, or MORE; zeroes the first `size` bytes of each. `least`, unless 0, becomes its first
 * word, as gyre_begin does. With OK and WIDER, *out is written, and gyrepy_commit is owed.
 */
int gyrepy_reserve(gyrepy_lane *lane, size_t size, uint32_t least, size_t count, gyrepy_slots *out,
                   uint64_t deadline_ns);
/** gyre_commit of all of them, or of none; ends what was reserved, so that slots->count is 0. */
int gyrepy_commit(gyrepy_lane *lane, gyrepy_slots *slots, bool all);
int gyrepy_descriptor(gyrepy_lane *lane, int *descriptor);
int gyrepy_stats(gyrepy_lane *lane, gyre_queue_stats *stats);
int gyrepy_fetch(gyrepy_lane *lane, const void *message, size_t size, gyre_part part, size_t item_size,
                 void *items, size_t count);

/** A batch on its way: `count` requests, `request_size` bytes apart, and as many places for replies. */
typedef struct gyrepy_batch {
    const char *requests;
    size_t request_size;
    char *replies;
    size_t reply_size;
    uint8_t *outcomes; /* gyre_completion_outcome of each request; NULL: not wanted */
    size_t count, sent, received;
    size_t failures;      /* completions that are neither a reply nor "no reply" */
    size_t first_failure; /* the place of the first of these, and what it says */
    gyre_completion failure;
} gyrepy_batch;

/**
 * Sends and receives until every request has its completion, or until the deadline: TIMEOUT, and a further call goes on. The
 * place of a completion that is no reply is zeroed. Nobody else may use the lane.
 */
int gyrepy_batch_run(gyrepy_lane *lane, gyrepy_batch *batch, uint64_t deadline_ns);

/** A run of completions in place: of one outcome and one length, `stride` bytes apart. */
typedef struct gyrepy_views {
    const char *first;
    size_t count, stride;
    uint64_t index; /* of the first */
    gyre_completion_outcome outcome;
    uint32_t length;      /* bytes of each */
    gyrepy_window window; /* unless OTHER was returned */
} gyrepy_views;

/**
 * Peeks for at most `count` completions, which stay peeked, and tells the longest run from the first on that one strided
 * array can show, or MORE. Replies of at least `size` bytes are OK or WIDER, all else is OTHER; gyrepy_release_views ends the peek.
 * EXHAUSTED without memory.
 */
int gyrepy_views_peek(gyrepy_lane *lane, size_t size, size_t count, gyrepy_views *out, uint64_t deadline_ns);
/** gyre_release_views of all of them, or of none; ends the peek, so that views->count is 0. */
int gyrepy_release_views(gyrepy_lane *lane, gyrepy_views *views, bool all);

#endif
