#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Probes for tracers: those in the library are the ones that docs/observation.md lists, with as many arguments, and gdb sees them
# hit with what the table says.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
: "${LIBRARY:?the library to read}" "${HAS_PROBES:?1: it was built with sys/sdt.h}" "${CONFORMANCE:?a program that looks at failures in views}"
export XDG_CACHE_HOME="$folder/cache"
if [[ "$HAS_PROBES" != 1 ]]; then
    echo "sys/sdt.h was not there when Gyre was built: the library has no probes"
    exit 77
fi
command -v readelf >/dev/null || {
    echo "readelf is not there"
    exit 77
}

# ---- the notes and the table ----

called="readelf -n $LIBRARY"
readelf -n "$LIBRARY" >"$folder/notes" 2>"$folder/err"
checks=$((checks + 1))
python3 - "$folder/notes" docs/observation.md >"$folder/judged" 2>&1 <<'PYTHON' || fail "$(<"$folder/judged")"
import re, sys
built = {}
for provider, name, arguments in re.findall(r'Provider: (\S+)\n\s+Name: (\S+)\n[^\n]*\n\s+Arguments:([^\n]*)', open(sys.argv[1]).read()):
    if provider == 'gyre':
        # SIZE@OPERAND, and an operand may have spaces only between arguments
        built.setdefault(name, set()).add(len(re.findall(r'-?\d+@', arguments)))
section = re.search(r'\n### Probes\n(.*?)\n## ', open(sys.argv[2]).read(), re.S).group(1)
told = {name: {len(arguments.split(', '))} for name, arguments in re.findall(r'^\| `(\w+)` \| ([^|]*?) \|', section, re.M)}
assert told, 'no table of probes was found'
assert built == told, f'in the library {built}, in the table {told}'
used = set(re.findall(r'gyre:(\w+)', section))
assert used and used <= set(told), f'the examples use {used - set(told)}, which is no probe'
PYTHON

# ---- hit ----

if ! command -v gdb >/dev/null; then
    echo "not checked: probes that are hit, without gdb"
    finish
fi
if ldd "$GYRE" | grep -qE 'lib(a|t|ub)san' || nm -D "$GYRE" 2>/dev/null | grep -qE '__(a|t)san_init'; then
    echo "not checked: probes that are hit, in a program with a sanitizer"
    finish
fi
cat >"$folder/picky.gyre.c" <<'KERNEL'
#include <gyre/kernel.h>
GYRE_KERNEL(picky, i32, i32)
{
    if (*request == 13)
        return gyre_fail(gyre, 7, "not that one");
    *reply = *request + 1;
    return GYRE_REPLY;
}
KERNEL
cat >"$folder/commands" <<'GDB'
set debuginfod enabled off
set pagination off
set breakpoint pending on
handle all nostop noprint pass
break -probe-stap gyre:launched
commands
silent
printf "PROBE launched %s %s\n", (char *)$_probe_arg0, (char *)$_probe_arg1
continue
end
break -probe-stap gyre:sent
commands
silent
printf "PROBE sent %s %d %d\n", (char *)$_probe_arg0, (int)$_probe_arg1, (int)$_probe_arg2
continue
end
break -probe-stap gyre:received
commands
silent
printf "PROBE received %s %d %d\n", (char *)$_probe_arg0, (int)$_probe_arg1, (int)$_probe_arg2
continue
end
break -probe-stap gyre:failed
commands
silent
printf "PROBE failed %s %d %d\n", (char *)$_probe_arg0, (int)$_probe_arg1, (int)$_probe_arg2
continue
end
run
GDB
out="$(timeout $((60 * patience)) gdb -q -batch -x "$folder/commands" --args "$GYRE" call --backend cpu "$folder/picky.gyre.c" 5 13 8 2>&1 </dev/null)"
called=gdb err=''
if [[ "$out" == *"Couldn't get registers"* || "$out" == *"ptrace"*"not permitted"* ]]; then # some containers forbid to trace a process
    echo "not checked: probes that are hit; gdb may not trace here"
    finish
fi
prints "PROBE launched picky cpu"
prints "PROBE failed picky 1 7"
checks=$((checks + 1))
sent="$(grep -c '^PROBE sent picky' <<<"$out")" received="$(grep -c '^PROBE received picky' <<<"$out")"
python3 - "$out" >"$folder/judged" 2>&1 <<'PYTHON' || fail "$sent sent, $received received: $(<"$folder/judged")"
import re, sys
for probe in ('sent', 'received'):  # each of the three requests once, however they were taken together
    seen = [i for first, count in re.findall(rf'PROBE {probe} picky (\d+) (\d+)', sys.argv[1]) for i in range(int(first), int(first) + int(count))]
    assert sorted(seen) == [0, 1, 2], (probe, seen)
PYTHON

# Failures that a receiver sees in views: three requests that expire, of which one is taken as a view.
out="$(timeout $((60 * patience)) gdb -q -batch -x "$folder/commands" --args "$CONFORMANCE" cpu expired_calls_and_views_say_so 2>&1 </dev/null)"
checks=$((checks + 1))
python3 - "$out" >"$folder/judged" 2>&1 <<'PYTHON' || fail "$(<"$folder/judged")"
import re, sys
seen = [(int(i), int(code)) for i, code in re.findall(r'PROBE failed \S+ (\d+) (-?\d+)', sys.argv[1])]
assert sorted(seen) == [(0, -11), (1, -11), (2, -11)], f'{seen} in {sys.argv[1]}'
PYTHON
finish
