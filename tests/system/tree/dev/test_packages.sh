#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How ./dev finds and installs packages. Each case runs scripts/packages.sh in an empty folder with a PATH that
# holds only coreutils and what the case puts there.
# usage: test_packages.sh SOURCE_TREE
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
tree="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failed=0

# stand_in NAME SCRIPT: a program of this name in the case's PATH.
stand_in()
{
    printf '#!%s\n%s\n' "$(command -v bash)" "$2" >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# A machine with apt and root, and none of the packages.
bare_machine()
{
    local tool
    rm -rf "${work:?}"/*
    mkdir -p "$work/bin"
    for tool in bash awk cat dirname env grep mkdir sed tail; do
        ln -s "$(command -v "$tool")" "$work/bin/$tool"
    done
    stand_in id 'echo 0'
    stand_in dpkg-query 'exit 1'
    stand_in apt-get "echo \"\$*\" >>'$work/calls'"
}

# A machine where dpkg knows every package but the given ones.
machine_without()
{
    bare_machine
    stand_in dpkg-query "shift 3; for p in \"\$@\"; do case \" $* \" in *\" \$p \"*) ;; *) printf 'ii %s ' \$p ;; esac; done"
}

# run GROUP...: its words go to $work/out.
run()
{
    (
        cd "$work"
        PATH="$work/bin" exec bash -c "set -eu; source '$tree/scripts/common.sh'; source '$tree/scripts/packages.sh'
            need_packages $*"
    ) >"$work/out" 2>&1
}

check()
{
    local what="$1"
    shift
    if ! "$@"; then
        printf 'FAILED: %s\n--- said:\n' "$what"
        cat "$work/out"
        failed=1
    fi
}

said()
{
    grep -qF -- "$1" "$work/out"
}

called()
{
    [[ -f "$work/calls" ]] && grep -qE -- "$1" "$work/calls"
}

not()
{
    ! "$@"
}

machine_without nothing
check "nothing missing is silent success" run build
check "nothing missing starts no apt" not called .
check "nothing missing says nothing" test ! -s "$work/out"

machine_without cmake libinih-dev
check "missing packages are installed" run build
check "it says which" said "installing with apt: cmake libinih-dev"
check "the lists are updated first" called "^update"
check "only the missing ones are installed" called "install .* cmake libinih-dev$"

machine_without cmake
stand_in cmake ''
check "a program that is there needs no package" run build
check "and starts no apt" not called .

machine_without cmake check
check "a group that was not asked for is left alone" run build
check "and not named" not said check

machine_without cmake libinih-dev
stand_in apt-get 'echo "Could not resolve host"; exit 100'
check "a failing apt is a failure" not run build
check "and shows apt's words" said "Could not resolve host"
check "and names the packages to install by hand" said "then run this again: cmake libinih-dev"

machine_without cmake
rm "$work/bin/apt-get"
check "no apt is a failure" not run build
check "and says so" said "this system has no apt-get; install these packages by hand"

machine_without cmake
stand_in id 'echo 1000'
check "neither root nor sudo is a failure" not run build
check "and says so" said "installing needs root, and there is no sudo"
check "and starts no apt" not called .

machine_without cmake
stand_in id 'echo 1000'
stand_in sudo "echo sudo >>'$work/calls'; exec \"\$@\""
check "sudo is used when not root" run build
check "for apt" called "^sudo"

machine_without cmake
stand_in sudo "echo sudo >>'$work/calls'; exec \"\$@\""
check "root needs no sudo" run build
check "and does not call it" not called "^sudo"

machine_without cmake
GYRE_NO_INSTALL=1 check "GYRE_NO_INSTALL only names them" not run build
check "and starts no apt" not called .

machine_without libhwloc-dev ninja-build
stand_in apt-get "for a; do [[ \$a != libhwloc-dev ]] || exit 100; done; echo \"\$*\" >>'$work/calls'"
check "an optional package that cannot be had stops nothing" run build
check "and is named" said "going on without: libhwloc-dev"
check "and keeps no other one out" called "install .* ninja-build$"

exit "$failed"
