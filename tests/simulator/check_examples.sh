#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The handlers of examples/ with all checks: nothing is found in them, and they answer as without.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

# clean REQUEST... -- WHAT TO CALL...: each request twenty times, so that messages meet.
clean()
{
    local requests=() plain
    while [[ "$1" != -- ]]; do
        for _ in {1..20}; do requests+=("$1"); done
        shift
    done
    shift
    run call "$@" <<<"$(printf '%s\n' "${requests[@]}")"
    exits 0
    plain="$out"
    run call "$@" --check races,memory,deadlock,schedule --seeds 5 <<<"$(printf '%s\n' "${requests[@]}")"
    exits 0
    [[ -n "$out" && "$out" == "$plain" ]] || fail "expected the answers of a call without checks: $plain"
    [[ "$err" != *"check "* ]] || fail "expected no finding"
}

cpu=(--backend cpu)
order='{"id":"00112233-4455-6677-8899-aabbccddeeff","to":{"street":"Bahnhofstrasse","number":5,"door":"b"},"items":[
{"article":7,"pieces":2,"price":1.5,"notes":["red","large"]},{"article":8,"pieces":1,"price":3,"notes":[]}]}'
ones="$(printf '1,%.0s' {1..24})1"
clean '{"value":20.5,"factor":2}' -- "${cpu[@]}" examples/command/scale.gyre.c
clean '{"add":1}' '{"add":-7}' -- "${cpu[@]}" examples/command/total.gyre.c
clean "{\"a\":[$ones],\"b\":[$ones]}" -- "${cpu[@]}" examples/vector_add/vector_add.gyre.c
packed="$("$GYRE" encode --type add_request examples/messages/add.h \
    <<<'{"id":"00112233-4455-6677-8899-aabbccddeeff","priority":1,"a":1,"b":2}')"
clean "$packed" -- "${cpu[@]}" examples/messages/add.gyre.c
clean '{"author":"you","text":"lower case words"}' -- "${cpu[@]}" examples/messages/messages.gyre.c:chat
clean '{"symbol":"ABC","ticks":[{"time":1,"price":2.5,"size":10},{"time":2,"price":2.25,"size":5}]}' -- \
    "${cpu[@]}" examples/messages/messages.gyre.c:ticks
clean "${order//$'\n'/}" -- "${cpu[@]}" examples/messages/messages.gyre.c:orders
clean '{"account":3,"till":1,"cents":250}' '{"account":4,"till":1,"cents":-50}' -- "${cpu[@]}" examples/service/ledger.gyre.c
head -c 64 /dev/zero >"$folder/gain"
clean '{"channel":1,"value":3}' -- "${cpu[@]}" --buffer "gain=$folder/gain" examples/tour/tour.gyre.c:scale
clean '{"channel":1,"value":3}' -- "${cpu[@]}" examples/tour/tour.gyre.c:total
clean '{"item":2,"count":3}' -- "${cpu[@]}" --config examples/pipeline/gyre.ini --pipeline orders
clean '{"round":0,"rank":[1,0,0,0,0]}' -- "${cpu[@]}" --config examples/pipeline/pagerank.ini --pipeline pagerank
clean '{"order":{"item":1,"count":3}}' -- "${cpu[@]}" --config examples/pipeline/quotes.ini --pipeline quotes
clean '{"text":"the quick brown fox"}' -- "${cpu[@]}" --config examples/pipeline/words.ini --pipeline words
((checks >= 26)) || fail "only $checks calls were made"
finish
