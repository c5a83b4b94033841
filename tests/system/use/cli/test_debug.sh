#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A handler under gdb, valgrind and the sanitizers, each finding its own source line: what docs/ tells people to do.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache"
have()
{
    command -v "$1" >/dev/null
}
if ldd "$GYRE" | grep -qE 'lib(a|t|ub)san' || nm -D "$GYRE" 2>/dev/null | grep -qE '__(a|t)san_init'; then
    echo "gyre itself is built with a sanitizer, which does not share a process with these tools"
    exit 77
fi

cat >"$folder/wrong.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>
#define BUFFERS(IN, INOUT) INOUT(u32, cells)
GYRE_BUFFERS(cells_of_it, BUFFERS)
GYRE_KERNEL_WITH(wrong, i32, i32, gyre_none, cells_of_it)
{
    i32 twice = *request * 2;
    *reply = 1 << *request;
    if (*request > 50)
        *reply = (i32)buffers->cells[buffers->cells_count];
    *reply = *reply ? twice : 0;
    return GYRE_REPLY;
}
KERNEL
head -c 20 /dev/zero >"$folder/cells" # no multiple of what buffers are aligned to
shared=(--backend cpu --buffer "cells=$folder/cells" "$folder/wrong.gyre.c")

if have gdb; then
    printf '%s\n' 'set debuginfod enabled off' 'set breakpoint pending on' 'break wrong.gyre.c:7' run \
        'print twice' 'print *request' 'backtrace 1' kill >"$folder/commands"
    out="$(gdb -q -batch -x "$folder/commands" --args "$GYRE" call "${shared[@]}" \
        --set 'backend.cpu.compiler_options=-O0 -g' 21 2>&1 </dev/null)"
    called='gdb'
    # some containers forbid to trace a process
    if [[ "$out" == *ptrace* ]]; then
        echo "skipped gdb: it may not trace here"
    else
        prints 'wrong.gyre.c:7'
        prints '= 42'
        prints '= 21'
    fi
fi

run call "${shared[@]}" --set backend.cpu.sanitize=undefined --set 'backend.cpu.compiler_options=-O1' 40
exits 0
says 'wrong.gyre.c:7:'
says 'runtime error: shift exponent 40'

run call "${shared[@]}" --set backend.cpu.sanitize=address --set 'backend.cpu.compiler_options=-O1' 60
exits 3
says 'needs its runtime in the program from the start: run it with LD_PRELOAD='
library="$(cc -print-file-name=libasan.so)"
if [[ "$library" == /* ]]; then
    LD_PRELOAD="$library" ASAN_OPTIONS=detect_leaks=0 run call "${shared[@]}" --set backend.cpu.sanitize=address \
        --set 'backend.cpu.compiler_options=-O1' 60
    says 'heap-buffer-overflow'
    says 'wrong.gyre.c:9'
    # not compiled before: the runtime is for the program, not for the compiler and the checker that it starts
    LD_PRELOAD="$library" run call "${shared[@]}" --set backend.cpu.sanitize=address 60
    says 'wrong.gyre.c:9'
fi

if have valgrind; then
    under_valgrind()
    {
        code=0
        valgrind -q --leak-check=full --error-exitcode=9 "$GYRE" call "${shared[@]}" \
            --set 'backend.cpu.compiler_options=-O1 -g' "$1" >"$folder/out" 2>"$folder/err" </dev/null || code=$?
        out="$(<"$folder/out")" err="$(<"$folder/err")" called="valgrind gyre call $1"
    }
    under_valgrind 20
    exits 0
    prints '40'
    under_valgrind 60
    exits 9
    says 'Invalid read of size 4'
    says 'wrong.gyre.c:9'
fi

run call "${shared[@]}" --set backend.cpu.sanitize=adress 1
says 'adress'
finish
