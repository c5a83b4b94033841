#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_peers.sh CONFORMANCE   (GYRE: the command)
#
# How bytes get from one device to the other: what `gyre backends --peers` says, and what copies do.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
suite="$1"
export XDG_CACHE_HOME="$folder/cache" GYRE_CACHE_DIR="$folder/cache"
only_cuda=(--set backend.cpu.enabled=false --set backend.opencl.enabled=false)

# expect_same WHAT EXPECTED FOUND
expect_same()
{
    checks=$((checks + 1))
    [[ "$2" == "$3" ]] || fail "$1: expected '$2', found '$3'"
}

# ways WORDS ARGUMENT...: the way of each pair, from the first device on.
ways()
{
    local words="$1"
    shift
    run backends --peers "${only_cuda[@]}" "$@"
    exits 0
    expect_same "ways" "$words" "$(awk '/^cuda:[01] +cuda:[01] / { print $3 }' <<<"$out" | xargs)"
    expect_same "figures" 4 "$(grep -cE '^cuda:[01] .* us .* GB/s$' <<<"$out")"
}

ways "same link link same"
expect_same "measured" "measured: now" "$(grep '^measured' <<<"$out")"
figures=$(grep '^cuda:[01]  ' <<<"$out")
ways "same link link same"
expect_same "measured" "measured: earlier, since the machine was started (--again)" "$(grep '^measured' <<<"$out")"
expect_same "figures that are remembered" "$figures" "$(grep '^cuda:[01]  ' <<<"$out")"
for file in "$folder"/cache/peers/*; do # a file that is not what was written is measured again
    printf '1 1\n' >>"$file"
done
ways "same link link same"
expect_same "measured" "measured: now" "$(grep '^measured' <<<"$out")"
ways "same link link same" --again
expect_same "measured" "measured: now" "$(grep '^measured' <<<"$out")"
# copies that failed are not remembered, and leave alone what is
lacking()
{
    EMULATOR_FAIL=cuMemAllocAsync:3:2:0 run backends --peers "${only_cuda[@]}" "$@" # 2: out of memory
    exits 0
    checks=$((checks + 1))
    grep -qE '^cuda:[01] +cuda:[01] .* - +-$' <<<"$out" || fail "expected a pair without figures"
    expect_same "measured" "measured: now" "$(grep '^measured' <<<"$out")"
}
figures=$(cat "$folder"/cache/peers/*)
lacking --again
expect_same "what is remembered" "$figures" "$(cat "$folder"/cache/peers/*)"
rm "$folder"/cache/peers/*
lacking
expect_same "files" "" "$(ls "$folder/cache/peers")"
ways "same link link same"
expect_same "measured" "measured: now" "$(grep '^measured' <<<"$out")"
EMULATOR_PEERS=bus ways "same bus bus same"
EMULATOR_PEERS=none ways "same host host same"
ways "same host host same" --set peers=false
ways "host host host host" --set backend.cuda.isolation=process
run backends --peers --json "${only_cuda[@]}"
exits 0
expect_same "pairs" 4 "$(grep -o '"by"' <<<"$out" | wc -l)"

# copies COUNT WAY VARIABLE=VALUE...: what the driver was told to copy by the case that copies in both directions.
copies()
{
    local count="$1" way="$2"
    shift 2
    export EMULATOR_PEER_COPIES="$folder/copies"
    : >"$EMULATOR_PEER_COPIES"
    env "$@" "$suite" cuda buffers_are_copied_to_other_devices >"$folder/said" 2>&1 || fail "copies: $(cat "$folder/said")"
    expect_same "copies $*" "$count" "$(grep -c "$way" "$EMULATOR_PEER_COPIES")"
}
copies 2 straight EMULATOR_PEERS=link
copies 2 straight EMULATOR_PEERS=bus
copies 0 bytes EMULATOR_PEERS=none
copies 0 bytes EMULATOR_PEERS=link GYRE_PEERS=false
finish
