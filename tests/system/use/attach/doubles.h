/* SPDX-License-Identifier: Apache-2.0 */
/* Small messages of u32, which a compiler may hold for nobody else's. */
#ifndef GYRE_TESTS_DOUBLES_H
#define GYRE_TESTS_DOUBLES_H

#include <gyre/message.h>

#define DOUBLES(FIELD) FIELD(u32, number) FIELD(u32, other)
GYRE_MESSAGE(doubles, DOUBLES)

#endif
