# SPDX-License-Identifier: Apache-2.0
"""What one thread frees while another closes or uses it is freed once, and in the right order. The functions of C that free are
replaced by some that hold up, until the other thread waits, or does what it must not."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, List

import numpy as np
import pytest

import gyre_kernels as gyre
from gyre_kernels import attachment, buffers, given, runtime as runtimes
from gyre_kernels._native import lib

from .conftest import HANDLERS
from .test_pipelines import SETTINGS


class Library:
    """The library with some functions replaced."""

    def __init__(self, **replaced: Callable[..., Any]) -> None:
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(lib, name)


class Announcing:
    """A lock that tells of a thread that has to wait for it."""

    def __init__(self, waits: threading.Event) -> None:
        self._waits, self._lock = waits, threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._waits.set()
            self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()


def replace(monkeypatch: pytest.MonkeyPatch, waits: threading.Event, **replaced: Callable[..., Any]) -> None:
    """Replaces functions of C, and has the event tell of threads that wait until nobody uses something."""

    def sleep(seconds: float) -> None:
        waits.set()
        time.sleep(seconds)

    for module in (attachment, buffers, runtimes):
        monkeypatch.setattr(module, "lib", Library(**replaced))
    monkeypatch.setattr(given, "time", SimpleNamespace(sleep=sleep))


@pytest.mark.parametrize("ending", ["gyre_buffer_free", "gyre_kernel_release", "gyre_server_close"])
def test_a_runtime_waits_for_what_is_being_freed(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = gyre.open("cpu")
    kernel, buffer, server = runtime.launch(HANDLERS, kernel="scale"), runtime.buffer(8), runtime.serve(str(tmp_path / "door"))
    begun, waits = threading.Event(), threading.Event()
    order: List[str] = []
    ends = {"gyre_buffer_free": buffer.free, "gyre_kernel_release": kernel.close, "gyre_server_close": server.close}
    freer = threading.Thread(target=ends[ending])

    def free(pointer: Any) -> Any:
        begun.set()
        waits.wait()
        order.append(ending)
        return getattr(lib, ending)(pointer)

    def close(pointer: Any) -> None:
        order.append("gyre_close")
        waits.set()
        freer.join()
        lib.gyre_close(pointer)

    for one in (kernel, server):
        monkeypatch.setattr(one, "_closing", Announcing(waits))
    replace(monkeypatch, waits, gyre_close=close, **{ending: free})
    freer.start()
    begun.wait()
    runtime.close()
    assert order == [ending, "gyre_close"]


def test_a_buffer_is_not_freed_under_a_launch(gyre_runtime: gyre.Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = gyre_runtime.buffer(np.ones(1))
    waits = threading.Event()
    order: List[str] = []
    failures: List[str] = []

    def free() -> None:
        try:
            buffer.free()
        except gyre.InvalidError as error:
            failures.append(str(error))

    def launch(*words: Any) -> int:
        freer.start()
        waits.wait()
        assert not order, "the buffer was freed"
        order.append("launch")
        return int(lib.gyre_launch(*words))

    def free_in_c(pointer: Any) -> int:
        order.append("free")
        waits.set()
        return int(lib.gyre_buffer_free(pointer))

    freer = threading.Thread(target=free)
    replace(monkeypatch, waits, gyre_launch=launch, gyre_buffer_free=free_in_c)
    amplify = gyre_runtime.launch(HANDLERS, kernel="amplify", buffers={"gain": buffer})
    freer.join()
    assert order == ["launch", "free"] and len(failures) == 1  # a kernel that runs has it bound
    amplify.close()


def test_nothing_is_taken_in_place_while_the_runtime_is_being_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = gyre.open("cpu")
    buffer = runtime.buffer(8)
    runtime.launch(HANDLERS, kernel="scale")
    seen: List[str] = []

    def release(pointer: Any) -> None:
        for use in (buffer.array, buffer.download, buffer.free, runtime.close):
            try:
                use()
                seen.append("nothing")
            except gyre.ClosedError as error:
                seen.append(str(error))
        lib.gyre_kernel_release(pointer)

    replace(monkeypatch, threading.Event(), gyre_kernel_release=release)
    runtime.close()
    assert seen == ["the runtime was closed"] * 3 + ["nothing"]


def test_a_signal_may_close_what_is_being_used(tmp_path: Path) -> None:
    with gyre.open("cpu", settings=SETTINGS) as rt:
        sums, grant = rt.pipeline("sums"), rt.launch(HANDLERS, kernel="grant")
        remote = gyre.attach("grant", rt.serve(str(tmp_path / "door")).info()["path"])
        for used in (sums, remote, grant):
            assert used._closing.acquire()  # a thread is inside of a close, or of `links`, when its signal comes
            assert used._closing.acquire(blocking=False)
            used.close()
            with pytest.raises(gyre.ClosedError):
                used(number=1)


def test_a_kernel_is_closed_while_the_loop_waits_for_it(gyre_runtime: gyre.Runtime) -> None:
    idle = gyre_runtime.launch(HANDLERS, kernel="grant", name="idle")

    async def main() -> None:
        await idle.acall(number=1)
        closer = threading.Thread(target=idle.close)
        closer.start()
        closer.join()  # the loop does not turn meanwhile

    asyncio.run(main())


async def call(kernel: gyre.Kernel) -> int:
    return int((await kernel.acall(number=1)).number)


def test_a_closed_kernel_has_no_descriptor(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    assert grant.fileno() >= 0
    asyncio.run(call(grant))
    grant.close()
    with pytest.raises(gyre.ClosedError):
        grant.fileno()
    with pytest.raises(gyre.ClosedError):
        asyncio.run(call(grant))


def test_servers_that_were_closed_are_not_kept(gyre_runtime: gyre.Runtime, tmp_path: Path) -> None:
    for _ in range(3):
        with gyre_runtime.serve(str(tmp_path / "door")):
            pass
    assert len(gyre_runtime._servers) == 1


def test_an_attachment_that_nobody_has_is_closed(
    gyre_runtime: gyre.Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gyre_runtime.launch(HANDLERS, kernel="grant")
    door = gyre_runtime.serve(str(tmp_path / "door")).info()["path"]
    closed: List[Any] = []

    def close(queue: Any) -> None:
        closed.append(queue)
        lib.gyre_queue_close(queue)

    monkeypatch.setattr(attachment, "lib", Library(gyre_queue_close=close))
    remote = gyre.attach("grant", door)
    assert remote(number=1).number == 1
    del remote
    gc.collect()
    assert len(closed) == 1
