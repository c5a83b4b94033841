/* SPDX-License-Identifier: Apache-2.0 */
/* What the blocks of a kernel are at, for those who wonder. */
#ifndef GYRE_OPENCL_TELL_H
#define GYRE_OPENCL_TELL_H

#include "opencl_epoch.h"

/** The lines of blocks tell from now on what these do. */
void opencl_tell_present(const gyre_resident *resident);
/** The epoch was sent. */
void opencl_tell_begun(const gyre_resident *resident, const struct opencl_epoch *epoch);
/** It is through, and counted as in flight no more. */
void opencl_tell_ended(const gyre_resident *resident, const struct opencl_epoch *epoch);

#endif
