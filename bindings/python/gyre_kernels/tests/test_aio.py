# SPDX-License-Identifier: Apache-2.0
"""Calls and streams in event loops."""

from __future__ import annotations

import asyncio
import select
from typing import Any, AsyncIterator, Callable, Coroutine, List

import pytest

import gyre_kernels as gyre


def run(main: Coroutine[Any, Any, Any]) -> Any:
    """Runs an event loop; nothing may go wrong in its callbacks."""
    told: List[Any] = []

    async def watched() -> Any:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
        return await main

    result = asyncio.run(watched())
    assert told == []
    return result


def test_many_calls_at_once_get_their_own_replies(launch: Callable[..., Any]) -> None:
    grant = launch("grant")

    async def main() -> Any:
        return await asyncio.gather(*(grant.acall(number=i) for i in range(10_000)))

    assert [reply.number for reply in run(main())] == list(range(10_000))
    assert [reply.number for reply in run(main())] == list(range(10_000))  # another loop


def test_one_call_after_the_other(launch: Callable[..., Any]) -> None:
    grant = launch("grant")

    async def main() -> None:
        for number in range(200):
            assert (await grant.acall({"number": number})).number == number

    run(main())
    assert grant.info()["queues"] == 1


def test_failures_and_no_replies(launch: Callable[..., Any]) -> None:
    grant = launch("grant")

    async def main() -> Any:
        calls = [grant.acall(number=i, outcome=[0, 2, 3][i % 3]) for i in range(9)]
        return await asyncio.gather(*calls, return_exceptions=True)

    results = run(main())
    assert [result.number for result in results[0::3]] == [0, 3, 6]
    assert results[1::3] == [None] * 3
    assert [(type(result), result.code) for result in results[2::3]] == [(gyre.FailedError, 7)] * 3


def test_a_call_that_is_cancelled_takes_no_other_reply(launch: Callable[..., Any]) -> None:
    grant = launch("grant", active=False)

    async def main() -> None:
        late = asyncio.ensure_future(grant.acall(number=1))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(grant.acall(number=2), 0.05)
        grant.activate()
        assert (await late).number == 1
        assert (await grant.acall(number=3)).number == 3

    run(main())


def test_a_loop_that_ends_with_calls_under_way(launch: Callable[..., Any]) -> None:
    grant = launch("grant", active=False)

    async def leave() -> None:
        for number in range(5):
            asyncio.ensure_future(grant.acall(number=number))
        while grant.info()["queued"] < 5:
            await asyncio.sleep(0.01)

    async def main() -> Any:
        return (await grant.acall(number=9)).number

    run(leave())
    grant.activate()
    assert run(main()) == 9
    assert grant(number=10).number == 10


def test_the_end_of_the_kernel_ends_calls(launch: Callable[..., Any]) -> None:
    grant = launch("grant", active=False)

    async def main() -> None:
        call = asyncio.ensure_future(grant.acall(number=1))
        while grant.info()["queued"] < 1:
            await asyncio.sleep(0.01)
        grant.close()
        with pytest.raises(gyre.ClosedError):
            await call

    run(main())


def test_streams_of_both_kinds_of_sources(launch: Callable[..., Any]) -> None:
    grant = launch("grant")

    async def numbers() -> AsyncIterator[Any]:
        for number in range(1000):
            yield {"number": number}
            if number % 100 == 0:
                await asyncio.sleep(0)

    async def main() -> None:
        seen = [reply.number async for reply in grant.stream({"number": i} for i in range(2000))]
        assert seen == list(range(2000))
        seen = [reply.number async for reply in grant.stream(numbers())]
        assert seen == list(range(1000))
        with pytest.raises(TypeError, match="for `async for`"):
            list(grant.stream(numbers()))

    run(main())


def test_blocking_calls_work_beside(launch: Callable[..., Any]) -> None:
    grant = launch("grant")

    async def main() -> None:
        calls = [asyncio.ensure_future(grant.acall(number=i)) for i in range(100)]
        await asyncio.sleep(0)
        assert grant(number=500).number == 500
        assert [(await call).number for call in calls] == list(range(100))

    run(main())


def test_a_queue_that_the_loop_gave_back_is_not_watched(launch: Callable[..., Any]) -> None:
    grant = launch("grant")

    async def main() -> None:
        assert (await grant.acall(number=1)).number == 1
        grant.send(number=2)  # in the same queue: there is no other
        await asyncio.sleep(0.05)
        assert grant.receive().number == 2

    run(main())
    assert grant.info()["queues"] == 1


def test_the_descriptor_says_what_a_receive_would_give(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    poll = select.poll()
    poll.register(grant.fileno(), select.POLLIN)
    assert poll.poll(0) == []
    grant.send(number=5)
    assert len(poll.poll()) == 1 and len(poll.poll()) == 1
    assert grant.receive(timeout=0).number == 5
