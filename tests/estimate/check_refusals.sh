#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gyre estimate`: what it refuses, and requests that it makes itself.
set -u
# shellcheck source=tests/estimate/estimates.sh
source "$(dirname "${BASH_SOURCE[0]}")/estimates.sh"
chain="$handlers/chain.gyre.c"

run estimate
exits 2
says "expected a kernel file"
run estimate "$chain" --device h20
exits 2
says "there are no measured constants for a device 'h20': expected one of h100, h200; did you mean 'h200'?"
run estimate "$chain" --backend cuda
exits 2
says "--backend has no meaning here"
run estimate "$chain" --messages "$folder/none"
refuses 1 "the messages '$folder/none' cannot be read: No such file or directory"
echo >"$folder/empty"
run estimate "$chain" --messages "$folder/empty"
refuses 1 "the messages '$folder/empty' are none: expected a line of JSON for each"
run estimate "$chain" --messages "$folder/empty" '{"turns":1,"seed":1}'
exits 2
says "--messages and REQUEST arguments exclude each other"
run estimate "$chain" '{"turns":1}'
exits 1
says "1 of 1 requests are no messages of the kernel"
run estimate "$folder/none.gyre.c"
exits 1
says "$folder/none.gyre.c"
run estimate "$handlers/actor_chain.gyre.c" --blocks 2 '{"turns":1,"seed":1}'
exits 2
says "kernel 'actor_chain' is an actor and has one block"
run estimate "$chain" --state '{}' '{"turns":1,"seed":1}'
exits 1
says "this kernel has no state"

# requests of random fields, the same at each run; messages with parts have to be given
run estimate "$chain" --count 40
exits 0
prints "counted: 40 messages of random fields, 0 failed"
run estimate tests/kernels/parts_chat.gyre.c
exits 1
says "cannot be made of random fields, because they have parts or several types: give some by --messages FILE"

# a failing handler is counted as it is, and is said to fail
run estimate tests/kernels/sha256.gyre.c "{\"length\":120,\"bytes\":\"\"}"
exits 0
prints "counted: 1 messages, 1 failed"

# instructions without a line of the handler are not passed over: the figure would be that of an empty handler
sed "/^GYRE_KERNEL/i #line 1 \"$(pwd -P)/include/gyre/dialect/c11.h\"" "$chain" >"$folder/lines.gyre.c"
run estimate "$folder/lines.gyre.c" '{"turns":1,"seed":1}'
exits 1
says "kernel 'chain' ran, but none of its instructions has a line of your files"
[[ -z "$out" ]] || fail "expected no figure"
# a handler that does nothing has lines
printf '#include <gyre/kernel.h>\n#define N_(FIELD) FIELD(u64, n)\nGYRE_MESSAGE(one, N_)\nGYRE_KERNEL(none, one, one)\n{\n    return GYRE_REPLY;\n}\n' \
    >"$folder/nothing.gyre.c"
run estimate "$folder/nothing.gyre.c" '{"n":1}'
exits 0

# the check itself
run call --backend cpu --set backend.cpu.check=traffic "$chain" '{"turns":1,"seed":1}'
exits 4
says "check = traffic needs traffic_file"
run call --backend cpu --set backend.cpu.check=traffic,races --set backend.cpu.traffic_file="$folder/counts" "$chain" '{"turns":1,"seed":1}'
exits 4
says "check = traffic stands alone"
run call --backend cpu --set backend.cpu.check=traffic --set backend.cpu.traffic_file="$folder/none/counts" "$chain" '{"turns":1,"seed":1}'
says "check traffic: '$folder/none/counts' cannot be written: No such file or directory"
finish
