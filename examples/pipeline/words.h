/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WORDS_H
#define WORDS_H

#include <gyre/message.h>

#define LINE(FIELD) FIELD(u8, text[120])
GYRE_MESSAGE(line, LINE)

#define WORD(FIELD) FIELD(u32, length) FIELD(u32, last)
GYRE_MESSAGE(word, WORD)

#define SUMMARY(FIELD) FIELD(u32, words) FIELD(u32, longest)
GYRE_MESSAGE(summary, SUMMARY)

#endif
