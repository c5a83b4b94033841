#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples/service: its server is gyre serve, which is killed again and again, and ended, while two tills pay in. Each deposit
# is booked once, and the balances that the tills print are what that comes to. No till has more than 120 lines, or a lock.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/temporary"
mkdir -p "$XDG_CACHE_HOME" "$TMPDIR" "$folder/journal"
socket="$folder/socket"
server=

start_server()
{
    : >"$folder/ready"
    "$GYRE" serve --backend cpu --config examples/service/gyre.ini --set "gyre.journal_dir=$folder/journal" \
        --socket "$socket" examples/service/ledger.gyre.c >"$folder/ready" 2>>"$folder/served" &
    server=$!
    await_begun "$folder/ready" "$server"
}

clerks=4 deposits=3000
"$LEDGER_CLIENT" till-1 "$clerks" "$deposits" "$socket" >"$folder/till-1" 2>&1 & # before there is a server
first=$!
start_server
run_time=0
while kill -0 "$first" 2>/dev/null && ((run_time++ < 60)); do
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    kill "-$([[ $((run_time % 4)) == 0 ]] && echo TERM || echo KILL)" "$server"
    wait "$server" 2>/dev/null
    start_server
done
code=0
wait "$first" || code=$?
called="a till whose servers are killed $run_time times" out="$(<"$folder/till-1")" err="$(tail -n 3 "$folder/served")"
exits 0
for ((i = 0; i < clerks; i++)); do
    prints "account $i: $deposits deposits, $((deposits * (deposits + 1) / 2)) cents"
done

# the next till finds what the first one paid in
"$LEDGER_CLIENT" till-2 1 1 "$socket" >"$folder/till-2" 2>&1
code=$? called="the next till" out="$(<"$folder/till-2")"
exits 0
prints "account 0: $((deposits + 1)) deposits, $((deposits * (deposits + 1) / 2 + 1)) cents"
kill -TERM "$server"
wait "$server"

# an older journal is not taken for the one that answered: the till ends with a sentence, and the server's log warns
start_server
mkdir "$folder/older"
cp "$folder/journal"/*.journal "$folder/older"
"$LEDGER_CLIENT" till-3 "$clerks" 100000000 "$socket" >"$folder/till-3" 2>&1 &
third=$!
journal_bytes()
{
    cat "$folder/journal"/*.journal | wc -c
}
size=$(journal_bytes)
for ((i = 0; i < 600 * patience && $(journal_bytes) < size + 65536; i++)); do
    sleep 0.05
done
kill -KILL "$server"
wait "$server" 2>/dev/null
cp "$folder/older"/*.journal "$folder/journal"
start_server
code=0
wait "$third" || code=$?
called="a till whose server comes back with an older journal" out="$(<"$folder/till-3")" err="$(tail -n 3 "$folder/served")"
exits 1
prints "client 'till-3' of kernel 'ledger': the client was answered "
prints "requests, and the journal of kernel 'ledger' knows 0 of them: it is an older one"
checks=$((checks + 1))
grep -qE "warning: client 'till-3' .* was refused: the client was answered [0-9]+ requests" "$folder/served" ||
    fail "expected a warning"
kill -TERM "$server"
wait "$server"

checks=$((checks + 1)) called="the length of examples/service/client.c" out='' err=
(($(wc -l <examples/service/client.c) < 120)) || fail "expected less than 120 lines"
! grep -q mutex examples/service/client.c || fail "expected no lock"
finish
