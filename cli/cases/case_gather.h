/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a case of the requests of a call, which has no file: so that a call can be repeated, compared, kept. One thread. */
#ifndef GYRE_CLI_CASES_CASE_GATHER_H
#define GYRE_CLI_CASES_CASE_GATHER_H

#include "cli/cases/case_file.h"

/**
 * Reads the requests of a call into a case: the operands behind the kernel's file, or all of them with a pipeline; without any,
 * standard input. In sentences the case is called "request", and its lines are the numbers of the requests. Returns an exit code;
 * call case_file_finish in every case.
 */
int case_gather_call(cli_context *cli, const char *pipeline, case_file *file);

/** The lines behind the header, as they stand in a case file. */
const char *case_gather_pairs(const case_file *file, size_t *length);

#endif
