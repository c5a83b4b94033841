/* SPDX-License-Identifier: Apache-2.0 */
/* The distance of two words, by a row of an array that moves on. */
#include <gyre/kernel.h>

#define WORDS(FIELD) FIELD(u8, one[24]) FIELD(u8, other[24])
GYRE_MESSAGE(words, WORDS)
#define DISTANCE(FIELD) FIELD(u32, changes)
GYRE_MESSAGE(distance_of, DISTANCE)

GYRE_KERNEL(distance, words, distance_of)
{
    u32 row[25];
    for (u32 i = 0; i <= 24; i++)
        row[i] = i;
    for (u32 i = 0; i < 24; i++) {
        u32 before = row[0];
        row[0] = i + 1;
        for (u32 j = 0; j < 24; j++) {
            const u32 changed = before + (request->one[i] != request->other[j]);
            before = row[j + 1];
            const u32 least = before < row[j] ? before + 1 : row[j] + 1;
            row[j + 1] = changed < least ? changed : least;
        }
    }
    reply->changes = row[24];
    return GYRE_REPLY;
}
