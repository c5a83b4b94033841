#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre serve of pipelines, and gyre call --attach PIPELINE: which are opened, what they answer, and how they end.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_RUNTIME_DIR="$folder/session" XDG_CACHE_HOME="$folder/cache" XDG_CONFIG_HOME="$folder/none"
mkdir -p "$XDG_RUNTIME_DIR"
unset GYRE_BACKEND
orders=examples/pipeline/gyre.ini
server=

# start_server ARGUMENT...: in the background, until it says that it serves.
start_server()
{
    : >"$folder/ready"
    "$GYRE" serve "$@" >"$folder/ready" 2>"$folder/served" &
    server=$!
    await_begun "$folder/ready" "$server"
}

# stop_server SIGNAL: checks how it ended.
stop_server()
{
    kill "-$1" "$server"
    code=0
    wait "$server" || code=$?
    called="gyre serve until $1" err="$(<"$folder/served")"
    exits 0
}

# all that are configured, when none is named
start_server --config "$orders"
checks=$((checks + 1))
[[ "$(<"$folder/ready")" == "serving at $XDG_RUNTIME_DIR/gyre.sock: pipeline orders" ]] || fail "found $(<"$folder/ready")"
run call --attach orders '{"item":2,"count":3}' '{"item":9,"count":1}'
exits 1
[[ "$out" == '{"number":1,"cents":3150}
{"failed":{"code":1,"text":"there is no such item"}}' ]] || fail "expected a receipt and a refusal"
says "gyre: orders of the server: 2 sent, 1 answered, 1 failed"
run call --attach orders/check '{"item":2,"count":3}'
exits 0
prints '{"number":2,"cents":3150}'
run call --attach orders/book '{"item":2,"count":3}'
refuses 1 "kernel 'book' is no entry of pipeline 'orders'; 'check' is one"
run call --attach order '{"item":2,"count":3}'
refuses 1 "the server has no kernel and no pipeline 'order'; it has: orders, check, price, book; did you mean 'orders'?"

# what the links carried can be seen: one request came as far as the book in the first call, one in the second
check_links()
{
    python3 - "$folder/out" <<'PYTHON' 2>"$folder/judged"
import json, sys
process, = json.load(open(sys.argv[1]))['processes']
pipeline, = process['pipelines']
assert pipeline['name'] == 'orders', pipeline
links = {(link['from'], link['port'], link['to']): link for link in pipeline['links']}
assert set(links) == {('check', 'good', 'price'), ('price', 'sums', 'book'), ('check', 'large', 'nowhere')}, links
assert [links['check', 'good', 'price'][key] for key in ('sent', 'waiting', 'missed', 'cut')] == [2, 0, 0, 0], links
assert links['price', 'sums', 'book']['sent'] == 2 and links['check', 'large', 'nowhere']['sent'] == 0, links
assert links['price', 'sums', 'book']['capacity'] > 0
PYTHON
}
checks=$((checks + 1)) called="gyre stat of a pipeline"
for ((i = 0; i < 200 * patience; i++)); do
    run stat --json
    if check_links; then break; fi
    sleep 0.05
done
check_links || fail "$(<"$folder/judged")"
run stat
prints "PIPELINE  FROM   PORT   TO       SENT  WAITING"
run stat --prometheus
prints 'program="gyre",pipeline="orders",link="checked",from="check",to="price"} 2'
stop_server TERM
says "info: process "
says " attached to pipeline 'orders'"
says " left pipeline 'orders'"
says "gyre: served 2 clients, refused 2"

# by name, beside a kernel; requests of thousands, and the end under load
start_server --config "$orders" orders examples/command/scale.gyre.c
checks=$((checks + 1))
[[ "$(<"$folder/ready")" == "serving at "*": scale on cpu, pipeline orders" ]] || fail "found $(<"$folder/ready")"
run call --attach scale '{"value":20.5,"factor":2}'
prints '{"scaled":41.0}'
for ((i = 0; i < 5000; i++)); do
    echo '{"item":2,"count":3}'
done >"$folder/many"
run call --attach orders <"$folder/many"
exits 0
says "gyre: orders of the server: 5000 sent, 5000 answered, 0 failed"
stop_server INT

# a stage that is paused: what it holds is left, told, and nobody waits longer than --drain
start_server --config "$orders" --set kernel.book.active=false --drain 50
"$GYRE" call --attach orders --timeout $((2000 * patience)) '{"item":2,"count":3}' >"$folder/held" 2>&1 &
caller=$!
for ((i = 0; i < 600 * patience; i++)); do
    ! "$GYRE" stat | grep -qE ' price +sums +book +1 ' || break # a message was sent to the stage
    sleep 0.05
done
stop_server TERM
says "gyre: served 1 client, left 1 request unhandled"
kill "$caller" 2>/dev/null
wait "$caller"

# ---- programs that subscribe ----

# await_line FILE TEXT: until the file has it
await_line()
{
    for ((i = 0; i < 600 * patience; i++)); do
        ! grep -q -- "$2" "$1" || return 0
        sleep 0.05
    done
    fail "expected '$2' in $(<"$1")"
}

# a market with a tap, watched by a program of the example and by the command; one that is killed is not missed
start_server --config examples/pipeline/market.ini
checks=$((checks + 1))
[[ "$(<"$folder/ready")" == "serving at "*": pipeline market (prices)" ]] || fail "found $(<"$folder/ready")"
"$WATCH" 600 >"$folder/watched" 2>&1 &
watcher=$!
"$GYRE" subscribe prices >"$folder/heard" 2>&1 &
listener=$!
"$GYRE" subscribe market/prices --slow wait >/dev/null 2>&1 &
killed=$!
for process in $watcher $listener $killed; do
    await_line "$folder/served" "process $process of user .* subscribed to 'market/prices'"
done
kill -KILL "$killed"
wait "$killed" 2>/dev/null
run call --attach market '{"item":1,"count":2,"cents":500}' '{"item":2,"count":1,"cents":700}'
exits 0
run subscribe prices --count 1 --timeout 50
exits 5
says "gyre: no message came within 50 ms (--timeout)"
says "gyre: market/prices: 0 messages, 0 missed"
run subscribe price
refuses 1 "subscribing to 'price' of pipeline 'market': pipeline 'market' has no topic and no outlet 'price'; it has: prices; did you mean 'prices'?"
run subscribe markt/prices
refuses 1 "the server has no pipeline 'markt'; it has: market; did you mean 'market'?"
stop_server TERM
says "left 'market/prices': it was sent "
code=0
wait "$watcher" || code=$?
called="watch" err="$(<"$folder/watched")"
exits 0
[[ "$err" == "item 2 costs 700 cents" ]] || fail "expected one alert"
code=0
wait "$listener" || code=$?
called="gyre subscribe" err="$(<"$folder/heard")"
exits 0
says '{"item":1,"count":2,"cents":500}'
says '{"item":2,"count":1,"cents":700}'
says "gyre: the pipeline of 'market/prices' was closed: no more messages come"
says "gyre: market/prices: 2 messages, 0 missed"
run subscribe prices --timeout 50
exits 3
run subscribe prices --slow later
refuses 2 "--slow: expected wait, drop or cut, found 'later' ('gyre help subscribe' shows how)"
run subscribe
refuses 2 "expected one topic: PIPELINE/TOPIC, or TOPIC ('gyre help subscribe' shows how)"

# ---- what is refused ----

run serve --config "$orders" ordres
exits 1
says "'ordres'"
run serve --config "$orders" orders --buffer some=zeros:8
exits 2
says "--buffer: a pipeline's kernels take none; bind buffers in a program of your own (gyre_serve)"
run serve --config "$orders" --set link.checked.to=book
exits 1
says "gyre: pipeline 'orders': command line: link 'checked': message type mismatch: 'priced' of kernel 'book' has field 'cents'"
run serve --config "$orders" --set queue.orders.durability=journal --set gyre.journal_dir="$folder"
exits 4
says "queue 'orders' enters a pipeline, and such a queue cannot have durability: leave it out"
run serve
refuses 2 "expected at least one kernel, or a [pipeline.NAME] in the configuration ('gyre help serve' shows how)"
# a pipeline for this server alone is told of before clients are refused
mkdir "$folder/kept"
cat >"$folder/kept/counts.gyre.c" <<'END'
#include <gyre/kernel.h>

#define COUNT(FIELD) FIELD(u64, count)
GYRE_MESSAGE(count, COUNT)

GYRE_ACTOR(counts, count, count, count)
{
    state->count += request->count;
    *reply = *state;
    return GYRE_REPLY;
}
END
cat >"$folder/kept/kept.ini" <<END
[gyre]
backend = cpu
[pipeline.kept]
entry = counts
isolation = process
[kernel.counts]
source = $folder/kept/counts.gyre.c
checkpoints = true
END
start_server --config "$folder/kept/kept.ini"
sentence="pipeline 'kept' has checkpoints, and takes no other programs: what one of them sent could not be handled again when it has left"
run call --attach kept '{"count":1}'
exits 1
says "$sentence"
stop_server TERM
says "warning: $sentence"
# kernels that ask each other: each request and each of its answers are of other programs
start_server --config examples/pipeline/quotes.ini
run call --attach quotes '{"order":{"item":1,"count":3}}' '{"order":{"item":1,"count":0}}' '{"order":{"item":1,"count":300}}'
exits 1
[[ "$out" == '{"type":"bill","shop":1,"cents":360}
{"failed":{"code":1,"text":"an order of nothing"}}
{"type":"bill","shop":2,"cents":30500}' ]] || fail "expected two bills and a failure"
stop_server TERM
finish
