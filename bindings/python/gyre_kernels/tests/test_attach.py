# SPDX-License-Identifier: Apache-2.0
"""Kernels of other programs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, List

import numpy as np
import pytest

import gyre_kernels as gyre
from gyre_kernels.tests.conftest import HANDLERS

SERVER = """
import sys, gyre_kernels as gyre
with gyre.open("cpu") as rt:
    grant = rt.launch(sys.argv[1], kernel="grant")
    with rt.serve(sys.argv[2]):
        print("serves", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def served(tmp_path: Path) -> Any:
    path = str(tmp_path / "door")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, HANDLERS, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None and server.stdout.readline() == "serves\n"
    yield path, server
    server.communicate()


def test_an_attached_kernel_is_used_like_ones_own(served: Any) -> None:
    with gyre.attach("grant", served[0]) as grant:
        assert grant.request.dtype.names == ("number", "outcome", "turns")
        assert grant(number=5).number == 5
        batch = np.zeros(20_000, grant.request.dtype)
        batch["number"] = np.arange(20_000)
        np.testing.assert_array_equal(grant.map(batch)["number"], batch["number"])
        assert [reply.number for reply in grant.stream({"number": i} for i in range(100))] == list(range(100))
        with grant.reserve(4) as slots:
            slots["number"] = 9
            count = len(slots)
        with grant.peek() as views:
            assert set(views["number"].tolist()) == {9} and 1 <= len(views) <= count

        async def main() -> Any:
            return await asyncio.gather(*(grant.acall(number=i) for i in range(1000)))

        assert [reply.number for reply in asyncio.run(main())] == list(range(1000))
    with pytest.raises(gyre.ClosedError):
        grant(number=1)


def test_an_attachment_may_be_closed_while_others_call(served: Any) -> None:
    for _ in range(5):
        grant = gyre.attach("grant", served[0])
        ended: List[BaseException] = []
        begun = threading.Barrier(4)

        def call(grant: Any = grant, ended: Any = ended, begun: Any = begun) -> None:
            begun.wait()
            try:
                while True:
                    grant(number=1)
            except gyre.ClosedError as error:
                ended.append(error)

        threads = [threading.Thread(target=call) for _ in range(3)]
        for thread in threads:
            thread.start()
        begun.wait()
        grant.close()
        for thread in threads:
            thread.join()
        assert len(ended) == 3


def test_a_server_that_dies_is_told(served: Any) -> None:
    grant = gyre.attach("grant", served[0])
    assert grant(number=1).number == 1
    served[1].kill()
    served[1].wait()
    with pytest.raises((gyre.LostError, gyre.ClosedError)):
        for _ in range(1000):
            grant(number=1)
    grant.close()
    grant.close()


def test_names_and_paths_that_are_not_there(served: Any, tmp_path: Path) -> None:
    with pytest.raises(gyre.NotFoundError, match="grunt"):
        gyre.attach("grunt", served[0])
    with pytest.raises(gyre.UnavailableError):
        gyre.attach("grant", str(tmp_path / "nobody"), timeout=0.2)


def test_a_server_says_who_is_there(gyre_runtime: gyre.Runtime, launch: Callable[..., Any], tmp_path: Path) -> None:
    launch("grant")
    with gyre_runtime.serve(str(tmp_path / "door")) as server:
        with gyre.attach("grant", str(tmp_path / "door")) as grant:
            assert grant(number=2).number == 2
            assert server.info()["attached"] == 1 and server.info()["refused"] == 0
        while server.info()["attached"]:  # the queue was closed
            time.sleep(0.01)
