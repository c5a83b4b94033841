#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre pipeline, gyre links, gyre call --pipeline: what they show of a pipeline, its replies, and the sentence of each mistake.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_CACHE_HOME="$folder/cache" XDG_CONFIG_HOME="$folder/none"
unset GYRE_BACKEND
orders=examples/pipeline/gyre.ini
words=examples/pipeline/words.ini
nothing=/dev/null

# ---- the list ----

run pipeline
exits 0
says "gyre: no pipeline is configured: a section [pipeline.NAME] makes one"
run pipeline --config "$words"
exits 0
[[ "$(tail -n 1 <<<"$out" | tr -s ' ')" == "words split split, count 1" ]] || fail "expected the line of 'words'"
run pipeline --config "$words" --json
exits 0
[[ "$out" == '[{"name":"words","entry":["split"],"answer":["split","count"],"links":1}]' ]] || fail "expected its JSON"
run pipeline --config "$orders" --set link.lost.from=audit.all --set link.lost.to=book
exits 0
says "gyre: warning: command line: no configured pipeline leads to the kernel of from = 'audit.all' in [link.lost]"
printf '[pipeline.good]\nentry = a\n[pipeline.bad]\n' >"$folder/bad.ini"
run pipeline --config "$folder/bad.ini"
exits 4
prints "good"
says "gyre: [pipeline.bad] has no entry: set entry to the kernel that clients send their requests to"

# ---- one pipeline ----

# kernels in the order of the flow, whatever the order of their sections and links is
run pipeline orders --config "$orders"
exits 0
[[ "$(grep -oE '^[a-z]+ ' <<<"$out" | tr -d '\n')" == "check price book " ]] || fail "expected check, price, book"
[[ "$(head -n 1 <<<"$out")" == "orders: 3 kernels, 3 links of "*" KiB" ]] || fail "expected a line with the memory"
grep -qE '^  large  ->  nowhere  order   1 a call, 1 ring of 1024, ' <<<"$out" || fail "expected the port 'large'"
grep -qE '^book   answer  actor form, 1 block of 1 lane, cpu$' <<<"$out" || fail "expected the kernel 'book'"
run pipeline orders --config "$orders" --set kernel.price.blocks=2 --set link.priced.capacity=64 --json
exits 0
prints '{"name":"priced","from":"price","port":"sums","to":"book","type":"priced",'
prints '"most":1,"rings":2,"capacity":64,'
prints '"entry":true,"answer":false,"request":"order","reply":null}'
sum="$(grep -o '"bytes":[0-9]*' <<<"$out" | cut -d: -f2 | paste -sd' ')"
# shellcheck disable=SC2086 # words
set -- $sum
(($# == 4 && $1 + $2 + $3 == $4)) || fail "the links' bytes are not those of the pipeline: $sum"

run pipeline orders --dot --config "$orders"
exits 0
prints 'k0 -> k1 [label="good\norder x 1024"];'
prints 'nowhere1 [shape=point];'
[[ "$(tail -n 1 <<<"$out")" == "}" ]] || fail "expected the graph's end"
if command -v dot >/dev/null; then
    checks=$((checks + 1))
    dot -Tplain "$folder/out" >"$folder/plain" 2>&1 || fail "Graphviz does not read it: $(<"$folder/plain")"
fi

run links orders --config "$orders"
exits 0
[[ "$(grep '^priced' <<<"$out" | tr -s ' ' | cut -d' ' -f1-8)" == "priced price sums priced 1 book 1 1024" ]] ||
    fail "expected the row of 'priced'"
run links orders --config "$orders" --set pipeline.orders.links_tight=yes --json
exits 0
[[ "$(grep -o '"capacity":16,' <<<"$out" | wc -l)" == 3 ]] || fail "expected three links of 16"

# ---- requests ----

call()
{
    run call --config "$orders" --pipeline orders "$@"
}

call '{"item":2,"count":3}' '{"item":9,"count":1}' '{"item":0,"count":200}' <"$nothing"
exits 1
[[ "$out" == '{"number":1,"cents":3150}
{"failed":{"code":1,"text":"there is no such item"}}
{"number":2,"cents":70000}' ]] || fail "expected two receipts and a failure between them"
says "gyre: pipeline orders: 3 sent, 2 answered, 1 failed"
call '{"item":2}' <"$nothing"
exits 1
prints '{"refused":"request 1: '
call --set pipeline.orders.answer= '{"item":2,"count":3}' <"$nothing"
exits 1
prints '"text":"replied, and is no answer of its pipeline"'
# another entry, of several
entries=(--set 'pipeline.orders.entry=check,price')
run call --config "$orders" --pipeline orders/price "${entries[@]}" '{"item":9,"count":1}' <"$nothing"
exits 0
[[ "$out" == '{"number":1,"cents":3500}' ]] || fail "expected the price of an item that nobody checked"
run call --config "$orders" --pipeline orders/check "${entries[@]}" '{"item":1,"count":1}' <"$nothing"
exits 0
[[ "$out" == '{"number":1,"cents":700}' ]] || fail "expected the reply by the first entry"
run call --config "$orders" --pipeline orders/book "${entries[@]}" '{"item":9,"count":1}' <"$nothing"
refuses 1 "kernel 'book' is no entry of pipeline 'orders'; 'check' is one"
# every link at its least capacity, by the environment
seq 1 20000 | sed 's/.*/{"text":"a bc &"}/' >"$folder/lines"
GYRE_PIPELINE__WORDS__LINKS_TIGHT=1 run call --config "$words" --pipeline words <"$folder/lines"
exits 0
[[ "$(sort "$folder/out" | uniq -c | tr -s ' ' | tr '\n' ';')" == \
    ' 99 {"words":3,"longest":2};'* ]] || fail "expected three words of each line"
says "20000 sent, 20000 answered, 0 failed"
# a pipeline without an answer completes requests without a reply, once they are through
printf '[kernel.check]\nsource = %s\n[pipeline.sink]\nentry = check\n[link.a]\nfrom = check.good\nto = nowhere\n' \
    "$PWD/examples/pipeline/orders.gyre.c:check" >"$folder/sink.ini"
printf '[link.b]\nfrom = check.large\nto = nowhere\n' >>"$folder/sink.ini"
run call --backend cpu --config "$folder/sink.ini" --pipeline sink '{"item":1,"count":100}' <"$nothing"
exits 0
[[ "$out" == '{"no_reply":true}' ]] || fail "expected no reply"
says "gyre: pipeline sink: 1 sent, 0 answered, 0 failed, 1 without a reply"
# a port without a link is told with the pipeline's place
head -n 7 "$folder/sink.ini" >"$folder/open.ini"
run call --backend cpu --config "$folder/open.ini" --pipeline sink '{"item":1,"count":100}' <"$nothing"
refuses 4 "pipeline 'sink': $folder/open.ini:4: port 'check.large' leads nowhere: link it to a kernel, or say so (to = nowhere)"
# a handler that takes its time
printf '[gyre]\nbackend = cpu\n[kernel.slow]\nsource = %s:slow\n[pipeline.p]\nentry = slow\nanswer = slow\n' \
    "$PWD/tests/system/use/cli/kernels/kinds.gyre.c" >"$folder/slow.ini"
run call --config "$folder/slow.ini" --pipeline p --timeout 50 '{"value":600}' <"$nothing"
exits 5
prints '{"unanswered":true}'
says "gyre: the pipeline did not complete message 1 of 1 within 50 ms (--timeout)"
says "gyre: kernel 'slow' is "

# ---- cycles ----

pagerank=examples/pipeline/pagerank.ini
run pipeline pagerank --config "$pagerank"
exits 0
[[ "$(grep -oE '^[a-z]+ ' <<<"$out" | head -n 3 | tr -d '\n')" == "spread collect judge " ]] || fail "expected the order of the flow"
prints "window 98: requests under way at once"
prints "cycle: link 'shares' has room for 887 = 1024 (capacity) - 64 (a section) - 64 (taken at once) - 9 (a call); / quota 9 = 98 requests"
run pipeline pagerank --config "$pagerank" --set pipeline.pagerank.window=7 --json
exits 0
prints '"window":7,"quota":9,"window_most":98'
run call --config "$pagerank" --pipeline pagerank '{"round":0,"rank":[0.2,0.2,0.2,0.2,0.2]}' <"$nothing"
exits 0
[[ "$out" == '{"round":23,"rank":[0.22732924115144215,0.12661517230004232,0.3570607996444902,0.18175057091895017,0.10724421598507511]}' ]] ||
    fail "expected the ranks"
run call --config "$pagerank" --set pipeline.pagerank.quota=8 --pipeline pagerank '{"round":0,"rank":[1,0,0,0,0]}' <"$nothing"
exits 1
[[ "$out" == '{"failed":{"code":-16,"text":"more messages alive than the quota allows"}}' ]] || fail "expected the quota"
run pipeline pagerank --config "$pagerank" --set pipeline.pagerank.quota=0
refuses 4 "pipeline 'pagerank': $pagerank:15: links lead from kernel 'judge' back to it (a cycle), and pipeline 'pagerank' has no quota: set quota in [pipeline.pagerank] to the number of messages of one request that may be alive at once"
run pipeline pagerank --config "$pagerank" --set link.again.capacity=64 --set pipeline.pagerank.window=7
refuses 4 "pipeline 'pagerank': command line: link 'again' is in a cycle and has room for 55 of its messages: 64 of its capacity, less 4 (a section), 4 (taken by 1 block) and 1 (the most of one call); expected room for 63: window 7 x quota 9. Lower these, or set capacity of the link to more"

# ---- rounds ----

supersteps=examples/pipeline/supersteps.ini
run pipeline supersteps --config "$supersteps"
exits 0
[[ "$(grep -cE '^  rounds +->  collect .*, begins rounds$' <<<"$out")" == 2 ]] || fail "expected a link of each kernel by which rounds begin"
run pipeline supersteps --config "$supersteps" --json
exits 0
prints '"begins_rounds":true'
run call --config "$supersteps" --pipeline supersteps '{"round":0,"rank":[0.2,0.2,0.2,0.2,0.2]}' '{"round":0,"rank":[0,0,0,0,0]}' <"$nothing"
exits 0
[[ "$out" == '{"round":23,"rank":[0.22732924115144215,0.12661517230004232,0.3570607996444902,0.18175057091895017,0.10724421598507511]}'$'\n''{"no_reply":true}' ]] ||
    fail "expected the ranks, found $out"
sed "s|= supersteps.gyre|= $PWD/examples/pipeline/supersteps.gyre|; s|^rounds = collect|rounds = colect|" "$supersteps" >"$folder/rounds.ini"
run pipeline supersteps --config "$folder/rounds.ini"
refuses 4 "pipeline 'supersteps': $folder/rounds.ini:$(sed -n '/^rounds = /=' "$folder/rounds.ini"): rounds: expected a kernel of the pipeline, found 'colect': link one to it; did you mean 'collect'?"

# ---- levels, and kernels of several types ----

graded="$folder/graded.ini"
sed "s|= orders.gyre|= $PWD/examples/pipeline/orders.gyre|; s|^to = book|&\nlevel = 2|" examples/pipeline/gyre.ini >"$graded"
run pipeline orders --config "$graded"
exits 0
grep -qE '^  sums +->  book .*, level 2$' <<<"$out" || fail "expected the level of the link"
run links orders --config "$graded"
exits 0
{ grep -qE '^LINK .* LEVEL$' <<<"$out" && grep -qE '^priced .* 2$' <<<"$out"; } || fail "expected a column of levels"
run pipeline orders --config "$graded" --json
exits 0
prints '"level":2'
run pipeline orders --config "$graded" --set link.priced.level=4
refuses 4 "command line: level = '4' in [link.priced] is out of range; expected a whole number from 0 to 3"
run pipeline orders --config "$graded" --set link.large.level=1
refuses 4 "pipeline 'orders': command line: link 'large': level: expected 0, found 1: its messages are thrown away"
run pipeline orders --config "$graded" --set link.priced.to=book:priced
refuses 4 "pipeline 'orders': command line: link 'priced': to: kernel 'book' takes messages 'priced' alone, found 'book:priced': leave ':priced' out"
run pipeline orders --config "$graded" --set link.priced.to=book:
refuses 4 "command line: to = 'book:' in [link.priced] is not two names; expected a name of letters, digits, '_', '-' and '.', or two of them with ':' in between"

# ---- pools ----

queens=examples/pipeline/queens.ini
run pipeline queens --config "$queens"
exits 0
grep -qE '^  boards  ->  place  board  16 a call, 4 rings of 2048, .* KiB, pool boards: newest first, 4 blocks$' <<<"$out" ||
    fail "expected the pool"
run pipeline queens --config "$queens" --dot
exits 0
prints 'k1 -> k1 [label="boards\nboard x 2048, pool boards: newest first"];'
run links queens --config "$queens" --set pool.boards.order=oldest
exits 0
[[ "$(head -n 1 <<<"$out")" == *"ORDER"*"STOLEN" && "$(tail -n 1 <<<"$out" | tr -s ' ')" == "boards place boards board "*" oldest 0" ]] ||
    fail "expected the order and what was stolen"
run links queens --config "$queens" --json
exits 0
prints '"pool":"boards","order":"newest","takers":4,"stolen":0'
# each board of a request is looked at once, whoever does it, also by rings that are hardly large enough
for tight in no yes; do
    run call --config "$queens" --set pipeline.queens.links_tight=$tight --set pipeline.queens.window=2 --pipeline queens \
        '{"size":1}' '{"size":3}' '{"size":4}' '{"size":6}' '{"size":8}' '{"size":9}' '{"size":17}' <"$nothing"
    exits 1
    [[ "$out" == '{"count":1}
{"count":0}
{"count":2}
{"count":4}
{"count":92}
{"count":352}
{"failed":{"code":1,"text":"a board has 1 to 16 rows"}}' ]] || fail "expected how often queens stand so"
done
# in breadth there are too many boards at once
run call --config "$queens" --set pool.boards.order=oldest --set kernel.place.blocks=1 --pipeline queens '{"size":9}' <"$nothing"
exits 1
[[ "$out" == '{"failed":{"code":-16,"text":"more messages alive than the quota allows"}}' ]] || fail "expected the quota"
run pipeline --config "$queens" --set pool.lost.from=nobody.all --set pool.lost.members=place
exits 0
says "gyre: warning: command line: no configured pipeline leads to the kernel of from = 'nobody.all' in [pool.lost]"

# wrong_pool SENTENCE SETTING: the pipeline queens with that setting.
wrong_pool()
{
    run links queens --config "$queens" --set "$2"
    refuses 4 "pipeline 'queens': command line: $1"
}
wrong_pool "[pool.boards] has no from; expected KERNEL.PORT, ...: the ports whose messages are the work" pool.boards.from=
wrong_pool "[pool.boards] has no members; expected the kernels that take from it" pool.boards.members=
wrong_pool "from = 'place' in [pool.boards] names no port; expected KERNEL.PORT" pool.boards.from=place
wrong_pool "link 'boards': kernel 'place' is a member twice" pool.boards.members=place,place
wrong_pool "link 'boards': there is no kernel 'plac': launch it before, or name its file in [kernel.plac]; did you mean 'place'?" pool.boards.members=place,plac
run links queens --config "$queens" --set pool.boards.order=depth
refuses 4 "command line: order = 'depth' in [pool.boards] is no choice; expected one of newest, oldest"

# ---- asks ----

quotes=examples/pipeline/quotes.ini
run pipeline quotes --config "$quotes"
exits 0
[[ "$(grep -oE '^[a-z]+ ' <<<"$out" | head -n 3 | tr -d '\n')" == "desk corner mall " ]] || fail "expected the order of the flow"
grep -qE '^  mall    ->  mall    order  1 a call, 1 ring of 1024, .* KiB, asks for offer$' <<<"$out" || fail "expected the ask"
grep -qE '^  mall    ->  desk    offer  1 a call, 1 ring of 1024, .* KiB, answers$' <<<"$out" || fail "expected the way back"
run pipeline quotes --config "$quotes" --dot
exits 0
prints 'k1 -> k0 [constraint=false, style=dashed, label="corner\noffer x 1024"];'
run links quotes --config "$quotes" --set link.mall.capacity=64 --json
exits 0
prints '"asks_for":"offer"'
[[ "$(grep -o '"name":"mall (answers)",[^}]*' <<<"$out")" == *'"capacity":64,'*'"answers":true'* ]] || fail "expected answers of 64"
run call --config "$quotes" --pipeline quotes '{"order":{"item":1,"count":3}}' '{"order":{"item":1,"count":300}}' \
    '{"order":{"item":1,"count":0}}' '{"offer":{"shop":1,"cents":0}}' <"$nothing"
exits 1
[[ "$out" == '{"type":"bill","shop":1,"cents":360}
{"type":"bill","shop":2,"cents":30500}
{"failed":{"code":1,"text":"an order of nothing"}}
{"failed":{"code":2,"text":"nobody asked for this offer"}}' ]] || fail "expected two bills and two failures"
run compile examples/pipeline/quotes.gyre.c:desk --backend cpu
exits 0
grep -qE '^    mall: order, hash [0-9a-f]{16}, at most 1 a call, asks for offer$' <<<"$out" || fail "expected the port that asks"
run pipeline quotes --config "$quotes" --set pipeline.quotes.quota=0
refuses 4 "pipeline 'quotes': $quotes:17: kernel 'desk' asks kernel 'corner', whose answers lead back to it (a cycle), and pipeline 'quotes' has no quota: set quota in [pipeline.quotes] to the number of messages of one request that may be alive at once"
run links quotes --config "$quotes" --set link.mall.to=nowhere
refuses 4 "pipeline 'quotes': command line: link 'mall': port 'desk.mall' asks, and one kernel answers: expected a link to a kernel, found nowhere"

# ---- topics ----

market=examples/pipeline/market.ini
run pipeline market --config "$market"
exits 0
grep -qE '^  prices  ->  audit  price  1 a call, 1 ring of 1024, .* KiB, topic prices: tap$' <<<"$out" || fail "expected the tap"
run links market --config "$market" --set topic.prices.slow=drop,cut --set topic.prices.capacity=64
exits 0
[[ "$(tail -n +2 <<<"$out" | tr -s ' ' | cut -d' ' -f6,8,10,11 | tr '\n' ';')" == "risk 64 drop 0;book 64 cut 0;audit 64 tap 0;" ]] ||
    fail "expected three subscribers"
run links market --config "$market" --json
exits 0
prints '"to":"audit",'
prints '"topic":"prices","slow":"tap","missed":0,"cut":false}'
run pipeline market --config "$market" --dot
exits 0
prints 'k0 -> k3 [style=dotted, label="prices\nprice x 1024, topic prices: tap"];'
run call --config "$market" --pipeline market '{"item":1,"count":2,"cents":500}' '{"item":1,"count":2000,"cents":700}' <"$nothing"
exits 1
[[ "$out" == '{"number":1,"cents":1000}
{"failed":{"code":2,"text":"more than one trade may risk"}}' ]] || fail "expected what was booked, and what risk failed"
run pipeline --config "$market" --set topic.lost.from=nobody.all --set topic.lost.to=book
exits 0
says "gyre: warning: command line: no configured pipeline leads to the kernel of from = 'nobody.all' in [topic.lost]"

# ---- mistakes ----

# wrong_topic SENTENCE SETTING: the pipeline market with that setting.
wrong_topic()
{
    run links market --config "$market" --set "$2"
    refuses 4 "pipeline 'market': command line: $1"
}

wrong_topic "[topic.prices] has no from; expected KERNEL.PORT, ...: the ports whose messages the topic has" topic.prices.from=
wrong_topic "from = 'feed' in [topic.prices] names no port; expected KERNEL.PORT" topic.prices.from=feed
wrong_topic "slow in [topic.prices]: expected wait, drop or cut, found 'tap'" topic.prices.slow=tap
wrong_topic "slow in [topic.prices]: expected one word, or one for each of the 2 kernels of to; found 3" topic.prices.slow=cut,cut,cut
wrong_topic "link 'prices': kernel 'book' subscribes twice" topic.prices.taps=book
run links market --config "$market" --set topic.prices.to= --set topic.prices.taps=
refuses 4 "pipeline 'market': command line: [topic.prices] has no subscribers; expected kernels in to, or in taps (for programs alone: a link with to = host)"
run links market --config "$market" --set link.more.from=feed.prices --set link.more.to=book
exits 4
says "has a link already, 'more' (command line); a port leads to one kernel, or to one topic or pool with several"

# mistake CODE SENTENCE SETTING: the pipeline orders with that setting.
mistake()
{
    run links orders --config "$orders" --set "$3"
    refuses "$1" "pipeline 'orders': command line: $2"
}

mistake 4 "[link.large] has no to; expected a kernel, host, or nowhere" link.large.to=
mistake 4 "from = 'check' in [link.large] names no port; expected KERNEL.PORT" link.large.from=check
mistake 4 "[link.large] begins at kernel 'chek', which has no section [kernel.chek] and is not launched; did you mean 'check'?" \
    link.large.from=chek.large
mistake 4 "link 'large': kernel 'check' has no port 'larg'; it has 'good', 'large'; did you mean 'large'?" \
    link.large.from=check.larg
mistake 4 "link 'large': kernel 'book' has no ports: declare them with GYRE_PORTS" link.large.from=book.large
mistake 4 "link 'priced': there is no kernel 'bok': launch it before, or name its file in [kernel.bok]; did you mean 'book'?" link.priced.to=bok
mistake 4 "the entry: there is no kernel 'chek': launch it before, or name its file in [kernel.chek]; did you mean 'check'?" \
    pipeline.orders.entry=chek
mistake 4 "the answer 'bok' is no kernel of the pipeline: link one to it; did you mean 'book'?" pipeline.orders.answer=bok
mistake 4 "link 'checked': capacity: expected a power of two of 16 at least (one call of 'check' may emit 1 messages), found 8" \
    link.checked.capacity=8
# a million and a half of MiB
run links orders --config "$orders" --set link.default.capacity=16777216 --set kernel.default.blocks=1024 --set kernel.book.blocks=1
exits 1
says "gyre: pipeline 'orders': command line: the links take "
says "'checked' most of all"
run links orders --config "$orders" --set link.checked.to=book
exits 1
says "gyre: pipeline 'orders': command line: link 'checked': message type mismatch: 'priced' of kernel 'book' has field 'cents'"
run links orders --config "$orders" --set link.checked.from=check.large
refuses 4 "pipeline 'orders': $orders:26: link 'large': port check.large has a link already, 'checked' (command line); a port leads to one kernel, or to one topic or pool with several"
run pipeline ordres --config "$orders"
refuses 1 "pipeline 'ordres': there is no section [pipeline.ordres] with its entry; configured: orders; did you mean 'orders'?"
call --set pipeline.orders.widow=4 --set gyre.strict=yes <"$nothing"
exits 4
says "command line: unknown key 'widow' in [pipeline.orders]"
call --set kernel.price.active=false '{"item":2,"count":3}' <"$nothing"
refuses 4 "kernel 'price' is configured inactive (kernel.price.active = false) and would answer nothing; \
add --set kernel.price.active=true, or change the configuration"

# ---- usage ----

run pipeline orders more # usage is judged before anything is opened
refuses 2 "expected the name of one pipeline, found 'more' too ('gyre help pipeline' shows how)"
run pipeline --dot
refuses 2 "--dot needs the name of a pipeline ('gyre help pipeline' shows how)"
run pipeline orders --dot --json
refuses 2 "--dot and --json are two forms of output; choose one ('gyre help pipeline' shows how)"
run links
refuses 2 "expected the name of one pipeline, found 0 operands ('gyre help links' shows how)"
call --lanes 4 <"$nothing"
refuses 2 "--lanes is for a kernel that is launched; [kernel.NAME] configures those of a pipeline ('gyre help call' shows how)"
call --attach book <"$nothing"
refuses 2 "--attach and --pipeline: --attach NAME takes a kernel or a pipeline of a server, --pipeline NAME opens one here; choose one ('gyre help call' shows how)"
call "$orders" <"$nothing"
refuses 2 "'$orders' is a file: --pipeline launches none, and takes nothing but requests ('gyre help call' shows how)"
finish
