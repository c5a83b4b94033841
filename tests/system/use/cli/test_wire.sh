#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre encode, decode and wire: the bytes of another system there and back, frames, what is malformed, and that
# the header for handlers that is checked in is what the command writes.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
header=tests/kernels/wire_add.h
export XDG_CACHE_HOME="$folder/cache"
hex=33221100554477668899aabbccddeeff2a01443322116655887799aabbccddeeff000000c03f00002040
json='{"id":"00112233-4455-6677-8899-aabbccddeeff","priority":42,"correlation":"11223344-5566-7788-99aa-bbccddeeff00","a":1.5,"b":2.5}'
zeros="$(printf '0%.0s' {1..456})"
frame="f1dc00002a00000000000000090000000000000001000000ffffffff$zeros"

# there and back, as hexadecimal lines
run encode --type add_request "$header" <<<"$json"
exits 0
[[ "$out" == "$hex" ]] || fail "expected the bytes of DotCompute"
run decode --type add_request "$header" <<<"33221100 5544 7766 8899 aabbccddeeff${hex:32}"$'\n\n'"$hex"
exits 0
[[ "$out" == "$json"$'\n'"$json" ]] || fail "expected the message twice"

# frames and bytes
run encode --type add_request --frame --timestamp 9 --sender 1 --receiver 4294967295 "$header" <<<"$json"
exits 0
[[ "$out" == "$frame$hex" ]] || fail "expected a frame of 256 bytes and the message"
run decode --type add_request --frame "$header" <<<"$frame$hex"
exits 0
[[ "$out" == "$json" ]] || fail "expected the message of the frame"
"$GYRE" encode --type add_request --frame --binary "$header" <<<"$json"$'\n'"$json" >"$folder/frames"
[[ "$(wc -c <"$folder/frames")" == 596 ]] || fail "two frames have 596 bytes"
run decode --type add_request --frame --binary "$header" <"$folder/frames"
exits 0
[[ "$out" == "$json"$'\n'"$json" ]] || fail "expected two messages"
"$GYRE" encode --type add_request --binary "$header" <<<"$json" >"$folder/bytes"
run decode --type add_request --binary "$header" <"$folder/bytes"
exits 0
[[ "$out" == "$json" ]] || fail "expected the message of the bytes"

# what is malformed is told, and the next line is read
run decode --type add_request "$header" <<<"${hex:0:80}"$'\n'"${hex:0:34}02${hex:36}"$'\n'"xy"$'\n'"abc"$'\n'"$hex"
exits 1
[[ "$out" == "$json" ]] || fail "expected the message that is right"
says "line 1: byte 40 of 40, field 'b': the input ends within it"
says "line 2: byte 17 of 42, field 'correlation': expected an optional value's flag, 0 or 1"
says "line 3: column 1: expected hexadecimal digits, found 'x'"
says "line 4: expected two hexadecimal digits for each byte, found 3"
run decode --type add_request --frame "$header" <<<"$hex"
exits 1
says "line 1: byte 42: the frame ends, expected a header of 256 bytes"
run decode --type add_request --frame "$header" <<<"00$frame$hex"
exits 1
says "line 1: byte 0: expected the magic 0xdcf1"
run encode --type add_request "$header" <<<'{"id":1}'
exits 1
says "line 1: field 'id': expected an id like"

# what cannot be
run decode --type add_reques "$header" <<<"$hex"
exits 1
says "did you mean 'add_request'?"
run decode "$header" <<<"$hex"
exits 1
says "the file has 2 message types, expected one: choose it with --type"
run decode <<<"$hex"
exits 2
says "expected one file that declares the type, found 0"
sed 's/form=packed nullable/from=packed nullable/' "$header" >"$folder/wrong.h"
run decode --type add_request "$folder/wrong.h" <<<"$hex"
exits 1
says "did you mean 'form'?"

# the source for handlers; what is checked in has a licence line above it
written()
{
    tail -n +2 "$1" | cmp -s - "$folder/out" || fail "$1 is not what gyre wire writes"
}
run wire "$header"
exits 0
written tests/kernels/wire_add_wire.h
run wire tests/kernels/wire_order.h
written tests/kernels/wire_order_wire.h
run wire examples/messages/add.h
written examples/messages/add_wire.h
run wire --type add_reply -o "$folder/one.h" "$header"
exits 0
grep -q gyre_encode_add_reply "$folder/one.h" || fail "expected the functions of add_reply"
grep -q add_request "$folder/one.h" && fail "expected the functions of add_reply alone"
run wire -o - --type add_reply "$header"
exits 0
prints gyre_encode_add_reply
[[ ! -e - ]] || fail "expected no file called '-'"
cp "$header" "$folder/own.h"
run wire -o "$folder/./own.h" "$folder/own.h"
refuses 1 "'$folder/./own.h' declares the types and would be lost: name another file"
cmp -s "$header" "$folder/own.h" || fail "the header was changed"
run wire -o "$folder/none/one.h" "$header"
exits 1
says "cannot write '$folder/none/one.h'"
finish
