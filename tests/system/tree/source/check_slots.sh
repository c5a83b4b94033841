#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every slot of the ops table of backend.h has its place in the table of docs/backends.md, and none is made up there.
# usage: check_slots.sh, in the source tree
set -euo pipefail

slots="$(sed -n '/^typedef struct gyre_backend_ops/,/^}/s/^    [a-z_ ]*(\*\([a-z_]*\))(.*/\1/p' include/gyre/backend.h | sort)"
# shellcheck disable=SC2016 # backquotes of the page
rows="$(sed -n '/^| Slot /,/^$/s/^| \(`[^|]*\) | .*/\1/p' docs/backends.md | grep -o '`[a-z_]*`' | tr -d '`' | sort)"
[[ "$(wc -l <<<"$slots")" -ge 16 ]] || { echo "found fewer than 16 slots in backend.h: $slots"; exit 1; }
diff <(echo "$slots") <(echo "$rows") || { echo "docs/backends.md does not name the slots of backend.h (<) as they are"; exit 1; }
echo "all slots are described"
