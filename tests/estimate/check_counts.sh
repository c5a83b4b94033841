#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The check traffic counts exactly: sectors of 32 bytes, turns of banks, lanes at work, atomic operations.
set -u
# shellcheck source=tests/estimate/estimates.sh
source "$(dirname "${BASH_SOURCE[0]}")/estimates.sh"

# 64 messages are 2 groups; each lane reads 64 numbers of 4 bytes, 8 in a sector.
works 64 64
line="$(line_of rows 'table[first + i]')"
estimates rows --json --buffer table=zeros:67108864
has rows "$line" touches 128  # 2 groups, 64 turns
has rows "$line" sectors 4096 # each lane its own
has rows "$line" fresh 512    # every eighth turn a new one
has rows "$line" needed 512   # 32 lanes of 4 bytes fill 4 sectors

# neighbours read neighbours: 32 numbers are 4 sectors, new ones at each turn
line="$(line_of columns 'table[first + 4096u * i]')"
estimates columns --json --buffer table=zeros:67108864
has columns "$line" touches 128
has columns "$line" sectors 512
has columns "$line" fresh 512
has columns "$line" needed 512

# a group that is not full: 33 messages are a full group and one lane
works 33 8
line="$(line_of columns 'table[first + 4096u * i]')"
estimates columns --json --buffer table=zeros:67108864
has columns "$line" touches 16
has columns "$line" sectors 40 # 4 and 1, 8 times

# an actor handles one message after the other: no lanes share anything
works 5 3
line="$(line_of actor_table 'state->counts[x % 4096u]++')"
estimates actor_table --json
has actor_table "$line" touches 30 # a read and a write, 3 turns, 5 messages
has actor_table "$line" sectors 30

# lanes of a group at different words of one bank: rows of 32 numbers lie below each other
sed 's/(x + i) % 32/i % 32/' "$handlers/banks.gyre.c" >"$folder/banks.gyre.c"
own="$handlers" handlers="$folder"
line="$(line_of banks 'x ^=')"
works 2 16
estimates banks --json --lanes 32
has banks "$line" scratch 32             # 2 messages, 16 turns
has banks "$line" conflicts $((32 * 31)) # 31 lanes wait each time
sed -i 's/rows\[32\]\[32\]/rows[32][33]/' "$folder/banks.gyre.c"
estimates banks --json --lanes 32
has banks "$line" conflicts 0

# branches: a group runs both, each with half of its lanes, whichever lane comes first
handlers="$own"
works 64 8
estimates branches --json
for text in 1664525u 69069u; do
    line="$(line_of branches "$text")"
    issued="$(row branches.gyre.c "$line" issued)" executed="$(row branches.gyre.c "$line" executed)"
    checks=$((checks + 1))
    # what all lanes run of the line, a condition say, is a little more than half
    ((issued > 0 && executed >= 16 * issued && executed <= 26 * issued)) ||
        fail "expected half of the lanes at line $line: $issued of groups, $executed of lanes"
done

# loops: one that ends by what it computed has turns, for each group as many as its slowest lane; one that counts has none
works 64 1000
estimates collatz --json
turns=$(($(row collatz.gyre.c "$(line_of collatz 'while')" turns) + $(row collatz.gyre.c "$(line_of collatz 'x = x &')" turns) +
    $(row collatz.gyre.c "$(line_of collatz 'steps++')" turns)))
checks=$((checks + 1))
((turns >= 150 && turns <= 300)) || fail "expected the turns of the longest chains below 65, 2 times some 110, found $turns"
for handler in mix_floats rounds; do
    estimates "$handler" --json
    checks=$((checks + 1))
    [[ "$out" != *'"turns":'[1-9]* ]] || fail "expected no turns of the loop that counts in $handler: $out"
done
# nor has one that goes on by the number of lanes, with messages of random fields
run estimate "$handlers/block_1024.gyre.c" --lanes 64 --count 4 --timeout $((60000 * patience)) --json
exits 0
checks=$((checks + 1))
[[ "$out" != *'"turns":'[1-9]* ]] || fail "expected no turns of the loop that lanes share: $out"

# waits: a read behind a write waits again, and reads beside each other wait once
works 5 3
estimates actor_table --json
checks=$((checks + 1))
waits=$(($(row actor_table.gyre.c "$(line_of actor_table 'state->counts[x % 4096u]++')" waits) +
    $(row actor_table.gyre.c "$(line_of actor_table 'x = x * 1664525u + state')" waits)))
((waits == 30)) || fail "expected 2 waits a turn, 3 turns, 5 messages, found $waits"
works 1 10
estimates tiles --json --lanes 64
checks=$((checks + 1))
waits="$(row tiles.gyre.c "$(line_of tiles 'sum +=')" waits)" reads="$(row tiles.gyre.c "$(line_of tiles 'sum +=')" scratch)"
((waits > 0 && 2 * waits <= reads)) || fail "expected two reads beside each other to wait once, found $waits of $reads"

# a loop of two instructions, whose step compares: no line has less than none
cat >"$folder/counts_down.gyre.c" <<'END'
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(counts_down, work, done)
{
    u32 x = 0;
    for (u32 n = request->turns; n; n--)
    {
        x
        =
        n;
    }
    reply->value = x;
    return GYRE_REPLY;
}
END
works 64 1000
handlers="$folder" estimates counts_down --json
checks=$((checks + 1))
[[ "$out" == *'"issued":'* && "$out" != *:-* ]] || fail "expected no number below 0: $out"
finish
