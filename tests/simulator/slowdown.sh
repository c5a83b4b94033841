#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints how much longer handlers take with each check, as a table of Markdown: processor time of a turn of the handler's loop, each check by
# turns with no check, the least of several rounds. Messages, starting and compiling are the same in a run of no turns, which is taken
# off. The column `none again` is a second measurement without a check: how far it is from 1 is what the others may be wrong by.
# Nothing is judged except that the answers are the same.
# usage: GYRE=build/release/bin/gyre slowdown.sh [ROUNDS]
# shellcheck disable=SC2016 # the backquotes are those of Markdown
set -eu
: "${GYRE:?the program to measure}"
rounds="${1:-5}"
handlers="$(cd "$(dirname "${BASH_SOURCE[0]}")/../estimate/handlers" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
checks=(none none_again races memory deadlock schedule order traffic)
TIMEFORMAT='%U %S'
messages=20   # of a run
enough_ms=150 # a run's loop takes at least so long

# run_ms CHECK TURNS HANDLER [OPTION...]: milliseconds of processor time of a run; the answers go to $work/answers.
run_ms()
{
    local check="${1%_again}" turns="$2" handler="$3" took
    shift 3
    seq 1 "$messages" | sed "s/.*/{\"turns\":$turns,\"seed\":&}/" >"$work/requests"
    took="$({ time "$GYRE" call --backend cpu --timeout 600000 --set "backend.cpu.check=$check" \
        --set "backend.cpu.traffic_file=$work/counts" "$@" "$handlers/$handler.gyre.c" \
        <"$work/requests" >"$work/answers" 2>"$work/said"; } 2>&1)" ||
        { cat "$work/said" >&2; exit 1; }
    awk '{ printf "%d\n", ($1 + $2) * 1000 }' <<<"$took"
}

# loop_ms CHECK TURNS HANDLER [OPTION...]: the same less that of a run of no turns.
loop_ms()
{
    local whole begin
    begin="$(run_ms "$1" 0 "${@:3}")"
    whole="$(run_ms "$@")"
    echo $((whole > begin ? whole - begin : 0))
}

# row WORDS HANDLER [OPTION...]
row()
{
    local words="$1" check i now
    local -A turns least
    shift
    for check in "${checks[@]}"; do
        turns[$check]=250
        run_ms "$check" 250 "$@" >/dev/null # compiles
        [[ "$check" == none ]] && cp "$work/answers" "$work/right"
        cmp -s "$work/answers" "$work/right" || { echo "$1, $check: other answers than without checks" >&2; exit 1; }
        while (($(loop_ms "$check" "${turns[$check]}" "$@") < enough_ms)); do
            turns[$check]=$((turns[$check] * 2))
        done
        least[$check]=0
    done
    for ((i = 0; i < rounds; i++)); do
        for check in "${checks[@]}"; do
            now="$(loop_ms "$check" "${turns[$check]}" "$@")"
            ((least[$check] && least[$check] <= now)) || least[$check]=$now
        done
    done
    printf '| %s |' "$words"
    for check in "${checks[@]}"; do
        awk -v ms="${least[$check]}" -v turns="${turns[$check]}" -v none_ms="${least[none]}" -v none_turns="${turns[none]}" \
            -v first="$check" -v messages="$messages" 'BEGIN {
                if (first == "none") printf " %.1f ns |", ms * 1e6 / turns / messages
                else printf " %.*f |", (ms / turns) / (none_ms / none_turns) < 10 ? 1 : 0, (ms / turns) / (none_ms / none_turns) }'
    done
    echo
}

printf '| Loop of a handler |'
printf ' %s |' 'a turn with `none`' 'none again' "${checks[@]:2}"
printf '\n|---|'
printf -- '---|%.0s' "${checks[@]}"
echo
row 'arithmetic alone (`chain`)' chain
row 'an actor with a table in its state (`actor_table`)' actor_table
row 'reads of a buffer, far and wide (`gather`)' gather --buffer table=zeros:1048576
row '64 lanes, scratch and 2 barriers (`barriers`)' barriers --lanes 64
