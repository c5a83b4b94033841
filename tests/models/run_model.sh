#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run_model.sh [NAME...]     checks these rows of models.txt (all when none is named) and prints a table
# run_model.sh --trail NAME  checks one row and prints the steps to the error that was found
#
# Exit status: 0 every row came out as expected, 1 some did not, 2 usage, 77 spin is not installed.
set -u

folder=$(cd "$(dirname "$0")" && pwd)
compiler=${CC:-$(command -v clang || command -v gcc || echo cc)} # clang is twice as quick where nothing is optimized
optimizer=${CC:-$(command -v gcc || echo cc)}                      # and what gcc makes searches quicker
few_states=200000   # are through before an optimizer is
seconds_limit=240 # of one search; the slowest takes about 10 on an idle machine
memory_limit=1400 # MB of one search

# Prints "model expectation minimum options..." of a row; fails when there is no such row.
find_row() {
    awk -v name="$1" '$1 == name { $1 = ""; print; found = 1 } END { exit !found }' "$folder/models.txt"
}

# Turns a model into a checker in the current folder. What the tools said goes to build.log. A mutant is mostly
# caught sooner than an optimizer is through, and the smaller models are.
build_checker() {
    local model=$1 command="$optimizer -O1"
    { [ "$2" = caught ] || [ "$3" -lt $few_states ]; } && command="$compiler -O0"
    shift 3
    spin "-P$compiler -E -x c" -a "$@" "$folder/$model" > build.log 2>&1 || return 1
    $command -w -DSAFETY -DMEMLIM=$memory_limit -o pan pan.c >> build.log 2>&1
}

# Reads pan.log; sets verdict (what happened) and states.
judge() {
    states=$(awk '/ states, stored/ { print $1 }' pan.log)
    states=${states:-0}
    if grep -q 'pan:1: assertion violated' pan.log; then
        verdict=assertion
    elif grep -q 'pan:1: invalid end state' pan.log; then
        verdict=deadlock
    elif ! grep -q 'errors: 0' pan.log || grep -Eq 'not completed|MEMLIM|max search depth' pan.log; then
        verdict=incomplete
    elif awk '/^unreached in/ { next } /, state [0-9]+, / && !/"-end-"/ { exit 1 }' pan.log; then
        verdict=holds
    else
        verdict=unreached
    fi
}

# Why the row did not come out as expected, or nothing. Uses verdict, states.
objection() {
    local expectation=$1 minimum=$2
    case $expectation/$verdict in
    caught/assertion | caught/deadlock) ;;
    caught/*) echo "the checker did not catch this mutant ($verdict)" ;;
    holds/holds)
        [ "$states" -ge "$minimum" ] || echo "explored $states states, expected at least $minimum"
        ;;
    holds/unreached) echo "statements that no run reaches: see \"unreached\" below" ;;
    *) echo "expected to hold, found: $verdict" ;;
    esac
}

# Checks one row in the current (empty) folder and prints its line of the table.
check_row() {
    local name=$1 model=$2 expectation=$3 minimum=$4 started elapsed problem
    local table=22 # bits of the first table of states, which grows: 128 MB take longer than most searches
    [ "$expectation" = holds ] && [ "$minimum" -ge $few_states ] && table=24
    shift 4
    started=$(date +%s%N)
    verdict=unbuilt
    states=0
    if build_checker "$model" "$expectation" "$minimum" "$@"; then
        timeout "$seconds_limit" ./pan -m500000 -w$table > pan.log 2>&1
        judge
    fi
    elapsed=$(awk -v ns=$(($(date +%s%N) - started)) 'BEGIN { printf "%.1f", ns / 1e9 }')
    problem=$(objection "$expectation" "$minimum")
    printf '%-32s %10s %7s  %-8s %s%s\n' \
        "$name" "$states" "$elapsed" "$expectation" "$verdict" "${problem:+  FAILED}"
    [ -z "$problem" ] && return 0
    printf '%s: %s\n' "$name" "$problem" >&2
    tail -n 25 "$([ -f pan.log ] && echo pan.log || echo build.log)" >&2
    return 1
}

# Prints the run to the error: each step with the globals and locals it changed.
print_trail() {
    local model=$1
    shift
    ls ./*.trail > /dev/null 2>&1 || {
        echo "no error was found, so there is no trail"
        return 0
    }
    cp "$folder/$model" .
    spin "-P$compiler -E -x c" -k ./*.trail -p -g -l "$@" "$model"
}

usage() {
    echo "usage: run_model.sh [--trail] [NAME...]; the names are the first column of models.txt" >&2
    exit 2
}

want_trail=
[ "${1-}" = --trail ] && {
    want_trail=1
    shift
    [ $# -eq 1 ] || usage
}
case ${1-} in -*) usage ;; esac
command -v spin > /dev/null || {
    echo "skipped: spin, the model checker, is not installed (Debian and Ubuntu: apt install spin)"
    exit 77
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(awk '/^[a-z]/ { print $1 }' "$folder/models.txt")
printf '%-32s %10s %7s  %-8s %s\n' model states seconds expected found
failures=0
for name in "${names[@]}"; do
    row=$(find_row "$name") || {
        echo "run_model.sh: models.txt has no row named '$name'" >&2
        exit 2
    }
    read -ra columns <<< "$row" # model, expectation, minimum, options
    mkdir "$scratch/$name" && cd "$scratch/$name" || exit 1
    check_row "$name" "${columns[@]}" || failures=$((failures + 1))
    [ -z "$want_trail" ] || print_trail "${columns[0]}" "${columns[@]:3}"
done
[ "$failures" -eq 0 ]
