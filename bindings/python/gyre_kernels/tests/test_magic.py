# SPDX-License-Identifier: Apache-2.0
"""Cells of notebooks, by a stand-in for IPython, and by IPython itself where it is installed."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator

import pytest

import gyre_kernels as gyre

CELL = """
#include <gyre/kernel.h>
#define PAIR(FIELD) FIELD(u64, a) FIELD(u64, b)
GYRE_MESSAGE(pair, PAIR)
GYRE_KERNEL(join, pair, pair) { reply->a = request->a + request->b; return GYRE_REPLY; }
GYRE_KERNEL(swap, pair, pair) { reply->a = request->b; reply->b = request->a; return GYRE_REPLY; }
"""


class StandIn:
    """What the extension asks of IPython."""

    def __init__(self) -> None:
        self.user_ns: Dict[str, Any] = {}
        self.magics: Dict[str, Callable[..., Any]] = {}

    def register_magic_function(self, function: Any, magic_kind: str, magic_name: str) -> None:
        assert magic_kind == "cell"
        self.magics[magic_name] = function


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setenv("GYRE_BACKEND", "cpu")
    made = StandIn()
    gyre.load_ipython_extension(made)
    yield made
    for launched in made.user_ns.values():
        launched._runtime.close()


def test_a_cell_becomes_a_variable(notebook: StandIn) -> None:
    notebook.magics["gyre"]("--kernel join", CELL)
    assert notebook.user_ns["join"](a=2, b=3).a == 5
    notebook.magics["gyre"]("other --kernel swap", CELL)
    assert notebook.user_ns["other"](a=2, b=3).asdict() == {"a": 3, "b": 2}


def test_a_cell_once_more_replaces_its_kernel(notebook: StandIn) -> None:
    before = notebook.magics["gyre"]("it --kernel join", CELL)
    notebook.magics["gyre"]("it --kernel swap", CELL)
    assert notebook.user_ns["it"](a=2, b=3).a == 3
    with pytest.raises(gyre.ClosedError):
        before(a=1)


def test_a_cell_that_does_not_compile_changes_nothing(notebook: StandIn) -> None:
    notebook.magics["gyre"]("--kernel join", CELL)
    with pytest.raises(gyre.GyreError):
        notebook.magics["gyre"]("--kernel join", CELL.replace("request->a + request->b", "request->c"))
    assert notebook.user_ns["join"](a=2, b=3).a == 5


@pytest.mark.parametrize("line, text", [("--what", "unrecognized arguments"), ("'no name' --kernel join", "found 'no name'"), ("class --kernel join", "found 'class'")])
def test_wrong_lines_are_a_sentence(notebook: StandIn, line: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        notebook.magics["gyre"](line, CELL)
    assert notebook.user_ns == {}


def test_ipython_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shell_of = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell
    monkeypatch.setenv("GYRE_BACKEND", "cpu")
    shell = shell_of()
    shell.run_line_magic("load_ext", "gyre_kernels")
    done = shell.run_cell("%%gyre --kernel join" + CELL)
    assert done.success
    assert shell.run_cell("join(a=20, b=22).a").result == 42
    shell.user_ns["join"]._runtime.close()
