#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_worker_devices.sh KERNELS   (GYRE: the command)
#
# A driver's start takes longer with each device that it sees, and a worker process serves one: it sees no other,
# however the device was named. The probe and programs without workers see all.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
words="$1/words.gyre.c:words_of_6"
request='{"w":[1,2,3,4,5,6]}'
export EMULATOR_SEEN="$folder/seen" XDG_CACHE_HOME="$folder/cache"
unset CUDA_VISIBLE_DEVICES
first=GPU-736f6674-7761-7265-2c20-746573747330
second=GPU-736f6674-7761-7265-2c20-746573747331

# sees WORDS UUID ARGUMENT...: which devices `backends --why` finds in a worker, and what each worker saw.
sees()
{
    local counts="$1" identities="$2"
    shift 2
    : >"$EMULATOR_SEEN"
    run backends --why cuda --again --set backend.cuda.isolation=process "$@"
    exits 0
    expect_same "identities" "$identities" "$(sed -n 's/^ *details .*\(GPU-[0-9a-f-]*\)$/\1/p' <<<"$out" | xargs)"
    expect_same "devices seen" "$counts" "$(sort "$EMULATOR_SEEN" | xargs)"
}

# expect_same WHAT EXPECTED FOUND
expect_same()
{
    checks=$((checks + 1))
    [[ "$2" == "$3" ]] || fail "$1: expected '$2', found '$3'"
}

sees "gyre-probe 2 gyre-worker 1 gyre-worker 1" "$first $second"
sees "gyre-probe 2 gyre-worker 1 gyre-worker 1" "$second $first" --set backend.cuda.device=1,0
sees "gyre-probe 2 gyre-worker 1" "$second" --set "backend.cuda.device=$second"
export CUDA_VISIBLE_DEVICES=1
sees "gyre-probe 1 gyre-worker 1" "$second"
export CUDA_VISIBLE_DEVICES=1,0
sees "gyre-probe 2 gyre-worker 1 gyre-worker 1" "$second $first"
sees "gyre-probe 2 gyre-worker 1" "$first" --set backend.cuda.device=1
sees "gyre-probe 2 gyre-worker 2" "$first" --set "backend.cuda.device=$first" # not sure which of the two that is
unset CUDA_VISIBLE_DEVICES

: >"$EMULATOR_SEEN"
run call --backend cuda --device 1 "$words" "$request"
exits 0
expect_same "devices seen" "gyre 2" "$(grep -v '^gyre-probe' "$EMULATOR_SEEN" | xargs)" # a verdict may be remembered
: >"$EMULATOR_SEEN"
run call --backend cuda --device 1 --set backend.cuda.isolation=process "$words" "$request"
exits 0
expect_same "devices seen" "gyre-worker 1" "$(grep -v '^gyre-probe' "$EMULATOR_SEEN" | xargs)"

# one that the driver does not have: the sentence names the variable that hides it
export CUDA_VISIBLE_DEVICES=7
run call --backend cuda "$words" "$request"
exits 3
says "where CUDA_VISIBLE_DEVICES is 7; see whether \`nvidia-smi\` lists it"
finish
