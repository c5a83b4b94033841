#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# serve under a service manager: what it tells at the socket that NOTIFY_SOCKET names, here one of the test's own.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/temporary"
mkdir -p "$XDG_CACHE_HOME" "$TMPDIR"
cat >"$folder/slow.gyre.c" <<'C'
#include <gyre/kernel.h>
GYRE_KERNEL(slow, u64, u64)
{
    const u64 end = gyre_time_ns(gyre) + *request * 1000000u;
    while (gyre_time_ns(gyre) < end) {
    }
    *reply = *request;
    return GYRE_REPLY;
}
C

# A manager that starts the service, and its questions. Each waits for a state, and fails the test where it does not come.
cat >"$folder/manager.py" <<'PYTHON'
import atexit, os, signal, socket, subprocess, sys, time

gyre, folder, patience = sys.argv[1], sys.argv[2], float(sys.argv[3])
service_socket = folder + '/service'


class Manager:
    def __init__(self, name, *arguments, **environment):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name.replace('@', '\0', 1))
        self.heard = []
        self.service = subprocess.Popen(
            [gyre, 'serve', '--backend', 'cpu', '--socket', service_socket, '--set', 'kernel.slow.handler_budget_ms=100',
             *arguments, folder + '/slow.gyre.c'],
            env=dict(os.environ, NOTIFY_SOCKET=name, **environment), stdout=subprocess.DEVNULL)
        atexit.register(self.service.kill)

    def hear(self, seconds):
        self.socket.settimeout(seconds)
        try:
            self.heard.append(self.socket.recv(4096).decode())
        except TimeoutError:
            return None
        return self.heard[-1]

    def expect(self, beginning):
        until = time.monotonic() + 60 * patience
        while time.monotonic() < until:
            state = self.hear(1)
            if state and state.startswith(beginning):
                return state
        sys.exit(f'expected {beginning!r}; heard {self.heard}')

    def end(self):
        self.service.send_signal(signal.SIGTERM)
        self.expect('STOPPING=1')
        self.expect('STATUS=answering what was sent')
        code = self.service.wait()
        assert code == 0, code
        self.socket.close()


def variables(process):
    return open(f'/proc/{process}/environ', 'rb').read().split(b'\0')


def helpers(process):
    names = [name for name in os.listdir('/proc') if name.isdigit()]
    found = []
    for name in names:
        try:
            fields = open(f'/proc/{name}/stat').read().rsplit(')', 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            found.append(int(name))
    return found


# an abstract socket; no ping while a handler hangs
manager = Manager(f'@gyre-test-{os.getpid()}', WATCHDOG_USEC='400000')
manager.expect('STATUS=launching')
manager.expect('READY=1')
assert 'WATCHDOG=1' not in manager.heard, manager.heard
manager.expect('STATUS=1 kernel, 0 clients; 0 messages handled, 0 wait')
manager.expect('WATCHDOG=1')
manager.expect('WATCHDOG=1')
caller = subprocess.Popen([gyre, 'call', '--attach', 'slow', '--socket', service_socket, '--timeout', '600000', '2000'],
                          stdout=subprocess.DEVNULL)
manager.expect("STATUS=kernel 'slow' is stalled")
asleep = len(manager.heard)
manager.expect('STATUS=1 kernel')
assert 'WATCHDOG=1' not in manager.heard[asleep:], manager.heard
manager.expect('WATCHDOG=1')
assert caller.wait() == 0
manager.end()

# a path; helpers do not speak for the service; a watchdog that is meant for another process
manager = Manager(folder + '/manager', '--set', 'backend.cpu.isolation=process', WATCHDOG_USEC='20000', WATCHDOG_PID='1')
manager.expect('READY=1')
workers = helpers(manager.service.pid)
assert workers
for worker in workers:
    assert not [v for v in variables(worker) if v.startswith((b'NOTIFY_SOCKET', b'WATCHDOG_'))], worker
manager.expect('STATUS=1 kernel')
manager.hear(0.3)
assert 'WATCHDOG=1' not in manager.heard, manager.heard
manager.end()
PYTHON
called='gyre serve under a manager'
checks=$((checks + 1))
python3 "$folder/manager.py" "$GYRE" "$folder" "$patience" >"$folder/judged" 2>&1 || fail "$(<"$folder/judged")"

# what cannot be understood, and a manager that is gone, are told and hold nothing up
serve_until_ready()
{
    : >"$folder/ready"
    env "$@" "$GYRE" serve --backend cpu --socket "$folder/service" "$folder/slow.gyre.c" >"$folder/ready" 2>"$folder/served" &
    local server=$!
    for ((i = 0; i < 600 * patience; i++)); do
        if [[ -s "$folder/ready" ]] || ! kill -0 "$server" 2>/dev/null; then break; fi
        sleep 0.05
    done
    kill -TERM "$server"
    code=0
    wait "$server" || code=$?
    called="gyre serve with $*" out="$(<"$folder/ready")" err="$(<"$folder/served")"
    exits 0
    prints "serving at $folder/service"
}
serve_until_ready NOTIFY_SOCKET=vsock:2:1 WATCHDOG_USEC=soon
says "warning: NOTIFY_SOCKET: expected a path or '@' and a name, of 107 bytes at most, found 'vsock:2:1'"
says "warning: WATCHDOG_USEC: expected a number of microseconds, found 'soon'; no watchdog is told"
serve_until_ready NOTIFY_SOCKET="$folder/nobody"
says "warning: the service manager cannot be told 'STATUS=launching"
[[ "$(grep -c "service manager" "$folder/served")" == 1 ]] || fail "expected one sentence"
finish
