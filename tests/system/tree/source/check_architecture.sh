#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tables of docs/architecture.md and the tree tell of the same folders and files: a .c file without a line, a folder of
# the core or of the command, or a public header without one, and names of what is not there are told. Headers may stand for themselves.
# usage: check_architecture.sh [TREE]; prints every difference, exits 1 when there is one.
set -euo pipefail
cd "${1:-.}"
page=docs/architecture.md
differences=0

tell()
{
    echo "$page: $1"
    differences=$((differences + 1))
}

# FOLDER/FILE of each line in a table of files.
named="$(awk '
    /^### Inside core\// { folder = $3 }
    /^\| `backends\/[a-z\/]+\/` \|/ { folder = $2; gsub(/`|\/$|\/`/, "", folder); next }
    /^## / || (/^### / && !/^### Inside core\//) { folder = "" }
    folder && /^\| `/ {
        split($0, columns, " [|] ")
        while (match(columns[1], /`[a-z0-9_]+\.[ch]`/)) {
            print folder "/" substr(columns[1], RSTART + 1, RLENGTH - 2)
            columns[1] = substr(columns[1], RSTART + RLENGTH)
        }
    }' "$page" | sort -u)"
[[ -n "$named" ]] || { echo "$page: no tables of files found"; exit 1; }

for file in $named; do
    [[ -f "$file" ]] || tell "names $file, which is not there"
done
for folder in $(xargs -n 1 dirname <<<"$named" | sort -u); do
    for file in "$folder"/*.c; do
        grep -qxF "$file" <<<"$named" || tell "has no line for $file"
    done
done
for folder in core/*/ cli/*/; do
    [[ ! -d "$folder" ]] || grep -qF "| \`$folder\` |" "$page" || tell "has no line for $folder"
done
for header in include/gyre/*.h; do
    grep -qF "\`${header##*/}\`" "$page" || tell "does not say for whom $header is"
done

((differences == 0)) || exit 1
echo "$(wc -l <<<"$named") files, each where the page says"
