#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs what is in this folder. usage: ./run gyre ARGUMENT... | demo [MESSAGES] | conformance BACKEND [CASE...] |
# kernels BACKEND [NAME...] | shapes BACKEND [MESSAGES] | stress ARGUMENT... | stress-long BACKEND [SECONDS] | bench BACKEND ARGUMENT... | top BACKEND ARGUMENT... |
# savina BACKEND ARGUMENT... | crash BACKEND [FAULTS [SEED [fenced|plain [SETTING...]]]] | watched BACKEND [CASE...] | changes PROCESSES ROUNDS SECONDS SEED [BACKEND...] | pauses ARGUMENT... | sanitize [TOOL...] | driver-only [CASE...] | report BACKEND FOLDER [PROBES]
# Where there is no compiler, the kernels of compiled/ are taken, for the CPU or for the architecture of GPU 0.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
overlay=
trap '[[ -z "$overlay" ]] || rm -rf "$overlay"' EXIT

# set_places FOLDER: run from there, this bundle or its overlay.
set_places()
{
    bin="$1/gyre/bin"
    kernels="$1/tests/kernels"
    demo_source="$1/examples/vector_add/vector_add.gyre.c"
    export LD_LIBRARY_PATH="$1/gyre/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    export CRASH_KERNEL_FILE="$1/tests/crash/stray.gyre.c"
    export SHAPES_KERNELS="$1/tests/messages/shapes.gyre.c"
    export GYRE_TEST_KERNELS="$1/tests/conformance" GYRE_TEST_STRESS="$1/tests/stress/stress.gyre.c"
    export GYRE_TEST_SAVINA="$1/tests/savina/kernels" GYRE_TEST_CHANGES="$1/tests/changes"
}
set_places "$here"

# compiled_for BACKEND: which folder of compiled/ the backend needs on this machine; "" when it can compile.
compiled_for()
{
    local architecture compiler
    case "$1" in
    cpu) command -v cc >/dev/null || echo cpu ;;
    cuda)
        read -r architecture compiler < <("$bin/gyre" backends --why cuda 2>/dev/null |
            sed -n 's/.*compiles for *\(sm_[0-9a-z]*\) with \(.*\)/\1 \2/p' | head -n 1)
        [[ "${compiler:-}" != nothing* ]] || echo "$architecture"
        ;;
    esac
}

# prepare BACKEND: where it cannot compile, a copy of this folder in which its compiled kernels replace the sources.
prepare()
{
    local name
    name=$(compiled_for "$1")
    [[ -n "$name" ]] || return 0
    if [[ ! -d "$here/compiled/$name" ]]; then
        printf 'this machine has no compiler for %s, and the bundle has no kernels compiled for it: make one with ./dev bundle --arch %s, or --with-compilers\n' "$name" "$name" >&2
        exit 3
    fi
    printf 'no compiler here: the kernels are those compiled for %s before\n' "$name" >&2
    overlay=$(mktemp -d) && cp -r "$here/gyre" "$here/tests" "$here/examples" "$overlay/" &&
        cp -r "$here/compiled/$name/." "$overlay/" || exit 1
    set_places "$overlay"
}

# Seconds a test may take: a kernel that hangs would hold the device. One that compiles dozens of kernels with seals needs over a
# minute of a slow processor before the first of them runs.
limit="${LIMIT:-180}"
export GYRE_COMPILE_TIMEOUT_MS="${GYRE_COMPILE_TIMEOUT_MS:-150000}"

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

# reason FILE NAME: why the test is excluded (PATTERN = REASON, one a line), or nothing.
reason()
{
    local line pattern
    while IFS= read -r line; do
        pattern="${line%% = *}"
        if [[ "$line" != '#'* && "$line" == *' = '* && "$2" =~ ^($pattern)$ ]]; then
            printf '%s\n' "${line#* = }"
            return
        fi
    done <"$1"
}

# skip_excluded SUITE BACKEND TEST: true when a file excludes the test, which is then counted and told. PLATFORM: of a
# backend that runs on several, as nvidia for opencl_nvidia.txt.
skip_excluded()
{
    local file why
    for file in "$here/tests/$1/exclusions/$2.txt" "$here/tests/$1/exclusions/$2_${PLATFORM:-}.txt"; do
        [[ -r "$file" ]] || continue
        why=$(reason "$file" "$3")
        if [[ -n "$why" ]]; then
            skipped=$((skipped + 1))
            printf 'excluded %s/%s/%s: %s\n' "$1" "$2" "$3" "$why"
            return
        fi
    done
    return 1
}

# changes PROCESSES ROUNDS SECONDS SEED [BACKEND...]: campaigns side by side, each with a seed of its own. The first one that fails ends all.
changes()
{
    local processes="$1" rounds="$2" seconds="$3" seed="$4" ended campaign
    local -A seeds=()
    shift 4
    for ((campaign = 0; campaign < processes; campaign++)); do
        timeout -k 5 $((seconds + limit)) "$bin/change_campaign" devices "$rounds" $((seed + campaign)) "$seconds" "$@" &
        seeds[$!]=$((seed + campaign))
    done
    while ((${#seeds[@]})); do
        if ! wait -n -p ended; then
            printf 'FAILED: the campaign with seed %d\n' "${seeds[$ended]}" >&2
            kill "${!seeds[@]}" 2>/dev/null
            return 1
        fi
        unset "seeds[$ended]"
    done
}

finish()
{
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [[ $failed -eq 0 && $((passed + skipped)) -gt 0 ]]
}

# list_cases BACKEND: those of the conformance suite that it has to pass; where the preset knew nothing of it, all.
list_cases()
{
    awk -v backend="$1" '$1 == backend {print $2; any = 1} END {exit !any}' "$here/tests/conformance/cases" ||
        "$bin/gyre_conformance" --list
}

list_kernels()
{
    local file
    for file in "$here"/tests/kernels/cases/*.case.json; do basename "$file" .case.json; done
}

# together SUITE BACKEND: the tests that stdin lists, TOGETHER of them at once: for a platform that takes long to start
# a process. How far they are is told now and then, for whoever has to end this early.
together()
{
    local line ended=0
    while IFS= read -r line; do
        if [[ "$line" =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
            passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
            ended=$((ended + 1))
            ((ended % 50)) || printf '%d ended after %d s: %d passed, %d failed\n' "$ended" "$SECONDS" "$passed" "$failed"
        else
            printf '%s\n' "$line"
        fi
    done < <(xargs -P "$TOGETHER" -I TEST "$here/run" "$1" "$2" TEST)
    finish
}

# chosen ARGUMENT...: the backend that `--set gyre.backend=` names, else the one that `auto` takes.
chosen()
{
    local argument
    for argument; do
        if [[ "$argument" == gyre.backend=* ]]; then
            echo "${argument#*=}"
            return
        fi
    done
    "$bin/gyre" backends --json | sed -n 's/.*"choice":{[^}]*"backend":"\([a-z0-9_]*\)".*/\1/p'
}

command="${1:-help}"
shift || true
case "$command" in
gyre) exec "$bin/gyre" "$@" ;;
demo)
    prepare "$(chosen)"
    "$bin/gyre_demo" "${1:-4000000}" "$demo_source"
    ;;
stress)
    prepare "$(chosen "$@")"
    "$bin/gyre_stress" "$@"
    ;;
stress-long)
    backend="${1:?which backend?}"
    prepare "$backend"
    for mode in stream four large sizes ends neighbours; do
        timeout -k 5 "${LIMIT:-150}" "$bin/gyre_stress" --json --long --set "gyre.backend=$backend" "$mode" ||
            { failed=1; printf 'FAILED stress/%s (exit %d)\n' "$mode" $?; }
    done
    timeout -k 5 $((${2:-540} + 60)) "$bin/gyre_stress" --json --long --seconds "${2:-540}" --set "gyre.backend=$backend" flat ||
        { failed=1; printf 'FAILED stress/flat\n'; }
    exit "$failed"
    ;;
sanitize)
    # shellcheck source=scripts/bundle_checks.sh
    source "$here/checks.sh"
    prepare cuda
    (($#)) || set -- memcheck racecheck synccheck
    for tool; do
        sanitize "$tool"
    done
    finish
    ;;
driver-only)
    # shellcheck source=scripts/bundle_checks.sh
    source "$here/checks.sh"
    driver_only "$@"
    finish
    ;;
bench)
    backend="${1:?which backend?}"
    shift
    prepare "$backend"
    "$bin/gyre" bench --backend "$backend" "$@"
    ;;
top)
    backend="${1:?which backend?}"
    shift
    prepare "$backend"
    python3 "$here/top_beside_bench.py" "$@" "$bin/gyre" --backend "$backend"
    ;;
report)
    # shellcheck source=scripts/bundle_report.sh
    source "$here/report.sh"
    prepare "${1:?which backend?}"
    report "$@"
    ;;
conformance)
    backend="${1:?which backend?}"
    shift
    if [[ -n "${TOGETHER:-}" && $# -eq 0 ]]; then
        list_cases "$backend" | together conformance "$backend"
        exit
    fi
    prepare "$backend"
    mapfile -t cases < <(if (($#)); then printf '%s\n' "$@"; else list_cases "$backend"; fi)
    for case in "${cases[@]}"; do
        if [[ -n "$overlay" && $case == a_compile_error_names_file_and_line ]]; then
            skipped=$((skipped + 1))
            printf 'skipped conformance/%s/%s: there is no compiler here\n' "$backend" "$case"
            continue
        fi
        skip_excluded conformance "$backend" "$case" ||
            one "conformance/$backend/$case" "$bin/gyre_conformance" "$backend" "$case"
    done
    finish
    ;;
shapes)
    prepare "${1:?which backend?}"
    [[ $(nproc) -lt 8 ]] || export SHAPES_TOGETHER=1
    "$bin/test_shapes" "$1" "${2:-1000000}"
    ;;
crash)
    backend="${1:?which backend?}"
    prepare "$backend"
    "$bin/test_stray" "$@"
    ;;
changes) changes "${1:?how many processes?}" "${2:?how many rounds?}" "${3:?for how many seconds?}" "${4:?which seed?}" "${@:5}" ;;
pauses) exec "$bin/change_pauses" "$@" ;;
savina)
    backend="${1:?which backend?}"
    shift
    prepare "$backend"
    "$bin/savina" --backend "$backend" "$@"
    ;;
watched)
    backend="${1:?which backend?}"
    shift
    prepare "$backend"
    mapfile -t cases < <(if (($#)); then printf '%s\n' "$@"; else "$bin/test_watched" --list; fi)
    for case in "${cases[@]}"; do
        one "watched/$backend/$case" "$bin/test_watched" "$backend" "$case"
    done
    finish
    ;;
kernels)
    backend="${1:?which backend?}"
    shift
    if [[ -n "${TOGETHER:-}" && $# -eq 0 ]]; then
        list_kernels | together kernels "$backend"
        exit
    fi
    prepare "$backend"
    mapfile -t names < <(if (($#)); then printf '%s\n' "$@"; else list_kernels; fi)
    for name in "${names[@]}"; do
        skip_excluded kernels "$backend" "$name" ||
            one "kernels/$backend/$name" "$bin/run_api" "$backend" "$kernels/kernel_$name.so" "$kernels" "$name"
    done
    finish
    ;;
*)
    sed -n '3,6s/^# //p' "${BASH_SOURCE[0]}"
    exit 2
    ;;
esac
