#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names are the user's: every word of Gyre's headers and every name of C's library, as a field, a local variable, a type,
# a function and a table. What the check refuses, it refuses with a sentence; what it takes, each backend compiles.
# usage: test_names.sh SOURCES CHECKER COMPILE...    COMPILE: options of `gyre compile` for a backend, as one word
set -euo pipefail
sources="$1" checker="$2" failed=0
shift 2
here="$sources/tests/system/tree/names"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export GYRE_CACHE_DIR="$work/cache"

# Names that C and Gyre's own types have at the top of every kernel file: the parser says so, in its words.
taken='^([iu](8|16|32|64)|f32|f64|id128|utf8|(span|optional)_[a-z0-9]+|u?int(8|16|32|64|ptr|max)_t|size_t|float_t|double_t'
taken+='|(ptrdiff|wchar|locale|max_align)_t|NULL|offsetof|signgam|HUGE_VALL?F?|INFINITY|NAN|M_[A-Z0-9_]+|[SU]?[A-Z0-9_]+_MAX'
taken+='|is(less|greater|lessequal|greaterequal|lessgreater|unordered))$'

c_names()
{
    printf '#include <%s>\n' stdio.h stdlib.h string.h strings.h math.h errno.h signal.h time.h unistd.h complex.h \
        ctype.h limits.h float.h setjmp.h fcntl.h >"$work/library.c"
    cc -E -D_GNU_SOURCE "$work/library.c" | grep -v '^#' | grep -oE '\b[A-Za-z_][A-Za-z0-9_]*'
    cc -E -dM -D_GNU_SOURCE "$work/library.c" | awk '{sub(/\(.*/, "", $2); print $2}'
}

{
    grep -rohE '\b[A-Za-z_][A-Za-z0-9_]*' "$sources/include/gyre"
    c_names
} | sort -u | grep -vE '^(gyre_|GYRE_|_)|_mine$' >"$work/words"
tr ' ' '\n' <<<"auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof
request reply gyre" >"$work/keywords"
grep -vxFf "$work/keywords" "$work/words" >"$work/all"
[[ "$(wc -l <"$work/all")" -gt 2000 ]]

# settle WHAT NAMES: leaves in $work/WHAT.gyre.c what the check takes. A report has room for some hundred refusals.
settle()
{
    local what="$1" unit="$work/$1.gyre.c"
    cp "$2" "$work/names"
    for _ in {1..40}; do
        awk -v what="$what" -f "$here/units.awk" "$work/names" >"$unit"
        "$checker" --headers "$sources/include" "$unit" >"$work/report"
        grep -E '^(refuse|error)' "$work/report" >"$work/found" || return 0
        # the words of the lines that were found, and whether it was the parser alone that found them
        awk -F'\t' 'NR == FNR {kind[$4] = kind[$4] $1; next} FNR in kind {print kind[FNR] "\t" $0}' "$work/found" "$unit" |
            awk -F'\t' '{gsub(/[^A-Za-z0-9_]/, " ", $2); n = split($2, word, " "); for (i = 1; i <= n; i++) print word[i], $1}' |
            sort -u | awk 'NR == FNR {is[$1]; next} $1 in is' "$work/names" - >"$work/bad"
        [[ -s "$work/bad" ]] || { echo "$what: the check finds something else:"; head -3 "$work/found"; return 1; }
        if awk '$2 !~ /refuse/ {print $1}' "$work/bad" | grep -vE "$taken"; then
            echo "$what: the names above are refused by a parser's words alone"
            failed=1
        fi
        awk 'NR == FNR {bad[$1]; next} !($1 in bad)' "$work/bad" "$work/names" >"$work/rest"
        mv "$work/rest" "$work/names"
    done
    echo "$what: the check does not come to an end"
    return 1
}

# What <math.h> and <string.h> declare is the parser's to find, twenty in a run (unit/check has them): at the top of the file
# these are left out. What is refused as a type is refused as a function and as a table: those begin with what is left.
printf '#include <math.h>\n#include <string.h>\n' >"$work/own.c"
cc -E -std=gnu11 "$work/own.c" | grep -v '^#' | grep -oE '\b[A-Za-z_][A-Za-z0-9_]* *\(' | tr -d ' (' | sort -u >"$work/own"
grep -vxFf "$work/own" "$work/all" >"$work/top"
begin="$work/all"
for what in fields types functions tables; do
    settle "$what" "$begin"
    [[ "$what" == fields ]] && begin="$work/top"
    [[ "$what" == types ]] && cp "$work/names" "$work/left" && begin="$work/left"
    [[ "$(wc -l <"$work/names")" -gt 2000 ]]
    for options in "$@"; do
        # shellcheck disable=SC2086
        if ! "$GYRE" compile $options "$work/$what.gyre.c" >"$work/out" 2>"$work/err"; then
            echo "$what, $options: names that the check takes are refused:"
            grep -E 'error|gyre:' "$work/err" | head -20
            failed=1
        fi
    done
done
for options in "$@"; do
    # shellcheck disable=SC2086
    if ! "$GYRE" compile $options "$here/everywhere.gyre.c" >"$work/out" 2>"$work/err"; then
        echo "everywhere, $options: names that handlers and headers use are refused:"
        grep -E 'error|gyre:' "$work/err" | head -20
        failed=1
    fi
done
exit "$failed"
