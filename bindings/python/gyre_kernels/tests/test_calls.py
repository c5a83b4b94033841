# SPDX-License-Identifier: Apache-2.0
"""Single calls: what comes back, what is raised, several threads, time limits, Ctrl-C."""

from __future__ import annotations

import threading
from typing import Any, Callable, List

import numpy as np
import pytest

import gyre_kernels as gyre
from gyre_kernels.tests.conftest import HANDLERS

LONG = 2**62  # turns of a handler that does not come back


def test_a_call_gives_the_reply(launch: Callable[..., Any]) -> None:
    scale = launch("scale")
    assert scale(value=20.5, factor=2).result == 41
    assert scale({"value": 3}, factor=5).result == 15
    assert scale.call({"value": 3, "factor": 4}, timeout=60).result == 12
    assert scale(np.array([(6.0, 7.0)], scale.request.dtype)[0]).result == 42


def test_no_reply_is_none_and_a_failure_is_raised(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    assert grant(number=1, outcome=2) is None
    with pytest.raises(gyre.FailedError, match="the handler failed: code 7, as it was told") as caught:
        grant(number=1, outcome=3)
    assert caught.value.code == 7 and caught.value.status == 11
    assert grant(number=2).number == 2


def test_threads_get_their_own_replies(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    wrong: List[int] = []

    def call(first: int) -> None:
        for number in range(first, first + 500):
            reply = grant(number=number)
            if reply.number != number:
                wrong.append(number)

    threads = [threading.Thread(target=call, args=(1000 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert grant.stats()["received"] == 4000


def test_more_threads_than_queues_take_turns(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    held = []
    while True:  # every queue that the kernel may have
        lane = grant._lanes._open_more()
        if lane is None:
            break
        held.append(lane)
    assert len(held) + 1 == grant.info()["queues"] == 64
    done: List[int] = []
    threads = [threading.Thread(target=lambda i=i: done.append(grant(number=i).number)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == list(range(16))
    for lane in held:
        grant._lanes.give(lane)


def test_a_time_limit_ends_a_call_and_the_next_call_gets_its_own_reply(gyre_runtime: gyre.Runtime) -> None:
    grant = gyre_runtime.launch(HANDLERS, kernel="grant", active=False)
    with pytest.raises(gyre.GyreTimeoutError):
        grant.call({"number": 1}, timeout=0.12)
    with pytest.raises(TimeoutError):
        grant.call({"number": 2}, timeout=0)
    grant.activate()
    assert [grant(number=i).number for i in range(10, 20)] == list(range(10, 20))


def test_a_long_wait_sends_once(launch: Callable[..., Any]) -> None:
    grant = launch("grant", active=False)
    replies: List[Any] = []
    thread = threading.Thread(target=lambda: replies.append(grant(number=6)))
    thread.start()
    thread.join(0.3)  # several slices of waiting
    assert thread.is_alive() and grant.info()["queued"] == 1
    grant.activate()
    thread.join()
    assert replies[0].number == 6 and grant.stats()["sent"] == 1


def test_negative_limits_are_refused(launch: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="expected None or seconds from 0 on, found -1"):
        launch("scale").call({}, timeout=-1)


def test_the_end_of_the_kernel_ends_calls_of_other_threads(gyre_runtime: gyre.Runtime) -> None:
    grant = gyre_runtime.launch(HANDLERS, kernel="grant", active=False)
    caught: List[BaseException] = []

    def call() -> None:
        try:
            grant(number=1)
        except BaseException as error:
            caught.append(error)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    while grant.info()["queued"] < 4:
        threading.Event().wait(0.01)
    grant.close()
    for thread in threads:
        thread.join()
    assert [type(error) for error in caught] == [gyre.ClosedError] * 4
    with pytest.raises(gyre.ClosedError, match="was closed"):
        grant(number=1)


def exchange_in_place(grant: gyre.Kernel) -> None:
    with grant.reserve(4) as slots:
        slots["number"] = 1
        left = len(slots)
    while left:
        with grant.peek(left) as views:
            left -= len(views)


def close_between_blocks(grant: gyre.Kernel) -> None:
    while True:
        try:
            return grant.close()
        except BufferError as error:
            assert "a `with` block of reserve or peek is open" in str(error)


def test_a_kernel_may_be_closed_while_others_call(launch: Callable[..., Any]) -> None:
    for turn in range(20):
        grant = launch("grant")
        ended: List[BaseException] = []
        begun = threading.Barrier(5)

        def work(way: int, grant: Any = grant, ended: Any = ended, begun: Any = begun) -> None:
            batch = np.zeros(200_000, grant.request.dtype)
            begun.wait()
            try:
                while True:
                    if way == 0:
                        grant(number=1)
                    elif way == 1:
                        grant.map(batch)
                    elif way == 3:
                        exchange_in_place(grant)
                    else:
                        grant.send(number=1)
                        grant.receive()
            except gyre.ClosedError as error:
                ended.append(error)

        threads = [threading.Thread(target=work, args=(way,)) for way in range(4)]
        for thread in threads:
            thread.start()
        begun.wait()
        threads[0].join(0.001 * turn)
        close_between_blocks(grant)
        for thread in threads:
            thread.join()
        assert len(ended) == 4


def test_other_threads_run_while_a_call_waits(gyre_runtime: gyre.Runtime) -> None:
    grant = gyre_runtime.launch(HANDLERS, kernel="grant", active=False)
    thread = threading.Thread(target=lambda: grant(number=1))
    thread.start()
    while grant.info()["queued"] < 1:  # would not be reached with Python's lock held
        threading.Event().wait(0.001)
    grant.activate()
    thread.join()
