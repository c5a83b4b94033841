/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the requests of a case file to a kernel and compares the answers with what the file expects. One thread.
 *
 * The kernel is launched inactive. It begins when all requests that the queue holds are there, so that which messages could run
 * at once does not depend on the speed of this process.
 */
#ifndef GYRE_CLI_CASES_CASE_RUN_H
#define GYRE_CLI_CASES_CASE_RUN_H

#include <stdio.h>

#include "cli/cases/case_file.h"
#include "cli/json/message_json.h"
#include "core/types/types.h"
#include "gyre/gyre.h"

/** The answers of a run in the order of the file, with which those of runs in other orders are compared. */
typedef struct case_answers {
    char **texts; /* by pair; NULL: not answered yet */
    size_t count;
    bool differ; /* an answer, of any run, was not the expected one */
} case_answers;

typedef struct case_run_desc {
    const case_file *file;
    gyre_kernel *kernel; /* inactive; of a pipeline, the one that gets the requests */
    gyre_queue *queue;   /* the kernel's, or the pipeline's; no other thread or client uses it */
    const message_json_names *names;
    uint64_t timeout_ms; /* longest wait for an answer; 0: no limit */
    FILE *out;           /* gets the answers, a JSON line each */
    uint64_t
        order; /* 0: requests are sent in the order of the file; else in another one, which follows from this number */
    uint64_t
        checkpoint; /* the kernel pauses and takes a checkpoint when so many pairs are answered; 0: never */
    uint64_t seed;  /* not 0: of a run whose answers are compared with those of the first seed's */
    bool findings_only; /* of answers that are compared only those that a check failed differ */
    bool
        in_rounds; /* the kernel pauses before the queue gets more, so that the speed of this process decides nothing */
    case_answers *
        answers; /* filled in by the run with order 0 and seed 0, and compared with by others, which print no answers */
} case_run_desc;

/**
 * Runs the case. In an order of its own each answer must be the one that came in the order of the file. Prints what differs on
 * standard error, a line for each field, and a line that counts. CLI_OK when every pair had the answer that it expects;
 * CLI_FAILED when not, and when a line of the file is no message of the kernel; CLI_TIMEOUT.
 */
int case_run(const case_run_desc *desc);

void case_answers_finish(case_answers *answers);

#endif
