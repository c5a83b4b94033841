/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the accesses to shared memory of two runs with different turns (the lines of backend.cpu.turns_file that begin with @): which
 * handler finds another value in a word, and who wrote it in each run. No state.
 */
#ifndef GYRE_CLI_CALLS_CALL_ACCESSES_H
#define GYRE_CLI_CALLS_CALL_ACCESSES_H

#include <stdint.h>
#include <stdio.h>

/**
 * Writes a line about the first access that reads what somebody else wrote in the other run; where there is none, about the last word that
 * somebody else wrote last. Writes nothing where the runs do not differ so, or a file cannot be read.
 */
void call_accesses_tell(const char *const paths[2], const uint64_t seeds[2], FILE *out);

#endif
