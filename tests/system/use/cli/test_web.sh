#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# web: what it shows at each path, to whom, and clients that mean no good.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/temporary"
mkdir -p "$XDG_CACHE_HOME" "$TMPDIR"
server='' web=''
trap 'kill -KILL $server $web 2>/dev/null; rm -rf "$folder"' EXIT

start_web()
{
    : >"$folder/showing"
    "$GYRE" web "$@" >"$folder/showing" 2>"$folder/said" &
    web=$!
    await_begun "$folder/showing" "$web"
    page="$(grep -o 'http://[^ ]*' "$folder/showing")"
}

# mistakes
run web one two
exits 2
run web --listen nowhere
refuses 2 "--listen: expected a port up to 65535, or ADDRESS:PORT with an address such as 127.0.0.1 or [::1], found 'nowhere'"
run web --listen 127.0.0.1:65536
exits 2
run web --listen example.org:80
exits 2
run web --interval 5
exits 2
touch "$folder/file"
run web --socket "$folder/file"
refuses 1 "'$folder/file' is there already, and is no socket that a dead server left; name another path"

# nothing that runs: alive, and not ready
start_web --listen 0
cat >"$folder/client.py" <<'PYTHON'
import http.client, json, os, random, re, socket, sys, threading, time

page, patience = sys.argv[1], float(sys.argv[2])
host, port = re.match(r'http://(.*):(\d+)/', page).groups()
port = int(port)
LIMIT = 30 * patience


def get(path, **headers):
    connection = http.client.HTTPConnection(host, port, timeout=LIMIT)
    connection.request(headers.pop('method', 'GET'), path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def raw():
    connection = socket.create_connection((host, port), LIMIT)
    connection.settimeout(LIMIT)
    return connection


def everything(connection):
    got = b''
    try:
        while piece := connection.recv(65536):
            got += piece
    except OSError:
        pass
    connection.close()
    return got


def until(holds):
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, 'it did not come to that'
        time.sleep(0.05)


def memory(process, which='VmRSS'):
    return int(re.search(which + r':\s+(\d+)', open(f'/proc/{process}/status').read()).group(1))
PYTHON
judge()
{
    checks=$((checks + 1)) called="gyre web: $1"
    cat "$folder/client.py" - >"$folder/judge.py"
    python3 "$folder/judge.py" "$page" "$patience" "$web" "${server:-0}" >"$folder/judged" 2>&1 || fail "$(<"$folder/judged")"
}
judge "nothing runs" <<'PYTHON'
assert get('/healthz')[0] == 200
status, headers, body = get('/readyz')
assert status == 503 and body == 'no kernel runs here\n', body
assert json.loads(get('/json')[2])['processes'] == []
assert get('/trace?seconds=1')[0] == 503
PYTHON
run web --listen "${page:7:-1}"
exits 1
says "cannot listen at ${page:7:-1}: Address already in use; --listen names another port, 0 any"

"$GYRE" serve --backend cpu --set observe.every_ms=20 --set kernel.scale.timing=true --socket "$folder/socket" \
    examples/command/scale.gyre.c >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
run stat --prometheus
cp "$folder/out" "$folder/metrics"
export METRICS="$folder/metrics" SOCKET="$folder/socket" GYRE

judge "what it shows" <<'PYTHON'
import subprocess
until(lambda: get('/readyz')[0] == 200)
assert 'nothing is wrong' in get('/healthz')[2]
status, headers, body = get('/readyz?kernel=scale')
assert status == 200 and "kernel 'scale'" in body, body
assert get('/readyz?kernel=nobody')[0] == 503
assert get('/readyz?kern=scale')[0] == 400
names = lambda text: set(re.findall(r'^# (?:HELP|TYPE) (\w+)', text, re.M))
status, headers, body = get('/metrics')
assert status == 200 and headers['Content-Type'].startswith('text/plain; version=0.0.4'), headers
assert names(body) == names(open(os.environ['METRICS']).read()) and len(names(body)) > 30
files = {'/': 'text/html', '/page.css': 'text/css', '/page.js': 'text/javascript'}
for path, kind in files.items():
    status, headers, body = get(path)
    assert status == 200 and headers['Content-Type'].startswith(kind) and len(body) > 500, path
    assert not re.search(r'(src|href|import|url\()\W*https?:|//cdn', body), path
    assert "default-src 'none'" in headers['Content-Security-Policy'] and 'unsafe' not in headers['Content-Security-Policy']
    assert 'innerHTML' not in body and 'eval(' not in body, path
    assert get(path, method='HEAD')[1]['Content-Length'] == str(len(body.encode())) and get(path, method='HEAD')[2] == ''
assert get('/none')[0] == 404
status, headers, body = get('/', method='POST')
assert status == 405 and headers['Allow'] == 'GET, HEAD'
# hosts that lead here by a name that nobody gave to this server
assert get('/json', Host='evil.example')[0] == 421
for name in 'localhost', 'LOCALHOST:80', '127.0.0.1', '10.1.2.3:99', '[::1]:80':
    assert get('/json', Host=name)[0] == 200, name
# events: one after the other, and what they say changes
stream = raw()
stream.sendall(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
lines = stream.makefile('rb')


def event():
    while not (line := lines.readline()).startswith(b'data: '):
        assert line, 'the stream ended'
    return json.loads(line[6:])


def kernel(state):
    return state['processes'][0]['kernels'][0]


first = event()
assert kernel(first)['handled'] == 0 and 'idle' in kernel(first)['health'], first
assert 'Nothing is wrong' in first['why'][0]['text'] and first['why'][0]['wrong'] == 0
assert first['rows'][0]['record'] == kernel(first)['record'] == first['why'][0]['record']
subprocess.run([os.environ['GYRE'], 'call', '--attach', 'scale', '--socket', os.environ['SOCKET']] + ['{"value":1,"factor":2}'] * 5,
               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while kernel(event())['handled'] != 5:
    pass
stream.close()
PYTHON

judge "traces" <<'PYTHON'
import subprocess
for wrong in 'seconds=0', 'seconds=61', 'seconds=-1', 'seconds=', 'second=1', 'seconds=18446744073709551617':
    assert get('/trace?' + wrong)[0] == 400, wrong
assert get('/trace', method='HEAD')[::2] == (200, '')
# another site may not have one taken through the user's browser
for foreign in {'Sec-Fetch-Site': 'cross-site'}, {'Origin': 'http://evil.example'}:
    assert get('/trace?seconds=1', **foreign)[0] == 403, foreign
traced = lambda: any(process['traced'] for process in json.loads(get('/json')[2])['processes'])
# one at a time, and none for a client that is gone
leaves = raw()
leaves.sendall(b'GET /trace?seconds=60 HTTP/1.1\r\nHost: localhost\r\n\r\n')
until(traced)
assert get('/trace')[0] == 503
leaves.close()
until(lambda: not traced())
# messages are handled all the time
ask = subprocess.Popen([os.environ['GYRE'], 'call', '--attach', 'scale', '--socket', os.environ['SOCKET']], stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
done = threading.Event()


def talk():
    while not done.is_set():
        ask.stdin.write(b'{"value":1,"factor":2}\n')
        ask.stdin.flush()
        ask.stdout.readline()
    ask.stdin.close()


talker = threading.Thread(target=talk)
talker.start()


def shows_blocks():
    status, headers, body = get('/trace?seconds=1')
    assert status == 200 and headers['Content-Type'] == 'application/json', (status, body)
    events = json.loads(body)['traceEvents']
    return any(event['ph'] == 'X' and event['name'] == 'scale' and event['dur'] >= 0 for event in events)


until(shows_blocks)
done.set()
talker.join()
ask.wait()
PYTHON

judge "clients that mean no good" <<'PYTHON'
web = int(sys.argv[3])
document = get('/json')[2]
get('/metrics')
before = memory(web)


def read_anew():
    """What a look reads, twice, while what the look before has read is still there."""
    folder = os.environ['GYRE_OBSERVE__FOLDER']
    files = [os.stat(os.path.join(folder, name)) for name in os.listdir(folder)]
    huge = '/sys/kernel/mm/transparent_hugepage/enabled'  # then what is not used takes memory, too
    whole = os.path.exists(huge) and '[always]' in open(huge).read()
    return 2 * sum(about.st_size if whole else 512 * about.st_blocks for about in files)


# connections with their buffers; an answer on its way for each and another one for each follower; and what the heap wastes
promised = before + (64 * 9216 + 96 * len(document) + read_anew() >> 10) + 2048
with open(f'/proc/{web}/clear_refs', 'w') as marks:
    marks.write('5')  # the most counts anew
# two requests at once have one answer
connection = raw()
connection.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n' * 2)
assert everything(connection).count(b'HTTP/1.1 200') == 1
# byte by byte, and a client that ends its side at once
connection = raw()
for byte in b'GET /healthz HTTP/1.0\r\n\r\n':
    connection.send(bytes([byte]))
connection.shutdown(socket.SHUT_WR)
assert everything(connection).startswith(b'HTTP/1.1 200')
# no requests at all
seed = random.Random(5)
for _ in range(100):
    connection = raw()
    try:
        connection.sendall(seed.randbytes(seed.randrange(1, 300)) + b'\n' * seed.randrange(3))
    except OSError:
        pass
    connection.close()
# 10 MB of headers
for line in b'X: ' + b'y' * 60 + b'\r\n', b'z' * 64:
    connection = raw()
    try:
        connection.sendall(b'GET / HTTP/1.1\r\n')
        for _ in range(10 << 20 >> 16):
            connection.sendall(line * 1024)
    except OSError:
        pass
    got = everything(connection)
    assert got == b'' or got.startswith((b'HTTP/1.1 431', b'HTTP/1.1 400')), got
# many that say nothing, that ask and never read, and that speak slowly, while others are answered
silent = []
for i in range(1000):
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    connection.connect_ex((host, port))
    silent.append(connection)
    if i % 3 == 1:
        time.sleep(0)
        try:
            connection.send(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        except OSError:
            pass
    if i % 3 == 2:
        try:
            connection.send(b'G')
        except OSError:
            pass
for _ in range(5):
    assert get('/healthz')[0] == 200
    assert get('/json')[0] == 200
    for connection in silent[2::3]:
        try:
            connection.send(b'E')
        except OSError:
            pass
if re.search(b'__[at]san_init', open(f'/proc/{web}/exe', 'rb').read()):
    print('not checked: how much memory is used, because a sanitizer keeps what is freed')
else:
    most = memory(web, 'VmHWM')
    assert most < promised, (before, most, promised)
for connection in silent:
    connection.close()
until(lambda: get('/healthz')[0] == 200)
PYTHON

# no name is given to it, but one at the command line; a socket of a path, which a killed server leaves
kill -KILL "$web"
wait "$web" 2>/dev/null
start_web --listen 0 --socket "$folder/page" --name gyre.example
kill -KILL "$web"
wait "$web" 2>/dev/null
start_web --listen 0 --socket "$folder/page" --name gyre.example
export PAGE="$folder/page"
judge "names and paths" <<'PYTHON'
import signal, stat
assert get('/json', Host='Gyre.Example:9373')[0] == 200
assert get('/json', Host='other.example')[0] == 421
assert stat.S_IMODE(os.stat(os.environ['PAGE']).st_mode) & 0o77 == 0
connection = socket.socket(socket.AF_UNIX)
connection.settimeout(LIMIT)
connection.connect(os.environ['PAGE'])
connection.sendall(b'GET /readyz HTTP/1.1\r\nHost: any.example\r\n\r\n')
assert everything(connection).startswith(b'HTTP/1.1 200')
# a process that is stopped is neither alive nor ready, and one that was killed is not there any more
server = int(sys.argv[4])
os.kill(server, signal.SIGSTOP)
until(lambda: get('/healthz')[0] == 503 and 'the process is stopped' in get('/readyz')[2])
os.kill(server, signal.SIGKILL)
until(lambda: get('/healthz')[0] == 200 and get('/readyz')[0] == 503)
assert 'was killed' in json.loads(get('/json')[2])['why'][0]['text']
PYTHON
run web --socket "$folder/page"
exits 1
kill -TERM "$web"
code=0
wait "$web" || code=$?
called="the end of gyre web" err="$(<"$folder/said")"
exits 0
checks=$((checks + 1))
[[ ! -e "$folder/page" && -z "$err" ]] || fail "expected no socket and no word"

# a hangup that is ignored, as under nohup, ends nothing
: >"$folder/showing"
(trap '' HUP && exec "$GYRE" web --listen 0) >"$folder/showing" 2>"$folder/said" &
web=$!
await_begun "$folder/showing" "$web"
page="$(grep -o 'http://[^ ]*' "$folder/showing")"
kill -HUP "$web"
judge "an ignored hangup" <<'PYTHON'
assert get('/healthz')[0] == 200
PYTHON
kill -TERM "$web"
code=0
wait "$web" || code=$?
called="the end of gyre web under nohup" err="$(<"$folder/said")"
exits 0

# without descriptors for clients that wait, it still ends when it is told to
: >"$folder/showing" # await_begun waits for what is new
(ulimit -n 10 && exec "$GYRE" web --listen 0) >"$folder/showing" 2>"$folder/said" &
web=$!
await_begun "$folder/showing" "$web"
page="$(grep -o 'http://[^ ]*' "$folder/showing")"
judge "a lack of descriptors" <<'PYTHON'
web = int(sys.argv[3])
held = [raw() for _ in range(8)]
time.sleep(0.3)
os.kill(web, 15)
until(lambda: not os.path.exists(f'/proc/{web}/exe'))
PYTHON
finish
