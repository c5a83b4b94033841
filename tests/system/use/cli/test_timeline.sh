#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The two forms of gyre trace say the same, and each keeps to its published format. Where Perfetto's own Python package is there
# (pip install perfetto; GYRE_TEST_PERFETTO: a Python that has it), it reads the same out of Perfetto's form.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
here="$(dirname "${BASH_SOURCE[0]}")"
export XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/temporary" XDG_CONFIG_HOME="$folder/none" XDG_RUNTIME_DIR="$folder/session"
export GYRE_OBSERVE__EVERY_MS=20
mkdir -p "$XDG_CACHE_HOME" "$TMPDIR" "$XDG_RUNTIME_DIR"
unset GYRE_BACKEND
background=''
trap 'kill -KILL $background 2>/dev/null; rm -rf "$folder"' EXIT
python="${GYRE_TEST_PERFETTO:-python3}"

# same EXPRESSION FILE: the timelines of an observation file, in both forms, say the same, of which the expression is true.
same()
{
    run trace --file "$2" --out "$folder/timeline.json"
    exits 0
    run trace --file "$2" --format perfetto --out "$folder/timeline.pftrace"
    exits 0
    checks=$((checks + 1))
    python3 "$here/timeline.py" "$folder/timeline.json" "$folder/timeline.pftrace" "$1" 2>"$folder/judged" ||
        fail "$(<"$folder/judged")"
    "$python" "$here/timeline.py" --package "$folder/timeline.pftrace" >"$folder/package" 2>"$folder/judged"
    case $? in
    0)
        checks=$((checks + 1))
        python3 "$here/timeline.py" --read "$folder/timeline.pftrace" | cmp -s - "$folder/package" ||
            fail "Perfetto's package reads something else"
        ;;
    77) echo "not checked: what Perfetto's Python package reads, which is not there" ;;
    *) fail "Perfetto's package: $(<"$folder/judged")" ;;
    esac
}

# keeps REPLIES COMMAND...: runs the command, which reads requests, until it has replied so often and what it did is in its file; a copy
# of that is kept.
keeps()
{
    local wanted="$1" i
    shift
    mkfifo "$folder/requests"
    : >"$folder/replies"
    GYRE_OBSERVE__TRACE=always "$GYRE" "$@" <"$folder/requests" >"$folder/replies" 2>"$folder/call.err" &
    background=$!
    exec 9>"$folder/requests"
    cat "$folder/wanted" >&9
    for ((i = 0; i < 600 * patience; i++)); do
        [[ "$(wc -l <"$folder/replies")" -ge "$wanted" ]] && break
        kill -0 "$background" 2>/dev/null || break
        sleep 0.05
    done
    called="gyre $*" err="$(<"$folder/call.err")"
    [[ "$(wc -l <"$folder/replies")" -ge "$wanted" ]] || fail "expected $wanted replies"
    kill -KILL "$background" # a block notes its last message after the reply; what is in the file by now is the same for both forms
    wait "$background" 2>/dev/null
    exec 9>&-
    cp "$folder"/observed/*.obs "$folder/kept.obs"
    rm -f "$folder/requests" "$folder"/observed/*.obs
}

run trace --format yaml
exits 2
says "--format: expected json or perfetto, found 'yaml'"

printf '{"value":20.5,"factor":2}\n%.0s' {1..30} >"$folder/wanted"
keeps 30 call --backend cpu --set kernel.scale.timing=true --set queue.scale.header=trace examples/command/scale.gyre.c
same "len(messages) >= 4 * 29 and len(slices) >= 29 and not arrows
    and {name for _, name, *_ in messages} == {'scale', 'waited', 'handled', 'returned'}" "$folder/kept.obs"

printf '{"item":1,"count":1,"cents":100}\n%.0s' {1..20} >"$folder/wanted"
keeps 20 call --config examples/pipeline/market.ini --pipeline market
same "arrows and slices and {name for _, name, *_ in slices} >= {'feed', 'risk'}" "$folder/kept.obs"
finish
