#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The frame of the command: global options, help, typos, and what it says when it cannot write.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"

run --version
exits 0
prints "gyre 0."
run --version --json
exits 0
prints '"backend_abi"'

run help
exits 0
prints "Exit codes: 0 ok, 1 failed, 2 usage, 3 backend or device unavailable, 4 configuration, 5 timed out."
overview="$out"
run --help
[[ "$out" == "$overview" ]] || fail "--help is not what help prints"
run help --json
exits 0
prints '{"name":"help","summary":'

# every command in the list explains itself, both ways
while read -r name; do
    run help "$name"
    exits 0
    prints "usage: gyre "
    help="$out"
    [[ "$name" == help ]] && continue
    run "$name" --help
    exits 0
    [[ "$out" == "$help" ]] || fail "$name --help is not what help $name prints"
    run "$name" --no-such-option
    exits 2
    says "unknown option '--no-such-option' ('gyre help $name' shows how)"
done < <("$GYRE" help --json | grep -o '"name":"[a-z]*"' | cut -d'"' -f4)

run
refuses 2 "no command given; 'gyre help' lists them"
run --json
refuses 2 "no command given; 'gyre help' lists them"
run hlep
refuses 2 "there is no command 'hlep'; did you mean 'help'?"
run xyzzy
refuses 2 "there is no command 'xyzzy'; 'gyre help' lists them"
run help hepl
refuses 2 "there is no command 'hepl'; did you mean 'help'?"
run help help help
refuses 2 "expected one command, found 'help' too ('gyre help' shows how)"
run --jsn help
refuses 2 "unknown option '--jsn'; did you mean '--json'? ('gyre help' shows how)"
run help --confg=x
refuses 2 "unknown option '--confg=x'; did you mean '--config'? ('gyre help' shows how)"
run help --json=yes
refuses 2 "--json takes no value, found 'yes' ('gyre help' shows how)"
run help --config
refuses 2 "--config needs a value ('gyre help' shows how)"
run $'he\nlp'
refuses 2 "there is no command 'he lp'; did you mean 'help'?"
run help -- --json
refuses 2 "there is no command '--json'; 'gyre help' lists them"

if [[ -c /dev/full ]]; then
    # the last one fills the stream's buffer before its end
    for command in help "backends --json" "config --json"; do
        called="gyre $command >/dev/full" code=0 out=''
        # shellcheck disable=SC2086 # words of a command
        "$GYRE" $command >/dev/full 2>"$folder/err" || code=$?
        err="$(<"$folder/err")"
        exits 1
        says "to standard output: No space left on device"
    done
fi
finish
