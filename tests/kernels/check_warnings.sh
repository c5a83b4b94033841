#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A compiler warns of nothing in these kernels, so of nothing in Gyre's own headers: its warnings are in the log of each program.
# Exit code 77: there is no compiler for the backend.
# usage: check_warnings.sh GYRE BACKEND ARCHITECTURE FILE...
set -euo pipefail
gyre="$1" backend="$2" arch="$3"
shift 3
for file in "$@"; do
    code=0
    said="$("$gyre" compile --backend "$backend" --arch "$arch" --warnings "$file" 2>&1 >/dev/null)" || code=$?
    if [ $code = 3 ]; then
        echo "$said"
        exit 77
    fi
    if [ "$code" != 0 ] || [ -n "$said" ]; then
        echo "$file: exit code $code, and the compiler says: $said"
        exit 1
    fi
done
