# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev fuzz: longer runs of the fuzz targets, on the checked-in corpora. Sourced; runs nothing by itself.

# New findings of interest go to build/fuzz/corpus/TARGET; tests/fuzz/corpus/TARGET is only read.
fuzz_one()
{
    local target="$1" seconds="$2" corpus="build/fuzz/corpus/$1"
    mkdir -p "$corpus"
    say "fuzzing $target for $seconds s"
    "build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -artifact_prefix="build/fuzz/" "$corpus" \
        "tests/fuzz/corpus/$target"
}

fuzz_run()
{
    local target="${1:-}" seconds="${2:-60}" program
    [[ -z "$target" || -f "tests/fuzz/fuzz_$target.c" ]] || die "there is no fuzz target '$target': $(fuzz_targets)"
    [[ "$seconds" =~ ^[1-9][0-9]*$ ]] || die "fuzz: expected a number of seconds, found '$seconds'"
    need_packages build test clang
    build_preset fuzz
    if [[ -n "$target" ]]; then
        fuzz_one "$target" "$seconds"
        return
    fi
    for program in build/fuzz/bin/fuzz_*; do
        fuzz_one "${program##*/fuzz_}" "$seconds"
    done
}

fuzz_targets()
{
    printf 'choose one of'
    compgen -G 'tests/fuzz/fuzz_*.c' | sed 's,.*/fuzz_\(.*\)\.c, \1,' | tr -d '\n'
}
