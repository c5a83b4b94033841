/* SPDX-License-Identifier: Apache-2.0 */
/* Tells in which orders the stages of a pipeline handled messages in two runs (backend.cpu.turns_file). No state. */
#ifndef GYRE_CLI_CALLS_CALL_TURNS_H
#define GYRE_CLI_CALLS_CALL_TURNS_H

#include <stdint.h>
#include <stdio.h>

/**
 * Writes for each stage whose order differs the numbers of the requests in both orders, around the first difference, and the lines of the
 * handlers that make the difference, where they read or write memory that messages share. A file that is
 * missing or damaged counts as far as it can be read.
 */
void call_turns_tell(const char *first_path, uint64_t first_seed, const char *other_path, uint64_t other_seed,
                     FILE *out);

#endif
