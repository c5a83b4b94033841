#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The code blocks of README.md are the files that they claim to be, byte for byte, those of docs/applications.md are pieces of
# the tour, and the links of all pages lead somewhere.
# usage: check_readme.sh; with --update it writes the files' text into the blocks instead.
set -euo pipefail

# shellcheck disable=SC2016 # awk's dollars
readonly BLOCKS='
/^<!-- [^ ]+ -->$/ { file = $2 }
/^```$/ && inside { inside = 0; file = "" }
'
blocks="$(awk '/^<!-- [^ ]+ -->$/ { print $2 }' README.md)"

# block FILE: the text of the block that is marked as this file.
block()
{
    awk -v wanted="$1" "$BLOCKS"'
        inside { print }
        /^```c(pp)?$/ && file == wanted { inside = 1 }' README.md
}

update()
{
    awk "$BLOCKS"'
        !inside { print }
        /^```c(pp)?$/ && file != "" { inside = 1; while ((getline line < file) > 0) print line }' README.md >README.new
    mv README.new README.md
}

if [[ "${1:-}" == "--update" ]]; then
    update
fi
[[ "$(wc -w <<<"$blocks")" -ge 4 ]] || { echo "README.md shows fewer than the four files of the example"; exit 1; }
failed=0
for file in $blocks; do
    diff <(block "$file") "$file" || { echo "README.md does not show $file as it is"; failed=1; }
done

# pieces_of_tour: whether each line of C that docs/applications.md shows is in the tour, next to the one before it.
pieces_of_tour()
{
    awk '
        FNR == NR { tour[FNR] = $0; lines = FNR; next }
        /^```$/ && inside { inside = 0; next }
        /^```c$/ { inside = 1; at = 0; next }
        !inside { next }
        at { at++ }
        !at || tour[at] != $0 {
            for (at = 1; at <= lines && tour[at] != $0; at++)
                ;
            if (at > lines || $0 != tour[at]) { print "docs/applications.md shows what is not in the tour: " $0; bad = 1; at = 0 }
        }
        END { exit bad }' <(cat examples/tour/tour.gyre.c examples/tour/main.c) docs/applications.md
}
pieces_of_tour || failed=1

# dead_links FILE: prints the links of a page that lead to no file, seen from its folder.
dead_links()
{
    local link
    while IFS= read -r link; do
        [[ -e "$(dirname "$1")/${link%%#*}" ]] || echo "$1 links to $link, which is not there"
    done < <(grep -oE '\]\([^)#:][^):]*\)' "$1" | sed 's/^](//; s/)$//')
}

for page in $(find README.md CHANGELOG.md docs tests -name '*.md' | sort); do
    dead="$(dead_links "$page")"
    if [[ -n "$dead" ]]; then
        echo "$dead"
        failed=1
    fi
done
exit "$failed"
