/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_CONTROL_FLOW_H
#define GYRE_KERNELS_CONTROL_FLOW_H

#include <gyre/message.h>

#define FLOW_REQUEST(FIELD) FIELD(u32, n) FIELD(u32, limit)
GYRE_MESSAGE(flow_request, FLOW_REQUEST)
#define FLOW_REPLY(FIELD)                                                                                    \
    FIELD(u32, collatz)                                                                                      \
    FIELD(u32, gcd) FIELD(u32, primes) FIELD(u32, pairs) FIELD(u32, digits) FIELD(u32, root)
GYRE_MESSAGE(flow_reply, FLOW_REPLY)

#endif
