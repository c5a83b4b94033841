/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of two types answers an order with the count of an earlier message, because nobody set it for this one.
 *
 * expects: unwritten
 * check: memory
 * options: --lanes 4
 * request: {"type":"order","number":3} */
#include <gyre/kernel.h>

#define ORDER(FIELD) FIELD(u32, number)
GYRE_MESSAGE(order, ORDER)
#define QUERY(FIELD) FIELD(u64, from)
GYRE_MESSAGE(query, QUERY)
#define STOCK(FIELD) FIELD(u32, number) FIELD(u32, count)
GYRE_MESSAGE(stock, STOCK)
#define SPARE(TAKES) TAKES(query, gyre_none) TAKES(order, stock)
GYRE_PROTOCOL(spare, SPARE)

GYRE_BLOCK_KERNEL_OF(spare, SPARE, gyre_none)

GYRE_HANDLER(spare, query, gyre_none)
{
    (void)request;
    return GYRE_NO_REPLY;
}

GYRE_HANDLER(spare, order, stock)
{
    if (gyre_lane(gyre) == 1)
        reply->count += request->number; /* first */
    return GYRE_REPLY;
}
