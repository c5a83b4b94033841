/* SPDX-License-Identifier: Apache-2.0 */
/* A number as decimal digits. */
#include <gyre/kernel.h>

#define NUMBER(FIELD) FIELD(u64, value)
GYRE_MESSAGE(number, NUMBER)
#define DIGITS(FIELD) FIELD(u8, digits[20]) FIELD(u32, count)
GYRE_MESSAGE(digits_of, DIGITS)

GYRE_KERNEL(digits, number, digits_of)
{
    u64 left = request->value;
    u32 count = 0;
    u8 turned[20];
    do {
        turned[count++] = (u8)('0' + left % 10u);
        left /= 10u;
    } while (left > 0);
    for (u32 i = 0; i < count; i++)
        reply->digits[i] = turned[count - 1 - i];
    reply->count = count;
    return GYRE_REPLY;
}
