# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in every call that waits: it ends the wait, and the kernel goes on where it can. And while something is started: nothing of
it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict

import numpy as np
import pytest

import gyre_kernels as gyre
from gyre_kernels import runtime as runtimes
from gyre_kernels._native import lib
from gyre_kernels.tests.conftest import HANDLERS
from gyre_kernels.tests.test_endings import Library

INTERRUPTED = """
import asyncio, socket, sys, tempfile, threading, time, numpy as np, gyre_kernels as gyre
way = sys.argv[2]
SLOW = 20_000_000  # turns of a handler: some hundredths of a second
with gyre.open("cpu", settings={"queue.default.capacity": 64, "queue.grant.capacity": 64}) as rt:
    grant = rt.launch(sys.argv[1], kernel="grant", active=way == "terminate")
    full = 64 if way in ("send", "reserve") else 1

    path = tempfile.mkdtemp() + "/door"
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # nobody answers behind it
    door.bind(path)
    door.listen()

    def tell():
        silent = door.accept() if way == "attach" else None
        while way != "attach" and (
            grant.info()["state"] == "active" if way == "terminate" else grant.info()["queued"] < full
        ):
            time.sleep(0.01)
        print("waits", flush=True)
        return silent

    def fill():
        for number in range(full):
            grant.send(number=number)

    def peek():
        with grant.peek():
            pass

    def reserve():
        fill()
        with grant.reserve():
            pass

    def terminate():
        for number in range(64):
            grant.send(number=number, turns=SLOW)
        grant.terminate(drain=1000)

    async def astream():
        async for _ in grant.stream({"number": 1} for _ in range(10)):
            pass

    ways = {
        "call": lambda: grant(number=1),
        "map": lambda: grant.map(np.zeros(5000, grant.request.dtype)),
        "receive": lambda: (fill(), grant.receive()),
        "peek": lambda: (fill(), peek()),
        "send": lambda: (fill(), grant.send(number=64)),
        "reserve": reserve,
        "stream": lambda: list(grant.stream({"number": 1} for _ in range(10))),
        "acall": lambda: asyncio.run(grant.acall(number=1)),
        "astream": lambda: asyncio.run(astream()),
        "terminate": terminate,
        "attach": lambda: gyre.attach("grant", path, timeout=None),
    }
    kept = []
    try:
        threading.Thread(target=lambda: kept.append(tell())).start()
        ways[way]()
    except KeyboardInterrupt:
        told = time.monotonic()
        if way == "terminate":
            while grant.info()["state"] != "terminated":  # the handler that is at work ends first
                time.sleep(0.001)
            assert grant.info()["handled"] < 64
        else:
            grant.activate()
            if way in ("receive", "peek", "send", "reserve"):
                assert [grant.receive().number for _ in range(full)] == list(range(full)) or full == 1
            assert grant(number=5).number == 5
        print("interrupted", told, flush=True)
"""
WITHIN_SECONDS = 0.2
PATIENCE = float(os.environ.get("GYRE_TEST_PATIENCE", "5"))  # a machine that is busy with tests may take longer
WAYS = ["call", "map", "receive", "peek", "send", "reserve", "stream", "acall", "astream", "terminate", "attach"]


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_ends_a_wait_and_the_kernel_goes_on(way: str) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, HANDLERS, way], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "waits\n"
    sent = time.monotonic()
    program.send_signal(signal.SIGINT)
    word, told = program.communicate()[0].split()
    assert word == "interrupted" and program.returncode == 0
    assert float(told) - sent < WITHIN_SECONDS * PATIENCE


def test_a_batch_looks_at_the_clock_while_replies_come(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    with pytest.raises(gyre.GyreTimeoutError):
        grant.map(np.zeros(1_000_000, grant.request.dtype), timeout=1e-9)
    assert grant(number=5).number == 5


PACKAGE = str(Path(gyre.__file__).parent)


def interrupted(work: Callable[[], Any], turn: int) -> bool:
    """Does the work with a Ctrl-C at the beginning of the function of this package that is called as number `turn`, where Python looks
    for signals. False: it called fewer."""
    left = turn

    def look(frame: Any, event: str, _: Any) -> None:
        nonlocal left
        path = Path(frame.f_code.co_filename)
        if event == "call" and (str(path.parent) == PACKAGE or path.name == "contextlib.py"):
            left -= 1
            if left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(look)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("start, end", [("gyre_launch", "gyre_kernel_release"), ("gyre_open", "gyre_close")])
def test_what_is_interrupted_while_it_starts_does_not_stay(
    start: str, end: str, gyre_runtime: gyre.Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = 0

    def begin(*words: Any) -> int:
        nonlocal there
        status = int(getattr(lib, start)(*words))
        there += status == 0
        return status

    def finish(pointer: Any) -> None:
        nonlocal there
        there -= 1
        getattr(lib, end)(pointer)

    counted: Dict[str, Callable[..., Any]] = {start: begin, end: finish}
    works: Dict[str, Callable[[], Any]] = {
        "gyre_launch": lambda: gyre_runtime.launch(HANDLERS, kernel="scale"),
        "gyre_open": lambda: gyre.open("cpu"),
    }
    monkeypatch.setattr(runtimes, "lib", Library(**counted))
    turns = 1
    while interrupted(works[start], turns):
        assert there == 0, f"interrupted in turn {turns}"
        turns += 1
    assert there == 1 and turns > 5
