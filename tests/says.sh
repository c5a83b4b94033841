#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# says.sh CODE PROGRAM ARGUMENT...: runs it; another exit code is told in its output, where ctest looks (gyre_test_says):
# a test that is judged by what it prints is not judged by its exit code.
expected="$1" code=0
shift
"$@" || code=$?
[[ "$code" == "$expected" ]] || echo "exit code $code, expected $expected"
