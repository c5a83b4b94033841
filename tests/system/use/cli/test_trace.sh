#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre trace: the timeline of a process that was killed, of a service that runs, and of a pipeline, judged as a viewer reads it.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/temporary" XDG_CONFIG_HOME="$folder/none" XDG_RUNTIME_DIR="$folder/session"
export GYRE_OBSERVE__EVERY_MS=20
mkdir -p "$XDG_CACHE_HOME" "$TMPDIR" "$XDG_RUNTIME_DIR"
unset GYRE_BACKEND
background='' tracer=''
trap 'kill -KILL $background $tracer 2>/dev/null; rm -rf "$folder"' EXIT

# has FILE LINES: the file has so many lines after a while.
has()
{
    local i
    for ((i = 0; i < 600 * patience; i++)); do
        [[ "$(wc -l <"$1")" -ge "$2" ]] && return
        kill -0 "$background" 2>/dev/null || break
        sleep 0.05
    done
    called="waiting for $1" err="$(cat "$folder"/*.err)"
    fail "expected $2 lines in $1"
}

# judge EXPRESSION: true of the timeline in $folder/out, in which `slices` are what blocks handled, `messages` what was timed, by their
# ids, and `arrows` pairs of slices. The program checks what must hold in every timeline.
judge()
{
    python3 - "$folder/out" "$1" <<'PYTHON' 2>"$folder/judged"
import json, sys
events = json.load(open(sys.argv[1]))['traceEvents']
names = {(e['pid'], e['tid']): e['args']['name'] for e in events if e['ph'] == 'M' and e['name'] == 'thread_name'}
groups = {e['pid']: e['args']['name'] for e in events if e['ph'] == 'M' and e['name'] == 'process_name'}
at = lambda e: round(e['ts'] * 1000)
slices = [dict(e, begin=at(e), end=at(e) + round(e['dur'] * 1000), row=names[e['pid'], e['tid']], group=groups[e['pid']])
          for e in events if e['ph'] == 'X']
rows = {}
for one in slices:
    rows.setdefault((one['pid'], one['tid']), []).append(one)
for row in rows.values():  # a block does one thing after the other
    row.sort(key=lambda one: one['begin'])
    assert all(a['end'] <= b['begin'] for a, b in zip(row, row[1:])), row
messages, stacks = {}, {}
for e in events:  # asynchronous spans of one id nest
    if e['ph'] == 'b':
        stacks.setdefault(e['id'], []).append(e)
    elif e['ph'] == 'e':
        begun = stacks[e['id']].pop()
        assert begun['name'] == e['name'] and at(begun) <= at(e), (begun, e)
        messages.setdefault(e['id'], {})[e['name']] = (at(begun), at(e), begun['args'])
assert not any(stacks.values()), stacks
for parts in messages.values():
    if len(parts) == 4:
        whole, = [name for name in parts if name not in ('waited', 'handled', 'returned')]
        assert parts[whole][0] == parts['waited'][0] <= parts['waited'][1] == parts['handled'][0], parts
        assert parts['handled'][1] == parts['returned'][0] <= parts['returned'][1] == parts[whole][1], parts
around = lambda e: next(one for one in rows[e['pid'], e['tid']] if one['begin'] <= at(e) <= one['end'])
begins = {e['id']: e for e in events if e['ph'] == 's'}
arrows = [(around(begins[e['id']]), around(e), e['name']) for e in events if e['ph'] == 'f']
assert len(arrows) == len(begins) and all(one['begin'] <= other['begin'] for one, other, _ in arrows), arrows
assert eval('(' + sys.argv[2] + ')'), json.dumps([slices, messages, arrows], indent=1)
PYTHON
}

# shows EXPRESSION COMMAND...: the timeline that the command prints does, after a while: a block notes a message after its reply.
shows()
{
    local wanted="$1" i
    shift
    for ((i = 0; i < 200 * patience; i++)); do
        run "$@"
        [[ "$code" == 0 ]] && judge "$wanted" && break
        sleep 0.05
    done
    exits 0
    judge "$wanted" || fail "$(<"$folder/judged")"
}

# ---- sentences ----

run trace one two
exits 2
run trace --last
refuses 1 "nothing was noted: expected a process with observe.trace = always, or one that was traced before"
run trace
refuses 1 "no process can be traced: none that lives has launched a kernel"
run trace nobody
refuses 1 "no process, program, kernel or queue 'nobody' can be seen; 'gyre stat' lists those that can"
printf 'what is this, which has more than thirty-two bytes?' >"$folder/strange"
run trace --file "$folder/strange"
exits 1
says "no observation file"

# ---- a process that was killed ----

mkfifo "$folder/requests"
touch "$folder/replies" "$folder/ready"
GYRE_OBSERVE__TRACE=always "$GYRE" call --backend cpu --set kernel.scale.timing=true examples/command/scale.gyre.c \
    <"$folder/requests" >"$folder/replies" 2>"$folder/call.err" &
background=$!
exec 9>"$folder/requests"
for ((i = 0; i < 20; i++)); do
    echo '{"value":20.5,"factor":2}' >&9
    has "$folder/replies" $((i + 1))
done
for ((i = 0; i < 600 * patience; i++)); do # a block notes a message after it gave the reply
    "$GYRE" trace --last scale 2>&1 >/dev/null | grep -q "20 that a block handled" && break
    sleep 0.05
done
kill -KILL "$background"
wait "$background" 2>/dev/null
exec 9>&-
shows "len(slices) == 20 and len(messages) == 20 and not arrows
    and {one['row'] for one in slices} == {'scale, block 0'} and ', cpu: ' in slices[0]['group']
    and sorted(one['args']['index'] for one in slices) == list(range(20))
    and all(len(parts) == 4 for parts in messages.values())" trace --last
says "20 messages that were timed, 20 that a block handled, 0 arrows along links"
run trace --last scale --out "$folder/timeline"
exits 0
if [[ -n "$out" ]] || ! cmp -s "$folder/timeline" <("$GYRE" trace --last scale 2>/dev/null); then
    fail "expected the same in a file"
fi
run trace scale
exits 1
says "is dead: --last shows what it wrote last"

# a damaged file gives what it has, or a sentence: here times that cannot be, which no viewer may get
file="$(ls "$folder"/observed/*.obs)"
python3 - "$file" "$folder/damaged" "$folder/short" <<'PYTHON'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
parts = [struct.unpack_from('<IIQQ', data, at) for at in range(16, 4096, 8)]
_, stride, offset, count = next(part for part in parts if part[0] == 6 and part[1] == 128 and part[2] % 4096 == 0)
for place in range(count):
    mark, kind = struct.unpack_from('<QI', data, offset + place * stride)
    if mark and kind == 2:
        struct.pack_into('<Q', data, offset + place * stride + 48, 2**64 - 1)
open(sys.argv[2], 'wb').write(data)
open(sys.argv[3], 'wb').write(data[:offset + 128])
PYTHON
shows "not slices and len(messages) == 20" trace --file "$folder/damaged"
says "warning: 20 spans say what cannot be, and were left out: who wrote the file is at fault"
run trace --file "$folder/short"
exits 1
says "was cut: it has"
run trace --last --most 10
exits 0
says "warning: it ended after 10 spans; --most allows more"
touch "${file%.obs}.trace" # of a reader that was killed as well
run doctor --clean
[[ -z "$(ls "$folder/observed")" ]] || fail "expected an empty folder"

# ---- a ring that went round ----

printf '{"value":20.5,"factor":2}\n%.0s' {1..20000} >"$folder/many"
mkfifo "$folder/more"
: >"$folder/replies"
GYRE_OBSERVE__TRACE=always "$GYRE" call --backend cpu examples/command/scale.gyre.c <"$folder/more" >"$folder/replies" \
    2>"$folder/call.err" &
background=$!
exec 9>"$folder/more"
cat "$folder/many" >&9
has "$folder/replies" 20000
shows "len(slices) == 16384 and max(one['args']['index'] for one in slices) == 19999" trace --last
[[ "$err" != *overwritten* ]] || fail "expected no word of what the ring held before"
exec 9>&-
wait "$background"

# ---- asks and answers ----

mkfifo "$folder/orders"
: >"$folder/replies"
GYRE_OBSERVE__TRACE=always "$GYRE" call --config examples/pipeline/quotes.ini --pipeline quotes <"$folder/orders" >"$folder/replies" \
    2>"$folder/call.err" &
background=$!
exec 9>"$folder/orders"
echo '{"order":{"item":1,"count":3}}' >&9
has "$folder/replies" 1
shows "len(slices) == 5 and sorted((one['name'], link, other['name']) for one, other, link in arrows)
    == [('corner', 'corner (answers)', 'desk'), ('desk', 'corner', 'corner'), ('desk', 'mall', 'mall'),
        ('mall', 'mall (answers)', 'desk')]" trace --last
exec 9>&-
wait "$background"

# ---- one message of four, of a tap as well, whose messages have no index ----

mkfifo "$folder/trades"
: >"$folder/replies"
GYRE_OBSERVE__TRACE=always "$GYRE" call --config examples/pipeline/market.ini --pipeline market --set kernel.audit.timing_every=4 \
    --set kernel.risk.timing_every=4 <"$folder/trades" >"$folder/replies" 2>"$folder/call.err" &
background=$!
exec 9>"$folder/trades"
for ((i = 0; i < 16; i++)); do echo '{"item":1,"count":1,"cents":100}' >&9; done
has "$folder/replies" 16
shows "[sum(one['name'] == name for one in slices) for name in ('audit', 'risk', 'book')] == [4, 4, 16]" trace --last
exec 9>&-
wait "$background"

# ---- a service, and a pipeline in it ----

"$GYRE" serve --set queue.orders.header=trace --set queue.scale.header=trace --config examples/pipeline/gyre.ini orders examples/command/scale.gyre.c >"$folder/ready" 2>"$folder/serve.err" &
background=$!
has "$folder/ready" 1
# what came before is not shown
run call --attach scale '{"value":20.5,"factor":2}'
"$GYRE" trace scale --seconds 600 --out "$folder/live" 2>"$folder/trace.err" &
tracer=$!
for ((i = 0; i < 600 * patience; i++)); do # the process says since when it is traced
    "$GYRE" stat --json >"$folder/stat"
    [[ -n "$(python3 -c 'import json,sys
print("".join("on" for p in json.load(open(sys.argv[1]))["processes"] if p["traced"]))' "$folder/stat")" ]] && break
    sleep 0.05
done
for ((i = 0; i < 5; i++)); do
    run call --attach scale '{"value":20.5,"factor":2}'
    exits 0
done
parent=00f067aa0ba902b7
for ((i = 1; i <= 3; i++)); do # each with a trace of its own, as a web server passes it on
    run call --attach orders --trace "00-4bf92f3577b34da6a3ce929d0e0e473$i-$parent-01" '{"item":2,"count":3}'
    exits 0
done
run call --attach scale --trace "00-4bf92f3577b34da6a3ce929d0e0e4736-$parent-0" '{"value":20.5,"factor":2}'
exits 1
says "--trace: expected a traceparent of W3C, as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, found '00-4bf92f3577b34da6a3ce929d0e0e4736-$parent-0'"
# each block notes its message before it looks for more, in its own time, and the tracer takes it before it obeys
shows "[sum(one['name'] == name for one in slices) for name in ('scale', 'check', 'price', 'book')] == [5, 3, 3, 3]" trace --last
kill -INT "$tracer"
code=0
wait "$tracer" || code=$?
called="gyre trace until SIGINT" out='' err="$(<"$folder/trace.err")"
exits 0
says "6 arrows along links"
cp "$folder/live" "$folder/out"
judge "sum(one['name'] == 'scale' for one in slices) == 5
    and sorted(one['name'] for one in slices if one['name'] != 'scale') == 3 * ['book'] + 3 * ['check'] + 3 * ['price']
    and sorted((one['name'], link, other['name']) for one, other, link in arrows)
        == 3 * [('check', 'checked', 'price')] + 3 * [('price', 'priced', 'book')]
    and all(sorted(one['name'] for one in slices if one['args'].get('trace') == '4bf92f3577b34da6a3ce929d0e0e473%d' % i)
            == ['book', 'check', 'price'] for i in (1, 2, 3))
    and not any('trace' in one['args'] for one in slices if one['name'] == 'scale')
    and all(one['args']['queue'] == other['args']['queue'] and one['args']['index'] == other['args']['index']
            and other['args']['links'] == one['args']['links'] + 1 for one, other, _ in arrows)" ||
    fail "$(<"$folder/judged")"
[[ -z "$(ls "$folder"/observed/*.trace 2>/dev/null)" ]] || fail "expected no file that asks once nobody does"
kill -TERM "$background"
wait "$background"

finish
