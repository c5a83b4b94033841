/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crash points for `--check crash`: with each seed but the first the worker process of the device ends once, at a message and a step that
 * follow from the seed, and a new one goes on from a checkpoint. No state but the object's.
 */
#ifndef GYRE_CLI_CALLS_CALL_CRASH_H
#define GYRE_CLI_CALLS_CALL_CRASH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"
#include "gyre/gyre.h"

enum { CALL_CRASH_SETTINGS = 7, CALL_CRASH_SETTING_SIZE = 512 };

typedef struct call_crash {
    uint64_t requests; /* of a run */
    bool is_pipeline;  /* whose kernels have no checkpoints, and hand messages on */
    uint64_t
        messages; /* of a run, where it may end: as many as requests, until the run without a crash of a pipeline was counted */
    uint64_t
        checkpoint; /* a checkpoint is taken when so many requests are answered; 0: none but that of the begin */
    bool again;     /* this run was none: it begins anew, with other settings */
    uint64_t tried, ended; /* runs with a crash; in how many of them the process ended */
    /* internal */
    char kernel[128]; /* whose checkpoints the configuration forbids; "": none is known */
    char file[CALL_CRASH_SETTING_SIZE], settings[CALL_CRASH_SETTINGS][CALL_CRASH_SETTING_SIZE];
} call_crash;

/**
 * Makes the file of crashes, and says when the checkpoint is taken: in all runs at the same request, because the kernel stands for it, which
 * alone may decide what its blocks handle next. `first`: the first seed. Returns an exit code. Call call_crash_finish in every
 * case.
 */
int call_crash_begin(call_crash *crash, uint64_t first);
void call_crash_finish(call_crash *crash);

/** Adds the settings of a run. `seed` 0: of one without a crash. Returns an exit code. */
int call_crash_set(call_crash *crash, uint64_t seed, cli_list *settings);

/**
 * Looks at the kernel of a run before it gets requests. A kernel without checkpoints, which [kernel.NAME] may forbid, needs another
 * setting: false, and `again`. One that has none then keeps nothing, and no checkpoint of it is taken.
 */
bool call_crash_look(call_crash *crash, gyre_kernel *kernel);

/** Counts a run, of which everything is closed: without a crash (`seed` 0) its messages, else whether the worker process ended in it. */
void call_crash_count(call_crash *crash, uint64_t seed);
/** The exit code for runs whose answers were all as expected: they say nothing when no process ended. Tells how many did. */
int call_crash_judge(const call_crash *crash);

/** Says where the process ended in the run of that seed. */
void call_crash_tell(const call_crash *crash, uint64_t seed, FILE *out);

#endif
