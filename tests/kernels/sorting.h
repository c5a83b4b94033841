/* SPDX-License-Identifier: Apache-2.0 */
/* Two types of messages for the lanes of a block: numbers to be added up, a text to be turned around. */
#ifndef GYRE_KERNELS_SORTING_H
#define GYRE_KERNELS_SORTING_H

#include <gyre/message.h>

#define NUMBERS(FIELD) FIELD(span_u32, numbers)
GYRE_MESSAGE_TAIL(numbers, NUMBERS, 256)
#define TOTAL(FIELD) FIELD(u32, sum) FIELD(u32, largest)
GYRE_MESSAGE(total, TOTAL)

#define LETTERS(FIELD) FIELD(u8, letters[24])
GYRE_MESSAGE(letters, LETTERS)
#define TURNED(FIELD) FIELD(span_u8, letters)
GYRE_MESSAGE_TAIL(turned, TURNED, 24)

#define SORTING(TAKES) TAKES(numbers, total) TAKES(letters, turned)
GYRE_PROTOCOL(sorting, SORTING)

#endif
