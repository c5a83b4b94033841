# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# One visit to a machine, as one JSON document that ./dev benchmarks turns into docs/benchmarks.md: the machine, the floors
# (programs in a folder: dispatch, limits, stream), the plain programs a user would write, `gyre bench`, the tests.
# Sourced by `run`, which sets `bin` and `here`; every program runs under a timeout, and one that fails leaves its place
# in the document null.

# shellcheck disable=SC2154 # bin, here

# text_json: a text on stdin as a JSON string.
text_json()
{
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/ /g' | tr -d '\000-\011\013-\037' | sed -e ':a' -e 'N' -e '$!ba' -e 's/\n/\\n/g' |
        { printf '"'; tr -d '\n'; printf '"'; }
}

# as_text SECONDS COMMAND...: what it said, as a JSON string; null when it failed or said nothing.
as_text()
{
    local output limit="$1"
    shift
    output=$(timeout -k 5 "$limit" "$@" 2>&1) || printf 'report: exit %d: %s\n' $? "$*" >&2
    if [[ -n "$output" ]]; then text_json <<<"$output"; else printf null; fi
}

# as_json SECONDS COMMAND...: the document that it printed, or null.
as_json()
{
    local output limit="$1"
    shift
    output=$(timeout -k 5 "$limit" "$@") || printf 'report: exit %d: %s\n' $? "$*" >&2
    if [[ "$output" == '{'* && "$output" == *'}' ]]; then printf '%s' "$output"; else printf null; fi
}

report_floors()
{
    local probes="$1" separator='' program
    printf '{'
    for program in dispatch limits stream; do
        if [[ -n "$probes" && -x "$probes/$program" ]]; then
            printf '%s"%s": %s' "$separator" "$program" "$(as_text 60 "$probes/$program")"
            separator=', '
        fi
    done
    if [[ -n "$separator" && -x "$probes/dispatch" ]]; then
        printf ', "rings": %s' "$(as_text 60 "$probes/dispatch" rings)"
    fi
    printf '}'
}

# One case a process: one that fails takes no other with it. BENCH_WITH: a program to run them by, as in "chrt -f 40".
report_bench()
{
    local backend="$1" separator='' name
    printf '['
    while read -r name; do
        case "$name" in
        floor/* | burst/*) continue ;;
        esac
        # shellcheck disable=SC2086 # a command and its options
        printf '%s\n  %s' "$separator" "$(as_json 40 ${BENCH_WITH:-} "$bin/gyre" bench --backend "$backend" --seconds "${SECONDS_EACH:-1}" \
            --case "$name" --json)"
        separator=,
    done < <("$bin/gyre" bench --list)
    printf ']'
}

report_peers()
{
    case "$1" in
    cuda) as_json 100 "$bin/peer_cuda" "${SECONDS_EACH:-1}" ;;
    opencl) as_json 100 "$bin/peer_opencl" "" "${SECONDS_EACH:-1}" ;;
    *) printf null ;;
    esac
}

# report BACKEND FOLDER [PROBES]. FLAT_SECONDS: of full load at the end, 120; 0 leaves the long stress out. SANITIZE_SECONDS:
# for the vendor's sanitizer, 120.
report()
{
    local backend="$1" folder="${2:?which folder?}" probes="${3:-}" file stress=null
    mkdir -p "$folder"
    file="$folder/report-$backend.json"
    {
        printf '{"report": 1, "backend": "%s", "date": "%s", "commit": %s,\n' "$backend" "$(date -u +%F)" "$(text_json <"$here/commit")"
        printf ' "seconds_each": %s,\n' "${SECONDS_EACH:-1}"
        printf ' "processor": %s,\n' "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1 | text_json)"
        printf ' "cores": %d, "system": %s,\n' "$(grep -c ^processor /proc/cpuinfo)" "$(uname -sr | text_json)"
        printf ' "why": %s,\n' "$(as_text 20 "$bin/gyre" backends --why "$backend" | sed -E 's/\\n(named by|drop-in|library|parameter) [^\\]*//g')"
        printf ' "floors": %s,\n' "$(report_floors "$probes")"
        printf ' "bench": %s,\n' "$(report_bench "$backend")"
        printf ' "peers": %s,\n' "$(report_peers "$backend")"
        printf ' "conformance": %s,\n' "$(LIMIT=40 as_text 400 "$here/run" conformance "$backend")"
        printf ' "kernels": %s,\n' "$(LIMIT=20 as_text 150 "$here/run" kernels "$backend")"
        if [[ "$backend" == cuda ]]; then
            printf ' "driver_only": %s,\n' "$(LIMIT=20 as_text 60 "$here/run" driver-only)"
            printf ' "sanitizer": %s,\n' "$(LIMIT=60 as_text "${SANITIZE_SECONDS:-120}" "$here/run" sanitize)"
        fi
        if ((${FLAT_SECONDS:-120} > 0)); then
            stress=$(LIMIT=60 as_text $((240 + ${FLAT_SECONDS:-120})) "$here/run" stress-long "$backend" "${FLAT_SECONDS:-120}")
        fi
        printf ' "stress": %s}\n' "$stress"
    } >"$file"
    printf '%s is complete\n' "$file"
}
