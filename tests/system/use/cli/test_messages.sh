#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre messages: what a kernel file or a header declares.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache"
kernels=tests/kernels

run messages --backend cpu $kernels/parts_order.h
exits 0
prints 'order_line: 32 bytes, with parts in the tail of the message around it, hash '
prints 'order: 72 to 2072 bytes, a tail of 2000, a slot of '
prints 'optional address'
prints 'span of order_line'
prints 'utf8[2]'
run messages --backend cpu --json $kernels/parts_chat.gyre.c
exits 0
prints '{"type":"chat_line","size":248,"least":48,"tail":200,"alignment":8,"has_parts":true,"hash":"'
prints '{"field":"room","type":"optional utf8","shape":"optional","offset":40,"count":1,"size":8,"element":"utf8"}'
run messages --backend cpu $kernels/desk.h
exits 0
prints 'desk_request: one of deposit, memo, bell, card; 8 to 232 bytes, a slot of '
prints '(1024 of them '
run call --backend cpu $kernels/desk.gyre.c '{"type":"deposit","account":1,"cents":5}' '{"type":"depot","account":1}'
exits 1
prints '{"type":"balance","cents":5,"deposits":1}'
prints "no handler for type 'depot': 'desk_request' is one of deposit, memo, bell, card; did you mean 'deposit'?"
run call --backend cpu $kernels/desk.gyre.c '{"account":1}'
exits 1
prints "that names one of the types of 'desk_request': deposit, memo, bell, card"
run call --backend cpu --set queue.wired.wire=memorypack tests/conformance/kernels/wired.gyre.c \
    33221100554477668899aabbccddeeff2a01443322116655887799aabbccddeeff000000c03f00002040 3322
exits 1
prints '"33221100554477668899aabbccddeeff2a01443322116655887799aabbccddeeff0000008040"'
prints '{"failed":{"code":2,"text":"the input ends within it"}}'
# a header is compiled once, and kept under its own name until it changes
cp $kernels/desk.h "$folder/kept.h"
kept()
{
    XDG_CACHE_HOME="$folder/kept" run "$@" "$folder/kept.h"
    exits 0
    XDG_CACHE_HOME="$folder/kept" run cache list
    prints "$folder/kept.h"
}
kept messages --backend cpu
kept messages --backend cpu
checks=$((checks + 1))
[[ "$(grep -c "kept.h" <<<"$out")" == 1 && "$out" != *gyre-work-* ]] || fail "expected one entry, of the header"
printf '#define GREETING(FIELD) FIELD(u32, word)\nGYRE_MESSAGE(greeting, GREETING)\n' >>"$folder/kept.h"
XDG_CACHE_HOME="$folder/kept" run messages --backend cpu "$folder/kept.h"
exits 0
prints 'greeting: 4 bytes'
printf '#define A 1\n' >"$folder/empty.h"
run messages --backend cpu "$folder/empty.h"
refuses 1 "'$folder/empty.h' declares no message: expected GYRE_MESSAGE(...) or GYRE_MESSAGE_TAIL(...) at the start of a line"
# what is wrong with a header is told in its own words, not in those of the kernels written around it
# header TEXT
header()
{
    printf '#include <gyre/message.h>\n%b' "$1" >"$folder/wrong.h"
    run messages --backend cpu "$folder/wrong.h"
}
header '#define A(FIELD) FIELD(u32, x[0])\nGYRE_MESSAGE(a, A)\n'
refuses 1 "check: $folder/wrong.h:3: an array of length 0, which C++ does not have: give it a length, or leave it out"
header '#define A(FIELD) FIELD(u32, x)\n#if 0\nGYRE_MESSAGE(a, A)\n#endif\n'
exits 1
says "'$folder/wrong.h' declares a message at the start of a line where the compiler sees none (is it inside #if?): "
header '#define A(FIELD)\nGYRE_MESSAGE(a, A)\n'
exits 1
if "$GYRE" doctor | grep -q '^ok *gyre-check'; then
    says "wrong.h:3: 'a' has no fields: a message or struct has at least one"
    header '#define A(FIELD) FIELD(u32, x)\nGYRE_MESSAGE(a)\n'
    exits 1
    says 'wrong.h:3: these are not the arguments that it takes: write '
fi
mkfifo "$folder/pipe.h"
run messages --backend cpu "$folder/pipe.h"
refuses 1 "'$folder/pipe.h' is no regular file; expected a header that declares messages"
run messages --backend cpu "$folder/none.h"
refuses 1 "cannot read '$folder/none.h': No such file or directory"

finish
