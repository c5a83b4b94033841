#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The command where the machine says no: memory, disk, rights, time. One sentence and an exit code for each.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../use/cli/expect.sh"
program="$GYRE"
export XDG_CACHE_HOME="$folder/cache"
same="$folder/same.gyre.c"
kept="$folder/same.kernel"

# kernel NAME BODY: writes $folder/NAME.gyre.c, a kernel of that name from u32 to u32.
kernel()
{
    printf '#include <gyre/kernel.h>\n\nGYRE_KERNEL(%s, u32, u32)\n{\n%s\n    return GYRE_REPLY;\n}\n' "$1" "$2" \
        >"$folder/$1.gyre.c"
}

call()
{
    run call --backend cpu "$@" </dev/null
}

# limited LIMIT VALUE ARGUMENT...: `gyre call` under a limit of the shell's ulimit.
limited()
{
    local limit="$1" value="$2"
    shift 2
    code=0
    (ulimit "$limit" "$value" && exec "$GYRE" call --backend cpu "$@") </dev/null >"$folder/out" 2>"$folder/err" ||
        code=$?
    out="$(<"$folder/out")"
    err="$(<"$folder/err")"
    called="ulimit $limit $value; gyre call $*"
}

kernel same '    *reply = *request;'
kernel loop $'    while (*request)\n        *reply += gyre_block(gyre) + 1;\n    *reply = 1;'
run compile --backend cpu -o "$kept" "$same"
exits 0

# a limit of memory: the ring, then everything
limited -v 200000 --set queue.default.capacity=2097152 "$kept" 1
exits 1
says "gyre: queue 'same' needs 268435712 bytes of shared memory, mmap says: Cannot allocate memory"
says "use a smaller capacity"
for kib in 100000 60000 40000 30000 25000 20000; do
    limited -v "$kib" "$kept" 1
    checks=$((checks + 1))
    ((code < 126)) || fail "expected an answer or a sentence, not the end by a signal"
    ((code == 0)) || [[ "$err" == *": "* ]] || fail "expected a sentence"
done

# the limit of a control group, beyond which Linux kills: where this user may make one
group=''
for candidate in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    limit="$candidate/gyre-test-$$/memory.limit_in_bytes"
    [[ "$candidate" == */memory ]] || limit="$candidate/gyre-test-$$/memory.max"
    mkdir "$candidate/gyre-test-$$" 2>/dev/null || continue
    group="$candidate/gyre-test-$$"
    trap 'rmdir "$group"; rm -rf "$folder"' EXIT
    [[ -e "$limit" ]] && echo $((24 << 20)) >"$limit" && break
    rmdir "$group"
    group=''
done

# grouped ARGUMENT...: `gyre call` in that group.
grouped()
{
    code=0
    (echo $BASHPID >"$group/cgroup.procs" && exec "$GYRE" call --backend cpu "$@") </dev/null >"$folder/out" 2>"$folder/err" ||
        code=$?
    called="gyre call $* in a control group of 24 MiB" out="$(<"$folder/out")" err="$(<"$folder/err")"
}

# refuses_memory START ADVICE: the sentence about what needs more than the group has left.
refuses_memory()
{
    exits 1
    says "$1"
    says " memory, the control group of this process has "
    says " left of 25165824 ($limit): raise the limit of the container or unit, or $2"
}

if [[ -n "$group" ]]; then
    cat >"$folder/bound.gyre.c" <<'END'
#include <gyre/kernel.h>

#define BUFFERS(IN, INOUT) IN(u8, data)
GYRE_BUFFERS(bound_buffers, BUFFERS)

GYRE_KERNEL_WITH(bound, u32, u32, gyre_none, bound_buffers)
{
    *reply = buffers->data[*request];
    return GYRE_REPLY;
}
END
    cat >"$folder/stateful.gyre.c" <<'END'
#include <gyre/kernel.h>

#define LARGE(FIELD) FIELD(u64, words[16777216])
GYRE_MESSAGE(large, LARGE)

GYRE_ACTOR(stateful, u32, u32, large)
{
    *reply = *request + (u32)state->words[0]++;
    return GYRE_REPLY;
}
END
    for name in bound stateful; do
        run compile --backend cpu -o "$folder/$name.kernel" "$folder/$name.gyre.c"
        exits 0
    done
    grouped --set queue.default.capacity=1048576 "$kept" 1
    refuses_memory "gyre: queue 'same' needs 134" "use a smaller capacity"
    grouped --buffer data=zeros:1000 "$folder/bound.kernel" 1
    exits 0
    grouped --buffer data=zeros:134217728 "$folder/bound.kernel" 1
    refuses_memory "is memory of this machine needs 134217728 bytes of" "use a smaller buffer"
    grouped "$folder/stateful.kernel" 1
    refuses_memory "is memory of this machine needs 134217728 bytes of" "use a smaller buffer or state"
    grouped --set backend.cpu.isolation=process --buffer data=zeros:134217728 "$folder/bound.kernel" 1
    refuses_memory "the mirror of a buffer needs 134217728 bytes of shared" "use a smaller capacity, or smaller messages, buffers"
    grouped --set backend.cpu.isolation=process "$folder/stateful.kernel" 1
    refuses_memory "the mirror of a buffer needs 134217728 bytes of shared" "use a smaller capacity, or smaller messages, buffers"
    grouped --message-buffer data=zeros:134217728 "$kept" 1
    refuses_memory "is memory of this machine needs 134217728 bytes of" "use a smaller buffer"
    mkfifo "$folder/pipe"
    head -c 134217728 /dev/zero >"$folder/pipe" 2>/dev/null &
    grouped --buffer "data=$folder/pipe" "$folder/bound.kernel" 1
    wait $!
    refuses_memory "gyre: buffer file '$folder/pipe', a pipe, needs " "name a regular file"
    grouped --set queue.default.header=16 --set queue.default.levels=2 --set queue.default.capacity=131072 "$kept" 1
    refuses_memory "the line of a queue with levels needs " "use a smaller capacity"
fi
[[ -n "$group" ]] || trap 'rm -rf "$folder"' EXIT

# where addresses are limited, a platform that is installed and cannot be mapped is not called missing
run call --backend opencl "$same" 1 </dev/null
if ((code == 0)); then
    for kib in 60000 100000; do
        code=0
        (ulimit -v "$kib" && exec "$GYRE" backends --again --why opencl) >"$folder/out" 2>"$folder/err" || code=$?
        out="$(<"$folder/out")"
        err="$(<"$folder/err")"
        called="ulimit -v $kib; gyre backends --again --why opencl"
        checks=$((checks + 1))
        ((code < 126)) || fail "expected a sentence, not the end by a signal"
        prints "(ulimit -v)"
        [[ "$out" != *"install one"* ]] || fail "expected no call to install what is there"
    done
    run backends --why opencl # the limit was that process's
    prints "can start"
fi

# a limit of descriptors; below the first few not even the libraries load (127)
for count in 4 6 8 10 12; do
    limited -n "$count" --set gyre.remember_probes=false "$same" 1
    checks=$((checks + 1))
    ((code < 128 && code != 126)) || fail "expected an answer or a sentence, not the end by a signal"
    ((code == 0 || code == 127)) || [[ "$err" == "gyre: "* ]] || fail "expected a sentence"
done
rings_refused=0
for count in {4..16}; do
    limited -n "$count" --set backend.cpu.isolation=process "$kept" 1
    if [[ "$err" == *memfd_create* ]]; then
        rings_refused=$((rings_refused + 1))
        says "memfd_create says: Too many open files; raise the limit of open files (ulimit -n)"
    fi
done
checks=$((checks + 1))
((rings_refused > 0)) || fail "expected a limit at which a ring finds no descriptor"

# no descriptor is free, then one, then two
few_free()
{
    code=0
    TMPDIR="$folder/tmp" "$FEW" "$@" >"$folder/out" 2>"$folder/err" || code=$?
    out="$(<"$folder/out")"
    err="$(<"$folder/err")"
    called="few $*"
    checks=$((checks + 1))
    if ((code == 77)); then
        echo "$out"
    else
        exits 0
        prints '; raise the limit of open files (ulimit -n)'
    fi
    checks=$((checks + 1))
    [[ -z "$(ls -A "$folder/tmp")" ]] || fail "expected no folder of a compile: $(ls "$folder/tmp")"
}
mkdir "$folder/tmp"
for backend in cpu opencl; do
    few_free "$backend" "$same"
    few_free "$backend" "$same" "backend.$backend.isolation=process"
done

# a limit of the stack: messages of 64 KiB and tables of findings lie on it
small_stack()
{
    code=0
    (ulimit -s 64 && exec "$GYRE" "$@") </dev/null >"$folder/out" 2>"$folder/err" || code=$?
    out="$(<"$folder/out")"
    err="$(<"$folder/err")"
    called="ulimit -s 64; gyre $*"
}
small_stack call --backend cpu "$kept" 1
exits 0
prints 1
small_stack doctor
prints "headers "
run bench --backend cpu --case call/48 --seconds 0.01 # compiles, which needs more
small_stack bench --backend cpu --case call/48 --seconds 0.05
exits 0
: >"$folder/serving"
(ulimit -s 64 && exec "$GYRE" serve --backend cpu --socket "$folder/small" "$kept") >"$folder/serving" 2>/dev/null &
while kill -0 $! 2>/dev/null && [[ ! -s "$folder/serving" ]]; do
    sleep 0.05
done
kill $!
code=0
wait $! || code=$?
called="ulimit -s 64; gyre serve, then SIGTERM"
exits 0

# a limit of file sizes, which ends other programs with a signal: the rings are files too
limited -f 4 "$same" 1
exits 1
says "(ulimit -f)"
limited -f 64 "$kept" 1
exits 1
says "gyre: queue 'same' needs "
says "this process may make files of at most 65536 bytes (ulimit -f): raise that limit, or use a smaller capacity"

# a full disk: the cache, then -o
tiny="$folder/tiny"
mkdir "$tiny"
if unshare -rm mount -t tmpfs -o size=8k none "$tiny" 2>/dev/null; then
    cat >"$folder/on_tiny" <<'END'
mount -t tmpfs -o size=8k none "$1" || exit 99
shift
exec "$@"
END
    GYRE=unshare run -rm sh "$folder/on_tiny" "$tiny" "$program" call --backend cpu \
        --set "gyre.cache_dir=$tiny" "$same" 1 </dev/null
    exits 0
    prints 1
    says "gyre: warning: compiled kernels are not kept: '$tiny/"
    says "cannot be written: No space left on device"
    GYRE=unshare run -rm sh "$folder/on_tiny" "$tiny" "$program" compile --backend cpu \
        -o "$tiny/same.kernel" "$same"
    exits 1
    says "'$tiny/same.kernel' cannot be written: No space left on device"
    # what was there stays, a file or none
    cat >"$folder/on_full" <<'END'
mount -t tmpfs -o size=8k none "$1" && printf kept >"$1/old" || exit 99
head -c 8k /dev/zero >"$1/full" 2>/dev/null
full="$1" code=0
shift
"$@" || code=$?
cat "$full/old"
ls "$full"
exit "$code"
END
    for output in old new; do
        GYRE=unshare run -rm sh "$folder/on_full" "$tiny" "$program" wire -o "$tiny/$output" tests/kernels/wire_add.h
        exits 1
        says "cannot write '$tiny/$output': No space left on device"
        [[ "$out" == $'keptfull\nold' ]] || fail "expected the files that were there"
        GYRE=unshare run -rm sh "$folder/on_full" "$tiny" "$program" call --backend cpu \
            --message-buffer all=zeros:65536 --output-buffer "all=$tiny/$output" "$same" 1 </dev/null
        exits 1
        says "buffer file '$tiny/$output': No space left on device"
        [[ "$out" == $'1\nkeptfull\nold' ]] || fail "expected the files that were there"
    done
    # shellcheck disable=SC2016 # for the shell inside
    sed 's/size=8k/noexec/; s/^shift/export TMPDIR="$1"; shift/' "$folder/on_tiny" >"$folder/without_programs"
    GYRE=unshare run -rm sh "$folder/without_programs" "$tiny" "$program" call --backend cpu --set cache_dir= \
        "$same" 1 </dev/null
    exits 3
    says "is mounted without the right to run programs (noexec): name another place (TMPDIR is that of compiles"
    # shellcheck disable=SC2016
    sed 's/^shift/mkdir "$1\/kernels"; mount -o remount,ro "$1" || exit 99; shift/' "$folder/on_tiny" >"$folder/read_only"
    GYRE=unshare run -rm sh "$folder/read_only" "$tiny" "$program" call --backend cpu --set "gyre.cache_dir=$tiny" \
        "$same" 1 </dev/null
    exits 0
    prints 1
    says "compiled kernels are not kept: '$tiny/kernels/"
    says "cannot be written: Read-only file system"
    GYRE=unshare run -rm sh "$folder/read_only" "$tiny" "$program" doctor --backend cpu --set "gyre.cache_dir=$tiny"
    prints "$tiny/kernels: Read-only file system; kernels that are not in it are compiled at every start: make it writable"
    GYRE=unshare run -rm sh "$folder/on_tiny" "$tiny" "$program" doctor --backend cpu --set "gyre.cache_dir=$tiny"
    prints "$tiny/kernels: No space left on device; kernels that are not in it are compiled at every start: make room there"
    GYRE=unshare run -rm sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$program" call --backend cpu "$same" 1 </dev/null
    exits 0
    prints 1
else
    echo "left out: a small file system cannot be mounted here"
fi

# files without the right to read or write them; root has every right, so it becomes somebody else
somebody=()
if [[ "$(id -u)" == 0 ]]; then
    somebody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
# as_somebody ARGUMENT...: `gyre` without root's rights.
as_somebody()
{
    code=0
    HOME="$folder/home" XDG_CACHE_HOME="$folder/locked" "${somebody[@]}" "$GYRE" "$@" </dev/null \
        >"$folder/out" 2>"$folder/err" || code=$?
    out="$(<"$folder/out")"
    err="$(<"$folder/err")"
    called="gyre $*, by somebody else"
}
chmod 755 "$folder"
mkdir -p "$folder/locked/gyre" "$folder/home"
chmod 555 "$folder/locked/gyre" "$folder/locked"
if "${somebody[@]}" test -r "$(dirname "$GYRE")" && "${somebody[@]}" "$GYRE" --version >/dev/null 2>&1; then
    as_somebody call --backend cpu "$same" 1
    exits 0
    prints 1
    says "compiled kernels are not kept: the cache folder '$folder/locked/gyre"
    says "Permission denied"
    printf '[gyre]\nbackend = cpu\n' >"$folder/secret.ini"
    cp "$same" "$folder/secret.gyre.c"
    chmod 000 "$folder/secret.ini" "$folder/secret.gyre.c"
    as_somebody config --config "$folder/secret.ini"
    refuses 4 "$folder/secret.ini: cannot be read: Permission denied"
    as_somebody call --backend cpu "$folder/secret.gyre.c" 1
    exits 1
    says "$folder/secret.gyre.c"
    says "Permission denied"
else
    echo "left out: another user cannot read the folder of $GYRE"
fi

# a limit of processes and threads, which counts those of a user: of one who has no others
nobody_else=$((100000 + $$))
# with_few COUNT ARGUMENT...: becomes `gyre` of somebody who may have so many.
with_few()
{
    # shellcheck disable=SC2016 # for the shell inside
    HOME="$folder/home" XDG_CACHE_HOME="$folder/few" exec setpriv --reuid "$nobody_else" --regid 65534 --clear-groups \
        bash -c 'ulimit -u "$1" && exec "${@:2}"' bash "$1" "$GYRE" "${@:2}" </dev/null
}

# few COUNT ARGUMENT...
few()
{
    code=0
    (with_few "$@") >"$folder/out" 2>"$folder/err" || code=$?
    out="$(<"$folder/out")"
    err="$(<"$folder/err")"
    called="ulimit -u $1; gyre ${*:2}"
}

# among OTHERS COUNT ARGUMENT...: while the user has as many other processes, which are waited for: a limit counts the
# dead as long as nobody did.
among()
{
    local others="$1"
    shift
    # shellcheck disable=SC2016 # for the shell inside
    setpriv --reuid "$nobody_else" --regid 65534 --clear-groups \
        bash -c 'for ((i = 1; i < $1; i++)); do sleep 60 & done; echo; trap "kill \$(jobs -p); wait" TERM; wait' bash "$others" \
        >"$folder/others" &
    local crowd=$!
    while [[ ! -s "$folder/others" ]]; do
        sleep 0.01
    done
    few "$@"
    kill "$crowd"
    wait "$crowd"
}

# attach_to_few COUNT: to a server of such; what it said is in $err.
attach_to_few()
{
    : >"$folder/serving"
    (with_few "$1" serve --backend cpu --set gyre.socket="$folder/few/socket" --set gyre.socket_access=everyone "$kept") \
        >"$folder/serving" 2>"$folder/served" &
    local server=$!
    while kill -0 "$server" 2>/dev/null && [[ ! -s "$folder/serving" ]]; do
        sleep 0.05
    done
    run call --attach same --set gyre.socket="$folder/few/socket" 1 </dev/null
    kill "$server" 2>/dev/null
    wait "$server"
    err="$(<"$folder/served")"
}
mkdir -m 777 "$folder/few"
few 1 call --backend cpu "$kept" 1
if [[ "$err" == *"Resource temporarily unavailable"* ]]; then
    exits 3
    says "; raise the limit of processes and threads (ulimit -u, or the container's)"
    few 1 doctor
    prints "cannot be tried: cannot start '"
    checks=$((checks + 1))
    [[ "$out" != *"install the libclang"* ]] || fail "expected no blame of what is there"
    told=''
    for count in {2..16}; do
        few "$count" call --backend cpu --set backend.cpu.isolation=process "$kept" 1
        checks=$((checks + 1))
        ((code < 126)) || fail "expected an answer or a sentence, not the end by a signal"
        told+="$err"
    done
    for whom in "to watch the device of the worker process" "for calls to the worker process" "for the watchdog"; do
        err="$told" says "no thread $whom: Resource temporarily unavailable; raise the limit of processes"
    done
    told=''
    for count in {2..8}; do
        attach_to_few "$count"
        told+="$err"
    done
    err="$told" says "nobody can attach at $folder/few/socket: no thread for one more program: Resource temporarily unavailable; raise"
    # lacks BACKEND WHAT...: what a launch says that lacks a thread, one sentence of many limits
    lacks()
    {
        local backend="$1" told='' count what
        few 500 call --backend "$backend" --blocks 1 "$same" 1 # compiles
        exits 0
        for count in {2..12}; do
            few "$count" call --backend "$backend" --blocks 1 "$same" 1
            told+="$err"
        done
        for what in "${@:2}"; do
            err="$told" says "$what: Resource temporarily unavailable; raise the limit of processes and threads"
        done
    }
    lacks cpu "worker thread 1 of 1 could not be started"
    few 500 call --backend opencl "$same" 1
    ((code != 0)) || POCL_MAX_PTHREAD_COUNT=2 lacks opencl "the kernel's thread could not be started"
    if [[ -n "${EMULATOR:-}" ]]; then
        LD_LIBRARY_PATH="$EMULATOR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" lacks cuda \
            "no thread to watch over the device" "no thread to launch a kernel from"
    else
        echo "left out: there is no CUDA device made of software"
    fi
    # PoCL ends its process where it finds no thread: other processes of the user have taken them
    few 30 call --backend opencl "$same" 1
    if ((code == 0)); then
        told=''
        for others in {24..29}; do
            among "$others" 30 call --backend opencl "$same" 1
            checks=$((checks + 1))
            ((code < 126)) || fail "expected an answer or a sentence, not the end by a signal"
            told+="$err"
        done
        err="$told" says "PoCL starts "
    fi
    # the same when all was well under other limits
    few 500 call --backend opencl "$same" 1
    if ((code == 0)); then
        few 2 call --backend opencl "$same" 1
        exits 3
        says "Resource temporarily unavailable"
    fi
else
    echo "left out: a limit of processes has no effect here"
fi

# a handler that never returns: the deadline of the call, then that of the stop, and the command ends
start="$SECONDS"
call --timeout 100 --set kernel.default.stop_timeout_ms=200 "$folder/loop.gyre.c" 1
exits 5
says "the kernel did not complete message 1 of 1 within 100 ms (--timeout)"
says "gyre: loop on cpu: 1 sent, 0 answered, 0 failed"
says "kernel 'loop' did not stop in time: a handler does not return"
checks=$((checks + 1))
((SECONDS - start < 15 * patience)) || fail "expected an end within seconds"
finish
