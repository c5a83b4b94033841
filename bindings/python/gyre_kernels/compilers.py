# SPDX-License-Identifier: Apache-2.0
"""A C compiler out of a wheel, for machines without one: zig, of the package ziglang."""

from __future__ import annotations

import importlib.util
import shlex
import sys

from .errors import UnavailableError
from .sources import kept_file

# zig knows one of the options of the CPU backend not, which only shortens messages; and it drops what nothing in a file calls,
# which are the kernels.
_SCRIPT = """#!/bin/sh
for word; do
    shift
    [ "$word" = -ftrack-macro-expansion=0 ] || set -- "$@" "$word"
done
exec {python} -m ziglang cc -Wl,--no-gc-sections "$@"
"""


def zig_compiler() -> str:
    """The path of a C compiler for the setting backend.cpu.compiler, from the package ziglang.

    UnavailableError without that package: pip install "gyre-kernels[cc]".
    """
    if importlib.util.find_spec("ziglang") is None:
        raise UnavailableError('no C compiler from ziglang is here: pip install "gyre-kernels[cc]"')
    return kept_file(_SCRIPT.format(python=shlex.quote(sys.executable)), "zig-", ".sh", 0o700)
