/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of a kernel's queues, for the setting `record`. */
#ifndef GYRE_CORE_KERNEL_RECORD_H
#define GYRE_CORE_KERNEL_RECORD_H

#include "core/kernel/kernel.h"

/**
 * Makes a new queue write what goes through it to the file that `record` in the section names, if it names one. Call before any
 * other thread uses the queue. CONFIG, INVALID, FAILED or EXHAUSTED, with the reason why this cannot be.
 */
gyre_status gyre_kernel_record_queue(gyre_kernel *kernel, const char *section, gyre_queue *queue);

#endif
