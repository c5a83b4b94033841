#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# patience.sh [COMPILER]   prints how many times the usual limits of the tests are to be here and now, from 2 to 64
#
# The machine is measured as the suite uses it: as many compilers at once as tests (scripts/suite.sh). Twice what that takes
# longer than usual is the factor, because other programs may come while the tests run; a test that hangs only ends later.
set -euo pipefail

readonly USUAL_MS=750 # on two cores of 2.5 GHz with nothing else to do
compiler="${1:-cc}"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

now_ms()
{
    local now="${EPOCHREALTIME/[.,]/}"
    echo $((now / 1000))
}

begun="$(now_ms)"
compilers=()
for ((i = 3 * $(nproc); i > 0; i--)); do
    "$compiler" -O2 -S -o /dev/null tests/patience_work.c &
    compilers+=($!)
done
for process in "${compilers[@]}"; do
    wait "$process"
done
took=$(($(now_ms) - begun))
factor=$(((2 * took + USUAL_MS - 1) / USUAL_MS))
((factor >= 2)) || factor=2
((factor <= 64)) || factor=64
echo "$factor"
