#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the pages say of the command is so: commands, options and settings that they name exist, the ini files that they show are
# read without a warning, and what stands behind "$ COMMAND" is what it prints.
# usage: GYRE=PROGRAM test_pages.sh
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../use/cli/expect.sh"
export XDG_CACHE_HOME="$folder/cache" XDG_CONFIG_HOME="$folder/none" XDG_RUNTIME_DIR="$folder" GYRE_BACKEND=cpu
PATH="$(dirname "$GYRE"):$PATH"
pages=(README.md docs/*.md docs/backends/*.md)

# wrong PAGE WHAT: counts and tells it.
wrong()
{
    failures=$((failures + 1))
    echo "FAILED: $1: $2"
}

# ---- commands, options, settings ----

# commands PAGE: each call of gyre that it names, a line each: those of indented blocks and those between backticks.
commands()
{
    grep -E '^    ' "$1" | grep -oE '(^ *(\$ )?([A-Z_]+=[^ ]* )*|[|] *)gyre .*' | sed -E 's/^.*gyre /gyre /; s/ #.*//; s/  .*//; s/[|].*//'
    # shellcheck disable=SC2016 # the backticks of the page
    grep -oE '`gyre [^`]*`' "$1" | tr -d '`'
}

# help_of COMMAND: what its help and the overview say, in $help; asked once for each command.
declare -A helps=()
overview="$("$GYRE" help)"
help_of()
{
    if [[ -z "${helps[$1]:-}" ]]; then
        helps[$1]="$("$GYRE" help "$1" 2>&1)" || return 1
    fi
    help="${helps[$1]}$overview"
}

# check_command PAGE WORD...: of a line behind "gyre".
check_command()
{
    local page="$1" command="$2" word help
    shift 2
    [[ "$command" != help && "$command" != --* ]] || return
    help_of "$command" || { wrong "$page" "there is no command 'gyre $command'"; return; }
    for word; do
        word="${word%%=*}"
        [[ "$word" =~ ^--[a-z]+ ]] || continue
        checks=$((checks + 1))
        [[ "$help" =~ (^|[^a-z-])"$word"([^a-z-]|$) ]] || wrong "$page" "'gyre $command' has no option '$word'"
    done
}

check_commands()
{
    local page="$1" line words setting
    while read -r line; do
        checks=$((checks + 1))
        read -ra words <<<"${line#gyre }"
        ((${#words[@]} == 0)) || check_command "$page" "${words[@]}"
        while read -r setting; do
            checks=$((checks + 1))
            "$GYRE" config "$setting" >/dev/null 2>&1 || wrong "$page" "there is no setting '$setting'"
        done < <(grep -oE -- "--set '?[a-z_]+\.[A-Za-z_.]+=" <<<"$line" | sed -E "s/--set '?//; s/=//")
    done < <(commands "$page")
}

# ---- ini files ----

check_ini()
{
    local page="$1" line text='' inside=''
    while IFS= read -r line; do
        if [[ "$line" == '```ini' ]]; then
            inside=yes text=''
        elif [[ "$line" == '```' && "$inside" ]]; then
            inside=''
            printf '%s' "$text" >"$folder/page.ini"
            checks=$((checks + 1))
            "$GYRE" config --config "$folder/page.ini" --set gyre.strict=true >/dev/null 2>"$folder/err" ||
                wrong "$page" "an ini file that it shows: $(<"$folder/err")"
        elif [[ "$inside" ]]; then
            text+="$line"$'\n'
        fi
    done < <(cat "$page")
}

# ---- what commands print ----

# The pages call in a checkout; what they call order.h, message.jsonl and captured.hex is made of what they show.
make_checkout()
{
    mkdir -p "$folder/checkout/build/dev"
    cp -r examples "$folder/checkout/"
    ln -s "$PWD/tests" "$folder/checkout/tests"
    ln -s "$(dirname "$GYRE")" "$folder/checkout/build/dev/bin"
    cp tests/kernels/parts_order.h "$folder/checkout/order.h"
    cp tests/kernels/wire_add.h "$folder/checkout/"
    sed -nE 's/^    ([0-9a-f]{84})$/\1/p' docs/messages.md | head -n 1 >"$folder/checkout/captured.hex"
    sed -nE 's/^    (\{"id".*"correlation".*)/\1/p' docs/messages.md | head -n 1 >"$folder/checkout/message.jsonl"
}

# compare PAGE COMMAND EXPECTED: "..." at the end stands for anything.
compare()
{
    local found lines expected="$3"
    while [[ "$expected" == *$'\n' ]]; do
        expected="${expected%$'\n'}"
    done
    checks=$((checks + 1)) transcripts=$((transcripts + 1))
    found="$(cd "$folder/checkout" && bash -c "$2" 2>"$folder/err")"
    if [[ "$expected" == *$'\n...' ]]; then
        lines="$(wc -l <<<"$expected")"
        found="$(head -n $((lines - 1)) <<<"$found")"$'\n...'
    fi
    diff <(echo "$expected") <(echo "$found") || wrong "$1" "'$2' prints something else; $(<"$folder/err")"
}

check_transcripts()
{
    local page="$1" line command='' expected=''
    while IFS= read -r line; do
        if [[ "$line" == '    $ '* || ("$line" && "$line" != '    '*) ]]; then
            [[ -z "$command" ]] || compare "$page" "$command" "$expected"
            command='' expected=''
        fi
        if [[ "$line" == '    $ '* ]]; then
            command="${line#    \$ }"
            while [[ "$command" == *\\ ]] && IFS= read -r line; do
                command="${command%\\}${line#"${line%%[! ]*}"}"
            done
        elif [[ "$command" ]]; then
            expected+="${line#    }"$'\n' # an empty line may be one of its own
        fi
    done < <(cat "$page"; echo "the end")
}

# The list of README.md, beside its example.
check_readme()
{
    local line ran=0
    while read -r line; do
        case "$line" in
        gyre\ bench*) line='gyre bench --seconds 0.02 --case call/48' ;; # not all of them
        gyre\ serve* | gyre\ top* | gyre\ web*) continue ;;             # go on until they are told to end
        gyre\ state* | gyre\ why* | gyre\ trace* | gyre\ swap* | gyre\ move*) continue ;; # are about a server
        esac
        checks=$((checks + 1)) ran=$((ran + 1))
        (cd "$folder/checkout/examples/vector_add" && : >requests && bash -c "$line" >"$folder/out" 2>"$folder/err") ||
            [[ "$line" == gyre\ doctor* ]] || wrong README.md "'$line' fails: $(<"$folder/err")"
    done < <(grep -E '^    (gyre|seq) ' README.md | sed 's/ #.*//')
    ((ran >= 8)) || wrong README.md "shows fewer than eight commands: it is written in another way now"
    [[ "$(grep -c '"sum"' "$folder/out")" == 1 ]] || wrong README.md "its last command prints no reply"
}

transcripts=0
make_checkout
for page in "${pages[@]}"; do
    check_commands "$page"
    check_ini "$page"
    check_transcripts "$page"
done
check_readme
((transcripts >= 6)) || wrong "the pages" "show fewer than six commands with their output"
finish
