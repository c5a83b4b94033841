#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bad input as a user of the command meets it, with its exit code: kernel files, launches, queues, limits. A sentence for
# each way into the command; what the layers below tell apart is tested there (../../failure/bad_input.md).
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
backend="${BACKEND:-cpu}"
export XDG_CACHE_HOME="$folder/cache"

call()
{
    run call --backend "$backend" "$@" </dev/null
}

# kernel NAME TEXT: writes $folder/NAME.gyre.c, with the dialect's header in line 1.
kernel()
{
    printf '#include <gyre/kernel.h>\n%s\n' "$2" >"$folder/$1.gyre.c"
}

# fails EXIT TEXT...: one line on stderr with all the texts, nothing on stdout.
fails()
{
    local text
    exits "$1"
    shift
    for text in "$@"; do
        says "$text"
    done
    checks=$((checks + 1))
    [[ "$err" == "gyre: "* && "$err" != *$'\n'* && -z "$out" ]] || fail "expected one line on stderr and no more"
}

body='{ return GYRE_NO_REPLY; }'
kernel good "GYRE_KERNEL(good, u16, u8) $body"
kernel actor "GYRE_ACTOR(actor, u16, u8, gyre_none) $body"

# kernel files
call "$folder/missing.gyre.c" 1
fails 1 "$folder/missing.gyre.c"
kernel wrong $'GYRE_KERNEL(x, u8, u8)\n{\n    return nothing;\n}'
call "$folder/wrong.gyre.c" 1
fails 1 "wrong.gyre.c:4: " "nothing"
call "$folder/good.gyre.c:god" 1
fails 1 "there is no kernel 'god'" "did you mean 'good'?"
# a key of shards is looked up although the command opens none
call --set queue.good.shard=key --set queue.good.key=nofield "$folder/good.gyre.c" 1
fails 4 "command line: shards 'good' of kernel 'good': the key 'nofield': 'u16' has no field 'nofield'"
# a source that the configuration names is a mistake of the configuration
call --set kernel.there.source="$folder/missing.gyre.c" there 1
fails 4 "command line: discover: kernel file '$folder/missing.gyre.c' cannot be opened"
call --set kernel.there.source="$folder/good.gyre.c:god" there 1
fails 4 "command line: verify: there is no kernel 'god' in '$folder/good.gyre.c'" "did you mean 'good'?"
# ... and tells of a comment that is none
cp "$folder/good.gyre.c" "$folder/good_1.gyre.c"
for value in 'source = good_1.gyre.c # the first' 'source = good_1.gyre.c:good # the first' $'source = good_1.gyre.c\nlanes = 4\t# of a block'; do
    printf '[kernel.there]\n%s\n' "$value" >"$folder/commented.ini"
    call --config "$folder/commented.ini" there 1
    fails 4 "$folder/commented.ini:" " (behind a value ' ;' begins a comment, and '#' is part of the value)"
done
# a section for nobody
run call --backend "$backend" --set queue.TYPO.capacity=8 "$folder/good.gyre.c" 1
exits 0
says "warning: command line: [queue.TYPO] is for no queue here; the kernel and its queue are named 'good'"
# ... also in the file that is given, unless a kernel with a source or a pipeline has that name
printf '[kernel.other]\nsource = other.gyre.c\n[queue.other]\ncapacity = 8\n[queue.elsewhere]\ncapacity = 8\n' >"$folder/own.ini"
printf '[kernel.nowhere]\nlanes = 1\n' >>"$folder/own.ini"
run call --backend "$backend" --config "$folder/own.ini" "$folder/good.gyre.c" 1
exits 0
says "warning: $folder/own.ini:6: [queue.elsewhere] is for no queue here; the kernel and its queue are named 'good'"
says "warning: $folder/own.ini:8: [kernel.nowhere] is for no kernel here; the kernel and its queue are named 'good'"
checks=$((checks + 1))
[[ "$err" != *"other]"* ]] || fail "warned of another kernel that is configured"
GYRE_CONFIG="$folder/own.ini" run call --backend "$backend" "$folder/good.gyre.c" 1
says "own.ini:6: [queue.elsewhere] is for no queue here"
# a header that is too long is not read before it is refused
truncate -s 64G "$folder/long.h"
code=0 called="gyre messages of a header of 64 GiB"
timeout $((20 * patience)) "$GYRE" messages --backend "$backend" "$folder/long.h" >"$folder/out" 2>"$folder/err" || code=$?
out="$(<"$folder/out")" err="$(<"$folder/err")"
refuses 1 "header '$folder/long.h' is longer than 4194304 bytes, which are the limit"
rm "$folder/long.h"

# compilers (the CPU backend's; others bring their own)
if [[ "$backend" == cpu ]]; then
    printf '#!/bin/sh\nsleep 30\n' >"$folder/hangs"
    chmod +x "$folder/hangs"
    call --set backend.cpu.compiler="$folder/hangs" --set gyre.compile_timeout_ms=200 "$folder/actor.gyre.c" 1
    fails 5 "the C compiler '$folder/hangs' did not end"
    call --set backend.cpu.compiler="$folder/no_compiler" "$folder/actor.gyre.c" 1
    fails 3 "$folder/no_compiler"
fi

# lanes and blocks
call --lanes 0 "$folder/good.gyre.c" 1
fails 2 "--lanes: expected a whole number from 1"
call --blocks x "$folder/good.gyre.c" 1
fails 2 "--blocks: expected a whole number from 1"
call --lanes 100000 "$folder/good.gyre.c" 1
fails 1 "100000 lanes" "at most"
call --blocks 100000000 "$folder/good.gyre.c" 1
fails 1 "100000000 blocks" "at most"
call --lanes 4 "$folder/actor.gyre.c" 1
fails 1 "kernel 'actor' is an actor" "4 lanes"
printf '[kernel.default]\nblocks = 3\n' >"$folder/shape.ini"
call --config "$folder/shape.ini" "$folder/actor.gyre.c" 1
fails 4 "shape.ini:2: blocks = 3 of [kernel.default] does not fit kernel 'actor', an actor" "set blocks = 1 in [kernel.actor]"
call --config "$folder/shape.ini" --set kernel.actor.blocks=1 "$folder/actor.gyre.c" 1
exits 0
call --set kernel.default.lanes=4 "$folder/actor.gyre.c" 1
fails 4 "command line: lanes = 4 of [kernel.default] does not fit" "set lanes = 1 in [kernel.actor]"
call --set kernel.actor.lanes=4 "$folder/actor.gyre.c" 1
fails 4 "command line: lanes = 4 of [kernel.actor] does not fit"

# a handler that faults ends the program, and not silently
if [[ "$backend" == cpu ]]; then
    kernel crash $'GYRE_KERNEL(x, u32, u32)\n{\n    *reply = 1000 / *request;\n    return GYRE_REPLY;\n}'
    call "$folder/crash.gyre.c" 1 0 2>/dev/null
    checks=$((checks + 1))
    ((code != 0)) || fail "expected a failure"
    [[ "$code" != 136 ]] || says "gyre: a fault ended the program, most likely in the handler"
    # what was answered before the fault is there; a sanitizer ends the program in its own way
    kernel third $'GYRE_KERNEL(x, u32, u32)\n{\n    *reply = 6 / (3 - *request);\n    return GYRE_REPLY;\n}'
    for ((attempt = 0; attempt < 20 && code == 136; attempt++)); do
        call "$folder/third.gyre.c" 1 2 3 2>/dev/null
        [[ "$out" == $'3\n6' ]] || fail "expected the replies before the fault"
    done
    # so does one that ends the program itself, which the check of the dialect would refuse
    sanitized="$(nm -D "$GYRE" 2>/dev/null | grep -E '__(a|t)san_init' || true)"
    for leave in exit _exit _Exit quick_exit; do
        [[ "$leave" != _* || -z "$sanitized" ]] || continue
        kernel leaves "extern void $leave(int);"$'\nGYRE_KERNEL(x, u32, u32)\n{\n    if (*request == 3)\n        '"$leave"$'(0);\n    *reply = *request;\n    return GYRE_REPLY;\n}'
        call --set gyre.check=off "$folder/leaves.gyre.c" 1 2 3
        exits 1
        says "gyre: a handler ended the program by exit, and what was not answered by then will not be"
        checks=$((checks + 1))
        [[ "$out" == $'1\n2' ]] || fail "expected the replies before the end by $leave"
    done
    # also where the thread that prints them gets a processor late
    sed 's/^GYRE_KERNEL/extern int usleep(u32);\n&/; s/^    \*reply/    usleep(50000);\n&/' "$folder/leaves.gyre.c" >"$folder/late.gyre.c"
    GYRE_FAULTS=ring.park=delay:700@1+ call --set gyre.check=off "$folder/late.gyre.c" 1 2 3
    exits 1
    checks=$((checks + 1))
    [[ "$out" == $'1\n2' ]] || fail "expected the replies before the end, printed late"
    # a child that it forks may leave
    kernel forks $'extern int fork(void);\nextern void _exit(int);\nGYRE_KERNEL(x, u32, u32)\n{\n    if (fork() == 0)\n        _exit(0);\n    *reply = *request;\n    return GYRE_REPLY;\n}'
    call --set gyre.check=off "$folder/forks.gyre.c" 1 2
    exits 0
    checks=$((checks + 1))
    [[ "$out" == $'1\n2' && "$err" != *"by exit"* ]] || fail "expected two replies and no word of an end"
    # a signal that it sends itself ends the program as well, and is not told as a fault
    for signal in 6:134:ABRT 11:139:SEGV 8:136:FPE; do
        IFS=: read -r number status name <<<"$signal"
        kernel raises $'extern int raise(int);\nGYRE_KERNEL(x, u32, u32)\n{\n    if (*request == 3)\n        raise('"$number"$');\n    *reply = *request;\n    return GYRE_REPLY;\n}'
        [[ -z "$sanitized" ]] || continue
        call --set gyre.check=off "$folder/raises.gyre.c" 1 2 3 4 2>/dev/null
        exits "$status"
        says "gyre: a handler, or another process, sent this program the signal SIG$name"
        checks=$((checks + 1))
        [[ "$out" == $'1\n2' ]] || fail "expected the replies before the signal, and no more"
    done
    # a lane that needs more stack than it has
    kernel deep $'GYRE_BLOCK_KERNEL(x, u32, u32, gyre_none)\n{\n    volatile u8 big[300000];\n    big[0] = 1;\n    gyre_barrier(gyre);\n    *reply = big[0];\n    return GYRE_REPLY;\n}'
    call "$folder/deep.gyre.c" --lanes 4 1 2>/dev/null
    checks=$((checks + 1))
    ((code != 0)) || fail "expected a failure"
    [[ "$code" != 139 ]] || says "locals beyond backend.cpu lane_stack, or, with opencl, a barrier that not all lanes meet"
fi

# mistakes of configuration: 4, also where the backend finds them
if [[ "$backend" == cpu ]]; then
    call --set backend.cpu.pin=9999 "$folder/good.gyre.c" 1
    fails 4 "backend 'cpu' cannot start: command line: backend.cpu pin names processor 9999"
    # a value of no known result
    kernel seven $'GYRE_KERNEL(seven, u8, u8)\n{\n    return 7;\n}'
    call "$folder/seven.gyre.c" 1
    exits 1
    prints "it returned no GYRE_REPLY or GYRE_NO_REPLY"
fi
call --set queue.goud.durability=journal --set gyre.journal_dir="$folder" "$folder/good.gyre.c" 1
fails 4 "[queue.goud] asks for durability = journal and is for no queue that is known" "did you mean [queue.good]?"
call --set gyre.plugin_dir=/nowhere "$folder/good.gyre.c" 1
fails 3 "'/nowhere/gyre-$backend.so' does not exist" "or \`plugin_dir\` = /nowhere (command line)"

# queues
kernel wide $'#define WIDE(F) F(u8, a[65536])\nGYRE_MESSAGE(wide, WIDE)\n'"GYRE_KERNEL(x, wide, u8) $body"
call --set queue.default.capacity=1073741824 "$folder/wide.gyre.c" 1
fails 1 "shared memory" "use a smaller capacity"

# limits: disk, cache folder, memory
buffers=tests/system/use/cli/kernels/kinds.gyre.c:count
head -c 12 /dev/zero >"$folder/zeros"
# the sanitizers would rather stop the program than let an allocation fail, and say that they do not
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:allocator_may_return_null=1"
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:allocator_may_return_null=1"
call "$buffers" --buffer weights="$folder/zeros" --buffer counts=zeros:1000000000000000 '{"value":0}'
exits 1
says "no memory for a buffer of 1000000000000000 bytes"
if [[ -c /dev/full ]]; then
    call "$buffers" --buffer weights="$folder/zeros" --buffer counts=zeros:12 --output-buffer counts=/dev/full \
        '{"value":0}'
    exits 1
    says "gyre: buffer file '/dev/full': No space left on device"
fi
XDG_CACHE_HOME=/proc/no_such_folder call "$folder/good.gyre.c" 1
exits 0
says "compiled kernels are not kept: the cache folder '/proc/no_such_folder/"

# no name where one is expected, a compiler that is none, output that cannot be written
for command in compile messages call serve wire encode decode; do
    run "$command" --backend "$backend" '' </dev/null
    checks=$((checks + 1))
    [[ "$code" == [12] && "$err" == "gyre: "*"expected "* && "$err" != *gyre_types_load* ]] || fail "expected a sentence"
done
call --attach '' 1
exits 2
says "--attach: expected a value, found an empty text"
run compile --backend cpu --set backend.cpu.compiler=/bin/true --set cache_dir= "$folder/good.gyre.c" </dev/null
exits 1
says "the C compiler '/bin/true' reported success and wrote nothing"
if [[ -c /dev/full ]]; then
    run wire --backend "$backend" -o /dev/full "$folder/wide.gyre.c" </dev/null
    exits 1
    says "cannot write '/dev/full': No space left on device"
fi

# a wire form without the functions that convert
run compile --backend "$backend" --set queue.default.wire=memorypack "$folder/wide.gyre.c" </dev/null
exits 1
says "include what \`gyre wire FILE\` writes behind the messages' header"

# one that does not fit a slot beside the messages that the kernel decodes
printf '#include <gyre/message.h>\n#define WIDE(FIELD) FIELD(utf8, text)\nGYRE_MESSAGE_TAIL(wide_text, WIDE, 40000)\n' >"$folder/tail.h"
printf '#include <gyre/kernel.h>\n#include "tail.h"\n#include "tail_wire.h"\nGYRE_KERNEL(tail, wide_text, wide_text)\n{\n    return GYRE_REPLY;\n}\n' >"$folder/tail.gyre.c"
run wire -o "$folder/tail_wire.h" "$folder/tail.h"
exits 0
run config --backend "$backend" --set queue.default.wire=memorypack --memory "$folder/tail.gyre.c"
exits 1
says "the reply of kernel 'tail': the wire form of 'wide_text' takes 40009 bytes, 120048 in a slot with what the kernel keeps beside it, and at most 65536 are allowed; give the kernel's messages smaller tails"

# a message of the wrong type or size
call "$folder/good.gyre.c" 65536
exits 1
says "request 1: expected an integer from 0 to 65535 (u16), found 65536"
call "$folder/good.gyre.c" '{"value":1}'
exits 1
says "request 1: expected an integer from 0 to 65535 (u16), found an object"

# names that are no UTF-8, which JSON cannot have: the documents are whole
badly=$'d \xff' whole=$'d \xef\xbf\xbd'
mkdir "$folder/$badly"
kernel "$badly/named" "GYRE_KERNEL(named, u16, u8) $body"
run compile --backend "$backend" --json "$folder/$badly/named.gyre.c" </dev/null
exits 0
prints "\"file\":\"$folder/$whole/named.gyre.c\""
prints '"kernels":[{"name":"named"'
run messages --backend "$backend" --json "$folder/$badly/named.gyre.c" </dev/null
exits 0
prints "{\"file\":\"$folder/$whole/named.gyre.c\",\"types\":["
run cache list --json
exits 0
prints "\"source\":\"$folder/$whole/named.gyre.c\""
XDG_CONFIG_HOME="$folder/$badly" run config --json dropin_dir
exits 0
prints "$folder/$whole/gyre/plugins.d\",\"origin\":\"default\"}"
XDG_CACHE_HOME="$folder/$badly" run doctor --backend "$backend" --json
prints "\"what\":\"cache\",\"about\":\"0 compiled kernels, 0 of at most "
prints "in $folder/$whole/gyre/kernels"
if [[ -c /dev/full ]]; then
    code=0 out='' called="gyre compile --json to a full disk"
    "$GYRE" compile --backend "$backend" --json "$folder/good.gyre.c" >/dev/full 2>"$folder/err" || code=$?
    err="$(<"$folder/err")"
    exits 1
fi

# a backend that a link to the null device disables, and a program that was started without a PATH
mkdir -p "$folder/dropins"
ln -s /dev/null "$folder/dropins/cpu.ini"
run call --set "gyre.dropin_dir=$folder/dropins" --backend cpu "$folder/good.gyre.c" 1 </dev/null
exits 3
says "it is disabled: its drop-in '$folder/dropins/cpu.ini' is a link to the null device"
path="$PATH"
unset PATH
call "$folder/good.gyre.c" 1
export PATH="$path"
exits 0

# a kernel is served twice only under two names, which sections give
run serve --backend "$backend" --socket "$folder/twice.sock" "$folder/good.gyre.c" "$folder/good.gyre.c"
exits 1
says "is launched already; give this one another name, that of a section [kernel.OTHER] with source = FILE"
finish
