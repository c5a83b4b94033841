/* SPDX-License-Identifier: Apache-2.0 */
/* What `gyre call` says on standard error of a stream that is over: a line for what there is to tell of each. */
#ifndef GYRE_CLI_CALL_REPORT_H
#define GYRE_CLI_CALL_REPORT_H

#include "cli/call_stream.h"
#include "gyre/gyre.h"

/** `kernel` is NULL when it is a server's, by the name `served_as`. */
void call_report_counts(const gyre_kernel *kernel, const char *served_as, const call_counts *counts);

/** Where the time went, when the kernel was launched with kernel.NAME.timing = true. */
void call_report_timing(const gyre_queue *queue);

/** Which blocks are at a message, when no reply came in time. Of a server's kernel (NULL) nothing is known. */
void call_report_working(gyre_kernel *kernel);

/** Moments in which messages had to wait for the kernel to come back. */
void call_report_absences(const gyre_kernel *kernel);

/** How long it was there each time, once it is gone: by the device's own events, where it has them. */
void call_report_stays(const gyre_kernel *kernel);

#endif
