# SPDX-License-Identifier: Apache-2.0
"""Messages in place: written and read where the device does, and what becomes of arrays that outlive their block."""

from __future__ import annotations

import contextlib
import copy
import gc
import signal
import sys
import weakref
from typing import Any, Callable, List

import numpy as np
import pytest

import gyre_kernels as gyre


def test_requests_and_replies_in_place(launch: Callable[..., Any]) -> None:
    scale = launch("scale")
    received = sent = 0
    while received < 10_000:
        if sent < 10_000 and sent - received < 500:
            with scale.reserve(min(300, 10_000 - sent)) as slots:
                slots["value"] = np.arange(sent, sent + len(slots))
                slots["factor"] = 2
                sent += len(slots)
        with scale.peek(512) as views:
            assert views.replied
            np.testing.assert_array_equal(views["result"], 2.0 * np.arange(received, received + len(views)))
            received += len(views)
    assert sent == 10_000
    assert scale.stats()["received"] == 10_000


def test_reserved_requests_begin_as_zeros(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    for number in range(3000):  # so that each slot was used before
        with grant.reserve() as slots:
            assert slots["number"][0] == 0 and slots["outcome"][0] == 0
            slots["number"] = number
        with grant.peek() as views:
            assert views["number"].tolist() == [number] and views.index == number


def test_an_exception_in_the_block_sends_nothing(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    with pytest.raises(ZeroDivisionError):
        with grant.reserve(10) as slots:
            slots["number"] = 1 // 0
    assert grant.stats()["sent"] == 0
    assert grant(number=1).number == 1


def test_an_exception_in_the_block_keeps_the_completions(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    grant.send(number=8)
    with pytest.raises(ZeroDivisionError):
        with grant.peek() as views:
            raise ZeroDivisionError
    with grant.peek() as views:
        assert views["number"].tolist() == [8]


def test_an_array_that_outlives_its_block_sends_nothing(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    with pytest.raises(BufferError, match="outlives its `with` block, so nothing was sent"):
        with grant.reserve(4) as slots:
            slots["number"] = 1
            numbers = slots["number"]
    assert grant.stats()["sent"] == 0
    with pytest.raises(BufferError, match="cannot be closed: an array of messages in place"):
        grant.close()
    assert grant(number=3).number == 3
    del numbers
    grant.close()


def test_views_of_views_count_as_well(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    grant.send(number=5)
    with pytest.raises(BufferError, match="outlives its `with` block, so none was given back"):
        with grant.peek() as views:
            kept = memoryview(views.array["number"][:1].reshape(1))
    assert kept[0] == 5
    del kept
    with grant.peek() as views:
        assert views["number"].tolist() == [5]


def test_an_array_cannot_be_had_after_the_block(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    with grant.reserve() as slots:
        slots["number"] = 1
    with pytest.raises(BufferError, match="are there inside of their|their `with` block is over"):
        slots["number"]
    with pytest.raises(BufferError, match="are there inside of their|their `with` block is over"):
        slots["number"] = 2


def test_replies_in_place_are_read_only(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    grant.send(number=5)
    with grant.peek() as views:
        with pytest.raises(ValueError):
            views["number"][0] = 6


def test_failures_are_runs_of_their_own(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    for number, outcome in enumerate([0, 0, 3, 2, 0]):
        grant.send(number=number, outcome=outcome)
    seen = []
    count = 0
    while count < 5:
        with grant.peek() as views:
            seen += [(views.index + i, views.outcome, views.failure) for i in range(len(views))]
            if views.replied:
                assert views["number"].tolist() == list(range(count, count + len(views)))
            count += len(views)
    assert seen == [(0, 1, None), (1, 1, None), (2, 3, "as it was told"), (3, 2, None), (4, 1, None)]


def test_send_and_receive(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    for number in range(3):
        grant.send(number=number)
    assert [grant.receive().number for _ in range(3)] == [0, 1, 2]
    with pytest.raises(gyre.AgainError):
        grant.receive(timeout=0)
    with pytest.raises(gyre.GyreTimeoutError):
        grant.receive(timeout=0.06)


def test_what_was_sent_and_not_received_does_not_disturb_calls(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    for number in range(10):
        grant.send(number=100 + number)
    assert [grant(number=i).number for i in range(3000)] == list(range(3000))
    assert grant.receive().number == 100


def test_counts_below_one_are_refused(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    with pytest.raises(ValueError, match="reserve: expected 1 or more, found 0"):
        grant.reserve(0)
    with pytest.raises(ValueError, match="peek: expected 1 or more, found -1"):
        grant.peek(-1)


def test_what_is_not_entered_reserves_nothing(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    slots = grant.reserve(4)
    with pytest.raises(BufferError, match="inside of their `with` block alone"):
        len(slots)
    grant.send(number=1)
    assert grant.receive().number == 1
    with slots:
        slots["number"] = 2
        with pytest.raises(BufferError, match="entered again only after its end"):
            slots.__enter__()
        assert slots["number"].tolist() == [2] * 4
    with pytest.raises(gyre.GyreTimeoutError):
        with grant.peek(timeout=0.1) as views, grant.peek(timeout=0.06):
            pass
    del views
    assert [grant.receive().number for _ in range(4)] == [2] * 4


def test_a_block_may_be_entered_again(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    slots, views = grant.reserve(3), grant.peek(3)
    for number in range(3000):
        with slots:
            count = len(slots)
            slots["number"] = number
            slots["outcome"] = 3 if number % 50 == 7 else 0
        while count:
            with views:
                assert (views.failure is None) == views.replied
                assert not views.replied or set(views["number"].tolist()) == {number}
                count -= len(views)
    with pytest.raises(BufferError, match="inside of their `with` block alone"):
        len(slots)


def test_nothing_is_closed_inside_a_block(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    with grant.reserve() as slots:
        with pytest.raises(BufferError, match="a `with` block of reserve or peek is open"):
            grant.close()
        slots["number"] = 6
    assert grant.receive().number == 6


def test_a_block_whose_end_never_ran_ends_with_its_object(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    grant.reserve(4).__enter__()  # as when a signal comes at the entry of __exit__
    assert grant.stats()["sent"] == 0
    with grant.reserve(timeout=5) as slots:
        slots["number"] = 9
    grant.peek().__enter__()
    with grant.peek(timeout=5) as views:
        assert views["number"].tolist() == [9]
    dropped = grant.reserve(4)
    numbers = dropped.__enter__()["number"]
    del dropped
    with pytest.raises(BufferError, match="cannot be closed: an array of messages in place"):
        grant.close()
    del numbers
    grant.close()


def test_a_statement_that_goes_without_its_end_leaves_no_block_open(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    slots, views = grant.reserve(4, timeout=5), grant.peek(4, timeout=5)
    for block in (slots, views):
        end = block.__exit__  # a `with` statement asks for it, and a signal may come before it is called
        block.__enter__()
        del end
        with pytest.raises(BufferError, match="inside of their `with` block alone"):
            len(block)
        with block:
            assert block["number"].tolist() == [0] * len(block)
    assert grant.close() is None


def test_a_block_is_ended_by_one(launch: Callable[..., Any]) -> None:
    """Another thread may end it, too, while the first is at it; here the first does so itself, where its array goes."""
    grant = launch("grant")
    slots = grant.reserve(4, timeout=5)
    ends: List[str] = []

    def end_once_more(_: Any) -> None:
        with pytest.raises(BufferError, match="ends once") as caught:
            slots.__exit__(None, None, None)
        ends.append(str(caught.value))

    with slots:
        gone = weakref.ref(slots.array, end_once_more)
    assert gone() is None
    assert len(ends) == 1
    assert grant.stats()["sent"] == 4


def test_a_signal_at_the_end_of_a_block_is_told(launch: Callable[..., Any]) -> None:
    """It comes at the first function of Python behind the block."""
    grant = launch("grant")

    def interrupt(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename != __file__:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        with grant.reserve(4) as slots:
            numbers = slots["number"]
            sys.setprofile(interrupt)
    assert sys.getprofile() is None
    with pytest.raises(BufferError, match="cannot be closed: an array of messages in place"):
        grant.close()
    del numbers
    assert grant.close() is None


def test_a_block_that_refers_to_itself_is_collected(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    slots = grant.reserve(4)
    assert grant._lanes in gc.get_referents(slots)
    slots.end = slots.__exit__
    gone = weakref.ref(slots)
    slots.__enter__()
    del slots
    gc.collect()
    assert gone() is None
    assert grant.close() is None


def test_a_signal_in_a_block_leaves_none_open(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    slots = grant.reserve(4)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            with slots:
                slots["number"] = 1
                signal.raise_signal(signal.SIGINT)
    assert grant.stats()["sent"] == 0
    assert grant.close() is None


def test_a_kept_object_shows_each_part_of_the_ring(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    slots, views = grant.reserve(7), grant.peek(5)
    kept: List[Any] = []
    number = 0
    for turn in range(400):
        with contextlib.suppress(BufferError):  # at times an array outlives its block, which sends nothing
            with slots:
                assert not slots["number"].any()
                slots["number"] = np.arange(number, number + len(slots))
                kept = [slots["number"]] if turn % 9 == 0 else []
                count = len(slots)
            number += count
            received: List[int] = []
            while len(received) < count:
                with views:
                    received += views["number"].tolist()
            assert received == list(range(number - count, number))
        assert len(grant._leaked) == len(kept)
    kept.clear()
    assert number > 1000 and not grant._leaked
    assert grant.close() is None


def test_blocks_are_made_by_reserve_and_peek_once(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    slots = grant.reserve(2)
    kind: Any = type(slots)
    with pytest.raises(TypeError, match="what reserve and peek give"):
        kind.__new__(kind).__enter__()
    with pytest.raises(TypeError, match="made once"):
        slots.__init__(grant, 4, None)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copy.copy(slots)
    with pytest.raises(TypeError):
        type(slots).__exit__(grant, None, None, None)


def test_an_end_that_is_looked_at_ends_nothing(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    with grant.reserve(4, timeout=5) as slots:
        assert callable(slots.__exit__)
        with pytest.raises(BufferError, match="entered again only after its end"):
            with slots:
                pass
        slots["number"] = 3
        count = len(slots)
    assert [grant.receive().number for _ in range(count)] == [3] * count
    with contextlib.ExitStack() as stack:
        stack.enter_context(slots)
        slots["number"] = 4
    assert grant.receive().number == 4


def test_an_end_that_was_looked_at_earlier_ends_no_block(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    slots = grant.reserve(2, timeout=5)
    earlier = slots.__exit__
    with pytest.raises(BufferError, match="ends once, after it was entered"):
        earlier(None, None, None)
    with slots:
        slots["number"] = 5
        del earlier
        slots["number"] = 6
        count = len(slots)
    assert [grant.receive().number for _ in range(count)] == [6] * count
    with pytest.raises(BufferError, match="ends once, after it was entered"):
        with slots:
            slots.__exit__(None, None, None)
    with pytest.raises(ZeroDivisionError):
        with grant.peek() as views:
            views.__exit__(None, None, None)
            raise ZeroDivisionError
    assert grant(number=1).number == 1
