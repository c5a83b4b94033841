#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A cluster by hand, as docs/cluster.md tells: two members, a client, a member that is killed, and what is refused.
# usage: GYRE=PROGRAM test_cluster.sh, in the project's folder
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" XDG_CONFIG_HOME="$folder/none" XDG_RUNTIME_DIR="$folder"
handler=examples/command/accounts.gyre.c
with=(--config examples/cluster/gyre.ini --set "cluster.folder=$folder/shared")

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

member two
two=$started
kill -9 "$one"
wait "$one" 2>/dev/null
reply="$("$GYRE" cluster call "$handler" '{"account":7,"cents":-100}' "${with[@]}" --timeout 110000)"
same "states outlive their owner" "$reply" '{"cents":300,"deposits":3}'
"$GYRE" cluster call "$handler" '{"account":7,"cents":-1000}' "${with[@]}" >"$folder/out" 2>"$folder/err"
same "a handler's failure is told" "$? $(cat "$folder/err")" '1 gyre: the handler failed with code 1: overdrawn'

owned="$("$GYRE" cluster status "${with[@]}" | awk 'found { owners[$2]++ } $1 == "SHARD" { found = 1 } END { print owners["two"], length(owners) }')"
same "the status has the owner of each shard" "$owned" '8 1'
state="$("$GYRE" cluster status "${with[@]}" | awk '$1 == "one" || $1 == "two" { print $1, $2 }' | sort)"
same "and how the members fare" "$state" 'one silent
two here'
kill -TERM "$two"
wait "$two"
same "a member ends in order" "$? $(cat "$folder/two.log")" '0 gyre: member two has given its shards back'
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
finish
