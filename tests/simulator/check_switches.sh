#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A mistake that needs three switches of lanes: found within 10,000 seeds, not with fewer switches, shrunk to one request and these three,
# which are told by line. The small case fails each time. The same for turns of a pipeline, by the limit alone.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
handlers="$(cd "$(dirname "${BASH_SOURCE[0]}")/handlers" && pwd)"
request='{"values":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"which":0}'
seeded=(call --check schedule --seeds 10000 --lanes 2 --timeout $((30000 * patience)))
cd "$folder" || exit 1

# places: the lines of the three accesses that lanes are left before, in the order of the switches.
places()
{
    grep -nE 'second\) == 1|first\) == 2|second\) == 2' "$handlers/three.gyre.c" | cut -d: -f1 | awk '{ line[NR] = $1 } END { print line[1], line[3], line[2] }'
}

for switches in 1 2; do
    run "${seeded[@]}" --set "backend.cpu.switches=$switches" "$handlers/three.gyre.c" "$request"
    exits 0
done
run "${seeded[@]}" --save three.gyre-case "$handlers/three.gyre.c" "$request" "$request" "$request" "$request" "$request" "$request"
exits 1
[[ "$err" != *" leaves lane"* ]] || fail "expected no switches without a limit"
run shrink three.gyre-case --limit $((60000 * patience))
exits 0
prints "three.small.gyre-case: 1 of 6 requests"
checks=$((checks + 1))
grep -q '"switches":3,' three.small.gyre-case || fail "expected 3 switches in the small case"
read -r first second third <<<"$(places)"
for ((i = 0; i < 5; i++)); do
    run call --case three.small.gyre-case
    exits 1
    says "leaves lane 0 before $handlers/three.gyre.c:$first (\`"
    says "for lane 1, lane 1 before $handlers/three.gyre.c:$second (\`"
    says "for lane 0, lane 0 before $handlers/three.gyre.c:$third (\`"
done

# a lane that waits for another one is left all the same, and so is a handler of a pipeline
run call --check schedule --lanes 4 --set backend.cpu.switches=1 --timeout $((30000 * patience)) --set kernel.default.options=-DMENDED \
    "$handlers/spin.gyre.c" "$request"
exits 0
run call --check schedule --set backend.cpu.switches=many "$handlers/three.gyre.c" "$request"
exits 4
says "backend.cpu"
finish
