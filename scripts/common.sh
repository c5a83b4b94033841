# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What every part of ./dev shares. Sourced; runs nothing.

say()
{
    printf 'gyre: %s\n' "$*"
}

die()
{
    printf 'gyre: %s\n' "$*" >&2
    exit 1
}

have()
{
    command -v "$1" >/dev/null 2>&1
}

# log_failure LOG COMMAND...: shows the end of a failed command's output, and fails.
log_failure()
{
    local log="$1"
    shift
    tail -n 40 "$log" >&2
    printf 'gyre: failed: %s (all of its output: %s)\n' "$*" "$log" >&2
    return 1
}

# run_logged LOG COMMAND...: the command's output goes to LOG; its end is shown only when it fails.
run_logged()
{
    local log="$1"
    shift
    mkdir -p "$(dirname "$log")"
    "$@" >"$log" 2>&1 || log_failure "$log" "$@"
}
