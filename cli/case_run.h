/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the requests of a case file to a kernel and compares the answers with what the file expects. One thread.
 *
 * The kernel is launched inactive. It begins when all requests that the queue holds are there, so that which messages could run
 * at once does not depend on the speed of this process.
 */
#ifndef GYRE_CLI_CASE_RUN_H
#define GYRE_CLI_CASE_RUN_H

#include <stdio.h>

#include "cli/case_file.h"
#include "cli/message_json.h"
#include "core/types/types.h"
#include "gyre/gyre.h"

typedef struct case_run_desc {
    const case_file *file;
    gyre_kernel *kernel; /* inactive */
    gyre_queue *queue;   /* the kernel's; no other thread or client uses it */
    const message_json_names *names;
    uint64_t timeout_ms; /* longest wait for an answer; 0: no limit */
    FILE *out;           /* gets the answers, a JSON line each */
} case_run_desc;

/**
 * Runs the case. Prints what differs on standard error, a line for each field, and a line that counts. CLI_OK when every pair
 * had the answer that it expects; CLI_FAILED when not, and when a line of the file is no message of the kernel; CLI_TIMEOUT.
 */
int case_run(const case_run_desc *desc);

#endif
