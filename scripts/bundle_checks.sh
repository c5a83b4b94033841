# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What of the CUDA backend can only be seen on a GPU host: bounded runs under the vendor's compute-sanitizer, and a host
# that has a driver and no compiler. Sourced by `run`, which sets `bin`, `here`, `overlay` and `demo_source`, and counts in
# `one`.

# shellcheck disable=SC2154 # bin, here, overlay, demo_source, limit, passed, failed, skipped

# sanitizer: where compute-sanitizer is; fails when it is nowhere.
sanitizer()
{
    command -v compute-sanitizer || ls "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" 2>/dev/null
}

# sanitize TOOL: a bounded run of each form of kernel under it: lanes in lines, lanes staged, blocks that meet at
# barriers, an actor; and kernels that come and go. Only cases with the kernel's own queue: what is registered while a
# kernel is resident, memcheck does not know, and it takes each access for a fault. racecheck knows barriers, but not
# what warps hand over by atomics: for messages beyond a line each worker delivers its own replies there.
sanitize()
{
    local program case options tool="$1"
    if ! program=$(sanitizer); then
        printf 'skipped sanitize/%s: compute-sanitizer is not on this machine\n' "$tool"
        skipped=$((skipped + 1))
        return
    fi
    local watched=("$program" --tool "$tool" --error-exitcode 86 --print-level error --print-limit 5)
    for case in small_messages_stream_in_order messages_of_1024_bytes blocks_reply_in_the_order_of_requests \
        lanes_meet_at_barriers an_actor_sees_messages_in_order relaunch_starts_over_with_the_initial_state; do
        options=
        [[ "$tool/$case" != racecheck/messages_of_1024_bytes ]] || options=-DGYRE_POST_ALONE=1
        GYRE_BACKEND__CUDA__OPTIONS="$options" one "sanitize/$tool/$case" "${watched[@]}" "$bin/gyre_conformance" cuda "$case"
    done
}

# without_compiler COMMAND...: it succeeds with the driver in the process, and neither the vendor's compiler nor its linker.
without_compiler()
{
    local folder status
    folder=$(mktemp -d)
    LD_DEBUG=files LD_DEBUG_OUTPUT="$folder/loaded" timeout -k 5 "$limit" "$@"
    status=$?
    grep -hoE 'lib(cuda|nvrtc|nvJitLink)\.so[^ ;]*' "$folder"/loaded.* | sort -u >"$folder/seen"
    printf 'in the process: %s\n' "$(tr '\n' ' ' <"$folder/seen")"
    grep -q libcuda "$folder/seen" && ! grep -qE 'nvrtc|nvJitLink' "$folder/seen" || status=1
    rm -rf "$folder"
    return "$status"
}

# request_of_demo: 25 and 25 numbers.
request_of_demo()
{
    local numbers
    numbers=$(seq -s, 1 25)
    printf '{"a":[%s],"b":[%s]}' "$numbers" "$numbers"
}

# call_without_compiler: one message through a kernel that was compiled into the bundle, with the right sums.
call_without_compiler()
{
    local output
    if output=$(without_compiler "$bin/gyre" call "$demo_source" --backend cuda "$(request_of_demo)" 2>&1) &&
        grep -qE '"sum":\[2(\.0)?,4.*,50(\.0)?\]' <<<"$output"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED driver-only/call\n'
    fi
    printf '    %s\n' "${output//$'\n'/$'\n'    }"
}

# driver_only [CASE...]: as on a host that has a driver and no compiler: NVRTC is looked for where it is not, and the
# kernels are those that were compiled into the bundle.
driver_only()
{
    local case
    export GYRE_BACKEND__CUDA__NVRTC="$here/no-such-compiler"
    prepare cuda
    if [[ -z "$overlay" ]]; then
        printf 'FAILED driver-only: a compiler was found although none was to be\n'
        failed=1
        return
    fi
    call_without_compiler
    (($#)) || set -- launch_call_close messages_of_1024_bytes lanes_meet_at_barriers an_actor_sees_messages_in_order
    for case; do
        one "driver-only/conformance/$case" "$bin/gyre_conformance" cuda "$case"
    done
    one driver-only/stress "$bin/gyre_stress" --set gyre.backend=cuda --count 100000 stream
}
