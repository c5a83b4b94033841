/* SPDX-License-Identifier: Apache-2.0 */
/* An order of nested records, lists and both forms of text on the wire; wire_order_wire.h is what gyre wire
 * makes. */
#ifndef GYRE_KERNELS_WIRE_ORDER_H
#define GYRE_KERNELS_WIRE_ORDER_H

#include <gyre/message.h>

#define ADDRESS(FIELD) FIELD(utf8, street) FIELD(u16, number) FIELD(optional_utf8, door)
GYRE_MESSAGE(address, ADDRESS)
GYRE_OPTIONAL(optional_address, address)
#define ORDER_LINE(FIELD)                                                                                    \
    FIELD(u64, article)                                                                                      \
    FIELD(u32, pieces) FIELD(f32, price) FIELD(optional_f32, rebate) FIELD(span_utf8, notes)
GYRE_MESSAGE(order_line, ORDER_LINE)
GYRE_WIRE(order_line, "form=packed nullable=packed string=utf16")
GYRE_SPAN(order_lines, order_line)

#define ORDER(FIELD)                                                                                         \
    FIELD(id128, id) FIELD(address, to) FIELD(optional_address, invoice_to) FIELD(order_lines, lines)
GYRE_MESSAGE_TAIL(order, ORDER, 600)
GYRE_WIRE(order, "order=lines,id,invoice_to,to")

#endif
