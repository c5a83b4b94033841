#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What every source file has in common: licence line, comment style, header guards, a length one can read.
# usage: check_text.sh [TREE]; prints every violation, exits 1 when there is one.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
cd "${1:-.}"
violations=0

violation()
{
    echo "$1"
    violations=$((violations + 1))
}

tracked()
{
    local folder
    for folder in core backends cli include examples tests; do
        [[ ! -d "$folder" ]] || find "$folder" -type f -name "$1"
    done | sort
}

check_file()
{
    local file="$1" lines
    [[ "$(head -n 1 "$file")" == "/* SPDX-License-Identifier: Apache-2.0 */" ]] ||
        violation "$file:1: the first line must be /* SPDX-License-Identifier: Apache-2.0 */"
    lines="$(wc -l <"$file")"
    ((lines <= 800)) || violation "$file: has $lines lines; 800 are the limit, split it"
    if grep -nE '\b(TODO|FIXME|XXX)\b' "$file"; then
        violation "$file: says TODO; do it, or write down the limit where users look for it"
    fi
}

check_guard()
{
    local file="$1" first
    first="$(awk -f "$here/code_view.awk" "$file" | sed -n 1,2p | cut -d: -f3- | tr '\n' ' ')"
    [[ "$first" =~ ^\#ifndef\ ([A-Z0-9_]+_H)\ \#define\ ([A-Z0-9_]+_H)\ $ &&
        "${BASH_REMATCH[1]}" == "${BASH_REMATCH[2]}" ]] ||
        violation "$file: must begin with a guard #ifndef NAME_H, #define NAME_H; found: $first"
}

while IFS= read -r file; do
    check_file "$file"
    [[ "$file" != *.h ]] || check_guard "$file"
done < <(tracked '*.[ch]')

while IFS= read -r line; do
    violation "$line (comments are /* */)"
done < <(tracked '*.[ch]' | xargs awk -f "$here/code_view.awk" | grep SLASH_COMMENT | cut -d: -f1-2)

if ((violations > 0)); then
    echo "$violations violations"
    exit 1
fi
echo "all files in order"
