#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the pages on recovery name as their tests is there. usage: check_named.sh BUILD GYRE PAGE...
set -u
build=$1 gyre=$2
shift 2
known=$(ctest --test-dir "$build" -N | sed -n 's/^ *Test *#[0-9]*: //p'; "$gyre" bench --list)
checked=0 failed=0

# is_known NAME: a test, a case of the benchmark, a fuzzer, or a test of another build; * stands for anything.
is_known()
{
    grep -qxE -- "${1//\*/.*}" <<<"$known" && return 0
    [[ -f "tests/fuzz/fuzz_${1#fuzz/}.c" ]] || grep -rqF --include=CMakeLists.txt "NAME $1" tests
}

for page in "$@"; do
    # shellcheck disable=SC2016
    while read -r name; do
        checked=$((checked + 1))
        is_known "$name" && continue
        echo "$page names '$name', which is no test, fuzzer or case of the benchmark"
        failed=1
    done < <(grep -oE '`(crash|durable|attach|simulation|fuzz|system|checkpoint|journal|recover)/[A-Za-z0-9_/*]+`' "$page" |
        tr -d '`' | sort -u)
done
((checked >= 40)) || { echo "only $checked names were found: the pages are written in another way now"; failed=1; }
exit $failed
