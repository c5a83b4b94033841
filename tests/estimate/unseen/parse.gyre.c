/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a number with a sign, digits and a fraction from text. */
#include <gyre/kernel.h>

#define TEXT(FIELD) FIELD(u8, letters[24])
GYRE_MESSAGE(text_of, TEXT)
#define NUMBER(FIELD) FIELD(i64, thousandths) FIELD(u32, length)
GYRE_MESSAGE(number_of, NUMBER)

GYRE_KERNEL(parse, text_of, number_of)
{
    u32 at = 0, places = 0;
    i64 value = 0;
    const u8 minus = request->letters[0] == '-';
    at += minus;
    while (at < 24 && request->letters[at] >= '0' && request->letters[at] <= '9')
        value = value * 10 + (request->letters[at++] - '0');
    if (at < 24 && request->letters[at] == '.')
        for (at++; at < 24 && request->letters[at] >= '0' && request->letters[at] <= '9'; at++)
            if (places < 3) {
                value = value * 10 + (request->letters[at] - '0');
                places++;
            }
    for (; places < 3; places++)
        value *= 10;
    reply->thousandths = minus ? -value : value;
    reply->length = at;
    return GYRE_REPLY;
}
