#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# report: one archive with what a helper wants to see; no message and no secret is in it, and no observation file takes it down.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_RUNTIME_DIR="$folder/session" XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/temporary"
mkdir -p "$XDG_RUNTIME_DIR" "$XDG_CACHE_HOME" "$TMPDIR" "$folder/unpacked"
server=
trap 'kill -KILL "$server" 2>/dev/null; rm -rf "$folder"' EXIT
report="$folder/report.tar"

# unpack: the archive is one that tar takes, and only its owner may read it.
unpack()
{
    rm -rf "$folder/unpacked/gyre-report"
    checks=$((checks + 1))
    tar -xf "$report" -C "$folder/unpacked" 2>"$folder/err" || fail "expected an archive: $(<"$folder/err")"
    checks=$((checks + 1))
    [[ "$(stat -c %a "$report")" == 600 ]] || fail "expected mode 600, found $(stat -c %a "$report")"
}

# holds PART EXPRESSION VALUE: the JSON of that part, as d.
holds()
{
    local got
    got="$(python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' \
        "$folder/unpacked/gyre-report/$1" "$2" 2>&1)"
    checks=$((checks + 1))
    [[ "$got" == "$3" ]] || fail "expected $2 of $1 to be $3, found $got"
}

# a process with a kernel, and a message that must not be told
: >"$folder/ready"
"$GYRE" serve --backend cpu --set observe.every_ms=20 examples/command/scale.gyre.c \
    >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
run call --attach scale '{"value":734411,"factor":1}'
exits 0
run report -o "$report" --set cluster.url='nats://me:hun/ter2@host, hunter3@other'
exits 0
prints "wrote $report"
unpack
holds system.json "d['gyre'] != '' and d['processors'] > 0" True
holds config.json "[(v['value'], v['origin']) for v in d['values'] if v['key'] == 'url']" "[('nats://(hidden)@host, (hidden)@other', 'command line')]"
holds backends.json "[b['can_start'] for b in d['backends'] if b['name'] == 'cpu']" "[True]"
holds doctor.json "len(d['findings']) > 3" True
holds processes.json "[(p['state'], p['pid'], len(p['kernels'])) for p in d['processes']]" "[('lives', $server, 1)]"
holds processes.json "len(d['processes'][0]['events']) > 0" True
checks=$((checks + 1))
grep -q '^gyre_' "$folder/unpacked/gyre-report/metrics.txt" || fail "expected counts for Prometheus"
checks=$((checks + 1))
grep -q "^Kernel 'scale' of process $server" "$folder/unpacked/gyre-report/why.txt" || fail "expected what is wrong, as sentences"
checks=$((checks + 1))
if grep -rqE 'ter2|hunter|734411' "$report"; then fail "expected neither a secret nor a message in the report"; fi

# a killed process is told, and files that no process of Gyre wrote, or that were cut, take nothing down
kill -KILL "$server"
wait "$server" 2>/dev/null
kept="$(find "$GYRE_OBSERVE__FOLDER" -name "$server-*.obs")"
head -c 3000 "$kept" >"$GYRE_OBSERVE__FOLDER/1-1.obs"
head -c 200000 /dev/urandom >"$GYRE_OBSERVE__FOLDER/2-2.obs"
: >"$GYRE_OBSERVE__FOLDER/3-3.obs"
mkfifo "$GYRE_OBSERVE__FOLDER/4-4.obs"
ln -s /dev/zero "$GYRE_OBSERVE__FOLDER/5-5.obs"
python3 - "$kept" "$GYRE_OBSERVE__FOLDER" <<'PYTHON'
import random, sys
whole = open(sys.argv[1], "rb").read()
for seed in range(20):  # the seeds make the same damage each time
    dice, bytes_ = random.Random(seed), bytearray(whole)
    for _ in range(200):
        bytes_[dice.randrange(16, 4096 if seed % 2 else len(bytes_))] = dice.randrange(256)
    open(f"{sys.argv[2]}/{100 + seed}-1.obs", "wb").write(bytes_)
PYTHON
chmod 644 "$report" # a report that is replaced is for its owner only, too
run report -o "$report"
exits 0
unpack
holds processes.json "[p['state'] for p in d['processes'] if p['pid'] == $server and p['file'] == '$kept']" "['dead']"
holds processes.json "d['unread'] > 0" True

# a configuration that is wrong is what a helper wants to know
printf '[queue.orders]\ncapacity = many\n' >"$folder/wrong.ini"
run report -o "$report" --config "$folder/wrong.ini"
exits 0
unpack
holds config.json "'wrong.ini:2' in d['error']" True
holds doctor.json "'wrong.ini:2' in d['error']" True
holds system.json "d['gyre'] != ''" True

run report -o "$folder/none/report.tar"
exits 1
says "cannot write the report '$folder/none/report.tar': No such file or directory"
run report everything
exits 2
says "expected no operand, found 'everything'"

finish
