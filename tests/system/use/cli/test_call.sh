#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre call: replies in order, every outcome, every sentence, on the backend that $BACKEND names.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
kinds=tests/system/use/cli/kernels/kinds.gyre.c
backend="${BACKEND:-cpu}"
export XDG_CACHE_HOME="$folder/cache"
nothing=/dev/null

call()
{
    run call --backend "$backend" "$@"
}

# every scalar at the end of its range, nested messages, text into bytes
lowest='{"a":-128,"b":-32768,"c":-2147483648,"d":-9223372036854775808,"e":0,"f":0,"g":0,"h":0'
highest='{"a":127,"b":32767,"c":2147483647,"d":9223372036854775807,"e":255,"f":65535,"g":4294967295,"h":18446744073709551615'
rest=',"points":[{"x":0.1,"y":-0.0},{"x":"NaN","y":1e+300}],"text":[104,105,0,0,0,0,0,0]}'
call "$kinds:same" "$lowest$rest" "$highest$rest" <"$nothing"
exits 0
[[ "$out" == "$lowest$rest"$'\n'"$highest$rest" ]] || fail "the messages did not come back as they went"
says "gyre: same on $backend: 2 sent, 2 answered, 0 failed"
call "$kinds:same" "${lowest},\"points\":[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4}],\"text\":\"hi\"}" <"$nothing"
exits 0
prints '"text":[104,105,0,0,0,0,0,0]'

# order over many batches, from standard input
seq 1 20000 | sed 's/.*/{"value":&}/' >"$folder/many"
call "$kinds:outcomes" <"$folder/many"
exits 0
cmp -s "$folder/many" "$folder/out" || fail "20000 replies are not the requests in their order"
says "20000 sent, 20000 answered, 0 failed"
call "$kinds:outcomes" --lanes 4 --blocks 1 --set kernel.outcomes.idle=park <"$folder/many"
exits 0
cmp -s "$folder/many" "$folder/out" || fail "20000 replies of a kernel with 4 lanes are not in order"

call "$kinds:outcomes" --lanes 1 --blocks 4 --set queue.outcomes.order=any <"$folder/many"
exits 0
cmp -s "$folder/many" "$folder/out" || fail "20000 replies of a queue with order = any are not printed in the order of the requests"

# messages that fill a queue's bytes long before its capacity: what came back makes room for what is sent
cat >"$folder/long.gyre.c" <<'END'
#include <gyre/kernel.h>
#define LONG(FIELD) FIELD(span_u8, bytes)
GYRE_MESSAGE_TAIL(long_text, LONG, 4000)
GYRE_KERNEL(longs, long_text, long_text)
{
    reply->bytes = gyre_copy(gyre, u8, reply, request, request->bytes);
    return GYRE_REPLY;
}
END
ones="$(printf '1,%.0s' {1..1500})"
seq 0 255 | sed "s/.*/{\"bytes\":[$ones&]}/" >"$folder/longs"
for bytes in 0 1; do # the default, and the least
    call "$folder/long.gyre.c" --set "queue.longs.bytes=$bytes" --timeout "$((20000 * patience))" <"$folder/longs"
    exits 0
    cmp -s "$folder/longs" "$folder/out" || fail "256 long replies are not the requests in their order"
done

# a line that is too long for a request has a sentence for its answer, and the lines behind it have theirs
{
    echo '{"value":1,"factor":2}'
    head -c 20000000 /dev/zero | tr '\0' ' '
    printf '1\n{"value":3,"factor":4}\n'
} >"$folder/lines"
call examples/command/scale.gyre.c <"$folder/lines"
exits 1
checks=$((checks + 1))
[[ "$out" == $'{"scaled":2.0}\n{"refused":"line 2 of standard input is longer than 16777216 bytes"}\n{"scaled":12.0}' ]] ||
    fail "expected two replies and a refusal between them"

# an interactive user sees each reply before the next request
mkfifo "$folder/in"
"$GYRE" call --backend "$backend" "$kinds:outcomes" <"$folder/in" >"$folder/out" 2>"$folder/err" &
exec 3>"$folder/in"
for value in 1 2 3; do
    echo "{\"value\":$value}" >&3
    for ((i = 0; i < 500 * patience; i++)); do
        [[ "$(wc -l <"$folder/out")" == "$value" ]] && break
        sleep 0.02
    done
    called="reply $value to an interactive user" out="$(<"$folder/out")"
    prints "{\"value\":$value}"
done
exec 3>&-
wait $!

# what nobody handled is shown with its reason
if [[ "$backend" == cpu ]]; then
    call tests/system/survival/crash/crash.gyre.c:fragile --set backend.cpu.isolation=process --set gyre.check=off --dead-letters \
        '{"fault":1,"always":1,"number":5}' '{"fault":0,"always":0,"number":6}' <"$nothing"
    exits 1
    prints '{"dead":{"index":0,"code":-10,"reason":"'
    prints '"request":{"fault":1,"always":1,"number":5}}}'
    says "gyre: 1 dead letters"

    # replies are printed as they come: a handler that never ends takes none of those before it along
    : >"$folder/out"
    "$GYRE" call --backend cpu tests/system/survival/crash/crash.gyre.c:fragile --set gyre.check=off \
        '{"fault":0,"always":0,"number":7}' '{"fault":4,"always":1,"number":8}' <"$nothing" >"$folder/out" 2>"$folder/err" &
    await_output
    { kill -KILL $! && wait $!; } 2>"$nothing"
    called="a reply before a handler that never ends" out="$(<"$folder/out")"
    prints '{"number":7,'

    # ... and holds up the end of the command for one stop_timeout_ms, not two
    stop_ms=$((2000 * patience)) begun=${EPOCHREALTIME/[.,]/} # all the time the handler keeps a processor busy
    call tests/system/survival/crash/crash.gyre.c:fragile --set gyre.check=off --set kernel.fragile.stop_timeout_ms="$stop_ms" --timeout 100 \
        '{"fault":4,"always":1,"number":8}' <"$nothing"
    took_ms=$(((${EPOCHREALTIME/[.,]/} - begun) / 1000))
    exits 5
    ((took_ms >= stop_ms && took_ms < 2 * stop_ms)) || fail "took $took_ms ms to end, with a stop_timeout_ms of $stop_ms"

    # a worker that dies while requests are sent: each that was accepted has its line
    : >"$folder/out"
    yes '{"add":1}' | head -5000000 | "$GYRE" call --backend cpu --set backend.cpu.isolation=process examples/command/total.gyre.c \
        >"$folder/out" 2>"$folder/err" &
    caller=$!
    await_output
    cat "/proc/$caller/task"/*/children | xargs -r kill -KILL
    code=0
    wait "$caller" || code=$?
    called="gyre call whose worker dies" out='' err="$(<"$folder/err")"
    exits 3
    every_request_has_its_line

    # locals that do not fit are told, and fit into a larger stack
    call tests/system/use/cli/kernels/deep.gyre.c '{"index":3}' <"$nothing"
    exits 1
    says "deep.gyre.c:10: local variable 'bytes' takes 4000000 bytes of the lane's own memory, of which there are 1114112"
    call tests/system/use/cli/kernels/deep.gyre.c --set gyre.check=off '{"index":3}' <"$nothing"
    exits 139
    says 'locals beyond backend.cpu lane_stack,'
    call tests/system/use/cli/kernels/deep.gyre.c --set backend.cpu.lane_stack=8388608 '{"index":259}' <"$nothing"
    exits 0
    prints '{"index":3}'
fi

# somebody who types is told what to type
if command -v script >"$nothing"; then
    called="gyre call on a terminal" code=0 err=''
    out="$(echo '{"value":9}' | script -qec "$GYRE call --backend $backend $kinds:outcomes" "$nothing")" || code=$?
    exits 0
    prints 'gyre: type requests like {"value":0}, one a line; Ctrl-D ends'
    prints '{"value":9}'
fi

# every outcome, in its place
printf '%s\n' '{"value":1}' '{"value":0}' '' '{"value":-1}' '{"valu":1}' '{"value":2}' >"$folder/mixed"
call "$kinds:outcomes" <"$folder/mixed"
exits 1
sentence="line 5 of standard input: unknown field 'valu'; did you mean 'value'?"
expected='{"value":1}
{"no_reply":true}
{"failed":{"code":7,"text":"negative \"value\""}}
{"refused":"'"$sentence"'"}
{"value":2}'
[[ "$out" == "$expected" ]] || fail "expected on stdout: $expected"
says "gyre: $sentence"
says "4 sent, 2 answered, 1 failed, 1 without a reply, 1 refused"

# what is no request, with its sentence
while IFS='|' read -r request sentence; do
    call "$kinds:outcomes" -- "$request" <"$nothing"
    exits 1
    says "gyre: request 1: $sentence"
    prints '{"refused":"request 1: '
done <<'END'
{"value":1,"more":2}|unknown field 'more': 'number' has the fields value
{"value":|malformed JSON at byte
END

# buffers from files, back to files
printf '\1\0\0\0\2\0\0\0\3\0\0\0' >"$folder/weights"
call "$kinds:count" --buffer weights="$folder/weights" --buffer counts=zeros:12 \
    --output-buffer counts="$folder/counts" '{"value":0}' '{"value":2}' '{"value":2}' <"$nothing"
exits 0
says "3 sent, 0 answered, 0 failed, 3 without a reply"
called="the buffer that was written" out="$(od -An -tu4 "$folder/counts" | tr -s ' ')"
prints " 1 0 6"
# ... where the kernel is launched, whichever backend its section names
run call --set "backend.other.library=gyre-$backend.so" --set kernel.count.backend=other "$kinds:count" \
    --buffer weights="$folder/weights" --buffer counts=zeros:12 '{"value":0}' <"$nothing"
exits 0
says "gyre: count on other: 1 sent"
call "$kinds:count" --buffer weights="$folder/weights" '{"value":0}' <"$nothing"
exits 1
says "buffer 'counts'"
call "$kinds:count" --buffer weight="$folder/weights" --buffer counts=zeros:12 '{"value":0}' <"$nothing"
refuses 1 "kernel 'count' has no buffer 'weight'; it declares weights, counts; did you mean 'weights'?"
printf 'abcde' >"$folder/odd"
call "$kinds:count" --buffer weights="$folder/odd" --buffer counts=zeros:12 '{"value":0}' <"$nothing"
exits 1
says "buffer 'weights' of kernel 'count' has 5 bytes, which is no multiple of u32 (4)"
call "$kinds:count" --buffer weights="$folder/missing" '{"value":0}' <"$nothing"
refuses 1 "buffer file '$folder/missing': No such file or directory"
: >"$folder/empty"
call "$kinds:count" --buffer weights="$folder/empty" '{"value":0}' <"$nothing"
refuses 1 "buffer file '$folder/empty': expected raw elements, found a file of 0 bytes"
call "$kinds:count" --buffer weights="$folder" '{"value":0}' <"$nothing"
refuses 1 "buffer file '$folder': expected a regular file or a pipe, found something else"

# pipes instead: some have a writer, which has to come to its end
mkfifo "$folder/pipe"
unwritten="expected a pipe that somebody writes, found one that nobody has open for writing; start its writer first, or name a regular file"
# written TEXT COMMAND...: the pipe has a writer in the background: TEXT, once somebody reads, then what COMMAND prints.
written()
{
    exec 3<>"$folder/pipe" # so that the next does not wait for a reader
    exec 4>"$folder/pipe" 3>&-
    (
        trap '' PIPE
        until env printf "$1" >&4; do
            sleep 0.01
        done
        exec "${@:2}" >&4 4>&-
    ) 2>"$nothing" &
    writer=$!
    exec 4>&-
}
late()
{
    sleep 0.2
    printf '\1\0\0\0\2\0\0'
    sleep 0.2
    printf '\0\3\0\0\0'
}
call "$kinds:count" --buffer weights=<(late) --buffer counts=zeros:12 --output-buffer counts="$folder/counts" \
    '{"value":0}' '{"value":2}' '{"value":2}' <"$nothing"
exits 0
called="the buffer from a pipe" out="$(od -An -tu4 "$folder/counts" | tr -s ' ')"
prints " 1 0 6"
written '\1\0\0\0\2\0\0' bash -c 'sleep 0.2; printf "\0\3\0\0\0"'
call "$kinds:count" --buffer weights="$folder/pipe" --buffer counts=zeros:12 '{"value":2}' <"$nothing"
exits 0
# more than a pipe holds at once
call "$kinds:count" --buffer weights=/dev/stdin --buffer counts=zeros:1200000 '{"value":299999}' < <(head -c 1200000 /dev/zero)
exits 0
says "1 sent, 0 answered, 0 failed"
call "$kinds:count" --buffer weights=<(true) '{"value":0}' <"$nothing"
exits 1
says "': expected raw elements, found a file of 0 bytes"
# names are checked before a pipe is read, which here has no end
call "$kinds:count" --timeout 1000 --buffer nosuch=<(yes) --buffer counts=zeros:12 '{"value":0}' <"$nothing"
refuses 1 "kernel 'count' has no buffer 'nosuch'; it declares weights, counts"
call "$kinds:count" --timeout 1000 --buffer weights=<(sleep 5) --buffer weight=zeros:12 '{"value":0}' <"$nothing"
refuses 1 "kernel 'count' has no buffer 'weight'; it declares weights, counts; did you mean 'weights'?"
call "$kinds:count" --timeout 1000 --buffer weights=<(sleep 5) --output-buffer other=x <"$nothing"
refuses 2 "--output-buffer: there is no buffer 'other' ('gyre help call' shows how)"
call "$kinds:count" --timeout 0 --buffer weights="$folder/pipe" '{"value":0}' <"$nothing"
refuses 1 "buffer file '$folder/pipe': $unwritten"
written '' sleep 100
call "$kinds:count" --timeout 100 --buffer weights="$folder/pipe" '{"value":0}' <"$nothing"
{ kill "$writer" && wait "$writer"; } 2>"$nothing"
refuses 5 "buffer file '$folder/pipe': expected the next bytes of the pipe, or its end, within 100 ms (--timeout), found neither; look at its writer, or give it longer"
call "$kinds:count" --buffer weights '{"value":0}' <"$nothing"
refuses 2 "--buffer: expected NAME=FILE, found 'weights' ('gyre help call' shows how)"
call "$kinds:count" --buffer counts=zeros:x '{"value":0}' <"$nothing"
refuses 2 "--buffer: expected NAME=zeros:BYTES with at least 1 byte, found 'counts=zeros:x' ('gyre help call' shows how)"
call "$kinds:count" --buffer counts=zeros:4 --buffer counts=zeros:4 <"$nothing"
refuses 2 "--buffer: 'counts' is given twice ('gyre help call' shows how)"
call "$kinds:count" --buffer counts=zeros:4 --output-buffer other=x <"$nothing"
refuses 2 "--output-buffer: there is no buffer 'other' ('gyre help call' shows how)"
call "$kinds:count" --buffer weights="$folder/weights" --buffer counts=zeros:12 \
    --output-buffer counts="$folder/nowhere/counts" '{"value":0}' <"$nothing"
refuses 1 "buffer file '$folder/nowhere/counts': No such file or directory"
call "$kinds:count" --buffer weights="$folder/weights" --buffer counts=zeros:12 \
    --output-buffer counts="$folder" '{"value":0}' <"$nothing"
refuses 1 "buffer file '$folder': Is a directory"

# state
call examples/command/total.gyre.c --state '{"sum":100,"count":7}' '{"add":5}' <"$nothing"
exits 0
prints '{"sum":105,"count":8}'
echo '{"sum":-1,"count":0}' >"$folder/state"
call examples/command/total.gyre.c --state "@$folder/state" '{"add":1}' <"$nothing"
exits 0
prints '{"sum":0,"count":1}'
call examples/command/total.gyre.c --state '{"sum":1}' '{"add":1}' <"$nothing"
refuses 1 "--state: missing field 'count' (u64)"
call examples/command/total.gyre.c --state "@$folder/missing" '{"add":1}' <"$nothing"
refuses 1 "state file '$folder/missing': No such file or directory"
call examples/command/total.gyre.c --timeout 0 --state "@$folder/pipe" '{"add":1}' <"$nothing"
refuses 1 "state file '$folder/pipe': $unwritten"
call examples/command/total.gyre.c --state @<(printf '{"sum":4,'; sleep 0.2; printf '"count":5}') '{"add":1}' <"$nothing"
exits 0
prints '{"sum":5,"count":6}'
call examples/command/total.gyre.c --state @/dev/stdin '{"add":1}' < <(echo '{"sum":-9,"count":0}')
exits 0
prints '{"sum":-8,"count":1}'
call examples/command/total.gyre.c --state @<(yes) '{"add":1}' <"$nothing"
exits 1
says "' is longer than 67108864 bytes"
written '{"sum":-1,' printf '"count":0}'
call examples/command/total.gyre.c --state "@$folder/pipe" '{"add":1}' <"$nothing"
exits 0
prints '{"sum":0,"count":1}'
written '' sleep 100
call examples/command/total.gyre.c --timeout 100 --state "@$folder/pipe" '{"add":1}' <"$nothing"
{ kill "$writer" && wait "$writer"; } 2>"$nothing"
exits 5
says "state file '$folder/pipe': expected the next bytes of the pipe, or its end, within 100 ms (--timeout), found neither"
call "$kinds:outcomes" --state '{}' '{"value":1}' <"$nothing"
refuses 1 "--state: this kernel has no state"
# ... in a journal that begins with it; one that has a state goes on with that, which is said, and nothing is handled
mkdir "$folder/states"
kept=(--set journal_dir="$folder/states" --set kernel.total.checkpoints=true --set queue.total.durability=journal)
call examples/command/total.gyre.c "${kept[@]}" --state '{"sum":100,"count":7}' '{"add":5}' <"$nothing"
exits 0
prints '{"sum":105,"count":8}'
call examples/command/total.gyre.c "${kept[@]}" --state '{"sum":0,"count":0}' '{"add":5}' <"$nothing"
refuses 1 "--state: the journal '$folder/states/total.total.journal' has a state, with which the kernel goes on: leave --state out, or move the journal away to begin anew"
call examples/command/total.gyre.c "${kept[@]}" '{"add":1}' <"$nothing"
exits 0
prints '{"sum":106,"count":9}'
# ... and where no other checkpoint is due, the journal asks for one before it has grown by twice what it may
grown=(--set journal_dir="$folder/grown" --set kernel.total.checkpoints=true --set kernel.total.checkpoint_ms=0
    --set queue.total.durability=journal --set queue.total.journal_size=65536)
mkdir "$folder/grown"
seq 1 20000 | sed 's/.*/{"add":1}/' >"$folder/many"
run call "${grown[@]}" examples/command/total.gyre.c <"$folder/many"
prints '{"sum":20000,"count":20000}'
checks=$((checks + 1))
(($(stat -c %s "$folder/grown/total.total.journal") < 300000)) || fail "expected a journal of less than 300,000 bytes"
run call "${grown[@]}" examples/command/total.gyre.c '{"add":0}'
prints '{"sum":20000,"count":20001}'

# a reply that does not come in time
call "$kinds:slow" --timeout 50 '{"value":400}' <"$nothing"
exits 5
says "the kernel did not complete message 1 of 1 within 50 ms (--timeout)"
[[ "$err" != *" 0.0 s"* ]] || fail "told a time that nobody measured"
call "$kinds:slow" --timeout 0 '{"value":100}' <"$nothing"
exits 0

# what an earlier run left in a journal is marked, and no answer to what this one sends
kept=(--set journal_dir="$folder" --set queue.slow.durability=journal)
call "$kinds:slow" "${kept[@]}" --timeout 50 '{"value":400}' <"$nothing"
exits 5
[[ "$out" == '{"unanswered":true}' ]] || fail "expected one line for the request that was late"
says "1 sent, 0 answered, 0 failed, 1 unanswered"
call "$kinds:slow" "${kept[@]}" '{"value":1}' <"$nothing"
exits 0
[[ "$out" == '{"recovered":{"value":400}}'$'\n''{"value":1}' ]] || fail "expected the earlier reply marked, then this one's"
says "1 sent, 1 answered, 0 failed, 1 recovered of an earlier run"
call "$kinds:slow" "${kept[@]}" '{"value":2}' <"$nothing"
exits 0
[[ "$out" == '{"value":2}' ]] || fail "what was received once came again"

# standard input and output that are closed, or hold what is no text
call "$kinds:outcomes" <&-
exits 1
says "cannot read standard input: Bad file descriptor"
called="gyre call >&-" code=0 out=''
"$GYRE" call --backend "$backend" "$kinds:outcomes" '{"value":1}' >&- 2>"$folder/err" || code=$?
err="$(<"$folder/err")"
exits 1
says "cannot write the replies: Bad file descriptor"
printf '{"value":1\0}\n\377\n{"value":2}' >"$folder/bytes"
call "$kinds:outcomes" <"$folder/bytes"
exits 1
says "line 1 of standard input: malformed JSON at byte 10: a NUL byte"
says "line 2 of standard input: malformed JSON at byte 0: unable to decode byte 0xff"
prints '{"value":2}'
call "$kinds:outcomes" <"$nothing"
exits 0
says "0 sent, 0 answered, 0 failed"

# a request without fields
call "$kinds:answer" '{}' null <"$nothing"
exits 0
prints $'{"value":42}\n{"value":42}'
says "2 sent, 2 answered, 0 failed"

# sections whose names are nearly those of the kernel and its queue; not those that are for somebody
printf '[kernel.outcoms]\nlanes = 1\n[queue.outcome]\ncapacity = 8\n[kernel.same]\nlanes = 1\n[queu.outcomes]\n' >"$folder/typed.ini"
call --config "$folder/typed.ini" "$kinds:outcomes" '{"value":1}' <"$nothing"
says "$folder/typed.ini:2: [kernel.outcoms] is for no kernel that is known; did you mean [kernel.outcomes]?"
says "$folder/typed.ini:4: [queue.outcome] is for no queue that is known; did you mean [queue.outcomes]?"
says "unknown section [queu.outcomes], ignored; did you mean [queue.outcomes]?"
printf '[kernel.outcomes]\nlanes = 1\n[kernel.outcomes2]\nlanes = 1\n' >"$folder/typed.ini"
call --config "$folder/typed.ini" "$kinds:outcomes" '{"value":1}' <"$nothing"
[[ "$err" != *"is for no"* ]] || fail "a section of another name is not a mistake"

# kernels, files, backends, options
printf '#include <gyre/kernel.h>\nGYRE_KERNEL(x, u8, u8)\n{\n    return nothing;\n}\n' >"$folder/wrong.gyre.c"
call "$folder/wrong.gyre.c" 1 <"$nothing"
exits 1
says "$folder/wrong.gyre.c:4"
sed 's/nothing/GYRE_NO_REPLY/' "$folder/wrong.gyre.c" >"$folder/never_compiled.gyre.c"
saved="$PATH"
PATH="$folder" call "$folder/never_compiled.gyre.c" 1 <"$nothing"
PATH="$saved"
exits 3
says "there is no C compiler"
call "$kinds" '{}' <"$nothing"
exits 1
says "same"
call "$kinds:" '{}' <"$nothing"
refuses 1 "discover: '$kinds:' names no kernel behind the colon; expected '$kinds', or '$kinds:KERNEL'"
call "$kinds:1st" '{}' <"$nothing"
refuses 1 "discover: '1st' is no kernel's name: expected a C identifier, as in '$kinds:KERNEL'"
call "$kinds:outcome" '{}' <"$nothing"
exits 1
says "outcomes"
call "$folder/none.gyre.c" '{}' <"$nothing"
exits 1
says "$folder/none.gyre.c"
run call --backend no_such_backend "$kinds:outcomes" '{"value":1}' <"$nothing"
exits 3
says "there is no backend 'no_such_backend'"
run call --set gyre.backend=no_such_backend "$kinds:outcomes" '{"value":1}' <"$nothing"
exits 3
says "there is no backend 'no_such_backend'"
run call --backend no_such_backend --buffer counts=zeros:4 "$kinds:count" <"$nothing"
exits 3
says "there is no backend 'no_such_backend'"
# what only a launch finds wrong is told with its place in the file: misplaced EXIT LINE TEXT SENTENCE
misplaced()
{
    printf '%b' "$3" >"$folder/launch.ini"
    run call --config "$folder/launch.ini" "$kinds:outcomes" '{"value":1}' <"$nothing"
    exits "$1"
    says "gyre: $folder/launch.ini:$2: $4"
}
misplaced 3 2 '[gyre]\nbackend = no_such\n' "there is no backend 'no_such'"
misplaced 3 4 '[gyre]\nbackend = cpu\n[kernel.outcomes]\nbackend = no_such\n' "there is no backend 'no_such'"
misplaced 4 4 '[gyre]\nbackend = cpu\n[kernel.outcomes]\nblocks = 65536\n' "kernel 'outcomes': 65536 blocks, and "
misplaced 4 4 '[gyre]\nbackend = cpu\n[kernel.default]\nlanes = 1048576\n' "kernel 'outcomes': 1048576 lanes, and "
misplaced 4 4 '[gyre]\nbackend = cpu\n[queue.outcomes]\nheader = 17\n' "in the section [queue.outcomes]: header: '17'"
misplaced 4 5 '[gyre]\nbackend = cpu\n[queue.outcomes]\npolicy = drop_oldest\nlevels = 3\n' "queue 'outcomes' has 3 levels"
misplaced 4 4 '[gyre]\nbackend = cpu\n[queue.outcomes]\ndurability = journal\n' "queue 'outcomes' has durability = journal: say in"
# ... and what a compiler says of an option; what it says of the text is not blamed on one
misplaced 4 4 '[gyre]\nbackend = cpu\n[backend.cpu]\noptions = -g -fno-such-thing\n' \
    "options of backend 'cpu': backend 'cpu': compile: "
misplaced 4 5 '[gyre]\nbackend = cpu\n[kernel.outcomes]\nbackend = cpu\noptions = -fno-such-thing\n' \
    "options of kernel 'outcomes': backend 'cpu': compile: "
misplaced 4 4 '[gyre]\nbackend = cpu\n[backend.cpu]\ncompiler_options = -march=no-such-thing\n' \
    "compiler_options of backend 'cpu': backend 'cpu': compile: "
misplaced 4 4 '[gyre]\nbackend = cpu\n[backend.cpu]\noptions = -include no_such.h\n' "options of backend 'cpu': "
misplaced 4 4 '[gyre]\nbackend = cpu\n[backend.cpu]\nsanitize = no_such_thing\n' "sanitize of backend 'cpu': "
printf '[backend.cpu]\noptions = -Werror=unused-variable\n' >"$folder/launch.ini"
printf '#include <gyre/kernel.h>\nGYRE_KERNEL(unused, u32, u32) { u32 n = 1; return GYRE_REPLY; }\n' >"$folder/unused.gyre.c"
run call --config "$folder/launch.ini" --backend cpu "$folder/unused.gyre.c" 1 <"$nothing"
exits 1
says "gyre: backend 'cpu': compile: $folder/unused.gyre.c:2: "
misplaced 3 2 '[gyre]\nbackend = no_such\n[queue.default]\nheader = 17\n' "there is no backend"

call --device 999 "$kinds:outcomes" '{"value":1}' <"$nothing"
exits 3
says "999"
call "$kinds:outcomes" --lanes 0 <"$nothing"
refuses 2 "--lanes: expected a whole number from 1 to 4294967295, found '0' ('gyre help call' shows how)"
call "$kinds:outcomes" --lanes 1000000 '{"value":1}' <"$nothing"
exits 1
says "1000000"
run call --backend CPU "$kinds:outcomes" '{"value":1}' <"$nothing"
exits 3
says "did you mean 'cpu'?"
run call '' '{"value":1}' <"$nothing"
refuses 2 "expected a kernel file ('gyre help call' shows how)"
run call <"$nothing"
refuses 2 "expected a kernel file ('gyre help call' shows how)"
run call --config "$folder/none.ini" "$kinds:outcomes" '{"value":1}' <"$nothing"
exits 4
says "$folder/none.ini"
run call --set gyre.no_such_key=1 --set gyre.strict=true "$kinds:outcomes" '{"value":1}' <"$nothing"
exits 4
says "no_such_key"

# a file that some editor wrote
printf '\xef\xbb\xbf{"value":1}\r\n{"value":1}' >"$folder/bom"
call "$kinds:outcomes" <"$folder/bom"
says "2 sent"
printf '{"value":1}\n\xef\xbb\xbf{"value":1}\n' >"$folder/bom"
call "$kinds:outcomes" <"$folder/bom"
exits 1
says "line 2 of standard input: malformed JSON at byte 3"

# what has a name on disk is a file, also one that leads nowhere
ln -s nowhere "$folder/dangling"
pushd "$folder" >/dev/null || exit 1
run call dangling '{}' <"$nothing"
refuses 1 "discover: kernel file 'dangling' (seen from '$folder') cannot be opened: No such file or directory"
popd >/dev/null || exit 1

# settings of the command line are called so
run call --set nonsense "$kinds:outcomes" '{"value":1}' <"$nothing"
refuses 4 "command line: 'nonsense' is no setting; expected section.key=value, such as backend.cpu.threads=2"
run call --config '' "$kinds:outcomes" '{"value":1}' <"$nothing"
refuses 2 "--config: expected a value, found an empty text ('gyre help call' shows how)"

# buffers that requests name
cat >"$folder/named.gyre.c" <<'END'
#include <gyre/kernel.h>
#define SUM_OF(FIELD) FIELD(gyre_handle, values) FIELD(u32, times)
GYRE_MESSAGE(sum_of, SUM_OF)
GYRE_KERNEL(total_of, sum_of, u64)
{
    u64 count = 0, sum = 0;
    GYRE_GLOBAL u32 *values = gyre_open(gyre, u32, &request->values, &count);
    for (u64 i = 0; i < count; i++)
        sum += values[i];
    *reply = sum * request->times;
    return GYRE_REPLY;
}
END
printf '\1\0\0\0\2\0\0\0\3\0\0\0' >"$folder/three"
if [ "$backend" = cpu ]; then
    call "$folder/named.gyre.c" --message-buffer three="$folder/three" '{"values":"three","times":2}' \
        '{"values":{"buffer":"three","offset":4},"times":1}' '{"values":{"buffer":"three","offset":4,"size":4},"times":1}' <"$nothing"
    exits 0
    prints "$(printf '12\n5\n2')"
    call "$folder/named.gyre.c" --message-buffer three="$folder/three" '{"values":"there","times":2}' <"$nothing"
    exits 1
    says "request 1: field 'values': there is no buffer 'there'; did you mean 'three'?: --message-buffer NAME=FILE makes one"
    call "$folder/named.gyre.c" --message-buffer three="$folder/three" '{"values":{"buffer":"three","offset":8,"size":8},"times":2}' <"$nothing"
    exits 1
    says "field 'values': gyre_buffer_handle: 8 bytes from 8 on of a buffer of 12 bytes"
    call "$folder/named.gyre.c" --message-buffer three="$folder/three" '{"values":{"buffer":"three","start":8},"times":2}' <"$nothing"
    exits 1
    says "found 'start'"
    call "$folder/named.gyre.c" --message-buffer three="$folder/three" '{"values":null,"times":2}' <"$nothing"
    exits 1
    says "request 1: field 'values': expected the name of a buffer, or {\"buffer\":\"NAME\",\"offset\":0,\"size\":0}, found null"
fi

# a name whose source is configured
printf '[kernel.outcomes]\nsource = %s:outcomes\n[queue.outcomes]\ncapacity = 8\n' "$PWD/$kinds" >"$folder/named.ini"
run call --config "$folder/named.ini" outcomes '{"value":1}' <"$nothing"
exits 0
run call --config "$folder/named.ini" outcome '{"value":1}' <"$nothing"
exits 1
says "kernel 'outcome' has no source: name a file, or set source in the section [kernel.outcome]; did you mean 'outcomes'?"
cp "$kinds" "$folder/near.gyre.c"
pushd "$folder" >/dev/null || exit
run call near '{"value":1}'
popd >/dev/null || exit
exits 1
says "kernel 'near' has no source: name a file, or set source in the section [kernel.near]; did you mean the file 'near.gyre.c'?"
printf '#include <gyre/kernel.h>\nGYRE_KERNEL(answer, u32, u32) { *reply = ANSWER; return GYRE_REPLY; }\n' >"$folder/other.gyre.c"
printf '[kernel.answer]\noptions = -DANSWER=42\nbackend = %s\n[kernel.other]\noptions = -DANSWER=41\n' "$backend" >"$folder/answer.ini"
run call --config "$folder/answer.ini" "$folder/other.gyre.c" 1 <"$nothing"
exits 0
prints 42
printf '[kernel.answer]\nbackend = nowhere\n[kernel.default]\noptions = -DANSWER=1\n' >"$folder/answer.ini"
run call --config "$folder/answer.ini" "$folder/other.gyre.c" 1 <"$nothing"
exits 3
says "there is no backend 'nowhere'"
printf '[kernel.default]\nactive = false\n' >"$folder/inactive.ini"
run call --config "$folder/inactive.ini" --backend "$backend" "$kinds:outcomes" '{"value":1}' <"$nothing"
refuses 4 "kernel 'outcomes' is configured inactive (kernel.outcomes.active = false) and would answer nothing; add --set kernel.outcomes.active=true, or change the configuration"
run call --config "$folder/inactive.ini" --backend "$backend" --set kernel.outcomes.active=true "$kinds:outcomes" '{"value":1}' <"$nothing"
exits 0
# launched under another name than its own, it is that one's
printf '[kernel.morning]\nsource = %s:outcomes\n' "$PWD/$kinds" >"$folder/named.ini"
run call --config "$folder/named.ini" morning '{"value":1}' <"$nothing"
exits 0
says "gyre: morning on "

# the examples of the help text, as they stand there
examples="$("$GYRE" help call | sed -n "/^Examples/,\$p" | sed 1d)"
echo "${examples//gyre call/\"$GYRE\" call}" >"$folder/examples.sh"
called="the examples of gyre help call" code=0
out="$(bash -e "$folder/examples.sh" 2>"$folder/err")" || code=$?
err="$(<"$folder/err")"
exits 0
prints '{"scaled":41.0}'
prints '{"sum":115,"count":5}'
finish
