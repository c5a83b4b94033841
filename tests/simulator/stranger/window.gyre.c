/* SPDX-License-Identifier: Apache-2.0 */
/* Means of pairs of neighbours. Planted: the last value has no right neighbour, and takes what lies behind the array.
 *
 * expects: index
 * request: {"count":7,"values":[1,3,5,7,9,11,13,15],"scale":1}
 * request: {"count":8,"values":[1,3,5,7,9,11,13,15],"scale":1} */
#include <gyre/kernel.h>

#define SERIES(FIELD) FIELD(u32, count) FIELD(u32, values[8]) FIELD(u32, scale)
GYRE_MESSAGE(series, SERIES)

GYRE_KERNEL(window, series, series)
{
    if (request->count > 8)
        return gyre_fail(gyre, 1, "too many values");
    for (u32 i = 0; i < 8; i++)
        reply->values[i] = 0;
    for (u32 i = 0; i < request->count; i++)
        reply->values[i] = (request->values[i] + request->values[i + 1]) / 2; /* first */
    reply->count = request->count;
    reply->scale = request->scale;
    return GYRE_REPLY;
}
