#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How ./dev test counts and what it shows: ctest's JUnit file to result lines, totals, exit status, GYRE_REQUIRE, progress.
# usage: test_results.sh SOURCE_TREE
set -euo pipefail
tree="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir build
ln -s "$tree/scripts" scripts
# shellcheck source=scripts/common.sh
source "$tree/scripts/common.sh"
cd "$tree"
# shellcheck source=scripts/suite.sh
source "$tree/scripts/suite.sh"
cd "$work"
failed=0

expect()
{
    if [[ "$2" != "$3" ]]; then
        printf 'FAILED: %s\n  expected: %s\n  found:    %s\n' "$1" "$2" "$3"
        failed=1
    fi
}

# totals: the last line of the report and its exit status.
totals()
{
    local rc=0
    print_results >out || rc=$?
    printf '%s, exit %s' "$(tail -n 1 out)" "$rc"
}

cat >junit.xml <<'END'
	<testcase name="unit/a" classname="unit/a" time="0.1" status="run">
		<system-out>skipping nothing
</system-out>
	</testcase>
	<testcase name="unit/b" classname="unit/b" time="0.1" status="fail">
		<failure message="Failed"/>
	</testcase>
	<testcase name="conformance/cuda/call" classname="x" time="0" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>line one
no driver: libcuda.so.1 &lt;not found&gt;
</system-out>
	</testcase>
	<testcase name="unit/gone" classname="x" time="0" status="notrun">
		<skipped message="Unable to find executable"/>
	</testcase>
END
awk -v stage=dev -f "$tree/scripts/junit.awk" junit.xml >"$RESULTS"
expect "verdicts of a JUnit file" "passed failed skipped failed " "$(cut -f2 "$RESULTS" | tr '\n' ' ')"
expect "the reason of a skip" "no driver: libcuda.so.1 <not found>" "$(awk -F '\t' '$2 == "skipped" { print $4 }' "$RESULTS")"
expect "totals" "1 passed, 2 failed, 1 skipped, exit 1" "$(totals)"

printf 'dev\tpassed\tunit/a\t\ndev\tskipped\tconformance/cuda/call\tno driver\n' >"$RESULTS"
expect "a skip is no failure" "1 passed, 0 failed, 1 skipped, exit 0" "$(totals)"
GYRE_REQUIRE=cuda apply_requirements
expect "a required thing that was skipped fails" "1 passed, 2 failed, 0 skipped, exit 1" "$(totals)"

printf 'dev\tpassed\tconformance/opencl/call\t\n' >"$RESULTS"
GYRE_REQUIRE=opencl apply_requirements
expect "a required thing that passed" "1 passed, 0 failed, 0 skipped, exit 0" "$(totals)"
GYRE_REQUIRE=opencl,cuda apply_requirements
expect "a required thing without any test fails" "1 passed, 1 failed, 0 skipped, exit 1" "$(totals)"

printf 'dev\tpassed\tunit/a\t\ndev\tskipped\tunit/b\tno gdb here\n' >"$RESULTS"
GYRE_REQUIRE=all apply_requirements
expect "all allows no skip" "1 passed, 1 failed, 0 skipped, exit 1" "$(totals)"

printf 'dev\tskipped\tk/nvrtc/%s\tnot here\n' a b c >"$RESULTS"
printf 'dev\tskipped\tk/x\tno device\ntsan\tskipped\tk/y\tno device\ndev\tfailed\tu/a\tFailed\ndev\tfailed\tu/b\tFailed\n' >>"$RESULTS"
totals >/dev/null
expect "skips of one reason share a row, the most frequent first" "3 k/nvrtc/a and others: not here, 2 k/x and others: no device" \
    "$(sed -n '/^skipped:/,/^$/ { s/^  *//; s/  / /; /^[0-9]/p }' out | paste -sd, | sed 's/,/, /')"
expect "each failure has one" "u/a u/b" "$(awk '/^failed:/ { on = 1; next } /^$/ { on = 0 } on { print $2 }' out | paste -sd' ')"

for reason in one two three four five six seven; do
    printf 'dev\tskipped\tk/%s\t%s\n' "$reason" "$reason" "$reason" again
done >"$RESULTS"
totals >/dev/null
expect "skips for many reasons take $SKIP_LINES lines" "$SKIP_LINES" "$(sed -n '/^skipped:/,/^$/p' out | grep -c '^  ')"
expect "the last of which counts the others" "4 for 4 other reasons: $RESULTS has them all" "$(grep 'other reasons' out | sed 's/^ *//; s/  / /')"

# progress: a line at once of what fails, with its output; the rest goes to the log
cat >ctest.out <<'END'
        Start   1: unit/a
  1/3 Test   #1: unit/a ..........................   Passed    0.10 sec
        Start   2: unit/b
  2/3 Test   #2: unit/b ..........................***Failed    0.20 sec
why it failed

        Start   3: unit/c
  3/3 Test   #3: unit/c ..........................***Skipped   0.00 sec

67% tests passed, 1 tests failed out of 3

Label Time Summary:
unit =   0.30 sec*proc (3 tests)
END
PROGRESS_EVERY_S=0
follow_tests dev tests.log <ctest.out | sed 's/ 0:0[0-9],//' >shown
expect "the log is whole" "" "$(diff ctest.out tests.log)"
expect "progress and failures" "gyre: dev: 1 of 3 tests, 0 failed, unit/a
gyre: failed: unit/b (Failed    0.20 sec)
gyre: dev: 2 of 3 tests, 1 failed, unit/b
    why it failed
    
gyre: dev: 3 of 3 tests, 1 failed, unit/c" "$(<shown)"
sed '/^  [13]\/3/d' ctest.out >cut.out
SILENCE_S=1
{ cat cut.out && sleep 2.5; } | follow_tests dev tests.log | sed 's/ 0:0[0-9],//' >shown
expect "while no test ends, those that run" "gyre: dev: 2 of 3 tests, 1 failed, running: unit/a, unit/c" "$(tail -n 1 shown)"
expect "who still ran when the run was cut off" ": unit/a, unit/c still ran" "$(unfinished cut.out)"
expect "nobody, where the run was whole" "" "$(unfinished ctest.out)"
printf '[1/2] Building C object a.o\nwarning\n[2/2] Linking b\n' | follow_build dev build.log | sed 's/, 0:0[0-9]$//' >shown
expect "progress of a build" "gyre: dev: 1/2 built gyre: dev: 2/2 built" "$(paste -sd' ' shown)"
expect "its log is whole, too" 3 "$(wc -l <build.log)"

# what failed is repeated by itself: what passes then is unsteady; not after a crash, under a sanitizer, or when many fail
# shellcheck disable=SC2317 # repeat_failures calls it
run_ctest()
{
    asked="${*: -1}"
    cat >"$1/junit.xml" <<'END'
	<testcase name="unit/b" classname="unit/b" time="0.1" status="run"/>
	</testcase>
	<testcase name="unit/c" classname="unit/c" time="0.1" status="fail"/>
		<failure message=""/>
	</testcase>
END
}

# repeated STAGE FAILED...: what becomes of these tests; unit/d crashed.
repeated()
{
    local test how folder="build/$1"
    mkdir -p "$folder"
    rm -f "$folder"/*
    touch "$folder/junit.xml"
    for test in "${@:2}"; do
        [[ "$test" == d ]] && how="Exception: SegFault" || how=Failed
        printf ' 1/9 Test  #1: unit/%s ....***%s  0.10 sec\n' "$test" "$how" >>"$folder/tests.log"
        printf '%s\tfailed\tunit/%s\t\n' "$1" "$test" >>"$folder/results.tsv"
    done
    asked=""
    repeat_failures "$1" 10 2 >/dev/null
    cut -f2,3 "$folder/results.tsv" | tr '\t\n' ' '
    printf '%s' "$asked"
}

expect "what passes when it is repeated" "unsteady unit/b failed unit/c failed unit/d ^(unit/b|unit/c)\$" "$(repeated dev b c d)"
expect "a crash is not repeated" "failed unit/d " "$(repeated dev d)"
expect "nor what fails under a sanitizer" "failed unit/b " "$(repeated tsan b)"
expect "nor many" "failed unit/b failed unit/c failed unit/e failed unit/f " "$(repeated dev b c e f)"
printf 'dev\tpassed\tunit/a\t\ndev\tunsteady\tunit/b\twhy\n' >"$RESULTS"
expect "unsteady ones are counted" "1 passed, 0 failed, 0 skipped, 1 unsteady, exit 0" "$(totals)"
expect "and named" "dev unit/b why" "$(sed -n '/^unsteady:/{n;s/  */ /g;s/^ //;p}' out)"

parts=("set-up 0:01" "dev build 2:03") SECONDS=125
expect "what each part took" "gyre: took set-up 0:01, dev build 2:03, 2:05 in all" "$(took)"

: >"$RESULTS"
expect "nothing ran" "0 passed, 0 failed, 0 skipped, exit 1" "$(totals)"
exit "$failed"
