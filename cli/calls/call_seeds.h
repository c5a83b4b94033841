/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the same requests with several seeds of the CPU backend, each time with everything opened anew. The answers are compared by
 * case_run; when they differ, what each stage handled first is told of both runs. One thread.
 */
#ifndef GYRE_CLI_CALLS_CALL_SEEDS_H
#define GYRE_CLI_CALLS_CALL_SEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/calls/call_crash.h"
#include "cli/cli.h"

enum { CALL_SEEDS_SETTING_SIZE = 512 };

typedef struct call_seeds {
    uint64_t first, count; /* the first seed, and how many: both at least 1 */
    uint64_t seed;         /* of the run that goes on; of the last one afterwards */
    bool has_crashes;      /* the check `crash`: `crash.requests` is given as well */
    call_crash crash;
    /* internal */
    char seed_setting[64], files[2][CALL_SEEDS_SETTING_SIZE];
} call_seeds;

/**
 * Whether a list of checks such as "races,order" compares the answers of whole runs: which messages came first is no matter of one
 * message. For a kernel alone (`pipeline` NULL) `schedule` compares the orders of lanes of each message, and no runs.
 */
bool call_seeds_are_compared(const char *checks, const char *pipeline);

/**
 * Whether all requests run anew with each of `count` seeds (0: not given). Beside the checks that compare answers the others do, because
 * the seed decides which block gets which message, and who waits for whom; then only what a check fails is told.
 */
bool call_seeds_are_whole(const char *checks, const char *pipeline, uint64_t count);

/** Whether a list of checks has one for which a seed decides anything. */
bool call_seeds_decide(const char *checks);

/**
 * Takes what the options say; 0: nothing. Without a number of seeds there is one, and with `crash` ten, because the first seed's run has no
 * crash.
 */
void call_seeds_init(call_seeds *seeds, const char *checks, uint64_t first, uint64_t count);

/**
 * Calls `run` for each seed until one does not return CLI_OK, and `close` after each. `cli`: gets the settings of each run as its
 * last ones. Returns what the last run returned.
 */
int call_seeds_run(call_seeds *seeds, cli_context *cli, int (*run)(void *context),
                   void (*close)(void *context), void *context);

#endif
