/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_LOOKUP_H
#define GYRE_KERNELS_LOOKUP_H

#include <gyre/message.h>

#define LOOKUP_REQUEST(FIELD) FIELD(u8, month) FIELD(u16, year) FIELD(u32, index) FIELD(f32, at)
GYRE_MESSAGE(lookup_request, LOOKUP_REQUEST)
#define LOOKUP_REPLY(FIELD) FIELD(u32, days) FIELD(u32, weight) FIELD(f32, interpolated) FIELD(u8, letter)
GYRE_MESSAGE(lookup_reply, LOOKUP_REPLY)

#endif
