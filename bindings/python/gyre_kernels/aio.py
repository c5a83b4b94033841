# SPDX-License-Identifier: Apache-2.0
"""Calls in event loops of asyncio, on the descriptor of a queue.

The descriptor is readable while a receive would give something, so no reply is missed: the loop calls again until all are
taken. Calls of one turn of the loop are sent by one call of Gyre at the turn's end. Each event loop has a lane of its own
while calls are under way.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Deque, Dict, List, Tuple

from ._native import ffi, lib
from .errors import AGAIN, DROPPED, OK, TIMEOUT, ClosedError, error_of
from .lanes import Lane

if TYPE_CHECKING:
    from .port import Port

_AT_ONCE = 256
_LOOP_PATIENCE_S = 2.0  # a loop that does not turn for so long may wait for the thread that closes


class AsyncCalls:
    """The calls of all event loops on one port."""

    def __init__(self, port: "Port") -> None:
        self._port = port
        self._loops: Dict[asyncio.AbstractEventLoop, _LoopCalls] = {}

    def call(self, request: bytes) -> "asyncio.Future[Any]":
        """Begins a call; the future gets the reply, or the exception."""
        loop = asyncio.get_running_loop()
        calls = self._loops.get(loop)
        if calls is None:
            for other in [one for one in list(self._loops) if one.is_closed()]:
                self._loops.pop(other).leave()
            calls = self._loops[loop] = _LoopCalls(self._port, loop)
        return calls.begin(request)

    def close(self) -> None:
        """Ends the calls that are under way, each in the thread of its loop."""
        for loop, calls in list(self._loops.items()):
            if calls.is_busy and loop.is_running() and loop is not _running_loop():
                done = threading.Event()
                loop.call_soon_threadsafe(calls.leave_and_tell, done)
                end = time.monotonic() + _LOOP_PATIENCE_S
                while loop.is_running() and not done.wait(0.05) and time.monotonic() < end:
                    pass
            calls.leave()
        self._loops.clear()


def _running_loop() -> Any:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class _LoopCalls:
    """The calls of one event loop. All methods run in the loop's thread."""

    def __init__(self, port: "Port", loop: asyncio.AbstractEventLoop) -> None:
        self._port, self._loop = port, loop
        self._lane: Any = None
        self._asked: Deque[Tuple[bytes, "asyncio.Future[Any]"]] = deque()  # not sent yet
        self._sent: Deque["asyncio.Future[Any]"] = deque()
        self._flush_is_due = False
        size = max(port.reply.size, 1)
        self._replies = ffi.new("char[]", _AT_ONCE * size)
        self._bytes = ffi.buffer(self._replies, _AT_ONCE * size)
        self._completions = ffi.new("gyre_completion[]", _AT_ONCE)
        self._count = ffi.new("size_t *")

    @property
    def is_busy(self) -> bool:
        """Whether calls are under way, or a reader is left in the loop."""
        return self._lane is not None or bool(self._asked)

    def begin(self, request: bytes) -> "asyncio.Future[Any]":
        future: "asyncio.Future[Any]" = self._loop.create_future()
        self._asked.append((request, future))
        if not self._flush_is_due:
            self._flush_is_due = True
            self._loop.call_soon(self._flush)
        return future

    # ---- sending ----

    def _enter(self) -> Lane:
        if self._lane is None:
            lane = self._port._lanes.take()
            try:
                if self._port._lanes.closed:  # its descriptor is another file's, or nobody's
                    raise ClosedError(f"'{self._port.name}' was closed")
                self._loop.add_reader(lane.descriptor(), self._receive)
            except BaseException:
                self._port._lanes.give(lane)
                raise
            self._lane = lane
        return self._lane  # type: ignore[no-any-return]

    def _flush(self) -> None:
        self._flush_is_due = False
        try:
            while self._asked:
                if not self._send_some(self._enter()):
                    break
        except Exception as error:  # what a call would raise
            self._fail_asked(error)
        self._rest()

    def _send_some(self, lane: Lane) -> bool:
        """Sends what was asked. False when the queue is full: replies make room, and the rest goes then."""
        size = self._port.request.size
        while self._asked and self._asked[0][1].cancelled():
            self._asked.popleft()
        count = min(len(self._asked), _AT_ONCE)
        if not count:
            return False
        batch = b"".join([self._asked[i][0].ljust(size, b"\0") for i in range(count)])
        status = lib.gyrepy_send(lane.c, batch, size, count, self._count, 0)
        for _ in range(self._count[0]):
            self._sent.append(self._asked.popleft()[1])
        if status in (AGAIN, TIMEOUT):
            return False
        if status == DROPPED:
            _fail(self._asked.popleft()[1], error_of(status))
        elif status != OK:
            raise error_of(status)
        return True

    def _fail_asked(self, error: Exception) -> None:
        while self._asked:
            _fail(self._asked.popleft()[1], error)

    # ---- receiving ----

    def _receive(self) -> None:
        lane, reply = self._lane, self._port.reply
        status = lib.gyrepy_receive(
            lane.c, self._replies, reply.size, _AT_ONCE, self._completions, self._count, 0
        )
        received = self._count[0]
        for number in range(received):
            self._settle(lane, number, self._sent.popleft())
        if status not in (OK, AGAIN, TIMEOUT):
            self._fail_all(error_of(status))
        if self._asked and not self._flush_is_due:
            self._flush()
        else:
            self._rest()

    def _settle(self, lane: Lane, number: int, future: "asyncio.Future[Any]") -> None:
        if future.done():
            return
        reply = self._port.reply
        start = number * reply.size
        data = self._bytes[start : start + reply.size]
        try:
            future.set_result(lane.result_of(reply, self._completions[number], data))
        except Exception as error:
            future.set_exception(error)

    def _fail_all(self, error: Exception) -> None:
        self._lane.c.owed = 0  # nothing will come any more
        while self._sent:
            _fail(self._sent.popleft(), error)
        self._fail_asked(error)

    # ---- the end ----

    def _rest(self) -> None:
        """Gives the lane back once nothing is under way."""
        if self._lane is not None and not self._sent and not self._asked:
            self._loop.remove_reader(self._lane.descriptor())
            lane, self._lane = self._lane, None
            self._port._lanes.give(lane)

    def leave_and_tell(self, done: threading.Event) -> None:
        """`leave`, for another thread that waits."""
        self.leave()
        done.set()

    def leave(self) -> None:
        """For a loop that was closed, or a port that is being closed."""
        left: List["asyncio.Future[Any]"] = [*self._sent, *(future for _, future in self._asked)]
        self._sent.clear()
        self._asked.clear()
        if self._lane is not None:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._lane.descriptor())
            lane, self._lane = self._lane, None
            self._port._lanes.give(lane)
        if not self._loop.is_closed():
            for future in left:
                _fail(future, ClosedError(f"'{self._port.name}' was closed"))


def _fail(future: "asyncio.Future[Any]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
