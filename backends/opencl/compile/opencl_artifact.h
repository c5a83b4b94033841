/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled kernel file of the OpenCL backend. It holds the binary of the device's compiler, the
 * descriptions of the kernels as the device wrote them (items, opencl_module.h), and the whole source text,
 * for a driver that refuses the binary. Private to this folder.
 */
#ifndef GYRE_OPENCL_ARTIFACT_H
#define GYRE_OPENCL_ARTIFACT_H

#include "backends/opencl/opencl_backend.h"

struct opencl_part {
    const void *bytes;
    uint64_t size;
};

enum {
    OPENCL_PART_OPTIONS, /* the user's options; ends with NUL */
    OPENCL_PART_SOURCE,  /* ends with NUL */
    OPENCL_PART_ITEMS,
    OPENCL_PART_BINARY,
    OPENCL_PARTS
};

struct opencl_artifact {
    struct opencl_part parts[OPENCL_PARTS];
};

/** Writes the file whole or not at all. FAILED with the reason. */
gyre_status opencl_artifact_write(const gyre_host *host, const char *path,
                                  const struct opencl_artifact *artifact);

/** Finds the parts in `bytes`. INCOMPATIBLE when the bytes are another kind of file, or are damaged. */
gyre_status opencl_artifact_read(const gyre_host *host, const char *path, const void *bytes, size_t size,
                                 struct opencl_artifact *artifact);

#endif
