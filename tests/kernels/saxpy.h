/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_SAXPY_H
#define GYRE_KERNELS_SAXPY_H

#include <gyre/message.h>

#define SAXPY_REQUEST(FIELD) FIELD(u64, start) FIELD(u32, count) FIELD(f32, factor)
GYRE_MESSAGE(saxpy_request, SAXPY_REQUEST)
#define SAXPY_REPLY(FIELD) FIELD(f64, sum) FIELD(u64, x_count) FIELD(u64, y_count)
GYRE_MESSAGE(saxpy_reply, SAXPY_REPLY)
#define SAXPY_BUFFERS(IN, INOUT) IN(f32, x) INOUT(f32, y)

#endif
