#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Section 3 of the manual has a page for every function and every macro of the public headers that calls one, its references lead
# to pages, and mandoc finds nothing to say. A function without a contract is refused.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

fail()
{
    echo "$*"
    exit 1
}

# refused NAME WHERE: the headers in the folder are refused, because of that function.
refused()
{
    if python3 scripts/header_manual.py check "$folder/include" >"$folder/said"; then
        fail "a function without a contract is taken: $1, $2"
    fi
    grep -qE "^gyre/[a-z]+\.h:[0-9]+: $1 has no contract" "$folder/said" || fail "$1, $2, is not named: $(cat "$folder/said")"
    [[ "$(wc -l <"$folder/said")" == 1 ]] || fail "beside $1, other functions are refused: $(cat "$folder/said")"
}

# with_line AFTER TEXT: the headers, and behind each line of gyre.h that is AFTER the text.
with_line()
{
    rm -rf "$folder/include"
    cp -r include "$folder/include"
    awk -v after="$1" -v text="$2" '{ print } $0 == after { print text; found = 1 } END { exit !found }' \
        include/gyre/gyre.h >"$folder/include/gyre/gyre.h" || fail "gyre.h has no line '$1'"
}

python3 scripts/header_manual.py check include
with_line 'GYRE_API uint64_t gyre_now_ns(void);' $'\nGYRE_API int gyre_bare(int number);'
refused gyre_bare "behind an empty line"
with_line 'GYRE_API uint64_t gyre_now_ns(void);' 'GYRE_API int gyre_bare(int number);'
refused gyre_bare "behind a function with a contract of its own"
with_line 'GYRE_API uint64_t gyre_now_ns(void);' $'/* ---- a heading ---- */\nGYRE_API int gyre_bare(int number);'
refused gyre_bare "behind a heading"

export SOURCE_DATE_EPOCH=0
python3 scripts/header_manual.py write include "$folder/man3"
declared="$(awk -f tests/system/tree/source/code_view.awk include/gyre/*.h | cut -d: -f3- | tr '\n' ' ' |
    grep -oE 'GYRE_API [^;(]*\(' | grep -oE 'gyre_[a-z0-9_]+\($' | tr -d '(' | sort -u)"
for name in $declared gyre_put gyre_put_text gyre_fetch gyre_gyre.h; do
    [[ -s "$folder/man3/$name.3" ]] || fail "no page $name.3 is written"
done
while read -r name; do
    [[ -s "$folder/man3/$name.3" ]] || fail "a page refers to $name(3), which is not written"
done < <(cat "$folder"/man3/*.3 | sed -nE 's/^\.(It )?Xr ([^ ]+) 3.*/\2/p; s,^\.so man3/(.*)\.3$,\1,p' | sort -u)
if command -v mandoc >/dev/null; then
    # pages that only lead to another are not looked at: they lead nowhere until they are installed
    grep -L '^\.so' "$folder"/man3/*.3 | xargs mandoc -T lint -W style >"$folder/lint" || true
    ! grep -v 'referenced manual not found' "$folder/lint" || fail "mandoc has to say the above"
fi
echo "$(echo "$declared" | wc -l) functions have a page"
