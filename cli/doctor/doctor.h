/* SPDX-License-Identifier: Apache-2.0 */
/* The looks of `gyre doctor`: each function looks at one thing and adds findings to the report. With `clean` set, a look also
 * removes files, sockets and workers that dead processes left. */
#ifndef GYRE_CLI_DOCTOR_DOCTOR_H
#define GYRE_CLI_DOCTOR_DOCTOR_H

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
    size_t count; /* findings that do not fit any more are left out */
    doctor_finding findings[DOCTOR_FINDINGS_MAX];
} doctor_report;

/** Adds a finding. */
void doctor_find(doctor_report *report, doctor_state state, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** Adds a finding about something that a dead process left. `removed`: it was removed just now; else errno says why not. */
void doctor_tell_left(doctor_report *report, bool removed, const char *what, const char *path,
                      const char *why);

/** Looks at the backend that would be chosen, the compilers of CPU and CUDA, the check of handlers' sources, and the program
 * that runs backends in a process of their own. */
void doctor_look_at_backends(doctor_report *report, gyre_runtime *runtime);
/** Looks at the limits of a process: descriptors and locked memory. */
void doctor_look_at_limits(doctor_report *report);
/** Looks whether the cache can be written, and for damaged entries and files of writers that died. */
void doctor_look_at_cache(doctor_report *report, const gyre_runtime *runtime);
/** Looks for temporary folders of compiles whose process died. */
void doctor_look_at_temporary(doctor_report *report);
/** Looks at the socket of `gyre serve`: a server uses it, or a dead server left it. */
void doctor_look_at_socket(doctor_report *report, const gyre_runtime *runtime);
/** Looks for observation files of processes that were killed. */
void doctor_look_at_observations(doctor_report *report, const gyre_runtime *runtime);
/** Looks for worker processes of this user whose program is gone. */
void doctor_look_at_workers(doctor_report *report);

#endif
