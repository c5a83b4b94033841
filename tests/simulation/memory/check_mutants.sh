#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mutants of the code that a scenario runs (sites.h): each has to be found by one of the seeds, except those of kept.txt, which has the reason of
# each. A row of kept.txt that no mutant needs is an error, too: the code has become another one, or the seeds find the mutant.
# usage: check_mutants.sh SCENARIO PROGRAM SEEDS
set -u
scenario="$1" program="$2" seeds="$3"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
if ! command -v addr2line >/dev/null; then
    echo "skipped: there is no addr2line"
    exit 77
fi
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
"$program" mutants "$seeds" >"$folder/mutants" || {
    cat "$folder/mutants"
    echo "FAILED: the code breaks without a mutant"
    exit 1
}
# the address is that behind the call
while IFS=' |' read -r address _; do printf '%#x\n' $((address - 1)); done <"$folder/mutants" >"$folder/addresses"
addr2line -f -e "$program" <"$folder/addresses" | paste -d ' ' - - | sed 's/ (discriminator.*//' >"$folder/places"
paste -d '|' "$folder/places" "$folder/mutants" | awk -F '|' -v scenario="$scenario" -v kept="$here/kept.txt" -v tree="${here%/tests/simulation/memory}" '
    function trim(text) { gsub(/^ +| +$/, "", text); return text }
    # The text of a line of a file, which may go on in the next one. The file is that of this tree: a compiler cache may have the object from a
    # folder that has gone.
    function text_of(file, number,    text, next_one, i) {
        if (match(file, /\/(core|backends|include)\/[a-z]+\/[a-z0-9_\/]*[.][ch]$/))
            file = tree substr(file, RSTART)
        for (i = 1; i <= number && (getline text < file) > 0; i++)
            ;
        getline next_one < file
        close(file)
        return text " " next_one
    }
    BEGIN {
        while ((getline row < kept) > 0) {
            if (row !~ /^[a-z]/)
                continue
            split(row, column, "|")
            if ((" " column[1] " ") !~ (" " scenario " "))
                continue
            rows++
            name[rows] = trim(column[2])
            what[rows] = trim(column[3])
            within[rows] = trim(column[4])
        }
    }
    {
        split($1, place, " ")
        if (place[2] ~ /\/tests\// && place[2] !~ /\/memory\/changed\//)
            next # what stands for the rest of the program
        split(place[2], where, ":")
        change = trim($3)
        mutants++
        text = text_of(where[1], where[2])
        is_spared = 0
        if (trim($4) != "not found") {
            found++
            next
        }
        for (i = 1; i <= rows; i++)
            if (name[i] == place[1] && (what[i] == change || what[i] == "*") && index(text, within[i]))
                is_spared = needed[i] = 1
        if (is_spared) {
            spared++
            next
        }
        sub(/^.*\//, "", place[2])
        printf "FAILED: %s in %s (%s): %s, and none of the seeds finds it\n", change, place[1], place[2], scenario
        failures++
    }
    END {
        for (i = 1; i <= rows; i++)
            if (!(i in needed)) {
                printf "FAILED: kept.txt: %s in %s (%s): %s has no such mutant, or finds it: leave the row out\n", what[i], name[i], within[i], scenario
                failures++
            }
        printf "%s: %d mutants, %d found, %d kept, %d failures\n", scenario, mutants, found, spared, failures
        exit failures != 0 || mutants == 0
    }'
