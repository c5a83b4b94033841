#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A handler that asks for its block is told of a race with another block's message however many messages lie between. The first of 1,500
# messages writes a number of the state; only the last hundred read it, in both blocks.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
cd "$folder" || exit 1
cat >mark.gyre.c <<'END'
#include <gyre/kernel.h>
#define NUMBER(FIELD) FIELD(u32, n)
GYRE_MESSAGE(number, NUMBER)
#define KEPT(FIELD) FIELD(u32, of_block[8]) FIELD(u32, mark)
GYRE_MESSAGE(kept, KEPT)

GYRE_BLOCK_KERNEL_WITH(mark, number, number, gyre_none, kept, gyre_none)
{
    state->of_block[gyre_block(gyre)] += request->n;
    if (request->n == 1)
        state->mark = 1;
    if (request->n > 1400)
        state->of_block[gyre_block(gyre)] += state->mark;
    reply->n = request->n;
    return GYRE_REPLY;
}
END
for ((i = 1; i <= 1500; i++)); do echo "{\"n\":$i}"; done >requests
# all requests are in the ring before the first is handled, and the seed decides which block handles which
run call --backend cpu --check races,order --seeds 1 --lanes 1 --blocks 2 --set queue.mark.capacity=4096 \
    --timeout $((60000 * patience)) mark.gyre.c <requests
exits 1
prints '"failed":{"code":-20,"text":"mark.gyre.c:11 and 13: race, two messages"}'
says "writes it at $PWD/mark.gyre.c:11"
says "1499 of 1500 answers as expected"
finish
