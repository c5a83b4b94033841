/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up a row in the reply. Planted: the reply begins as an earlier one left it.
 *
 * expects: unwritten
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define SUM(FIELD) FIELD(u32, sum) FIELD(u32, squares)
GYRE_MESSAGE(sum_of, SUM)

GYRE_KERNEL(accrue, row, sum_of)
{
    reply->sum = 0;
    for (u32 i = 0; i < 16; i++) {
        reply->sum += request->values[i];
        reply->squares += request->values[i] * request->values[i]; /* first */
    }
    return GYRE_REPLY;
}
