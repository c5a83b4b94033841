#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gyre call --check crash` with kernels and settings of all kinds: what keeps nothing has no checkpoints, what the configuration says of
# checkpoints does not count, and runs without a crash say nothing.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
unwritable="$(realpath "$(dirname "${BASH_SOURCE[0]}")/unwritable.c")"
cd "$folder" || exit 1
cat >two.gyre.c <<'END'
#include <gyre/kernel.h>
#define NUMBER(FIELD) FIELD(u32, value)
GYRE_MESSAGE(number, NUMBER)
GYRE_KERNEL(twice, number, number)
{
    reply->value = 2 * request->value;
    return GYRE_REPLY;
}
GYRE_ACTOR(sum, number, number, number)
{
    state->value += request->value;
    *reply = *state;
    return GYRE_REPLY;
}
END
cat >late.gyre.c <<'END'
#include <gyre/kernel.h>
#define ADDED(FIELD) FIELD(u32, add)
GYRE_MESSAGE(added, ADDED)
#define SUM(FIELD) FIELD(u64, sum) FIELD(u32, count)
GYRE_MESSAGE(total, SUM)
GYRE_ACTOR(late, added, total, total)
{
    state->sum += request->add + gyre_time_ns(gyre) % 1000;
    state->count++;
    *reply = *state;
    return GYRE_REPLY;
}
END
limit=(--timeout $((30000 * patience)))

# passes KERNEL OPTION...: with a crash, whatever the seed says of checkpoints.
passes()
{
    local kernel="$1" first
    shift
    for first in 1 2; do
        run call --check crash --seed "$first" --seeds 2 "${limit[@]}" "$@" "two.gyre.c:$kernel" '{"value":1}' '{"value":2}' '{"value":3}'
        exits 0
        says "3 of 3 answers as expected"
        says "signal 9"
    done
}

# saves_nothing: what fails without another answer is no case.
saves_nothing()
{
    exits 1
    checks=$((checks + 1))
    [[ ! -e none.gyre-case ]] || fail "expected no case"
}

passes twice
passes sum --set kernel.sum.checkpoints=false
run call --check crash --seed 3 "${limit[@]}" two.gyre.c:sum '{"value":1}' '{"value":2}'
exits 0
says "the worker process ended in 9 of 9 runs with a crash"

# by hand: a crash_file that has something in it stays as it is, and nothing ends
echo mine >mine.txt
for message in 0 1; do
    run call --backend cpu --set gyre.log_level=info --set backend.cpu.check=crash --set backend.cpu.crash_file=mine.txt \
        --set "backend.cpu.crash_message=$message" "${limit[@]}" two.gyre.c:twice '{"value":1}'
    exits 0
    [[ "$(<mine.txt)" == mine ]] || fail "expected the file as it was: $(<mine.txt)"
done
says "nothing ends in message 1, because the crash_file 'mine.txt' is not empty"
# without a crash nothing was tried, and nothing found
run call --check crash --seeds 1 --save none.gyre-case "${limit[@]}" two.gyre.c:sum '{"value":1}'
saves_nothing
says "no crash was tried, because the run of the first seed has none: give --seeds 2 or more"
run call --check crash --save none.gyre-case two.gyre.c:sum '{"valu":1}'
saves_nothing
run call --check order --save none.gyre-case two.gyre.c:none '{"value":1}'
[[ ! -e none.gyre-case ]] || fail "expected no case"
if cc -shared -fPIC -D_GNU_SOURCE -o unwritable.so "$unwritable" && LD_PRELOAD="$folder/unwritable.so" "$GYRE" --version >preloaded 2>&1; then
    LD_PRELOAD="$folder/unwritable.so" run call --check crash --seeds 3 --save none.gyre-case "${limit[@]}" two.gyre.c:sum '{"value":1}'
    saves_nothing
    says "the worker process ended in none of 2 runs, so nothing was tried"
fi
# fewer requests have their crash elsewhere: shrink looks for a seed that shows the mistake again
cat >late.gyre-case <<'END'
{"gyre_case":1,"kernel":"late.gyre.c","check":"crash","seed":1,"seeds":2}
{"request":{"add":1}}
{"request":{"add":2}}
{"request":{"add":3}}
{"request":{"add":4}}
END
run shrink late.gyre-case --limit $((60000 * patience)) --tries 12
exits 0
prints "late.small.gyre-case: 2 of 4 requests"
run call --case late.small.gyre-case "${limit[@]}"
exits 1
finish
