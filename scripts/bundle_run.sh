#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs what is in this folder. usage: ./run gyre ARGUMENT... | demo [MESSAGES] | conformance BACKEND [CASE...] |
# kernels BACKEND [NAME...] | stress ARGUMENT...
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LD_LIBRARY_PATH="$here/gyre/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export GYRE_TEST_KERNELS="$here/tests/conformance" GYRE_TEST_STRESS="$here/tests/stress/stress.gyre.c"
bin="$here/gyre/bin"
limit="${LIMIT:-60}" # seconds a test may take: a kernel that hangs would hold the device

# one NAME COMMAND...: runs it, counts it, shows the end of what it said when it failed.
passed=0 failed=0 skipped=0
one()
{
    local name="$1" output status
    shift
    output=$(timeout -k 5 "$limit" "$@" 2>&1)
    status=$?
    case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)); printf 'skipped %s: %s\n' "$name" "$output" ;;
    *)
        failed=$((failed + 1))
        printf 'FAILED %s (exit %d)\n' "$name" "$status"
        tail -n 4 <<<"$output" | sed 's/^/    /'
        ;;
    esac
}

finish()
{
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [[ $failed -eq 0 && $((passed + skipped)) -gt 0 ]]
}

command="${1:-help}"
shift || true
case "$command" in
gyre) exec "$bin/gyre" "$@" ;;
demo) exec "$bin/gyre_demo" "${1:-4000000}" "$here/examples/vector_add/vector_add.gyre.c" ;;
stress) exec "$bin/gyre_stress" "$@" ;;
conformance)
    backend="${1:?which backend?}"
    shift
    mapfile -t cases < <(if (($#)); then printf '%s\n' "$@"; else "$bin/gyre_conformance" --list; fi)
    for case in "${cases[@]}"; do
        one "conformance/$backend/$case" "$bin/gyre_conformance" "$backend" "$case"
    done
    finish
    ;;
kernels)
    backend="${1:?which backend?}"
    shift
    mapfile -t names < <(if (($#)); then printf '%s\n' "$@"; else
        for file in "$here"/tests/kernels/cases/*.case.json; do basename "$file" .case.json; done
    fi)
    for name in "${names[@]}"; do
        one "kernels/$backend/$name" "$bin/run_api" "$backend" "$here/tests/kernels/kernel_$name.so" \
            "$here/tests/kernels" "$name"
    done
    finish
    ;;
*)
    sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}"
    exit 2
    ;;
esac
