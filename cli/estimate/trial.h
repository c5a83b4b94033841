/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an estimate needs of a handler: its run on the CPU under the check `traffic`, and what the GPU's compiler makes of it.
 * One thread.
 */
#ifndef GYRE_CLI_ESTIMATE_TRIAL_H
#define GYRE_CLI_ESTIMATE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "cli/estimate/requests.h"

/** The handler, and how it is called. */
typedef struct trial_desc {
    const cli_context *cli;  /* the first operand is the kernel */
    const char *counts_path; /* the file that gets the counts */
    uint64_t lanes;          /* of a block kernel; 0: as configured */
    uint64_t timeout_ms;
    cli_list buffers;  /* of --buffer */
    const char *state; /* JSON, or NULL */
    uint64_t count;    /* of requests that are made, when `requests` is empty */
} trial_desc;

typedef struct trial_result {
    char kernel[64];
    uint64_t request_size,
        reply_size; /* of types with a tail what messages had on average, of others the type's */
    uint32_t lanes; /* of the launch here */
    uint64_t answered, failed;
    uint64_t
        emitted; /* messages whose handler sent to a port, which leads nowhere here; not among `failed` */
} trial_result;

/** Runs the handler. `requests` gets those that are made. Returns an exit code; prints why when it is not CLI_OK. */
int trial_run(const trial_desc *desc, estimate_requests *requests, trial_result *result);

/** What the compiler of the backend cuda says of a kernel. */
typedef struct trial_code {
    bool known;
    uint32_t registers, spill_bytes, shared_bytes, blocks_per_unit;
    char why[512]; /* why it is not known */
} trial_code;

/** Compiles the kernel for an architecture; nothing is printed. */
void trial_compile(const cli_context *cli, const char *architecture, const char *kernel, trial_code *code);

#endif
