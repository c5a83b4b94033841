# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test, ./dev check and ./dev all: their stages, what was skipped and why, one line of totals. Sourced; runs nothing.
#
# A stage is a preset and the tests to run in it. Every result is a line of build/test-results.tsv, also those
# that are no ctest test (a build, a formatting check), so that the totals are counted in one place.
#
# Two labels say which tests of the dev preset `./dev test` leaves out: `long`, which `./dev check` runs, and `more`, the same
# cases a second or third way, which `./dev check all` adds. What `./dev test` runs in short of something long is labelled `brief`:
# `./dev all` has the long form alone.

# shellcheck source=scripts/lint.sh
source scripts/lint.sh
# shellcheck source=scripts/progress.sh
source scripts/progress.sh
# shellcheck source=scripts/changed.sh
source scripts/changed.sh
# shellcheck source=scripts/ports.sh
source scripts/ports.sh

readonly RESULTS=build/test-results.tsv
# The whole run, installation and builds included: a cap well above what two busy cores take. For each unit of patience
# (scripts/patience.sh), of which there are two at least.
readonly BUDGET_EACH_S=1350
readonly SKIP_LINES=5
readonly UNSTEADY_AT_MOST=3 # tests of a stage that may fail once and pass when they are repeated

parts=() # what each part took, in the order of the run
run_under=() # a command that the tests run under, for a system of their own (scripts/ports.sh)

# part NAME BEGUN: that part of the run ends now.
part()
{
    parts+=("$1 $(minutes $((SECONDS - $2)))")
}

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

# How many tests run at once: three for each processor, which is idle while tests wait for a deadline, a disk or another process
# (scripts/patience.sh measures the machine with as many compilers). A test that keeps two processors busy says PROCESSORS 2.
tests_at_once()
{
    echo $((3 * $(nproc)))
}

# run_ctest FOLDER NAME LIMIT-S CTEST-ARGUMENT...: with a line of progress; its output is in FOLDER/tests.log. Observation files of
# processes that tests kill stay in FOLDER, where `gyre stat` does not see them.
run_ctest()
{
    local folder="$1" name="$2" limit="$3"
    shift 3
    rm -rf "$folder/observed"
    mkdir -m 700 "$folder/observed"
    GYRE_OBSERVE__FOLDER="$PWD/$folder/observed" fixed_addresses timeout "$limit" "${run_under[@]}" ctest --test-dir "$folder" --output-junit junit.xml --output-on-failure \
        --no-tests=error "$@" 2>&1 | follow_tests "$name" "$folder/tests.log" # fails as ctest does (pipefail)
}

# unfinished LOG: which tests the run's end cut off.
unfinished()
{
    local tests=""
    [[ ! -f "$1" ]] || tests="$(still_running "$1")"
    [[ -z "$tests" ]] || printf ': %s still ran' "$tests"
}

# repeat_failures STAGE LIMIT-S PATIENCE: tests that failed run twice more, by themselves. What passes both times is unsteady: a defect
# of the test or of what it tests, which the totals name. A test program that crashed is not repeated, nor what fails under a sanitizer, and
# none is when many fail (docs/adr/unsteady.md).
repeat_failures()
{
    local folder="build/$1" results="build/$1/results.tsv" names
    names="$(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*(Failed|Timeout) .*/\1/p' "$folder/tests.log")"
    [[ -n "$names" && "$1" == dev && "$(grep -c $'\tfailed\t' "$results")" -le $UNSTEADY_AT_MOST ]] || return 0
    say "once more, by themselves: ${names//$'\n'/ }"
    mv "$folder/tests.log" "$folder/tests.first.log"
    rm "$folder/junit.xml"
    GYRE_TEST_PATIENCE="$3" run_ctest "$folder" "$1 again" "$2" --timeout $(($3 * 300)) --repeat until-fail:2 \
        -R "^(${names//$'\n'/|})\$" || true
    [[ -f "$folder/junit.xml" ]] || return 0
    awk -v stage="$1" -f scripts/junit.awk "$folder/junit.xml" >"$folder/again.tsv"
    awk -F '\t' -v OFS='\t' '
        NR == FNR { again[$3] = $2; next }
        $2 == "failed" && again[$3] == "passed" { $2 = "unsteady"; $4 = "failed once, then passed twice by itself" }
        { print }' "$folder/again.tsv" "$results" >"$results.new"
    mv "$results.new" "$results"
}

# stage_tests STAGE CTEST-ARGUMENT...: runs the tests of a built preset and records them. Its limits are those of the machine now.
stage_tests()
{
    local stage="$1" folder="build/$1" rc=0 patience budget left begun=$SECONDS
    patience="${GYRE_TEST_PATIENCE:-$(scripts/patience.sh)}"
    budget=$((patience * BUDGET_EACH_S)) left=$((patience * BUDGET_EACH_S - SECONDS))
    shift
    rm -f "$folder/junit.xml" "$folder/tests.log"
    if ((left > 0)); then
        ((patience == 2)) || say "this machine is slow: limits are $patience times the usual (GYRE_TEST_PATIENCE sets it)"
        GYRE_TEST_PATIENCE="$patience" run_ctest "$folder" "$stage" "$left" --timeout $((patience * 300)) \
            -j "$(tests_at_once)" "$@" || rc=$?
    fi
    if [[ ! -f "$folder/junit.xml" ]]; then
        record "$stage" failed "$stage/tests" "did not finish within the run's $budget s (exit status $rc)$(unfinished "$folder/tests.log")"
    else
        awk -v stage="$stage" -f scripts/junit.awk "$folder/junit.xml" >"$folder/results.tsv"
        [[ -s "$folder/results.tsv" ]] || record "$stage" failed "$stage/tests" "no test ran"
        repeat_failures "$stage" $((budget - SECONDS)) "$patience"
        cat "$folder/results.tsv" >>"$RESULTS"
    fi
    part "$stage tests" "$begun"
}

# stage_build STAGE TARGET CMAKE-ARGUMENT...
stage_build()
{
    local stage="$1" begun=$SECONDS rc=0
    build_target "$@" || rc=1
    part "$stage build" "$begun"
    if ((rc == 0)); then
        record "$stage" passed "$stage/build"
    else
        record "$stage" failed "$stage/build" "see build/$stage/build.log"
    fi
    return "$rc"
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
    ! stage_build "$stage" "$target" "${cmake_arguments[@]}" || stage_tests "$stage" "$@"
}

# The fuzzers are built with AddressSanitizer and UndefinedBehaviorSanitizer: one build serves the tests under these as well.
stage_fuzz()
{
    local tests='unit|plugins|stress|conformance/cpu|conformance/opencl_gathered|crash|durable|changes|cluster|attach'
    local not='^unit/cuda/|^crash/.*(opencl|cuda)|^attach/foreign/opencl_' # minutes of compilers that are not ours
    local twice=(-LE '^more$' -LE '^nats$') # what has both labels
    if compgen -G '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a' >/dev/null && have clang; then
        stage fuzz "unit, plugin, stress, conformance, crash, journal and attach tests under AddressSanitizer and UndefinedBehaviorSanitizer, short fuzz runs" \
            -- -R "^(fuzz|$tests)/" -E "$not" "${twice[@]}"
    else
        stage asan "unit, plugin, stress, conformance, crash, journal and attach tests under AddressSanitizer and UndefinedBehaviorSanitizer" "$@" \
            -- -R "^($tests)/" -E "$not" "${twice[@]}"
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

# print_rows VERDICT: each test with it, if there is one. Skips share a row for each reason, the most frequent first, in SKIP_LINES rows.
print_rows()
{
    awk -F '\t' -v verdict="$1" '$2 == verdict { printf "%s  %-6s %-40s %s\n", shown++ ? "" : "\n" verdict ":\n", $1, $3, $4 }' "$RESULTS"
}

print_skips()
{
    awk -F '\t' '
        $2 == "skipped" {
            if (!($4 in count))
                name[$4] = $1 == "dev" ? $3 : $1 ": " $3
            count[$4]++
        }
        END {
            for (reason in count)
                printf "%d\t%s%s\t%s\n", count[reason], name[reason], (count[reason] > 1 ? " and others" : ""), reason
        }' "$RESULTS" | sort -t $'\t' -k1,1nr -k2 | awk -F '\t' -v lines="$SKIP_LINES" -v file="$RESULTS" '
        { row[NR] = sprintf("  %4d  %s: %s", $1, $2, $3); tests[NR] = $1 }
        END {
            shown = NR > lines ? lines - 1 : NR
            for (i = 1; i <= shown; i++)
                print row[i]
            for (; i <= NR; i++)
                rest += tests[i]
            if (NR > shown)
                printf "  %4d  for %d other reasons: %s has them all\n", rest, NR - shown, file
        }'
}

# took: what each part took, in one line.
took()
{
    local text
    printf -v text '%s, ' "${parts[@]}"
    say "took ${text}$(minutes "$SECONDS") in all"
}

print_results()
{
    if grep -q $'\tskipped\t' "$RESULTS"; then
        printf '\nskipped:\n'
        print_skips
    fi
    print_rows unsteady
    print_rows failed
    printf '\n'
    awk -F '\t' '{ count[$2]++ }
        END { printf "%d passed, %d failed, %d skipped", count["passed"], count["failed"], count["skipped"]
              print count["unsteady"] ? ", " count["unsteady"] " unsteady" : ""
              exit count["failed"] > 0 || count["passed"] == 0 }' "$RESULTS"
}

# set_up GROUP...: packages, and an empty list of results.
set_up()
{
    local begun=$SECONDS
    need_packages "$@"
    mkdir -p build
    : >"$RESULTS"
    part set-up "$begun"
}

finish()
{
    apply_requirements
    took
    print_results
}

# check_stages [all]: what ./dev check runs, with all also what is labelled `more`, and clang-tidy.
check_stages()
{
    local compiler=() which=(-L '^long$' -LE '^more$')
    [[ "${1:-}" != all ]] || which=(-L '^(long|more)$')
    if have clang; then
        compiler=(-DCMAKE_C_COMPILER=clang)
    fi
    stage dev "what takes long" -- "${which[@]}"
    stage tsan "unit, stress and conformance tests under ThreadSanitizer" "${compiler[@]}" \
        -- -R '^(unit|stress|conformance/(cpu|opencl_gathered))/'
    stage_fuzz "${compiler[@]}"
    stage_lint "$@"
}

# labels_are_known LABEL...: each is one of the built preset's.
labels_are_known()
{
    local label known
    known="$(GYRE_TEST_PATIENCE=2 ctest --test-dir build/dev --print-labels | sed -n 's/^  //p' | grep -vxE 'long|more')"
    for label; do
        grep -qxF -- "$label" <<<"$known" || die "test: there is no label '$label': choose of $(tr '\n' ' ' <<<"$known")"
    done
}

# suite_test [LABEL...|--changed]: the tests of the dev preset, or those with one of the labels.
suite_test()
{
    local labels=("$@") text="everything, warnings are errors" choice=()
    if [[ "${1:-}" == --changed ]]; then
        changed_labels labels
        ((${#labels[@]})) || die "test: nothing was changed since $(changed_since)"
        [[ "${labels[0]}" != all ]] || labels=()
        text="what was changed since $(changed_since): ${labels[*]:-everything}"
    elif (($#)); then
        text="tests of $*"
    fi
    set_up build test
    say "== $text"
    if stage_build dev all; then
        if ((${#labels[@]})); then
            labels_are_known "${labels[@]}"
            choice=(-L "^($(IFS='|' && echo "${labels[*]}"))\$")
        fi
        stage_tests dev -LE '^(long|more)$' "${choice[@]}"
    fi
    finish
}

# suite_check [all]
suite_check()
{
    set_up build test clang lint
    check_stages "$@"
    finish
}

# Both, with one line of totals: what continuous integration runs.
suite_all()
{
    set_up build test clang lint
    stage dev "everything, warnings are errors" -- -LE '^(long|more|brief)$'
    check_stages
    finish
}

# suite_ports [arm64|musl]
suite_ports()
{
    local port ports=("$@")
    (($#)) || ports=(arm64 musl)
    set_up build test
    for port in "${ports[@]}"; do
        stage_port "$port"
    done
    finish
}
