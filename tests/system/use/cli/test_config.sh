#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre config: values with their origins, the layers, and what makes a configuration bad, with its sentence and exit code.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"

while IFS='=' read -r name _; do
    unset "$name"
done < <(env | grep '^GYRE_')
export HOME="$folder/home" XDG_CONFIG_DIRS="$folder/xdg"
unset XDG_CONFIG_HOME XDG_CACHE_HOME
user="$HOME/.config/gyre/gyre.ini"
named="$folder/named.ini"
mkdir -p "$HOME/.config/gyre/plugins.d" "$folder/xdg/gyre"

# row KEY VALUE ORIGIN: the only row that was printed below the headers.
row()
{
    local words
    words="$(tail -n +2 <<<"$out" | tr -s ' ')"
    checks=$((checks + 1))
    [[ "$words" == "$1 $2 $3" ]] || fail "expected the row: $1 $2 $3"
}

# one value from each place
run config cache_size
exits 0
row gyre.cache_size "256 MiB" default
printf '[queue.default]\ncapacity = 64\n' >"$folder/xdg/gyre/gyre.ini"
run config queue.any.capacity
row queue.any.capacity 64 "$folder/xdg/gyre/gyre.ini:2"
printf '\n[queue.default]\ncapacity = 128\n' >"$user"
run config queue.any.capacity
row queue.any.capacity 128 "$user:3"
printf '[queue.default]\ncapacity = 256\n' >"$named"
run config queue.any.capacity --config "$named"
row queue.any.capacity 256 "$named:2"
GYRE_CONFIG="$named" run config queue.any.capacity
row queue.any.capacity 256 "$named:2"
GYRE_QUEUE__DEFAULT__CAPACITY=512 run config queue.any.capacity --config "$named"
row queue.any.capacity 512 "environment GYRE_QUEUE__DEFAULT__CAPACITY"
GYRE_QUEUE__DEFAULT__CAPACITY=512 run config queue.any.capacity --set queue.default.capacity=1024
row queue.any.capacity 1024 "command line"
run config backend --backend other --set backend=cpu
prints "backend.default.priority"
run config gyre.backend --backend other --set backend=cpu
row gyre.backend other "command line"
says "gyre: warning: command line: there is no backend 'other'; known: "
run config gyre.backend --backend auto --set kernel.default.backend=coda --set kernel.a.backend=cpu --set kernel.b.lanes=1
checks=$((checks + 1))
[[ "$err" == "gyre: warning: command line: there is no backend 'coda'; "*"known: "* && "$err" != *$'\n'* ]] || fail "expected one warning"

# nothing of the current directory
mkdir "$folder/here"
printf '[gyre]\nbackend = here\n' >"$folder/here/gyre.ini"
out="$(cd "$folder/here" && "$GYRE" config gyre.backend)"
row gyre.backend auto default

# choosing what to see
run config
exits 0
prints "gyre.backend "
prints "queue.default.first_sequence "
run config queue --set queue.b.capacity=1 --set queue.a.capacity=2
exits 0
[[ "$(cut -d. -f2 <<<"$out" | uniq | tr '\n' ' ')" == *"default a b "* ]] || fail "expected default, a, b in this order"
run config queue.nowhere --set queue.default.idle=park
prints "queue.nowhere.idle "
run config queue.a.b.capacity --set queue.a.b.capacity=2
row queue.a.b.capacity 2 "command line"
run config backend --set gyre.backend=cpu # a key and a kind of sections
exits 0
checks=$((checks + 1))
grep -qE '^gyre\.backend +cpu +command line$' <<<"$out" || fail "expected the key gyre.backend, too"
prints "backend.cpu.compiler "
run config bakend
refuses 1 "there is no key 'bakend' in [gyre]; did you mean 'backend'?"
run config queue.a.xyzzy
refuses 1 "there is no key 'xyzzy' in [queue.a]; 'gyre config queue.a' lists them"
run config gyer.backend
refuses 1 "'gyer.backend' is in no section that exists; expected gyre, observe, backend.NAME, kernel.NAME, queue.NAME, pipeline.NAME, link.NAME, topic.NAME or pool.NAME"
run config queue.
refuses 1 "'queue.' names no section; expected a name behind the dot"

# pipelines
printf '[pipeline.words]\nentry = split\nanswer = count\n[link.words]\nfrom = split.words\nto = count\n' >"$folder/words.ini"
run config pipeline.words.entry --config "$folder/words.ini"
exits 0
row pipeline.words.entry split "$folder/words.ini:2"
run config pipeline link.words --config "$folder/words.ini"
exits 0
prints "pipeline.default.links_tight "
prints "link.words.capacity "
run config --config "$folder/words.ini" --set link.words.to=
refuses 4 "command line: [link.words] has no to; expected a kernel, host, or nowhere"
run config --config "$folder/words.ini" --set link.more.from=split.words --set link.more.to=sort
refuses 4 "$folder/words.ini:5: link 'words': port split.words has a link already, 'more' (command line); a port leads to one kernel, or to one topic or pool with several"

# JSON
run config --json gyre.strict queue.any.capacity
exits 0
prints '{"section":"gyre","key":"strict","value":false,"origin":"default"}'
prints "{\"section\":\"queue.any\",\"key\":\"capacity\",\"value\":128,\"origin\":\"$user:3\"}"
prints '"warnings":[]'
run config --json --set gyre.cache_size=1K cache_size --set nosuch=1
prints '"value":1024'
prints "\"warnings\":[\"command line: unknown key 'nosuch' in [gyre], ignored\"]"
says "gyre: warning: command line: unknown key 'nosuch' in [gyre], ignored"

# drop-ins
ours="$HOME/.config/gyre/plugins.d"
printf '[backend.x]\nlibrary = gyre-x.so\nspeed = 3\n' >"$ours/x.ini"
run config backend.x.speed
row backend.x.speed 3 "$ours/x.ini:3"
ln -s /dev/null "$ours/cpu.ini"
run config --dropins
exits 0
prints "cpu.ini"
prints "disabled"
run config --dropins --json
prints "{\"file\":\"$ours/x.ini\",\"state\":\"read\",\"masked_by\":null}"
run config --dropins x
refuses 2 "--dropins takes no names, found 'x' ('gyre help config' shows how)"
rm "$ours/x.ini" "$ours/cpu.ini"

# Files and values that are refused: a sentence each of the file, of its lines and of a value. All others are in unit/config.
run config --config "$folder/none.ini"
refuses 4 "$folder/none.ini: there is no such file; it was named by --config"
printf '[gyre]\nbackend = cpu\nbackend = auto\n' >"$named"
run config --config "$named"
refuses 4 "$named:3: duplicate key 'backend' in [gyre]; it was set on line 2 already: remove one"
printf '[queue.a]\ncapacity = big\n' >"$named"
run config --config "$named"
refuses 4 "$named:2: capacity = 'big' in [queue.a] is not a whole number; expected 0 or a power of two from 1 to 1073741824"

# what is unknown warns, or with strict = true is refused
printf '[gyre]\nstrict = true\n[qeue.a]\n' >"$named"
run config --config "$named"
refuses 4 "$named:3: unknown section [qeue.a], ignored; did you mean [queue.a]? (strict = true, from $named:2, makes this an error)"
run config gyre.backend --config "$named" --set strict=false
exits 0
says "gyre: warning: $named:3: unknown section [qeue.a], ignored; did you mean [queue.a]?"
run config --set strict
refuses 4 "command line: 'strict' is no setting; expected section.key=value, such as backend.cpu.threads=2"

# what queues take: 64 slots of a line each way, behind the region's own lines; headers; rings of bytes for letters of 65,032 bytes
kernels="$(dirname "${BASH_SOURCE[0]}")/../../../conformance/kernels"
printf '[queue.words]\ncapacity = 64\n[queue.more]\ncapacity = 128\nheader = 32\nrings = 2\n' >"$named"
run config --json --config "$named" --memory "$kernels/handles.gyre.c:lane_words"
exits 0
prints '{"queue":"more","kernel":"lane_words","capacity":128,"request_size":40,"request_stride":64,"reply_size":16,"reply_stride":64,"slots":16384,"headers":4096,"bridged":0,"spans":0,"rings":2,'
run config --config "$named" --set queue.letters.capacity=64 --memory "$kernels/bridged.gyre.c"
exits 0
prints "letters  letters"
prints "4389824"
run config --json --set queue.letters.capacity=64 --set queue.letters.layout=slots --memory "$kernels/bridged.gyre.c"
prints '"request_stride":65088,"reply_size":65032,"reply_stride":65088,"slots":8331264,"headers":0,"bridged":0,"spans":0,"rings":1,'
# as a launch compiles it: the wire form and the options of a kernel make its messages others; only the kernel that was named
run config --json --set queue.wired.wire=memorypack --memory "$kernels/wired.gyre.c"
exits 0
prints '"request_size":48,"request_stride":64,"reply_size":44,"reply_stride":64,'
cat >"$folder/two.gyre.c" <<'END'
#include <gyre/kernel.h>
#ifndef WORDS
#define WORDS 1
#endif
#define WORDS_LIST(FIELD) FIELD(u64, words[WORDS])
GYRE_MESSAGE(words, WORDS_LIST)
GYRE_KERNEL(small, words, gyre_none)
{
    return request->words[0] ? GYRE_NO_REPLY : gyre_fail(gyre, 1, "none");
}
GYRE_KERNEL(large, words, gyre_none)
{
    return request->words[WORDS - 1] ? GYRE_NO_REPLY : gyre_fail(gyre, 1, "none");
}
END
run config --json --set kernel.large.options=-DWORDS=100 --memory "$folder/two.gyre.c"
exits 0
prints '"queue":"small","kernel":"small","capacity":128,"request_size":8,'
prints '"queue":"large","kernel":"large","capacity":128,"request_size":800,'
run config --json --set kernel.large.options=-DWORDS=100 --memory "$folder/two.gyre.c:large"
exits 0
prints '{"queues":[{"queue":"large","kernel":"large","capacity":128,"request_size":800,'
# a kernel that is launched by a name of its own has the sections of that name, not those of the kernel in its file
printf '[kernel.mine]\nsource = two.gyre.c:large\noptions = -DWORDS=100\ntiming = true\n[kernel.yours]\nsource = two.gyre.c:small\n[queue.mine]\ncapacity = 16\n[queue.large]\ncapacity = 32\n[queue.yours]\ncapacity = 64\n' >"$folder/mine.ini"
run config --json --config "$folder/mine.ini" --memory mine
exits 0
prints '{"queues":[{"queue":"mine","kernel":"mine","capacity":16,"request_size":800,'
prints '"queue":"large","kernel":"mine","capacity":32,"request_size":800,'
[[ "$out" != *'"queue":"yours"'* ]] || fail "expected no queue of another kernel"
run config --config "$folder/mine.ini" --set kernel.mine.lanes=2000 --memory mine
exits 4
says "lanes"
run config --config "$folder/mine.ini" --memory mien
refuses 1 "kernel 'mien' has no source: name a file, or set source in the section [kernel.mien]; did you mean 'mine'?"
run config --set kernel.bank.lanes=2 --memory bank # its own section is no other name
refuses 1 "kernel 'bank' has no source: name a file, or set source in the section [kernel.bank]"
# what no launch could take is refused where it stands, whichever kernel the queue is of
printf '[queue.q]\nheader = 20\n' >"$named"
run config --config "$named"
refuses 4 "$named:2: in the section [queue.q]: header: '20' is no field of a header; expected none, 16, 32, 48, 64, or some of type priority id correlation deadline sent sender receiver trace started finished"
printf '[queue.default]\npolicy = drop_oldest\n[queue.q]\nlevels = 3\n' >"$named"
run config --config "$named"
refuses 4 "$named:4: queue 'q' has 3 levels, and its policy is drop_oldest, which is not for such queues; set policy = block, reject or drop_newest in its section"
printf '[gyre]\njournal_dir = %s\n[queue.q]\ndurability = journal\nlevels = 2\n' "$folder" >"$named"
run config --config "$named"
refuses 4 "$named:5: queue 'q' has 2 levels and durability = journal, which do not go together: messages that wait in front of the ring would be in no journal; set levels = 1, or durability = none, in its section"
printf '[queue.q]\nseal = crc32c\nlayout = bridged\n' >"$named"
run config --config "$named" queue.q
refuses 4 "$named:3: queue 'q': seal = crc32c and layout = bridged do not go together; use layout = auto or slots"
printf '[gyre]\njournal_dir = %s\n[queue.q]\ndurability = journal\nlayout = bridged\n' "$folder" >"$named"
run config --config "$named"
refuses 4 "$named:5: queue 'q': durability = journal and layout = bridged do not go together; use layout = auto or slots"
printf '[queue.q]\ndurability = journal\n' >"$named"
run config --config "$named"
refuses 4 "$named:2: queue 'q' has durability = journal: say in journal_dir of [gyre] in which folder journals are"
run config --config "$named" --memory "$kernels/bridged.gyre.c"
exits 4
# ... or whom it could have been of
printf '[kernel.tally_actor]\nlanes = 2\n[queue.tally_actor]\ndurability = journal\n' >"$named"
run config --config "$named" --set journal_dir="$folder" --set kernel.tally_actor.lanes=1 --memory "$kernels/state.gyre.c:tally_actor"
exits 4
says "$named:4: queue 'tally_actor' has durability = journal, and the handler of kernel 'tally_actor' keeps something between messages: set checkpoints = true for the kernel"
run call --config "$named" --backend cpu --set journal_dir="$folder" --set kernel.tally_actor.lanes=1 "$kernels/state.gyre.c:tally_actor" </dev/null
exits 4
says "gyre: $named:4: queue 'tally_actor' has durability = journal, and the handler"
run serve --config "$named" --backend cpu --set journal_dir="$folder" --set kernel.tally_actor.lanes=1 --socket "$folder/socket" "$kernels/state.gyre.c:tally_actor" </dev/null
exits 4
says "gyre: $named:4: queue 'tally_actor' has durability = journal, and the handler"
# misfit SETTING SETTING... -- FILE SENTENCE: a launch tells what does not fit its kernel.
cat >"$folder/choices.gyre.c" <<'END'
#include <gyre/kernel.h>
#define NUMBERS(FIELD) FIELD(u64, n)
GYRE_MESSAGE(numbers, NUMBERS)
#define CHOICES(TAKES) TAKES(numbers, numbers)
GYRE_PROTOCOL(choices, CHOICES)
GYRE_KERNEL_OF(choices, CHOICES)
GYRE_HANDLER(choices, numbers, numbers)
{
    reply->n = request->n;
    return GYRE_REPLY;
}
END
misfit()
{
    local settings=()
    while [[ "$1" != -- ]]; do
        settings+=(--set "$1")
        shift
    done
    run call --backend cpu "${settings[@]}" "$2" </dev/null
    exits 4
    says "gyre: command line: $3"
}
misfit queue.lane_samples.span_handles=64 queue.lane_samples.durability=journal journal_dir="$folder" -- "$kernels/spans.gyre.c:lane_samples" \
    "queue 'lane_samples' of kernel 'lane_samples': span_handles is not for a queue with a journal: set it to 0 in its section"
misfit queue.letters.layout=bridged kernel.letters.checkpoints=true -- "$kernels/bridged.gyre.c:letters" \
    "queue 'letters' of kernel 'letters': layout = bridged is not there for kernels with checkpoints; use auto or slots"
misfit queue.choices.wire=memorypack -- "$folder/choices.gyre.c" \
    "kernel 'choices' has no wire form, which queue 'choices' is configured for (wire = memorypack)"
run config --backend cpu --set queue.choices.wire=memorypack --memory "$folder/choices.gyre.c"
exits 4
says "gyre: command line: kernel 'choices' has no wire form"
misfit kernel.tally_actor.checkpoints=true kernel.tally_actor.replay_log=1 -- "$kernels/state.gyre.c:tally_actor" \
    "queue 'tally_actor': replay_log is 1 bytes, and one request takes "
run config --config "$named" --set journal_dir="$folder" --memory "$kernels/state.gyre.c:tally_actor"
exits 4
says "$named:2: lanes = 2 of [kernel.tally_actor] does not fit kernel 'tally_actor', an actor, which has 1 lane and 1 block"
run config --set kernel.letters.blocks=65536 --memory "$kernels/bridged.gyre.c"
exits 4
says "command line: kernel 'letters': 65536 blocks, and "
run config --set queue.letters.capacity=1073741824 --set queue.letters.layout=slots --memory "$kernels/bridged.gyre.c"
exits 1
says "command line: queue 'letters' needs "
run config --set queue.letters.span_handles=1024 --set kernel.letters.checkpoints=true --memory "$kernels/bridged.gyre.c"
exits 4
says "command line: queue 'letters' of kernel 'letters': span_handles is not for a kernel with checkpoints: set it to 0 in its section"
# ... on the backend that it would take
run config --set kernel.large.backend=none --memory "$folder/two.gyre.c"
says "command line: there is no backend 'none'"
# a queue that may be of another kernel is told, and left out
run config --set queue.other.capacity=1073741824 --set queue.other.layout=slots --memory "$kernels/bridged.gyre.c"
exits 0
prints "letters  letters"
says "warning: 'letters' can have no queue 'other': command line: queue 'other' needs "
run config --memory "$folder/nowhere.gyre.c"
exits 1
says "nowhere.gyre.c"
run config --dropins --memory "$folder/nowhere.gyre.c"
exits 2


# a variable with single underscores: the spelling that is meant
GYRE_BACKEND_CPU_COMPILER_OPTIONS=-O1 run config
exits 0
says 'did you mean GYRE_BACKEND__CPU__COMPILER_OPTIONS, with two underscores between section, name and key?'
run config --keys
exits 0
prints '[queue.NAME]'
prints '  policy
      one of block, reject, drop_oldest, drop_newest; default: block'
run config --keys --json
exits 0
prints '"section":"gyre","key":"backend"'
run config --keys queue
exits 2
says '--keys goes with nothing else'

finish
