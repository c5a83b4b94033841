#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `checked = true`: an index out of range is a failed message with what, which and where, and the kernel goes on. With each
# compiler that is here, in all forms of kernels.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)"
export XDG_CACHE_HOME="$folder/cache"
checked=(--backend cpu --set backend.cpu.checked=true)

# The handler of docs/debugging.md, and what is said of it there.
awk '/^```c$/ { inside = 1; next } /^```$/ { exit } inside' "$root/docs/debugging.md" >"$folder/lookup.gyre.c"
run call "${checked[@]}" --set gyre.log_level=info --buffer table=zeros:80 "$folder/lookup.gyre.c" '{"index":10}'
prints "$(grep -o '{"failed":{"code":-15,.*' "$root/docs/debugging.md")"
says "12: 'table' has 10 items and none of the index that was asked for: 10"
run call "${checked[@]}" --buffer table=zeros:80 "$folder/lookup.gyre.c" '{"index":9}'
exits 0
prints '{"value":0}'

cat >"$folder/wrong.h" <<'MESSAGES'
#include <gyre/message.h>
#define ASK(FIELD) FIELD(i32, which) FIELD(i32, index) FIELD(u32, table[5]) FIELD(u32, last)
GYRE_MESSAGE(ask, ASK)
#define ANSWER(FIELD) FIELD(u32, value) FIELD(u32, sums[5])
GYRE_MESSAGE(answer, ANSWER)
#define KEPT(FIELD) FIELD(u32, counts[5]) FIELD(u32, more)
GYRE_MESSAGE(kept, KEPT)
#define BUFFERS(IN, INOUT) IN(f32, weights) INOUT(u32, totals)
#define POINT(FIELD) FIELD(u32, x) FIELD(u32, y)
GYRE_MESSAGE(point, POINT)
GYRE_SPAN(points, point)
#define SHAPES(FIELD)                                                                                                  \
    FIELD(i32, which) FIELD(i32, index) FIELD(span_u32, numbers) FIELD(points, corners) FIELD(utf8, name)
GYRE_MESSAGE_TAIL(shapes, SHAPES, 400)
#define DRAWN(FIELD) FIELD(u32, value) FIELD(span_u32, numbers)
GYRE_MESSAGE_TAIL(drawn, DRAWN, 400)
MESSAGES

# Fixed messages: each case is one line, beginning with line 9, or 10 where lanes wait. wrong_kernel FORM OPEN CLOSE
wrong_kernel()
{
    cat <<KERNEL
#include <gyre/kernel.h>
#include "wrong.h"
GYRE_BUFFERS(wrong_buffers, BUFFERS)
$1
{
    const i32 i = request->index;
    u32 own[5] = {0};
    $2
    switch (request->which) {
    case 0: reply->value = request->table[i]; break;
    case 1: reply->sums[i] = 1; break;
    case 2: state->counts[i] = 1; break;
    case 3: own[i & 7] = 7; reply->value = own[0]; break;
    case 4: reply->value = (u32)buffers->weights[i]; break;
    case 5: buffers->totals[i] += 9; break;
    case 6: gyre_atomic_max(&buffers->totals[i], 3u); break;
    case 7: gyre_atomic_add(&buffers->totals[i], 3u); break;
    $3
    }
    $4
    return GYRE_REPLY;
}
KERNEL
}
wrong_kernel 'GYRE_KERNEL_WITH(wrong, ask, answer, kept, wrong_buffers)' '' '' '' >"$folder/lane.gyre.c"
wrong_kernel 'GYRE_ACTOR_WITH(wrong, ask, answer, kept, wrong_buffers)' '' '' '' >"$folder/actor.gyre.c"
wrong_kernel 'GYRE_BLOCK_KERNEL_WITH(wrong, ask, answer, kept, kept, wrong_buffers)' \
    'gyre_barrier(gyre); if (gyre_lane(gyre) == 2)' 'case 8: scratch->counts[i] = 1; break;' 'gyre_barrier(gyre);' \
    >"$folder/block.gyre.c"

# Messages with tails.
cat >"$folder/spans.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>
#include "wrong.h"
GYRE_KERNEL(spans, shapes, drawn)
{
    const i32 i = request->index;
    const GYRE_GLOBAL u32 *numbers = gyre_items(u32, request, request->numbers);
    const GYRE_GLOBAL point *corners = gyre_items(point, request, request->corners);
    reply->numbers = gyre_new(gyre, u32, reply, 5);
    GYRE_GLOBAL u32 *made = gyre_writable(u32, reply, reply->numbers);
    switch (request->which) {
    case 0: reply->value = numbers[i]; break;
    case 1: reply->value = corners[i].y; break;
    case 2: reply->value = gyre_items(u8, request, request->name)[i]; break;
    case 3: made[i] = 7; break;
    case 4: reply->value = gyre_get(gyre, u32, request, request->numbers, (u32)i); break;
    case 5: gyre_set(gyre, u32, reply, reply->numbers, (u32)i, 5); break;
    }
    return GYRE_REPLY;
}
KERNEL

# Buffers that messages name.
cat >"$folder/opened.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>
#define PICK(FIELD) FIELD(i32, index) FIELD(gyre_handle, cells)
GYRE_MESSAGE(pick, PICK)
#define PICKED(FIELD) FIELD(u32, value)
GYRE_MESSAGE(picked, PICKED)
GYRE_KERNEL(opened, pick, picked)
{
    u64 count;
    GYRE_GLOBAL u32 *cells = gyre_open(gyre, u32, &request->cells, &count);
    if (!cells)
        return GYRE_FAILED;
    cells[request->index] = 3;
    reply->value = (u32)count;
    return GYRE_REPLY;
}
KERNEL

# requests LAST FIELDS: each case with the last right index, that behind it, and one before the first.
requests()
{
    local which index
    for ((which = 0; which <= $1; which++)); do
        for index in 4 5 -1; do
            printf '{"which":%s,"index":%s,%s}\n' "$which" "$index" "$2"
        done
    done
}

# tells FILE FIRST CODE NAME...: of the cases from line FIRST on, in order, the right index is answered and both others are
# failures that name them. A name with a - is not held against the index before the first.
tells()
{
    local file="$1" line="$2" code="$3" name reply
    shift 3
    for name in "$@"; do
        for index in 4 5 -1; do
            read -r reply
            checks=$((checks + 1))
            case "$index" in
                4) [[ "$reply" == '{"value":'* ]] || fail "expected an answer of $file:$line, found $reply" ;;
                *)
                    [[ "$name" == *- && "$index" == -1 ]] && continue
                    [[ "$name" == own && "$index" == -1 ]] && index=7
                    [[ "$reply" == "{\"failed\":{\"code\":$code,\"text\":\"$file:$line: index $index of ${name%-}[5]\"}}" ]] ||
                        fail "expected index $index of $name at $file:$line, found $reply"
                    ;;
            esac
        done
        line=$((line + 1))
    done
}

arrays='"table":[1,2,3,4,5],"last":6'
parts='"numbers":[1,2,3,4,5],"corners":[{"x":1,"y":2},{"x":1,"y":2},{"x":1,"y":2},{"x":1,"y":2},{"x":1,"y":2}],"name":"abcde"'
buffers=(--buffer weights=zeros:20 --buffer totals=zeros:20)
with_compiler()
{
    local how=("${checked[@]}" --set "backend.cpu.compiler=$1")
    for form in lane actor; do
        requests 7 "$arrays" >"$folder/requests"
        run call "${how[@]}" "${buffers[@]}" "$folder/$form.gyre.c" <"$folder/requests"
        says '24 sent, 8 answered, 16 failed'
        tells "$form.gyre.c" 10 -15 table sums counts own weights totals totals totals <<<"$out"
    done
    requests 8 "$arrays" >"$folder/requests"
    run call "${how[@]}" --lanes 8 "${buffers[@]}" "$folder/block.gyre.c" <"$folder/requests"
    says '27 sent, 9 answered, 18 failed'
    tells block.gyre.c 10 -15 table sums counts own weights totals totals totals counts <<<"$out"
    requests 5 "$parts" >"$folder/requests"
    run call "${how[@]}" "$folder/spans.gyre.c" <"$folder/requests"
    tells spans.gyre.c 11 -15 numbers corners name numbers- <<<"$out"
    tells spans.gyre.c 15 -8 numbers- numbers- <<<"$(tail -n 6 <<<"$out")"
    for index in 4 5 -1; do
        printf '{"index":%s,"cells":"five"}\n' "$index"
    done >"$folder/requests"
    run call "${how[@]}" --message-buffer five=zeros:20 "$folder/opened.gyre.c" <"$folder/requests"
    tells opened.gyre.c 12 -15 cells <<<"$out"
}
with_compiler cc
command -v clang >/dev/null && with_compiler clang

# The second index of an array of arrays: clang tells where the expression begins, and so the whole array.
cat >"$folder/table.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>
#define CELL(FIELD) FIELD(u32, column)
GYRE_MESSAGE(cell, CELL)
#define CELLS(FIELD) FIELD(u32, rows[2][4])
GYRE_MESSAGE(cells, CELLS)
GYRE_ACTOR(table, cell, cell, cells)
{
    reply->column = state->rows[1][request->column];
    return GYRE_REPLY;
}
KERNEL
run call "${checked[@]}" "$folder/table.gyre.c" '{"column":3}' '{"column":4}'
checks=$((checks + 1))
[[ "$out" =~ table.gyre.c:8:\ index\ 4\ of\ rows(\[1\])?\[4\] ]] || fail "expected index 4 of rows[1][4]"

# In a process of its own the worker goes on as well.
requests 0 "$arrays" >"$folder/requests"
run call "${checked[@]}" --set backend.cpu.isolation=process "${buffers[@]}" "$folder/lane.gyre.c" <"$folder/requests"
tells lane.gyre.c 10 -15 table <<<"$out"

run call "${checked[@]}" --set backend.cpu.sanitize=undefined "${buffers[@]}" "$folder/lane.gyre.c" '{}'
exits 4
says 'backend.cpu checked = true and sanitize = undefined exclude each other'
run call --backend cpu --set backend.cpu.checked=maybe "${buffers[@]}" "$folder/lane.gyre.c" '{}'
exits 4
finish
