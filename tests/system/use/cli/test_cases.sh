#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Case files: `gyre test` and `gyre call --case`, the example of docs/testing.md word for word, and files that are none.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)"
page="$root/docs/testing.md"
export XDG_CACHE_HOME="$folder/cache"
mkdir "$folder/cases"
cd "$folder/cases" || exit 1

awk '/^```c$/ { inside = 1; next } /^```$/ && inside { exit } inside' "$root/docs/simulator.md" >total.gyre.c
awk '/^```$/ { if (inside) exit; inside = 1; next } inside' "$page" >total.gyre-case
run test total.gyre-case --backend cpu
exits 1
says "0 passed, 1 failed, 0 skipped"
printed="$(sed -n '/^    failed /,/^$/p' "$page" | sed 's/^    //; /^$/d')"
without_times() { sed 's/ [0-9.]* s / S /'; }
[[ "$(without_times <<<"$out")" == "$(without_times <<<"$printed")" ]] || fail "expected as in the page: $printed"
run test total.gyre-case --backend cpu --check races
exits 1
prints 'total.gyre-case:3: expected the reply {"sum":136}, found {"failed":{"code":-20,"text":"total.gyre.c:17 and 14: race, lanes'

# the mend of docs/simulator.md
sed -i '14s/$/ gyre_barrier(gyre);/' total.gyre.c
run call --case total.gyre-case
exits 0
[[ "$out" == '{"sum":136}' ]] || fail "expected the answer"
says "total.gyre-case: 1 of 1 answers as expected"

# every kind of answer, floats, state, and a message as bytes
cat >kinds.gyre.c <<'KERNEL'
#include <gyre/kernel.h>
#define ASK(FIELD) FIELD(u32, kind) FIELD(f32, value)
GYRE_MESSAGE(ask, ASK)
#define NUMBERS(FIELD) FIELD(f32, values[2]) FIELD(u64, large)
GYRE_MESSAGE(numbers, NUMBERS)
#define KEPT(FIELD) FIELD(u64, large)
GYRE_MESSAGE(kept, KEPT)
GYRE_ACTOR(kinds, ask, numbers, kept)
{
    if (request->kind == 1)
        return GYRE_NO_REPLY;
    if (request->kind == 2)
        return gyre_fail(gyre, 7, "too large");
    if (request->kind == 3)
        *(volatile u32 *)8 = 1;
    reply->values[0] = request->value;
    reply->values[1] = request->value / 3;
    reply->large = state->large;
    return GYRE_REPLY;
}
KERNEL
header='{"gyre_case":1,"kernel":"kinds.gyre.c","state":{"large":18446744073709551615}'
cat >kinds.gyre-case <<CASE
$header}
{"request":{"kind":0,"value":1},"reply":{"values":[1,0.33333334],"large":18446744073709551615}}
{"request":{"kind":1,"value":0},"no_reply":true}
{"request":{"kind":2,"value":0},"failed":{"code":7,"text":"too large"}}
{"request":{"kind":2,"value":0},"failed":{"code":7}}
{"request_bytes":"000000000000803f","reply_bytes":"0000803fabaaaa3effffffffffffffff"}
{"request":{"kind":1,"value":0}}
CASE
run call --case kinds.gyre-case --backend cpu
exits 0
says "6 of 6 answers as expected"
cat >wrong.gyre-case <<CASE
$header}
{"request":{"kind":0,"value":1},"reply":{"values":[1,0.3333333],"large":18446744073709551614}}
{"request":{"kind":0,"value":0},"reply":{"values":[-0.0,0],"large":18446744073709551615}}
{"request":{"kind":1,"value":0},"reply":{"values":[1,0.25],"large":1}}
{"request":{"kind":2,"value":0},"failed":{"code":8}}
{"request":{"kind":2,"value":0}}
CASE
run call --case wrong.gyre-case --backend cpu
exits 1
says "wrong.gyre-case:2: values[1]: expected 0.3333333, found 0.33333334 (1 ulp apart)"
says "wrong.gyre-case:2: large: expected 18446744073709551614, found 18446744073709551615"
says "wrong.gyre-case:3: values[0]: expected -0, found 0"
says 'wrong.gyre-case:4: expected the reply {"values":[1,0.25],"large":1}, found {"no_reply":true}'
says 'wrong.gyre-case:5: expected a failure of code 8, found {"failed":{"code":7,"text":"too large"}}'
says 'wrong.gyre-case:6: expected an answer, found {"failed":{"code":7'
says "0 of 5 answers as expected"
sed '2!d; s/18446744073709551614/18446744073709551615/' wrong.gyre-case | sed "1i $header,\"ulps\":1}" >near.gyre-case
run call --case near.gyre-case --backend cpu
exits 0

printf '%s\n' "$header}" '{"request":{"kind":0,"value":1},"reply":{"vlues":[1,2],"large":1}}' >named.gyre-case
run call --case named.gyre-case --backend cpu
exits 1
says "named.gyre-case:2: reply: unknown field 'vlues'; did you mean 'values'?"
says "0 of 1 answers as expected"
rm named.gyre-case

run test "$root/examples" --backend cpu --check races,memory
exits 0
says "2 passed"
run replay --backend cpu
exits 2
run replay --help
exits 0
prints "usage: gyre replay FILE"

# A recording is a case: it has what was asked and answered, and any backend can be compared with it.
recorded=(--set queue.kinds.record=recorded.gyre-case)
run call --backend cpu "${recorded[@]}" kinds.gyre.c '{"kind":0,"value":1}' '{"kind":1,"value":0}' '{"kind":2,"value":0}'
[[ "$(<recorded.gyre-case)" == "{\"gyre_case\":1,\"kernel\":\"$PWD/kinds.gyre.c:kinds\"}
{\"request_bytes\":\"000000000000803f\",\"reply_bytes\":\"0000803fabaaaa3e0000000000000000\"}
{\"request_bytes\":\"0100000000000000\",\"no_reply\":true}
{\"request_bytes\":\"0200000000000000\",\"failed\":{\"code\":7,\"text\":\"too large\"}}" ]] ||
    fail "expected another recording: $(<recorded.gyre-case)"
run replay --backend cpu --check races,memory recorded.gyre-case
exits 0
says "3 of 3 answers as expected"
# Of failures: the last messages up to the last one that failed, and nothing while none does.
flight=(--backend cpu --set queue.kinds.record=flight.gyre-case --set queue.kinds.record_failures=2)
well='{"kind":1,"value":0}' bad='{"kind":2,"value":0}'
run call "${flight[@]}" kinds.gyre.c "$well" "$well" "$well"
[[ "$(wc -l <flight.gyre-case)" == 1 ]] || fail "expected no message without a failure: $(<flight.gyre-case)"
run call "${flight[@]}" kinds.gyre.c "$bad" '{"kind":0,"value":1}' "$bad" "$well" "$bad" "$well" "$well"
[[ "$(tail -n +2 flight.gyre-case)" == '{"request_bytes":"0100000000000000","no_reply":true}
{"request_bytes":"0200000000000000","failed":{"code":7,"text":"too large"}}' ]] || fail "expected the last failure and one message before it: $(<flight.gyre-case)"
run replay --backend cpu flight.gyre-case
exits 0
says "2 of 2 answers as expected"
# A recording that cannot be written ends with a sentence, and leaves the last one that could.
(ulimit -f 1024 # more than the queue takes, less than 25,000 lines
 { echo "$bad" && yes "$well" | head -25000 && echo "$bad"; } |
     "$GYRE" call "${flight[@]}" --set queue.kinds.record_failures=100000 kinds.gyre.c >"$folder/out" 2>"$folder/err")
err="$(<"$folder/err")"
says "the recording '$PWD/flight.gyre-case' ends here: File too large"
[[ "$(tail -n +2 flight.gyre-case)" == '{"request_bytes":"0200000000000000","failed":{"code":7,"text":"too large"}}' ]] ||
    fail "expected the recording of the first failure: $(head -c 1000 flight.gyre-case)"
[[ "$(echo flight.gyre-case*)" == flight.gyre-case ]] || fail "expected nothing else: $(echo flight.gyre-case*)"
run call "${flight[@]}" --set queue.kinds.record_failures=-1 kinds.gyre.c "$well"
exits 4
rm flight.gyre-case
# of a kernel that is lost, the message that it was at; not those that waited behind it
cat >dies.gyre.c <<'KERNEL'
#include <gyre/kernel.h>
#define ASK(FIELD) FIELD(u32, kind)
GYRE_MESSAGE(ask, ASK)
GYRE_ACTOR(dies, ask, ask, ask)
{
    state->kind++;
    if (request->kind == 3)
        *(volatile u32 *)0 = 1;
    *reply = *request;
    return GYRE_REPLY;
}
KERNEL
run call --backend cpu --set backend.cpu.isolation=process --set queue.dies.record=flight.gyre-case --set queue.dies.record_failures=2 \
    dies.gyre.c '{"kind":1}' '{"kind":2}' '{"kind":3}' '{"kind":4}' '{"kind":5}'
[[ "$(tail -n +2 flight.gyre-case)" == '{"request_bytes":"02000000","reply_bytes":"02000000"}
{"request_bytes":"03000000"}' ]] || fail "expected the message that ended the worker process, and the one before it: $(<flight.gyre-case)"
rm flight.gyre-case
run call --backend cpu --set queue.kinds.record=/dev/null kinds.gyre.c '{"kind":1,"value":0}'
exits 1
says "record: '/dev/null' is no regular file; name another one"
cp kinds.gyre.c kept.gyre.c
for option in --set=queue.kinds.record=kept.gyre.c --save=kept.gyre.c; do
    run call --check races "$option" kinds.gyre.c '{"kind":1,"value":0}'
    exits 1
    says "kept.gyre.c' is there already and is no "
    cmp -s kinds.gyre.c kept.gyre.c || fail "$option wrote over a handler"
done
run call --backend cpu "${recorded[@]}" --set queue.kinds.wire=memorypack kinds.gyre.c '{"kind":1,"value":0}'
[[ "$code" != 0 ]] || fail "expected a refusal"
run call --backend cpu --set queue.kinds.record=/dev/full kinds.gyre.c '{"kind":1,"value":0}'
exits 1
(ulimit -f 1024 # more than the queue takes, less than the recording of 20,000 messages
 yes '{"kind":1,"value":0}' | head -20000 |
     "$GYRE" call --backend cpu "${recorded[@]}" kinds.gyre.c >"$folder/out" 2>"$folder/err")
err="$(<"$folder/err")"
says "the recording '$PWD/recorded.gyre-case' ends here: File too large"
says "20000 sent, 0 answered, 0 failed, 20000 without a reply"
rm recorded.gyre-case

# folders, a filter, a backend that cannot start, a handler that ends its process, and the files for programs
printf '%s\n' "$header}" '{"request":{"kind":3,"value":0}}' >crash.gyre-case
printf '[backend.absent]\nlibrary = /nowhere/gyre-absent.so\n' >"$folder/absent.ini"
run test . --backend cpu --jobs 3 --junit "$folder/junit.xml" --timeout 60000
exits 1
says "3 passed, 2 failed, 0 skipped"
[[ "$(sed -n 's/^\(passed\|failed\).* s  \.\/\(.*\) on cpu/\1 \2/p' <<<"$out" | tr '\n' ' ')" == \
    'failed crash.gyre-case passed kinds.gyre-case passed near.gyre-case passed total.gyre-case failed wrong.gyre-case ' ]] ||
    fail "expected five lines in order"
grep -q '<testsuite name="gyre" tests="5" failures="2" errors="0" skipped="0"' "$folder/junit.xml" || fail "expected counts in $(<"$folder/junit.xml")"
grep -q 'found {&quot;no_reply&quot;:true}' "$folder/junit.xml" || fail "expected escaped text in $(<"$folder/junit.xml")"
run test . --filter total --backend cpu,absent --config "$folder/absent.ini" --json
exits 0
prints '"case":"./total.gyre-case","backend":"absent","result":"skipped","said":"backend '"'absent'"' cannot start'
says "1 passed, 0 failed, 1 skipped"
run test . --filter total --backend cpu,absent --config "$folder/absent.ini" --require
exits 3
run test total.gyre-case --backend absent --config "$folder/absent.ini"
exits 3

# a case that passed has its warnings below it
run test total.gyre-case --backend cpu --set queue.default.capacitys=2 --junit "$folder/junit.xml"
exits 0
prints "    warning: command line: unknown key 'capacitys' in [queue.default], ignored; did you mean 'capacity'?"
grep -q "<system-err>warning: command line: unknown key 'capacitys'" "$folder/junit.xml" || fail "expected a warning in $(<"$folder/junit.xml")"

# who ends gyre test ends its cases
mkdir endless
printf '%s\n' '#include <gyre/kernel.h>' '#define ONE(FIELD) FIELD(u32, one)' 'GYRE_MESSAGE(one, ONE)' \
    'GYRE_KERNEL(endless, one, one)' '{' '    while (request->one)' '        ;' '    return GYRE_NO_REPLY;' '}' >endless/endless.gyre.c
printf '%s\n' '{"gyre_case":1,"kernel":"endless.gyre.c","timeout_ms":3600000}' '{"request":{"one":1}}' >endless/endless.gyre-case
"$GYRE" test endless --backend cpu --limit 0 >"$folder/out" 2>"$folder/err" &
tested=$!
for ((i = 0; i < 600 * patience; i++)); do
    of_case="$(pgrep -P "$tested" -x gyre)" && break
    sleep 0.05
done
kill -TERM "$tested"
code=0
wait "$tested" || code=$?
err="$(<"$folder/err")"
called="the end of gyre test"
exits 143
says "a signal ends this: 1 of 1 cases did not run to their end"
checks=$((checks + 1))
[[ -n "$of_case" && ! -e "/proc/$of_case/exe" ]] || fail "expected the process of the case to be gone"
kill -KILL "$of_case" 2>/dev/null
rm -r endless

# one that is ignored ends nothing: SIGHUP under nohup, SIGINT of what a script starts in the background
mkdir patient
printf '%s\n' '#include <gyre/kernel.h>' '#define ONE(FIELD) FIELD(u32, one)' 'GYRE_MESSAGE(one, ONE)' \
    'int access(const char *path, int how);' 'int usleep(unsigned us);' 'GYRE_KERNEL(patient, one, one)' '{' "    while (access(\"$folder/go\", 0) != 0)" '        usleep(1000);' \
    '    reply->one = request->one;' '    return GYRE_REPLY;' '}' >patient/patient.gyre.c
printf '%s\n' '{"gyre_case":1,"kernel":"patient.gyre.c","timeout_ms":3600000}' '{"request":{"one":1},"reply":{"one":1}}' \
    >patient/patient.gyre-case
(trap '' HUP INT && exec "$GYRE" test patient --backend cpu --set check=off --limit 0 >"$folder/out" 2>"$folder/err") &
tested=$!
for ((i = 0; i < 600 * patience; i++)); do
    if pgrep -P "$tested" -x gyre >/dev/null || ! kill -0 "$tested" 2>/dev/null; then break; fi
    sleep 0.05
done
kill -HUP "$tested"
kill -INT "$tested"
touch "$folder/go"
code=0
wait "$tested" || code=$?
out="$(<"$folder/out")" err="$(<"$folder/err")"
called="gyre test that ignores signals"
exits 0
says "1 passed, 0 failed, 0 skipped"
rm -r patient

# A finding becomes a case, which is made small, and which passes when the handler is mended.
cp "$root"/tests/simulator/handlers/{bins.gyre.c,types.h} .
values() { printf '{"values":[9,8,7,6,%s,5,4,3,2,1,9,9,9,9,9,%s],"which":7}\n' "$1" "$1"; }
for bin in 1 2 3 4 5 19 6 7 8 9; do values "$bin"; done >requests # 3 and 19 are the same bin
mkdir found
zeros="$(printf ',0%.0s' {1..11})"
run call --check races --save found/bins.gyre-case --buffer bins=zeros:64 bins.gyre.c <requests
exits 1
says "'found/bins.gyre-case' has what was found"
cp found/bins.gyre-case found/whole
run test found --backend cpu
exits 1
prints 'bins.gyre-case:7: expected an answer, found {"failed":{"code":-20,"text":"bins.gyre.c:'
run shrink found/bins.gyre-case
exits 0
prints 'found/bins.small.gyre-case: 2 of 10 requests, '
cmp -s found/whole found/bins.gyre-case || fail "expected the case as it was"
[[ "$(tail -n +2 found/bins.small.gyre-case)" == \
    "$(printf '{"request":{"values":[%s],"which":0}}\n' "0,0,0,0,3$zeros" "0,0,0,0,19$zeros")" ]] ||
    fail "expected two small requests: $(<found/bins.small.gyre-case)"
run call --case found/bins.small.gyre-case
exits 1
prints '{"failed":{"code":-20,"text":"bins.gyre.c:'
[[ -z "$(find found -name '.*' -type f)" ]] || fail "expected no file beside the two cases"
sed -i 's/#ifdef MENDED/#if 1/' bins.gyre.c
run test found --backend cpu
exits 0
run shrink found/bins.gyre-case
exits 1
says "shows no mistake, so there is nothing to shrink"
run call --check races --save found/none.gyre-case --buffer bins=zeros:64 bins.gyre.c <requests
exits 0
says "nothing was found: 'found/none.gyre-case' is not written"
[[ ! -e found/none.gyre-case ]] || fail "expected no file"
run call --save x bins.gyre.c '{}'
exits 2
run shrink wrong.gyre-case -o small.gyre-case --backend cpu
exits 0
prints 'small.gyre-case: 1 of 5 requests'
cmp -s <(head -n 2 wrong.gyre-case | tail -n 1 | tr -d ' ') <(tail -n 1 small.gyre-case) || fail "expected the first request, as it was"

# An answer that depends on the order of messages, which nobody promises; an actor's order is.
cat >order.gyre.c <<'KERNEL'
#include <gyre/kernel.h>
#include "types.h"
#ifdef ACTOR
GYRE_ACTOR(order, ask, answer, kept)
#else
GYRE_KERNEL_WITH(order, ask, answer, kept, gyre_none)
#endif
{
    const u32 before = gyre_atomic_add(&state->counts[0], 1u);
    for (u32 i = 0; i < 16; i++)
        reply->sums[i] = 0;
#ifdef MENDED
    reply->sum = before < 100 ? request->which * 10 : 0;
#else
    reply->sum = before * 10;
#endif
    return GYRE_REPLY;
}
KERNEL
{
    echo '{"gyre_case":1,"kernel":"order.gyre.c","orders":3}'
    for which in 0 1 2 3 4 5; do echo "{\"request\":{\"values\":[0,0,0,0,0$zeros],\"which\":$which}}"; done
} >order.gyre-case
run call --case order.gyre-case --backend cpu
exits 1
says "6 of 6 answers as expected"
says ": in order 1: sum: expected "
run shrink order.gyre-case --backend cpu
exits 0
prints 'order.small.gyre-case: 2 of 6 requests'
for option in MENDED ACTOR; do
    run call --case order.gyre-case --backend cpu --set "kernel.default.options=-D$option"
    exits 0
done
run shrink wrong.gyre-case -o kept.gyre.c
exits 1
says "'kept.gyre.c' is there already and is no case that was written: remove it, or name another file"
run shrink wrong.gyre-case -o ../small.gyre-case
exits 2

# files that are none
refused() # LINE SENTENCE [TEXT...]: of a file with these lines
{
    printf '%s\n' "${@:3}" >bad.gyre-case
    run call --case bad.gyre-case
    exits 1
    says "gyre: bad.gyre-case:$1$2"
    [[ -z "$out" ]] || fail "expected no answers"
}
good='{"gyre_case":1,"kernel":"kinds.gyre.c"}' pair='{"request":{"kind":0,"value":1}}'
refused '' ' there is no header: expected {"gyre_case":1,"kernel":"FILE.gyre.c"}' '# nothing'
refused 1: ' the first line is no header' "$pair"
refused 1: " 'gyre_case' is 2: this version of Gyre reads case files of version 1" '{"gyre_case":2,"kernel":"a.gyre.c"}'
refused 1: " the header has no 'kernel'" '{"gyre_case":1}'
refused 1: " unknown member 'lane'; did you mean 'lanes'?" '{"gyre_case":1,"kernel":"kinds.gyre.c","lane":1}' "$pair"
refused 1: " expected checks out of races, memory, deadlock, schedule, order, crash, none, found 'race'; did you mean 'races'?" \
    '{"gyre_case":1,"kernel":"kinds.gyre.c","check":"race"}' "$pair"
refused 1: " 'lanes' must be a whole number from 0 to" '{"gyre_case":1,"kernel":"kinds.gyre.c","lanes":-1}' "$pair"
refused '' ' there are no requests' "$good"
refused 3: ' malformed JSON at byte' "$good" "$pair" '{"request":{"kind":0,'
refused 2: ' expected a JSON object, one a line' "$good" '[1]'
refused 2: " a pair needs a 'request'" "$good" '{"reply":{}}'
refused 2: " a pair has one of 'reply', 'failed', 'no_reply' and 'dropped'" "$good" '{"request":{},"reply":{},"no_reply":true}'
refused 2: " 'failed' must be as" "$good" '{"request":{},"failed":7}'
refused 2: " request: unknown field 'knd'; did you mean 'kind'?" "$good" '{"request":{"knd":0,"value":1}}'
refused 2: " request: expected hexadecimal digits, found '0g'" "$good" '{"request_bytes":"000000000000800g"}'
refused 2: " request: 4 digits are no message of 'ask', which has 8 bytes" "$good" '{"request_bytes":"0000"}'
printf '%s\n' "$good" '{"request":{"kind":0,"value":1},"reply":{"values":[1]}}' >bad.gyre-case
run call --case bad.gyre-case --backend cpu
exits 1
says "bad.gyre-case:2: reply: field 'values': expected an array of 2"
run test .. --filter nobody
exits 1
run test "$folder/cache"
exits 1
says "has no file NAME.gyre-case"
run test total.gyre-case --backend cpuu
exits 3
says "there is no backend 'cpuu'"
run call --case total.gyre-case '{}'
exits 2
finish
