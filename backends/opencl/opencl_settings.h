/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of [backend.opencl], parsed. */
#ifndef GYRE_OPENCL_SETTINGS_H
#define GYRE_OPENCL_SETTINGS_H

#include <stdbool.h>

#include "gyre/backend.h"
#include "backends/opencl/platforms/opencl_loader.h"

/** How messages reach the device. */
enum opencl_transfer {
    OPENCL_TRANSFER_AUTO,   /* direct where the device can */
    OPENCL_TRANSFER_DIRECT, /* the device works in the queues themselves */
    OPENCL_TRANSFER_STAGED  /* the device gets copies */
};

/** A setting of yes, no, or auto: the backend decides. */
enum opencl_switch { OPENCL_NO, OPENCL_YES, OPENCL_AUTO };

enum { OPENCL_EPOCHS_MAX = 8 }; /* most epochs of one kernel at once, whatever is configured */

/** The keys of [backend.opencl], parsed. */
struct opencl_settings {
    char platform[128], device[128]; /* patterns of names with * and ?; "*": any */
    cl_device_type type;
    int32_t index; /* number among the matching devices; -1: all of them are devices of Gyre */
    enum opencl_transfer transfer;
    uint32_t batch;         /* most messages of an epoch */
    uint32_t epochs;        /* most epochs of a kernel at once */
    uint32_t target_us;     /* an epoch grows as long as it takes less time */
    uint32_t stay;          /* 1: mode = resident, kernels poll the queues themselves */
    enum opencl_switch pin; /* staged: the platform is shown the queues' memory, so that it may pin it */
    uint32_t profile;       /* 1: command queues measure; the figures are logged when a kernel ends */
    enum opencl_switch optimize_blocks; /* of blocks with several lanes; auto: yes, except with some PoCLs */
};

/** Reads the parameters. CONFIG when one is wrong, with its origin and what was expected. */
gyre_status opencl_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                                 struct opencl_settings *settings);

#endif
