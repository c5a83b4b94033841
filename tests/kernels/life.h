/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_LIFE_H
#define GYRE_KERNELS_LIFE_H

#include <gyre/message.h>

#define LIFE_MESSAGE(FIELD) FIELD(u32, turns) FIELD(u32, rows[32])
GYRE_MESSAGE(life_message, LIFE_MESSAGE)
typedef struct {
    u32 rows[2][32];
} life_scratch; /* no message: nobody outside the block sees it */

#endif
