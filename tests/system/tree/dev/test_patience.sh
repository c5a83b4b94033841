#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Limits of tests follow the machine: the measure, and what ctest makes of it.
# usage: test_patience.sh SOURCE_TREE
set -euo pipefail
tree="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failed=0
unset GYRE_TEST_PATIENCE GYRE_COMPILE_TIMEOUT_MS CK_TIMEOUT_MULTIPLIER

expect()
{
    if [[ "$2" != "$3" ]]; then
        printf 'FAILED: %s\n  expected: %s\n  found:    %s\n' "$1" "$2" "$3"
        failed=1
    fi
}

# compiler SECONDS: one that takes that long.
compiler()
{
    printf '#!/bin/sh\nsleep %s\n' "$1" >"$work/cc"
    chmod +x "$work/cc"
    "$tree/scripts/patience.sh" "$work/cc"
}

quick="$(compiler 0)" slow="$(compiler 3.1)"
((quick >= 2)) || expect "the least" 2 "$quick"
((slow >= 9 && slow <= 64)) || expect "a machine that takes four times as long" "9 to 64" "$slow"
printf '#!/bin/sh\nexit 1\n' >"$work/cc"
! "$tree/scripts/patience.sh" "$work/cc" 2>/dev/null || expect "a compiler that fails" "no factor" "one"

# a list of tests as CMake writes it: of limits, and of texts that a list or a string could break
cat >"$work/CTestTestfile.cmake" <<END
include("$tree/tests/patience.cmake")
add_test([=[limited]=] "sh" "-c" "echo \$GYRE_TEST_PATIENCE \$CK_TIMEOUT_MULTIPLIER \$GYRE_COMPILE_TIMEOUT_MS; sleep 2")
set_tests_properties([=[limited]=] PROPERTIES  ENVIRONMENT "A=1;B=x\\\\;y" PASS_REGULAR_EXPRESSION "^3 3 420000" TIMEOUT "1" LABELS "a;b")
add_test([=[unlimited]=] "sh" "-c" "echo '[1] ]==] \\\\ \\"'")
set_tests_properties([=[unlimited]=] PROPERTIES  PASS_REGULAR_EXPRESSION "\\\\[1\\\\] ]==] .;nothing")
END
code=0
(cd "$work" && GYRE_TEST_PATIENCE=3 ctest --output-on-failure >out 2>&1) || code=$?
expect "a test of 2 s with a limit of 1 s, where patience is 3: $(<"$work/out")" 0 "$code"
code=0
(cd "$work" && GYRE_TEST_PATIENCE=1 ctest -R '^limited' >out 2>&1) || code=$?
expect "the same, where patience is 1" 8 "$code"
grep -q Timeout "$work/out" || expect "why" Timeout "$(<"$work/out")"
exit "$failed"
