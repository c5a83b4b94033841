#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A pipeline whose first kernel emits messages of 8 bytes, less than a slot has room for, watched: for a client of another program, whose flow
# finds no bytes of earlier messages in a slot. Nothing is found.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
handler="$(cd "$(dirname "${BASH_SOURCE[0]}")/crashes" && pwd)/stamp.gyre.c"
cd "$folder" || exit 1
server=''
trap 'kill -KILL $server 2>/dev/null; rm -rf "$folder"' EXIT

for check in memory races; do
    { sed -n 's/^ \* config: //p' "$handler" | sed "s|@|$handler|" && printf '[backend.cpu]\ncheck = %s\n' "$check"; } >stamp.ini
    : >ready
    "$GYRE" serve --config stamp.ini --set kernel.default.options=-DMENDED --socket "$folder/$check.sock" >ready 2>served &
    server=$!
    await_begun ready "$server"
    run call --attach stamp --socket "$folder/$check.sock" --timeout $((30000 * patience)) '{"number":1,"value":3}' '{"number":2,"value":5}'
    exits 0
    checks=$((checks + 1))
    [[ "$out" == '{"value":7,"second":1000}
{"value":11,"second":1000}' ]] || fail "expected two answers: $(<served)"
    kill -TERM "$server"
    wait "$server"
    server=''
done
finish
