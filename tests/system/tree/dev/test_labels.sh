#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Labels of tests (tests/labels.txt): each folder of the core, each backend and each changed file has tests that
# `./dev test --changed` finds.
# usage: test_labels.sh SOURCE_TREE BUILD_TREE CTEST
set -euo pipefail
cd "$1"
# shellcheck source=scripts/changed.sh
source scripts/changed.sh
labels="$("$3" --test-dir "$2" --print-labels | sed -n 's/^  //p')"
failed=0

# known LABEL WHAT
known()
{
    grep -qxF -- "$1" <<<"$labels" && return
    echo "no test has the label '$1', which $2 asks for: see tests/labels.txt"
    failed=1
}

for folder in core/*/ backends/*/; do
    [[ "$folder" == backends/device/ ]] || known "$(basename "$folder")" "$folder"
done
while IFS= read -r file; do
    label="$(label_of_file "$file")"
    [[ "$label" == all ]] || known "$label" "$file"
done < <(find core backends cli docs tests scripts examples -type f | sed 's,[^/]*$,x.c,' | sort -u)
[[ "$(label_of_file include/gyre/gyre.h)" == all ]] || { echo "a public header concerns all tests" && failed=1; }
exit "$failed"
