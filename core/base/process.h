/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs child programs with a deadline: compilers, the probing helper, and programs that a backend needs.
 *
 * No shell is used. Standard input is empty, the child inherits no other descriptor, and its signals have their default
 * actions. The child leads a process group of its own; at the deadline the whole group is killed. Safe in programs with
 * threads, from any thread, because no forked process runs code of the caller.
 */
#ifndef GYRE_CORE_BASE_PROCESS_H
#define GYRE_CORE_BASE_PROCESS_H

#include <stdbool.h>

#include "gyre/backend.h"

struct gyre_process_desc {
    const char *const *arguments; /* NULL-terminated; [0] is looked up in PATH unless it has a slash */
    const char *directory;        /* working directory; NULL: the caller's */
    bool no_preload;              /* the child gets no LD_PRELOAD */
    uint64_t deadline_ns;
    char *output; /* receives standard output, NUL-terminated and cut; NULL: discarded */
    size_t output_size;
    char *errors; /* receives standard error; NULL: it goes where standard output goes */
    size_t errors_size;
    const int *stop; /* a descriptor: once it is readable, the child's group is killed; NULL: there is none */
};

struct gyre_process_end {
    int exit_code;        /* when signal is 0 */
    int signal;           /* the signal that ended the child; 0: it ended by itself */
    size_t output_length; /* bytes that the child wrote to standard output, including cut ones */
};

/**
 * Runs a program to its end. Blocks until deadline_ns. OK when it ended by itself or by a signal: see *end.
 * NOT_FOUND when there is no such program, TIMEOUT when it was killed at the deadline, CLOSED when because of `stop`, EXHAUSTED when no
 * process or descriptor is left, FAILED otherwise. *end is set in every case.
 */
gyre_status gyre_process_run(const struct gyre_process_desc *desc, struct gyre_process_end *end);

/**
 * The service that plugins call through gyre_host: as gyre_process_run, with both outputs joined and nothing preloaded.
 * FAILED when a signal ended the program.
 */
gyre_status gyre_process_run_program(const gyre_program_desc *desc, int *exit_code);

#endif
