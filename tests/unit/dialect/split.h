/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_UNIT_SPLIT_H
#define GYRE_UNIT_SPLIT_H

#include <gyre/message.h>

#define LINE(FIELD) FIELD(u32, number) FIELD(u32, length) FIELD(u8, text[120])
GYRE_MESSAGE(line, LINE)
#define WORD(FIELD) FIELD(u32, line) FIELD(u32, length) FIELD(u8, text[24])
GYRE_MESSAGE(word, WORD)
#define LINE_ERROR(FIELD) FIELD(u32, line) FIELD(u32, at)
GYRE_MESSAGE(line_error, LINE_ERROR)

#endif
