#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ./dev says to arguments that it does not know: at once, before it installs or builds anything.
# usage: test_usage.sh SOURCE_TREE
set -u
failed=0

# refuses SENTENCE ARGUMENT...: nothing but the sentence, and a failure.
refuses()
{
    local sentence="$1" said
    shift
    if said="$(GYRE_NO_INSTALL=1 timeout "$((20 * ${GYRE_TEST_PATIENCE:-1}))" ./dev "$@" 2>&1)" || [[ "$said" != *"$sentence"* || "$said" == *configuring* ]]; then
        echo "./dev $*: expected '$sentence', found: $said"
        failed=1
    fi
}

cd "$1" || exit 1
refuses "there is no command 'frob'" frob
refuses "there is no preset 'frob'" build frob
refuses "test: expected labels of tests, or --changed alone, found '--frob'" test --frob
refuses "test: expected labels of tests, or --changed alone, found '--changed'" test ring --changed
refuses "check: expected nothing, or all, found 'frob'" check frob
refuses "all: expected nothing, found 'frob'" all frob
refuses "there is no fuzz target 'frob': choose one of" fuzz frob
refuses "fuzz: expected a number of seconds, found 'long'" fuzz json long
refuses "ports: expected nothing, arm64 or musl, found 'frob'" ports frob
refuses "site: expected nothing, or a folder, found 'a b'" site a b
refuses "bundle: --arch names architectures" bundle --arch
refuses "bundle: there is no option '--frob'" bundle --frob
exit "$failed"
