#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What programs and plugins are compiled against, beside what is stored of it in packaging/abi: every function of the library, and
# the layout of every struct, union and enum of the public headers.
# usage: abi.sh LIBRARY [store]    in the folder of the sources. Exits 0 when nothing differs but what came to it, 1 else, and 77
# where that cannot be told on this machine.
#
# abidw reads a small library that has a pointer to each of them. Reading libgyre.so itself would leave out the structs of plugins,
# which none of its functions takes, and would tell of inner structs, whose headers are called as public ones (kernel.h).
set -euo pipefail
library="$1" store="${2:-}"
stored="packaging/abi/libgyre-$(uname -m).abi.gz"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cannot_tell()
{
    echo "SKIPPED: $1"
    exit 77
}

# public_functions: the names of all GYRE_API functions.
public_functions()
{
    awk -f tests/system/tree/source/code_view.awk include/gyre/*.h | cut -d: -f3- | tr '\n' ' ' | grep -oE 'GYRE_API [^;(]*\(' |
        grep -oE 'gyre_[a-z0-9_]+\($' | tr -d '(' | sort -u
}

# includes: all headers of programs and plugins. kernel.h is compiled into handlers, where they run.
includes()
{
    local header
    for header in include/gyre/*.h; do
        [[ "$header" == */kernel.h ]] || echo "#include <${header#include/}>"
    done
}

# witness: a C source with a pointer to each type and function.
witness()
{
    includes
    includes | cc -std=gnu11 -E -P -Iinclude -x c - | grep -oE '\b(struct|union|enum) gyre_[a-z0-9_]+ *\{' | tr -d '{' | sort -u |
        awk '{ printf "extern %s %s *gyre_abi_%s_%s; %s %s *gyre_abi_%s_%s;\n", $1, $2, $1, $2, $1, $2, $1, $2 }'
    public_functions | awk '{ printf "extern __typeof__(%s) *gyre_abi_%s; __typeof__(%s) *gyre_abi_%s = %s;\n", $1, $1, $1, $1, $1 }'
}

# present FILE: the ABI of these headers, of which the library has to have each function.
present()
{
    witness >"$work/witness.c"
    if ! cc -std=gnu11 -g -fPIC -shared -Iinclude -o "$work/libgyre.so" "$work/witness.c" "$library" -Wl,-z,defs 2>"$work/errors"; then
        echo "$library does not have what the headers in include/gyre declare:"
        grep -E 'error|undefined' "$work/errors" | head -20
        exit 1
    fi
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-parameter-names --no-elf-needed --out-file "$1" "$work/libgyre.so"
}

command -v abidiff >/dev/null || cannot_tell "abidiff is not on this machine (Debian, Ubuntu: apt install abigail-tools)"
if [[ "$store" == store ]]; then
    present "$work/present.abi"
    mkdir -p "$(dirname "$stored")"
    gzip -9nc "$work/present.abi" >"$stored"
    echo "$stored has the ABI of this tree: $(public_functions | wc -l) functions, $(grep -c gyre_abi_ "$work/witness.c") names in all"
    exit 0
fi
[[ -f "$stored" ]] || cannot_tell "packaging/abi has no ABI of a $(uname -m), to which this one could be compared: ./dev abi store writes it"
present "$work/present.abi"
gzip -dc "$stored" >"$work/stored.abi"
status=0
abidiff --no-added-syms "$work/stored.abi" "$work/present.abi" >"$work/difference" 2>&1 || status=$?
if ((status == 0)); then
    added="$(abidiff "$work/stored.abi" "$work/present.abi" 2>&1 | grep -cE "^ +\[A\]")" || true
    echo "nothing that was there has changed; $added names that $stored does not have"
    exit 0
fi
if ((status & 3)); then
    echo "abidiff does not read $stored, or what abidw writes here (exit status $status):"
else
    echo "programs and plugins that were built before would not fit this tree: $stored says otherwise."
fi
sed 's/gyre_abi_\(struct\|union\|enum\)_//g; s/gyre_abi_//g' "$work/difference"
echo "If that is meant, ./dev abi store writes the ABI of this tree there; docs/review.md says what else belongs to such a change."
exit 1
