#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The OpenCL backend on devices that lack something, by way of the fake loader (fake_loader.c): each lack is a sentence,
# or made up for. Exits 77 where there is no device at all.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../use/cli/expect.sh"

scale=examples/command/scale.gyre.c
export GYRE_CACHE_DIR="$folder/cache"
export LD_LIBRARY_PATH="${FAKE_FOLDER:?where the fake loader is}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
run backends --why opencl
if [[ "$out" != *"can start"* ]]; then
    echo "no OpenCL device here"
    exit 77
fi
prints "vendor library $FAKE_FOLDER/libOpenCL.so.1"

# Where the driver's optimizer has no part in what is asked it is left out: it takes half the time of a compile.
quickly=-cl-opt-disable
export GYRE_BACKEND__OPENCL__OPTIONS="$quickly"

# with WHAT CASE...: the conformance cases pass on a device that lacks it.
with()
{
    local lacking="$1" case
    shift
    for case; do
        checks=$((checks + 1))
        called="gyre_conformance opencl $case without $lacking"
        FAKE_OPENCL="$lacking" "$CONFORMANCE" opencl "$case" >"$folder/out" 2>"$folder/err" || {
            code=$? out="$(<"$folder/out")" err="$(<"$folder/err")"
            fail "expected it to pass"
        }
    done
}

# what a device does not have is a sentence at the user's line
FAKE_OPENCL=no_f64 run compile --backend opencl -o "$folder/f64.kernel" tests/kernels/math_f64.gyre.c
exits 1
says "math_f64"
says "this device has no f64: it lacks the extension cl_khr_fp64"
FAKE_OPENCL=no_i64_atomics run compile --backend opencl -o "$folder/atomics.kernel" tests/kernels/atomics.gyre.c
exits 1
says "atomics.gyre.c:"
says "this device has no atomics on 64-bit integers: it lacks the extension cl_khr_int64"
FAKE_OPENCL=no_i64_atomics run call --backend opencl "$scale" '{"value":20.5,"factor":2}'
prints '{"scaled":41.0}'

# a driver that refuses the binary in the cache: compiled again, told, and right
run call --backend opencl "$scale" '{"value":3,"factor":2}'
prints '{"scaled":6.0}'
FAKE_OPENCL=no_binaries run call --backend opencl --set gyre.log_level=info "$scale" '{"value":4,"factor":2}'
prints '{"scaled":8.0}'
says "refuses the binary in '$GYRE_CACHE_DIR"
says "compiled again from the source in it"

# what PoCL makes of a handler depends on how it takes work-groups: what it made in another way is not taken
run compile --backend opencl "$scale"
prints "cache: hit"
POCL_WORK_GROUP_METHOD=workitemloops run compile --backend opencl "$scale"
prints "cache: miss"

# memory of its own, coarse-grained: messages name buffers all the same, and what is freed is not touched. (With memory of the
# host that kernels reach it is conformance/opencl_gathered.)
with far,copied_only messages_name_buffers a_freed_buffer_is_not_found handlers_write_named_buffers a_thousand_buffers_have_names

# what is under way there and back is more than where messages stay, so a queue that says nothing has room for more
FAKE_OPENCL=far run config --backend opencl --memory "$scale"
prints "scale  scale       8192 "
FAKE_OPENCL=far run config --backend opencl --set queue.default.capacity=64 --memory "$scale"
prints "scale  scale         64 "
run config --backend opencl --memory "$scale"
prints "scale  scale       1024 "

FAKE_OPENCL=far run call --backend opencl --set backend.opencl.mode=resident "$scale" '{}'
says "reports no fine-grained shared virtual memory: set mode = epochs"

# more lanes than the driver runs the kernel with: block kernels say so, others come in smaller groups
checks=$((checks + 1)) called="gyre_conformance opencl lanes_meet_at_barriers"
if FAKE_OPENCL=far,few_lanes "$CONFORMANCE" opencl lanes_meet_at_barriers >"$folder/out" 2>"$folder/err"; then
    fail "expected a refusal"
fi
err="$(<"$folder/err")"
says "kernel 'neighbours': a block of 1000 lanes does not fit device"
says "which runs this kernel with at most 256; launch fewer lanes"
FAKE_OPENCL=far,few_lanes run call --backend opencl --set kernel.scale.lanes=1000 "$scale" '{"value":9,"factor":2}'
prints '{"scaled":18.0}'

unset GYRE_BACKEND__OPENCL__OPTIONS
# lanes that parted at a barrier, and then none completes the message, or none says why: a sentence, not what the slot held before
run call --backend opencl --lanes 64 --set queue.default.capacity=2 tests/system/failure/lacking/parted.gyre.c '{"how":0}' '{"how":3}' '{"how":1}' \
    '{"how":2}' '{"how":1}' '{"how":4}'
exits 1
parted='{"failed":{"code":-3,"text":"no lane tells why: did some miss a barrier?"}}'
prints '{"how":0}
{"how":3}
'"$parted
$parted
$parted"'
{"how":4}'
says "6 sent, 3 answered, 3 failed"

# a block kernel that PoCL's optimizer makes wrong: by default it does not get it
barriers=tests/system/failure/lacking/barriers.gyre.c:many_barriers
v=$(seq -s , -500 41 1100)
request="{\"n\":1,\"v\":[$v],\"w\":[0,1,2,3,4,5,6],\"q\":90}"
run call --backend cpu --lanes 64 "$barriers" "$request"
exits 0
right="$out"
run call --backend opencl --lanes 64 "$barriers" "$request"
exits 0
prints "$right"

# lanes that meet nobody need no barriers, and keep the optimizer, also in a file with a block kernel
mixed=examples/messages/messages.gyre.c
line='{"author":"A","text":"a b"}'
batch='{"symbol":"GYR","ticks":[{"time":1,"price":2.5,"size":10},{"time":2,"price":1.5,"size":4}]}'
summary='{"low":1.5,"high":2.5,"volume":14,"symbol":"GYR"}'
FAKE_OPENCL=no_plain run call --backend opencl --set backend.opencl.optimize_blocks=no --lanes 64 "$mixed:ticks" "$batch"
exits 1
says "refuses its options"
for mode in epochs resident; do
    export GYRE_BACKEND__OPENCL__OPTIMIZE_BLOCKS=no
    FAKE_OPENCL=no_plain run call --backend opencl --set "backend.opencl.mode=$mode" "$mixed:chat" "$line"
    exits 0
    prints '{"words":2,"text":"A B"}'
    FAKE_OPENCL=no_plain run call --backend opencl --set "backend.opencl.mode=$mode" --lanes 1 "$mixed:ticks" "$batch"
    exits 0
    prints "$summary"
    unset GYRE_BACKEND__OPENCL__OPTIMIZE_BLOCKS
done
run call --backend opencl --set backend.opencl.mode=resident "$mixed:ticks" "$batch"
prints "$summary"
run call --backend opencl --set backend.opencl.mode=resident --lanes 64 "$mixed:ticks" "$batch"
exits 1
says "whose 64 lanes would wait for messages at barriers"
says "set lanes = 1 for it"

# PoCLs differ in what is right for lanes that meet: the way of work-groups goes by the version, unless the user chose; and
# where none is, a block has one lane
for version in pocl5=cbs pocl6=loops; do
    FAKE_OPENCL="${version%=*}" run backends --why opencl
    prints "work-groups by ${version#*=},"
    FAKE_OPENCL="${version%=*}" POCL_WORK_GROUP_METHOD=workitemloops run backends --why opencl
    prints "work-groups by workitemloops,"
done
FAKE_OPENCL=pocl6,no_plain run call --backend opencl "$mixed:ticks" "$batch"
exits 0
prints "$summary"
FAKE_OPENCL=pocl6,no_plain run call --backend opencl --lanes 2 "$mixed:ticks" "$batch"
exits 1
says "refuses its options"

# a loop that would have no end with 0 lanes, which the compiler has to know of not to be
run call --backend opencl --set backend.opencl.optimize_blocks=yes tests/system/failure/lacking/one_cell.gyre.c '{"how":5}' '{"how":6}'
exits 0
prints '{"how":5}
{"how":6}'

export GYRE_BACKEND__OPENCL__OPTIONS="$quickly"
# a compiler that fails and says nothing is asked again: PoCL 5 does so while another process builds the same
FAKE_OPENCL=stumbles GYRE_CACHE_DIR="$folder/stumbled" run call --backend opencl "$scale" '{"value":3,"factor":2}'
prints '{"scaled":6.0}'
FAKE_OPENCL=mute GYRE_CACHE_DIR="$folder/mute" run call --backend opencl "$scale" '{"value":3,"factor":2}'
exits 1
says "failed 3 times and said nothing"

# threads of the platform that sleep until something else is enqueued
for way in direct staged; do
    FAKE_OPENCL=sleepy run call --backend opencl --set "backend.opencl.transfer=$way" "$scale" '{"value":5,"factor":2}'
    prints '{"scaled":10.0}'
done
FAKE_OPENCL=sleepy run call --backend opencl --set backend.opencl.mode=resident "$scale" '{"value":6,"factor":2}'
prints '{"scaled":12.0}'

# work that is over long before the driver says so: its slots hold later messages by then
with late a_small_queue_is_used_again_and_again

# a command that fails on the device: the kernel ends with the reason, and who sleeps wakes up, whatever its deadline
for idle in adaptive park; do
    FAKE_OPENCL=dies run call --backend opencl --timeout 0 --set "queue.default.idle=$idle" "$scale" \
        '{"value":1,"factor":2}' '{"value":2,"factor":2}' '{"value":3,"factor":2}' '{"value":4,"factor":2}'
    ((code != 0)) || fail "expected a failure"
    says "clEnqueueNDRangeKernel failed with -5 (CL_OUT_OF_RESOURCES)"
    says "the device behind queue 'scale' died"
done

# a command of the last stage fails: the client waits at the first one, which has nothing to do
for idle in adaptive park; do
    FAKE_OPENCL=book_dies run call --backend opencl --timeout 0 --set "queue.default.idle=$idle" \
        --config examples/pipeline/gyre.ini --pipeline orders '{"item":2,"count":3}'
    ((code != 0)) || fail "expected a failure"
    says "the device behind queue 'orders' died"
done
finish
