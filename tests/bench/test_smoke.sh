#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every case for a moment, and what the command refuses. One case is left out: checkpoint/1GiB does what
# checkpoint/64MiB does, in 6 GiB of memory, which takes minutes where other tests run beside it. The command itself leaves those out that
# take two devices, where there is one.
set -u
: "${CHECK_ROWS:?the program that checks rows}"
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"

mapfile -t cases < <("$GYRE" bench --list | grep -vx checkpoint/1GiB)
((${#cases[@]} >= 20)) || { echo "only ${#cases[@]} cases are listed"; exit 1; }
run bench --seconds 0.02 --json "${cases[@]/#/--case=}"
exits 0
checks=$((checks + 1))
mapfile -t cases < <(printf '%s\n' "${cases[@]}" |
    grep -vxFf <(sed -n 's/^gyre: left out: case \([^:]*\): it takes two devices.*/\1/p' "$folder/err"))
"$CHECK_ROWS" "${cases[@]}" <"$folder/out" >"$folder/found" 2>&1 || fail "rows: $(<"$folder/found")"

run bench --list --json --case 'call/*'
exits 0
prints '["call/48",'
run bench --case floor/line --case floor/park --seconds 0.05
exits 0
prints 'floor/line'
prints 'floor/park'

run bench --case 'cal/*'
refuses 2 "no case matches 'cal/*': 'gyre bench --list' names them ('gyre help bench' shows how)"
run bench --seconds= --case floor/line
refuses 2 "--seconds: expected a value, found an empty text ('gyre help bench' shows how)"
for seconds in 0 -1 nan 1e9 1x; do
    run bench --seconds="$seconds" --case floor/line
    refuses 2 "--seconds: expected a number from 0.01 to 3600, found '$seconds' ('gyre help bench' shows how)"
done
for case in call/48 launch buffer/alloc recover/fault memory; do
    run bench --seconds 0.05 --case "$case" --backend nowhere
    exits 3
    says "there is no backend 'nowhere'"
done
run bench --seconds 0.05 --case call/48 --set kernel.words_48.backend=nowhere
exits 3
TMPDIR="$folder/missing" run bench --case compile_cold --seconds 0.05
exits 1
says "no temporary folder can be made in '$folder/missing' (No such file or directory): TMPDIR may name another"
run bench call/48
refuses 2 "expected options only, found 'call/48' ('gyre help bench' shows how)"
finish
