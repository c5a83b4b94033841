/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges from outside whether kernels work, for supervisors: `gyre stat --health`, and /healthz and /readyz of `gyre web`. No
 * state.
 */
#ifndef GYRE_CLI_OBSERVED_HEALTH_H
#define GYRE_CLI_OBSERVED_HEALTH_H

#include "cli/observed/observed.h"

enum { HEALTH_TEXT = 256 };

/** What a kernel is asked. */
typedef enum health_question {
    HEALTH_WORKS, /* does it handle messages: it is active, and no handler of it hangs, in a process that lives */
    HEALTH_LIVES /* is there nothing that a new start of its process would help: a hang, a stopped process, a lost kernel */
} health_question;

/**
 * Whether kernel `name` is as asked in one of the processes at least. Writes a sentence about it, or about one that is not so.
 * Processes that were killed answer nothing.
 */
bool health_of_one(const observed_processes *processes, const char *name, health_question question,
                   char sentence[HEALTH_TEXT]);
/** Whether all kernels of processes that were not killed are as asked. Writes a line about each that is not. Returns their number in
 * *seen. */
bool health_of_all(const observed_processes *processes, health_question question, FILE *out, size_t *seen);

#endif
