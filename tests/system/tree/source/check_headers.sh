#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone, as C11 and as C++17, with every compiler that is there, without a warning.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failed=0
ran=0

# alone COMPILER LANGUAGE STANDARD HEADER [OPTION...]
alone()
{
    command -v "$1" >/dev/null || return 0
    # a file has to declare something, which a header of macros does not
    printf '#include "%s"\n#include "%s"\ntypedef int something;\n' "$4" "$4" >"$work/alone.$2"
    ran=$((ran + 1))
    "$1" "-std=$3" "${@:5}" -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$work/alone.$2" || {
        echo "$4 does not compile alone: $1 -std=$3"
        failed=1
    }
}

# The texts in dialect/ are parts of kernel.h, which chooses one of them.
for header in include/gyre/*.h; do
    name="${header#include/}"
    alone gcc c c11 "$name"
    alone clang c c11 "$name"
    alone g++ cpp c++17 "$name"
    alone clang++ cpp c++17 "$name"
done

for standard in c++17 c++20; do
    alone g++ cpp "$standard" gyre/gyre.hpp
    alone clang++ cpp "$standard" gyre/gyre.hpp
done

# Descriptors as docs/adr/names.md has them begin, and a list whose name goes behind its message.
printf '%s\n' '#include <gyre/gyre.h>' '#define ORDER(FIELD) FIELD(u32, a)' 'GYRE_MESSAGE(shop_order, ORDER)' '#undef ORDER' \
    'int main() { gyre_launch_desc desc{}; desc.size = sizeof desc; return desc.size == GYRE_TYPE(shop_order)->size; }' \
    >"$work/begun.cpp"
for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    ran=$((ran + 1))
    "$compiler" -std=c++20 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$work/begun.cpp" || {
        echo "a descriptor that begins with nothing is warned of: $compiler -std=c++20"
        failed=1
    }
done

# What strict ISO C hides is asked for in front of the first header of a file; behind it, it is told.
for header in thread.h waiting.h; do
    command -v gcc >/dev/null || break
    ran=$((ran + 1))
    printf '#include <stdio.h>\n#include <gyre/%s>\n' "$header" >"$work/late.c"
    said="$(gcc -std=c11 -Iinclude -fsyntax-only "$work/late.c" 2>&1 || true)"
    [[ "$said" == *"gyre/$header needs "*": include it first, or define _DEFAULT_SOURCE"* ]] || {
        echo "$header does not say what it needs behind the C library's headers: gcc -std=c11"
        failed=1
    }
done

# A typed reply is found as what it is, without a cast, in both languages; what is no pointer's address is refused.
cat >"$work/typed.h" <<'EOF'
#include <gyre/gyre.h>
struct answer { int value; };
static inline gyre_status find(gyre_queue *queue, const void *message, const gyre_type *type)
{
    const struct answer *found;
    const void *place;
    size_t size;
    gyre_status status = gyre_reply_as(queue, message, 8, type, &place, &size);
    return status != GYRE_OK ? status : gyre_reply_as(queue, message, 8, type, &found, &size);
}
#ifdef WRONG
static inline gyre_status find_in(gyre_queue *queue, const void *message, const gyre_type *type)
{
    struct answer found;
    size_t size;
    return gyre_reply_as(queue, message, 8, type, &found, &size);
}
#endif
EOF
for way in "gcc c c11" "clang c c11" "g++ cpp c++17" "clang++ cpp c++17"; do
    read -r compiler language standard <<<"$way"
    command -v "$compiler" >/dev/null || continue
    ran=$((ran + 1))
    printf '#include "typed.h"\nint something;\n' >"$work/typed.$language"
    options=("-std=$standard" -Wall -Wextra -Wpedantic -Wno-unused-function -Werror -Iinclude "-I$work" -fsyntax-only)
    "$compiler" "${options[@]}" "$work/typed.$language" || {
        echo "gyre_reply_as wants a cast: $way"
        failed=1
    }
    ! "$compiler" "${options[@]}" -DWRONG "$work/typed.$language" 2>/dev/null || {
        echo "gyre_reply_as takes the address of what is no pointer: $way"
        failed=1
    }
done

# Some compilers of OpenCL C refuse variadic macros, which others take.
if command -v clang >/dev/null; then
    ran=$((ran + 1))
    if clang -x cl -cl-std=CL1.2 -Wpedantic -Iinclude -fsyntax-only examples/vector_add/vector_add.gyre.c 2>&1 |
        grep -A 1 'variadic macros'; then
        echo "the dialect of OpenCL has variadic macros, which OpenCL C 1.2 does not have"
        failed=1
    fi
fi

# A program may have other meanings for the short names of types.
{
    echo '#pragma once'
    echo '#define GYRE_NO_SHORT_TYPES'
    echo 'typedef struct own { int member; } i8, i16, i32, i64, u8, u16, u32, u64, f32, f64;'
    for header in include/gyre/*.h; do
        [[ "$header" == */kernel.h ]] || echo "#include \"${header#include/}\""
    done
} >"$work/own_names.h"
alone gcc c c11 "$work/own_names.h" -D_DEFAULT_SOURCE
alone g++ cpp c++17 "$work/own_names.h"

# Messages that C programs declare are for C++ programs too: one has a field named as its type.
for messages in examples/*/*.h; do
    case "$messages" in *_wire.h | */backend_template/*) continue ;; esac
    alone gcc c c11 "$PWD/$messages"
    alone g++ cpp c++17 "$PWD/$messages"
    alone clang++ cpp c++17 "$PWD/$messages"
done

if ((ran == 0)); then
    echo "no compiler was found under its usual name"
    exit 1
fi
echo "$ran compilations"
exit "$failed"
