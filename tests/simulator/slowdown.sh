#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints how much longer a handler takes with checks: the same requests without and with, by turns, the quickest mean of each.
# Nothing is judged except that the answers are the same.
# usage: slowdown.sh HANDLER.gyre.c REQUEST COUNT [OPTION...]
set -eu
: "${GYRE:?the program to measure}"
handler="$1" request="$2" count="$3"
shift 3
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
for ((i = 0; i < count; i++)); do printf '%s\n' "$request"; done >"$work/requests"

# took CHECKS [OPTION...]: nanoseconds that the handler takes for a request, in the mean of one call.
took()
{
    "$GYRE" call --backend cpu --set kernel.default.timing=true --set "backend.cpu.check=$1" "${@:2}" "$handler" \
        <"$work/requests" >"$work/$1" 2>"$work/said"
    awk '/ timed, in the mean / { for (i = 1; i < NF; i++) if ($(i + 1) == "us" && $(i + 2) == "in") print int($i * 1000) }' \
        "$work/said"
}

declare -A best
for checks in none races memory races,memory; do
    took "$checks" "$@" >/dev/null # compiles
    cmp -s "$work/none" "$work/$checks" || { echo "$checks: other answers than without checks"; exit 1; }
    best[$checks]=0
done
for _ in 1 2 3 4 5; do
    for checks in none races memory races,memory; do
        now="$(took "$checks" "$@")"
        ((best[$checks] && best[$checks] <= now)) || best[$checks]=$now
    done
done
printf '%s, %s requests: %s ns without checks' "$(basename "$handler")" "$count" "${best[none]}"
for checks in races memory races,memory; do
    printf ', %s.%s times that with %s' "$((best[$checks] / best[none]))" \
        "$((best[$checks] * 10 / best[none] % 10))" "$checks"
done
echo
