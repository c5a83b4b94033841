#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What Gyre's macros put beside a user's names begins with gyre_ or GYRE_, in every dialect: then no type, field, kernel or
# buffer can be hidden by it. What they make of a user's name is no name that Gyre's headers have themselves. Members, which
# stand behind a dot or an arrow, hide no type. Only preprocesses: no device and no device's compiler is needed.
# usage: test_expansions.sh COMPILER SOURCES
set -euo pipefail
compiler="$1" sources="$2" failed=0
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# What handlers are told of, and what the languages and their compilers have themselves (the check refuses those as names).
allowed="request reply state scratch buffers ports gyre f32 u32 u64 utf8
alignof break char const continue default do else enum extern for if inline int restrict return sizeof static static_assert struct
template typedef union void volatile while memcpy memset get_global_id get_group_id"
tr ' ' '\n' <<<"$allowed" | sort >"$work/allowed"

# words FILE: the words of a text, without those of string literals
words()
{
    sed 's/"[^"]*"/ /g' "$1" | grep -oE '\b[A-Za-z_][A-Za-z0-9_]*' | sort -u
}

# dialect NAME OPTION...
dialect()
{
    local name="$1" found
    shift
    "$compiler" -E -x c -I"$sources/include" "$@" "$sources/tests/system/tree/names/expanded.gyre.c" >"$work/all" 2>/dev/null || {
        echo "$name: cannot be preprocessed"
        failed=1
        return
    }
    awk '/^# [0-9]+ "USER"/ {on = 1; next} /^# [0-9]+ "/ {on = 0} on' "$work/all" >"$work/used"
    awk '/^# [0-9]+ "USER"/ {on = 1; next} /^# [0-9]+ "/ {on = 0} !on' "$work/all" >"$work/headers"
    [[ "$(grep -c _mine "$work/used")" -gt 10 ]] || { echo "$name: nothing was expanded"; failed=1; }
    sed 's/\(->\|\.\) *[A-Za-z_][A-Za-z0-9_]*/ /g' "$work/used" >"$work/without_members"
    found="$(words "$work/without_members" | grep -vE '^(gyre_|GYRE_|_)|_mine' | comm -23 - "$work/allowed")" || true
    if [[ -n "$found" ]]; then
        echo "$name: macros put these names beside the user's: $(tr '\n' ' ' <<<"$found")"
        failed=1
    fi
    # gyre_runner_kernel1_mine: no name of the headers may begin with gyre_runner_, nor any other such name with what
    # begins this one. Types that Gyre has itself are named alike, and that is meant.
    words "$work/used" | grep -E '^gyre_.*_mine' | sed -E 's/[a-z]+[0-9]*_mine.*//' | sort -u >"$work/made"
    words "$work/headers" | grep '^gyre_' |
        grep -vE '_(gyre_[a-z]+|[iu](8|16|32|64)|f32|f64|id128|utf8|(span|optional)_[a-z0-9]+)$' >"$work/own" || true
    found="$(awk 'NR == FNR {made[$1]; next}
        {for (m in made) if (index($1, m) == 1 && length($1) > length(m)) print m "NAME and " $1}' "$work/made" "$work/own")"
    found+="$(awk '{made[NR] = $1}
        END {for (i in made) for (j in made)
            if (i != j && index(made[j], made[i]) == 1 && made[j] !~ /_gyre_/) print made[i] "NAME and " made[j] "NAME"}' \
        "$work/made")"
    if [[ -n "$found" ]]; then
        echo "$name: these names can be one and the same:"
        echo "$found"
        failed=1
    fi
}

all=(-DGYRE_TIMED=1 -DGYRE_HEADED=1 -DGYRE_SEALED=1)
cuda=(-D__CUDACC_RTC__)
opencl=(-D__OPENCL_VERSION__=120 -Dcl_khr_fp64)
dialect cpu
dialect cpu_whole "${all[@]}"
dialect check -DGYRE_CHECK
dialect cuda "${cuda[@]}" "${all[@]}"
dialect cuda_linked "${cuda[@]}" -DGYRE_CUDA_LINKED
dialect opencl "${opencl[@]}"
dialect opencl_resident "${opencl[@]}" "${all[@]}" -DGYRE_OPENCL_DIRECT -DGYRE_OPENCL_STAY
dialect opencl_alone "${opencl[@]}" -DGYRE_OPENCL_SOLO -DGYRE_OPENCL_DIRECT -DGYRE_TIMED=1
dialect opencl_stages "${opencl[@]}" "${all[@]}" -DGYRE_STAGE=1
dialect opencl_stages_alone "${opencl[@]}" -DGYRE_STAGE=1 -DGYRE_OPENCL_SOLO -DGYRE_OPENCL_DIRECT
dialect wired -DGYRE_WIRED=1
dialect wired_cuda "${cuda[@]}" -DGYRE_WIRED=2
dialect wired_opencl "${opencl[@]}" -DGYRE_WIRED=2
exit "$failed"
