#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pin, where the process may not use the processors that it names.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"

GYRE_REAL="$GYRE"
GYRE="$UNPINNED"
for error in 22 1; do # EINVAL, EPERM
    run $error "$GYRE_REAL" call --backend cpu --blocks 2 --set backend.cpu.pin=0 examples/command/scale.gyre.c '{"value":20.5,"factor":2}'
    exits 0
    prints '{"scaled":41.0}'
    says "pin: this process may not use every processor that is named: a worker thread runs where it may"
done
finish
