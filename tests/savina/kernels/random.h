/* SPDX-License-Identifier: Apache-2.0 */
/* A random number generator of actors, whose state is the last number. */
#ifndef SAVINA_RANDOM_H
#define SAVINA_RANDOM_H

#include "../savina.h"

GYRE_HELPER u32 next_random(GYRE_GLOBAL u64 *random)
{
    *random = savina_random(*random);
    return (u32)(*random >> 33);
}

#endif
