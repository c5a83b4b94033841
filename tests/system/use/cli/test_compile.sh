#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre compile and gyre cache: stages, layouts, artifacts, the cache's contents; sentences and exit codes.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache"

cat >"$folder/pair.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>
#define POINT(F) F(f32, x) F(f32, y)
GYRE_MESSAGE(point, POINT)
#define PAIR(F) F(u8, tag) F(point, p[2]) F(u64, id)
GYRE_MESSAGE(pair, PAIR)
#define BUFFERS(IN, INOUT) IN(f32, weights) INOUT(u32, counts)
GYRE_BUFFERS(buffers_of_it, BUFFERS)
GYRE_KERNEL_WITH(first, pair, point, gyre_none, buffers_of_it)
{
    *reply = request->p[0];
    return GYRE_REPLY;
}
GYRE_ACTOR(second, pair, gyre_none, point) { return GYRE_NO_REPLY; }
KERNEL

# what a compiler warns of is shown, also once the result is in the cache (-W), and by call to a person alone
cat >"$folder/warned.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>
GYRE_KERNEL(warned, u32, u32)
{
    u32 sum;
    for (u32 i = 0; i < *request; i++)
        sum += i;
    *reply = sum;
    return GYRE_REPLY;
}
KERNEL
run compile --backend cpu --set "gyre.cache_dir=$folder/warned" "$folder/warned.gyre.c"
exits 0
says "warned.gyre.c:"
says "uninitialized"
run compile --backend cpu --set "gyre.cache_dir=$folder/warned" "$folder/warned.gyre.c"
[[ "$err" != *uninitialized* ]] || fail "nothing was compiled, so no compiler said anything"
run compile --backend cpu -W "$folder/warned.gyre.c"
exits 0
says "uninitialized"
run call --backend cpu --set gyre.cache_dir= "$folder/warned.gyre.c" 3 </dev/null
exits 0
[[ "$err" != *uninitialized* ]] || fail "a script is told of a compiler's warnings"
if command -v script >/dev/null; then
    err="$(script -qec "$GYRE call --backend cpu --set gyre.cache_dir= $folder/warned.gyre.c 3 2>&1" /dev/null </dev/null)"
    says "warning: the compiler warns: "
    says "uninitialized"
fi

# a cold and a cached compile
run compile --backend cpu "$folder/pair.gyre.c"
exits 0
prints 'cache: miss'
prints 'kernel first, lane form'
prints 'kernel second, actor form'
prints 'request: pair, 32 bytes aligned to 8, hash '
prints 'p[0].y'
prints 'counts: u32, read and written'
run compile --backend cpu --json "$folder/pair.gyre.c"
exits 0
prints '"cache_hit":true'
prints '{"field":"id","type":"u64","offset":24,"size":8}'
prints '{"field":"p[0].y","type":"f32","offset":8,"size":4}'
prints '"buffers":[{"name":"weights","type":"f32","writable":false},{"name":"counts","type":"u32","writable":true}]'
prints '{"stage":"compile","result":"cached"'

# ports: types, hashes and counts, in a worker process as well, and from an artifact
cat >"$folder/split.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>
#define WORD(F) F(u32, line) F(u8, text[28])
GYRE_MESSAGE(word, WORD)
#define PORTS(PORT) PORT(word, words, 8) PORT(u32, counts, 1)
GYRE_PORTS(split_ports, PORTS)
GYRE_KERNEL_TO(split, word, gyre_none, split_ports)
{
    GYRE_GLOBAL word *out = gyre_emit(gyre, words);
    *out = *request;
    return GYRE_NO_REPLY;
}
KERNEL
run compile --backend cpu --set cache_dir= --set backend.cpu.isolation=process -o "$folder/split.kernel" "$folder/split.gyre.c"
exits 0
hash="$(sed -n 's/.*request: word, 32 bytes aligned to 4, hash //p' <<<"$out")"
prints "    words: word, hash $hash, at most 8 a call"
prints '    counts: u32, hash '
run compile --backend cpu --set cache_dir= --json "$folder/split.kernel"
exits 0
prints '"ports":[{"name":"words","type":{"type":"word","size":32,'
prints '"most":8},{"name":"counts","type":{"type":"u32",'
sed 's/words, 8/words, 0/' "$folder/split.gyre.c" >"$folder/none.gyre.c"
run compile --backend cpu --set cache_dir= --set check=off "$folder/none.gyre.c"
exits 1
says "none.gyre.c:5: static assertion failed: \"port words: one call may emit 1 to 4096 messages to it"
rm "$folder/none.gyre.c"

# an artifact runs where there is no compiler
run compile --backend cpu -o "$folder/pair.kernel" "$folder/pair.gyre.c"
exits 0
prints "compiled file: $folder/pair.kernel"
run compile --backend cpu --set backend.cpu.compiler=no-such-compiler --set cache_dir= "$folder/pair.kernel"
exits 0
prints 'kernel first, lane form'
head -c 3000 "$folder/pair.kernel" >"$folder/cut.kernel"
run compile --backend cpu "$folder/cut.kernel"
exits 1
says 'its end is missing'

# nothing is compiled twice, also without a cache, unless the kernel that is meant needs other options
printf '#!/bin/sh\necho once >>"%s"\nexec cc "$@"\n' "$folder/compiled" >"$folder/counting" && chmod +x "$folder/counting"
# compiles TIMES ARGUMENT...
compiles()
{
    local times="$1"
    shift
    rm -f "$folder/compiled" "$folder/counted.kernel"
    run compile --backend cpu --set "backend.cpu.compiler=$folder/counting" --set cache_dir= \
        -o "$folder/counted.kernel" "$@" "$folder/pair.gyre.c"
    exits 0
    prints "compiled file: $folder/counted.kernel"
    checks=$((checks + 1))
    [[ "$(grep -c once "$folder/compiled")" == $((times + asked)) ]] || fail "expected $times compiles"
}
run compile --backend cpu --set "backend.cpu.compiler=$folder/counting" --set cache_dir= "$folder/pair.kernel"
asked=$(grep -c once "$folder/compiled") # what version it is
compiles 1 --set kernel.other.lanes=2
compiles 1 --set queue.first.capacity=64 --set kernel.second.blocks=1

# what goes wrong, the stages still shown
run compile --backend cpu --set backend.cpu.compiler=no-such-compiler --set cache_dir= "$folder/pair.gyre.c"
exits 3
says "there is no C compiler 'no-such-compiler' on this machine"
prints 'failed'
printf '#!/bin/sh\nsleep 30\n' >"$folder/hanging" && chmod +x "$folder/hanging"
run compile --backend cpu --set "backend.cpu.compiler=$folder/hanging" --set compile_timeout_ms=200 "$folder/pair.gyre.c"
exits 5
says 'did not end in the time that compile_timeout_ms allows and was killed'
run compile --backend cpu "$folder/pair.gyre.c:frist"
exits 1
says "there is no kernel 'frist'"
says "did you mean 'first'?"
run compile --backend cpu "$folder/none.gyre.c"
refuses 1 "discover: kernel file '$folder/none.gyre.c' cannot be opened: No such file or directory"
cp "$folder/pair.gyre.c" "$folder/only.gyre.c"
run compile --backend cpu -o "$folder/./only.gyre.c" "$folder/only.gyre.c"
exits 1
says "output: '$folder/./only.gyre.c' is the kernel's source, which would be lost: name another file"
cmp -s "$folder/pair.gyre.c" "$folder/only.gyre.c" || fail "the source was changed"
mkdir "$folder/a"$'\n'"b" && cp "$folder/pair.gyre.c" "$folder/a"$'\n'"b/"
run compile --backend cpu "$folder/a"$'\n'"b/pair.gyre.c"
exits 1
says "a path with a line feed in it cannot be named to a compiler: rename that file or folder"
printf '#include <gyre/kernel.h>\nGYRE_KERNEL(1st, u32, u32) { *reply = *request; return GYRE_REPLY; }\n' >"$folder/1st.gyre.c"
run compile --backend cpu --set cache_dir= "$folder/1st.gyre.c"
exits 1
says "the kernel's name '1st' is no C identifier: letters, digits and '_', no digit first"
mkfifo "$folder/pipe"
run compile --backend cpu -o "$folder/pipe" "$folder/pair.gyre.c"
exits 1
says "'$folder/pipe' is no regular file; expected a file, or a name that is free"
[[ -p "$folder/pipe" ]] || fail "the pipe was replaced"
run compile --backend cpu -o "$folder" "$folder/pair.gyre.c"
exits 1
says "'$folder' is a folder"
run compile --backend cpu -o /nowhere/x "$folder/pair.gyre.c"
exits 1
says "output: '/nowhere/x' cannot be written"
(cd "$folder" && "$GYRE" compile --backend cpu -o - "$folder/pair.gyre.c" >out 2>err)
code=$? out="$(<"$folder/out")" err="$(<"$folder/err")" called="gyre compile -o -"
exits 2
says "gyre: -o - is no file, and standard output has the report: name a file (./- for one that is called so) ('gyre help compile' shows how)"
[[ ! -e "$folder/-" && -z "$out" ]] || fail "expected nothing but the sentence"
(cd "$folder" && "$GYRE" compile --backend cpu -o ./- "$folder/pair.gyre.c" >out 2>err)
code=$? called="gyre compile -o ./-"
exits 0
[[ -s "$folder/-" ]] || fail "expected the file ./-"
run compile
exits 2
run compile --arch sm_90 "$folder/pair.gyre.c"
refuses 2 "--arch needs --backend: architectures are a backend's own ('gyre help compile' shows how)"
run compile --backend cpu --arch sm_90 "$folder/pair.gyre.c"
exits 3
says "gyre: backend 'cpu' compiles for its own device only, '"
[[ "$err" != *warning* ]] || fail "expected no warning of a setting that nobody gave"
# for the backend that a launch would take
run compile --set kernel.first.backend=none "$folder/pair.gyre.c:first"
exits 3
says "gyre: command line: there is no backend 'none'"
run compile --backend none "$folder/pair.gyre.c"
exits 3
says "there is no backend 'none'"

# the check stage reads a file as the compiler does, whichever key its options come from
printf '#include <gyre/kernel.h>\nGYRE_KERNEL(scaled, u32, u32) { *reply = *request * FACTOR + SHIFT; return GYRE_REPLY; }\n' >"$folder/scaled.gyre.c"
echo '#define SHIFT 7' >"$folder/shift.h"
run compile --backend cpu --set gyre.cache_dir="$folder/elsewhere" --set backend.cpu.compiler_options="-O1 -DFACTOR=3 -include $folder/shift.h" "$folder/scaled.gyre.c"
exits 0

# a folder in the way of the cache: it works, and says so
: >"$folder/file"
run compile --backend cpu --set "cache_dir=$folder/file" "$folder/pair.gyre.c"
exits 0
says 'gyre: warning: compiled kernels are not kept: the cache folder'

# the cache
run cache list
exits 0
prints "$folder/pair.gyre.c"
prints '1 compiled kernel file, '
run cache list --json
exits 0
prints '"backend":"cpu"'
run cache clear
exits 0
prints 'removed 1 compiled kernel file, '
run cache list
exits 0
prints '0 compiled kernel files'
if [[ "$(id -u)" != 0 ]]; then # whom nothing is forbidden
    chmod 000 "$folder/cache/gyre/kernels"
    for action in list clear; do
        run cache "$action"
        refuses 1 "the cache folder '$folder/cache/gyre/kernels' cannot be read: Permission denied"
    done
    chmod 700 "$folder/cache/gyre/kernels"
fi
run cache lst
refuses 2 "there is no 'gyre cache lst'; did you mean 'list'? ('gyre help cache' shows how)"
run cache
exits 2
run cache list --set cache_size=0
refuses 1 'the cache is off: the setting cache_dir is empty or cache_size is 0'
run cache list --set "cache_dir=$folder/file"
exits 1
says 'cannot be made: Not a directory'

# compiled as a launch would be, and a launch that needs more than the file has says so
cat >"$folder/tune.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>

#ifndef SCALE
#define SCALE 1
#endif
#define NUMBER(FIELD) FIELD(u32, x)
GYRE_MESSAGE(number, NUMBER)

GYRE_KERNEL(scaled, number, number)
{
    reply->x = request->x * SCALE;
    return GYRE_REPLY;
}
KERNEL
run compile --backend cpu --set kernel.scaled.options=-DSCALE=10 -o "$folder/tune.gk" "$folder/tune.gyre.c"
exits 0
run call --backend cpu "$folder/tune.gk" '{"x":3}'
exits 0
prints '{"x":30}'
run call --backend cpu --set kernel.scaled.options=-DSCALE=11 "$folder/tune.gk" '{"x":3}'
refuses 1 "'$folder/tune.gk' was compiled without -DSCALE=11, which the options of kernel 'scaled' ask for now: compile it again with these settings"
run call --backend cpu --set kernel.default.timing=true --set kernel.scaled.options= "$folder/tune.gk" '{"x":3}'
exits 0
prints '{"x":30}'
says 'was compiled without -DGYRE_TIMED=1'
run compile --backend cpu --set kernel.default.timing=true -o "$folder/timed.gk" "$folder/tune.gyre.c"
exits 0
run call --backend cpu --set kernel.default.timing=true "$folder/timed.gk" '{"x":3}'
exits 0
prints '{"x":3}'
run compile --backend cpu --set kernel.first.options=-DSCALE=10 -o "$folder/both.gk" "$folder/pair.gyre.c"
exits 4
says "the kernels 'first' and 'second' of '$folder/pair.gyre.c' are configured with different compiler options"
says "as in $folder/pair.gyre.c:first"
[[ ! -e "$folder/both.gk" ]] || fail 'a file was written'
run compile --backend cpu --set kernel.first.options=-DSCALE=10 -o "$folder/both.gk" "$folder/pair.gyre.c:first"
exits 0

# a kernel that is called otherwise than its file, and has settings of its own, is compiled once
printf '#!/bin/sh\ncase "$*" in *-shared*) echo >>"%s" ;; esac\nexec cc "$@"\n' "$folder/compiled" >"$folder/counting"
chmod +x "$folder/counting"
cp "$folder/tune.gyre.c" "$folder/other.gyre.c"
for command in compile call; do
    : >"$folder/compiled"
    run "$command" --backend cpu --set "backend.cpu.compiler=$folder/counting" --set cache_dir= \
        --set kernel.scaled.options=-DSCALE=12 "$folder/other.gyre.c" </dev/null
    exits 0
    [[ "$(wc -l <"$folder/compiled")" == 1 ]] || fail 'expected one run of the compiler'
done

# folders that killed compiles left go with the next one; not what is locked, new, or of another name
mkdir -p "$folder/temporary"/gyre-work-{Killed/deep,InWork,Recent} "$folder/temporary"/gyre-work-Another
touch -d '1 hour ago' "$folder/temporary"/gyre-work-{Killed,InWork,Another}
exec 8<"$folder/temporary/gyre-work-InWork"
flock 8
TMPDIR="$folder/temporary" run compile --backend cpu --set cache_dir= "$folder/tune.gyre.c"
exits 0
exec 8<&-
checks=$((checks + 1))
[[ "$(ls "$folder/temporary")" == $'gyre-work-Another\ngyre-work-InWork\ngyre-work-Recent' ]] ||
    fail "expected that the folder which is left goes, and no other: $(ls "$folder/temporary")"

# a brace that is missing is told with the line of the file, where there is a checker
printf '#include <gyre/kernel.h>\nGYRE_KERNEL(open, u32, u32)\n{\n    return GYRE_REPLY;\n' >"$folder/brace.gyre.c"
run compile --backend cpu "$folder/brace.gyre.c"
exits 1
[[ "$out" =~ check\ +skipped ]] || says "gyre: check: $folder/brace.gyre.c:4: expected '}'"
run compile --backend cpu --set backend.cpu.options=-lno-such-library "$folder/tune.gyre.c"
exits 4
says 'gyre: command line: options of backend '"'cpu'"': backend '"'cpu'"': compile: '
[[ "${err%%$'\n'*}" == *'no-such-library'* ]] || fail 'the first line does not say which library'
finish
