#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Handlers that are worse than need be: what bounds them, and the line that would help most.
set -u
# shellcheck source=tests/estimate/estimates.sh
source "$(dirname "${BASH_SOURCE[0]}")/estimates.sh"

works 64 64
estimates rows --buffer table=zeros:67108864
prints "bound by  memory:"
prints "rows.gyre.c:$(line_of rows 'table[first + i]'): memory: a group of lanes moves 32.0 sectors of 32 bytes an access where 4.0 would do"
estimates columns --buffer table=zeros:67108864
[[ "$out" != *"sectors of 32 bytes an access"* ]] || fail "expected no advice about sectors"

works 64 1000
estimates branches
grep -Eq "branches.gyre.c:(1[4-9]|2[01]): divergence: 16.0 of 32 lanes work here" <<<"$out" || fail "expected a line of the branches"
# neighbours that go the same way: even numbers alone
seq 2 2 128 | sed 's/.*/{"turns":1000,"seed":&}/' >"$folder/requests"
estimates branches
[[ "$out" != *divergence:* ]] || fail "expected no divergence"
works 64 2000
estimates chain
prints "bound by  instructions:"

works 4 200
estimates block_serial --lanes 64
prints "bound by  serial lane:"
prints "block_serial.gyre.c:$(line_of block_serial 'x += scratch')"
prints "serial lane: 1.0 of 32 lanes work here, and the others of the block wait"

works 4 100
estimates barriers --lanes 64
prints "bound by  barriers:"
prints "barriers: 100.0 barriers a message"

estimates banks --lanes 32
prints "banks.gyre.c:$(line_of banks 'x ^='): scratch: "

# what a failure of an actor takes is counted; and a buffer, which others may write, is read anew for each message
works 64 1
estimates actor_fails
prints "bound by  failures:"
works 64 2
estimates actor_reads --buffer table=zeros:4096
prints "bound by  memory:"

# without values that the compiler cannot foresee the array is in registers, and nothing is said of it
optimised="--set=backend.cuda.options="
if [[ "$(uname -m)" == x86_64 ]]; then
    works 64 1000
    estimates local_table "$optimised"
    prints "bound by  local memory:"
    prints "local memory: an array with indices that are not constant"
    prints "local_table.gyre.c:$(line_of local_table '>> 8) % 64u'): local memory:"
fi

works 64 4
estimates emits
prints "counted: 64 messages, 0 failed"
prints "64 messages emitted to ports: what their links take is not counted"

# what a declaration makes of a message with parts is no line of the user's to change; of such messages the bytes in use count
cat >"$folder/tail.gyre.c" <<'END'
#include <gyre/kernel.h>

#define PARCEL(FIELD) FIELD(u64, customer) FIELD(utf8, street) FIELD(span_u64, marks)
GYRE_MESSAGE_TAIL(parcel, PARCEL, 4000)
#define DONE(FIELD) FIELD(u64, sum)
GYRE_MESSAGE(done_of, DONE)

GYRE_BLOCK_KERNEL(measure, parcel, done_of, gyre_none)
{
    if (gyre_lane(gyre) == 0)
        reply->sum = request->customer + request->marks.count;
    return GYRE_REPLY;
}
END
seq 8 | sed 's/.*/{"customer":&,"street":"a street of & letters","marks":[1,2,3,4,5,6,7]}/' >"$folder/requests"
handlers="$folder" estimates tail --json
prints '"lanes":512' # as the backend cuda takes them for messages of this size
checks=$((checks + 1))
grep -Eq '"checks":([1-9]|0\.0*[1-9])' <<<"$out" || fail "expected the check of the parts among the parts: $out"
[[ "$out" != *"GYRE_MESSAGE"* && "$out" != *"tail.gyre.c\",\"line\":$(grep -n GYRE_MESSAGE_TAIL "$folder/tail.gyre.c" | cut -d: -f1),\"kind\""* ]] ||
    fail "expected no advice for the line of the declaration: $out"
handlers="$folder" estimates tail
prints "checks  "
[[ "$out" != *"requests of 4"* ]] || fail "expected the bytes in use in place of the largest message"

# the same counts give the same figures
works 64 1000
estimates local_table
first="$out"
estimates local_table
[[ "$out" == "$first" ]] || fail "expected the same words as before"

# a file has the same lines wherever it is: in a folder with blanks, in one that looks like the dialect's, as unit.c
works 64 1000
for place in "a folder: 2 (discriminator 3)/chain.gyre.c" "gyre/my/dialect/chain.gyre.c" "gyre-work-1/unit.c"; do
    mkdir -p "$folder/${place%/*}"
    cp "$handlers"/chain.gyre.c "$folder/$place"
    source="$folder/$place"
    if [[ "$source" == */unit.c ]]; then # the kernel's file includes it
        printf '#include "%s"\n' "$place" >"$folder/unit.gyre.c"
        source="$folder/unit.gyre.c:chain"
    fi
    estimates chain --json
    expected="$(grep -o '"rate":[0-9.]*' <<<"$out")"
    run estimate "$source" --messages "$folder/requests" --timeout $((60000 * patience)) --json
    exits 0
    checks=$((checks + 1))
    [[ -n "$expected" && "$(grep -o '"rate":[0-9.]*' <<<"$out")" == "$expected" ]] || fail "$place: expected $expected"
done

# a name that the handler gives its lines does not steer the terminal: a control of two bytes, and a mark that turns the direction
control=$'\xc2\x9b' turn=$'\xe2\x80\xae'
sed "/^GYRE_KERNEL/i #line 1 \"/x/${control}31m${turn}red.c\"" "$handlers/rows.gyre.c" >"$folder/odd.gyre.c"
works 64 64
for form in --lanes=512 --json; do
    run estimate "$folder/odd.gyre.c" "$form" --buffer table=zeros:67108864 --messages "$folder/requests" --timeout $((60000 * patience))
    exits 0
    prints "??31m???red.c"
    [[ "$out$err" != *"$control"* && "$out$err" != *"$turn"* ]] || fail "expected no letter that steers the terminal"
done

# more blocks take more, and a call alone is not faster for them
works 64 1000
estimates chain --json
one="$(grep -o '"rate":[0-9]*' <<<"$out" | cut -d: -f2)"
estimates chain --json --blocks 4
four="$(grep -o '"rate":[0-9]*' <<<"$out" | cut -d: -f2)"
((four > 2 * one && four <= 4 * one)) || fail "expected 4 blocks to take 2 to 4 times as much as $one: $four"
finish
