# SPDX-License-Identifier: Apache-2.0
"""Batches and streams."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable

import numpy as np
import pytest

import gyre_kernels as gyre


def wishes(grant: Any, count: int) -> Any:
    batch = np.zeros(count, grant.request.dtype)
    batch["number"] = np.arange(count)
    return batch


@pytest.mark.parametrize("count", [0, 1, 511, 1025, 100_000])
def test_a_batch_of_any_length_keeps_its_order(launch: Callable[..., Any], count: int) -> None:
    grant = launch("grant")
    replies = grant.map(wishes(grant, count))
    assert replies.dtype == grant.reply.dtype
    np.testing.assert_array_equal(replies["number"], np.arange(count))


def test_arrays_of_other_layouts_and_shapes_are_taken(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    batch = wishes(grant, 24)
    packed = batch.astype([("number", "<u2"), ("outcome", "<u1"), ("turns", "<u4")])
    np.testing.assert_array_equal(grant.map(packed)["number"], np.arange(24))
    np.testing.assert_array_equal(grant.map(batch[::3])["number"], np.arange(0, 24, 3))
    assert grant.map(batch.reshape(4, 6)).shape == (4, 6)


def test_replies_go_where_they_are_wanted(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    out = np.full(100, 77, grant.reply.dtype)
    assert grant.map(wishes(grant, 100), out=out) is out
    assert out["number"].tolist() == list(range(100))
    with pytest.raises(ValueError, match="out: expected a contiguous array of 100 x"):
        grant.map(wishes(grant, 100), out=out[:99])
    with pytest.raises(ValueError, match="out: expected a contiguous array"):
        grant.map(wishes(grant, 50), out=out[::2])
    with pytest.raises(ValueError, match="outcomes: expected"):
        grant.map(wishes(grant, 100), outcomes=[0] * 100)


def test_one_failure_is_raised_with_its_place(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    batch = wishes(grant, 5000)
    batch["outcome"][[3211, 4000]] = 3
    with pytest.raises(gyre.FailedError, match="code 7, as it was told") as caught:
        grant.map(batch)
    assert caught.value.index == 3211
    assert grant(number=1).number == 1


def test_outcomes_tell_of_each_request(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    batch = wishes(grant, 3000)
    batch["outcome"][10] = 2
    batch["outcome"][2000] = 3
    outcomes = np.zeros(3000, np.uint8)
    replies = grant.map(batch, outcomes=outcomes, out=np.full(3000, 99, grant.reply.dtype))
    assert outcomes[[9, 10, 2000]].tolist() == [1, 2, 3]
    assert replies["number"][[9, 10, 2000, 2001]].tolist() == [9, 0, 0, 2001]


def test_mappings_make_messages(launch: Callable[..., Any]) -> None:
    replies = launch("grant").map([{"number": 3}, {"number": 4}])
    assert [reply.number for reply in replies] == [3, 4]


def test_mappings_without_a_reply_make_none(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    assert grant.map([{"number": 3}, {"number": 4, "outcome": 2}]) == [(3,), None]
    with pytest.raises(gyre.FailedError) as caught:
        grant.map([{"number": 3}, {"number": 4, "outcome": 3}])
    assert caught.value.index == 1
    outcomes = np.zeros(2, np.uint8)
    assert grant.map([{"outcome": 3}, {"number": 4}], outcomes=outcomes) == [None, (4,)]
    assert outcomes.tolist() == [3, 1]
    assert grant.map([]) == []


NOTHING = """
#include <gyre/kernel.h>
#define COUNT(FIELD) FIELD(u64, count)
GYRE_MESSAGE(count, COUNT)
GYRE_ACTOR(tick, gyre_none, count, count) { reply->count = ++state->count; return GYRE_REPLY; }
"""


def test_requests_without_a_content(gyre_runtime: gyre.Runtime) -> None:
    tick = gyre_runtime.launch(NOTHING)
    assert tick().count == 1
    assert [reply.count for reply in tick.map([{}, {}, {}])] == [2, 3, 4]
    assert tick.map(np.zeros(3, tick.request.dtype))["count"].tolist() == [5, 6, 7]
    assert [reply.count for reply in tick.stream({} for _ in range(3))] == [8, 9, 10]
    with pytest.raises(TypeError, match="'gyre_none' has no field 'x'; its fields are none"):
        tick(x=1)

    async def main() -> Any:
        return await asyncio.gather(*(tick.acall() for _ in range(300)))

    assert [reply.count for reply in asyncio.run(main())] == list(range(11, 311))


REPLY_NOTHING = NOTHING.replace("tick, gyre_none, count, count", "tock, count, gyre_none, count").replace(
    "reply->count = ++state->count; return GYRE_REPLY;", "state->count += request->count; return GYRE_NO_REPLY;"
)


def test_replies_without_a_content(gyre_runtime: gyre.Runtime) -> None:
    tock = gyre_runtime.launch(REPLY_NOTHING)
    assert tock(count=5) is None
    assert tock.map([{"count": 1}] * 3) == [None] * 3
    assert len(tock.map(np.zeros(3, tock.request.dtype))) == 3
    tock.send(count=2)
    with tock.peek() as views:
        assert not views.replied and len(views) == 1
    assert tock.read_state().count == 10


def test_a_batch_ends_with_its_time(gyre_runtime: gyre.Runtime, launch: Callable[..., Any]) -> None:
    grant = launch("grant", active=False)
    with pytest.raises(gyre.GyreTimeoutError):
        grant.map(wishes(grant, 5000), timeout=0.1)
    grant.activate()
    assert grant.map(wishes(grant, 2000))["number"].tolist() == list(range(2000))


def test_batches_of_threads_do_not_mix(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    results = {}

    def run(number: int) -> None:
        batch = wishes(grant, 20_000)
        batch["number"] += number * 100_000
        results[number] = bool(np.array_equal(grant.map(batch)["number"], batch["number"]))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {0: True, 1: True, 2: True, 3: True}


def test_a_stream_keeps_its_order_and_its_source_is_read_as_it_goes(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    read = []

    def source() -> Any:
        for number in range(5000):
            read.append(number)
            yield {"number": number}

    for count, reply in enumerate(grant.stream(source())):
        assert reply.number == count
        assert len(read) <= count + 1024
    assert count == 4999


def test_a_stream_that_is_left_disturbs_nobody(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    for reply in grant.stream({"number": i} for i in range(3000)):
        if reply.number == 5:
            break
    del reply
    assert [grant(number=i).number for i in range(50)] == list(range(50))


def test_a_failure_ends_a_stream(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    seen = []
    with pytest.raises(gyre.FailedError):
        for reply in grant.stream({"number": i, "outcome": 3 if i == 7 else 0} for i in range(20)):
            seen.append(reply.number)
    assert seen == list(range(7))
    assert grant(number=1).number == 1
