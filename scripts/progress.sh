# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# One line of progress while a build or ctest runs; their whole output goes to a log. Sourced; runs nothing.
#
# On a terminal the line is written over; elsewhere, as in a log, a new one comes every half minute.

PROGRESS_EVERY_S=30
SILENCE_S=30 # without a word of ctest: then the tests that run are named
FAILURE_LINES=60 # of a failed test's output, shown when it fails; the log has all of it
progress_shown=0

# progress_terminal: whether the output is a terminal.
progress_terminal()
{
    [[ -t 1 ]]
}

# progress_show TEXT
progress_show()
{
    if progress_terminal; then
        printf '\r\033[K%.*s' "$((${COLUMNS:-80} - 1))" "$1"
    elif ((SECONDS - progress_shown >= PROGRESS_EVERY_S)); then
        progress_shown=$SECONDS
        printf '%s\n' "$1"
    fi
}

# Before anything else is printed: the line of progress goes.
progress_clear()
{
    ! progress_terminal || printf '\r\033[K'
}

# minutes SECONDS: as 4:05.
minutes()
{
    printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# follow_build NAME LOG: reads what ninja or make prints; [312/1068] or [ 29%] is the progress.
follow_build()
{
    local line begun=$SECONDS
    progress_shown=$SECONDS
    while IFS= read -r line; do
        printf '%s\n' "$line" >&3
        if [[ "$line" =~ ^\[([0-9]+/[0-9]+|\ *[0-9]+%)\] ]]; then
            progress_show "gyre: $1: ${BASH_REMATCH[1]// /} built, $(minutes $((SECONDS - begun)))"
        fi
    done 3>"$2"
    progress_clear
}

# shellcheck disable=SC2094 # the log is read while it is written
# follow_tests NAME LOG: reads what `ctest --output-on-failure` prints. A failure is shown at once, with its output. While none ends,
# the line names those that run.
follow_tests()
{
    local line="" piece begun=$SECONDS failed=0 shown=0 count=0 total="?" test verdict rc
    progress_shown=$SECONDS
    while true; do
        rc=0
        IFS= read -r -t "$SILENCE_S" piece || rc=$?
        line+="$piece"
        if ((rc > 128)); then
            progress_show "gyre: $1: $count of $total tests, $failed failed, $(minutes $((SECONDS - begun))), running: $(still_running "$2")"
            continue
        fi
        ((rc == 0)) || break
        printf '%s\n' "$line" >&3
        if [[ "$line" =~ ^\ *([0-9]+)/([0-9]+)\ Test\ +\#[0-9]+:\ ([^\ ]+)\ [\ .]*(.*)$ ]]; then
            count="${BASH_REMATCH[1]}" total="${BASH_REMATCH[2]}" test="${BASH_REMATCH[3]}" verdict="${BASH_REMATCH[4]//\*/}" shown=0
            if [[ "$verdict" != Passed* && "$verdict" != Skipped* ]]; then
                failed=$((failed + 1)) shown=$FAILURE_LINES
                progress_clear
                printf 'gyre: failed: %s (%s)\n' "$test" "$verdict"
            fi
            progress_show "gyre: $1: $count of $total tests, $failed failed, $(minutes $((SECONDS - begun))), $test"
        elif [[ "$line" =~ ^(\ +Start\ +[0-9]+:|[0-9]+%\ tests\ passed) ]]; then
            shown=0
        elif ((shown > 0)); then
            shown=$((shown - 1))
            printf '    %s\n' "$line"
        fi
        line=""
    done 3>"$2"
    progress_clear
}

# still_running LOG: the tests that began and did not end, as ctest's output in LOG says; in one line.
still_running()
{
    awk '
        $1 == "Start" { running[$3] = 1 }
        $2 == "Test" { delete running[$4] }
        END {
            for (test in running)
                print test
        }' "$1" | sort | paste -sd, | sed 's/,/, /g'
}
