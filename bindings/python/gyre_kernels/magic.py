# SPDX-License-Identifier: Apache-2.0
"""Handlers in cells of a notebook: `%load_ext gyre_kernels`, then a cell that begins with `%%gyre`."""

from __future__ import annotations

import argparse
import keyword
import shlex
from typing import Any, Dict, NoReturn

from .runtime import Kernel, Runtime


class _Options(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:  # a notebook goes on
        raise ValueError(f"%%gyre: {message}; {self.format_usage().strip()}")


def _options() -> _Options:
    options = _Options(prog="%%gyre", add_help=False)
    options.add_argument("name", nargs="?", help="the variable; else the kernel's name")
    options.add_argument("--kernel", help="which kernel of the cell, when it has several")
    options.add_argument("--backend", help="cpu, cuda or opencl; else as gyre.ini says")
    return options


class Cells:
    """The kernels of a notebook's cells, by their variables, on one runtime."""

    def __init__(self, namespace: Dict[str, Any]) -> None:
        self._namespace = namespace
        self._runtime: Any = None
        self._launched: Dict[str, Kernel] = {}

    def run(self, line: str, cell: str) -> Kernel:
        """%%gyre [NAME] [--kernel KERNEL] [--backend BACKEND]: compiles the cell, a handler in C, and makes it resident.

        The launched kernel is the variable NAME, or of the kernel's own name. The same cell once more replaces it: the one
        before answers what it has accepted, and ends.
        """
        wanted = _options().parse_args(shlex.split(line))
        if self._runtime is None or self._runtime._pointer is None:
            self._runtime = Runtime()
        launched: Kernel = self._runtime.launch(
            cell if cell.endswith("\n") else cell + "\n", kernel=wanted.kernel, backend=wanted.backend
        )
        name = wanted.name or launched.info()["kernel"]
        if not name.isidentifier() or keyword.iskeyword(name):
            launched.close()
            raise ValueError(f"%%gyre: expected the name of a variable, found '{name}'")
        before = self._launched.get(name)
        self._launched[name] = self._namespace[name] = launched
        if before is not None and before._pointer is not None:
            before.terminate(drain=1.0)
            before.close()
        return launched


def register(ipython: Any) -> None:
    """Makes `%%gyre` known to this IPython."""
    cells = Cells(ipython.user_ns)
    ipython.register_magic_function(cells.run, magic_kind="cell", magic_name="gyre")
