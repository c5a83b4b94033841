/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_CLOCK_H
#define GYRE_KERNELS_CLOCK_H

#include <gyre/message.h>

#define CLOCK_REQUEST(FIELD) FIELD(u32, turns)
GYRE_MESSAGE(clock_request, CLOCK_REQUEST)
#define CLOCK_REPLY(FIELD) FIELD(u32, forward) FIELD(u32, set)
GYRE_MESSAGE(clock_reply, CLOCK_REPLY)

#endif
