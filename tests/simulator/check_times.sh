#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Virtual time: an hour passes in a pause, and a handler that asks for the time gets the same numbers in each run of a seed. Turns end
# inside of handlers also where `seeds` says how often `schedule` would run them: two blocks that wait for each other meet.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
times="$(realpath "$(dirname "${BASH_SOURCE[0]}")/times")"
limit=(--timeout $((20000 * patience)))

run call --case "$times/hour.gyre-case" "${limit[@]}"
exits 0
says "7 of 7 answers as expected"
# without turns an hour takes an hour
run call --case "$times/hour.gyre-case" "${limit[@]}" --check none
exits 1
says 'hour.gyre-case:6: uses: expected 1, found 3'

clock() { run call --check order --seed "$1" --blocks 2 "${limit[@]}" "$times/clock.gyre.c" '{"which":1}' '{"which":2}' '{"which":3}'; }
clock 5
exits 0
first="$out"
clock 5
[[ "$out" == "$first" && "$first" == *'"ns":'* ]] || fail "expected the times of the run before: $first"

run call --check races --set backend.cpu.seeds=20 --blocks 2 "${limit[@]}" "$times/meet.gyre.c" '{"place":0}' '{"place":1}'
exits 0
prints '{"place":0}'
prints '{"place":1}'
# a file that cannot be written is told of by its setting
run call --check races --set backend.cpu.turns_file=/dev/full "${limit[@]}" "$times/clock.gyre.c" '{"which":1}'
says "backend.cpu turns_file: '/dev/full' cannot be written"
finish
