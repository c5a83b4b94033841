# SPDX-License-Identifier: Apache-2.0
"""A C compiler out of a wheel, for machines without one: zig, of the package ziglang."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys

from .errors import UnavailableError
from .sources import kept_file

# zig knows one of the options of the CPU backend not, which only shortens messages; and it drops what nothing in a file calls,
# which are the kernels. For the simulator's checks (-fsanitize=thread) it would build that sanitizer's whole runtime, in minutes, which
# the kernel has no use for; so such a kernel is compiled first, and linked without that option. Without an -O of at least 2 it would
# add checks of its own, and make its libraries anew, with a runtime for these checks; for -O2 it has them from other handlers.
_SCRIPT = """#!/bin/sh
zig() {{ {python} -m ziglang cc "$@"; }}
watched= out= before=
for word; do
    shift
    [ "$before" != -o ] || out=$word
    case $word in -fsanitize=thread*) watched=1 ;; esac
    [ "$word" = -ftrack-macro-expansion=0 ] || set -- "$@" "$word"
    before=$word
done
[ "$watched" ] && [ "$out" ] || {{ zig -Wl,--no-gc-sections "$@"; exit; }}
before=
for word; do
    shift
    [ "$before" != -o ] || word=$out.o
    before=$word
    case $word in -shared | -nodefaultlibs | -l* | -Wl,*) ;; *) set -- "$@" "$word" ;; esac
done
zig -c -fno-sanitize=undefined "$@" || exit
zig -O2 -shared -Wl,--no-gc-sections -Wl,-z,defs -o "$out" "$out.o" -lm
code=$?
rm -f "$out.o"
exit $code
"""


def zig_compiler() -> str:
    """The path of a C compiler for the setting backend.cpu.compiler, from the package ziglang.

    UnavailableError without that package: pip install "gyre-kernels[cc]".
    """
    if importlib.util.find_spec("ziglang") is None:
        raise UnavailableError('no C compiler from ziglang is here: pip install "gyre-kernels[cc]"')
    return kept_file(_SCRIPT.format(python=shlex.quote(sys.executable)), "zig-", ".sh", 0o700)


def offer_zig() -> None:
    """On a machine without the command `cc`, which is the CPU backend's usual compiler: zig takes the name, at the end of PATH,
    where the package ziglang is. What a setting or a configuration names is looked for before it."""
    if shutil.which("cc") is not None or importlib.util.find_spec("ziglang") is None:
        return
    script = zig_compiler()
    folder = script[: -len(".sh")]
    os.makedirs(folder, mode=0o700, exist_ok=True)
    link = os.path.join(folder, "cc")
    if not os.path.exists(link):
        made = f"{link}.{os.getpid()}"
        os.symlink(script, made)
        os.replace(made, link)
    os.environ["PATH"] = os.pathsep.join(filter(None, [os.environ.get("PATH", os.defpath), folder]))
