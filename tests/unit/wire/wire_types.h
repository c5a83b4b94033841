/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of all shapes with their wire descriptions: for the tests of both serializers, and for fuzzing. */
#ifndef GYRE_TESTS_WIRE_TYPES_H
#define GYRE_TESTS_WIRE_TYPES_H

#include <gyre/message.h>

/* VectorAdd as DotCompute sends it, and three layouts of the same that exist as well */
#define ADD_REQUEST(FIELD)                                                                                   \
    FIELD(id128, id) FIELD(u8, priority) FIELD(optional_id128, correlation) FIELD(f32, a) FIELD(f32, b)
#define ADD_REPLY(FIELD)                                                                                     \
    FIELD(id128, id) FIELD(u8, priority) FIELD(optional_id128, correlation) FIELD(f32, result)
GYRE_MESSAGE_TAIL(add_request, ADD_REQUEST, 16)
GYRE_WIRE(add_request, "form=packed nullable=packed")
GYRE_MESSAGE_TAIL(add_reply, ADD_REPLY, 16)
GYRE_WIRE(add_reply, "form=packed nullable=packed")
GYRE_MESSAGE_TAIL(add_bare, ADD_REQUEST, 16)
GYRE_WIRE(add_bare, "form=packed nullable=bare") /* 41 bytes */
GYRE_MESSAGE_TAIL(add_counted, ADD_REQUEST, 16)
GYRE_WIRE(add_counted, "form=object " /* 43 bytes */
                       "nullable=packed")
GYRE_MESSAGE_TAIL(add_padded, ADD_REQUEST, 16) /* said of no word: an object with padded values, 46 bytes */

#define NUMBERS(FIELD)                                                                                       \
    FIELD(i8, a)                                                                                             \
    FIELD(i16, b)                                                                                            \
    FIELD(i32, c)                                                                                            \
    FIELD(i64, d) FIELD(u8, e) FIELD(u16, f) FIELD(u32, g) FIELD(u64, h) FIELD(f32, i) FIELD(f64, j)
GYRE_MESSAGE(numbers, NUMBERS)
GYRE_WIRE(numbers, "order=j,a,i,b,h,c,g,d,f,e")

#define POINT(FIELD) FIELD(u8, kind) FIELD(f64, x) FIELD(i16, y)
GYRE_MESSAGE(point, POINT)
GYRE_WIRE(point, "form=struct")
GYRE_SPAN(points, point)
GYRE_OPTIONAL(optional_point, point)
#define PATH(FIELD) FIELD(points, line) FIELD(point, start) FIELD(optional_point, end) FIELD(point, edges[2])
GYRE_MESSAGE_TAIL(path, PATH, 400)

#define PAIR(FIELD) FIELD(u16, left) FIELD(u32, right)
GYRE_MESSAGE(pair, PAIR)
GYRE_WIRE(pair, "form=packed")
GYRE_OPTIONAL(optional_pair, pair)
GYRE_SPAN(pairs, pair)
#define MAP(FIELD) FIELD(pairs, entries) FIELD(optional_pair, last) FIELD(pair, first)
GYRE_MESSAGE_TAIL(map, MAP, 300)

#define LINE(FIELD) FIELD(id128, id) FIELD(u8, level) FIELD(utf8, text) FIELD(optional_utf8, room)
GYRE_MESSAGE_TAIL(line8, LINE, 200)
GYRE_WIRE(line8, "string=utf8 guid=plain")
GYRE_MESSAGE_TAIL(line16, LINE, 200)
GYRE_WIRE(line16, "string=utf16 order=text,room,level,id")

#define SPANS(FIELD)                                                                                         \
    FIELD(span_i8, a)                                                                                        \
    FIELD(span_u16, b)                                                                                       \
    FIELD(span_i32, c)                                                                                       \
    FIELD(span_u64, d) FIELD(span_f32, e) FIELD(span_f64, f) FIELD(span_id128, g) FIELD(span_utf8, h)
GYRE_MESSAGE_TAIL(spans, SPANS, 1000)

#define OPTIONALS(FIELD)                                                                                     \
    FIELD(optional_i8, a)                                                                                    \
    FIELD(optional_u16, b)                                                                                   \
    FIELD(optional_i32, c)                                                                                   \
    FIELD(optional_u64, d) FIELD(optional_f32, e) FIELD(optional_f64, f) FIELD(optional_id128, g[2])
GYRE_MESSAGE_TAIL(optionals, OPTIONALS, 200)
GYRE_MESSAGE_TAIL(optionals_packed, OPTIONALS, 200)
GYRE_WIRE(optionals_packed, "nullable=packed guid=plain")

#define ARRAYS(FIELD)                                                                                        \
    FIELD(f32, matrix[2][3])                                                                                 \
    FIELD(id128, ids[3]) FIELD(utf8, codes[2]) FIELD(optional_u32, maybe[2]) FIELD(pair, pairs[2])
GYRE_MESSAGE_TAIL(arrays, ARRAYS, 200)

#define ADDRESS(FIELD) FIELD(utf8, street) FIELD(u16, number) FIELD(optional_utf8, door)
GYRE_MESSAGE(address, ADDRESS)
#define ORDER_LINE(FIELD)                                                                                    \
    FIELD(u64, article)                                                                                      \
    FIELD(u32, pieces) FIELD(f32, price) FIELD(optional_f32, rebate) FIELD(span_utf8, notes)
GYRE_MESSAGE(order_line, ORDER_LINE)
GYRE_WIRE(order_line, "form=packed nullable=packed string=utf16")
GYRE_SPAN(order_lines, order_line)
GYRE_OPTIONAL(optional_address, address)
GYRE_SPAN(addresses, address)
#define ORDER(FIELD)                                                                                         \
    FIELD(id128, id)                                                                                         \
    FIELD(address, to) FIELD(optional_address, invoice_to) FIELD(order_lines, lines) FIELD(addresses, others)
GYRE_MESSAGE_TAIL(order, ORDER, 2000)

#define WIRE_TYPES(TYPE)                                                                                     \
    TYPE(add_request)                                                                                        \
    TYPE(add_reply)                                                                                          \
    TYPE(add_bare)                                                                                           \
    TYPE(add_counted)                                                                                        \
    TYPE(add_padded)                                                                                         \
    TYPE(numbers)                                                                                            \
    TYPE(point)                                                                                              \
    TYPE(path)                                                                                               \
    TYPE(map)                                                                                                \
    TYPE(line8)                                                                                              \
    TYPE(line16)                                                                                             \
    TYPE(spans) TYPE(optionals) TYPE(optionals_packed) TYPE(arrays) TYPE(order)

#endif
