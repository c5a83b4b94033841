/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_HISTOGRAM_H
#define GYRE_KERNELS_HISTOGRAM_H

#include <gyre/message.h>

#define HISTOGRAM_BINS           32
#define HISTOGRAM_REQUEST(FIELD) FIELD(u32, count) FIELD(u8, values[60])
GYRE_MESSAGE(histogram_request, HISTOGRAM_REQUEST)
#define HISTOGRAM_REPLY(FIELD) FIELD(u32, counted)
GYRE_MESSAGE(histogram_reply, HISTOGRAM_REPLY)
#define HISTOGRAM_STATE(FIELD)                                                                               \
    FIELD(u32, bins[HISTOGRAM_BINS]) FIELD(u64, total) FIELD(u32, largest) FIELD(u32, smallest)
GYRE_MESSAGE(histogram_state, HISTOGRAM_STATE)

#endif
