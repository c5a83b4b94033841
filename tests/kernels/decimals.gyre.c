/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with a fraction as texts: with so many decimals, or with as few digits as read back. */
#include <gyre/kernel.h>
#include "decimals.h"

GYRE_KERNEL(decimals, decimals, decimals_told)
{
    gyre_append_text(gyre, reply, reply->line, ">");
    gyre_append_f64(gyre, reply, reply->line, gyre_f64_from_bits(request->bits), request->decimals);
    return GYRE_REPLY;
}
