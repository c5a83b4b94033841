# SPDX-License-Identifier: Apache-2.0
"""The queues of a kernel, or of an attachment, and who uses which.

Completions come out of a queue in the order of its requests, so a queue has one user at a time: a call, a map, a stream,
the calls of an event loop, or the program itself (send, receive, reserve, peek). A lane is a queue with the user's scratch
memory. The first lane is the kernel's own queue, which the section of the kernel's name configures; more are opened when
several users are at it at once.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional

from ._native import ffi, lib
from .errors import AGAIN, HANDLER_FAILED, NOT_REPLIED, OK, REPLIED, TIMEOUT
from .errors import ClosedError, ExhaustedError, InvalidError, check, error_of, outcome_error, text_of

_STATS = (
    "capacity request_size reply_size region_size sent received rejected dropped abandoned high_water send_waits "
    "receive_waits timed waited_ns handled_ns returned_ns duplicates waiting dead_letters dead_letters_lost "
    "spans_moved spans_bytes"
).split()


class Lane:
    """A queue, and memory for one reply. What is owed is counted in C, where no exception comes between."""

    __slots__ = ("c", "room", "room_size", "bytes", "completion", "_descriptor")

    def __init__(self, queue: Any, reply_size: int) -> None:
        self.c = ffi.new("gyrepy_lane *", {"queue": queue})
        self.room_size = reply_size
        self.room = ffi.new("char[]", max(reply_size, 1))
        self.bytes = ffi.buffer(self.room, max(reply_size, 1))
        self.completion = ffi.new("gyre_completion *")
        self._descriptor: Optional[int] = None

    def receive(self, deadline: int) -> int:
        """Receives one completion into the lane's memory; the status."""
        return int(lib.gyrepy_receive(self.c, self.room, self.room_size, 1, self.completion, ffi.NULL, deadline))

    def settle(self) -> bool:
        """Receives what is owed and has come. True once nothing is owed."""
        while self.c.owed:
            status = self.receive(0)
            if status in (AGAIN, TIMEOUT):
                return False
            if status != OK:
                self.c.owed = 0  # the kernel ended: nothing will come
        return True

    def result(self, reply: Any) -> Any:
        """The value of the completion that was just received: a message, or None without a reply. Raises otherwise."""
        return self.result_of(reply, self.completion, self.bytes)

    def result_of(self, reply: Any, completion: Any, data: Any) -> Any:
        """As `result`, for a completion with its reply in `data`."""
        outcome = completion.outcome
        if outcome == REPLIED:
            return reply.unpack(data[: completion.length] if reply.tail else data, self)
        if outcome == NOT_REPLIED:
            return None
        text = text_of(completion.failure_text) if outcome == HANDLER_FAILED else ""
        raise outcome_error(outcome, completion.failure_code, text)

    def descriptor(self) -> int:
        """The queue's descriptor for event loops."""
        if self._descriptor is None:
            out = ffi.new("int *")
            check(lib.gyrepy_descriptor(self.c, out))
            self._descriptor = int(out[0])
        return self._descriptor

    def stats(self) -> Dict[str, int]:
        """The queue's statistics, by the names of gyre_queue_stats."""
        stats = ffi.new("gyre_queue_stats *", {"size": ffi.sizeof("gyre_queue_stats")})
        check(lib.gyrepy_stats(self.c, stats))
        return {name: int(getattr(stats, name)) for name in _STATS}


class Lanes:
    """All lanes of a port. Threads: any."""

    def __init__(self, name: str, first: Lane, open_lane: Optional[Callable[[], Lane]]) -> None:
        self.name, self.first = name, first
        self._open_lane = open_lane
        self.mine: Optional[Lane] = None  # of send, receive, reserve and peek, once one of them was used
        self._all: List[Lane] = [first]
        self._idle: Deque[Lane] = deque([first])
        kept = kept_completions(first.c.queue)
        if kept is not None:  # another queue would not keep what is sent
            self._open_lane = None
        if kept:
            first.c.owed, self.mine = kept, first
            self._idle.clear()
        self._stale: List[Lane] = []
        self._changed = threading.Condition()
        self._waiting = 0
        self.closed = False

    def take(self) -> Lane:
        """A lane that nobody uses, and in which nothing is under way."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._take_slowly()

    def give(self, lane: Lane) -> None:
        """Returns a lane. With completions owed it is used again once these came."""
        if lane.c.owed:
            with self._changed:
                self._stale.append(lane)
                self._changed.notify()
            return
        self._idle.append(lane)
        if self._waiting:
            with self._changed:
                self._changed.notify()

    def _take_slowly(self) -> Lane:
        with self._changed:
            while True:
                if self.closed:
                    raise ClosedError(f"'{self.name}' was closed")
                if self._idle:
                    return self._idle.pop()
                lane = self._settle_stale() or self._open_more() or self._take_own()
                if lane:
                    return lane
                self._waiting += 1
                self._changed.wait(0.02)  # a slice: a stale lane may settle, a signal may come
                self._waiting -= 1

    def _settle_stale(self) -> Optional[Lane]:
        for lane in self._stale:
            if lane.settle():
                self._stale.remove(lane)
                return lane
        return None

    def _open_more(self) -> Optional[Lane]:
        if self._open_lane is None:
            return None
        try:
            lane = self._open_lane()
        except (ExhaustedError, InvalidError):
            self._open_lane = None  # this kernel can have no more queues; those that it has go round
            return None
        self._all.append(lane)
        return lane

    def _take_own(self) -> Optional[Lane]:
        """The program's own lane, for a kernel that can have no other."""
        lane = self.mine
        if lane is None or len(self._all) > 1:
            return None
        if lane.c.owed or lane.c.gate.busy:
            raise InvalidError(
                f"'{self.name}' has one queue, and {lane.c.owed} completions of requests that were sent or reserved "
                "wait in it: receive them first"
            )
        self.mine = None
        return lane

    def own(self) -> Lane:
        """The lane of send, receive, reserve and peek, which stays theirs."""
        if self.mine is None:
            lane = self.take()
            with self._changed:
                if self.mine is None:
                    self.mine = lane
                    return lane
            self.give(lane)
        return self.mine or self.own()

    def lanes(self) -> List[Lane]:
        """All that were opened."""
        return list(self._all)

    def check_places(self) -> None:
        """Raises while a block of reserve or peek is open."""
        if any([lane.c.in_place for lane in self._all]):
            raise BufferError(f"'{self.name}' cannot be closed: a `with` block of reserve or peek is open")

    def close(self) -> None:
        """Refuses further calls. The queues may be closed once `wait` is back. BufferError, and nothing is refused, when a block
        began meanwhile."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
        for lane in self._all:
            lib.gyrepy_close(ffi.addressof(lane.c, "gate"))
        try:
            self.check_places()  # what begins from now on sees that the lane was closed
        except BufferError:
            self.closed = False
            for lane in self._all:
                lane.c.gate.closed = 0
            raise

    def wait(self) -> None:
        """Waits until no call is at work; the end of the kernel ends each."""
        while not all([lib.gyrepy_close(ffi.addressof(lane.c, "gate")) for lane in self._all]):
            time.sleep(0.001)


def kept_completions(queue: Any) -> Optional[int]:
    """How many completions of an earlier run wait in a queue that keeps what is sent; None: it keeps nothing."""
    told = ffi.new("gyre_recovered *", {"size": ffi.sizeof("gyre_recovered")})
    return int(told.offered) if lib.gyre_queue_recovered(queue, told) == OK else None


def open_queue(call: Callable[[Any], int]) -> Any:
    """The queue that `call` puts into its place."""
    out = ffi.new("gyre_queue **")
    status = call(out)
    if status:
        raise error_of(status)
    return out[0]
