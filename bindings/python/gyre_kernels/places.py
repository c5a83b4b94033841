# SPDX-License-Identifier: Apache-2.0
"""Messages in place: NumPy arrays on the ring's own memory, while a `with` block lasts.

After the block the memory belongs to the other side. So an array that outlives the block is an error, BufferError, and
nothing is sent or given back for it.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._native import ffi, lib
from .errors import HANDLER_FAILED, REPLIED, check
from .waiting import FOREVER, MORE, deadline_of

if TYPE_CHECKING:
    from .port import Port

_NOTHING = np.dtype("V1")  # of completions that are no reply


class _InPlace:
    """What Slots and Views share: an array that is read by fields and places."""

    _lane: Any = None
    _array: Any = None
    _memory: Any = None  # a weak reference to what the array, and every view of it, keeps alive, and nothing else does

    def __init__(self, port: "Port", count: int, timeout: Optional[float]) -> None:
        self._port, self._count, self._timeout = port, count, timeout

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
        if self._array is None:
            return len(self.array)  # which has the sentence
        return self._count

    def __getitem__(self, key: Any) -> Any:
        return (self.array if self._array is None else self._array)[key]

    def _begin(self) -> Any:
        if self._lane is not None:
            raise BufferError("a block of messages in place is entered once")
        lane = self._lane = self._port.own_lane()
        return lane.c

    def _show(self, given: Any, dtype: Any) -> Any:
        """The array of what was given."""
        count, stride = given.count, given.stride
        memory = ffi.buffer(given.first, stride * (count - 1) + dtype.itemsize)
        self._memory, self._count = weakref.ref(memory), count
        array = self._array = np.ndarray((count,), dtype, memory, 0, (stride,))
        return array

    def _leave(self) -> bool:
        """Ends the block. False while somebody has an array of it, which the port remembers: the ring stays mapped then."""
        self._array = None
        if self._memory() is None:
            return True
        self._port.leaked(self._memory)
        return False


class Slots(_InPlace):
    """Requests that are written where the device reads them. The end of the block sends all of them."""

    def __setitem__(self, key: Any, value: Any) -> None:
        (self.array if self._array is None else self._array)[key] = value

    def __enter__(self) -> "Slots":
        kind = self._port.request
        slots = ffi.new("gyrepy_slots *")
        c = self._begin()
        try:
            least = kind.least if kind.tail else 0
            end = FOREVER if self._timeout is None else deadline_of(self._timeout)
            status = lib.gyrepy_reserve(c, kind.size, least, self._count, slots, end)
            while status == MORE:
                status = lib.gyrepy_reserve(c, kind.size, least, self._count, slots, end)
            if status:
                check(status)
            self._show(slots, kind.dtype)
        except BaseException:
            if slots.count:
                lib.gyrepy_commit(c, 0)
            raise
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        free = self._leave()
        send = free and kind is None
        status = lib.gyrepy_commit(self._lane.c, self._count if send else 0)
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

    def __enter__(self) -> "Views":
        run = ffi.new("gyrepy_views *")
        c = self._begin()
        try:
            end = FOREVER if self._timeout is None else deadline_of(self._timeout)
            status = lib.gyrepy_views_peek(c, self._count, run, end)
            while status == MORE:
                status = lib.gyrepy_views_peek(c, self._count, run, end)
            if status:
                check(status)
            self._look(run)
        except BaseException:
            if run.count:
                lib.gyrepy_release_views(c, 0)
            raise
        return self

    def _look(self, run: Any) -> None:
        kind = self._port.reply
        length = run.length
        self.index = run.index
        outcome = self.outcome = run.outcome
        dtype = _NOTHING
        if outcome == REPLIED:
            self.replied = True
            if length >= kind.size:
                dtype = kind.dtype
            elif length:
                dtype = np.dtype(("V", length))
            if kind.tail and run.count == 1:
                self.message = kind.unpack(ffi.buffer(run.first, length), self._lane)
        elif outcome == HANDLER_FAILED:
            text = bytes(ffi.buffer(run.first + 4, 44))  # gyre_failure of ring_layout.h
            self.failure = text.split(b"\0")[0].decode("utf-8", "replace")
        self._show(run, dtype).setflags(False)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        free = self._leave()
        status = lib.gyrepy_release_views(self._lane.c, self._count if free and kind is None else 0)
        if status:
            check(status)
        if not free and kind is None:
            raise BufferError(
                "an array of the completions outlives its `with` block, so none was given back: "
                "copy what is needed, and drop the array (del) inside the block"
            )
