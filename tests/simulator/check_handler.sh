#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A handler with a planted mistake, and the same handler without it (-DMENDED). Its first comment says how it is called, what a
# message of it fails with, and what the log says; @1 is the line that is marked with 1.
# usage: check_handler.sh HANDLER.gyre.c COMPILER
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
handler="$1" compiler="$2"
file="$(basename "$handler")"
one='{"values":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"which":0}'

# fields KEY: what the comment says of it, a line each.
fields()
{
    sed -n "s/^ \* $1: //p" "$handler"
}

# line_of MARK: the line that is marked so.
line_of()
{
    sed -n "/^ \*/!{/\/\* $1 \*\//=}" "$handler"
}

# places: standard input, with the numbers of the marked lines.
places()
{
    sed "s/@1/$(line_of 1)/g; s/@2/$(line_of 2)/g"
}

read -ra how <<<"$(fields call)"
how+=(--set "backend.cpu.compiler=$compiler" --timeout $((20000 * patience)) "$handler")
requests="$(fields request | sed "s/^ONE$/$one/")"
expected="$(fields fails | places)"
[[ "$expected" != [0-9]* ]] || expected="$file:$expected\"" # a failure that begins with the line ends there
[[ -n "$expected" && -n "$requests" ]] || fail "the comment of $file says neither a request nor a failure"

run call "${how[@]}" <<<"$requests"
exits 1
prints "\"text\":\"$expected"
for mark in 1 2; do # a finding's sentence has the places, with the folder, and the lines themselves
    [[ "$expected" == *race* && -n "$(line_of "$mark")" ]] || continue
    says "/$file:$(line_of "$mark") (\`$(sed -n "$(line_of "$mark")s/^ *//p" "$handler" | cut -c 1-72)\`)"
done
while IFS= read -r sentence; do
    says "$sentence"
done < <(fields says | places)

run call "${how[@]}" --set kernel.default.options=-DMENDED <<<"$requests"
exits 0
says "$(wc -l <<<"$requests") sent, $(wc -l <<<"$requests") answered, 0 failed"
[[ "$err" != *"warning: kernel"* ]] || fail "expected no finding in the mended handler"
finish
