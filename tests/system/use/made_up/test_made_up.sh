#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_made_up.sh FIRST LAST [BACKEND]   (GYRE: the command)
#
# Block kernels that made_up_blocks.py makes of these seeds reply on the backend (opencl) what they reply on the CPU, with
# one lane, with fewer lanes than items and with lanes that have none. A platform's compiler can get barriers wrong without
# a word.
set -u
backend="${3:-opencl}"
here="$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=tests/system/use/cli/expect.sh
source "$here/../cli/expect.sh"
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
why="$("$GYRE" backends --why "$backend")"
grep -q '^verdict *can start' <<<"$why" || { echo "not on this machine: $backend"; exit 77; }
# there by default a block has one lane, and this is for who wants more (docs/backends/opencl.md)
[[ ! "$why" =~ PoCL\ ([6-9]|[1-9][0-9])\. ]] || export POCL_WORK_GROUP_METHOD=cbs
export XDG_CACHE_HOME="$folder/cache" POCL_CACHE_DIR="$folder/pocl"
called="gyre call"

# replies BACKEND LANES: to all requests; what was said, where there is none.
replies()
{
    "$GYRE" call --backend "$1" --lanes "$2" --timeout "$((100000 * ${GYRE_TEST_PATIENCE:-1}))" "$folder/blocks.gyre.c" <"$folder/requests" 2>"$folder/said"
    [[ $? -le 1 ]] || cat "$folder/said"
}

for ((seed = $1; seed <= $2; seed++)); do
    python3 "$here/made_up_blocks.py" "$seed" "$folder" || fail "no kernel of seed $seed"
    for lanes in 1 $((seed % 3 == 0 ? 33 : 64)); do
        right="$(replies cpu "$lanes")"
        checks=$((checks + 1))
        [[ "$(wc -l <<<"$right")" -eq 12 ]] || fail "seed $seed: expected 12 replies on the CPU, found: $right"
        checks=$((checks + 1))
        [[ "$(replies "$backend" "$lanes")" == "$right" ]] ||
            fail "seed $seed with $lanes lanes: $backend replies otherwise than the CPU"
    done
done
finish
