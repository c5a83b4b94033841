#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command of docs/messages.md is run as it is printed, and prints what stands below it; "..." stands for the rest.
# usage: check_commands.sh GYRE MESSAGES PROJECT_FOLDER
set -euo pipefail
gyre="$1" messages="$2" project="$3"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GYRE_BACKEND=cpu
mkdir "$folder/bin" "$folder/run"
ln -s "$gyre" "$folder/bin/gyre"
printf '#!/bin/sh\ncd %q/examples/messages && exec %q\n' "$project" "$messages" >"$folder/bin/messages"
chmod +x "$folder/bin/messages"
PATH="$folder/bin:$PATH"

# what the commands read
cp "$project/tests/kernels/parts_order.h" "$folder/run/order.h"
cp "$project/tests/kernels/wire_add.h" "$folder/run/"
ln -s "$project/tests" "$folder/run/tests"
grep -m 1 '^    {"id":"00112233' "$project/docs/messages.md" | sed 's/^    //' >"$folder/run/message.jsonl"
grep -m 1 '^    33221100' "$project/docs/messages.md" | sed 's/^    //' >"$folder/run/captured.hex"

# one "COMMAND" "EXPECTED": runs it.
count=0 bad=0
one()
{
    local said expected="$2"
    count=$((count + 1))
    said=$(cd "$folder/run" && bash -c "$1" 2>"$folder/err") || true
    if [[ "$expected" == *$'\n...' ]]; then
        expected="${expected%$'\n...'}"
        said=$(head -n "$(wc -l <<<"$expected")" <<<"$said")
    fi
    [[ "$said" == "$expected" ]] && return
    bad=$((bad + 1))
    printf 'docs/messages.md: $ %s\nexpected:\n%s\nfound:\n%s\n' "$1" "$expected" "$said"
    cat "$folder/err"
}

command='' expected='' continued=no
while IFS= read -r line; do
    if [[ "$line" == '    $ '* ]]; then
        [[ -z "$command" ]] || one "$command" "$expected"
        command="${line#    \$ }" expected='' continued=no
        [[ "$command" != *\\ ]] || continued=yes
    elif [[ $continued == yes ]]; then
        command="${command%\\}${line#"${line%%[! ]*}"}" continued=no
    elif [[ -n "$command" && ("$line" == '    '* || (-z "$line" && -n "$expected")) ]]; then
        expected+="${expected:+$'\n'}${line#    }"
    elif [[ -n "$command" ]]; then
        while [[ "$expected" == *$'\n' ]]; do expected="${expected%$'\n'}"; done
        one "$command" "$expected"
        command=''
    fi
done <"$project/docs/messages.md"
printf '%d commands, %d wrong\n' "$count" "$bad"
[[ $bad -eq 0 && $count -ge 6 ]]
