#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An upgrade under a running server: the file of the worker program is replaced by one that does not fit. A worker that takes the place of
# one that died is of the file that the first was of, so the client of before has its answers, and a server that starts then has none.
# usage: GYRE=PROGRAM test_replaced.sh BUILD, in the project's folder; BUILD has bin/gyre and lib/gyre
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
# an install of links, whose files can be replaced: on the disk of the build, which may be another one than that of temporary files
installed="$(mktemp -d "$1/replaced.XXXXXX")"
mkdir "$installed/bin" "$installed/lib"
trap 'kill -9 ${server:-} 2>/dev/null; rm -rf "$folder" "$installed"' EXIT
cp -al "$1/lib/gyre" "$installed/lib"
ln -s "$PWD/include" "$installed/include"
cp -al "$GYRE" "$installed/bin"
GYRE="$installed/bin/gyre" worker="$installed/lib/gyre/libexec/gyre-worker"
export XDG_CACHE_HOME="$folder/cache" XDG_STATE_HOME="$folder/state"
options=(--backend cpu --set backend.cpu.isolation=process)

"$GYRE" serve examples/command/scale.gyre.c "${options[@]}" --socket "$folder/socket" >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
# worker_of_server: the number of its process, as the system names it.
worker_of_server()
{
    local process
    cat "/proc/$server"/task/*/children 2>/dev/null | tr ' ' '\n' | while read -r process; do
        [[ "$(cat "/proc/$process/comm" 2>/dev/null)" != gyre-worker ]] || echo "$process"
    done
}

ask()
{
    run call --attach scale --socket "$folder/socket" --timeout $((20000 * patience)) '{"value":2,"factor":3}' </dev/null
    exits 0
    prints '{"scaled":6.0}'
}
ask

printf '#!/bin/sh\nexit 1\n' >"$installed/new"
chmod 755 "$installed/new"
mv "$installed/new" "$worker"
first="$(worker_of_server)"
kill -9 "$first"
for ((i = 0; i < 600 * patience; i++)); do
    second="$(worker_of_server)"
    [[ -z "$second" || "$second" == "$first" ]] || break
    sleep 0.05
done
ask
kill -TERM "$server"
wait "$server"

run call examples/command/scale.gyre.c "${options[@]}" '{"value":2,"factor":3}' </dev/null
exits 3
finish
