#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_loops.py must catch a loop, a wide header, a member used elsewhere and a ceiling that is too high, and let a clean tree pass.
# usage: check_loops_caught.sh PYTHON COMPILER NM
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
python="$1" compiler="$2" nm="$3"
tree="$(mktemp -d)"
trap 'rm -rf "$tree"' EXIT
cd "$tree"
failed=0

# file NAME TEXT: a source of core/one, and its object.
file()
{
    mkdir -p core/one build/core/CMakeFiles/core.dir/one
    printf '%b\n' "$2" >"core/one/$1"
    [[ "$1" == *.h ]] || "$compiler" -c "core/one/$1" -o "build/core/CMakeFiles/core.dir/one/$1.o"
}

# says STATUS SENTENCE: of the tree as it is.
says()
{
    local rc=0
    "$python" "$here/check_loops.py" build "$nm" ceilings.txt >out 2>&1 || rc=$?
    if [[ "$rc" != "$1" ]] || ! grep -qF "$2" out; then
        echo "expected exit status $1 and '$2', found $rc and:"
        cat out
        failed=1
    fi
}

: >ceilings.txt
mkdir build
says 1 'build first'
file a.c 'void b(void);\nvoid a(void) { b(); }'
file b.c 'void b(void) { }'
says 0 'no loop and no wide header is new'
file b.c 'void c(void);\nvoid b(void) { c(); }'
file c.c 'void a(void);\nvoid c(void) { a(); }'
says 1 'core/one: 3 files call each other in loops, at most 0 are allowed'
echo 'loop core/one 3' >ceilings.txt
says 0 'no loop and no wide header is new'
echo 'loop core/one 4' >ceilings.txt
# shellcheck disable=SC2016 # backquotes of the sentence
says 1 'lower the ceiling `loop core/one 4` to 3'
printf 'loop core/one 3\nloop core/two 2\n' >ceilings.txt
says 1 'core/two has gone'
echo 'loop core/one 3' >ceilings.txt
file d.c 'void d(void) { }'
file one.h 'void a(void);\nvoid b(void);\nvoid c(void);\nstatic inline void e(void) { d(); }'
says 0 'no loop and no wide header is new'
file one.h 'void a(void);\nvoid b(void);\nvoid c(void);\nvoid d(void);'
says 1 'core/one/one.h declares functions of core/one/a.c core/one/b.c core/one/c.c core/one/d.c'
rm core/one/one.h
printf '#include "core/one/y.h"\n' >core/one/x.c
printf '' >core/one/x.h
printf '#include "core/one/x.h"\n' >core/one/y.h
says 1 'these include each other in a circle: core/one/x core/one/y'
rm core/one/[xy].?
mkdir -p core/two build/core/CMakeFiles/core.dir/two
file queue.h 'struct gyre_queue {\n    int sent;\n    struct {\n        int inner;\n    } state;\n};'
printf '#include "core/one/queue.h"\nint f(const struct gyre_queue *queue) { return queue->sent + queue->state.inner; }\n' >core/two/f.c
"$compiler" -I. -c core/two/f.c -o build/core/CMakeFiles/core.dir/two/f.c.o
says 1 'core/two: 2 times a member of struct gyre_queue is used, which lives elsewhere, at most 0 are allowed'
printf 'loop core/one 3\nqueue core/two 2\n' >ceilings.txt
says 0 'no loop and no wide header is new'
exit "$failed"
