#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pin: where the worker threads of a running kernel may run, as the system tells it.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"

mapfile -t usable < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
    while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
if ((${#usable[@]} < 2)); then
    echo "one processor is all that there is"
    exit 77
fi

# workers PIN BLOCKS: the processors of all threads that are not allowed everywhere, one a line, while a kernel runs.
workers()
{
    local process
    rm -f "$folder/out"
    mkfifo "$folder/requests"
    "$GYRE" call --backend cpu --blocks "$2" --set "backend.cpu.pin=$1" examples/command/scale.gyre.c \
        <"$folder/requests" >"$folder/out" 2>"$folder/err" &
    process=$!
    exec 7>"$folder/requests"
    echo '{"value":1,"factor":2}' >&7
    for ((i = 0; i < 400 * patience; i++)); do # its first reply
        [[ ! -s "$folder/out" ]] || break
        sleep 0.05
    done
    cat /proc/"$process"/task/*/status | awk '/^Cpus_allowed_list/ && $2 !~ /[-,]/ { print $2 }' | sort -n
    exec 7>&-
    wait "$process" || cat "$folder/err"
    rm "$folder/requests"
}

called="gyre call with the key pin"
out="$(workers none 2)"
[[ -z "$out" ]] || fail "nothing was to be pinned"
out="$(workers "${usable[1]}" 2)"
[[ "$out" == "${usable[1]}"$'\n'"${usable[1]}" ]] || fail "both workers belong on processor ${usable[1]}"
out="$(workers spread "${#usable[@]}")"
[[ "$out" == "$(printf '%s\n' "${usable[@]}")" ]] || fail "a worker for each processor was to be spread over all"
checks=3
finish
