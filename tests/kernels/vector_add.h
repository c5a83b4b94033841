/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_VECTOR_ADD_H
#define GYRE_KERNELS_VECTOR_ADD_H

#include <gyre/message.h>

#define ADD_REQUEST(FIELD) FIELD(f32, a[25]) FIELD(f32, b[25])
GYRE_MESSAGE(add_request, ADD_REQUEST)
#define ADD_REPLY(FIELD) FIELD(f32, sum[25])
GYRE_MESSAGE(add_reply, ADD_REPLY)

#endif
