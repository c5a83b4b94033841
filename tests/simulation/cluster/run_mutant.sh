#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_mutant.sh PROGRAM FIRST SEEDS RULE...   runs a mutant of the simulation until a rule of the model does not hold
#
# Exit status: 0 it is one of these rules; 1 the mutant was not found, or another rule told it, or it ended otherwise.
set -euo pipefail

program=$1 first=$2 seeds=$3
shift 3
status=0
told=$("$program" "$first" "$seeds" 2>&1) || status=$?
echo "$told"
if [ "$status" = 0 ]; then
    echo "none of $seeds seeds from $first on finds the mutant"
    exit 1
fi
for rule; do
    grep -q "^VIOLATION of $rule, seed " <<< "$told" && exit 0
done
echo "exit code $status, expected a violation of: $*"
exit 1
