#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is seen of slow handlers: a block counts each message of a batch that takes seconds, and a process keeps its observation file when
# a handler stalls or a worker process dies.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/temporary"
mkdir -p "$XDG_CACHE_HOME" "$TMPDIR"
kernel="$(dirname "${BASH_SOURCE[0]}")/kernels/slow.gyre.c"
socket="$folder/socket"
dumps="$folder/kept/dumps"
server='' client=''
trap 'kill -KILL $server $client 2>/dev/null; rm -rf "$folder"' EXIT

start_server()
{
    : >"$folder/ready"
    "$GYRE" serve --backend cpu --set observe.every_ms=20 --set queue.default.capacity=16 --socket "$socket" "$@" "$kernel" \
        >"$folder/ready" 2>"$folder/served" &
    server=$!
    await_begun "$folder/ready" "$server"
}

stop_server()
{
    kill -KILL "$server" 2>/dev/null
    wait "$server" 2>/dev/null
}

# await_log TEXT: the server's log has it after a while.
await_log()
{
    local i
    for ((i = 0; i < 150 * patience; i++)); do
        grep -q "$1" "$folder/served" && break
        sleep 0.05
    done
    called="the log of gyre serve" err="$(<"$folder/served")"
    says "$1"
}

# keeps EXPRESSION: so it is of the kernel k in the file "$kept": what was looked at when the file was kept, and not some time before.
keeps()
{
    local judged
    run stat --json --file "$kept"
    judged="$(python3 -c 'import json, sys
k, = [k for p in json.load(open(sys.argv[1]))["processes"] for k in p["kernels"]]
print(eval(sys.argv[2]), k)' "$folder/out" "$1" 2>&1)"
    checks=$((checks + 1))
    [[ "$judged" == True* ]] || fail "expected of the file that was kept: $1, found $judged"
}

# a batch of 256 messages takes 5 s: their block counts each of them, so that the kernel shows what its queue shows
start_server
for ((n = 0; n < 600; n++)); do echo '{"us":20000,"dies":0}'; done |
    "$GYRE" call --attach slow --socket "$socket" >"$folder/replies" 2>&1 &
client=$!
counted="0 0"
for ((i = 0; i < 100 * patience; i++)); do
    run stat slow --json
    counted="$(python3 -c 'import json, sys
k, = [k for p in json.load(open(sys.argv[1]))["processes"] for k in p["kernels"]]
print(k["handled"], max([q["received"] for q in k["queues"]] + [0]))' "$folder/out" 2>&1)"
    (("${counted% *}" >= 30)) 2>/dev/null && break
    sleep 0.05
done
called="gyre stat of a slow kernel"
checks=$((checks + 1))
(("${counted% *}" >= 30 && "${counted% *}" < 500)) || fail "expected that messages are counted while the batch runs, found $counted"
run why slow
prints "Queue 'client-1'"
checks=$((checks + 1))
[[ "$out" != *"handles 0 messages a second"* ]] || fail "expected the rate of the kernel"
kill -KILL "$client" 2>/dev/null
wait "$client" 2>/dev/null
client=
stop_server

# a handler that stalls: the file is kept, the log names it, and it can be read as any other. A busy machine may hold up the first message for a
# while, before it is noted, which must be no stall
start_server --set observe.every_ms=60000 --set kernel.slow.stall_told_ms=300 --set observe.dumps="$dumps" --set observe.trace=always
run stat --health slow # a kernel is well from its launch on, whenever the next look is
exits 0
printf '%s\n' '{"us":1,"dies":0}' '{"us":1000000,"dies":0}' |
    "$GYRE" call --attach slow --socket "$socket" >"$folder/replies" 2>&1
await_log "what the process did until now is kept in '$dumps/$server-"
kept="$(find "$dumps" -name "$server-*.dump")"
checks=$((checks + 1))
[[ "$(stat -c '%a' "$kept")" == 600 ]] || fail "expected a dump for its owner alone: $kept"
run stat --events 50 --file "$kept"
exits 0
prints " kept "
prints "kernel 'slow' is stalled"
keeps "k['health'] == 'stalled' and k['stalls'] == 1 and sum(q['sent'] for q in k['queues']) == 2"
run why slow --file "$kept"
exits 0
run trace --last --file "$kept" --out "$folder/timeline"
exits 0
run report -o "$folder/report.tar" --set observe.dumps="$dumps"
exits 0
checks=$((checks + 1))
tar -xOf "$folder/report.tar" gyre-report/dumps.json | grep -q "$kept" || fail "expected the dump in the report"
run doctor --backend cpu --set observe.dumps="$dumps"
prints "'$kept' is what a process kept of itself after a stall or a loss"
stop_server

# a worker process that dies; of older dumps as many stay as the configuration says, and nobody else's file goes
for n in 1 2 3; do : >"$dumps/$n-1-1.dump"; done
: >"$dumps/notes.txt"
start_server --set observe.every_ms=60000 --set backend.cpu.isolation=process --set kernel.slow.poison_limit=1 --set observe.dumps="$dumps" \
    --set observe.dumps_keep=2
run call --attach slow --socket "$socket" '{"us":1,"dies":8}' '{"us":1500000,"dies":0}'
await_log "what the process did until now is kept in '$dumps/$server-"
kept="$(find "$dumps" -name "$server-*.dump" | tail -1)"
keeps "k['condemned'] == 1 and sum(q['sent'] for q in k['queues']) == 2"
run stat --events 50 --file "$kept"
prints "the worker process of backend 'cpu' died: signal 11"
checks=$((checks + 1))
[[ "$(find "$dumps" -name '*.dump' | wc -l)" == 2 && -e "$dumps/notes.txt" ]] ||
    fail "expected two dumps beside the file that is none: $(ls "$dumps")"
stop_server

# a journal: how large it is, and whether its disk is behind
start_server --set gyre.journal_dir="$folder/journals" --set queue.slow.durability=journal
run call --attach slow --socket "$socket" '{"us":1,"dies":0}'
exits 0
for ((i = 0; i < 100 * patience; i++)); do
    run stat slow --json
    judged="$(python3 -c 'import json, sys
q, = [q for p in json.load(open(sys.argv[1]))["processes"] if p["pid"] == int(sys.argv[2])
      for k in p["kernels"] for q in k["queues"] if q["name"] == "slow"]
print(q["journal_bytes"] > 100 and q["unsaved"] == 0 and q["unsaved_seconds"] == 0)' "$folder/out" "$server" 2>&1)"
    [[ "$judged" == True ]] && break
    sleep 0.05
done
checks=$((checks + 1))
[[ "$judged" == True ]] || fail "expected a journal with all requests in it: $judged"
run stat slow
prints "JOURNAL BYTES"
# where its file grows no more (a limit stands for a full disk), senders wait, and why says for what
prlimit --pid "$server" --fsize=32768 2>/dev/null
for ((n = 0; n < 1000; n++)); do echo '{"us":1,"dies":0}'; done |
    "$GYRE" call --attach slow --socket "$socket" >"$folder/replies" 2>&1 &
client=$!
for ((i = 0; i < 60 * patience; i++)); do
    run why slow
    [[ "$out" == *"waits for its journal: "* ]] && break
    sleep 0.1
done
prints "Queue 'slow' waits for its journal: "
prints "none became durable for"
kill -KILL "$client" 2>/dev/null
wait "$client" 2>/dev/null
client=
stop_server

# a place where nothing can be written is a sentence, and the service goes on
: >"$folder/file"
start_server --set kernel.slow.stall_told_ms=50 --set observe.dumps="$folder/file/dumps"
run call --attach slow --socket "$socket" '{"us":300000,"dies":0}'
exits 0
await_log "is not kept: no file can be written in '$folder/file/dumps' (Not a directory): name another folder in observe.dumps"
run call --attach slow --socket "$socket" '{"us":1,"dies":0}'
exits 0
prints '{"us":1}'
stop_server

# where none is wanted, none is written
start_server --set kernel.slow.stall_told_ms=50 --set observe.dumps="$folder/none" --set observe.dumps_keep=0
run call --attach slow --socket "$socket" '{"us":300000,"dies":0}'
await_log "goes on: its handler came back"
checks=$((checks + 1))
[[ ! -e "$folder/none" ]] || fail "expected no dump"
stop_server

# a person who waits for a slow answer is told so
if [[ -n "$(command -v script)" ]]; then
    start_server
    called="gyre call --attach on a terminal" code=0 err=''
    out="$(script -qec "$GYRE call --attach slow --socket $socket '{\"us\":1500000,\"dies\":0}'" /dev/null </dev/null)" || code=$?
    exits 0
    prints "gyre: the kernel has not completed message 1 of 1 yet (waiting on, as long as --timeout says)"
    stop_server
fi
finish
