# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The static checks of ./dev lint and of the end of ./dev test. Sourced; runs nothing by itself.

# What these tools say differs between their versions; these are the ones of Debian 12.
readonly CLANG_TOOLS_VERSION=14
readonly CPPCHECK_VERSION=2.10

c_files()
{
    git ls-files '*.c' '*.h'
}

# clang_tool NAME: prints what clang-format or clang-tidy of that version is called here, or nothing.
clang_tool()
{
    local command
    for command in "$1-$CLANG_TOOLS_VERSION" "$1"; do
        if have "$command" && "$command" --version | grep -q "version $CLANG_TOOLS_VERSION\."; then
            echo "$command"
            return
        fi
    done
}

cppcheck_tool()
{
    if have cppcheck && [[ "$(cppcheck --version)" == "Cppcheck $CPPCHECK_VERSION"* ]]; then
        echo cppcheck
    fi
}

# The compiled files of the dev preset; generated files and fuzz targets have no say.
tidy_files()
{
    c_files | grep '\.c$' | while read -r file; do
        if grep -q "\"file\": \"$PWD/$file\"" build/dev/compile_commands.json; then
            echo "$file"
        fi
    done
}

lint_format()
{
    c_files | xargs "$(clang_tool clang-format)" --dry-run -Werror
}

lint_tidy()
{
    tidy_files | timeout 600 xargs -P "$(nproc)" -n 4 "$(clang_tool clang-tidy)" -p build/dev --quiet --warnings-as-errors='*' 2>/dev/null
}

lint_cppcheck()
{
    cppcheck --project=build/dev/compile_commands.json --enable=warning,performance,portability \
        --inline-suppr --suppressions-list=.cppcheck-suppressions --quiet --error-exitcode=1 -j "$(nproc)"
}

lint_shell()
{
    git ls-files | xargs grep -lE '^#!.*\b(ba)?sh$|^# shellcheck shell=' | xargs shellcheck -x
}

# lint_one NAME TOOL FUNCTION: runs a check, or says that its tool is not there.
lint_one()
{
    local name="$1" tool="$2" check="$3"
    if ! have git; then
        record lint skipped "lint/$name" "which files there are is asked of git, which is not on this machine"
    elif [[ -z "$tool" ]] || ! have "$tool"; then
        record lint skipped "lint/$name" "$name (of the version that is used here) is not on this machine"
    elif "$check"; then
        record lint passed "lint/$name"
    else
        record lint failed "lint/$name" "see above; ./dev lint runs it alone"
    fi
}

# stage_lint [all]: clang-tidy takes longer than a build, so it is left to `all` and to ./dev lint.
stage_lint()
{
    say "== static checks"
    lint_one clang-format "$(clang_tool clang-format)" lint_format
    lint_one shellcheck shellcheck lint_shell
    lint_one cppcheck "$(cppcheck_tool)" lint_cppcheck
    [[ "${1:-}" != all ]] || lint_one clang-tidy "$(clang_tool clang-tidy)" lint_tidy
}

lint_run()
{
    local failed=0 check
    for check in "clang-format lint_format" "shellcheck lint_shell" "clang-tidy lint_tidy" "cppcheck lint_cppcheck"; do
        say "${check% *}"
        "${check#* }" || failed=1
    done
    return "$failed"
}
