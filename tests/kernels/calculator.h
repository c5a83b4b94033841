/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_CALCULATOR_H
#define GYRE_KERNELS_CALCULATOR_H

#include <gyre/message.h>

#define CALCULATOR_REQUEST(FIELD) FIELD(i64, a) FIELD(i64, b) FIELD(u32, operation)
GYRE_MESSAGE(calculator_request, CALCULATOR_REQUEST)
#define CALCULATOR_REPLY(FIELD) FIELD(i64, result) FIELD(u32, steps)
GYRE_MESSAGE(calculator_reply, CALCULATOR_REPLY)

#endif
