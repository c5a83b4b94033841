#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How busy the blocks of a kernel are: one message keeps one of them at work, and all who look from outside say so, also of a process
# that is stopped.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
blocks=4
socket="$folder/socket"
server='' caller=''
# shellcheck disable=SC2086
trap 'kill -KILL $server $caller 2>/dev/null; rm -rf "$folder"' EXIT

: >"$folder/ready"
"$GYRE" serve --backend cpu --set observe.every_ms=100 --set kernel.linger.blocks="$blocks" --socket "$socket" \
    tests/system/use/cli/kernels/linger.gyre.c >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
"$GYRE" call --attach linger --timeout 600000 --socket "$socket" '{"who":5,"milliseconds":600000}' >"$folder/replies" 2>&1 &
caller=$!

# Each look of a second finds that block at its message, and no other one at any.
judge='import json, sys
def busy(document):
    rows = document["rows"] if "rows" in document else document["processes"][0]["kernels"]
    return rows[0]["busy"]
blocks = int(sys.argv[2])
busy = busy(json.load(open(sys.argv[1])))
assert busy and len(busy["shares"]) == blocks, busy
assert sorted(busy["shares"]) == [0.0] * (blocks - 1) + [1.0], busy
assert busy["least"] == 0 and busy["most"] == 1 and abs(busy["mean"] - 1 / blocks) < 1e-5, busy'
judges()
{
    python3 -c "$judge" "$folder/out" "$blocks" 2>"$folder/judged"
}

checks=$((checks + 1))
for ((i = 0; i < 600 * patience; i++)); do
    run stat --json
    judges && break
    sleep 0.05
done
((i < 600 * patience)) || fail "$(<"$folder/judged")"
kill -STOP "$server"
run stat --json
exits 0
judges || fail "stopped: $(<"$folder/judged")"
run top --once --json
exits 0
judges || fail "top: $(<"$folder/judged")"
run top --once --blocks
exits 0
prints "of $blocks: least 0 %, mean $((100 / blocks)) %, most 100 % busy"
prints " 0:  "
kill -CONT "$server"
run stat --prometheus
exits 0
prints ',of="most"} 1'
prints ',of="least"} 0'
seconds="$(sed -n 's/^gyre_blocks_busy_seconds_total{.*} //p' "$folder/out")"
checks=$((checks + 1))
python3 -c "import sys; sys.exit(not $seconds >= 0.9)" || fail "expected a second at least, found '$seconds'"
finish
