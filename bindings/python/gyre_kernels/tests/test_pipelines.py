# SPDX-License-Identifier: Apache-2.0
"""Kernels that send to kernels."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest

import gyre_kernels as gyre

SOURCE = Path(__file__).with_name("sums.gyre.c")
SETTINGS = {
    "kernel.halve.source": f"{SOURCE}:halve",
    "kernel.add.source": f"{SOURCE}:add",
    "pipeline.sums.entry": "halve",
    "pipeline.sums.answer": "halve, add",
    "link.halves.from": "halve.halves",
    "link.halves.to": "add",
}


@pytest.fixture
def sums() -> Iterator[gyre.Pipeline]:
    with gyre.open("cpu", settings=SETTINGS) as rt:
        yield rt.pipeline("sums")


def expected(number: int) -> int:
    return number if number % 2 else number + number // 2


def test_a_pipeline_is_called_like_a_kernel(sums: gyre.Pipeline) -> None:
    assert [sums(number=i).number for i in range(10)] == [expected(i) for i in range(10)]
    batch = np.zeros(5000, sums.request.dtype)
    batch["number"] = np.arange(5000)
    assert sums.map(batch)["number"].tolist() == [expected(i) for i in range(5000)]
    assert [reply.number for reply in sums.stream({"number": i} for i in range(500))] == [expected(i) for i in range(500)]

    async def main() -> Any:
        return await asyncio.gather(*(sums.acall(number=i) for i in range(500)))

    assert [reply.number for reply in asyncio.run(main())] == [expected(i) for i in range(500)]


def test_its_links_are_told(sums: gyre.Pipeline) -> None:
    for number in range(10):
        sums(number=number)
    (link,) = sums.links()
    assert (link["from"], link["port"], link["to"], link["type"], link["sent"]) == ("halve", "halves", "add", "part", 5)


def test_it_ends_before_its_kernels(sums: gyre.Pipeline) -> None:
    sums.drain()
    with pytest.raises(gyre.ClosedError):
        sums(number=1)
    sums.close()
    sums.close()
    assert sums.links() == [] and "closed" in repr(sums)


def test_a_kernel_is_not_closed_under_a_pipeline() -> None:
    with gyre.open("cpu", settings=SETTINGS) as rt:
        halve = rt.launch(name="halve")
        with rt.pipeline("sums") as joined:
            with pytest.raises(gyre.InvalidError, match="'halve' cannot be closed: the pipeline 'sums' is open"):
                halve.close()
            assert joined(number=4).number == expected(4)
        halve.close()


def test_pipelines_that_are_not_configured_are_refused(gyre_runtime: gyre.Runtime) -> None:
    with pytest.raises(gyre.GyreError, match="none"):
        gyre_runtime.pipeline("none")
