/* SPDX-License-Identifier: Apache-2.0 */
/* A message type of every shape that a declaration can have; shapes.gyre.c gives each of them back. */
#ifndef GYRE_SHAPES_H
#define GYRE_SHAPES_H

#include <gyre/message.h>

#define S_FIXED(FIELD) FIELD(u8, flag) FIELD(u64, words[5])
GYRE_MESSAGE(s_fixed, S_FIXED)

/* with its tail it shares a line with the sequence */
#define S_SMALL(FIELD) FIELD(u8, lead) FIELD(span_u16, halves)
GYRE_MESSAGE_TAIL(s_small, S_SMALL, 16)

#define S_TEXT(FIELD) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(s_text, S_TEXT, 300)

#define S_FLOATS(FIELD) FIELD(f32, first) FIELD(span_f32, floats)
GYRE_MESSAGE_TAIL(s_floats, S_FLOATS, 1000)

#define S_MIXED(FIELD) FIELD(u8, lead) FIELD(span_u8, bytes) FIELD(span_f64, doubles) FIELD(span_i16, halves)
GYRE_MESSAGE_TAIL(s_mixed, S_MIXED, 700)

#define S_LARGE(FIELD) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(s_large, S_LARGE, 65000)

#define S_IDS(FIELD) FIELD(id128, id) FIELD(span_id128, others) FIELD(optional_id128, parent)
GYRE_MESSAGE_TAIL(s_ids, S_IDS, 500)

#define S_MAYBE(FIELD)                                                                                       \
    FIELD(optional_i8, a)                                                                                    \
    FIELD(optional_u16, b) FIELD(optional_i32, c) FIELD(optional_f64, d) FIELD(optional_utf8, e)
GYRE_MESSAGE_TAIL(s_maybe, S_MAYBE, 120)

#define S_NAMES(FIELD) FIELD(span_utf8, names) FIELD(u32, after)
GYRE_MESSAGE_TAIL(s_names, S_NAMES, 600)

#define S_TICK(FIELD) FIELD(i64, time) FIELD(f64, price) FIELD(u16, size)
GYRE_MESSAGE(s_tick, S_TICK)
GYRE_SPAN(s_tick_list, s_tick)
#define S_TICKS(FIELD) FIELD(s_tick, last) FIELD(s_tick_list, ticks)
GYRE_MESSAGE_TAIL(s_ticks, S_TICKS, 1500)

#define S_PERSON(FIELD) FIELD(u16, age) FIELD(utf8, name) FIELD(optional_utf8, phone)
GYRE_MESSAGE(s_person, S_PERSON)
GYRE_SPAN(s_people, s_person)
GYRE_OPTIONAL(s_maybe_person, s_person)
#define S_FAMILY(FIELD) FIELD(s_person, head) FIELD(s_maybe_person, partner) FIELD(s_people, children)
GYRE_MESSAGE_TAIL(s_family, S_FAMILY, 900)

#define S_TEAM(FIELD) FIELD(utf8, name) FIELD(s_people, members)
GYRE_MESSAGE(s_team, S_TEAM)
GYRE_SPAN(s_teams, s_team)
#define S_LEAGUE(FIELD) FIELD(u8, season) FIELD(s_teams, teams)
GYRE_MESSAGE_TAIL(s_league, S_LEAGUE, 3000)

#define S_GRID(FIELD) FIELD(utf8, cells[2][3]) FIELD(s_person, two[2]) FIELD(span_i32, rows[3])
GYRE_MESSAGE_TAIL(s_grid, S_GRID, 800)

#define S_SHAPES(SHAPE)                                                                                      \
    SHAPE(s_fixed)                                                                                           \
    SHAPE(s_small)                                                                                           \
    SHAPE(s_text)                                                                                            \
    SHAPE(s_floats)                                                                                          \
    SHAPE(s_mixed)                                                                                           \
    SHAPE(s_large)                                                                                           \
    SHAPE(s_ids)                                                                                             \
    SHAPE(s_maybe)                                                                                           \
    SHAPE(s_names)                                                                                           \
    SHAPE(s_ticks)                                                                                           \
    SHAPE(s_family)                                                                                          \
    SHAPE(s_league)                                                                                          \
    SHAPE(s_grid)

#endif
