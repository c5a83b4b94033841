#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre completion: the words at the end of a line, and the scripts in the shells that are here.
set -uo pipefail
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "$0")/expect.sh"
printf '[kernel.scale]\nsource = scale.gyre.c\n[pipeline.orders]\nentry = scale\nanswer = scale\n' >"$folder/gyre.ini"
export GYRE_CONFIG="$folder/gyre.ini"

# offers WORDS WORD...: those and no others, for the line 'gyre WORD...' of a shell that does not split at '='.
offers()
{
    local wanted="$1"
    shift
    run completion --words zsh -- "$@"
    exits 0
    checks=$((checks + 1))
    [[ "$(tr '\n' ' ' <<<"$out")" == "$wanted " ]] || fail "expected: $wanted"
}

offers 'compile completion config' co
offers '--pipeline' call --pip
offers '--backend' --json --ba
offers '--set=gyre.cache_dir=' --set=gyre.cache_d
offers 'gyre.cache_dir=' --set gyre.cache_d
offers 'queue.default.policy=drop_oldest queue.default.policy=drop_newest' call --set queue.default.policy=drop_
offers 'kernel.scale.source=' --set kernel.scale.sou
offers 'scale' call ''
offers 'orders' call --pipeline ''
offers 'lane block actor pipeline' new --form ''
offers 'c c++ python' new --language ''
offers 'call' --backend cpu help cal
offers 'cpu' backends --why cp
offers 'pagerank' pipeline --config examples/pipeline/pagerank.ini ''
offers 'pagerank' --config=examples/pipeline/pagerank.ini call --pipeline ''
offers '' call scale --timeout ''
offers '' call --no-such-option

# every command says its options without doing anything
for command in $("$GYRE" help | sed -n '/^Commands:/,$s/^  \([a-z]*\) .*/\1/p'); do
    run completion --words fish -- "$command" --
    prints --help
    prints --json
done

run completion csh
refuses 2 "expected bash, zsh or fish, found 'csh' ('gyre help completion' shows how)"
run completion --words csh -- call
exits 2
run completion --words bash --
exits 0

bin="$folder/bin"
mkdir "$bin"
ln -s "$(realpath "$GYRE")" "$bin/gyre"
export PATH="$bin:$PATH"

# in_bash WORDS LINE...: LINE as bash splits it, COMP_WORDS.
in_bash()
{
    local wanted="$1"
    shift
    called="bash: $*"
    # shellcheck disable=SC2016 # the inner shell's
    out="$(bash --norc -c 'compopt() { printf "%s " "$*"; }; source <(gyre completion bash)
        COMP_WORDS=(gyre "$@") COMP_CWORD=$#; _gyre; printf "%s " "${COMPREPLY[@]}"' bash "$@" 2>&1)"
    checks=$((checks + 1))
    [[ "$out" == "$wanted " ]] || fail "expected: $wanted"
}
in_bash 'serve' ser
in_bash '-o nospace gyre.cache_dir=' --set = gyre.cache_d
in_bash 'drop_oldest drop_newest' --set queue.default.policy = drop_
in_bash 'drop_oldest' --set = queue.default.policy = drop_o

if command -v zsh >/dev/null; then
    called=zsh
    # shellcheck disable=SC2016 # the inner shell's
    out="$(zsh -fc 'compdef() { :; }; compadd() { print -r -- "$*"; }; _files() { print files; }
        source <(gyre completion zsh)
        words=(gyre --set gyre.cache_d) CURRENT=3; _gyre; words=(gyre call x --timeout 5) CURRENT=5; _gyre' 2>&1)"
    checks=$((checks + 1))
    [[ "$out" == $'-S  -- gyre.cache_dir=\n--\nfiles' ]] || fail 'expected one key, and files'
fi
if command -v fish >/dev/null; then
    called=fish
    out="$(HOME="$folder" fish -N -c 'gyre completion fish | source; complete -C "gyre --set queue.default.policy=drop_"' 2>&1)"
    checks=$((checks + 1))
    [[ "$out" == $'queue.default.policy=drop_newest\nqueue.default.policy=drop_oldest' ]] || fail 'expected two policies'
fi
finish
