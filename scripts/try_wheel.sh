#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Inside a fresh system, as root: installs the wheel in /tmp as a user with an empty home does, with zig in place of a C compiler, runs
# the page's program and the package's own tests, and looks for what is left behind. Run by `./dev python try SUITE`; not for a
# system that anybody uses.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
limit=1500 # seconds for each step; only for one that hangs

fail()
{
    echo "FAILED: $*"
    [[ ! -f /tmp/log ]] || tail -n 40 /tmp/log
    exit 1
}

quiet()
{
    timeout "$limit" "$@" >/tmp/log 2>&1 </dev/null || fail "$*"
}

as_user()
{
    quiet setpriv --reuid stranger --regid stranger --clear-groups env HOME=/home/stranger "$@"
}

quiet apt-get update
quiet apt-get install -y --no-install-recommends python3 python3-venv ca-certificates
useradd --create-home stranger
cd /home/stranger
[[ "$(command -v cc gcc clang || true)" == '' ]] || fail "this system has a C compiler"

if [[ -s /tmp/certificates.crt ]]; then
    cp /tmp/certificates.crt /etc/ssl/certs/ca-certificates.crt
    export PIP_CERT=/etc/ssl/certs/ca-certificates.crt SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
fi
as_user python3 -m venv venv
as_user venv/bin/pip install --disable-pip-version-check "$(echo /tmp/gyre_kernels-*.whl)[cc]" pytest
awk '/^```python$/ { shown = 1; next } /^```$/ && shown { exit } shown' /tmp/python.md >program.py
as_user venv/bin/python program.py
[[ "$(tail -n 1 /tmp/log)" == 198.0 ]] || fail "the page's program"
as_user venv/bin/gyre new --language python sample
as_user venv/bin/gyre call --config sample/gyre.ini sample '{"value": 3, "factor": 2}'
as_user venv/bin/python -m pytest -q -rs -p no:cacheprovider --pyargs gyre_kernels
tail -n 1 /tmp/log
as_user venv/bin/pip uninstall -y gyre-kernels
left="$(find venv -name '*gyre*')"
[[ -z "$left" ]] || fail "pip uninstall leaves: $left"
echo "the wheel works on $(. /etc/os-release && echo "$PRETTY_NAME") with $(python3 --version), without a C compiler of the system"
