# SPDX-License-Identifier: Apache-2.0
"""What a launched kernel and a kernel of another program have in common: requests go in, replies come out."""

from __future__ import annotations

from collections import deque
from typing import Any, AsyncIterator, Deque, Dict, Iterator, List, Optional, Tuple

import numpy as np

from ._native import ffi, lib
from .aio import AsyncCalls
from .errors import HANDLER_FAILED, REPLIED, ClosedError, error_of, outcome_error, text_of
from .given import Single, whole
from .lanes import Lane, Lanes
from .places import Slots, Views
from .types import MessageType, check_messages
from .waiting import FOREVER, MORE, deadline_of, wait_sliced


class Port(Single):
    """A kernel that answers messages. Every method may be called by several threads."""

    def __init__(self, name: str, request: MessageType, reply: MessageType, lanes: Lanes) -> None:
        self.name = name
        self.request = request  # the type of the requests
        self.reply = reply
        self._lanes = lanes
        self._async = AsyncCalls(self)
        # weak references to arrays that outlived their block, and keep the ring mapped; one leaves with its array
        self._leaked: List[Any] = []
        self.capacity = lanes.first.stats()["capacity"]  # requests that its first queue holds

    # ---- one message ----

    def __call__(self, message: Any = None, /, **fields: Any) -> Any:
        """Sends one request and waits for its reply: `kernel(value=20.5, factor=2).result`. None: the handler did not
        reply. FailedError: the handler failed."""
        return self._call(self.request.pack(message, **fields), FOREVER)

    def call(self, message: Any, timeout: Optional[float] = None) -> Any:
        """As a call of the object, for a mapping, a received message or bytes, with a time limit in seconds."""
        return self._call(self.request.pack(message), deadline_of(timeout) or 1)

    def _call(self, request: bytes, deadline: int) -> Any:
        lane = self._lanes.take()
        try:
            status = MORE
            while status == MORE:
                status = lib.gyrepy_exchange(
                    lane.c, request, len(request), lane.room, lane.room_size, lane.completion, deadline
                )
            if status:
                raise error_of(status)
            return lane.result(self.reply)
        finally:
            self._lanes.give(lane)

    # ---- batches ----

    def map(
        self, batch: Any, *, out: Any = None, outcomes: Any = None, timeout: Optional[float] = None
    ) -> Any:
        """Sends every request of a structured array and returns the replies, in the same order, as such an array.

        Other threads run meanwhile, and Ctrl-C works. `out` takes the replies. A request that the handler failed raises
        FailedError, whose `index` is its place, once all were answered; with `outcomes`, an array of uint8 that takes the
        outcome of each request, nothing is raised, and the replies of such requests are zero. Messages that are given as
        mappings make a list of replies, in which None stands for none.
        """
        deadline = deadline_of(timeout) or 1
        if not isinstance(batch, np.ndarray) or batch.dtype == object:
            return self._map_messages(self.request.array(batch), outcomes, deadline)
        requests = self.request.convert(batch).reshape(-1)
        count = len(requests)
        if out is None:
            out = np.empty(count, self.reply.dtype)
        _check_target("out", out, self.reply.dtype, count)
        if outcomes is not None:
            _check_target("outcomes", outcomes, np.dtype("u1"), count)
        if any(np.may_share_memory(requests, target) for target in (out, outcomes) if target is not None):
            requests = requests.copy()  # replies are written while later requests wait to be sent
        if count:
            self._run_batch(requests, out, outcomes, deadline, outcomes is None)
        return out.reshape(batch.shape) if batch.ndim != 1 else out

    def _map_messages(self, requests: Any, outcomes: Any, deadline: int) -> List[Any]:
        """The replies as messages; None for a request without a reply."""
        out = np.empty(len(requests), self.reply.dtype)
        told = np.zeros(len(requests), np.uint8) if outcomes is None else outcomes
        _check_target("outcomes", told, np.dtype("u1"), len(requests))
        if len(requests):
            self._run_batch(requests, out, told, deadline, outcomes is None)
        return [self._row(row.tobytes()) if outcome == REPLIED else None for row, outcome in zip(out, told)]

    def _row(self, data: bytes) -> Any:
        return self.reply.unpack(data[: int.from_bytes(data[:4], "little")] if self.reply.tail else data)

    def _run_batch(self, requests: Any, out: Any, outcomes: Any, deadline: int, raises: bool) -> None:
        lane = self._lanes.take()
        run = ffi.new("gyrepy_batch *")
        kept = (ffi.from_buffer(requests), ffi.from_buffer(out), outcomes is not None and ffi.from_buffer(outcomes))
        run.count = len(requests)
        run.requests, run.request_size = ffi.cast("char *", kept[0]), self.request.size
        run.replies, run.reply_size = ffi.cast("char *", kept[1]), self.reply.size
        run.outcomes = ffi.cast("uint8_t *", kept[2]) if kept[2] else ffi.NULL
        try:
            wait_sliced(lambda end: lib.gyrepy_batch_run(lane.c, run, end), deadline)
        finally:
            self._lanes.give(lane)
        if run.failures and raises:
            failure = run.failure
            text = text_of(failure.failure_text) if failure.outcome == HANDLER_FAILED else ""
            raise outcome_error(failure.outcome, failure.failure_code, text, int(run.first_failure))

    # ---- streams ----

    def stream(self, messages: Any) -> "Stream":
        """Replies to a stream of requests, in order, while further requests are under way: for `for` and `async for`.
        `messages` gives mappings; an asynchronous source is for `async for` alone."""
        return Stream(self, messages)

    async def acall(self, message: Any = None, /, **fields: Any) -> Any:
        """As a call of the object, in an event loop of asyncio. Calls that are made in one turn of the loop are sent
        together."""
        return await self._async.call(self.request.pack(message, **fields))

    # ---- the program's own queue ----

    def send(self, message: Any = None, /, **fields: Any) -> None:
        """Sends a request, whose completion `receive` or `peek` gives. Receive what you send: a full queue holds senders
        up."""
        request = self.request.pack(message, **fields)
        lane = self._lanes.own()
        wait_sliced(lambda end: lib.gyrepy_send(lane.c, request, len(request), 1, ffi.NULL, end), FOREVER)

    def receive(self, timeout: Optional[float] = None) -> Any:
        """The reply to the oldest request that was sent or reserved; None when its handler did not reply."""
        deadline = deadline_of(timeout)
        own = self._lanes.own()
        room = Lane(own.c.queue, self.reply.size)  # memory of this call: several threads may receive
        size, completion = room.room_size, room.completion
        wait_sliced(lambda end: lib.gyrepy_receive(own.c, room.room, size, 1, completion, ffi.NULL, end), deadline)
        return own.result_of(self.reply, completion, room.bytes)

    def reserve(self, count: int = 1, timeout: Optional[float] = None) -> Slots:
        """Requests in place: `with kernel.reserve(32) as slots: slots["value"] = ...`. The end of the block sends all of
        them, an exception none. There are `len(slots)` of them: at least one, at most `count`, as many as lie side by
        side in the ring. They begin as zeros. The object may be kept, and entered for one block after another."""
        return Slots(self, whole("reserve", count, 1), timeout)

    def peek(self, count: int = 1024, timeout: Optional[float] = None) -> Views:
        """Completions in place: `with kernel.peek() as views: views["result"].sum()`. There are `len(views)` of them, of
        one outcome: at least one, at most `count`. The end of the block gives them back. The object may be kept, and
        entered for one block after another."""
        return Views(self, whole("peek", count, 1), timeout)

    def fileno(self) -> int:
        """A descriptor that is readable while completions of `send` and `reserve` wait: for select, trio and others."""
        lane = self._lanes.own()
        if self._lanes.closed:  # its descriptor is another file's, or nobody's
            raise ClosedError(f"'{self.name}' was closed")
        return lane.descriptor()

    # ---- what it says of itself ----

    def stats(self) -> Dict[str, int]:
        """Counts of all its queues together (gyre_queue_stats); sizes are those of the first queue."""
        total: Dict[str, int] = {}
        for lane in self._lanes.lanes():
            for name, value in lane.stats().items():
                is_size = name in ("capacity", "request_size", "reply_size", "region_size")
                total[name] = total.get(name, value) if is_size else total.get(name, 0) + value
        return total

    # ---- the end ----

    def _check_places(self) -> None:
        self._lanes.check_places()
        if self._leaked:
            raise BufferError(
                f"'{self.name}' cannot be closed: an array of messages in place outlived its `with` block, and is still there"
            )


class Stream:
    """The replies of Port.stream."""

    def __init__(self, port: Port, messages: Any) -> None:
        self._port, self._messages = port, messages

    def __iter__(self) -> Iterator[Any]:
        if hasattr(self._messages, "__aiter__"):
            raise TypeError("an asynchronous source of messages is for `async for`")
        check_messages(self._port.request, self._messages)
        port = self._port
        lane = port._lanes.take()
        try:
            window = max(port.capacity // 2, 1)
            for message in self._messages:
                request = port.request.pack(message)
                if lane.c.owed >= window:
                    yield _next_reply(port, lane)
                wait_sliced(lambda end: lib.gyrepy_send(lane.c, request, len(request), 1, ffi.NULL, end), FOREVER)
            while lane.c.owed:
                yield _next_reply(port, lane)
        finally:
            port._lanes.give(lane)

    async def __aiter__(self) -> AsyncIterator[Any]:
        calls = self._port._async
        pending: Deque[Any] = deque()
        if not hasattr(self._messages, "__aiter__"):
            check_messages(self._port.request, self._messages)
        try:
            async for message in _each(self._messages):
                if len(pending) >= 256:
                    yield await pending.popleft()
                pending.append(calls.call(self._port.request.pack(message)))
            while pending:
                yield await pending.popleft()
        finally:
            for future in pending:
                future.cancel()


async def _each(messages: Any) -> AsyncIterator[Any]:
    if hasattr(messages, "__aiter__"):
        async for message in messages:
            yield message
    else:
        for message in messages:
            yield message


def _next_reply(port: Port, lane: Lane) -> Any:
    wait_sliced(lane.receive, FOREVER)
    return lane.result(port.reply)


def _check_target(what: str, target: Any, dtype: Any, count: int) -> None:
    fits = isinstance(target, np.ndarray) and target.dtype == dtype and target.shape == (count,)
    if not fits or not (target.flags.c_contiguous and target.flags.writeable):
        found: Tuple[Any, ...] = (getattr(target, "shape", type(target).__name__), getattr(target, "dtype", ""))
        raise ValueError(f"{what}: expected a contiguous array of {count} x {dtype}, found {found[0]} {found[1]}")

