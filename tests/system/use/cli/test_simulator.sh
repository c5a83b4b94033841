#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `--check` and backend.cpu.check: the example of docs/simulator.md word for word, and what is refused. The handlers with
# planted mistakes are in tests/simulator.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)"
export XDG_CACHE_HOME="$folder/cache"
page="$root/docs/simulator.md"
numbers='{"values":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}'

awk '/^```c$/ { inside = 1; next } /^```$/ && inside { exit } inside' "$page" >"$folder/total.gyre.c"
run call --lanes 16 --check races "$folder/total.gyre.c" "$numbers"
exits 1
prints "$(grep -o '{"failed":{"code":-20,.*' "$page")"
# the sentence of the page, which has it in several lines
sentence="$(sed -n "/^    kernel 'total': check races:/,/^$/p" "$page" | sed 's/^ *//' | tr '\n' ' ' | sed 's/ *$//')"
says "${sentence//\/home\/you/$folder}"

# the mend that the page names
sed '14s/$/ gyre_barrier(gyre);/' "$folder/total.gyre.c" >"$folder/mended.gyre.c"
run call --lanes 16 --check races,memory "$folder/mended.gyre.c" "$numbers"
exits 0
prints '{"sum":136}'

# by the configuration, in a process of its own, and through a pipeline's kernel as any other
run call --backend cpu --set backend.cpu.check=races --set backend.cpu.isolation=process --lanes 16 \
    "$folder/total.gyre.c" "$numbers"
exits 1
prints '{"failed":{"code":-20,'
says "kernel 'total': check races: lane 8 writes bytes 32 to 35 of the scratch"

# what a handler did not write of its reply is zero: nothing of this program's memory
sed 's/GYRE_MESSAGE(scale_reply/GYRE_MESSAGE(scale_more/;s/FIELD(f64, scaled)$/& FIELD(u64, more) FIELD(u64, most)/;s/scale_reply)$/scale_more)/' \
    "$root/examples/command/scale.gyre.c" >"$folder/scale.gyre.c"
run call --check memory "$folder/scale.gyre.c" '{"value":20.5,"factor":2}'
exits 0
prints '{"scaled":41.0,"more":0,"most":0}'

# without checks the kernel is the same file, whose wrong answer nobody notices
run call --backend cpu --lanes 16 "$folder/total.gyre.c" "$numbers"
exits 0
run compile --backend cpu "$folder/total.gyre.c"
plain="$(grep '^compiled file: ' <<<"$out")"
run compile --backend cpu --set backend.cpu.check=none "$folder/total.gyre.c"
prints "$plain"
run compile --backend cpu --set backend.cpu.check=races "$folder/total.gyre.c"
prints 'compiled file: '
[[ -n "$plain" && "$out" != *"$plain"* ]] || fail "expected another file with checks"

# a file that was compiled without checks has none
run compile --backend cpu -o "$folder/plain.so" "$folder/total.gyre.c"
exits 0
run call --lanes 16 --check races "$folder/plain.so" "$numbers"
exits 1
says "was compiled without checks, and backend.cpu check asks for some"

# A seed repeats an order, and other seeds are other orders.
order="$root/tests/simulator/handlers/order.gyre.c"
ask='{"values":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"which":0}'
seeded() { run call --check schedule --seed "$1" --lanes 8 "$order" "$ask"; }
declare -A seen
for seed in 1 2 3 4 5 6 7 8; do
    seeded "$seed"
    exits 0
    first="$out"
    seeded "$seed"
    prints "$first"
    seen[$first]=1
done
((${#seen[@]} > 4)) || fail "expected other orders with other seeds, found ${!seen[*]}"

# A message is tried in many orders, and has its effect once: on its state, on buffers, in its reply.
cat >"$folder/once.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>
#define ADD(FIELD) FIELD(u32, add)
GYRE_MESSAGE(add, ADD)
#define SUM(FIELD) FIELD(u64, sum) FIELD(u32, cell)
GYRE_MESSAGE(sum, SUM)
#define CELLS(IN, INOUT) INOUT(u32, cells)
GYRE_BUFFERS(cell_buffers, CELLS)
GYRE_BLOCK_KERNEL_WITH(once, add, sum, gyre_none, sum, cell_buffers)
{
    gyre_atomic_add(&state->sum, (u64)request->add);
    gyre_atomic_max(&buffers->cells[0], request->add * (gyre_lane(gyre) + 1));
    if (gyre_lane(gyre) == 1)
        buffers->cells[1] += 1;
    gyre_barrier(gyre);
    if (gyre_lane(gyre) == 0) {
        reply->sum = state->sum;
        reply->cell = buffers->cells[0] * 100 + buffers->cells[1];
    }
    return GYRE_REPLY;
}
KERNEL
run call --check races,memory,deadlock,schedule --seeds 40 --lanes 4 --buffer cells=zeros:8 "$folder/once.gyre.c" \
    '{"add":1}' '{"add":2}' '{"add":3}'
exits 0
[[ "$out" == '{"sum":4,"cell":401}
{"sum":12,"cell":802}
{"sum":24,"cell":1203}' ]] || fail "expected each message to have its effect once"

# Kernels of each form have several blocks under a check; of a grid kernel all would have to meet in one thread.
cat >"$folder/forms.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>
#define ONE(FIELD) FIELD(u32, one)
GYRE_MESSAGE(one, ONE)
GYRE_KERNEL(by_lane, one, one) { reply->one = request->one + 1; return GYRE_REPLY; }
GYRE_BLOCK_KERNEL(by_block, one, one, gyre_none)
{
    gyre_barrier(gyre);
    if (gyre_lane(gyre) == 0)
        reply->one = request->one + 1;
    return GYRE_REPLY;
}
GYRE_KEYED_ACTOR(by_key, one, one, one, one) { reply->one = request->one + ++state->one; return GYRE_REPLY; }
GYRE_GRID_KERNEL(by_grid, one, one, gyre_none) { reply->one = request->one + 1; return GYRE_REPLY; }
KERNEL
for kernel in by_lane by_block by_key; do
    run call --check schedule --seed 3 --blocks 2 "$folder/forms.gyre.c:$kernel" '{"one":1}' '{"one":2}'
    exits 0
    [[ "$out" == '{"one":2}
{"one":3}' ]] || fail "expected that $kernel has two blocks under a check"
done
run call --check schedule --seed 3 --blocks 2 "$folder/forms.gyre.c:by_grid" '{"one":1}'
exits 0
run call --check schedule --seed 3 --blocks 9 "$folder/forms.gyre.c:by_grid" '{"one":1}'
says "is a grid kernel, which has at most 8 blocks on backend 'cpu'"
run call --check schedule --seed 3 --blocks 8 --lanes 256 "$folder/forms.gyre.c:by_grid" '{"one":1}'
exits 0

# A race that one order has is told with its seed.
run call --check races,schedule --seed 5 --lanes 16 "$folder/total.gyre.c" "$numbers"
exits 1
says '16]}; seed: 5'

run call --check races,memmory "$folder/total.gyre.c" "$numbers"
exits 4
says "check must be words of this list, separated by commas: races, memory, deadlock, schedule, order, crash, traffic; or none, found 'races,memmory'"
run call --check races --set backend.cpu.sanitize=undefined "$folder/total.gyre.c" "$numbers"
exits 4
says 'backend.cpu check and sanitize = undefined exclude each other'
run call --check races --backend cuda "$folder/total.gyre.c" "$numbers"
exits 2
says "--check runs handlers on the backend cpu, and --backend names 'cuda'"
run call --seeds 5 "$folder/total.gyre.c" "$numbers"
exits 2
says '--seed and --seeds are for --check races, memory, deadlock, schedule, order or crash, and no --check is there'
run call --check none --seeds 5 "$folder/total.gyre.c" "$numbers"
exits 2
says "--seed and --seeds are for --check races, memory, deadlock, schedule, order or crash, and --check is 'none', for which a seed decides nothing"
run call --check schedule --seeds 0 "$folder/total.gyre.c" "$numbers"
exits 2
run call --check schedule --set backend.cpu.seed=none "$folder/total.gyre.c" "$numbers"
exits 4
run call --check races --attach total "$numbers"
exits 2
says "--check is for handlers that run here"
finish
