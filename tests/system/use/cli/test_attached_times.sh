#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The times of a client's messages, as its server shows them: stat, top, Prometheus' text and the page's JSON.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/temporary"
mkdir -p "$XDG_CACHE_HOME" "$TMPDIR"
socket="$folder/socket"
server='' client=''
trap 'kill -KILL $server $client 2>/dev/null; rm -rf "$folder"' EXIT

# await EXPRESSION VALUE: of the client's queue in what gyre stat --json says, after a while.
await()
{
    local i got=
    for ((i = 0; i < 300 * patience; i++)); do
        run stat --json
        got="$(python3 -c 'import json,sys
queues = [q for p in json.load(open(sys.argv[1]))["processes"] for k in p["kernels"] for q in k["queues"] if q["client"]]
print(eval(sys.argv[2], {"q": queues[0]}) if queues else None)' "$folder/out" "$1" 2>&1)"
        [[ "$got" == "$2" ]] && break
        sleep 0.05
    done
    checks=$((checks + 1))
    [[ "$got" == "$2" ]] || fail "expected $1 to become $2, found $got"
}

: >"$folder/ready"
"$GYRE" serve --backend cpu --set observe.every_ms=20 --set kernel.scale.timing=true --socket "$socket" \
    examples/command/scale.gyre.c >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
mkfifo "$folder/requests"
"$GYRE" call --attach scale --socket "$socket" <"$folder/requests" >"$folder/replies" 2>"$folder/called" &
client=$!
exec 9>"$folder/requests"
for ((i = 0; i < 40; i++)); do echo '{"value":20.5,"factor":2}' >&9; done

await 'q["times"]["round_trip"]["count"]' 40
await 'sorted(q["times"])' "['handled', 'returned', 'round_trip', 'waited']"
await 'q["times"]["waited"]["count"] == q["times"]["handled"]["count"] == 40' True
await '0 < q["times"]["round_trip"]["p50"] <= q["times"]["round_trip"]["p99"]' True
name="$(python3 -c 'import json,sys
print([q["name"] for p in json.load(open(sys.argv[1]))["processes"] for k in p["kernels"] for q in k["queues"] if q["client"]][0])' "$folder/out")"
run stat
exits 0
checks=$((checks + 1))
[[ "$out" =~ $name\ +round_trip\ +40\  ]] || fail "expected a row of the client's round trips"
run stat --prometheus
exits 0
prints "gyre_message_seconds_count{pid=\"$server\",program=\"gyre\",kernel=\"scale\",queue=\"$name\",part=\"round_trip\"} 40"
run top --once --json
exits 0
prints "\"queue\":\"$name\""
exec 9>&-
wait "$client"
client=''
await 'q' None # with the client go the figures
kill -TERM "$server"
wait "$server"
server=''
finish
