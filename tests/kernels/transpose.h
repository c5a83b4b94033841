/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_TRANSPOSE_H
#define GYRE_KERNELS_TRANSPOSE_H

#include <gyre/message.h>

#define TRANSPOSE_N              32
#define TRANSPOSE_MESSAGE(FIELD) FIELD(u16, cells[TRANSPOSE_N][TRANSPOSE_N])
GYRE_MESSAGE(transpose_message, TRANSPOSE_MESSAGE)
/* One column more, so that lanes of a column hit different banks. */
#define TRANSPOSE_SCRATCH(FIELD) FIELD(u16, tile[TRANSPOSE_N][TRANSPOSE_N + 1])
GYRE_MESSAGE(transpose_scratch, TRANSPOSE_SCRATCH)

#endif
