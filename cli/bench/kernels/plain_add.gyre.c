/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that adds the numbers of a struct. dotnet_add.gyre.c does the same with converted messages. */
#include <gyre/kernel.h>

#include "add_messages.h"

GYRE_KERNEL(plain_add, plain_add, plain_sum)
{
    reply->id = request->id;
    reply->priority = request->priority;
    reply->correlated = request->correlated;
    reply->correlation = request->correlation;
    reply->result = request->a + request->b;
    return GYRE_REPLY;
}
