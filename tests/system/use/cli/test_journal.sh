#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# journal: what journals hold, what is wrong with them, and others made of them.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" XDG_RUNTIME_DIR="$folder/session"
mkdir -p "$XDG_RUNTIME_DIR"
journals="$folder/journals"
journal="$journals/total.total.journal"
settings=(--backend cpu --set "gyre.journal_dir=$journals" --set queue.total.durability=journal
    --set kernel.total.checkpoints=true)

run call "${settings[@]}" examples/command/total.gyre.c '{"add":1}' '{"add":2}' '{"add":3}'
exits 0
run call "${settings[@]}" examples/command/total.gyre.c '{"add":4}' '{"add":5}' '{"add":6}'
exits 0
prints '"sum":21'
run journal list "$journals"
exits 0
prints 'total.total.journal  total   total      3     6        6'
prints 'ended'
run journal list --set "gyre.journal_dir=$journals" --json
exits 0
prints '"first":3,"next":6,"taken":6,"covered":6'
run journal verify "$journal"
exits 0
prints "whole, ended: requests 3 to 5 of queue 'total' of kernel 'total', 0 of them offered"
run journal print "$journal"
exits 0
prints '"request_type":"total_request","reply_type":"total_state","state_type":"total_state"'
prints '{"request":4,"is":"taken","message":{"add":5}}'
run journal state "$journal"
exits 0
[[ $out == '{"sum":21,"count":6}' ]] || fail "the state: $out"
"$GYRE" journal state "$journal" --raw | cmp -s - <(printf '\25\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0') || fail "the state's bytes"
checks=$((checks + 1))

# without what came from a request on; the program goes on from there
run journal cut "$journal" --at 4
exits 2
says "expected either --output NEW or --replace"
run journal cut "$journal" --at 9 --output "$folder/cut"
exits 1
says "--at: the journal holds requests 3 to 6, found 9"
run journal cut "$journal" --at 4 --output "$folder/cut"
exits 0
says "requests 3 to 3"
run journal cut "$journal" --at 4 --output "$folder/cut"
exits 1
says "is there already"
run journal verify "$folder/cut" "$journal"
exits 0
prints "requests 3 to 3"
run journal cut "$journal" --at 4 --replace
exits 0
cmp -s "$journal" "$folder/cut" || fail "a cut in place is another one"
run journal state "$journal.before"
exits 0
prints '"sum":21'
run journal cut "$journal" --at 4 --replace
exits 1
says "$journal.before' is there already"
run call "${settings[@]}" examples/command/total.gyre.c '{"add":0}'
exits 0
prints '{"sum":10,"count":5}'
run journal convert "$journal" --output "$folder/converted"
exits 0
run journal state "$folder/converted"
exits 0
[[ $out == '{"sum":10,"count":5}' ]] || fail "the state: $out"

# the types of a later handler
cat >"$folder/later.h" <<'END'
#include <gyre/message.h>
#define TOTAL_REQUEST(FIELD) FIELD(i64, add) FIELD(u32, from)
GYRE_MESSAGE(total_request, TOTAL_REQUEST)
#define TOTAL_STATE(FIELD) FIELD(u64, count) FIELD(i64, sum) FIELD(u64, most)
GYRE_MESSAGE(total_state, TOTAL_STATE)
END
run journal convert "$journal" --backend cpu --types "$folder/later.h" --output "$folder/later"
exits 0
run journal state "$folder/later"
exits 0
[[ $out == '{"count":5,"sum":10,"most":0}' ]] || fail "the later state: $out"
run journal print "$folder/later"
exits 0
prints '"message":{"add":0,"from":0}'
sed -i 's/FIELD(i64, sum)/FIELD(i32, sum)/' "$folder/later.h"
run journal convert "$journal" --backend cpu --types "$folder/later.h" --output "$folder/worse"
exits 1
says "the journal's replies cannot be those of 'total_state'"
[[ ! -e "$folder/worse" ]] || fail "a file of what cannot be"

# a program that has it open
"$GYRE" serve "${settings[@]}" examples/command/total.gyre.c >"$folder/ready" 2>"$folder/served" &
server=$!
for ((i = 0; i < 600; i++)); do
    if [[ -s "$folder/ready" ]] || ! kill -0 "$server" 2>/dev/null; then
        break
    fi
    sleep 0.05
done
run journal print "$journal"
exits 1
says "is in use by process $server"
run journal cut "$journal" --at 4 --replace
exits 1
says "is in use by process $server"
run journal list "$journals"
exits 0
prints "in use"
run call --attach total '{"add":7}'
exits 0
kill -KILL "$server"
wait "$server" 2>/dev/null
run journal verify "$journal"
exits 0
prints "whole, open"

# files that are none, or not whole
run journal verify "$folder/nothing"
exits 1
says "No such file"
run journal verify "$folder"
exits 1
says "no regular file"
cp "$folder/cut" "$folder/odd.journal"
mkfifo "$folder/odd.lock" # which nobody writes
timeout $((20 * patience)) "$GYRE" journal verify "$folder/odd.journal" >"$folder/out" || fail "a lock that is a pipe"
checks=$((checks + 1))
printf 'no journal' >"$folder/other"
run journal print "$folder/other"
exits 1
says "does not begin as one"
head -c -20 "$folder/cut" >"$folder/torn"
run journal verify "$folder/torn" "$folder/cut"
exits 1
says "ends in the midst of a record, at byte"
prints "$folder/cut: whole"
run journal print "$folder/torn"
exits 1
prints '{"request":3'
run journal convert "$folder/torn" --output "$folder/mended"
exits 0
says "cannot be used and are left out"
run journal verify "$folder/mended"
exits 0
run journal list
exits 2
says "expected a folder, as gyre.journal_dir names none"
run journal list "$folder/nowhere"
exits 1
says "cannot be read: No such file"
run journal look
exits 2
says "found 'look'"
finish
