/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header that messages of a queue may carry, beside their payload. Applications, backends and kernels use this one
 * text. Included by gyre.h and ring_layout.h.
 *
 * A queue has no headers unless its section of the configuration says so: `header = 32`, or the wanted fields, `header
 * = type id deadline`. The queue then holds the first 16, 32, 48 or 64 bytes of this struct for each message, so every
 * field has the same place in all queues that have it. Headers lie beside the slots, not in them: the path of messages
 * without headers knows nothing of headers.
 *
 * Stability: part of the backend ABI; a change bumps GYRE_ABI_MAJOR.
 */
#ifndef GYRE_HEADER_H
#define GYRE_HEADER_H

#include "gyre/types.h"

/** A header. When all fields are 0, the queue fills it in. */
typedef struct gyre_header {
    gyre_u32 type;     /* the request's type: the low half of its layout's hash (gyre_type_info.id) */
    gyre_u16 priority; /* 0 is served last; a value beyond the queue's highest level counts as the highest */
    gyre_u16 reserved; /* 0 */
    gyre_u64 id;       /* the message's id; 0 when sending: the queue gives the next number */
    /* 16 bytes up to here */
    gyre_u64 correlation; /* the sender's own number, by which it recognises the reply */
    gyre_u64 deadline_ns; /* CLOCK_MONOTONIC: no handler begins after it; 0: as the queue's ttl_ms says */
    /* 32 */
    gyre_u64 sent_ns; /* CLOCK_MONOTONIC; the queue overwrites the sender's value */
    gyre_u32 sender, receiver;
    /* 48 */
    gyre_u64 trace[2];
} gyre_header;

#define GYRE_HEADER_SIZE_MAX 64
#define GYRE_LEVELS_MAX      16 /* the most levels of priority of a queue */

#if defined(GYRE_DIALECT_C) && !defined(__cplusplus)
_Static_assert(sizeof(gyre_header) == GYRE_HEADER_SIZE_MAX, "one line");
_Static_assert(offsetof(gyre_header, correlation) == 16 && offsetof(gyre_header, sent_ns) == 32 &&
                   offsetof(gyre_header, trace) == 48,
               "quarters of a line");
#endif

#endif
