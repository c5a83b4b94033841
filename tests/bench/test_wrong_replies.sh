#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A kernel that computes something else: the benchmark must see it in every case and fail, however fast it is.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"

# The program beside a copy of its files, in which one number of the kernels is another.
build="$(dirname "$(dirname "$GYRE")")"
mkdir -p "$folder/bin" "$folder/lib"
cp "$GYRE" "$folder/bin/gyre"
cp -r "$build/lib/gyre" "$folder/lib/gyre"
ln -s "$build/include" "$folder/include"
GYRE="$folder/bin/gyre"
export XDG_CACHE_HOME="$folder/cache"

run bench --case call/48 --seconds 0.05
exits 0

sed -i 's/word\[i\] \* 3/word[i] * 5/' "$folder/lib/gyre/bench/words.gyre.c"
sed -i 's/a\[i\] + /a[i] - /' "$folder/lib/gyre/bench/vector_add.gyre.c"
for name in call/48 call/1024 stream/48 stream/65536 burst/48 producers/3/single handler/vector_add deactivate \
    launch; do
    run bench --case "$name" --seconds 0.05 --json
    exits 1
    says "gyre: case $name: "
    says "replies were wrong"
    prints '"verdict":"wrong replies"'
done
finish
