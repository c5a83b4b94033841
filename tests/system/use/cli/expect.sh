# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the tests of the command share. Sourced with GYRE set to the program; results of `run` are in $code,
# $out and $err, and the files that hold them in $folder.

: "${GYRE:?the program to test}"
patience="${GYRE_TEST_PATIENCE:-1}" # how many times longer than usual everything may take here (tests/patience.cmake)
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
export GYRE_OBSERVE__FOLDER="$folder/observed" # what other tests leave is none of this one's
checks=0
failures=0
code=0 out='' err=''

# run ARGUMENT...: standard input comes from the caller.
run()
{
    code=0
    "$GYRE" "$@" >"$folder/out" 2>"$folder/err" || code=$?
    out="$(<"$folder/out")"
    err="$(<"$folder/err")"
    called="gyre $*"
}

# await_begun FILE PROCESS: until the process has written into the file, which was empty, or ended.
await_begun()
{
    for ((i = 0; i < 600 * patience; i++)); do
        if [[ -s "$1" ]] || ! kill -0 "$2" 2>/dev/null; then break; fi
        sleep 0.05
    done
}

fail()
{
    failures=$((failures + 1))
    printf 'FAILED: %s\n  %s\n  exit %s\n  stdout: %s\n  stderr: %s\n' "$called" "$1" "$code" "$out" "$err"
}

# exits CODE: the last run did.
exits()
{
    checks=$((checks + 1))
    [[ "$code" == "$1" ]] || fail "expected exit code $1"
}

# says TEXT: stderr holds it.
says()
{
    checks=$((checks + 1))
    [[ "$err" == *"$1"* ]] || fail "expected on stderr: $1"
}

# prints TEXT: stdout holds it.
prints()
{
    checks=$((checks + 1))
    [[ "$out" == *"$1"* ]] || fail "expected on stdout: $1"
}

# refuses CODE SENTENCE: exit code, the whole of stderr as one line, and nothing on stdout.
refuses()
{
    exits "$1"
    checks=$((checks + 1))
    [[ "$err" == "gyre: $2" ]] || fail "expected as all of stderr: gyre: $2"
    [[ -z "$out" ]] || fail "expected nothing on stdout"
}

# await_output: until something is in $folder/out, for ten seconds of a usual machine at most.
await_output()
{
    local i
    for ((i = 0; i < 500 * patience; i++)); do
        [[ -s "$folder/out" ]] && break
        sleep 0.02
    done
}

# every_request_has_its_line: what gyre call sent, by stderr, and the lines that $folder/out has of it.
every_request_has_its_line()
{
    checks=$((checks + 1))
    local lines counts sent answered lost unanswered
    lines="$(wc -l <"$folder/out")" counts="$(grep ' sent, ' <<<"$err")" # the log has numbers of its own
    sent="$(grep -oP '[0-9]+(?= sent)' <<<"$counts")" answered="$(grep -oP '[0-9]+(?= answered)' <<<"$counts")"
    lost="$(grep -oP '[0-9]+(?= lost)' <<<"$counts")" unanswered="$(grep -oP '[0-9]+(?= unanswered)' <<<"$counts")"
    ((${sent:-0} > 0 && sent == lines && sent == answered + ${lost:-0} + ${unanswered:-0})) ||
        fail "$lines lines, of which $(grep -c unhandled "$folder/out") unhandled"
}

finish()
{
    ((checks > 0)) || { echo "nothing was checked"; exit 1; }
    echo "$checks checks, $failures failures"
    exit $((failures > 0))
}
