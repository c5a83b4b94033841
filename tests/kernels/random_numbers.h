/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_RANDOM_NUMBERS_H
#define GYRE_KERNELS_RANDOM_NUMBERS_H

#include <gyre/message.h>

#define RANDOM_REQUEST(FIELD) FIELD(u64, seed) FIELD(u32, draws)
GYRE_MESSAGE(random_request, RANDOM_REQUEST)
#define RANDOM_REPLY(FIELD) FIELD(u64, last) FIELD(u32, pcg) FIELD(u32, inside) FIELD(f64, mean)
GYRE_MESSAGE(random_reply, RANDOM_REPLY)

#endif
