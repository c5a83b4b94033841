/* SPDX-License-Identifier: Apache-2.0 */
/* A message looks 3000 times for a mark that nobody makes, and gives up. The setting says that nobody looks more than 2000 times.
 *
 * expects: circle
 * check: deadlock
 * options: --set backend.cpu.looks=2000
 * request: {"looks":3000} */
#include <gyre/kernel.h>

#define LOOKED(FIELD) FIELD(u32, looks)
GYRE_MESSAGE(looked, LOOKED)
#define MARK(FIELD) FIELD(u32, made)
GYRE_MESSAGE(mark, MARK)

GYRE_KERNEL_WITH(hurried, looked, looked, mark, gyre_none)
{
    u32 looks = 0;
    while (looks < request->looks && gyre_atomic_load(&state->made) == 0) /* first */
        looks++;
    reply->looks = looks;
    return GYRE_REPLY;
}
