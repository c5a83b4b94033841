/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_PREFIX_SUM_H
#define GYRE_KERNELS_PREFIX_SUM_H

#include <gyre/message.h>

#define PREFIX_COUNT          128
#define PREFIX_MESSAGE(FIELD) FIELD(u32, values[PREFIX_COUNT])
GYRE_MESSAGE(prefix_message, PREFIX_MESSAGE)
#define PREFIX_SCRATCH(FIELD) FIELD(u32, sums[2][PREFIX_COUNT])
GYRE_MESSAGE(prefix_scratch, PREFIX_SCRATCH)

#endif
