# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test: all stages, what was skipped and why, one line of totals. Sourced; runs nothing by itself.
#
# A stage is a preset and the tests to run in it. Every result is a line of build/test-results.tsv, also those
# that are no ctest test (a build, a formatting check), so that the totals are counted in one place.

# shellcheck source=scripts/lint.sh
source scripts/lint.sh

readonly RESULTS=build/test-results.tsv
# The whole run, installation and builds included: a cap well above what two busy cores take. For each unit of patience
# (scripts/patience.sh), of which there are two at least.
readonly BUDGET_EACH_S=1200

# record STAGE passed|failed|skipped NAME [REASON]
record()
{
    printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4:-}" >>"$RESULTS"
}

# ThreadSanitizer of older compilers cannot cope with the address randomisation of newer kernels.
fixed_addresses()
{
    local machine
    machine="$(uname -m)"
    if setarch "$machine" -R true 2>/dev/null; then
        setarch "$machine" -R "$@"
    else
        "$@"
    fi
}

# How many tests run at once: twice as many as there are processors, which are idle while a test waits for a deadline or another
# process. A test that wants one for itself, or keeps two busy, says PROCESSORS 2.
tests_at_once()
{
    echo $((2 * $(nproc)))
}

# stage_tests STAGE CTEST-ARGUMENT...: runs the tests of a built preset and records them. Its limits are those of the machine now.
stage_tests()
{
    local stage="$1" folder="build/$1" rc=0 patience budget left
    patience="${GYRE_TEST_PATIENCE:-$(scripts/patience.sh)}"
    budget=$((patience * BUDGET_EACH_S)) left=$((patience * BUDGET_EACH_S - SECONDS))
    shift
    rm -f "$folder/junit.xml"
    if ((left > 0)); then
        ((patience == 2)) || say "this machine is slow: limits are $patience times the usual (GYRE_TEST_PATIENCE sets it)"
        GYRE_TEST_PATIENCE="$patience" fixed_addresses timeout "$left" ctest --test-dir "$folder" --output-junit junit.xml \
            --output-on-failure --no-tests=error --timeout $((patience * 300)) "$@" || rc=$?
    fi
    if [[ ! -f "$folder/junit.xml" ]]; then
        record "$stage" failed "$stage/tests" "did not finish within the run's $budget s (exit status $rc)"
        return
    fi
    awk -v stage="$stage" -f scripts/junit.awk "$folder/junit.xml" >"$folder/results.tsv"
    [[ -s "$folder/results.tsv" ]] || record "$stage" failed "$stage/tests" "no test ran"
    cat "$folder/results.tsv" >>"$RESULTS"
}

# stage STAGE TEXT CMAKE-ARGUMENT... -- CTEST-ARGUMENT...
stage()
{
    local stage="$1" cmake_arguments=() target=all
    [[ "$stage" == dev ]] || target=sanitized
    say "== $2"
    shift 2
    while [[ "$1" != "--" ]]; do
        cmake_arguments+=("$1")
        shift
    done
    shift
    if build_target "$stage" "$target" "${cmake_arguments[@]}"; then
        record "$stage" passed "$stage/build"
        stage_tests "$stage" "$@"
    else
        record "$stage" failed "$stage/build" "see build/$stage/build.log"
    fi
}

# The fuzzers are built with AddressSanitizer and UndefinedBehaviorSanitizer: one build serves the tests under these as well.
stage_fuzz()
{
    local tests='unit|plugins|stress|conformance/cpu|conformance/opencl_gathered|crash|durable|attach'
    local not='^unit/cuda/|^crash/.*(opencl|cuda)' # minutes of compilers that are not ours
    if compgen -G '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a' >/dev/null && have clang; then
        stage fuzz "unit, plugin, stress, conformance, crash, journal and attach tests under AddressSanitizer and UndefinedBehaviorSanitizer, short fuzz runs" \
            -- -j "$(tests_at_once)" -R "^(fuzz|$tests)/" -E "$not"
    else
        stage asan "unit, plugin, stress, conformance, crash, journal and attach tests under AddressSanitizer and UndefinedBehaviorSanitizer" "$@" \
            -- -j "$(tests_at_once)" -R "^($tests)/" -E "$not"
        record fuzz skipped fuzz/all "clang with libFuzzer is not on this machine"
    fi
}

# With GYRE_REQUIRE a named thing has to have passed somewhere, and no test of it may have been skipped.
apply_requirements()
{
    local word words
    IFS=', ' read -ra words <<<"${GYRE_REQUIRE:-}"
    for word in "${words[@]}"; do
        awk -F '\t' -v OFS='\t' -v word="$word" '
            function about(text) { return tolower(text) ~ "(^|[^a-z])" tolower(word) "([^a-z]|$)" }
            $2 == "passed" && about($3) { proven = 1 }
            $2 == "skipped" && (word == "all" || about($3) || about($4)) {
                $2 = "failed"
                $4 = "required by GYRE_REQUIRE, but skipped: " $4
            }
            { print }
            END {
                if (word != "all" && !proven)
                    print "require", "failed", "require/" word, "GYRE_REQUIRE names " word ", but no test of it passed"
            }' "$RESULTS" >"$RESULTS.new"
        mv "$RESULTS.new" "$RESULTS"
    done
}

# The tests of one folder that were skipped for the same reason share a row; failures have one each.
print_rows()
{
    awk -F '\t' -v kind="$1" '
        $2 != kind { next }
        {
            folder = $3
            sub(/[^\/]*$/, "", folder)
            key = kind == "skipped" ? $1 FS folder FS $4 : NR
            if (!(key in count)) order[++rows] = key
            count[key]++
            stage[key] = $1
            name[key] = count[key] == 1 ? $3 : folder "* (" count[key] " tests)"
            reason[key] = $4
        }
        END {
            for (i = 1; i <= rows; i++)
                printf "  %-6s %-40s %s\n", stage[order[i]], name[order[i]], reason[order[i]]
        }' "$RESULTS"
}

print_results()
{
    local kind
    for kind in skipped failed; do
        grep -q $'\t'"$kind"$'\t' "$RESULTS" || continue
        printf '\n%s:\n' "$kind"
        print_rows "$kind"
    done
    printf '\n'
    awk -F '\t' '{ count[$2]++ }
        END { printf "%d passed, %d failed, %d skipped\n", count["passed"], count["failed"], count["skipped"]
              exit count["failed"] > 0 || count["passed"] == 0 }' "$RESULTS"
}

# suite_run [all]: without `all`, the tests that are labelled `more` are left out: the same cases a second or third way.
suite_run()
{
    local compiler=() less=(-LE '^more$')
    [[ "${1:-}" != all ]] || less=()
    need_packages build test clang lint
    mkdir -p build
    : >"$RESULTS"
    if have clang; then
        compiler=(-DCMAKE_C_COMPILER=clang)
    fi
    stage dev "everything, warnings are errors" -- -j "$(tests_at_once)" "${less[@]}"
    stage tsan "unit, stress and conformance tests under ThreadSanitizer" "${compiler[@]}" \
        -- -j "$(tests_at_once)" -R '^(unit|stress|conformance/(cpu|opencl_gathered))/'
    stage_fuzz "${compiler[@]}"
    stage_lint "$@"
    apply_requirements
    print_results
}
