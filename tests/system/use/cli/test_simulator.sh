#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `--check` and backend.cpu.check: the example of docs/simulator.md word for word, and what is refused. The handlers with
# planted mistakes are in tests/simulator.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)"
export XDG_CACHE_HOME="$folder/cache"
page="$root/docs/simulator.md"
numbers='{"values":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}'

awk '/^```c$/ { inside = 1; next } /^```$/ && inside { exit } inside' "$page" >"$folder/total.gyre.c"
run call --lanes 16 --check races "$folder/total.gyre.c" "$numbers"
exits 1
prints "$(grep -o '{"failed":{"code":-20,.*' "$page")"
# the sentence of the page, which has it in several lines
sentence="$(sed -n "/^    kernel 'total': check races:/,/^$/p" "$page" | sed 's/^ *//' | tr '\n' ' ' | sed 's/ *$//')"
says "${sentence//\/home\/you/$folder}"

# the mend that the page names
sed '14s/$/ gyre_barrier(gyre);/' "$folder/total.gyre.c" >"$folder/mended.gyre.c"
run call --lanes 16 --check races,memory "$folder/mended.gyre.c" "$numbers"
exits 0
prints '{"sum":136}'

# by the configuration, in a process of its own, and through a pipeline's kernel as any other
run call --backend cpu --set backend.cpu.check=races --set backend.cpu.isolation=process --lanes 16 \
    "$folder/total.gyre.c" "$numbers"
exits 1
prints '{"failed":{"code":-20,'
says "kernel 'total': check races: lane 8 writes bytes 32 to 35 of the scratch"

# without checks the kernel is the same file, whose wrong answer nobody notices
run call --backend cpu --lanes 16 "$folder/total.gyre.c" "$numbers"
exits 0
run compile --backend cpu "$folder/total.gyre.c"
plain="$(grep '^compiled file: ' <<<"$out")"
run compile --backend cpu --set backend.cpu.check=none "$folder/total.gyre.c"
prints "$plain"
run compile --backend cpu --set backend.cpu.check=races "$folder/total.gyre.c"
prints 'compiled file: '
[[ -n "$plain" && "$out" != *"$plain"* ]] || fail "expected another file with checks"

# a file that was compiled without checks has none
run compile --backend cpu -o "$folder/plain.so" "$folder/total.gyre.c"
exits 0
run call --lanes 16 --check races "$folder/plain.so" "$numbers"
exits 1
says "was compiled without checks, and backend.cpu check asks for some"

run call --check races,memmory "$folder/total.gyre.c" "$numbers"
exits 3
says "check must be words of this list, separated by commas: races, memory; or none, found 'races,memmory'"
run call --check races --set backend.cpu.sanitize=undefined "$folder/total.gyre.c" "$numbers"
exits 3
says 'backend.cpu check and sanitize = undefined exclude each other'
run call --check races --backend cuda "$folder/total.gyre.c" "$numbers"
exits 2
says "--check runs handlers on the backend cpu, and --backend names 'cuda'"
run call --check races --attach total "$numbers"
exits 2
says "--check is for handlers that run here"
finish
