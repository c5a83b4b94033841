#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How ./dev test counts: ctest's JUnit file to result lines, totals, exit status, GYRE_REQUIRE.
# usage: test_results.sh SOURCE_TREE
set -euo pipefail
tree="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir build
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
printf 'dev\tskipped\tk/x\tnot here\ndev\tfailed\tu/a\tFailed\ndev\tfailed\tu/b\tFailed\n' >>"$RESULTS"
totals >/dev/null
expect "skips of one reason share a row" "k/nvrtc/* (3 tests) k/x u/a u/b " \
    "$(awk '/^  dev/ { print $2 ($3 ~ /^\(/ ? " " $3 " " $4 : "") }' out | tr '\n' ' ')"

: >"$RESULTS"
expect "nothing ran" "0 passed, 0 failed, 0 skipped, exit 1" "$(totals)"
exit "$failed"
