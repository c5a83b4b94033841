#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Keyed actors as docs/keyed.md has them: called, served, read by key, compiled; and what is wrong with some.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_RUNTIME_DIR="$folder/session" XDG_CACHE_HOME="$folder/cache"
mkdir -p "$XDG_RUNTIME_DIR" "$XDG_CACHE_HOME"
accounts=examples/command/accounts.gyre.c words=examples/command/word_count.gyre.c

run call --backend cpu --blocks 3 "$accounts" '{"account":7,"cents":500}' '{"account":8,"cents":20}' \
    '{"account":7,"cents":-100}' '{"account":9,"cents":-1}'
exits 1
prints '{"cents":500,"deposits":1}'
prints '{"cents":20,"deposits":1}'
prints '{"cents":400,"deposits":2}'
prints '{"failed":{"code":1,"text":"overdrawn"}}'
run call --backend cpu --lanes 4 "$accounts" '{"account":7,"cents":500}'
exits 1
says "'accounts' is a keyed actor, whose blocks have 1 lane, found 4 lanes"
run call --backend cpu --set kernel.accounts.lanes=4 "$accounts" '{"account":7,"cents":500}'
exits 4
says "does not fit kernel 'accounts', a keyed actor, whose blocks have 1 lane"
run call --backend cpu --set kernel.accounts.keys=1 "$accounts" '{"account":7,"cents":500}' '{"account":8,"cents":500}'
exits 1
prints '{"failed":{"code":-21,"text":"no room for another key'
run call --backend cpu --set kernel.accounts.keys=0 "$accounts" '{"account":7,"cents":500}'
exits 4
run call --backend cpu --set kernel.scale.keys=9 examples/command/scale.gyre.c '{"value":1,"factor":2}'
exits 4
says "command line: keys = 9 of [kernel.scale] does not fit kernel 'scale', which keeps no states by key: leave it out"
run call --backend cpu --set kernel.default.keys=9 examples/command/scale.gyre.c '{"value":1,"factor":2}'
exits 0
run compile --backend cpu "$accounts"
exits 0
prints 'kernel accounts, keyed form by account'

# a word that came once makes room, one that came twice stays
zeros=0,0,0,0,0,0,0,0,0,0,0,0,0,0
a="{\"word\":[97,0,$zeros]}" b="{\"word\":[98,0,$zeros]}"
run call --backend cpu --set kernel.words.keys=1 "$words" "$a" "$b" "$b" "$a"
exits 1
says '3 answered, 1 failed'

run call --backend cpu --set kernel.sessions.checkpoints=true --set queue.sessions.header=sent --set queue.sessions.levels=2 \
    examples/command/sessions.gyre.c '{"session":1,"idle_ms":10}'
exits 4
says 'in the order in which they were sent: leave levels out of [queue.sessions]'

# ---- at the end of a pipeline: as one after the other would do ----

sensors=(--config examples/pipeline/sensors.ini --set kernel.scale.blocks=2)
awk -v requests="$folder/raw" -v expected="$folder/expected" 'BEGIN {
    for (i = 1; i <= 2000; i++) {
        sensor = i * 7919 % 61; counts = i * 104729 % 4300; celsius = int(counts / 8) - 256
        printf "{\"sensor\":%d,\"counts\":%d}\n", sensor, counts > requests
        if (counts > 4095) {
            print "{\"failed\":{\"code\":1,\"text\":\"a converter of 12 bits has no such value\"}}" > expected
            continue
        }
        if (!readings[sensor]++) lowest[sensor] = highest[sensor] = celsius
        if (celsius < lowest[sensor]) lowest[sensor] = celsius
        if (celsius > highest[sensor]) highest[sensor] = celsius
        printf "{\"readings\":%d,\"lowest\":%d,\"highest\":%d}\n", readings[sensor], lowest[sensor], highest[sensor] > expected
    }
}'
run call "${sensors[@]}" --set kernel.scale.blocks=1 --pipeline sensors <"$folder/raw"
exits 1
cmp "$folder/out" "$folder/expected" || fail "expected what one after the other gives"
run pipeline sensors "${sensors[@]}"
exits 0
prints 'reading  1 a call, 2 rings of 1024, '
prints ', by sensor'
run pipeline sensors "${sensors[@]}" --set link.readings.key=celsius
exits 4
says "key = celsius: keyed actor 'sensors' keeps a state for each 'sensor': name that key, or none"
run pipeline sensors "${sensors[@]}" --set link.readings.share=any
exits 4
says 'key = sensor decides nothing without share = key'
run pipeline sensors "${sensors[@]}" --set link.readings.key=
exits 0
run pipeline sensors "${sensors[@]}" --set link.readings.to=nowhere --set pipeline.sensors.answer=
exits 4
says 'share = key: expected a link to a kernel'

# ---- from key to key: a payment is of two accounts ----

bank=(--config examples/pipeline/bank.ini --pipeline bank)
run call "${bank[@]}" '{"account":1,"payee":0,"cents":500}' '{"account":1,"payee":2,"cents":200}' \
    '{"account":2,"payee":1,"cents":900}'
exits 1
printf '%s\n' '{"cents":500,"payments":1}' '{"cents":200,"payments":1}' '{"failed":{"code":1,"text":"overdrawn"}}' >"$folder/expected"
cmp "$folder/out" "$folder/expected" || fail "expected three answers"
run call "${bank[@]}" --set link.payments.to=nowhere '{"account":1,"payee":0,"cents":500}' '{"account":1,"payee":2,"cents":200}'
prints '{"cents":500,"payments":1}'

# ---- served ----

: >"$folder/ready"
"$GYRE" serve --backend cpu --set kernel.accounts.blocks=2 "$accounts" "$words" >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
for ((account = 0; account < 500; account++)); do
    echo "{\"account\":$((account % 50)),\"cents\":$account}"
done >"$folder/requests"
run call --attach accounts <"$folder/requests"
exits 0
prints '{"cents":2740,"deposits":10}'
run call --attach words "{\"word\":[104,105,$zeros]}"
exits 0
run state accounts --key 49
exits 0
prints 'cents     2740'
prints 'deposits  10'
run state accounts --key 49 --json
prints '{"cents":2740,"deposits":10}'
run state words --key hi
exits 0
prints 'count     1'
run state accounts --key 50
exits 1
says "kernel 'accounts' has no state for this key"
run state accounts --key -1
exits 1
says "the key 'account': expected a whole number of 64 bits, without a sign, found '-1'"
run state words --key 'a word of more than 16 letters'
exits 1
says 'expected a text that fits into its array'
run state accounts
exits 1
says "keeps a state for each 'account'"
kill "$server"
wait "$server"

# ---- mistakes ----

# judge TEXT: compiles a keyed actor that TEXT declares.
judge()
{
    cat >"$folder/wrong.gyre.c" <<END
#include <gyre/kernel.h>
#define ASK(FIELD) FIELD(u64, id) FIELD(f32, price) FIELD(u8, much[65])
GYRE_MESSAGE(ask, ASK)
#define NOTE(FIELD) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(note, NOTE, 64)
$1
{
    state->id = 1;
    return GYRE_NO_REPLY;
}
END
    run compile --backend cpu "$folder/wrong.gyre.c"
    exits 1
}
judge 'GYRE_KEYED_ACTOR(wrong, ask, ask, ask, it)'
says "has no member named"
judge 'GYRE_KEYED_ACTOR(wrong, ask, ask, ask, price)'
says "the key 'price' is a float"
judge 'GYRE_KEYED_ACTOR(wrong, ask, ask, ask, much)'
says "the key 'much' has 65 bytes, and the key of a keyed actor or a link 64 at most"
judge 'GYRE_KEYED_ACTOR(wrong, note, ask, ask, text)'
says "the key 'text' is a text or a span, whose size changes"
judge 'GYRE_KEYED_ACTOR(wrong, ask, ask, ask)'
says 'GYRE_KEYED_ACTOR(name, request, reply, state, key)'
judge 'GYRE_KEYED_ACTOR_LIVES(wrong, ask, ask, ask, id)'
says "the keyed actor 'wrong' is declared with GYRE_KEYED_ACTOR_LIVES and has no GYRE_BORN(wrong)"
judge 'GYRE_BORN(wrong) {} GYRE_KEYED_ACTOR(wrong, ask, ask, ask, id)'
says "GYRE_BORN(wrong) stands behind no GYRE_KEYED_ACTOR_LIVES(wrong, ...)"
judge 'GYRE_KEYED_ACTOR_REMINDED(wrong, ask, ask, ask, id)'
says "the keyed actor 'wrong' is declared with GYRE_KEYED_ACTOR_REMINDED and has no GYRE_REMINDED(wrong)"
judge 'GYRE_REMINDED(wrong) {} GYRE_KEYED_ACTOR(wrong, ask, ask, ask, id)'
says "GYRE_REMINDED(wrong) stands behind no GYRE_KEYED_ACTOR_REMINDED(wrong, ...)"
judge 'GYRE_KEYED_ACTOR_REMINDED(wrong, ask, ask, ask)'
says 'GYRE_KEYED_ACTOR_REMINDED(name, request, reply, state, key)'

finish
