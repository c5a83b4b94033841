#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Places of accesses are told by file and line also where the path has a space: those of a finding, and those that a difference of orders
# comes from.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
handler="$folder/a folder/sum.gyre.c"
mkdir "$folder/a folder"
cat >"$handler" <<'END'
#include <gyre/kernel.h>
#define ASK(FIELD) FIELD(u32, n)
GYRE_MESSAGE(ask, ASK)
#define SUM(FIELD) FIELD(u32, sum)
GYRE_MESSAGE(total, SUM)
GYRE_KERNEL_WITH(sum, ask, ask, total, gyre_none)
{
    reply->n = state->sum += request->n;
    return GYRE_REPLY;
}
END
cd "$folder" || exit 1
how=(--blocks 2 --timeout $((30000 * patience)) "$handler" '{"n":1}' '{"n":2}' '{"n":4}')
run call --check races "${how[@]}"
exits 1
says "reads state->sum at $handler:8 (\`reply->n = "
run call --check order --seeds 20 "${how[@]}"
exits 1
says "'sum' reads state->sum at $handler:8 (\`reply->n = "
finish
