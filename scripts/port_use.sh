#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# port_use.sh GYRE [workers]: what a user does first, with the command of a port: a new project, a call of its handler, a server and
# a client of it; with `workers` also a call and a server whose handler runs in a worker process, which is killed and replaced. Every
# reply is compared. Run by `./dev ports`.
set -euo pipefail
gyre="$(realpath "$1")"
patience="${GYRE_TEST_PATIENCE:-1}"
work="$(mktemp -d)"
server=''
export HOME="$work" GYRE_CACHE_DIR="$work/cache" GYRE_BACKEND=cpu

finish()
{
    [[ -z "$server" ]] || kill -KILL "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

fail()
{
    echo "FAILED: $*"
    exit 1
}

# replies ARGUMENT...: the client's reply to 2 times 3.
replies()
{
    local said
    said="$(timeout $((60 * patience)) "$gyre" "$@" '{"value":2,"factor":3}' 2>"$work/errors")" || fail "gyre $1 ends with $?: $(cat "$work/errors")"
    [[ "$said" == '{"result":6.0}' ]] || fail "gyre $1 says '$said', expected {\"result\":6.0}"
}

# Until the server says where it serves, or ends.
await_server()
{
    local i
    for ((i = 0; i < 600 * patience; i++)); do
        ! grep -q '^serving at' "$work/served" || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    fail "the server does not start: $(cat "$work/served")"
}

# serve ARGUMENT...: one call of another program, and the server goes on.
serve()
{
    "$gyre" serve scale.gyre.c --config gyre.ini --set "gyre.socket=$work/socket" "$@" >"$work/served" 2>&1 &
    server=$!
    await_server
    replies call --attach scale --socket "$work/socket"
}

stop()
{
    kill -TERM "$server"
    wait "$server" || fail "the server ends with $?: $(cat "$work/served")"
    server=''
}

# The server's worker, which is not one that guards or stands by.
worker()
{
    pgrep -P "$server" -f "gyre-worker $server\$"
}

isolated()
{
    local first second
    replies call --config gyre.ini scale --set backend.cpu.isolation=process
    serve --set backend.cpu.isolation=process
    first="$(worker)" || fail "the server has no worker"
    kill -KILL "$first"
    replies call --attach scale --socket "$work/socket"
    second="$(worker)" || fail "the server has no second worker"
    [[ "$second" != "$first" ]] || fail "the worker was not replaced"
    stop
}

cd "$work"
"$gyre" new scale >said || fail "gyre new: $(cat said)"
cd scale
replies call --config gyre.ini scale
serve
stop
[[ "${2:-}" != workers ]] || isolated
echo "called, served and attached${2:+, also with $2}"
