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
    uint32_t kernels; /* not 0: where Savina has more actors of a kind than this, there are so many */
    char result[64];
    bool right;
    double seconds;
    double wired;      /* the seconds before: to compile, to launch and to join the kernels */
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

/* Whether something else that was found is right, too. */
void run_agrees(struct run *run, double found, double expected, double tolerance);
/* `kernels`, or as many as the run may have. */
uint32_t run_kernels(const struct run *run, uint32_t kernels);

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

/* shops.c */
void run_bounded_buffer(struct run *run);
void run_barber(struct run *run);
void run_smokers(struct run *run);

/* filter_bank.c */
void run_filter_bank(struct run *run);

/* quicksort.c */
void run_quicksort(struct run *run);

#endif
