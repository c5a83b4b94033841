/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_OUTCOMES_H
#define GYRE_KERNELS_OUTCOMES_H

#include <gyre/message.h>

#define OUTCOMES_REQUEST(FIELD) FIELD(u32, way) FIELD(i32, code)
GYRE_MESSAGE(outcomes_request, OUTCOMES_REQUEST)
#define OUTCOMES_REPLY(FIELD) FIELD(i32, code)
GYRE_MESSAGE(outcomes_reply, OUTCOMES_REPLY)

#endif
