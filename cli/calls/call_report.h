/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the lines of `gyre call` on standard error about a stream of requests. */
#ifndef GYRE_CLI_CALLS_CALL_REPORT_H
#define GYRE_CLI_CALLS_CALL_REPORT_H

#include "cli/calls/call_stream.h"
#include "gyre/gyre.h"

/** Prints the counts of requests to `whom`: "add on cpu". */
void call_report_counts(const char *whom, const call_counts *counts);

/** Prints the mean time that requests spent at each station of their way, when kernel.NAME.timing = true. */
void call_report_timing(const gyre_queue *queue);

/** Prints which blocks of a kernel work on a message, when no reply came in time. */
void call_report_working(gyre_kernel *kernel);

/** Prints how often the kernel left its device for a moment, so that messages had to wait, and the longest absence. */
void call_report_absences(gyre_kernel *kernel);

/** Prints how long each stay of the kernel on the device took, by the device's events where it has them. Call when the kernel
 * is terminated. */
void call_report_stays(const gyre_kernel *kernel);

/** Prints an example of a request, all fields zero, for a person who types requests. */
void call_report_typing(const gyre_layout *request);

#endif
