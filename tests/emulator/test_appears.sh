#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_appears.sh LIBCUDA   (GYRE: the command)
#
# A driver that is installed into a folder of LD_LIBRARY_PATH after Gyre has remembered that there is none.
# Exit status: 0 it is found by the next program; 77 this machine has a driver already.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
driver=$1
called="gyre backends --json"
export GYRE_CACHE_DIR="$folder/cache"
export LD_LIBRARY_PATH="$folder/empty:$folder/later"
mkdir "$folder/empty" "$folder/later"

# verdict KEY: what `gyre backends --json` has for cuda, as "key": value; without a compiler, which a probe needs not
verdict()
{
    run backends --set backend.cuda.nvrtc=/nowhere/libnvrtc.so --json
    python3 -c "import json, sys
print([row for row in json.load(sys.stdin)['backends'] if row['name'] == 'cuda'][0]['$1'])" <"$folder/out"
}

# expect WORD KEY
expect()
{
    checks=$((checks + 1))
    local found
    found="$(verdict "$2")"
    [[ "$found" == "$1" ]] || fail "expected $2 $1, found $found"
}

if [[ "$(verdict can_start)" == True ]]; then
    echo "left out: a driver is here already"
    exit 77
fi
expect True remembered
ln -s "$driver" "$folder/later/libcuda.so.1"
expect True can_start
expect True remembered
finish
