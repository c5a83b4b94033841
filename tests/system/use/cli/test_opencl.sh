#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The OpenCL backend as a user meets it: devices, platforms that the loader dropped, a platform that crashes, refusals.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"

scale=examples/command/scale.gyre.c
export GYRE_CACHE_DIR="$folder/cache"
run call --backend opencl "$scale" '{"value":20.5,"factor":2}'
if ((code != 0)) && [[ "$err" == *unavailable* || "$err" == *"no OpenCL"* || "$err" == *"no backend"* || "$err" == *"no device"* ]]; then
    echo "no OpenCL device here: $err"
    exit 77
fi
exits 0
prints '{"scaled":41.0}'

# what the compiler counts is not said bare beside the sentence
printf '#include <gyre/kernel.h>\nGYRE_KERNEL(x, u32, u32)\n{\n    *reply = nothing;\n    return GYRE_REPLY;\n}\n' >"$folder/wrong.gyre.c"
run compile --backend opencl "$folder/wrong.gyre.c"
exits 1
says "wrong.gyre.c:4: use of undeclared identifier 'nothing'"
[[ "$err" != *" generated."* ]] || fail "a compiler's count of its errors is shown"

# auto passes over the CPU only when its plugin is broken, and says so
run call --set backend.cpu.library=/nonexistent.so "$scale" '{"value":20.5,"factor":2}'
exits 0
says "warning: backend 'cpu' cannot start, so auto chose '"
says "plugin '/nonexistent.so' does not exist"
run call --set backend.cpu.enabled=false "$scale" '{"value":20.5,"factor":2}'
[[ "$err" != *"backend 'cpu' cannot start"* ]] || fail "a backend that is turned off is no trouble"

# keyed actors: called, served and read by key, and refused
accounts=examples/command/accounts.gyre.c
export XDG_RUNTIME_DIR="$folder/session"
mkdir -p "$XDG_RUNTIME_DIR"
run call --backend opencl --blocks 3 "$accounts" '{"account":7,"cents":500}' '{"account":8,"cents":20}' \
    '{"account":7,"cents":-100}' '{"account":9,"cents":-1}'
exits 1
prints '{"cents":500,"deposits":1}'
prints '{"cents":20,"deposits":1}'
prints '{"cents":400,"deposits":2}'
prints '{"failed":{"code":1,"text":"overdrawn"}}'
: >"$folder/ready"
"$GYRE" serve --backend opencl "$accounts" >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
run call --attach accounts '{"account":7,"cents":500}' '{"account":8,"cents":20}'
exits 0
run state accounts --key 8 --json
prints '{"cents":20,"deposits":1}'
kill "$server"
wait "$server"
run call --backend opencl --set backend.opencl.mode=resident --blocks 2 "$accounts" '{"account":7,"cents":500}'
exits 1
[[ "$err" == *"is a keyed actor with 2 blocks"*"set blocks = 1 for it"* || "$err" == *"mode = resident needs"* || "$err" == *"allows at most 1"* ]] ||
    fail "expected that several blocks of a keyed actor that stays are refused: $err"
run call --backend opencl examples/command/sessions.gyre.c '{"session":1,"idle_ms":10}'
exits 0
prints '{"uses":1,"ended":0}'

# each device is listed; what the loader drops is told with the reason
vendors="$folder/vendors"
mkdir "$vendors"
cp /etc/OpenCL/vendors/*.icd "$vendors/" 2>/dev/null
echo "$folder/nowhere.so" >"$vendors/broken.icd"
: >"$vendors/empty.icd"
echo libm.so.6 >"$vendors/other.icd"
export OCL_ICD_VENDORS="$vendors"
run backends --why opencl
exits 0
prints "verdict        can start"
prints "device         0: "
prints "dropped by the OpenCL loader: broken.icd: there is no file '$folder/nowhere.so'; empty.icd: its first line"
run backends
prints "opencl: dropped by the OpenCL loader: broken.icd: there is no file '$folder/nowhere.so'; empty.icd: its first line"
prints "other.icd: its library is no OpenCL platform"
run backends --why opencl --json
prints "empty.icd: its first line names no library"
rm "$vendors/broken.icd" "$vendors/empty.icd"
printf 'lib\033[31m\377.so\n' >"$vendors/odd.icd"
mkdir "$vendors/folder.icd"
run backends --why opencl
prints "folder.icd: it cannot be read"
prints "odd.icd: 'lib?[31m?.so' does not load"
rm -r "$vendors/odd.icd" "$vendors/folder.icd"
run backends --why opencl
prints "other.icd: its library is no OpenCL platform"
rm "$vendors/other.icd"

# a platform that crashes while it is probed costs a sentence; the other backends go on
if printf '__attribute__((constructor)) static void f(void) { __builtin_trap(); }\n' |
    cc -shared -fPIC -x c - -o "$folder/crash.so" 2>/dev/null; then
    echo "$folder/crash.so" >"$vendors/crash.icd"
    run backends --why opencl
    prints "crashed while it was probed"
    run call --backend cpu "$scale" '{"value":20.5,"factor":2}'
    prints '{"scaled":41.0}'
    rm "$vendors/crash.icd"
fi
unset OCL_ICD_VENDORS
run backends --again # a crash leaves nothing behind that tells when it is over

# refusals
run call --backend opencl --set backend.opencl.platform=nobody "$scale" '{}'
says "is meant by backend.opencl platform = nobody"
OCL_ICD_VENDORS="$folder/none" run call --backend opencl "$scale" '{}'
says "finds no platform; install one"
says "or mend one of those that $folder/none names; dropped by the OpenCL loader: $folder/none: it cannot be read"
mkdir "$folder/empty"
OCL_ICD_VENDORS="$folder/empty" run backends --why opencl
prints "install one (Debian, Ubuntu: apt install pocl-opencl-icd); none is named by $folder/empty"
[[ "$out" != *'backends --why'* ]] || fail "expected no sentence that sends to itself"
POCL_DEVICES=bogus run call --backend opencl --set 'backend.opencl.platform=Portable*' "$scale" '{}'
[[ "$err" == *"without a device; see"*"POCL_DEVICES ('bogus') names none"* || "$err" == *"is meant by"* ]] ||
    fail "expected that POCL_DEVICES is named"
echo "no library" >"$folder/libOpenCL.so.1"
LD_LIBRARY_PATH="$folder" run call --backend opencl "$scale" '{}'
says "'libOpenCL.so.1' was not found in the loader's folders, or what is there does not load"
rm "$folder/libOpenCL.so.1"
run call --backend opencl --set 'backend.opencl.options=-no-such-option' "$scale" '{}'
says "options"
says "-no-such-option"
run call --backend opencl --set backend.opencl.batch=0 "$scale" '{}'
says "batch must be a number from 1 to 1048576, found '0'"
run call --backend opencl --set backend.opencl.mode=resident --set backend.opencl.transfer=staged "$scale" '{}'
says "backend.opencl.mode = resident needs a device that shares memory with the host"
run call --backend opencl --device 99 "$scale" '{}'
says "99"

# a header that says once comes in once, and its line is none that the compiler warns of
printf '#pragma once\n#include <gyre/kernel.h>\nGYRE_HELPER u64 thrice(u64 n) { return 3 * n; }\n' >"$folder/once.h"
cat >"$folder/once.gyre.c" <<'END'
#include <gyre/kernel.h>
#include "once.h"
#include "once.h"
GYRE_KERNEL(once, u64, u64)
{
    *reply = thrice(*request);
    return GYRE_REPLY;
}
END
run call --backend opencl "$folder/once.gyre.c" 4
exits 0
prints 12
[[ "$err" != *warning* ]] || fail "expected no warning of the compiler"

# its compiler works in this process, where some of what the check refuses is its end
run compile --backend opencl tests/plugins/recursive.gyre.c
if [[ ! "$out" =~ check\ +skipped ]]; then
    exits 1
    says "recursive.gyre.c:7: recursion: fibonacci -> fibonacci"
    prints "not before the check has passed it"
    run call --backend opencl tests/plugins/recursive.gyre.c 3
    exits 1
fi

# a file compiled earlier runs, and one that was changed does not
run compile --backend opencl -o "$folder/scale.kernel" "$scale"
exits 0
at="$(grep -abo poclbin "$folder/scale.kernel" | head -n 1 | cut -d: -f1)"
if [[ -n "$at" ]]; then
    run call --backend opencl "$folder/scale.kernel" '{"value":3,"factor":2}'
    prints '{"scaled":6.0}'
    cp "$folder/scale.kernel" "$folder/damaged.kernel"
    printf 'X' | dd of="$folder/damaged.kernel" bs=1 seek="$at" conv=notrunc status=none
    run call --backend opencl "$folder/damaged.kernel" '{"value":3,"factor":2}'
    ((code != 0)) || fail "a damaged file is refused by its checksum"
fi

# a fault in the handler is told, also where it ran over the end of its thread's own stack; there Linux itself finds nothing
# of what it keeps for the thread (rseq), unless glibc is told to leave that out
cat >"$folder/over.gyre.c" <<'END'
#include <gyre/kernel.h>
GYRE_KERNEL(over, u32, u32)
{
    i32 here[8];
    for (u32 i = 0; i < *request; i++)
        here[i] = (i32)i;
    *reply = (u32)here[*request - 1];
    return GYRE_REPLY;
}
END
for size in 3000 100000; do
    GLIBC_TUNABLES=glibc.pthread.rseq=0 run call --backend opencl "$folder/over.gyre.c" "$size"
    grep -qa __asan_init "$GYRE" || ((code != 139)) || says "gyre: a fault ended the program, most likely in the handler"
done
run call --backend opencl --set backend.opencl.isolation=process "$folder/over.gyre.c" 100000
((code == 0)) || says "the worker process"

# on PoCL a text is built by one process at a time: who finds its lock taken waits for it
mkdir -p "$folder/pocl"
cat >"$folder/hold.py" <<'PYTHON'
import fcntl, subprocess, sys
held = [open(f'{sys.argv[1]}/gyre-{i}.lock', 'w') for i in range(16)]
for file in held:
    fcntl.flock(file, fcntl.LOCK_EX)
caller = subprocess.Popen(sys.argv[2:])
try:
    caller.wait(2)
    sys.exit('it did not wait')
except subprocess.TimeoutExpired:
    for file in held:
        file.close()
sys.exit(caller.wait())
PYTHON
if "$GYRE" backends 2>/dev/null | grep -q "Portable Computing Language"; then
    checks=$((checks + 1))
    POCL_CACHE_DIR="$folder/pocl" GYRE_CACHE_DIR="$folder/held" python3 "$folder/hold.py" "$folder/pocl" \
        "$GYRE" call --backend opencl "$scale" '{"value":20.5,"factor":2}' >"$folder/out" 2>"$folder/err" || fail "builds do not wait: $(<"$folder/err")"
    out="$(<"$folder/out")"
    prints '{"scaled":41.0}'
fi

# what the device measured
run call --backend opencl --set backend.opencl.profile=yes --set gyre.log_level=info "$scale" '{"value":1,"factor":2}'
says "1 epochs of 1.0 messages on average; the device took"
finish
