#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gyre call --check crash` with kernels and settings of all kinds: what keeps nothing has no checkpoints, and what the configuration says of
# checkpoints does not count.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
cd "$folder" || exit 1
cat >two.gyre.c <<'END'
#include <gyre/kernel.h>
#define NUMBER(FIELD) FIELD(u32, value)
GYRE_MESSAGE(number, NUMBER)
GYRE_KERNEL(twice, number, number)
{
    reply->value = 2 * request->value;
    return GYRE_REPLY;
}
GYRE_ACTOR(sum, number, number, number)
{
    state->value += request->value;
    *reply = *state;
    return GYRE_REPLY;
}
END
limit=(--timeout $((30000 * patience)))

# passes KERNEL OPTION...: with a crash, whatever the seed says of checkpoints.
passes()
{
    local kernel="$1" first
    shift
    for first in 1 2 3; do
        run call --check crash --seed "$first" --seeds 2 "${limit[@]}" "$@" "two.gyre.c:$kernel" '{"value":1}' '{"value":2}' '{"value":3}'
        exits 0
        says "3 of 3 answers as expected"
        says "signal 9"
    done
}

passes twice
passes sum --set kernel.sum.checkpoints=false
finish
