#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A changed copy of a file has to be found by the machine itself: the program says which seed breaks the scenario, and ends with 10. One that
# crashes, or that cannot be started, has found nothing.
# usage: check_mutant.sh SCENARIO PROGRAM SEEDS
set -u
scenario="$1" program="$2" seeds="$3"
told="$("$program" 0 "$seeds")"
code=$?
printf '%s\n' "$told"
if ((code != 10)) || ! grep -qE "^$scenario: seed [0-9]+ breaks it\$" <<<"$told"; then
    echo "FAILED: expected '$scenario: seed N breaks it' and exit code 10, found exit code $code"
    exit 1
fi
