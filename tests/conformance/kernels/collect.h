/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of collect.gyre.c are asked. */
#ifndef GYRE_TESTS_CONFORMANCE_COLLECT_H
#define GYRE_TESTS_CONFORMANCE_COLLECT_H
#include <gyre/message.h>

#define FILL(FIELD) FIELD(u32, value) FIELD(u32, microseconds)
GYRE_MESSAGE(fill, FILL)

#define FILLED(FIELD) FIELD(u32, before) FIELD(u32, uneven)
GYRE_MESSAGE(filled, FILLED)

#define PAIR(FIELD) FIELD(u32, left) FIELD(u32, right)
GYRE_MESSAGE(pair, PAIR)
#endif
