# SPDX-License-Identifier: Apache-2.0
"""The command `gyre` that comes with the package."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import gyre_kernels as gyre
from gyre_kernels import __main__ as command

from .conftest import HANDLERS


def told(*words: str) -> Any:
    return subprocess.run([sys.executable, "-m", "gyre_kernels", *words], capture_output=True, text=True)


def test_it_is_the_command_of_this_gyre() -> None:
    done = told("--version")
    assert (done.stderr, done.returncode) == ("", 0)
    assert gyre.__version__ in done.stdout
    assert told("no-such-command").returncode == 2


def test_it_finds_the_backends_and_the_headers() -> None:
    done = told("call", "--backend", "cpu", f"{HANDLERS}:scale", '{"value": 20.5, "factor": 2}')
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"result": 41}


def test_it_ends_with_its_reader() -> None:
    """As it does elsewhere: Python ignores SIGPIPE, and hands that on."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "gyre_kernels", "help"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == -signal.SIGPIPE, done.stderr


def test_a_command_that_is_not_there_is_told(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(command, "COMMAND", str(tmp_path / "gyre"))
    assert command.main() == 1
    assert f"expected {tmp_path}/gyre, found: No such file or directory" in capsys.readouterr().err
