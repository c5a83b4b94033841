#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What differs with the order of lanes is found out in each message, and why it does once: messages of a handler that races take about
# the processor time of as many that do not. Told for each of them they would take twenty times as long.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
cd "$folder" || exit 1
TIMEFORMAT='%U'
messages=100
for ((i = 0; i < messages; i++)); do echo '{"n":1}'; done >requests

call() { run call --check schedule --seeds 2 --lanes 8 --timeout $((60000 * patience)) last.gyre.c; }

# spend LAST: the processor time of the messages in milliseconds goes to $spent; LAST is what each lane stores as the last one.
spend()
{
    cat >last.gyre.c <<END
#include <gyre/kernel.h>
#define ROW(FIELD) FIELD(u32, n)
GYRE_MESSAGE(row, ROW)
#define TOTAL(FIELD) FIELD(u32, total)
GYRE_MESSAGE(total, TOTAL)
typedef struct work { u32 last; u32 own[8]; } work;
GYRE_BLOCK_KERNEL(last, row, total, work)
{
    const u32 lane = gyre_lane(gyre);
    scratch->own[lane] = 0;
    for (u32 i = 0; i < 1000; i++)
        scratch->own[lane] += i;
    gyre_atomic_store(&scratch->last, $1);
    gyre_barrier(gyre);
    if (lane == 0)
        reply->total = scratch->last;
    return GYRE_REPLY;
}
END
    call <<<'{"n":1}' # compiles it
    { time call <requests; } 2>took
    spent="$(awk '{ print int($1 * 1000) + 1 }' took)"
}

spend 'request->n'
exits 0
usual="$spent"
spend lane
exits 1
says "$messages failed"
checks=$((checks + 1))
((spent <= usual * 6)) || fail "expected about $usual ms of processor time, as without a race, found $spent ms"
finish
