#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stat and doctor: what processes with kernels show of themselves while they live, hang, are stopped, and were killed.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/temporary"
mkdir -p "$XDG_CACHE_HOME" "$TMPDIR"
socket="$folder/socket"
server=
trap 'kill -KILL "$server" 2>/dev/null; rm -rf "$folder"' EXIT

start_server()
{
    : >"$folder/ready"
    "$GYRE" serve --backend cpu --set observe.every_ms=20 --socket "$socket" "$@" >"$folder/ready" 2>"$folder/served" &
    server=$!
    await_begun "$folder/ready" "$server"
}

# value EXPRESSION: of the JSON that the last run printed.
value()
{
    python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$folder/out" "$1" 2>&1
}

# await EXPRESSION VALUE: gyre stat --json says so after a while.
await()
{
    local i got=
    for ((i = 0; i < 300 * patience; i++)); do
        run stat --json
        got="$(value "$1")"
        [[ "$got" == "$2" ]] && break
        sleep 0.05
    done
    checks=$((checks + 1))
    [[ "$got" == "$2" ]] || fail "expected $1 to become $2, found $got"
}

# nobody
run stat
refuses 0 "no process can be seen: none has launched a kernel, or observe.enabled is false there, or observe.folder is another one"
run stat --json
exits 0
prints '{"processes":[]}'
run stat --prometheus
exits 0
run stat --health scale
refuses 1 "no process that can be seen has a kernel 'scale'"
run stat one two
exits 2
run stat --json --prometheus
exits 2
says "expected one of --health, --json and --prometheus"
run stat --file "$folder/none"
refuses 1 "cannot read '$folder/none': No such file or directory"
printf 'what is this, which has more than thirty-two bytes?' >"$folder/strange"
run stat --file "$folder/strange"
exits 1
says "no observation file"

# in a folder that several users write to, another user's file is passed over with a word
if [[ "$(id -u)" == 0 ]]; then
    mkdir -p "$folder/observed"
    chmod 777 "$folder/observed"
    printf 'GYREOBS1' >"$folder/observed/1-1.obs"
    truncate -s 8192 "$folder/observed/1-1.obs"
    printf '\1' | dd of="$folder/observed/1-1.obs" bs=1 seek=8 conv=notrunc status=none
    run stat
    exits 0
    prints dead
    chown 12345 "$folder/observed/1-1.obs"
    run stat
    exits 0
    says "warning: '$folder/observed/1-1.obs' belongs to user 12345 and is passed over: only files of this user, of root and of"
    run doctor --backend cpu
    prints "'$folder/observed/1-1.obs' belongs to user 12345, and is not believed"
    chown 12345 "$folder/observed" # a service's own folder
    run stat
    exits 0
    prints dead
    rm -r "$folder/observed"
else
    echo "not checked: files of other users, which only root can make"
fi

# a server that lives
start_server examples/command/scale.gyre.c examples/command/total.gyre.c
for ((n = 0; n < 3; n++)); do
    printf '{"value":%s,"factor":2}\n' 1 2 3 4 5
done | "$GYRE" call --attach scale --socket "$socket" >"$folder/replies" 2>&1
await '[k["handled"] for p in d["processes"] for k in p["kernels"] if k["name"]=="scale"]' '[15]'
[[ "$(value 'd["processes"][0]["state"]')" == lives ]] || fail "expected that it lives"
[[ "$(value 'd["processes"][0]["pid"]')" == "$server" ]] || fail "expected process $server"
[[ "$(value 'd["processes"][0]["kernels"][0]["backend"]')" == cpu ]] || fail "expected its backend"
[[ "$(stat -c %a "$folder/observed"/*.obs)" == 600 ]] || fail "expected that nobody else can read the file"
run stat
exits 0
prints "lives"
prints "scale"
prints "total"
run stat total --events 10
exits 0
prints "kernel 'total' is active"
run stat "$server" --json
exits 0
[[ "$(value 'len(d["processes"])')" == 1 ]] || fail "expected one process"
run stat nobody
refuses 1 "no process, program, kernel or queue 'nobody' can be seen; 'gyre stat' lists those that can"
run stat --health scale
exits 0
prints "kernel 'scale' of process $server is idle, seen"

# Prometheus: each metric once, its samples together, each label quoted, each value a number
run stat --prometheus
exits 0
checks=$((checks + 1))
python3 - "$folder/out" >"$folder/judged" 2>&1 <<'PYTHON' || fail "$(<"$folder/judged")"
import re, sys
seen, now, samples = set(), None, {}
for line in open(sys.argv[1]):
    line = line.rstrip('\n')
    head = re.match(r'# HELP (gyre_[a-z_]+) \S', line)
    if head:
        now = head.group(1)
        assert now not in seen, line
        seen.add(now)
        continue
    if line.startswith('# TYPE '):
        word = line.split(' ')
        assert word[2] == now and word[3] in ('counter', 'gauge', 'histogram'), line
        assert (word[3] == 'counter') == now.endswith('_total'), line
        continue
    sample = re.match(r'(gyre_[a-z_]+)\{(\w+="[^"\\]*"(?:,\w+="[^"\\]*")*)\} (\S+)$', line)
    assert sample and re.sub('_(bucket|sum|count)$', '', sample.group(1)) in (now, sample.group(1)), line
    assert sample.group(1).startswith(now), line
    key = sample.group(1) + sample.group(2)
    assert key not in samples, line
    samples[key] = float(sample.group(3))
wanted = [k for k in samples if k.startswith('gyre_messages_total') and 'kernel="scale"' in k and 'outcome="handled"' in k]
assert len(wanted) == 1 and samples[wanted[0]] == 15, samples
assert any(k.startswith('gyre_process_up') for k in samples)
PYTHON
if command -v promtool >/dev/null; then
    checks=$((checks + 1))
    promtool check metrics <"$folder/out" >"$folder/judged" 2>&1 || fail "promtool: $(<"$folder/judged")"
fi

# top: without a terminal, one picture; documents; a screen of 40 columns and 5 lines
run top --once
exits 0
prints "gyre top: 1 processes, 1 of them live"
prints "scale"
prints "[----------]"
run top -n 2 --interval 30 --json
exits 0
checks=$((checks + 1))
[[ "$(wc -l <"$folder/out")" == 2 ]] || fail "expected two documents"
python3 -c 'import json,sys
for line in open(sys.argv[1]):
    rows = json.loads(line)["rows"]
    assert [r["per_second"]["handled"] for r in rows if r["kernel"] == "scale" and not r["queue"]] == [0.0], rows' \
    "$folder/out" 2>"$folder/judged" || fail "$(<"$folder/judged")"
run top --sort size
exits 2
says "--sort: expected rate, length or name, found 'size'"
run top nobody --once
exits 1
says "no process, program, kernel or queue 'nobody' can be seen"
if command -v script >/dev/null; then
    checks=$((checks + 1))
    # shellcheck disable=SC2016
    GYRE="$GYRE" script -qec 'stty cols 40 rows 5; exec "$GYRE" top -n 2 --interval 30' /dev/null </dev/null >"$folder/screen" 2>&1
    sed 's/\x1b\[[?0-9;]*[A-Za-z]/\n/g' "$folder/screen" | tr -d '\r' | awk 'length($0) > 40 { print; exit 1 }' ||
        fail "a line is longer than the screen"
    grep -q scale "$folder/screen" || fail "expected the kernel on the screen: $(<"$folder/screen")"
fi

# why: prose
run why scale
exits 0
prints "Kernel 'scale' of process $server (gyre):"
prints "Nothing is wrong: it is idle"
run why
exits 2
run why nobody
refuses 1 "no process that can be seen has a kernel or a queue 'nobody'; 'gyre stat' lists them"

# what the configuration hides is not there
printf '{"value":1,"factor":2}\n' |
    "$GYRE" call --backend cpu --set observe.enabled=false examples/command/scale.gyre.c >"$folder/replies" 2>&1
[[ "$(find "$folder/observed" -name '*.obs' | wc -l)" == 1 ]] || fail "expected the server's file alone"

# stopped, and killed
kill -STOP "$server"
await 'd["processes"][0]["state"]' stopped
run stat --health scale
exits 1
says "kernel 'scale' of process $server cannot answer: the process is stopped, seen"
run why scale
exits 0
prints "Its process is stopped, by SIGSTOP or a debugger"
prints "kill -CONT $server"
kill -KILL "$server"
wait "$server" 2>/dev/null
await 'd["processes"][0]["state"]' dead
await '[k["handled"] for p in d["processes"] for k in p["kernels"] if k["name"]=="scale"]' '[15]'
run stat --health scale
exits 1
says "the process is dead"
run why scale
exits 0
prints "Its process was killed; what follows is what it said last"
run stat --prometheus
exits 0
prints "gyre_process_up{pid=\"$server\",program=\"gyre\"} 0"
[[ "$out" != *gyre_messages_total\{* ]] || fail "expected no counts of a dead process"
black_box="$(echo "$folder/observed/$server"-*.obs)"
cp "$black_box" "$folder/kept"
head -c 6000 "$folder/kept" >"$folder/short"
run stat --file "$folder/short"
refuses 1 "'$folder/short' was cut: it has 6000 bytes, and its head tells of more: copy the file again"
run stat --file "$folder/kept"
exits 0
prints "dead"
run doctor --backend cpu
exits 1
prints "$black_box: what a killed process said last"
run doctor --backend cpu --clean
exits 0
prints "removed"
[[ ! -e "$black_box" ]] || fail "expected that the file is gone"

# a file system without room, in which others left nothing: a sentence, and the service works; and one that is filled while it works
full="$folder/full"
mkdir "$full"
if unshare -m mount -t tmpfs -o size=64k none "$full" 2>"$folder/err"; then
    cat >"$folder/full.sh" <<'SCRIPT'
mount -t tmpfs -o size=64k none "$1" || exit
export GYRE_OBSERVE__FOLDER="$1/observed"
for when in before after; do
    : >"$2/ready"
    [ "$when" = before ] && head -c 65536 /dev/zero >"$1/others"
    "$GYRE" serve --backend cpu --set observe.every_ms=20 --socket "$2/socket" examples/command/scale.gyre.c >"$2/ready" 2>"$2/served-$when" &
    while [ ! -s "$2/ready" ] && kill -0 $! 2>/dev/null; do sleep 0.02; done
    [ "$when" = after ] && head -c 65536 /dev/zero >"$1/others" 2>/dev/null
    for n in 1 2 3; do "$GYRE" call --attach scale --socket "$2/socket" '{"value":1,"factor":2}'; done
    "$GYRE" stat --health scale
    kill -TERM $!
    wait $!
    echo "$when: $?"
    rm -rf "$1/others" "$1/observed"
done
SCRIPT
    code=0 called="gyre serve where an observation file has no room"
    unshare -m sh "$folder/full.sh" "$full" "$folder" >"$folder/out" 2>"$folder/err" || code=$?
    out="$(<"$folder/out")" err="$(cat "$folder/err" "$folder/served-before")"
    exits 0
    prints "before: 0"
    prints "after: 0"
    checks=$((checks + 1))
    [[ "$(grep -c '{"scaled":2.0}' "$folder/out")" == 6 ]] || fail "expected six answers"
    says "this process cannot be observed from outside: no file can be made in '$full/observed' (No space left on device)"
    prints "kernel 'scale' of process "
else
    echo "not checked: a full file system, which this user may not make: $(<"$folder/err")"
fi

# a server that ends leaves nothing; its troubles are told while it is there
start_server examples/command/scale.gyre.c
run doctor --backend cpu --clean
exits 0
prints "1 living process can be seen"
[[ -e "$(echo "$folder/observed/$server"-*.obs)" ]] || fail "expected that the file of a living process stays"
kill -TERM "$server"
wait "$server"
[[ -z "$(ls "$folder/observed")" ]] || fail "expected an empty folder"
finish
