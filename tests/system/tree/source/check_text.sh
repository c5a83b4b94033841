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
    for folder in core backends bindings cli include examples tests; do
        [[ ! -d "$folder" ]] || find "$folder" -type f -name "$1"
    done | sort
}

# Reads lines of TEXT, a violation each.
violations_of()
{
    local line
    while IFS= read -r line; do
        violation "$line"
    done
}

while IFS= read -r file; do
    first=
    IFS= read -r first <"$file" || true
    [[ "$first" == "/* SPDX-License-Identifier: Apache-2.0 */" ]] ||
        violation "$file:1: the first line must be /* SPDX-License-Identifier: Apache-2.0 */"
done < <(tracked '*.[ch]')

violations_of < <(tracked '*.[ch]' | xargs wc -l | awk '$2 != "total" && $1 > 800 {
    print $2 ": has " $1 " lines; 800 are the limit, split it"
}')

violations_of < <(tracked '*.[ch]' | xargs grep -HnE '\b(TODO|FIXME|XXX)\b' |
    sed 's/$/ (do it, or write down the limit where users look for it)/')

# The guard of each header is its first two lines of code.
declare -A guards
while IFS= read -r line; do
    file="${line%%:*}" code="${line#*:}"
    guards[$file]+="${code#*:} "
done < <(tracked '*.h' | xargs awk -f "$here/code_view.awk" | awk -F: 'lines[$1]++ < 2')

while IFS= read -r file; do
    first="${guards[$file]:-}"
    [[ "$first" =~ ^\#ifndef\ ([A-Z0-9_]+_H)\ \#define\ ([A-Z0-9_]+_H)\ $ &&
        "${BASH_REMATCH[1]}" == "${BASH_REMATCH[2]}" ]] ||
        violation "$file: must begin with a guard #ifndef NAME_H, #define NAME_H; found: $first"
done < <(tracked '*.h')

while IFS= read -r line; do
    violation "$line (comments are /* */)"
done < <(tracked '*.[ch]' | xargs awk -f "$here/code_view.awk" | grep SLASH_COMMENT | cut -d: -f1-2)

if ((violations > 0)); then
    echo "$violations violations"
    exit 1
fi
echo "all files in order"
