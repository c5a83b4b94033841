#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No key of the configuration is idle: each row of the table is read somewhere by its name.
# usage: check_keys.sh [TREE]; prints every key that nobody reads, exits 1 when there is one.
set -euo pipefail
cd "${1:-.}"
table=core/config/table.c
shopt -s nullglob
parts=("$table" core/config/table_*.h)
keys=0
idle=0

while read -r key; do
    keys=$((keys + 1))
    if ! grep -rqF --include='*.c' --exclude="$(basename "$table")" "\"$key\"" core cli backends transports; then
        echo "$table: the key '$key' has no effect: nothing in core, cli, backends or transports reads \"$key\""
        idle=$((idle + 1))
    fi
done < <(sed -n 's/^ *\.key = "\([a-z_]*\)",$/\1/p' "${parts[@]}" | sort -u)

((keys > 0)) || { echo "$table: no keys found"; exit 1; }
((idle == 0)) || exit 1
echo "$keys keys, all of them read"
