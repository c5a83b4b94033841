/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a word of a buffer that the message names. */
#include <gyre/kernel.h>
#include "ledger.h"

GYRE_KERNEL(reader, place, entry)
{
    u64 count;
    const GYRE_GLOBAL u64 *words = gyre_open(gyre, u64, &request->words, &count);
    reply->add = count ? words[0] : 0;
    return GYRE_REPLY;
}
