/* SPDX-License-Identifier: Apache-2.0 */
/* The looks of `gyre doctor`. Each look adds findings. With `clean` a look removes what dead processes left. */
#ifndef GYRE_CLI_DOCTOR_H
#define GYRE_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/gyre.h"

typedef enum doctor_state {
    DOCTOR_OK,
    DOCTOR_NOTE,
    DOCTOR_LEFT,
    DOCTOR_REMOVED,
    DOCTOR_PROBLEM
} doctor_state;

typedef struct doctor_finding {
    doctor_state state;
    char what[32], about[512];
} doctor_finding;

enum { DOCTOR_FINDINGS_MAX = 64 };

typedef struct doctor_report {
    bool clean;
    size_t count; /* what does not fit any more is not told */
    doctor_finding findings[DOCTOR_FINDINGS_MAX];
} doctor_report;

/** The backend that would be chosen, the compilers of CPU and CUDA, the check of handlers' sources, the program
 * that isolates backends. */
void doctor_look_at_backends(doctor_report *report, gyre_runtime *runtime);
/** Descriptors and locked memory that a process may have. */
void doctor_look_at_limits(doctor_report *report);
/** Whether it can be written; damaged entries, and files of writers that died. */
void doctor_look_at_cache(doctor_report *report, const gyre_runtime *runtime);
/** Folders of compiles whose process died. */
void doctor_look_at_temporary(doctor_report *report);
/** The socket of `gyre serve`: in use, or left. */
void doctor_look_at_socket(doctor_report *report, const gyre_runtime *runtime);
/** Worker processes of this user whose program is gone. */
void doctor_look_at_workers(doctor_report *report);

#endif
