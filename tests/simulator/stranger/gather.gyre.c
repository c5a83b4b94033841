/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline: a desk sends the three parts of an order by two ports, and a till keeps them until all are there.
 *
 * expects: nothing
 * check: races,memory,deadlock,order
 * options: --config gather.ini --pipeline gather
 * request: {"number":1,"cents":[1000,500],"percent":10}
 * request: {"number":2,"cents":[10,20],"percent":50} */
#include <gyre/kernel.h>

#define ORDER(FIELD) FIELD(u32, number) FIELD(u32, cents[2]) FIELD(u32, percent)
GYRE_MESSAGE(order, ORDER)
#define PART(FIELD) FIELD(u32, number) FIELD(u32, cents) FIELD(u32, percent)
GYRE_MESSAGE(part, PART)
#define BILL(FIELD) FIELD(u32, number) FIELD(u32, cents)
GYRE_MESSAGE(bill, BILL)
#define PARTS(PORT) PORT(part, goods, 2) PORT(part, rebates, 1)
GYRE_PORTS(parts_ports, PARTS)

struct kept {
    u32 parts, cents, percent;
};
GYRE_FLOW(till, struct kept)

GYRE_KERNEL_TO(desk, order, gyre_none, parts_ports)
{
    for (u32 i = 0; i < 2; i++) {
        GYRE_GLOBAL part *goods = gyre_emit(gyre, goods);
        goods->number = request->number;
        goods->cents = request->cents[i];
        goods->percent = 0;
    }
    GYRE_GLOBAL part *rebate = gyre_emit(gyre, rebates);
    rebate->number = request->number;
    rebate->cents = 0;
    rebate->percent = request->percent;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(till, part, bill)
{
    GYRE_GLOBAL struct kept *kept = gyre_flow(gyre, till);
    kept->cents += request->cents;
    kept->percent += request->percent;
    if (++kept->parts < 3)
        return GYRE_NO_REPLY;
    reply->number = request->number;
    reply->cents = kept->cents - kept->cents * kept->percent / 100;
    return GYRE_REPLY;
}
