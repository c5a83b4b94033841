# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the tests of `gyre estimate` share.
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
if ! command -v objdump >/dev/null; then
    echo "skipped: there is no objdump"
    exit 77
fi
handlers="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/handlers"

# works COUNT TURNS: so many requests {"turns":TURNS,"seed":0, 1, ...}, into $folder/requests.
works()
{
    seq 0 $(($1 - 1)) | sed "s/.*/{\"turns\":$2,\"seed\":&}/" >"$folder/requests"
}

# line_of HANDLER TEXT: the first line of the handler that holds the text.
line_of()
{
    grep -nF "$2" "$handlers/$1.gyre.c" | head -1 | cut -d: -f1
}

# estimates HANDLER ARGUMENT...: with the requests of `works`.
estimates()
{
    local handler="$1"
    shift
    run estimate "$handlers/$handler.gyre.c" --messages "$folder/requests" --timeout $((60000 * patience)) "$@"
    exits 0
    [[ "$out" != *"(1 times the rate)"* ]] || fail "expected advice that helps"
}

# row FILE LINE KEY: the sum of a number in the rows of --json that are of this line.
row()
{
    grep -o "{\"file\":\"$1\",\"line\":$2,\"issued\"[^}]*}" <<<"$out" | grep -o "\"$3\":[0-9.]*" | cut -d: -f2 |
        awk '{ sum += $1 } END { print sum + 0 }'
}

# has HANDLER LINE KEY NUMBER: the row says so.
has()
{
    checks=$((checks + 1))
    local found
    found="$(row "$1.gyre.c" "$2" "$3")"
    [[ "$found" == "$4" ]] || fail "expected $3 of line $2 to be $4, found $found"
}
