#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre decode with captures that were cut, changed and given counts of any size: each is a message, which comes back
# from its wire form, or a sentence with the offset and the reason; nothing is left out and nothing ends the program.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache"
header=tests/kernels/wire_order.h
json='{"id":"00112233-4455-6677-8899-aabbccddeeff","to":{"street":"Hauptstraße","number":7,"door":"b"},"invoice_to":null,"lines":[{"article":4711,"pieces":2,"price":9.5,"rebate":0.25,"notes":["fragile","bell 🔔"]},{"article":1,"pieces":1,"price":1,"rebate":null,"notes":[]}]}'

# damaged COUNT SEED FIRST LAST: that many lines of a capture, each with one to three damages between two bytes
damaged()
{
    awk -v count="$1" -v seed="$2" -v first="$3" -v last="$4" -v hex="$capture" '
        function roll(below) { return int(rand() * below) }
        function put(text, at, bytes) { return substr(text, 1, 2 * at) bytes substr(text, 2 * at + length(bytes) + 1) }
        function damage(text, at, way) {
            at = first + roll(last - first)
            way = roll(7)
            if (way == 0) return substr(text, 1, 2 * at)
            if (way == 1) return put(text, at, sprintf("%02x", roll(256)))
            if (way == 2) return put(text, at, "ffffffff")
            if (way == 3) return put(text, at, "ffffff7f")
            if (way == 4) return put(text, at, sprintf("%02x000000", roll(256)))
            if (way == 5) return substr(text, 1, 2 * at) sprintf("%02x", roll(256)) substr(text, 2 * at + 1)
            return substr(text, 1, 2 * at) substr(text, 2 * at + 3)
        }
        BEGIN {
            srand(seed)
            for (i = 0; i < count; i++) {
                text = hex
                for (k = 1 + roll(3); k > 0; k--)
                    text = damage(text)
                print text == "" ? "00" : text
            }
        }'
}

# each_is_told COUNT: of the last run, so many lines are a message or a sentence with offset and reason
each_is_told()
{
    exits 1
    local sentences
    sentences="$(grep -cE '^gyre: line [0-9]+: byte [0-9]+( of [0-9]+)?(, field .[^ ]+)?: [a-z]' "$folder/err")"
    [[ "$sentences" == "$(wc -l <"$folder/err")" ]] || fail "expected an offset and a reason in every sentence"
    [[ "$((sentences + $(wc -l <"$folder/out")))" == "$1" ]] || fail "expected $1 answers"
    grep -q . "$folder/out" || fail "expected some that are messages still"
}

# what was read is a message: it has a wire form, from which the same is read
each_comes_back()
{
    cp "$folder/out" "$folder/read"
    "$GYRE" encode --type order "$header" <"$folder/read" >"$folder/again" || fail "expected that each is encoded"
    run decode --type order "$header" <"$folder/again"
    exits 0
    cmp -s "$folder/out" "$folder/read" || fail "expected the same messages again"
}

capture="$("$GYRE" encode --type order "$header" <<<"$json")"
length=$((${#capture} / 2))
run decode --type order "$header" < <(damaged 4000 1 0 "$length")
each_is_told 4000
each_comes_back

# every length that is too short
run decode --type order "$header" < <(for ((i = 1; i < length; i++)); do echo "${capture:0:2*i}"; done)
exits 1
[[ "$(grep -c ': byte ' "$folder/err")" == "$((length - 1))" && ! -s "$folder/out" ]] || fail "expected a sentence each"

# frames
capture="$("$GYRE" encode --type order --frame --timestamp 9 --sender 1 --receiver 2 "$header" <<<"$json")"
run decode --type order --frame "$header" < <(damaged 2000 2 0 60)
each_is_told 2000
"$GYRE" encode --type order --frame --binary "$header" <<<"$json"$'\n'"$json" >"$folder/whole"
for cut in 1 27 28 255 256 257 "$((length + 255))" "$((length + 257))" "$((length + 600))"; do
    head -c "$cut" "$folder/whole" >"$folder/frames"
    run decode --type order --frame --binary "$header" <"$folder/frames"
    exits 1
    says "byte "
done
finish
