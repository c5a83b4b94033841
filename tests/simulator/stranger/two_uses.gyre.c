/* SPDX-License-Identifier: Apache-2.0 */
/* One scratch for two things, one after the other, with a barrier between: first pairs, then single bytes.
 *
 * expects: nothing
 * options: --lanes 4
 * request: {"text":"abcdefghijklmnop"} */
#include <gyre/kernel.h>

#define TEXT(FIELD) FIELD(u8, text[16])
GYRE_MESSAGE(text_of, TEXT)
typedef struct two_uses_work {
    u32 words[4];
} two_uses_work;

GYRE_HELPER u32 word_of(const GYRE_GLOBAL u8 *text)
{
    u32 word = 0;
    for (u32 i = 0; i < 4; i++)
        word = word << 8 | text[i];
    return word;
}

GYRE_BLOCK_KERNEL(two_uses, text_of, text_of, two_uses_work)
{
    const u32 lane = gyre_lane(gyre);
    GYRE_SHARED u8 *bytes = (GYRE_SHARED u8 *)scratch->words;
    scratch->words[lane] = word_of(&request->text[lane * 4]);
    gyre_barrier(gyre);
    const u32 other = scratch->words[3 - lane];
    gyre_barrier(gyre);
    for (u32 i = lane; i < 16; i += 4) {
        bytes[i] = (u8)(request->text[i] ^ 32);
        reply->text[i] = bytes[i];
    }
    if (other == 0)
        return gyre_fail(gyre, 1, "a word of zeros");
    return GYRE_REPLY;
}
