#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The lanes of the CPU backend on another processor: cross-compiled, run by an emulator of one program.
# usage: test_cross.sh SOURCE-FOLDER PROCESSOR
set -euo pipefail
source="$1" processor="$2"
compiler="$processor-linux-gnu-gcc" emulator="qemu-$processor-static"
for tool in "$compiler" "$emulator"; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: $tool is not on this machine (Debian and Ubuntu: apt install gcc-$processor-linux-gnu qemu-user-static)"
        exit 77
    fi
done
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
for optimisation in -O0 -O3; do
    "$compiler" -std=gnu11 "$optimisation" -Wall -Wextra -Werror -static -Wl,--wrap=mprotect \
        -I"$source/tests/unit/cpu_lane/cross" -I"$source" -I"$source/include" -I"$source/tests" \
        "$source/tests/unit/cpu_lane/test_cpu_lane.c" "$source/backends/cpu/lanes/cpu_lane.c" \
        "$source/backends/cpu/lanes/cpu_fiber.c" -lm -o "$work/lanes"
    echo "$processor $optimisation: $("$emulator" "$work/lanes")"
done
