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
    need_packages build test clang
    build_preset fuzz
    if [[ -n "$target" ]]; then
        [[ -x "build/fuzz/bin/fuzz_$target" ]] || die "there is no fuzz target '$target': $(fuzz_targets)"
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
    compgen -G 'build/fuzz/bin/fuzz_*' | sed 's,.*/fuzz_, ,' | tr -d '\n'
}
