#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre new: names, forms, what it refuses, and that it leaves nothing where it fails. tests/system/use/install builds projects.
set -uo pipefail
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "$0")/expect.sh"
include="$(cd "$(dirname "$0")/../../../../include" && pwd)"
cd "$folder" || exit 1

run new scale
exits 0
prints 'cmake --build scale/build --target run'
for kind in {lane,block,actor,pipeline}:{c,c++,python}; do
    form="${kind%:*}" language="${kind#*:}"
    made="of_${form}_in_${language//+/p}"
    run new --json --form "$form" --language "$language" "$made/"
    exits 0
    prints "\"form\":\"$form\",\"language\":\"$language\""
    mapfile -t files < <(grep -oE "$made/[^\"]+" <<<"$out")
    for file in "${files[@]}"; do
        checks=$((checks + 1))
        [[ -s "$file" ]] || fail "$file is not there"
        grep -qE '@[A-Za-z]+@' "$file" && fail "$file has a word that was not filled in"
    done
    checks=$((checks + 1))
    [[ "$(find "$made" -type f | sort)" == "$(printf '%s\n' "${files[@]}" | sort)" ]] ||
        fail "the files told are not those written"
done
run new --language python snake
exits 0
prints '  python3 snake/main.py'
run new --language rust crab
refuses 2 "--language: expected c, c++ or python, found 'rust' ('gyre help new' shows how)"

cp -r scale before
run new --form actor scale
refuses 1 "'scale' exists already, and gyre new writes over nothing: remove it, or name another folder"
checks=$((checks + 1))
diff -r scale before >/dev/null || fail 'a project that exists was changed'

name='a small letter, then small letters, digits and _'
run new My-Scale
refuses 2 "'My-Scale' is no name for a kernel: expected $name; did you mean 'my_scale'? ('gyre help new' shows how)"
run new 9
refuses 2 "'9' is no name for a kernel: expected $name ('gyre help new' shows how)"
run new 'deep/ü'
exits 2
run new ''
refuses 2 "'' is no name for a kernel: expected $name ('gyre help new' shows how)"
run new /
exits 2
run new test
refuses 2 "'test' is a target of CMake; choose another name ('gyre help new' shows how)"
run new switch
refuses 2 "'switch' is a keyword of C; choose another name ('gyre help new' shows how)"
# The project would not be built: its header would be found in the place of one that handlers include.
mapfile -t headers < <(cc -std=gnu11 -x c -M -I "$include" - <<<'#include <gyre/kernel.h>' |
    grep -oE 'include/[a-z][a-z0-9_]*\.h' | sed 's/.*\/\(.*\)\.h/\1/' | sort -u)
for header in string time "${headers[@]}"; do
    run new "$header"
    refuses 2 "'$header.h' is a header of the C library; choose another name ('gyre help new' shows how)"
done
checks=$((checks + 1))
[[ " ${headers[*]} " == *' math '* ]] || fail "the compiler told of no headers: ${headers[*]}"
run call --backend cpu --config scale/gyre.ini scale '{"value":20.5,"factor":2}' # the folder has the kernel's name
exits 0
prints '"result":41.0'
run new gyre_own
exits 2
says 'names that begin with gyre'
run new "$(printf 'a%.0s' {1..41})"
exits 2
says 'expected 40 letters at most, found 41'
run new --form ring scale2
refuses 2 "--form: expected lane, block, actor or pipeline, found 'ring' ('gyre help new' shows how)"
run new
exits 2
run new one two
exits 2
run new nowhere/scale
refuses 1 "cannot make 'nowhere/scale': the folder 'nowhere' is missing: make it, or name another one"

# A disk that is full, as a limit of file sizes stands for it: nothing is left.
(
    ulimit -f 1
    run new --form lane large
    exits 1
    says "cannot make 'large/"
    [[ ! -e large ]] || fail 'half a project is left'
    exit "$failures"
)
failures=$((failures + $?))
finish
