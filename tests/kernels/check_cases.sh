#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cases that are checked in are those that the generator writes.
# usage: check_cases.sh PYTHON FOLDER
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
PYTHONDONTWRITEBYTECODE=1 "$1" "$2/generate" "$work"
diff -r "$work" "$2/cases"
