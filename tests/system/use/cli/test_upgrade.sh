#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A service that is upgraded twice, with its data, while clients use it: by gyre serve alone. First its state gets a field,
# then it is migrated to another one. No balance is told twice, and none is lost.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_RUNTIME_DIR="$folder/session" XDG_CACHE_HOME="$folder/cache"
export TMPDIR="$folder/temporary"
mkdir -p "$XDG_RUNTIME_DIR" "$XDG_CACHE_HOME" "$TMPDIR"
wallets=tests/system/survival/durable
settings=(--set "gyre.journal_dir=$folder/journals" --set kernel.wallet.checkpoints=true
    --set queue.wallet.durability=journal --set queue.wallet.fsync=never)
lines=100
server=

start_server()
{
    : >"$folder/ready"
    "$GYRE" serve --backend cpu --set backend.cpu.isolation=process --set gyre.log_level=info "${settings[@]}" "$folder/wallet.gyre.c" \
        >"$folder/ready" 2>>"$folder/served" &
    server=$!
    await_begun "$folder/ready" "$server"
}

stop_server()
{
    called="the end of gyre serve" code=0 out='' err="$(tail -n 5 "$folder/served")"
    kill -TERM "$server"
    wait "$server" || code=$?
    exits 0
}

# client NUMBER: deposits a euro again and again, whether somebody serves or not, until it is told to stop.
client()
{
    while [[ ! -e "$folder/stop" ]]; do
        echo "$lines" >>"$folder/sent.$1"
        yes '{"euros":1}' | head -n "$lines" | "$GYRE" call --attach wallet --timeout 20000 2>/dev/null >>"$folder/replies.$1"
        sleep 0.02
    done
}

# await_more: until so many more balances came.
await_more()
{
    local before now
    before="$(cat "$folder"/replies.* | grep -c cents)"
    for ((i = 0; i < 600 * patience; i++)); do
        now="$(cat "$folder"/replies.* | grep -c cents)"
        if ((now >= before + 300)) || ! kill -0 "$server" 2>/dev/null; then
            break
        fi
        sleep 0.05
    done
    called="clients of the server" code=0 out="$before, $now" err="$(tail -n 5 "$folder/served")"
    checks=$((checks + 1))
    ((now >= before + 300)) || fail "expected 300 more balances"
}

cp "$wallets/wallet_1.gyre.c" "$folder/wallet.gyre.c"
touch "$folder/replies.1" "$folder/replies.2"
start_server
client 1 &
first=$!
client 2 &
second=$!
await_more
stop_server
sed 's/FIELD(u32, deposits)/& FIELD(u64, bonus)/' "$wallets/wallet_1.gyre.c" >"$folder/wallet.gyre.c"
start_server
await_more
stop_server
sed '/WALLET_V1/s/FIELD(u32, deposits)/& FIELD(u64, bonus)/' "$wallets/wallet_2.gyre.c" >"$folder/wallet.gyre.c"
start_server
await_more
touch "$folder/stop"
wait "$first" "$second"
stop_server

# each balance is one deposit's, in the order in which its client made them; what was told is in the last one
run call --backend cpu "${settings[@]}" "$folder/wallet.gyre.c" '{"euros":0}'
exits 0
balance="$(grep -v recovered "$folder/out" | grep -o '[0-9]*' | tail -n 1)"

# so is the end of gyre call one in order: another handler goes on from there, and handles nothing again
run call --backend cpu "${settings[@]}" "$folder/wallet.gyre.c" '{"euros":1}' '{"euros":1}'
exits 0
sed -i 's/100 \* request->euros/7 * request->euros/' "$folder/wallet.gyre.c"
run call --backend cpu "${settings[@]}" "$folder/wallet.gyre.c" '{"euros":1}'
exits 0
prints "{\"cents\":$((balance + 207))}"
called="the upgrades of a wallet" out="$balance"
for replies in "$folder"/replies.*; do
    grep -o '"cents":[0-9]*' "$replies" | cut -d: -f2 >"$replies.told"
    checks=$((checks + 1))
    sort -nuc "$replies.told" || fail "expected balances that grow"
done
told="$(cat "$folder"/replies.*.told | wc -l)"
different="$(sort -nu "$folder"/replies.*.told | wc -l)"
largest="$(sort -n "$folder"/replies.*.told | tail -n 1)"
sent=$((lines * $(cat "$folder"/sent.* | wc -l)))
checks=$((checks + 3))
((told == different)) || fail "expected $told different balances, found $different"
((balance >= largest)) || fail "expected at least $largest"
((balance >= 100 * told && balance <= 100 * sent)) || fail "expected $told to $sent euros"
checks=$((checks + 1))
grep -q "was migrated from 'wallet_v1' to 'wallet_state'" "$folder/served" || fail "expected a migration"
finish
