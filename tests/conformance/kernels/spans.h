/* SPDX-License-Identifier: Apache-2.0 */
/* Messages whose spans may lie in device buffers. */
#ifndef GYRE_CONFORMANCE_SPANS_H
#define GYRE_CONFORMANCE_SPANS_H

#include <gyre/message.h>

#define SAMPLES(FIELD)                                                                                       \
    FIELD(u32, beyond) FIELD(span_u64, words) FIELD(span_f32, halves) FIELD(utf8, title) FIELD(span_u64, few)
GYRE_MESSAGE_TAIL(samples, SAMPLES, 400)
#define SAMPLES_SEEN(FIELD)                                                                                  \
    FIELD(u64, count)                                                                                        \
    FIELD(u64, sum) FIELD(u64, last) FIELD(f32, halves) FIELD(utf8, title) FIELD(span_u64, copied)
GYRE_MESSAGE_TAIL(samples_seen, SAMPLES_SEEN, 160)

#define SAMPLES_OF_WORDS(FIELD) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(samples_of_words, SAMPLES_OF_WORDS, 64)
#define SAMPLES_OF_ONE(FIELD) FIELD(u64, word)
GYRE_MESSAGE(samples_of_one, SAMPLES_OF_ONE)
#define WORDS_SUM(FIELD) FIELD(u64, sum)
GYRE_MESSAGE(words_sum, WORDS_SUM)
GYRE_MESSAGE(words_sum_of_one, WORDS_SUM)
#define EITHER_SAMPLES(TAKES) TAKES(samples_of_words, words_sum) TAKES(samples_of_one, words_sum_of_one)
GYRE_PROTOCOL(either_samples, EITHER_SAMPLES)

/* Asks for squares in a buffer that goes along, or, with none, in the reply. */
#define SQUARES_WANTED(FIELD) FIELD(gyre_handle, room) FIELD(u64, first) FIELD(u32, count) FIELD(u32, beyond)
GYRE_MESSAGE(squares_wanted, SQUARES_WANTED)
#define SQUARES(FIELD) FIELD(u64, sum) FIELD(utf8, title) FIELD(span_u64, squares)
GYRE_MESSAGE_TAIL(squares, SQUARES, 120)

/* Asks for `count` numbers from 100 on, in a buffer that goes along or in the reply, of which `keep` remain. */
#define CUT_WANTED(FIELD) FIELD(gyre_handle, room) FIELD(u32, count) FIELD(u32, keep) FIELD(u32, way)
GYRE_MESSAGE(cut_wanted, CUT_WANTED)
#define CUT_NUMBERS(FIELD) FIELD(span_u64, numbers) FIELD(utf8, title)
GYRE_MESSAGE_TAIL(cut_numbers, CUT_NUMBERS, 160)
/* What is cut: the numbers, as `keep` says; the same as u32; what was dropped before; what begins elsewhere. */
enum { CUT_AS_ASKED, CUT_AS_ANOTHER_TYPE, CUT_WHAT_WAS_DROPPED, CUT_BESIDE };

#endif
