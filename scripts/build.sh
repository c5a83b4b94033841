# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds presets. Sourced; runs nothing.

# build_configure PRESET [CMAKE ARGUMENT...]: only when it was not yet, or when packages came in meanwhile.
build_configure()
{
    local preset="$1" folder="build/$1"
    shift
    if ((PACKAGES_INSTALLED)); then
        rm -f "$folder/CMakeCache.txt"
    fi
    if [[ -f "$folder/CMakeCache.txt" && (-f "$folder/build.ninja" || -f "$folder/Makefile") ]]; then
        return 0
    fi
    if [[ -z "${CMAKE_GENERATOR:-}" ]] && have ninja; then
        export CMAKE_GENERATOR=Ninja
    fi
    if have ccache; then
        set -- -DCMAKE_C_COMPILER_LAUNCHER=ccache "$@"
    fi
    say "configuring $folder"
    run_logged "$folder/configure.log" cmake --preset "$preset" "$@"
}

# build_target PRESET TARGET [CMAKE ARGUMENT...]
build_target()
{
    local preset="$1" target="$2"
    shift 2
    build_configure "$preset" "$@" || return 1
    say "building $preset"
    run_logged "build/$preset/build.log" cmake --build "build/$preset" --target "$target" --parallel "$(nproc)"
}

# build_preset PRESET [CMAKE ARGUMENT...]
build_preset()
{
    build_target "$1" all "${@:2}"
}
