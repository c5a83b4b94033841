#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Without a check a kernel is the same file as where nobody names any, byte by byte, and none of its instructions is for checks.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
handler="$(realpath "$(dirname "${BASH_SOURCE[0]}")/../estimate/handlers/actor_table.gyre.c")"
cd "$folder" || exit 1

# compiled FILE [OPTION...]
compiled()
{
    run compile --backend cpu -o "$@" "$handler"
    exits 0
    checks=$((checks + 1))
    [[ -s "$1" ]] || fail "expected the compiled kernel in $1"
}

# names_checks FILE: whether the kernel calls what a compiler calls for the accesses that are watched.
names_checks()
{
    grep -q "__tsan_" "$1"
}

compiled plain
compiled off --set backend.cpu.check=none --set backend.cpu.seed=7
compiled on --set backend.cpu.check=races
checks=$((checks + 3))
cmp -s plain off || fail "expected the same kernel with check = none as without the key"
! names_checks plain || fail "expected no call of a check in a kernel that is compiled without"
names_checks on || fail "expected calls of checks in a kernel that is compiled with them"
finish
