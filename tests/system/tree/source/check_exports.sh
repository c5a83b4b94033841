#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library shows exactly what the public headers declare and its Debian package lists, under a versioned name, and needs no
# vendor's library.
# usage: check_exports.sh LIBRARY NM
set -euo pipefail
library="$1"
nm="$2"

declared="$(awk -f tests/system/tree/source/code_view.awk include/gyre/*.h | cut -d: -f3- | tr '\n' ' ' |
    grep -oE 'GYRE_API [^;(]*\(' | grep -oE 'gyre_[a-z0-9_]+\($' | tr -d '(' | sort -u)"
shown="$("$nm" -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)"

if [[ -z "$declared" ]]; then
    echo "found no GYRE_API function in include/gyre"
    exit 1
fi
if ! diff <(echo "$declared") <(echo "$shown"); then
    echo "'<' is declared in a public header and not exported; '>' is exported and not declared"
    exit 1
fi
packaged="$(sed -nE 's/^ (gyre_[a-z0-9_]+)@.*/\1/p' packaging/debian/libgyre*.symbols | sort -u)"
if ! diff <(echo "$packaged") <(echo "$shown"); then
    echo "'<' stands in packaging/debian/libgyre*.symbols and is not exported; '>' is exported and does not stand there"
    exit 1
fi
if ! readelf -d "$library" | grep -qE 'SONAME.*\[libgyre\.so\.(0\.[0-9]+|[1-9][0-9]*)\]'; then
    echo "$library has no SONAME libgyre.so.0.MINOR, or from 1.0 on libgyre.so.MAJOR"
    exit 1
fi
if readelf -d "$library" | grep NEEDED | grep -vE '\[(libc|libm|libdl|libpthread|ld-linux.*|libinih|lib[a-z]+san)\.so'; then
    echo "the library may need nothing but libc and inih"
    exit 1
fi
echo "$(echo "$shown" | wc -l) symbols"
