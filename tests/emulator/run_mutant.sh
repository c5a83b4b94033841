#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run_mutant.sh ROOT BIN NAME   runs one row of mutants.txt: kernels with that mistake in Gyre's headers
#
# Exit status: 0 the case failed, as it has to; 1 it passed again and again, or the row fits nothing any more, or the case fails under the
# row's settings without any mistake; 77 it was not run.
set -euo pipefail

root=$1 bin=$2 name=$3
read -r _ file kernels case settings change < <(grep "^$name " "$root/tests/emulator/mutants.txt")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

export GYRE_CHECK=off # it is about kernels, and would look at headers there
if [ "$settings" != - ]; then
    export "${settings?}"
    "$bin/gyre_conformance" cuda "$case"
fi
# headers beside a kernel file are found before those of the product
cp -r "$root/tests/conformance/kernels/." "$root/include/gyre" "$folder"
sed -i "$change" "$folder/gyre/dialect/$file"
if cmp -s "$folder/gyre/dialect/$file" "$root/include/gyre/dialect/$file"; then
    echo "$name changes nothing in $file: mend the row"
    exit 1
fi
"$bin/gyre" compile --backend cuda "$folder/$kernels" > "$folder/compiled" || {
    cat "$folder/compiled"
    exit 1
}
# What depends on moments that pass is not met in every run, least of all on a busy machine.
for _ in {1..30}; do
    status=0
    GYRE_TEST_KERNELS=$folder "$bin/gyre_conformance" cuda "$case" 2>&1 || status=$?
    case $status in
    0) ;;
    77) exit 77 ;;
    *) echo "$case found $name" && exit 0 ;;
    esac
done
echo "$case passed with $name"
exit 1
