#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A project of `gyre new` builds against an installed Gyre and runs with the commands that it tells, passes its own test, and
# its README's call works. usage: test_new.sh BUILD_TREE C_COMPILER LANGUAGE TOOL FORM TEXT; TOOL: the compiler of C++ or the Python of
# projects in these; TEXT: what the program prints
set -euo pipefail
build="$1" compiler="$2" language="$3" tool="$4" form="$5" text="$6"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
if [[ "$language" == python ]]; then # whose packages may be those of the home that is not used below
    PYTHONUSERBASE="$("$tool" -m site --user-base || true)"
    export PYTHONUSERBASE
fi
export HOME="$work/home" GYRE_BACKEND=cpu CC="$compiler" CMAKE_PREFIX_PATH="$work/installed"

fail()
{
    echo "FAILED: $*"
    cat "$work/log"
    exit 1
}

# test_project: what the project's README says of its test.
test_project()
{
    if [[ "$language" == python ]]; then
        (cd sample && python3 -m unittest)
    else
        cmake --build sample/build && ctest --test-dir sample/build --output-on-failure
    fi
}

cmake --install "$build" --prefix "$work/installed" >"$work/log" 2>&1 || fail 'install'
commands=2
case "$language" in
c++) export CXX="$tool" ;;
python)
    export PYTHONPATH="$build/python"
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$tool" >"$work/installed/bin/python3"
    chmod +x "$work/installed/bin/python3"
    commands=1
    ;;
esac
export PATH="$work/installed/bin:$PATH"
cd "$work"
gyre new --language "$language" --form "$form" sample >"$work/told" 2>"$work/log" || fail 'gyre new'
sed -n '/un it:$/,$p' told | sed 1d >commands
[[ "$(wc -l <commands)" == "$commands" ]] || fail "gyre new does not tell as many commands as expected: $commands"
sh -e commands >"$work/log" 2>&1 || fail "the commands"
grep -qxF -e "$text" "$work/log" || fail "the program does not print: $text"
! grep -i warning "$work/log" || fail 'the project compiles with warnings'
test_project >"$work/log" 2>&1 || fail "its test"

# the test notices a handler that does something else
sed -i 's/350/349/; s/ \* request->factor/ + request->factor/; s/gyre_block_sum_f32(gyre, sum)/0/; s/state->count++/state->sum++/' \
    sample/sample.gyre.c
! test_project >"$work/log" 2>&1 || fail "its test passes with another handler"
if [[ "$language" != python ]]; then
    cmake --build sample/build --target handlers >"$work/log" 2>&1 || fail "an editor's compiler does not take the handler"
fi

grep '^    gyre call' sample/README.md >call
if ! grep -q '\.\.\.' call; then # a README shows no array of 256 numbers
    (cd sample && sh -e ../call) >"$work/log" 2>&1 || fail "the call of the README: $(cat call)"
fi
echo "a project of the form $form in $language works"
