/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_PARTS_TICKS_H
#define GYRE_KERNELS_PARTS_TICKS_H

#include <gyre/message.h>

#define TICK(FIELD) FIELD(u32, time) FIELD(i32, price) FIELD(u32, size) FIELD(u32, flags)
GYRE_MESSAGE(tick, TICK)
GYRE_SPAN(tick_list, tick)

#define TICK_BATCH(FIELD) FIELD(utf8, symbol) FIELD(tick_list, ticks)
GYRE_MESSAGE_TAIL(tick_batch, TICK_BATCH, 4096)

#define TICK_SUMMARY(FIELD)                                                                                  \
    FIELD(i64, volume) FIELD(i32, low) FIELD(i32, high) FIELD(utf8, symbol) FIELD(span_i32, differences)
GYRE_MESSAGE_TAIL(tick_summary, TICK_SUMMARY, 900)

#endif
