#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A handler that is not what it was when its worker process crashes, and the same handler mended (-DMENDED). Its first comment says how it
# is called, and what is told; one of a pipeline has the configuration behind `config:` (@ is the file). A seed repeats its run; what is
# found is saved, found again, and made small.
# usage: check_crash.sh HANDLER.gyre.c
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
handler="$(realpath "$1")"

# fields KEY: what the comment says of it, a line each.
fields()
{
    sed -n "s/^ \* $1: //p" "$handler"
}

# told: what the last run found; not the name of the case in front of it.
told()
{
    sed -n 's/.*\(: with seed [0-9]*: .*\)/\1/p; s/^gyre: \(with seed .*\)/\1/p' <<<"$err"
}

# found_as_before: the last run found what the first one did.
found_as_before()
{
    exits 1
    [[ "$out" == "$first" && "$(told)" == "$first_told" ]] || fail "expected the same run: $first $first_told"
}

read -ra how <<<"$(fields call)"
limit=(--timeout $((30000 * patience)))
name="$(basename "$handler" .gyre.c)"
sed -n 's/^ \* config: //p' "$handler" | sed "s|@|$handler|" >"$folder/crash.ini"
crash_call=(call "${how[@]}" "${limit[@]}" "$handler")
[[ ! -s "$folder/crash.ini" ]] || crash_call=(call --config "$folder/crash.ini" --pipeline "$name" "${how[@]}" "${limit[@]}")
requests="$(fields request)"
[[ -n "$requests" && -n "$(fields says)" ]] || fail "the comment of $1 says neither a request nor what is told"
cd "$folder" || exit 1

run "${crash_call[@]}" --save found.gyre-case <<<"$requests"
exits 1
while IFS= read -r sentence; do
    says "$sentence"
done < <(fields says)
first="$out" first_told="$(told)"
[[ "$first_told" == *"the worker process ended in message "* ]] || fail "expected where the process ended"
run "${crash_call[@]}" <<<"$requests"
found_as_before
run call --case found.gyre-case "${limit[@]}"
found_as_before
if [[ -n "$(fields shrinks)" ]]; then
    run shrink found.gyre-case --limit $((60000 * patience)) --tries 4
    exits 0
    run call --case found.small.gyre-case "${limit[@]}"
    exits 1
fi

lost="$(fields lost)" # the setting with which the pipeline does not outlive the crash
# loses ARGUMENT...: the answers tell of the loss, whoever hears of it first.
loses()
{
    run "$@" --set "$lost" <<<"$requests"
    exits 1
    says ', found {"unhandled":true}'
    says "its worker process died, and what its handler keeps between messages with it"
}
if [[ -n "$lost" ]]; then
    loses "${crash_call[@]}"
    # the pipeline is lost by the time it was to have begun
    GYRE_FAULTS=control.look=delay:200@1+ loses "${crash_call[@]}"
    # ... and before the last requests are sent
    sed '2,$s/}$/,"later":true}/' found.gyre-case >later.gyre-case
    loses call --case later.gyre-case --seed 2 "${limit[@]}"
fi
run "${crash_call[@]}" --set kernel.default.options=-DMENDED <<<"$requests"
exits 0
[[ "$err" != *"is not deterministic"* ]] || fail "expected no finding in the mended handler"
finish
