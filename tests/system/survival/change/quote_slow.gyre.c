/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that takes long. */
#include <gyre/kernel.h>

#include "quote.h"

GYRE_KERNEL(quote, quote_asked, quote_given)
{
    const u64 begin = gyre_time_ns(gyre);
    while (gyre_time_ns(gyre) - begin < 200000)
        ;
    reply->total = request->price;
    reply->count = 0;
    reply->version = 4;
    return GYRE_REPLY;
}
