/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_PARTS_ORDER_H
#define GYRE_KERNELS_PARTS_ORDER_H

#include <gyre/message.h>

#define ADDRESS(FIELD) FIELD(utf8, street) FIELD(u16, number) FIELD(optional_utf8, door)
GYRE_MESSAGE(address, ADDRESS)
#define ORDER_LINE(FIELD)                                                                                    \
    FIELD(u64, article)                                                                                      \
    FIELD(u32, pieces) FIELD(f32, price) FIELD(optional_f32, rebate) FIELD(span_utf8, notes)
GYRE_MESSAGE(order_line, ORDER_LINE)
GYRE_SPAN(order_lines, order_line)
GYRE_OPTIONAL(optional_address, address)

#define ORDER(FIELD)                                                                                         \
    FIELD(id128, id)                                                                                         \
    FIELD(address, to) FIELD(optional_address, invoice_to) FIELD(order_lines, lines) FIELD(utf8, codes[2])
GYRE_MESSAGE_TAIL(order, ORDER, 2000)

#define ORDER_CHECKED(FIELD)                                                                                 \
    FIELD(id128, id)                                                                                         \
    FIELD(f32, total) FIELD(u32, note_bytes) FIELD(u32, address_bytes) FIELD(order_lines, lines)
GYRE_MESSAGE_TAIL(order_checked, ORDER_CHECKED, 1200)

#endif
