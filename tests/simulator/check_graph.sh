#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A pipeline with a planted mistake, and the same pipeline without it (-DMENDED). Its first comment has the configuration behind
# `config:` (@ is the file), how it is called, and what is told; @1 is the line that is marked with 1. What is found is saved, found
# again, made small, and found in that: each with the same words, because a seed repeats a run.
# usage: check_graph.sh GRAPH.gyre.c COMPILER
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
graph="$(realpath "$1")" compiler="$2"
file="$(basename "$graph")"
name="${file%.gyre.c}"

# fields KEY: what the comment says of it, a line each; @1 and @2 are the marked lines.
fields()
{
    sed -n "s/^ \* $1: //p" "$graph" | sed "s/@1/$(line_of 1)/g; s/@2/$(line_of 2)/g"
}

# line_of MARK: the line that is marked so.
line_of()
{
    sed -n "/^ \*/!{/\/\* $1 \*\//=}" "$graph"
}

# told: the differences and the orders that the last run printed; not the name of the case in front of them.
told()
{
    sed -n 's/.*\(: with seed [0-9]*: .*\)/\1/p; s/^gyre: \(with seed .*\)/\1/p' <<<"$err"
}

sed -n 's/^ \* config: //p' "$graph" | sed "s|@|$graph|" >"$folder/graph.ini"
read -ra how <<<"$(fields call)"
how+=(--set "backend.cpu.compiler=$compiler" --timeout $((30000 * patience)))
graph_call=(call --config "$folder/graph.ini" --pipeline "$name" "${how[@]}")
requests="$(fields request)"
[[ -n "$requests" && -n "$(fields says)" ]] || fail "the comment of $file says neither a request nor what is told"
cd "$folder" || exit 1

run "${graph_call[@]}" --save found.gyre-case <<<"$requests"
exits 1
while IFS= read -r sentence; do
    says "$sentence"
done < <(fields says)
first="$out" first_told="$(told)"
run "${graph_call[@]}" <<<"$requests"
exits 1
[[ "$out" == "$first" && "$(told)" == "$first_told" ]] || fail "expected the same run: $first $first_told"
run call --case found.gyre-case --timeout $((30000 * patience))
exits 1
[[ "$out" == "$first" && "$(told)" == "$first_told" ]] ||
    fail "expected the case to show the same: $first $first_told"
run shrink found.gyre-case --limit $((60000 * patience)) --tries 5
exits 0
run call --case found.small.gyre-case --timeout $((30000 * patience))
exits 1

run "${graph_call[@]}" --set kernel.default.options=-DMENDED <<<"$requests"
exits 0
[[ "$err" != *"warning: kernel"* ]] || fail "expected no finding in the mended graph"
finish
