#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A pipeline whose kernels are on the CPU and on an OpenCL device: its picture, its replies, and its clients in other programs.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_RUNTIME_DIR="$folder/session" XDG_CACHE_HOME="$folder/cache" XDG_CONFIG_HOME="$folder/none"
mkdir -p "$XDG_RUNTIME_DIR"
unset GYRE_BACKEND
# where processors are busy, PoCL takes its time
export GYRE_COMPILE_TIMEOUT_MS="${GYRE_COMPILE_TIMEOUT_MS:-$((140000 * patience))}"
mixed=examples/pipeline/mixed.ini
run call --backend opencl examples/command/scale.gyre.c '{"value":20.5,"factor":2}'
if ((code != 0)) && [[ "$err" == *unavailable* || "$err" == *"no OpenCL"* || "$err" == *"no backend"* || "$err" == *"no device"* ]]; then
    echo "no OpenCL device here: $err"
    exit 77
fi

# ---- the picture ----

run pipeline orders --config "$mixed"
exits 0
grep -qE '^check +entry .*, cpu$' <<<"$out" || fail "expected check on the CPU"
grep -qE '^price .*, opencl$' <<<"$out" || fail "expected price on OpenCL"
grep -qE '^  good +->  price .*, through the host$' <<<"$out" || fail "expected that 'good' passes the host"
grep -qE '^  sums +->  book .*, through the host$' <<<"$out" || fail "expected that 'sums' passes the host"
grep -E '^  large ' <<<"$out" | grep -q "through the host" && fail "'large' leads nowhere"
run pipeline orders --config "$mixed" --json
exits 0
checks=$((checks + 1))
[[ "$(grep -o '"through_host":true' <<<"$out" | wc -l)" == 2 ]] || fail "expected two links through the host"
run pipeline orders --config "$mixed" --set kernel.price.backend=cpu
exits 0
checks=$((checks + 1))
[[ "$out" != *"through the host"* ]] || fail "all kernels are on one device"

# ---- the same replies wherever the kernels are ----

mapfile -t requests < <(python3 -c '
for i in range(300):
    print("{\"item\":%d,\"count\":%d}" % (i % 5, i % 7 + 1))')
call_on()
{
    run call --config "$mixed" --set "kernel.check.backend=$1" --set "kernel.price.backend=$2" --set "kernel.book.backend=$3" \
        --pipeline orders "${requests[@]}"
    exits 1 # one item in five does not exist
}
call_on cpu cpu cpu
expected="$out"
for places in "cpu opencl cpu" "opencl cpu opencl" "cpu cpu opencl" "opencl opencl cpu"; do
    # shellcheck disable=SC2086
    call_on $places
    checks=$((checks + 1))
    [[ "$out" == "$expected" ]] || fail "expected the replies of one backend on $places"
done

# ---- other programs ----

: >"$folder/ready"
"$GYRE" serve --config "$mixed" >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
checks=$((checks + 1)) called="gyre serve"
[[ "$(<"$folder/ready")" == "serving at $XDG_RUNTIME_DIR/gyre.sock: pipeline orders" ]] || fail "found $(<"$folder/ready")"
run call --attach orders '{"item":2,"count":3}' '{"item":9,"count":1}'
exits 1
checks=$((checks + 1))
[[ "$out" == '{"number":1,"cents":3150}
{"failed":{"code":1,"text":"there is no such item"}}' ]] || fail "expected a receipt and a refusal"
kill -TERM "$server"
code=0
wait "$server" || code=$?
called="gyre serve until TERM" err="$(<"$folder/served")"
exits 0

# ---- kernels of the pipeline in a worker process ----

run call --config "$mixed" --set backend.opencl.isolation=process --pipeline orders '{"item":2,"count":3}' '{"item":9,"count":1}'
exits 1
checks=$((checks + 1))
[[ "$out" == '{"number":1,"cents":3150}
{"failed":{"code":1,"text":"there is no such item"}}' ]] || fail "expected a receipt and a refusal"

# ---- what there is not ----

run pipeline orders --config "$mixed" --set backend.cpu.isolation=process
exits 1
says "entry 'check' is on backend 'cpu', and other kernels of the pipeline are on another device: clients enter such a pipeline by a kernel on backend 'cpu' that is in no worker process"
run pipeline orders --config "$mixed" --set kernel.price.backend=opncl
checks=$((checks + 1))
[[ "$code" != 0 && "$err" == *opncl* ]] || fail "expected a sentence about the backend"

# the members of a pool take from rings that all of them reach
sed "s|= queens|= $PWD/examples/pipeline/queens|; s|^members = place|&, other|; s|^answer = place|&, other|" \
    examples/pipeline/queens.ini >"$folder/pool.ini"
printf '[link.end]\nfrom = other.boards\nto = nowhere\n[kernel.other]\nsource = %s\n' "$PWD/examples/pipeline/queens.gyre.c:place" >>"$folder/pool.ini"
run pipeline queens --config "$folder/pool.ini"
exits 0
run pipeline queens --config "$folder/pool.ini" --set kernel.other.backend=opencl
exits 0
checks=$((checks + 1))
[[ "$out" == *", pool boards: newest first"* ]] || fail "expected a pool with members on both devices"

finish
