/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child programs with a deadline: compilers, the probing helper, whatever a backend wants to run.
 *
 * No shell. Standard input is empty, no other descriptor is inherited, signals have their default actions.
 * The child leads a process group of its own; at the deadline the whole group is killed. Safe in programs
 * with threads, from any thread: nothing is forked that runs code of the caller.
 */
#ifndef GYRE_CORE_BASE_PROCESS_H
#define GYRE_CORE_BASE_PROCESS_H

#include <stdbool.h>

#include "gyre/backend.h"

struct gyre_process_desc {
    const char *const *arguments; /* NULL-terminated; [0] is looked up in PATH unless it has a slash */
    const char *directory;        /* working directory; NULL: the caller's */
    bool no_preload;              /* LD_PRELOAD is kept from it */
    uint64_t deadline_ns;
    char *output; /* receives standard output, NUL-terminated and cut; NULL: discarded */
    size_t output_size;
    char *errors; /* receives standard error; NULL: it goes where standard output goes */
    size_t errors_size;
};

struct gyre_process_end {
    int exit_code;        /* when signal is 0 */
    int signal;           /* that ended it; 0: it ended by itself */
    size_t output_length; /* bytes that the child wrote to standard output, also those that were cut */
};

/**
 * Runs a program to its end. Blocks until deadline_ns. OK when it ended by itself or by a signal: see *end.
 * NOT_FOUND when there is no such program, TIMEOUT when it was killed at the deadline, EXHAUSTED when no
 * process or descriptor is left, FAILED otherwise. *end is set in every case.
 */
gyre_status gyre_process_run(const struct gyre_process_desc *desc, struct gyre_process_end *end);

/**
 * The service of gyre_host: as above with both outputs joined and nothing preloaded; FAILED when a signal
 * ended it.
 */
gyre_status gyre_process_run_program(const gyre_program_desc *desc, int *exit_code);

#endif
