# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds presets. Sourced; runs nothing.

# shellcheck source=scripts/progress.sh
source "$(dirname "${BASH_SOURCE[0]}")/progress.sh"

# header_is_there FILE: for the compiler, or where backends/cuda looks besides.
header_is_there()
{
    local folder
    works header "$1" && return 0
    for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
        [[ -z "$folder" || ! -f "$folder/include/$1" ]] || return 0
    done
    return 1
}

# came_in FOLDER: the parts that this build left out and that lack nothing now, by the list of cmake/GyreSummary.cmake.
came_in()
{
    local part kind argument parts='' missing=' '
    [[ -f "$1/lacking" ]] || return 0
    while read -r part kind argument; do
        [[ "$parts" == *" $part "* ]] || parts+=" $part "
        if [[ "$kind" == header ]]; then
            header_is_there "$argument" || missing+="$part "
        else
            works "$kind" "$argument" || missing+="$part "
        fi
    done <"$1/lacking"
    for part in $parts; do
        [[ "$missing" == *" $part "* ]] || printf '%s ' "$part"
    done
}

# tell_left_out PRESET: the backends that are not built, and what to do.
tell_left_out()
{
    local line
    [[ -f "build/$1/left-out" ]] || return 0
    while IFS= read -r line; do
        say "$line"
    done <"build/$1/left-out"
}

# build_configure PRESET [CMAKE ARGUMENT...]: only when it was not yet, when packages came in meanwhile, or when something is there
# for want of which a part was left out; once, where the part is left out all the same.
build_configure()
{
    local preset="$1" folder="build/$1" came
    shift
    if ((PACKAGES_INSTALLED)); then
        rm -f "$folder/CMakeCache.txt"
    fi
    came="$(came_in "$folder")"
    if [[ -f "$folder/CMakeCache.txt" && (-f "$folder/build.ninja" || -f "$folder/Makefile") ]] &&
        [[ -z "$came" || "$came" == "$(cat "$folder/lacking.tried" 2>/dev/null)" ]]; then
        return 0
    fi
    if [[ -z "${CMAKE_GENERATOR:-}" ]] && have ninja; then
        export CMAKE_GENERATOR=Ninja
    fi
    if have ccache; then
        set -- -DCMAKE_C_COMPILER_LAUNCHER=ccache "$@"
    fi
    say "configuring $folder"
    run_logged "$folder/configure.log" cmake --preset "$preset" "$@" || return 1
    printf '%s' "$came" >"$folder/lacking.tried"
}

# build_logged NAME LOG COMMAND...: as run_logged, with a line of progress.
build_logged()
{
    local name="$1" log="$2"
    shift 2
    "$@" 2>&1 | follow_build "$name" "$log" || log_failure "$log" "$@"
}

# build_target PRESET TARGET [CMAKE ARGUMENT...]
build_target()
{
    local preset="$1" target="$2"
    shift 2
    build_configure "$preset" "$@" || return 1
    say "building $preset"
    build_logged "$preset" "build/$preset/build.log" cmake --build "build/$preset" --target "$target" --parallel "$(nproc)" || return 1
    tell_left_out "$preset"
}

# build_preset PRESET [CMAKE ARGUMENT...]
build_preset()
{
    build_target "$1" all "${@:2}"
}
