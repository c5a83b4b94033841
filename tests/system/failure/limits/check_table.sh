#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/system/failure/bad_input.md names tests that exist. Run from the top of the sources, with the ctest program and the
# build folder.
set -u
tests="$("$1" --test-dir "$2" -N | sed -n 's/^ *Test *#[0-9]*: //p')"
table=tests/system/failure/bad_input.md
missing=0
count=0

# complain NAME KIND
complain()
{
    echo "$table names '$1', and there is no such $2"
    missing=$((missing + 1))
}

# shellcheck disable=SC2016 # backquotes of Markdown
while read -r name; do
    count=$((count + 1))
    grep -qxF "${name/\*/cpu}" <<<"$tests" || complain "$name" "test"
done < <(grep -oE '`(unit|conformance|plugins|system|stress)/[a-z_0-9/*]+`' "$table" | tr -d '`' | sort -u)

# what follows a colon behind `unit/...`: tests of Check
# shellcheck disable=SC2016
while read -r name; do
    count=$((count + 1))
    grep -rqF "START_TEST($name)" tests/unit || complain "$name" "case of a unit test"
done < <(grep -oE '`unit/[a-z_]+`: [a-z_0-9, ]+' "$table" | sed 's/^[^:]*: //; s/ and the next.*//' | tr -d ' ' |
    tr ',' '\n' | sed '/^$/d' | sort -u)

echo "$count names, $missing missing"
((count > 50 && missing == 0))
