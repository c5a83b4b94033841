#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre backends over a plugin folder with every kind of plugin: what it prints, remembers and exits with.
# GYRE: the program; GYRE_TEST_PLUGINS: what the paths of the test plugins begin with.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
: "${GYRE_TEST_PLUGINS:?where the test plugins are}"

home="$folder/home"
mkdir -p "$home/plugins" "$home/dropins" "$folder/cache"
export XDG_CACHE_HOME="$folder/cache" XDG_CONFIG_HOME="$folder/none" HOME="$folder/none"
unset GYRE_CONFIG GYRE_BACKEND GYRE_PLUGIN_DIR GYRE_DROPIN_DIR
places=(--set "plugin_dir=$home/plugins" --set "dropin_dir=$home/dropins")

# drop_in NAME PLUGIN LINE...: names a copy of a test plugin, with further lines of its section.
drop_in()
{
    local name="$1" plugin="$2"
    shift 2
    cp "$GYRE_TEST_PLUGINS$plugin.so" "$home/plugins/gyre-$name.so"
    printf '%s\n' "[backend.$name]" "library = gyre-$name.so" "$@" >"$home/dropins/$name.ini"
}

# the one that hangs comes first and alone, so that only it is judged with a short limit; it is remembered
drop_in hanging moody "mood = hangs"
run backends "${places[@]}" --set probe_timeout_ms=500
exits 0
prints "did not answer within 500 ms"

drop_in good fake "priority = 3"
drop_in better fake "priority = 4"
drop_in refusing moody "mood = refuses" "priority = 100"
drop_in crashing moody "mood = crashes"
drop_in new newer-minor
drop_in old older-major
drop_in incomplete missing-slot
cp "${GYRE_TEST_PLUGINS}fake.so" "$home/plugins/gyre-lone.so"
printf 'no plugin at all, but a text of more than sixty-four bytes, which is an ELF header\n' \
    >"$home/plugins/gyre-text.so"
printf '[backend.text]\npriority = 0\n' >"$home/dropins/text.ini"
printf '[backend.gone]\npriority = 0\n' >"$home/dropins/gone.ini"
ln -s /dev/null "$home/dropins/off.ini"

run backends "${places[@]}"
exits 0
prints "no moody device: looked for /dev/moody; plug one in"
prints "crashed while it was probed (signal 6"
prints "did not answer within 500 ms"
prints "speaks backend ABI 2.999, which is too new"
prints "speaks backend ABI 0.0, which is too old"
prints "lacks the required operation 'probe'"
prints "is not an ELF file: expected a shared object"
prints "gyre-gone.so' does not exist; it is named by $home/dropins/gone.ini:2"
prints "chosen: better: priority 4, score 5"
prints "good has priority 3, score 5"
prints "lone lies in the plugin folder, but no drop-in names it"
prints "refusing cannot start: no moody device"
[[ -z "$err" ]] || fail "expected nothing on stderr"

run backends "${places[@]}" --json
exits 0
document="$out"
prints '"choice":{"setting":"auto","backend":"better"'
prints '"name":"good","library":"'"$home"'/plugins/gyre-good.so","origin":"'"$home"'/dropins/good.ini:2"'
if command -v python3 >/dev/null; then
    rows="$(python3 -c 'import json,sys; d=json.load(sys.stdin); print(*["%s=%s" % (b["name"], b["status"])
        for b in d["backends"]])' <<<"$document")"
    expected="better=ok crashing=unavailable gone=not found good=ok hanging=unavailable incomplete=incompatible"
    expected+=" lone=ok new=incompatible old=incompatible refusing=unavailable text=incompatible"
    checks=$((checks + 1))
    [[ "$rows" == "$expected" ]] || fail "expected the rows $expected, found $rows"
fi

run backends --why good "${places[@]}"
exits 0
prints "named by       $home/dropins/good.ini:2"
prints "judged         earlier; remembered until the plugin, its parameters or the driver change (--again)"
prints "device         0: fake 0, 1 unit, 1 MiB, up to 1 lane and 1 block"
prints "device         1: fake 1"
prints "not chosen     better: priority 4"
run backends --why hanging "${places[@]}"
exits 0
prints "judged         earlier; remembered for "
prints " s more, or until the plugin, its parameters or the driver change (--again)"
run backends --why good --again "${places[@]}"
exits 0
prints "judged         now, by a probe of "
run backends --why refusing --json "${places[@]}"
exits 0
prints '"key":"mood","value":"refuses","origin":"'"$home"'/dropins/refusing.ini:3"'
run backends --why good --json "${places[@]}"
prints '"expires":0,'
run backends --why hanging --json "${places[@]}"
checks=$((checks + 1))
expires="${out#*'"expires":'}"
((${expires%%,*} > $(date +%s))) || fail "expected a time to come in expires"
run backends --why off "${places[@]}"
exits 1
prints "$home/dropins/off.ini (disabled: a link to the null device)"
says "there is no backend 'off'"
run backends --why goood "${places[@]}"
refuses 1 "there is no backend 'goood'; did you mean 'good'?; known: better, crashing, gone, good, hanging,\
 incomplete, lone, new, old, refusing, text"

# a backend that is chosen by name and cannot start: the list says so, and nothing is fallen back to
run backends --backend refusing "${places[@]}"
exits 0
prints "none chosen: backend 'refusing' cannot start: no moody device"
run backends good "${places[@]}"
refuses 2 "expected no argument, found 'good'; did you mean '--why good'? ('gyre help backends' shows how)"
run backends --config "$folder/none.ini"
exits 4

# each of them, chosen by name by a command that needs it: its sentence and the exit code for "unavailable"
cp "${GYRE_TEST_PLUGINS}stranger.so" "$home/plugins/gyre-stranger.so"
drop_in unresolved unresolved
drop_in small too-small
drop_in magic wrong-magic
drop_in nameless no-name
head -c 4096 "${GYRE_TEST_PLUGINS}fake.so" >"$home/plugins/gyre-machine.so"
printf '\x16\x00' | dd of="$home/plugins/gyre-machine.so" bs=1 seek=18 conv=notrunc status=none # e_machine: s390
printf '[backend.disabled]\nenabled = no\n' >"$home/dropins/disabled.ini"
cannot_start()
{
    run call examples/vector_add/vector_add.gyre.c --backend "$1" "${places[@]}" '{}'
    exits 3
    says "gyre: backend '$1' cannot start: "
    says "$2"
}
cannot_start gone "gyre-gone.so' does not exist"
cannot_start text "is not an ELF file"
cannot_start machine "is built for another machine: expected "
cannot_start stranger "exports no symbol 'gyre_plugin'"
cannot_start unresolved "undefined symbol: gyre_test_nobody_provides_this"
cannot_start new "too new"
cannot_start old "too old"
cannot_start small "is too small: expected at least"
cannot_start magic "wrong magic number"
cannot_start nameless "has no usable name"
cannot_start incomplete "lacks the required operation 'probe'"
cannot_start refusing "no moody device"
cannot_start crashing "crashed while it was probed"
cannot_start hanging "did not answer within 500 ms"
cannot_start disabled "it is disabled by $home/dropins/disabled.ini:2"

# a pipe is read up to what the device has
run call --backend good "${places[@]}" examples/vector_add/vector_add.gyre.c --message-buffer any=<(yes) '{}'
exits 1
says "': a pipe of more than 1048576 bytes; the device has no more memory"

# where no cache can be kept, everything works all the same
touch "$folder/file"
rm "$home/dropins/hanging.ini" "$home/plugins/gyre-hanging.so"
XDG_CACHE_HOME="$folder/file" run backends --why good "${places[@]}"
exits 0
prints "judged         now, by a probe of "

finish
