#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# serve, call --attach and doctor: a server and its clients as processes, and what dead ones leave.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_RUNTIME_DIR="$folder/session" XDG_CACHE_HOME="$folder/cache"
export TMPDIR="$folder/temporary"
mkdir -p "$XDG_RUNTIME_DIR" "$XDG_CACHE_HOME" "$TMPDIR"
server=

# start_server ARGUMENT...: in the background, until it says that it serves.
start_server()
{
    : >"$folder/ready"
    "$GYRE" serve --backend cpu "$@" >"$folder/ready" 2>"$folder/served" &
    server=$!
    await_begun "$folder/ready" "$server"
}

# stop_server SIGNAL: its exit status is left in `ended`.
stop_server()
{
    kill "-$1" "$server"
    wait "$server"
    ended=$?
}

run call --attach scale --timeout 100 '{"value":1,"factor":2}'
exits 3
says " ms for a server: nobody serves at $XDG_RUNTIME_DIR/gyre.sock"

# one that is not up yet is waited for, and when it is killed, the next one
"$GYRE" call --attach scale --timeout $((60000 * patience)) '{"value":20.5,"factor":2}' >"$folder/early" 2>&1 &
caller=$!
sleep 0.2
start_server examples/command/scale.gyre.c
wait "$caller"
code=$? called="call --attach before its server" out="$(<"$folder/early")" err=
exits 0
prints '{"scaled":41.0}'
mkfifo "$folder/lines"
: >"$folder/out"
"$GYRE" call --attach scale --timeout $((60000 * patience)) <"$folder/lines" >"$folder/out" 2>"$folder/err" &
caller=$!
exec 5>"$folder/lines"
for life in 1 2 3; do
    for ((i = 0; i < 100; i++)); do
        echo "{\"value\":$i,\"factor\":$life}" >&5
    done
    await_output
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    start_server examples/command/scale.gyre.c 5>&- # or it would keep the pipe open
done
exec 5>&-
code=0
wait "$caller" || code=$?
called="call --attach whose servers are killed" out="$(<"$folder/out")" err="$(<"$folder/err")"
exits 0
says "300 sent, 300 answered, 0 failed"
for life in 1 2 3; do
    for ((i = 0; i < 100; i++)); do
        echo "{\"scaled\":$((life * i)).0}"
    done
done >"$folder/expected"
checks=$((checks + 1))
diff -q "$folder/expected" "$folder/out" >/dev/null || fail "expected each reply once and in order"
stop_server TERM

# a configuration that was copied for another kernel keeps nothing, and a misspelt backend's section has no effect
printf '[kernel.ledger]\ncheckpoints = true\n[queue.ledger]\ndurability = journal\n[queue.total]\ncapacity = 64\n[backend.cpuu]\nisolation = process\n' \
    >"$folder/copied.ini"
start_server --config "$folder/copied.ini" examples/command/total.gyre.c
stop_server TERM
called="gyre serve with the sections of another kernel" code="$ended" err="$(<"$folder/served")"
exits 0
says "warning: $folder/copied.ini:2: checkpoints = true of [kernel.ledger] is for no kernel that is served here"
says "warning: $folder/copied.ini:4: durability = journal of [queue.ledger] is for no kernel that is served here, and counts only for"
says "$folder/copied.ini:8: there is no backend 'cpuu'; did you mean 'cpu'?"
checks=$((checks + 1))
[[ "$err" != *"[queue.total]"* ]] || fail "expected no word about the section of a kernel that is served"

# a server whose log nobody reads any more serves on, and ends as any other
mkfifo "$folder/log"
exec 3<>"$folder/log"
exec 4>"$folder/log"
exec 3<&- # and there is no reader
: >"$folder/ready"
"$GYRE" serve --backend cpu --set gyre.log_level=debug examples/command/scale.gyre.c >"$folder/ready" 2>&4 4>&- &
server=$!
exec 4>&-
await_begun "$folder/ready" "$server"
run call --attach scale '{"value":20.5,"factor":2}'
exits 0
stop_server TERM
called="the end of gyre serve whose log nobody reads" code="$ended"
exits 0
checks=$((checks + 1))
[[ ! -e "$XDG_RUNTIME_DIR/gyre.sock" ]] || fail "expected no socket"

start_server examples/command/scale.gyre.c examples/command/total.gyre.c
run call --attach scale '{"value":20.5,"factor":2}' '{"value":1,"factor":3}'
exits 0
prints '{"scaled":41.0}'
prints '{"scaled":3.0}'
says "scale of the server: 2 sent, 2 answered, 0 failed"
run call --attach total '{"add":2}' '{"add":3}'
exits 0
run call --attach total '{"add":5}' # what an actor keeps outlives its clients
exits 0
prints '"sum":10'
run state total
exits 0
prints 'sum    10'
prints 'count  3'
run state total --json
exits 0
[[ $out == '{"sum":10,"count":3}' ]] || fail "the state as JSON: $out"
run state scale
exits 1
says "kernel 'scale' keeps no state between messages"
run state totl
exits 1
says "did you mean 'total'?"
run state
exits 2
says "expected the name of one kernel"
run state total --socket "$folder/nobody"
exits 3
says "nobody serves at $folder/nobody"
kill -STOP "$server" # it takes nobody in: --timeout is how long that is waited for, too
timeout $((4 * patience)) "$GYRE" call --attach scale --timeout 200 '{"value":1,"factor":2}' >"$folder/out" 2>"$folder/err"
code=$? called="call --attach to a server that is stopped"
out="$(<"$folder/out")" err="$(<"$folder/err")"
kill -CONT "$server"
exits 5
says "the server at $XDG_RUNTIME_DIR/gyre.sock did not answer: timeout; is it stopped, or another program than"
run call --attach skale '{"value":1,"factor":2}'
exits 1
says "the server has no kernel 'skale'; it has: "
says "total"
says "; did you mean 'scale'?"
run call --attach scale --lanes 2 '{"value":1,"factor":2}'
exits 2
says "--lanes is for a kernel that is launched"
run serve --backend cpu examples/command/scale.gyre.c
exits 1
says "a server is there already"
run doctor --clean # servers were killed above
exits 0
prints "what a killed process said last"
run doctor
exits 0
prints "one serves at $XDG_RUNTIME_DIR/gyre.sock"
prints "1 living process can be seen"
run call --attach scale '{"value":4,"factor":2}' # nothing of a living server was touched
exits 0
stop_server TERM
called="the end of gyre serve"
[[ $ended -eq 0 && ! -e "$XDG_RUNTIME_DIR/gyre.sock" ]] || fail "exit $ended: $(cat "$folder/served")"
grep -q "served 4 clients, refused 1" "$folder/served" || fail "$(cat "$folder/served")"
logged()
{
    checks=$((checks + 1))
    grep -qE "^gyre: [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z info: $1$" "$folder/served" ||
        fail "expected a line of the log: $1; found: $(cat "$folder/served")"
}
logged "process [0-9]+ of user $(id -u) attached to kernel 'scale'"
logged "process [0-9]+ of user $(id -u) left kernel 'scale'"
logged "process [0-9]+ of user $(id -u) was refused: the server has no kernel 'skale'; .*"

# another place than the configured one, for each command that looks for a server
start_server --socket "$folder/elsewhere" examples/command/scale.gyre.c
run call --attach scale --socket "$folder/elsewhere" '{"value":20.5,"factor":2}'
exits 0
prints '{"scaled":41.0}'
run call --attach scale --socket "$folder/nobody" --timeout 100 '{"value":1,"factor":2}'
exits 3
says "nobody serves at $folder/nobody"
run call --attach scale --socket "$folder/nobody" --timeout 1500 '{"value":1,"factor":2}'
exits 3
[[ "$err" != *"waiting on"* ]] || fail "expected nothing but what failed, where nobody watches"
if [[ -n "$(command -v script)" ]]; then
    code=0 called="call --attach without a server, where a person watches" out=''
    err="$(script -qec "$GYRE call --attach scale --socket $folder/nobody --timeout 1500 '{\"value\":1,\"factor\":2}'" /dev/null </dev/null)" || code=$?
    exits 3
    says "No such file or directory; start \`gyre serve\`, or name another socket (waiting on, as long as --timeout says)"
    waited="$(sed -nE 's/^gyre: waited ([0-9]+) ms for a server: nobody serves.*or name another socket.?$/\1/p' <<<"$err")"
    ((waited >= 1500)) || fail "expected to be told of the whole wait in the end, found '$waited' ms"
    kill -STOP "$server"
    code=0 called="call --attach to a server that is stopped, where a person watches"
    err="$(script -qec "$GYRE call --attach scale --socket $folder/elsewhere --timeout 1500 '{\"value\":1,\"factor\":2}'" /dev/null </dev/null)" || code=$?
    kill -CONT "$server"
    exits 5
    says "another program than"
    says "(waiting on, as long as --timeout says)"
fi

# mistakes of somebody who attaches for the first time
mistake()
{
    run call --timeout $((500 * patience)) --attach "$@"
    ((code != 0)) || fail "expected a refusal"
}
there=(--socket "$folder/elsewhere" '{"value":1,"factor":2}')
touch "$folder/file"
mistake scale --socket "$folder/file" '{"value":1,"factor":2}'
says "$folder/file is a file and no socket: name another path"
mistake scale --socket "$folder" '{"value":1,"factor":2}'
says "$folder is a folder: name the socket of a server in it"
mistake scale --socket nowhere.sock '{"value":1,"factor":2}'
says "nobody serves at nowhere.sock (seen from '$PWD'): No such file or directory; start"
mistake "$PWD/examples/command/scale.gyre.c" "${there[@]}"
says "scale.gyre.c' is no name: expected that of a kernel, or KERNEL/QUEUE"
mistake scale/ "${there[@]}"
says "'scale/' is no name: expected that of a kernel, or KERNEL/QUEUE"
mistake --socket "$folder/elsewhere"
says "--attach needs a value, found the option '--socket'"
mistake scale --socket "$folder/elsewhere" examples/command/scale.gyre.c
says "'examples/command/scale.gyre.c' is a file: --attach launches none, and takes nothing but requests"
mistake scale --socket "$folder/elsewhere" hello
says "request 1: expected a JSON object with the fields value, factor: malformed JSON at byte 5"

# other programs' sockets, and a server that ends while it is asked
listen()
{
    : >"$folder/listening" # or the last one's word is read
    python3 -c '
import os, socket, sys
kind = socket.SOCK_STREAM if sys.argv[2] == "stream" else socket.SOCK_SEQPACKET
listener = socket.socket(socket.AF_UNIX, kind)
listener.bind(sys.argv[1])
listener.listen()
print("ready", flush=True)
while True:
    client = listener.accept()[0]
    client.recv(65536)
    client.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
' "$folder/other-$1" "$1" >"$folder/listening" &
    other=$!
    until grep -q ready "$folder/listening"; do sleep 0.05; done
    mistake scale --socket "$folder/other-$1" '{"value":1,"factor":2}'
    kill "$other"
    wait "$other" 2>/dev/null
}
listen stream
says "$folder/other-stream is a socket of another program than \`gyre serve\`: name another path"
listen packets
says "the program at $folder/other-packets answered with what is no message of Gyre: name the socket of a \`gyre serve\`"

run call examples/command/scale.gyre.c --socket "$folder/elsewhere" '{"value":1,"factor":2}'
exits 2
says "--socket is where a server is: give --attach KERNEL with it"
(echo '{"value":1,"factor":2}' && while kill -0 "$server" 2>/dev/null; do sleep 0.05; done && echo '{"value":1,"factor":2}') |
    "$GYRE" call --attach scale --socket "$folder/elsewhere" --timeout $((500 * patience)) >"$folder/out" 2>"$folder/err" &
caller=$!
await_output
stop_server TERM
wait "$caller"
code=$? called="call --attach to a server that ends" out="$(<"$folder/out")" err="$(<"$folder/err")"
exits 5
says "the kernel did not complete message 2 of 2 within $((500 * patience)) ms (--timeout): "
says ", whose server is gone: it waits for the next server"

# a handler that faults takes a server along that is not isolated, which says so and what to do; also in the replay
{
    echo '#include <gyre/kernel.h>'
    echo 'GYRE_ACTOR(divides, u32, u32, u32)'
    echo '{'
    echo '    *state += 1;'
    echo '    *reply = 6 / (3 - *request);'
    echo '    return GYRE_REPLY;'
    echo '}'
} >"$folder/divides.gyre.c"
mkdir "$folder/journal"
journal=(--set "gyre.journal_dir=$folder/journal" --set kernel.divides.checkpoints=true --set queue.divides.durability=journal)
# dies CALLED: the server that was started has ended by its handler, with a sentence.
dies()
{
    ended=0
    wait "$server" || ended=$?
    called="$1" code="$ended" err="$(<"$folder/served")"
    checks=$((checks + 1))
    ((ended != 0)) || fail "expected a failure"
    if [[ "$ended" == 136 ]]; then # a sanitizer ends the program in its own way
        says "gyre: a fault ended the program, most likely in the handler"
        says "; start it with isolation = process (--set backend.cpu.isolation=process)"
    fi
}
start_server "$folder/divides.gyre.c"
run call --attach divides --timeout $((300 * patience)) 1 2 3 2>/dev/null
dies "gyre serve whose handler faults"
start_server "${journal[@]}" "$folder/divides.gyre.c"
run call --attach divides --timeout $((300 * patience)) 1 2 3 2>/dev/null
dies "gyre serve with a journal whose handler faults"
start_server "${journal[@]}" "$folder/divides.gyre.c"
dies "gyre serve whose handler faults in the replay"
start_server "${journal[@]}" "$folder/divides.gyre.c" --set backend.cpu.isolation=process # as the sentence says
run call --attach divides --timeout $((60000 * patience)) 1
exits 0
prints 3
stop_server TERM
called="the end of an isolated server" code="$ended"
exits 0

# an actor whose worker process dies, and that nothing keeps: clients do not wait until their deadline
start_server "$folder/divides.gyre.c" --set backend.cpu.isolation=process
run call --attach divides --timeout $((60000 * patience)) 1 3 1
exits 3
says "kernel 'divides' is lost for good, because its worker process died"
says "start its server again, then attach anew; in [kernel.divides] checkpoints = true keeps its state"
stop_server TERM
checks=$((checks + 1))
[[ $(grep -c "was refused: kernel 'divides' is lost for good" "$folder/served") == 1 ]] || fail "$(cat "$folder/served")"

# a section of its own file that is for no kernel of it
printf '[kernel.distant]\nlanes = 1\n[kernel.scale]\nlanes = 1\n[kernel.other]\nsource = other.gyre.c\n' >"$folder/own.ini"
start_server --config "$folder/own.ini" examples/command/scale.gyre.c examples/command/total.gyre.c
stop_server TERM
called="a server with a section for nobody" code="$ended" err="$(<"$folder/served")"
exits 0
says "warning: $folder/own.ini:2: [kernel.distant] is for no kernel that is served here; served are: scale, total"
checks=$((checks + 1))
[[ "$err" != *"kernel.scale]"* && "$err" != *"kernel.other]"* ]] || fail "warned of a kernel that is served, or configured"

# a hangup ends a server, unless it is ignored, as under nohup
start_server examples/command/scale.gyre.c
stop_server HUP
called="a server whose terminal is gone" code="$ended"
exits 0
trap '' HUP
start_server examples/command/scale.gyre.c
trap - HUP
kill -HUP "$server"
run call --attach scale --timeout $((60000 * patience)) '{"value":4,"factor":2}'
exits 0
stop_server TERM
called="the end of a server under nohup" code="$ended"
exits 0
checks=$((checks + 1))
grep -q "served 1 client" "$folder/served" || fail "$(cat "$folder/served")"

# one that ends without a word is told apart, and one client is no clients
start_server tests/system/use/cli/kernels/kinds.gyre.c:slow
seq 1 300 | sed 's/.*/{"value":100}/' >"$folder/slowly"
: >"$folder/out"
"$GYRE" call --attach slow <"$folder/slowly" >"$folder/out" 2>"$folder/err" &
caller=$!
await_output
kill -KILL "$caller"
wait "$caller" 2>/dev/null
for ((i = 0; i < 600 * patience; i++)); do
    if grep -q "is lost" "$folder/served"; then break; fi
    sleep 0.05
done
stop_server TERM
called="the end of gyre serve with one client"
logged "process $caller of user $(id -u) is lost to kernel 'slow': its program ended without closing its queue"
grep -qE "^gyre: served 1 client$" "$folder/served" || fail "$(cat "$folder/served")"

# what clients sent before the signal is answered
start_server tests/system/use/cli/kernels/kinds.gyre.c:slow --drain 20000
seq 1 30 | sed 's/.*/{"value":20}/' >"$folder/slowly"
: >"$folder/out"
"$GYRE" call --attach slow <"$folder/slowly" >"$folder/out" 2>"$folder/err" &
caller=$!
await_output
stop_server TERM
code=0
wait "$caller" || code=$?
called="a client of a server that drains" out="$(<"$folder/out")" err="$(<"$folder/err")"
exits 0
says "30 sent, 30 answered, 0 failed"

# ... unless a second signal comes
start_server tests/system/use/cli/kernels/kinds.gyre.c:slow --drain "$((60000 * patience))"
seq 1 "$((300 * patience))" | sed 's/.*/{"value":100}/' >"$folder/slowly"
: >"$folder/out"
"$GYRE" call --attach slow --timeout $((2000 * patience)) <"$folder/slowly" >"$folder/out" 2>"$folder/err" &
caller=$!
await_output
begun_us="${EPOCHREALTIME/[.,]/}"
kill -TERM "$server"
sleep 0.1
kill -TERM "$server" # the same once more, as of `timeout`
apart_us=$((${EPOCHREALTIME/[.,]/} - begun_us))
sleep 0.5
called="gyre serve that drains"
if ((apart_us < 250000)); then # else the machine made it the second signal
    checks=$((checks + 1))
    kill -0 "$server" || fail "expected it to drain"
fi
begun=$SECONDS
stop_server INT
code=0
wait "$caller" || code=$?
called="gyre serve at a second signal" out='' err="$(<"$folder/err")"
exits 5 # no next server came
every_request_has_its_line
checks=$((checks + 1))
((ended == 0 && SECONDS - begun < 15 * patience)) || fail "exit $ended after $((SECONDS - begun)) s: $(<"$folder/served")"
grep -q "left [0-9]* requests unhandled" "$folder/served" || fail "$(<"$folder/served")"

# ... of every kernel, however many there are, and each is told
{
    echo '#include <gyre/kernel.h>'
    printf 'GYRE_KERNEL(many_%d, u64, u64) { *reply = *request; return GYRE_REPLY; }\n' {1..69}
    echo 'GYRE_KERNEL(many_70, u64, u64)
{
    const u64 end = gyre_time_ns(gyre) + *request * 1000000u;
    while (gyre_time_ns(gyre) < end) {
    }
    *reply = *request;
    return GYRE_REPLY;
}'
} >"$folder/many.gyre.c"
mapfile -t many < <(seq -f "$folder/many.gyre.c:many_%g" 70)
start_server "${many[@]}" --drain 20000
: >"$folder/out"
yes 20 | head -30 | "$GYRE" call --attach many_70 >"$folder/out" 2>"$folder/err" &
caller=$!
await_output
stop_server TERM
code=0
wait "$caller" || code=$?
called="a client of the last of 70 kernels" out="$(<"$folder/ready")" err="$(<"$folder/err")"
exits 0
says "30 sent, 30 answered, 0 failed"
prints ", many_64 on cpu, many_65 on cpu"
prints ", many_70 on cpu"

# a server that ends while a client sends: each request that was accepted has its line
start_server examples/command/total.gyre.c
: >"$folder/out"
yes '{"add":1}' | head -5000000 | "$GYRE" call --attach total --timeout $((2000 * patience)) >"$folder/out" 2>"$folder/err" &
caller=$!
await_output
stop_server TERM
code=0
wait "$caller" || code=$?
called="a client that sends while its server ends" out='' err="$(<"$folder/err")"
exits 5
every_request_has_its_line

# Somebody listens there whom a client cannot reach: nobody's leftover.
: >"$folder/ready"
perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && bind(S, sockaddr_un($ARGV[0])) && listen(S, 1) or die;
    $| = 1; print "ready"; sleep 600' "$XDG_RUNTIME_DIR/gyre.sock" >"$folder/ready" &
other=$!
for ((i = 0; i < 600 * patience && ! $(stat -c %s "$folder/ready"); i++)); do
    sleep 0.05
done
run doctor --clean
exits 0
[[ -S "$XDG_RUNTIME_DIR/gyre.sock" ]] || fail "the socket of a living program was removed"
kill "$other"
wait "$other"
run doctor --clean
[[ ! -e "$XDG_RUNTIME_DIR/gyre.sock" ]] || fail "the socket of a dead program was not removed"


head -c 16 /dev/zero >"$folder/gains"
printf '\0\0\0\0\0\0\10\100' | dd of="$folder/gains" bs=8 seek=1 conv=notrunc status=none # 3.0 on channel 1
start_server examples/tour/tour.gyre.c:scale --buffer gain="$folder/gains" --output-buffer gain="$folder/gains.out"
run call --attach scale '{"channel":1,"value":14}'
exits 0
prints '{"value":42.0}'
stop_server TERM
called="the end of gyre serve with a buffer"
[[ $ended -eq 0 ]] || fail "exit $ended: $(cat "$folder/served")"
cmp "$folder/gains" "$folder/gains.out" || fail "the buffer that was written back is another one"
run serve --backend cpu examples/tour/tour.gyre.c:scale examples/tour/tour.gyre.c:total --buffer gain="$folder/gains"
exits 2
says "--buffer: expected one kernel with it, found 2"
run serve --backend cpu examples/tour/tour.gyre.c:scale
exits 1
says "kernel 'scale' has a buffer 'gain' of f64, and nothing is bound to it"
mkfifo "$folder/gains.pipe"
run serve --backend cpu examples/tour/tour.gyre.c:scale --buffer gain="$folder/gains.pipe"
refuses 1 "buffer file '$folder/gains.pipe': expected a pipe that somebody writes, found one that nobody has open for writing; start its writer first, or name a regular file"
run serve --backend cpu examples/tour/tour.gyre.c:scale --buffer gain=zeros:8 --output-buffer gane="$folder/gains.out"
exits 2
says "--output-buffer: there is no buffer 'gane'"

start_server examples/command/scale.gyre.c
stop_server KILL
mapfile -t keys < <(find "$XDG_CACHE_HOME/gyre/kernels" -mindepth 1 -maxdepth 1 -type d)
: >"${keys[0]}/0123.999999999.1.tmp" # no process has so high a number
: >"${keys[0]}/0123.$$.1.tmp"        # this one lives
mkdir -p "$TMPDIR"/gyre-work-{Killed/deep,InWork,Recent} "$TMPDIR/gyre-0"
touch -d '1 hour ago' "$TMPDIR"/gyre-work-{Killed,InWork} "$TMPDIR/gyre-0"
exec 8<"$TMPDIR/gyre-work-InWork" # as the process that compiles in it holds it
flock 8
run doctor
exits 1
prints "$XDG_RUNTIME_DIR/gyre.sock: nobody listens any more"
prints "0123.999999999.1.tmp: its writer died"
prints "$TMPDIR/gyre-work-Killed: a compile that was ended"
[[ "$out" != *InWork* && "$out" != *Recent* && "$out" != *gyre-0:* ]] || fail "told of what is in use"
run doctor --clean
exits 0
prints "removed"
[[ ! -e "$XDG_RUNTIME_DIR/gyre.sock" && ! -e "${keys[0]}/0123.999999999.1.tmp" ]] || fail "something was not removed"
[[ ! -e "$TMPDIR/gyre-work-Killed" ]] || fail "a folder was not removed"
[[ -d "$TMPDIR/gyre-work-InWork" && -d "$TMPDIR/gyre-work-Recent" && -d "$TMPDIR/gyre-0" ]] || fail "one too many"
exec 8<&-
rm -r "$TMPDIR"/gyre-work-*
[[ -e "${keys[0]}/0123.$$.1.tmp" ]] || fail "a living process's file was removed"
run doctor --json
exits 0
prints '"state":"ok"'
prints '"what":"cpu compiler"'
prints '"what":"gyre-check"'
run doctor --backend cpu --set backend.cpu.compiler=no-such-compiler
exits 1
prints "'no-such-compiler' (backend.cpu.compiler) is not here: install one"
# where no server could be, doctor says what gyre serve would say
cannot_serve()
{
    run serve --backend cpu --set "gyre.socket=$1" examples/command/scale.gyre.c
    exits "$2"
    local sentence="${err#gyre: }"
    run doctor --backend cpu --set "gyre.socket=$1"
    exits 1
    prints "none, and gyre serve starts none: $sentence"
}
: >"$folder/no_socket"
cannot_serve "$folder/nowhere/x/gyre.sock" 3
cannot_serve "$folder/no_socket/gyre.sock" 3
cannot_serve "$folder/no_socket" 1
XDG_RUNTIME_DIR="$folder/nowhere" cannot_serve '' 3
# workers of other tests' programs that were killed just now are left for a moment
for ((i = 0; i < 100 * ${GYRE_TEST_PATIENCE:-1}; i++)); do
    run doctor --backend cpu --set "gyre.socket=$folder/here.sock"
    grep -q '^left  *worker' <<<"$out" || break
    sleep 0.1
done
exits 0
prints "none; gyre serve starts one"
TMPDIR=/dev/null run doctor --backend cpu
exits 1
prints "nothing can be compiled: no temporary folder can be made in '/dev/null' (Not a directory)"
# a server that runs out of descriptors says so, to whom it concerns, and goes on when it has some again
start_server examples/command/scale.gyre.c
limit="$(ulimit -n)" held=("/proc/$server/fd"/*)
prlimit --pid "$server" --nofile=3:
timeout "$patience" "$GYRE" call --attach scale '{"value":4,"factor":2}' >/dev/null 2>&1
prlimit --pid "$server" --nofile="$limit":
run call --attach scale '{"value":4,"factor":2}'
exits 0
prlimit --pid "$server" --nofile="$((${#held[@]} + 1)):"
run call --attach scale '{"value":4,"factor":2}'
exits 1
says "gyre: the server: "
says "Too many open files"
prlimit --pid "$server" --nofile="$limit":
stop_server TERM
called="a server without descriptors"
grep -q "nobody can attach at $XDG_RUNTIME_DIR/gyre.sock: Too many open files" "$folder/served" ||
    fail "$(cat "$folder/served")"
grep -q "programs can attach at $XDG_RUNTIME_DIR/gyre.sock again" "$folder/served" || fail "$(cat "$folder/served")"

run serve --backend cpu
exits 2
says "expected at least one kernel"
run doctor something
exits 2
finish
