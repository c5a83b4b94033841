/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rebuilds the descriptions of the kernels in a compiled file from its items (opencl_module.h). Private to
 * this folder.
 */
#ifndef GYRE_OPENCL_RECORDS_H
#define GYRE_OPENCL_RECORDS_H

#include "backends/opencl/compile/opencl_artifact.h"

/**
 * Fills in kernels, kernel_count and records of `module`, whose device is set, from a copy of the items.
 * INCOMPATIBLE when the items are damaged. Even after a failure the module owns the records made so far.
 */
gyre_status opencl_records_read(gyre_module *module, const char *path, const struct opencl_part *items);

/** Frees the records. Accepts NULL. */
void opencl_records_release(struct opencl_records *records);

#endif
