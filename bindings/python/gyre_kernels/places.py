# SPDX-License-Identifier: Apache-2.0
"""Messages in place: NumPy arrays on the ring's own memory, while a `with` block lasts.

After the block the memory belongs to the other side. So an array that outlives the block is an error, BufferError, and
nothing is sent or given back for it.

Making an array costs more than slicing one. So a block is a slice of an array that spans all of the ring that was seen (gyrepy_window
of native/batch.h), and that nobody but its `_Window` has outside of blocks: whatever shows messages keeps it, by NumPy's `base`.
"""

from __future__ import annotations

import functools
import weakref
from sys import getrefcount
from typing import TYPE_CHECKING, Any, Callable, List, Optional, TypeVar, cast

import numpy as np

from ._native import ffi, lib
from .errors import HANDLER_FAILED, OK, REPLIED, check
from .types import MessageType
from .waiting import FOREVER, MORE, deadline_of

if TYPE_CHECKING:
    from .port import Port

_NOTHING = np.dtype("V1")  # of completions that are no reply
_WIDER, _OTHER = 102, 103  # GYREPY_WIDER, GYREPY_OTHER
_NEVER = 2**63  # bytes that no reply has
# looked up once: each costs some tens of nanoseconds
_reserve, _commit, _peek, _release = lib.gyrepy_reserve, lib.gyrepy_commit, lib.gyrepy_views_peek, lib.gyrepy_release_views
_alone: List[Any] = [object()]
_ALONE = getrefcount(_alone[0])  # what it says of an object that a list of one has, and nobody else
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


def _array_of(first: int, count: int, stride: int, dtype: Any) -> Any:
    """An array on memory of the ring."""
    memory = ffi.buffer(ffi.cast("char *", first), stride * (count - 1) + dtype.itemsize)
    return np.ndarray((count,), dtype, memory, 0, (stride,))


class _InPlace:
    """What Slots and Views share: an array that is read by fields and places. `given` is what C says of the messages; C ends it
    with the block. The two methods that begin and end a block are long, because each call inside of them is paid in every block."""

    def __init__(self, port: "Port", most: int, timeout: Optional[float], given: Any) -> None:
        self._port, self._most, self._timeout, self._given = port, most, timeout, given
        self._window = ffi.addressof(given, "window")
        self._spans: List[Any] = [None]  # the array that spans the window, or the one of a block that has its own
        self._lane: Any = None  # inside of the block
        self._array: Any = None
        self._exit = 0  # the `id` of the `_Exit` that was asked for last

    def _span(self, dtype: Any) -> Any:
        """A new array for the window."""
        window = self._window
        self._spans[0] = _array_of(window.first, window.count, window.stride, dtype)
        return self._spans[0]

    def _leak(self) -> None:
        """For an array that outlives its block: the next block has another one to slice."""
        self._port.leaked(weakref.ref(self._spans[0]))
        self._forget_span()

    def _forget_span(self) -> None:
        self._spans[0], self._window.count, self._window.stride = None, 0, 0

    def _end(self) -> None:
        """Ends the block in C, with nothing sent or given back."""
        raise NotImplementedError

    def _abandon(self) -> None:
        """Ends, as an exception in it would, a block whose `__exit__` a signal kept from its work."""
        self._array = None
        if self._spans[0] is not None and getrefcount(self._spans[0]) != _ALONE:
            self._leak()
        if self._given.count:
            self._end()
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
        return len(self.array if self._array is None else self._array)

    def __getitem__(self, key: Any) -> Any:
        return (self.array if self._array is None else self._array)[key]


class Slots(_InPlace):
    """Requests that are written where the device reads them. The end of the block sends all of them."""

    def __init__(self, port: "Port", most: int, timeout: Optional[float]) -> None:
        super().__init__(port, most, timeout, ffi.new("gyrepy_slots *"))
        kind = port.request
        self._dtype, self._size, self._least = kind.dtype, kind.size, kind.least if kind.tail else 0

    def _end(self) -> None:
        _commit(self._lane.c, self._given, False)

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
            if status == OK:
                span = self._spans[0]
            elif status == _WIDER:
                span = self._span(self._dtype)
            else:
                check(status)
            window = self._window
            self._array = span[window.begin : window.end]
        except BaseException:
            if given.count:
                _commit(lane.c, given, False)
                self._forget_span()  # the array may not be what C says that it is
            self._lane = None
            raise
        return self

    @_ends_block
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._lane is None:
            return self._end_again(kind)
        self._array = None
        free = getrefcount(self._spans[0]) == _ALONE
        if not free:
            self._leak()
        send = free and kind is None
        status = _commit(self._lane.c, self._given, send)
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

    replied = False
    failure: Optional[str] = None
    message: Any = None

    def __init__(self, port: "Port", most: int, timeout: Optional[float]) -> None:
        super().__init__(port, most, timeout, ffi.new("gyrepy_views *"))
        self._dtype, self._size = port.reply.dtype, _NEVER if port.reply.tail else port.reply.size

    @property
    def index(self) -> int:
        return int(self._given.index)

    @property
    def outcome(self) -> int:
        return int(self._given.outcome)

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
            status = _peek(lane.c, self._size, self._most, given, end)
            while status == MORE:
                status = _peek(lane.c, self._size, self._most, given, end)
            self.replied = status != _OTHER
            if status == OK:
                span = self._spans[0]
            elif status == _WIDER:
                span = self._span(self._dtype)
                span.setflags(write=False)
            elif status == _OTHER:
                self._array = self._look(port.reply, given, lane)
                return self
            else:
                check(status)
            window = self._window
            self._array = span[window.begin : window.end]
        except BaseException:
            if given.count:
                _release(lane.c, given, False)
                self._forget_span()
            self._lane = None
            raise
        return self

    def _end(self) -> None:
        _release(self._lane.c, self._given, False)

    def _look(self, kind: MessageType, given: Any, lane: Any) -> Any:
        """For what is no reply, or may be shorter than its type: an array of its own. Sets `replied`, `message` and `failure`."""
        self._forget_span()
        self.replied = given.outcome == REPLIED
        first = int(ffi.cast("uintptr_t", given.first))
        self._spans[0] = _array_of(first, given.count, given.stride, self._dtype_of(kind, given, lane))
        self._spans[0].setflags(write=False)
        return self._spans[0][:]

    def _dtype_of(self, kind: MessageType, given: Any, lane: Any) -> Any:
        if given.outcome == HANDLER_FAILED:
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
        free = getrefcount(self._spans[0]) == _ALONE
        if not free:
            self._leak()
        status = _release(self._lane.c, self._given, free and kind is None)
        self._lane = None  # after the end: `_abandon` looks for it
        if status:
            check(status)
        if not free and kind is None:
            raise BufferError(
                "an array of the completions outlives its `with` block, so none was given back: "
                "copy what is needed, and drop the array (del) inside the block"
            )
