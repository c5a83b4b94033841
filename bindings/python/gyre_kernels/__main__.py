# SPDX-License-Identifier: Apache-2.0
"""The command `gyre` of a venv, and `python -m gyre_kernels`: the program that lies in the package, in place of this one."""

from __future__ import annotations

import os
import signal
import sys

from .compilers import offer_zig

COMMAND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_gyre", "bin", "gyre")


def main() -> int:
    """Comes back only with the exit code of a command that is not there."""
    offer_zig()  # `gyre call` compiles handlers, as a program does
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and what it executes would as well
    try:
        os.execv(COMMAND, ["gyre", *sys.argv[1:]])
    except OSError as error:
        print(
            f"gyre: the package gyre_kernels has no command that runs: expected {COMMAND}, found: {error.strerror}; "
            "install the wheel again, or take the command of the Gyre that the package was built with",
            file=sys.stderr,
        )
    return 1


if __name__ == "__main__":
    sys.exit(main())
