#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A pipeline with kernels on the CPU and on a CUDA device (here one made of software): its replies, its counters, and the sentence of each
# thing that a part of a pipeline cannot have.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CONFIG_HOME="$folder/none"
unset GYRE_BACKEND
mixed=(--config examples/pipeline/mixed.ini --set kernel.price.backend=cuda)

# ---- its replies ----

mapfile -t requests < <(python3 -c '
for i in range(40):
    print("{\"item\":%d,\"count\":%d}" % (i % 5, i % 7 + 1))')
run call --config examples/pipeline/gyre.ini --pipeline orders "${requests[@]}"
exits 1 # one item in five does not exist
expected="$out"
run call "${mixed[@]}" --pipeline orders "${requests[@]}"
if ((code == 3)) || [[ "$err" == *unavailable* || "$err" == *"no backend"* ]]; then
    echo "no CUDA device here: $err"
    exit 77
fi
exits 1
checks=$((checks + 1))
[[ "$out" == "$expected" ]] || fail "expected the replies of one backend"
run call "${mixed[@]}" --set kernel.book.backend=cuda --pipeline orders "${requests[@]}"
checks=$((checks + 1))
[[ "$out" == "$expected" ]] || fail "expected the replies of one backend where two kernels are on the device"

# ---- the picture ----

run pipeline orders "${mixed[@]}"
exits 0
grep -qE '^price .*, cuda$' <<<"$out" || fail "expected price on CUDA"
grep -qE '^  good +->  price .*, through the host$' <<<"$out" || fail "expected that 'good' passes the host"
grep -qE '^  sums +->  book .*, through the host$' <<<"$out" || fail "expected that 'sums' passes the host"

# ---- what a part cannot have ----

run pipeline orders "${mixed[@]}" --set kernel.check.backend=cuda --set kernel.price.backend=cpu
exits 1
says "pipeline 'orders': entry 'check' is on backend 'cuda', and other kernels of the pipeline are on another device: clients enter"
run pipeline orders "${mixed[@]}" --set pipeline.orders.window=4
exits 1
says "pipeline 'orders': command line: the pipeline has a window or a quota, and kernel 'price' on backend 'cuda' would not count its messages with those of other devices"

# ---- what earlier requests left in the memory of a part ----

places="$(dirname "${BASH_SOURCE[0]}")/kernels/parts.gyre.c"
places="$(realpath "$places")"
cat >"$folder/left.ini" <<END
[gyre]
backend = cpu
[kernel.split]
source = $places:split
[kernel.middle]
source = $places:middle
backend = cuda
[kernel.last]
source = $places:last
[pipeline.left]
entry = split
answer = last
[link.jobs]
from = split.jobs
to = middle
[link.sums]
from = middle.sums
to = last
END
mapfile -t requests < <(python3 -c '
for i in range(600):
    print("{\"number\":%d,\"fill\":%d}" % (i, i < 400))')
run call --config "$folder/left.ini" --pipeline left "${requests[@]}"
exits 0
checks=$((checks + 1))
expected="$(python3 -c '
for i in range(600):
    print("{\"number\":%d,\"secret\":%d}" % (i, 777000 if i < 400 else 0))')"
[[ "$out" == "$expected" ]] || fail "expected zeros where a handler wrote nothing: the bytes of other requests are not its own"

# ---- a tap in a part ----

sed 's/^answer = .*/&, end/; s/^\[link.sums\]/[topic.sums]/; s/^to = last/to = end\ntaps = tap/' "$folder/left.ini" >"$folder/tap.ini"
cat >>"$folder/tap.ini" <<END
[kernel.end]
source = $places:last
backend = cuda
[kernel.tap]
source = $places:tap
backend = cuda
[link.seen]
from = tap.seen
to = last
END
run pipeline left --config "$folder/tap.ini"
exits 1
says "tap.ini:$(sed -n '/^to = last/=' "$folder/tap.ini"): kernel 'tap' on backend 'cuda' gets messages of tap 'tap' of topic 'sums', which belong to no request, and sends to kernel 'last' on another device"
finish
