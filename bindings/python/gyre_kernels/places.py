# SPDX-License-Identifier: Apache-2.0
"""Messages in place: NumPy arrays on the ring's own memory, while a `with` block lasts.

After the block the memory belongs to the other side. So an array that outlives the block is an error, BufferError, and
nothing is sent or given back for it.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, cast

import numpy as np

from ._native import ffi, lib
from .errors import HANDLER_FAILED, REPLIED, check
from .types import MessageType
from .waiting import FOREVER, MORE, deadline_of

if TYPE_CHECKING:
    from .port import Port

_NOTHING = np.dtype("V1")  # of completions that are no reply
# looked up once: each costs some tens of nanoseconds
_reserve, _commit, _peek, _release = lib.gyrepy_reserve, lib.gyrepy_commit, lib.gyrepy_views_peek, lib.gyrepy_release_views
_buffer, _ndarray, _ref = ffi.buffer, np.ndarray, weakref.ref
_TWICE = "a block of messages in place is entered again only after its end"
_OVER = "a block of messages in place ends once, after it was entered"


_Method = TypeVar("_Method", bound=Callable[..., None])


class _Exit(functools.partial[None]):
    """The `__exit__` of one `with` statement, which nothing else holds. So it goes with the statement, also when a signal came
    before the first line of `__exit__`, whatever else holds the block and the exception: the block ends then. A statement asks
    for it right before it enters the block, so what was asked for earlier is not the statement's."""

    def __del__(self) -> None:
        block = self.args[0]
        if block._exit == id(self) and block._lane is not None:
            block._abandon()


class _EndOfBlock:
    """Gives each `with` statement an `__exit__` of its own. What is asked for inside of a block is not the statement's."""

    def __init__(self, method: Callable[..., None]) -> None:
        self._method = method

    def __get__(self, block: Any, _: Any = None) -> Callable[..., None]:
        if block is None:
            return self._method
        if block._lane is not None:
            return functools.partial(self._method, block)
        end = _Exit(self._method, block)
        block._exit = id(end)
        return end


def _ends_block(method: _Method) -> _Method:
    return cast(_Method, _EndOfBlock(method))


class _InPlace:
    """What Slots and Views share: an array that is read by fields and places. `given` is what C says of the messages; C ends it
    with the block. The two methods that begin and end a block are long, because each call inside of them is paid in every block."""

    def __init__(self, port: "Port", most: int, timeout: Optional[float], given: Any) -> None:
        self._port, self._most, self._timeout, self._given = port, most, timeout, given
        self._lane: Any = None  # inside of the block
        self._array: Any = None
        self._memory: Any = None  # a weak reference to what the array and every view of it keep alive, and nothing else does
        self._count = 0
        self._exit = 0  # the `id` of the `_Exit` that was asked for last

    def _end(self, count: int) -> int:
        raise NotImplementedError

    def _abandon(self) -> None:
        """Ends, as an exception in it would, a block whose `__exit__` a signal kept from its work."""
        self._array = None
        if self._memory is not None and self._memory() is not None:
            self._port.leaked(self._memory)
        if self._given.count:
            self._end(0)
        self._lane = None

    def _end_again(self, kind: Any) -> None:
        if kind is None:  # else the exception tells more
            raise BufferError(_OVER)

    def __del__(self) -> None:
        """For a block that was entered by other means than a `with` statement."""
        if self._lane is not None:
            self._abandon()

    @property
    def array(self) -> Any:
        """All of it as one structured array; drop every view before the block ends."""
        if self._array is None:
            raise BufferError("messages in place are there inside of their `with` block alone")
        return self._array

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def __len__(self) -> int:
        return len(self.array) if self._array is None else self._count

    def __getitem__(self, key: Any) -> Any:
        return (self.array if self._array is None else self._array)[key]


class Slots(_InPlace):
    """Requests that are written where the device reads them. The end of the block sends all of them."""

    def __init__(self, port: "Port", most: int, timeout: Optional[float]) -> None:
        super().__init__(port, most, timeout, ffi.new("gyrepy_slots *"))
        kind = port.request
        self._dtype, self._size, self._least = kind.dtype, kind.size, kind.least if kind.tail else 0

    def _end(self, count: int) -> int:
        return int(_commit(self._lane.c, self._given, count))

    def __setitem__(self, key: Any, value: Any) -> None:
        (self.array if self._array is None else self._array)[key] = value

    def __enter__(self) -> "Slots":
        if self._lane is not None:
            raise BufferError(_TWICE)
        port, given = self._port, self._given
        lane = port._lanes.mine or port.own_lane()
        try:
            self._lane = lane
            end = FOREVER if self._timeout is None else deadline_of(self._timeout)
            status = _reserve(lane.c, self._size, self._least, self._most, given, end)
            while status == MORE:
                status = _reserve(lane.c, self._size, self._least, self._most, given, end)
            if status:
                check(status)
            count, stride = given.count, given.stride
            memory = _buffer(given.first, stride * (count - 1) + self._size)
            self._memory, self._count = _ref(memory), count
            self._array = _ndarray((count,), self._dtype, memory, 0, (stride,))
        except BaseException:
            if given.count:
                _commit(lane.c, given, 0)
            self._lane = None
            raise
        return self

    @_ends_block
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._lane is None:
            return self._end_again(kind)
        self._array = None
        free = self._memory() is None
        if not free:
            self._port.leaked(self._memory)
        send = free and kind is None
        status = _commit(self._lane.c, self._given, self._count if send else 0)
        self._lane = None  # after the end: `_abandon` looks for it
        if status:
            check(status)
        if not send and kind is None:
            raise BufferError(
                "an array of the reserved requests outlives its `with` block, so nothing was sent: "
                "copy what is needed, and drop the array (del) inside the block"
            )


class Views(_InPlace):
    """Completions that are read where the device wrote them. The end of the block gives all of them back.

    All of them have one `outcome`; `index` is the number of the first. `replied`: the array has the replies. `failure`: the
    text of the first, when the handler failed them. A message with a tail comes alone where lengths differ; `message` has
    its texts and spans.
    """

    index = outcome = 0
    replied = False
    failure: Optional[str] = None
    message: Any = None

    def __init__(self, port: "Port", most: int, timeout: Optional[float]) -> None:
        super().__init__(port, most, timeout, ffi.new("gyrepy_views *"))

    def __enter__(self) -> "Views":
        if self._lane is not None:
            raise BufferError(_TWICE)
        port, given = self._port, self._given
        if self.failure is not None or self.message is not None:  # of the last time
            self.failure = self.message = None
        lane = port._lanes.mine or port.own_lane()
        try:
            self._lane = lane
            end = FOREVER if self._timeout is None else deadline_of(self._timeout)
            status = _peek(lane.c, self._most, given, end)
            while status == MORE:
                status = _peek(lane.c, self._most, given, end)
            if status:
                check(status)
            kind = port.reply
            self.index = given.index
            outcome = self.outcome = given.outcome
            self.replied = plain = outcome == REPLIED
            dtype = kind.dtype
            if not plain or kind.tail or given.length < kind.size:
                dtype = self._look(kind, given, lane)
            count, stride = given.count, given.stride
            memory = _buffer(given.first, stride * (count - 1) + dtype.itemsize)
            self._memory, self._count = _ref(memory), count
            array: Any = _ndarray((count,), dtype, memory, 0, (stride,))
            array.setflags(write=False)
            self._array = array
        except BaseException:
            if given.count:
                _release(lane.c, given, 0)
            self._lane = None
            raise
        return self

    def _end(self, count: int) -> int:
        return int(_release(self._lane.c, self._given, count))

    def _look(self, kind: MessageType, given: Any, lane: Any) -> Any:
        """For what is no reply, or may be shorter than its type: the type of the array. Sets `message` and `failure`."""
        if self.outcome == HANDLER_FAILED:
            text = bytes(ffi.buffer(given.first + 4, 44))  # gyre_failure of ring_layout.h
            self.failure = text.split(b"\0")[0].decode("utf-8", "replace")
        if not self.replied:
            return _NOTHING
        if kind.tail and given.count == 1:
            self.message = kind.unpack(ffi.buffer(given.first, given.length), lane)
        if given.length >= kind.size:
            return kind.dtype
        return np.dtype(("V", given.length)) if given.length else _NOTHING

    @_ends_block
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._lane is None:
            return self._end_again(kind)
        self._array = None
        free = self._memory() is None
        if not free:
            self._port.leaked(self._memory)
        status = _release(self._lane.c, self._given, self._count if free and kind is None else 0)
        self._lane = None  # after the end: `_abandon` looks for it
        if status:
            check(status)
        if not free and kind is None:
            raise BufferError(
                "an array of the completions outlives its `with` block, so none was given back: "
                "copy what is needed, and drop the array (del) inside the block"
            )
