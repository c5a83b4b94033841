#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A cluster by hand, as docs/cluster.md tells: two members, a client, a member that is killed, and what is refused.
# usage: GYRE=PROGRAM test_cluster.sh, in the project's folder
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" XDG_CONFIG_HOME="$folder/none" XDG_RUNTIME_DIR="$folder"
handler=examples/command/accounts.gyre.c
lease_ms=$((patience < 3 ? 1000 * patience : 3000)) # a member that gets no processor for so long loses its shards
with=(--config examples/cluster/gyre.ini --set "cluster.folder=$folder/shared" --set "cluster.lease_ms=$lease_ms")

# same WHAT FOUND EXPECTED
same()
{
    checks=$((checks + 1))
    [[ "$2" == "$3" ]] && return
    failures=$((failures + 1))
    printf 'FAILED: %s\n  expected: %s\n  found: %s\n' "$1" "$3" "$2"
    cat "$folder"/*.log
}

# No member outlives the test.
members=()
trap 'kill -9 "${members[@]}" 2>/dev/null; rm -rf "$folder"' EXIT

# member NAME: starts one; its number is in $started.
member()
{
    "$GYRE" serve "$handler" "${with[@]}" --set "cluster.member=$1" >"$folder/$1.out" 2>"$folder/$1.log" &
    started=$!
    members+=("$started")
}

member one
one=$started
reply="$("$GYRE" cluster call "$handler" '{"account":7,"cents":500}' '{"account":8,"cents":20}' '{"account":7,"cents":-100}' "${with[@]}")"
same "replies come in the order of the requests" "$reply" '{"cents":500,"deposits":1}
{"cents":20,"deposits":1}
{"cents":400,"deposits":2}'
same "the member says what it is" "$(cat "$folder/one.out")" 'member one of a cluster with 8 shards'

# A look lasts longer than it takes a member to write its record, so that of `one` says by now what it owns.
"$GYRE" cluster status "${with[@]}" >/dev/null
member two
two=$started
kill -9 "$one"
wait "$one" 2>/dev/null
reply="$("$GYRE" cluster call "$handler" '{"account":7,"cents":-100}' "${with[@]}" --timeout 110000)"
same "states outlive their owner" "$reply" '{"cents":300,"deposits":3}'
"$GYRE" cluster call "$handler" '{"account":7,"cents":-1000}' "${with[@]}" >"$folder/out" 2>"$folder/err"
same "a handler's failure is told" "$? $(cat "$folder/err")" '1 gyre: the handler failed with code 1: overdrawn'
same "a failed request has a line as well" "$(cat "$folder/out")" '{"failed":{"code":1,"text":"overdrawn"}}'

owned="$("$GYRE" cluster status "${with[@]}" | awk 'found { owners[$2]++ } $1 == "SHARD" { found = 1 } END { print owners["two"], length(owners) }')"
same "the status has the owner of each shard" "$owned" '8 1'
state="$("$GYRE" cluster status "${with[@]}" | awk '$1 == "one" || $1 == "two" { print $1, $2, $4 }' | sort)"
same "and how the members fare, and what they own now" "$state" 'one silent 0
two here 8'

# Orders: the new member gets nothing while settle_ms lasts, but by order.
member three
three=$started
"$GYRE" cluster call "$handler" '{"account":9,"cents":1}' "${with[@]}" >/dev/null
until [[ "$("$GYRE" cluster status "${with[@]}" | awk '$1 == "three" { print $2 }')" == here ]]; do :; done
moved="$("$GYRE" cluster move 3 --to three --timeout 110000 "${with[@]}")"
same "a shard moves, and the pause is told" "$(grep -cE '^shard 3 went from two to three: its requests waited for [0-9]+\.[0-9] ms$' <<<"$moved")" 1
same "the status tells the order" "$("$GYRE" cluster status "${with[@]}" | awk '$1 == "3" { print $2, $5 }')" 'three three'
same "moved again it is there" "$("$GYRE" cluster move 3 --to three "${with[@]}")" 'shard 3 is at three already, and stays there'
drained="$("$GYRE" cluster drain two --timeout 110000 "${with[@]}")"
same "a member is drained" "$(grep -cE '^member two owns nothing: 7 shards went to others' <<<"$drained")" 1
same "and says so" "$("$GYRE" cluster status "${with[@]}" | awk '$1 == "two" { print $2, $4 }')" 'drained 0'
reply="$("$GYRE" cluster call "$handler" '{"account":7,"cents":-100}' "${with[@]}" --timeout 110000)"
same "states go along" "$reply" '{"cents":200,"deposits":4}'
same "all that is kept agrees" "$("$GYRE" cluster verify --json "${with[@]}" | grep -cE '"agrees": *true')" 1
same "nothing was given up" "$("$GYRE" cluster dead "${with[@]}")" 'no dead letters'
same "and nothing is listed" "$("$GYRE" cluster dead 2 --json "${with[@]}")" '[]'
same "the order ends" "$("$GYRE" cluster drain two --end "${with[@]}")" 'member two takes shards again'
same "the other one, too" "$("$GYRE" cluster move 3 --home "${with[@]}")" 'shard 3 goes where it belongs, after settle_ms'
# A member whose kernel cannot be launched any more gets no shard, and the command says so.
mkdir "$folder/broken"
cp "$handler" "$folder/broken/accounts.gyre.c"
"$GYRE" serve "$folder/broken/accounts.gyre.c" "${with[@]}" --set cluster.member=four >"$folder/four.out" 2>"$folder/four.log" &
four=$!
members+=("$four")
until [[ "$("$GYRE" cluster status "${with[@]}" | awk '$1 == "four" { print $2 }')" == here ]]; do :; done
echo 'this is no C' >"$folder/broken/accounts.gyre.c"
before="$("$GYRE" cluster status "${with[@]}" | awk '$1 == "5" { print $2, $3 }')"
"$GYRE" cluster move 5 --to four --timeout 110000 "${with[@]}" >"$folder/out" 2>"$folder/err"
same "a move that fails is told" "$? $(grep -c "^gyre: shard 5 is not at 'four', which cannot take it: .*accounts.gyre.c" "$folder/err")" '1 1'
same "and the shard stays" "$("$GYRE" cluster status "${with[@]}" | awk '$1 == "5" { print $2, $3 }')" "$before"
same "that order ends" "$("$GYRE" cluster move 5 --home "${with[@]}")" 'shard 5 goes where it belongs, after settle_ms'

# Orders that are damaged hide nothing, and can be replaced.
orders="$(ls "$folder"/shared/*/records/orders*)"
printf 'no record of Gyre, %0200d' 0 >"$folder/damaged"
cat "$folder/damaged" >"$orders"
"$GYRE" cluster status "${with[@]}" >"$folder/out" 2>"$folder/err"
same "the status shows the rest, and warns" "$? $(awk '$1 == "four" { print $2 }' "$folder/out") $(grep -c "orders' is damaged.*drain --reset" "$folder/err")" '0 here 1'
"$GYRE" cluster verify "${with[@]}" >"$folder/out" 2>"$folder/err"
same "verify tells it" "$? $(grep -c "orders' is damaged" "$folder/err")" '1 1'
same "they are replaced" "$("$GYRE" cluster drain --reset "${with[@]}")" 'the cluster has no orders now'
same "and agree" "$("$GYRE" cluster verify --json "${with[@]}" | grep -cE '"agrees": *true')" 1
kill -TERM "$four"
wait "$four"
kill -TERM "$three"
wait "$three"
until [[ "$("$GYRE" cluster status "${with[@]}" | awk '$1 == "two" { print $2, $4 }')" == 'here 8' ]]; do :; done
kill -TERM "$two"
wait "$two"
same "a member ends in order" "$? $(grep -v "orders' is damaged" "$folder/two.log")" '0 gyre: member two has given its shards back'
same "and is gone" "$("$GYRE" cluster status "${with[@]}" | awk '$1 == "two" { print $2, $4 }')" 'gone 0'

# refused WHAT CODE SENTENCE ARGUMENT...: the command ends with the code and one line that has the sentence.
refused()
{
    local what="$1" code="$2" sentence="$3"
    shift 3
    "$GYRE" "$@" >"$folder/out" 2>"$folder/err"
    local found=$?
    same "$what" "$found $(wc -l <"$folder/err") $(grep -cF "$sentence" "$folder/err")" "$code 1 1"
}

refused "a cluster that never was" 1 "no member of this cluster was ever there" cluster status --config examples/cluster/gyre.ini --set "cluster.folder=$folder/other"
refused "no app" 4 "[cluster] needs an \`app\`" cluster status
refused "an unknown transport" 1 "there is no transport 'carrier'" cluster status "${with[@]}" --set cluster.transport=carrier
refused "a member that is no keyed actor" 1 "is no keyed actor" serve examples/command/scale.gyre.c "${with[@]}"
refused "two kernels" 2 "expected one keyed kernel" serve "$handler" "$handler" "${with[@]}"
refused "another number of shards" 1 "the cluster has 8 shards, and shards = 9 here" serve "$handler" "${with[@]}" --set cluster.shards=9
refused "an unknown member" 1 "the cluster has no member 'nobody'" cluster drain nobody "${with[@]}"
refused "a member that is gone" 1 "member 'two' is gone, so it cannot give its shards" cluster drain two "${with[@]}"
refused "an unknown shard" 1 "the cluster has the shards 0 to 7, found 8" cluster move 8 --to two "${with[@]}"
refused "a move to who is not there" 1 "member 'two' is gone, so it takes no shards" cluster move 3 --to two "${with[@]}"
refused "an order that is not there" 1 "shard 3 was not ordered to a member" cluster move 3 --home "${with[@]}"
refused "a drain that is not there" 1 "no member 'two' was ordered to be drained" cluster drain two --end "${with[@]}"
refused "orders that are whole" 1 "the cluster's orders are whole" cluster drain --reset "${with[@]}"
refused "a move to nowhere" 2 "either --to MEMBER or --home" cluster move 3 "${with[@]}"
refused "a dead letter that is not there" 1 "shard 3 has no dead letter 17" cluster dead 3 --again 17 "${with[@]}"
refused "a letter of no shard" 2 "with --again one" cluster dead --again 17 "${with[@]}"
printf 'no record of Gyre, %0200d' 0 | tee "$folder"/shared/*/records/place.3* >/dev/null
"$GYRE" cluster verify "${with[@]}" >"$folder/out" 2>"$folder/err"
same "what does not agree is told" "$? $(grep -c 'place.3' "$folder/err") $(awk '$1 == "3" { print $NF }' "$folder/out")" '1 1 agree'
finish
