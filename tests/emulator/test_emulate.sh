#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# emulate = true of [backend.cuda]: a handler runs on the GPU made of software, and says that it does.
# usage: test_emulate.sh SOURCE_FOLDER
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$1/tests/system/use/cli/expect.sh"
emulate=(--backend cuda --set backend.cuda.emulate=true)

run call "${emulate[@]}" --timeout $((60000 * patience)) "$1/tests/kernels/calculator.gyre.c" "$(head -1 "$1/tests/kernels/cases/calculator.requests.jsonl")"
exits 0
[[ "$out" == "$(head -1 "$1/tests/kernels/cases/calculator.replies.jsonl")" ]] ||
    fail "expected the reply of the case: $(head -1 "$1/tests/kernels/cases/calculator.replies.jsonl")"
says 'handlers run on a GPU made of software (backend.cuda.emulate): slowly, and no time is that of a GPU'
run backends "${emulate[@]:2}"
exits 0
prints 'software (tests, no GPU)'
run call "${emulate[@]}" --set backend.cuda.driver=/tmp/libcuda.so.1 "$1/tests/kernels/calculator.gyre.c" '{}'
says 'backend.cuda emulate = true and driver = /tmp/libcuda.so.1 exclude each other: both name the driver; keep one'
run call "${emulate[@]:0:3}" backend.cuda.emulate=maybe "$1/tests/kernels/calculator.gyre.c" '{}'
says 'true or false'
finish
