#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The journal of a pipeline whose stages keep something, met by the command: what differs is told with the stage's name, its types stay what
# they are, and gyre serve warns of no stage.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_RUNTIME_DIR="$folder/session" XDG_CACHE_HOME="$folder/cache"
mkdir -p "$XDG_RUNTIME_DIR" "$XDG_CACHE_HOME" "$folder/journals"
journal="$folder/journals/begin.own.journal"
nothing=/dev/null

cat >"$folder/types.h" <<'END'
#include <gyre/message.h>
#define PAYMENT(FIELD) FIELD(u32, account) FIELD(u64, amount)
GYRE_MESSAGE(payment, PAYMENT)
#define TELLER(FIELD) FIELD(u64, count) FIELD(u64, total)
GYRE_MESSAGE(teller, TELLER)
END
cat >"$folder/own.gyre.c" <<'END'
#include <gyre/kernel.h>
#include "types.h"
#define PAY_PORTS(PORT) PORT(payment, on, 1)
GYRE_PORTS(pay_ports, PAY_PORTS)
GYRE_ACTOR_TO(begin, payment, gyre_none, pay_ports, teller)
{
    GYRE_GLOBAL payment *on = gyre_emit(gyre, on);
    state->count++;
    *on = *request;
    return GYRE_NO_REPLY;
}
GYRE_KEYED_ACTOR_TO(book, payment, gyre_none, pay_ports, teller, account)
{
    GYRE_GLOBAL payment *on = gyre_emit(gyre, on);
    state->total += request->amount;
    *on = *request;
    return GYRE_NO_REPLY;
}
GYRE_ACTOR(sum, payment, teller, teller)
{
    state->count++;
    state->total += request->amount;
    *reply = *state;
    return GYRE_REPLY;
}
END
cat >"$folder/own.ini" <<END
[gyre]
backend = cpu
journal_dir = $folder/journals
[pipeline.own]
entry = begin
answer = sum
isolation = process
[kernel.begin]
source = $folder/own.gyre.c:begin
checkpoints = true
[kernel.book]
source = $folder/own.gyre.c:book
checkpoints = true
[kernel.sum]
source = $folder/own.gyre.c:sum
checkpoints = true
[link.a]
from = begin.on
to = book
[link.b]
from = book.on
to = sum
[queue.own]
durability = journal
END
own()
{
    run call --config "$folder/own.ini" --pipeline own "$@" <"$nothing"
}

own '{"account":1,"amount":5}' '{"account":2,"amount":6}'
exits 0
prints '{"count":2,"total":11}'

# what outlives the program has the trace that the web gave the request
rm "$journal"
trace=4bf92f3577b34da6a3ce929d0e0e4736
own --set queue.own.header=trace --trace "00-$trace-00f067aa0ba902b7-01" '{"account":1,"amount":5}' '{"account":2,"amount":6}'
exits 0
run journal print "$journal"
exits 0
prints '{"request":0,"is":"taken","message":{"account":1,"amount":5},"trace":"'"$trace"'","header":"'
rm "$journal"
own '{"account":1,"amount":5}' '{"account":2,"amount":6}'
exits 0

# room for more keys: told with the stage that has it
own --set kernel.book.keys=5000 '{"account":1,"amount":1}'
exits 1
says "of another type, or of another size, is what is kept by stage book"

# a field more in what all stages keep: nothing is written, and the pipeline goes on with its journal
sed 's/FIELD(u64, total)/FIELD(u64, total) FIELD(u64, most)/' "$folder/types.h" >"$folder/later.h"
cp "$journal" "$folder/before"
run journal convert "$journal" --backend cpu --types "$folder/later.h" --replace
exits 1
says "it holds what stages of a pipeline keep, and such a journal is not converted to other types"
checks=$((checks + 1))
cmp -s "$journal" "$folder/before" || fail "the journal is another one"
run journal convert "$journal" --output "$folder/same"
exits 0
own '{"account":1,"amount":1}'
exits 0
prints '{"count":3,"total":12}'

# what the sections of stages promise is kept
"$GYRE" serve own --config "$folder/own.ini" >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
code=0
kill -TERM "$server"
wait "$server" || code=$?
called="gyre serve own" out="$(<"$folder/ready")" err="$(<"$folder/served")"
exits 0
prints own
checks=$((checks + 1))
[[ "$err" != *"is for no kernel"* ]] || fail "expected no word about the sections of stages"
finish
