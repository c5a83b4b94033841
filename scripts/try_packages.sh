#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Inside a fresh system, as root: installs the packages in /tmp, uses them as a user does, and takes them away again. Run by
# `./dev package try SUITE`; not for a system that anybody uses.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive HOME=/tmp/home XDG_CACHE_HOME=/tmp/home/cache GYRE_BACKEND=cpu
mkdir -p "$HOME"
cd /tmp

fail()
{
    echo "FAILED: $*"
    [[ ! -f log ]] || tail -n 30 log
    exit 1
}

# Each step has a limit, for one that hangs: far above what a busy machine needs.
limited()
{
    timeout --kill-after 10 "${TRY_LIMIT_S:-1200}" "$@"
}

quiet()
{
    limited "$@" >log 2>&1 || fail "$* (exit status $?)"
}

# says TEXT COMMAND...: what the command prints has the text.
says()
{
    local text="$1"
    shift
    "$@" >log 2>&1 </dev/null || true # some are functions
    grep -qF -- "$text" log || fail "'$*' does not say: $text"
}

call_scale()
{
    (cd scale && limited gyre call --config gyre.ini scale '{"value":2,"factor":3}')
}

install_alone()
{
    quiet apt-get update
    quiet apt-get install -y --no-install-recommends ./libgyre0.1_*.deb ./libgyre-common_*.deb ./gyre_*.deb
    says 'cpu ' gyre backends
    gyre new scale >log || fail 'gyre new'
    says "compiler" call_scale # none is there, and a sentence says so
}

install_all()
{
    quiet apt-get install -y --no-install-recommends ./*.deb gcc libc6-dev make cmake pkg-config systemd
    says '{"result":6.0}' call_scale
    quiet cmake -S scale -B scale/build
    says '20.5 * 2 = 41' cmake --build scale/build --target run
    quiet cmake --build scale/build
    quiet ctest --test-dir scale/build
}

# The tests that autopkgtest runs, each in a folder of its own.
package_tests()
{
    local test names
    mapfile -t names < <(sed -n 's/^Tests: //p' tests/control)
    for test in "${names[@]}"; do
        mkdir -p "in_$test"
        AUTOPKGTEST_TMP="$PWD/in_$test" quiet bash "tests/$test"
    done
}

# The unit is in order, and its command, with its environment and as another user, serves what a client calls.
service()
{
    local unit=/usr/lib/systemd/system/gyre-serve@.service server i
    quiet systemd-analyze verify --man=no "$unit"
    mkdir -p /etc/gyre /run/gyre/scale /var/lib/gyre/scale /var/cache/gyre/scale
    cp scale/scale.h scale/scale.gyre.c /etc/gyre
    sed 's/^\[gyre\]/&\nsocket_access = everyone/' scale/gyre.ini >/etc/gyre/scale.ini
    chown -R nobody /run/gyre/scale /var/lib/gyre/scale /var/cache/gyre/scale
    {
        echo '#!/bin/sh'
        sed -n 's/^Environment=/export /p; s/^WorkingDirectory=/cd /p' "$unit" | sed 's/%i/scale/g'
        sed -n 's/^ExecStart=/exec /p' "$unit" | sed 's/%i/scale/g'
    } >serve
    chmod 755 serve
    : >served
    setpriv --reuid nobody --clear-groups ./serve >served 2>&1 &
    server=$!
    for ((i = 0; i < 600; i++)); do
        grep -q '^serving at' served && break
        sleep 0.1
    done
    says '{"result":6.0}' gyre call --attach scale --socket /run/gyre/scale/gyre.sock '{"value":2,"factor":3}'
    says 'scale' gyre stat --set observe.folder=/run/gyre/scale/observed
    kill -TERM "$server"
    wait "$server" || fail "the server ended with $?: $(cat served)"
    rm -rf /etc/gyre /run/gyre
}

# The packages beside their docs tell where each file came from; behind their removal no file is left.
removal()
{
    local left
    # shellcheck disable=SC2046 # a list of packages
    quiet apt-get purge -y $(dpkg-query -W -f '${Package}\n' '*gyre*')
    left="$(find / -xdev \( -path /proc -o -path /tmp -o -path /sys -o -path /var/cache/apt \) -prune -o -name '*gyre*' -print)"
    [[ -z "$left" ]] || fail "purging leaves: $left"
}

requests_until_stop()
{
    local i
    for ((i = 1; ; i++)); do
        [[ ! -e stop ]] || break
        echo "{\"value\":$i,\"factor\":2}" | tee -a requests
        sleep 0.005
    done
}

# worker_is_of SERVER [OTHER]: $worker is its worker process, which is not the process OTHER.
worker_is_of()
{
    local processes
    read -ra processes < <(cat "/proc/$1"/task/*/children | xargs)
    for worker in "${processes[@]}"; do
        [[ "$worker" == "${2:-}" || "$(cat "/proc/$worker/comm" 2>/dev/null)" != gyre-worker ]] || return 0
    done
    return 1
}

# While a client sends one request after the other to a server, the packages of before are replaced, and then the server's worker process is
# killed. Every request has its answer, from the server of before and a worker of before; a server that starts then is the new one.
upgrade()
{
    local server client sent worker
    quiet apt-get install -y --no-install-recommends ./before/*.deb gcc libc6-dev
    rm -rf "$XDG_CACHE_HOME" stop
    : >served
    gyre serve scale/scale.gyre.c --config scale/gyre.ini --set gyre.socket=/tmp/socket --set backend.cpu.isolation=process >served 2>&1 &
    server=$!
    wait_until "the server does not start: $(cat served)" grep -q '^serving at' served
    : >counts
    requests_until_stop | gyre call --attach scale --socket /tmp/socket >replies 2>counts &
    client=$!
    wait_until "the client gets no reply: $(cat counts)" test -s replies
    quiet apt-get install -y --no-install-recommends ./*.deb
    worker_is_of "$server" || fail "the server of before has no worker: $(cat served)"
    kill -KILL "$worker"
    wait_until "no worker takes the place of one that died: $(cat served)" worker_is_of "$server" "$worker"
    [[ "$(readlink "/proc/$worker/exe")" == *' (deleted)' ]] || fail "a server of before has a worker of $(readlink "/proc/$worker/exe")"
    # a client of the new version gets its reply, or is told which two versions do not fit
    timeout 120 gyre call --attach scale --socket /tmp/socket '{"value":2,"factor":3}' >log 2>&1 </dev/null || true
    grep -qF '{"result":6.0}' log || grep -qE 'the server is of Gyre [0-9.]*, this program of|speaks version [0-9]* of the protocol' log ||
        fail "a client behind the upgrade"
    : >mark
    wait_until "the client gets no reply behind the upgrade: $(cat counts)" test replies -nt mark
    : >stop
    wait "$client" || fail "the client ended with $?: $(cat counts)"
    sent="$(wc -l <requests)"
    diff <(seq 2 2 $((2 * sent)) | sed 's/.*/{"result":&.0}/') replies >log || fail "replies differ over the upgrade"
    kill -TERM "$server"
    wait "$server" || fail "the server of before ended with $?: $(cat served)"
    says '{"result":6.0}' call_scale
    echo "$sent requests were answered over the upgrade"
}

wait_until()
{
    local sentence="$1" i
    shift
    for ((i = 0; i < 600; i++)); do
        "$@" && return
        sleep 0.1
    done
    fail "$sentence"
}

install_alone
install_all
package_tests
service
removal
if compgen -G 'before/*.deb' >/dev/null; then
    upgrade
    removal
fi
echo "the packages work on $(. /etc/os-release && echo "$PRETTY_NAME"), and leave nothing"
