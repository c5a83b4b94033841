# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The static checks of ./dev lint and of the end of ./dev check. Sourced; runs nothing by itself.

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
    c_files | xargs -P "$(nproc)" -n 60 "$(clang_tool clang-format)" --dry-run -Werror
}

lint_tidy()
{
    tidy_files | timeout $((300 * $(scripts/patience.sh))) xargs -P "$(nproc)" -n 4 "$(clang_tool clang-tidy)" -p build/dev --quiet --warnings-as-errors='*' 2>/dev/null
}

# What is compiled, each file once for each set of definitions that it is compiled with: several programs compile some.
# To each processor its share: cppcheck's own -j waits for the slower of two files before it begins with the next.
cppcheck_projects()
{
    awk -v shares="$1" -v folder="$2" '
        /^\{/ { entry = "" }
        { entry = entry $0 "\n" }
        /"command":/ {
            key = $0
            gsub(/ -o [^ ]+| -I[^ ]+| -f[^ ]+| -D[^ ]+_EXPORTS/, "", key)
        }
        /^\}/ {
            sub(/,?\n$/, "", entry)
            if (key in seen)
                next
            seen[key] = 1
            share = count++ % shares
            text[share] = text[share] (text[share] ? ",\n" : "") entry
        }
        END {
            for (share = 0; share < shares; share++)
                print "[\n" text[share] "\n]" >(folder "/" share ".json")
        }' build/dev/compile_commands.json
}

lint_cppcheck()
{
    local folder=build/dev/cppcheck
    rm -rf "$folder"
    mkdir -p "$folder"
    cppcheck_projects "$(nproc)" "$folder"
    printf '%s\n' "$folder"/*.json | xargs -P "$(nproc)" -I FILE cppcheck --project=FILE \
        --enable=warning,performance,portability --inline-suppr --suppressions-list=.cppcheck-suppressions --quiet --error-exitcode=1
}

lint_shell()
{
    git ls-files | xargs grep -lE '^#!.*\b(ba)?sh$|^# shellcheck shell=' | xargs -P "$(nproc)" -n 12 shellcheck -x
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
