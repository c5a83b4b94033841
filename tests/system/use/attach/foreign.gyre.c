/* SPDX-License-Identifier: Apache-2.0 */
/* The handler of lanes, in a file of its own: it is compiled with each setting of headers and seals. */
#include <gyre/kernel.h>
#include "foreign_back.h"

GYRE_KERNEL(foreign_lane, foreign_ask, foreign_told)
{
    const u32 type = gyre_header_type(gyre);
    const u64 id = gyre_header_id(gyre);
    give_back(request, reply, gyre);
    if (gyre_header_type(gyre) != type || gyre_header_id(gyre) != id)
        return gyre_fail(gyre, FOREIGN_CHANGED, "the header changed");
    return GYRE_REPLY;
}
