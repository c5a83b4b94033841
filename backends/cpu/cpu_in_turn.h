/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker has for its turns (cpu_turns.h). */
#ifndef GYRE_CPU_IN_TURN_H
#define GYRE_CPU_IN_TURN_H

#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

struct cpu_turns;
struct cpu_worker;

enum { CPU_LOOKS_MAX = 8 };

/** What a handler looked at, at one place of its code. */
struct cpu_look {
    const void *code, *at;
    uint64_t bytes;
};

/** A worker's part. */
struct cpu_turn {
    struct cpu_turns *turns; /* NULL: the device has no turns */
    struct cpu_worker *worker;
    bool (*has_work)(const struct cpu_worker *worker);
    struct cpu_turn *next;
    pthread_cond_t called;
    uint32_t most; /* messages in this turn; 0 without turns */
    int64_t
        due_ns; /* when the worker's next reminder is due, as it last said; GYRE_KEYED_NO_DUE: it has none */
    uint64_t from; /* the control region of the kernel whose messages are handled; 0: a client's */
    uint64_t index,
        next_index; /* of the request that the message belongs to which is handled; of the next one's */
    bool awaited;   /* its thread waits here */
    bool inside;    /* its turn ended inside of a handler */
    bool vain;      /* its last turn did nothing, and nobody did anything since */
    /* of the handler that runs */
    bool is_guarded;  /* `out` leads out of it */
    bool given_up;    /* it waits for ever, and has to leave by `out` */
    bool asked_time;  /* it asked for the time, and the time did not leap since */
    uint64_t leap_ns; /* how far it leapt last for this message; 0: not yet */
    uint64_t repeats; /* how often in turn it found at a place what it found there before */
    uint32_t next_look;
    struct cpu_look looks[CPU_LOOKS_MAX], last;
    char waits_for[128]; /* what it looked at last, in words; "": nothing yet */
    jmp_buf out;
};

#endif
