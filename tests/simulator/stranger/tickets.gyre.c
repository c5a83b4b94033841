/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each message a number. Planted: with two blocks the numbers follow no order of the requests.
 *
 * expects: order
 * check: order,races
 * options: --blocks 2
 * request: {"person":1}
 * request: {"person":2}
 * request: {"person":3}
 * request: {"person":4} */
#include <gyre/kernel.h>

#define ENTRY(FIELD) FIELD(u32, person)
GYRE_MESSAGE(entry, ENTRY)
#define TICKET(FIELD) FIELD(u32, person) FIELD(u32, number)
GYRE_MESSAGE(ticket, TICKET)
#define COUNTER(FIELD) FIELD(u32, next)
GYRE_MESSAGE(counter, COUNTER)

GYRE_KERNEL_WITH(tickets, entry, ticket, counter, gyre_none)
{
    reply->person = request->person;
    reply->number = gyre_atomic_add(&state->next, 1u);
    return GYRE_REPLY;
}
