#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A handler of the second set, whose author knew the pages of docs/ and neither the checks nor their tests. The first comment says what has
# to be found, with the options and the requests; `first` and `second` mark the lines that the finding names. Half of the
# handlers have one mistake. The others look as if they had one, and nothing may be found in them.
# usage: check_stranger.sh HANDLER.gyre.c
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
handler="$1"
file="$(basename "$handler")"

# fields KEY: what the comment says of it, a line each.
fields()
{
    sed -n "s/^ \* $1: //; t show; b; : show; s: \*/\$::; p" "$handler"
}

# marked: the numbers of the lines that are marked as first or second, a word each.
marked()
{
    sed -n '\:/\* first \*/\|/\* second \*/:=' "$handler" | tr '\n' ' '
}

# names_marked: the log names each marked line, and no other one of the handler.
names_marked()
{
    local named
    named="$(grep -o "/$file:[0-9]*" <<<"$err" | sed 's/.*://' | sort -nu | tr '\n' ' ')"
    checks=$((checks + 1))
    [[ "$named" == "$(marked)" ]] || fail "expected in the log the lines $(marked), found $named"
}

# fails CODE TEXT: a message failed so.
fails()
{
    exits 1
    prints "\"failed\":{\"code\":$1,\"text\":\"$2"
}

expected="$(fields expects)"
checked="$(fields check)"
eval "options=($(fields options))" # they are quoted as in a shell
cd "$(dirname "$handler")" || exit 1
if [[ "$expected" == estimate* ]]; then
    run estimate "$file" --device h200 "${options[@]}"
    exits 0
    prints "bound by  ${expected#estimate }: "
    prints "$file:$(marked | tr -d ' '): ${expected#estimate }: "
    finish
fi
[[ " ${options[*]} " == *" --pipeline "* ]] || options+=("$file")
run call --backend cpu --check "${checked:-races,memory,deadlock,schedule}" --seeds 20 --timeout $((20000 * patience)) \
    "${options[@]}" <<<"$(fields request)"
case "$expected" in
nothing)
    exits 0
    [[ "$err" != *"warning: kernel"* ]] || fail "expected no finding in a handler without a mistake"
    [[ "$err" == *" 0 failed"* || "$err" == *"answers as expected"* ]] || fail "expected answers to all requests"
    ;;
race)
    fails -20 "$file:"
    prints ": race, "
    names_marked
    ;;
"race of turns")
    exits 1
    says ": race, two messages"
    names_marked
    ;;
warning)
    exits 0
    names_marked
    ;;
index)
    fails -15 "$file:$(marked | tr -d ' '): "
    [[ "$err" != *"warning: kernel"* ]] || fail "expected nothing else to be found"
    ;;
null)
    fails -15 "$file:$(marked | tr -d ' '): through NULL, byte "
    ;;
hook)
    exits 1
    says "in a hook, such as GYRE_BORN or GYRE_REMINDED"
    checks=$((checks + 1))
    [[ $(grep -c 'in a hook' <<<"$err") -eq 1 ]] || fail "expected the place in the log once"
    names_marked
    ;;
port)
    fails -17 "$file:$(marked | tr -d ' '): lane 1 emits"
    names_marked
    ;;
more)
    exits 1
    prints " of 32 lanes return GYRE_MORE"
    names_marked
    ;;
lanes)
    fails -3 "$file:"
    names_marked
    ;;
circle)
    exits 1
    says ": deadlock, waits for ever"
    names_marked
    ;;
unwritten)
    fails -20 "$file:"
    prints ": unwritten "
    names_marked
    ;;
schedule)
    fails -20 "differs with the order: seeds "
    ;;
order)
    exits 1
    says ": with seed "
    says "handled messages of the requests"
    ;;
"older value")
    exits 1
    says ": with seed "
    says " an older value than what "
    ;;
*)
    fail "the comment of $file expects '$expected', which is none of the words that are known"
    ;;
esac
finish
