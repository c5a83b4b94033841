/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of an addition: as a struct, and as the 42 bytes that .NET sends. Cases compare the two, for the cost of
 * converting. */
#ifndef GYRE_BENCH_ADD_MESSAGES_H
#define GYRE_BENCH_ADD_MESSAGES_H

#include <gyre/message.h>

#define BENCH_PLAIN_ADD(FIELD)                                                                               \
    FIELD(id128, id)                                                                                         \
    FIELD(u8, priority) FIELD(u8, correlated) FIELD(id128, correlation) FIELD(f32, a) FIELD(f32, b)
GYRE_MESSAGE(plain_add, BENCH_PLAIN_ADD)
#define BENCH_PLAIN_SUM(FIELD)                                                                               \
    FIELD(id128, id) FIELD(u8, priority) FIELD(u8, correlated) FIELD(id128, correlation) FIELD(f32, result)
GYRE_MESSAGE(plain_sum, BENCH_PLAIN_SUM)

#define BENCH_DOTNET_ADD(FIELD)                                                                              \
    FIELD(id128, id) FIELD(u8, priority) FIELD(optional_id128, correlation) FIELD(f32, a) FIELD(f32, b)
GYRE_MESSAGE_TAIL(dotnet_add, BENCH_DOTNET_ADD, 16)
GYRE_WIRE(dotnet_add, "form=packed nullable=packed guid=dotnet")
#define BENCH_DOTNET_SUM(FIELD)                                                                              \
    FIELD(id128, id) FIELD(u8, priority) FIELD(optional_id128, correlation) FIELD(f32, result)
GYRE_MESSAGE_TAIL(dotnet_sum, BENCH_DOTNET_SUM, 16)
GYRE_WIRE(dotnet_sum, "form=packed nullable=packed guid=dotnet")

#endif
