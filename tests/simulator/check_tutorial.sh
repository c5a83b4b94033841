#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/simulator_tutorial.md: its handlers as they stand there, each of its commands with what the page prints below it, and its mends.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
page="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/docs/simulator_tutorial.md"
cd "$folder" || exit 1

# the files: blocks of C whose first line is their name, and one of ini
awk '/^```/ { inside = !inside; name = ""; if ($0 == "```ini") name = "shop.ini"; next }
    inside && !name && /^\/\* [a-z]+\.gyre\.c \*\/$/ { name = $2 }
    inside && name { print >name }' "$page"

# in_a_line: standard input without line breaks and indents.
in_a_line()
{
    tr '\n' ' ' | tr -s ' ' | sed 's/^ //; s/ $//'
}

commands=0
printed=
# compare: what the page has below a command is in what the command printed.
compare()
{
    [[ -n "$printed" ]] || return 0
    local expected
    expected="$(in_a_line <<<"${printed//\/home\/you/$folder}")"
    checks=$((checks + 1))
    [[ "$(in_a_line <<<"$out $err")" == *"$expected"* ]] || fail "expected, as in the page: $expected"
    printed=
}

while IFS= read -r line; do
    case "$line" in
    '    gyre '*)
        compare
        eval "set -- ${line#    gyre }"
        [[ "$1" != call ]] || set -- "$@" --timeout $((30000 * patience))
        run "$@"
        commands=$((commands + 1))
        ;;
    '    '*) printed+="${line#    }"$'\n' ;;
    *) compare ;;
    esac
done < <(awk '/^```/ { inside = !inside; next } !inside' "$page" )
compare
((commands == 9)) || fail "expected 9 commands in the page, found $commands"

# mended FILE SED WORDS...: the page has the words, and the file with the change passes.
mended()
{
    local file="$1" change="$2" word
    shift 2
    for word; do
        checks=$((checks + 1))
        grep -qF "$word" "$page" || fail "expected in the page: $word"
    done
    sed -i "$change" "$file"
}

# passes ARGUMENT...: nothing is found.
passes()
{
    run "$@" --timeout $((30000 * patience))
    exits 0
    [[ "$err" != *"warning: kernel"* ]] || fail "expected no finding"
}

mended visits.gyre.c '11s/.*/    gyre_atomic_add(\&state->people, request->people);/' 'gyre_atomic_add(&state->people, request->people);'
passes call --check races visits.gyre.c '{"people":2}' '{"people":3}'
mended smooth.gyre.c '18s/lane + 1/lane < 7 ? lane + 1 : lane/' 'scratch->values[lane < 7 ? lane + 1 : lane]'
passes call --check memory,races --lanes 8 smooth.gyre.c '{"values":[2,4,6,8,10,12,14,16]}'
prints '{"values":[3,5,7,9,11,13,15,16]}'
mended largest.gyre.c '18,19d; 20s/if (/if (lane < step \&\& /' 'if (lane < step && scratch->values[lane + step] > scratch->values[lane])'
passes call --check deadlock,races,memory,schedule --seeds 20 --lanes 8 largest.gyre.c '{"count":8,"values":[3,1,4,1,5,9,2,6]}'
prints '{"value":9}'
mended seats.gyre.c '19,22d; 23s/.*/    if (gyre_atomic_sub(\&scratch->left, 1u) - 1 < request->seats)\n        gyre_atomic_add(\&scratch->sold, 1u);/' \
    'if (gyre_atomic_sub(&scratch->left, 1u) - 1 < request->seats)'
passes call --check races,schedule --seeds 100 --lanes 4 seats.gyre.c '{"seats":3}' '{"seats":4}'
mended shop.gyre.c '31s/.*/    flow->percent += request->percent;/; s/u32 steps, cents;/u32 steps, cents, percent;/; s/reply->cents = .*/reply->cents = flow->cents - flow->cents * flow->percent \/ 100;/' \
    'flow->percent += request->percent;' 'flow->cents - flow->cents * flow->percent / 100'
passes call --config shop.ini --pipeline shop --check order --seeds 40 '{"number":1,"cents":1000}' '{"number":2,"cents":500}'
prints '{"number":1,"cents":900}'
finish
