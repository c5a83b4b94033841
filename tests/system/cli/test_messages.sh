#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre messages: what a kernel file or a header declares.
set -u
# shellcheck source=tests/system/cli/expect.sh
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
printf '#define A 1\n' >"$folder/empty.h"
run messages --backend cpu "$folder/empty.h"
refuses 1 "'$folder/empty.h' declares no message: expected GYRE_MESSAGE(...) or GYRE_MESSAGE_TAIL(...) at the start of a line"
run messages --backend cpu "$folder/none.h"
refuses 1 "cannot read '$folder/none.h': No such file or directory"

finish
