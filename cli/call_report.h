/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of `gyre call` on standard error about a stream that is over. */
#ifndef GYRE_CLI_CALL_REPORT_H
#define GYRE_CLI_CALL_REPORT_H

#include "cli/call_stream.h"
#include "gyre/gyre.h"

/** Counts of requests. `kernel` is NULL when a server has the kernel, by the name `served_as`. */
void call_report_counts(const gyre_kernel *kernel, const char *served_as, const call_counts *counts);

/** The time of each station, when the kernel was launched with kernel.NAME.timing = true. */
void call_report_timing(const gyre_queue *queue);

/** The blocks that work on a message, when no reply came in time. Nothing is known of a server's kernel (NULL). */
void call_report_working(gyre_kernel *kernel);

/** Moments in which messages had to wait for the kernel to come back. */
void call_report_absences(const gyre_kernel *kernel);

/** How long each stay of the kernel on the device took, once the kernel is gone, by the device's events where it has them. */
void call_report_stays(const gyre_kernel *kernel);

#endif
