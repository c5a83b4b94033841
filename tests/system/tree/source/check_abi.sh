#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What programs and plugins are compiled against is what packaging/abi has of it, and what differs is told: of trees from which a
# function is gone, where a struct got a member, or where an enum's value is another.
# usage: check_abi.sh LIBRARY
set -euo pipefail
library="$1" failed=0
bash scripts/abi.sh "$library"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
root="$PWD"

# caught NAME HEADER SED-SCRIPT: a tree with this change of a header is refused, with this name in the report.
caught()
{
    local name="$1" header="$2" said
    rm -rf "$work/tree"
    mkdir "$work/tree"
    cp -r include "$work/tree"
    ln -s "$root/tests" "$root/scripts" "$root/packaging" "$work/tree"
    sed -i "$3" "$work/tree/include/gyre/$header"
    if cmp -s "include/gyre/$header" "$work/tree/include/gyre/$header"; then
        echo "nothing of $header was changed by $3"
        failed=1
    elif said="$(cd "$work/tree" && bash scripts/abi.sh "$library")" || ! grep -q "\b$name\b" <<<"$said"; then
        printf 'not caught: %s\n%s\n' "$3" "$said"
        failed=1
    fi
}

caught gyre_error_text gyre.h 's/^GYRE_API const char \*gyre_error_text(void);//'
caught gyre_launch_desc gyre.h '/^typedef struct gyre_launch_desc {/,/^}/s/^}/    int came_later;\n}/'
caught gyre_backend_ops backend.h '/^typedef struct gyre_backend_ops {/,/^}/s/^}/    int came_later;\n}/'
caught gyre_status status.h 's/GYRE_CLOSED = 10/GYRE_CLOSED = 50/'
exit "$failed"
