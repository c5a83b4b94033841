/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmarks, each of which wires its pipeline, runs once, and checks what it comes to. */
#ifndef SAVINA_RUNS_H
#define SAVINA_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "wiring.h"

/* A run: what is asked, and what was found. */
struct run {
    const char *backend; /* NULL: as configured */
    uint64_t size;
    char result[64];
    bool right;
    double seconds;
    uint64_t messages; /* that links carried */
    struct wiring wiring;
};

/* Sends `request`, and measures. The pipeline is open. `tell`: as wiring_call. */
total run_measure(struct run *run, task request, gyre_kernel *tell);
/* The same of a stream of `count` messages, which the client feeds (wiring_feed). */
total run_feed(struct run *run, task request, uint64_t count);
/* Says what was found, and whether it is what has to be found. */
void run_found(struct run *run, uint64_t found, uint64_t expected);
/* The same of a number with a fraction, which may differ by `tolerance` of it; 0: by no bit. */
void run_found_value(struct run *run, double found, double expected, double tolerance);

/* messages.c */
void run_ping_pong(struct run *run);
void run_counting(struct run *run);
void run_fork_join(struct run *run);
void run_thread_ring(struct run *run);
void run_big(struct run *run);

/* trees.c */
void run_fibonacci(struct run *run);
void run_skynet(struct run *run);
void run_queens(struct run *run);

/* work.c */
void run_bank(struct run *run);
void run_sieve(struct run *run);

/* numbers.c */
void run_logistic(struct run *run);
void run_radix(struct run *run);
void run_trapezoid(struct run *run);

/* shared.c */
void run_chameneos(struct run *run);
void run_dictionary(struct run *run);
void run_philosophers(struct run *run);

#endif
