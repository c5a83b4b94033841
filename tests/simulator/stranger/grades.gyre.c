/* SPDX-License-Identifier: Apache-2.0 */
/* Counts marks from 0 to 100 in steps of ten. Planted: 100 is in an eleventh step, for which there is no room.
 *
 * expects: index
 * request: {"mark":99}
 * request: {"mark":100} */
#include <gyre/kernel.h>

#define MARK(FIELD) FIELD(u32, mark)
GYRE_MESSAGE(mark, MARK)
#define GRADES(FIELD) FIELD(u32, steps[10]) FIELD(u32, marks)
GYRE_MESSAGE(grades_state, GRADES)

GYRE_KERNEL_WITH(grades, mark, mark, grades_state, gyre_none)
{
    if (request->mark > 100)
        return gyre_fail(gyre, 1, "no mark");
    gyre_atomic_add(&state->steps[request->mark / 10], 1u); /* first */
    gyre_atomic_add(&state->marks, 1u);
    reply->mark = request->mark;
    return GYRE_REPLY;
}
