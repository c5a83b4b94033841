# SPDX-License-Identifier: Apache-2.0
"""Messages in place: NumPy arrays on the ring's own memory, while a `with` block lasts.

After the block the memory belongs to the other side. So an array that outlives the block is an error, BufferError, and
nothing is sent or given back for it.

Making an array costs more than slicing one. So a block is a slice of an array that spans all of the ring that was seen (gyrepy_window
of native/batch.h), and that nobody else has outside of blocks: whatever shows messages keeps it, by NumPy's `base`. What is done
for each block is in native/block.c, which calls the methods below for the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Tuple

import numpy as np

from ._block import Block
from ._native import ffi
from .errors import HANDLER_FAILED, REPLIED, check
from .given import Single
from .waiting import deadline_of

if TYPE_CHECKING:
    from .port import Port

_NOTHING = np.dtype("V1")  # of completions that are no reply
_NEVER = 2**63  # bytes that no reply has


def _array_on(first: int, count: int, stride: int, dtype: Any) -> Any:
    memory = ffi.buffer(ffi.cast("char *", first), stride * (count - 1) + dtype.itemsize)
    return np.ndarray((count,), dtype, memory, 0, (stride,))


class _InPlace(Single, Block):
    """What Slots and Views share: an array that is read by fields and places."""

    _OUTLIVED = ""

    def __init__(self, port: "Port", timeout: Optional[float], is_views: bool, size: int, least: int, most: int) -> None:
        super().__init__(port._lanes, port._leaked, is_views, size, least, most, timeout is not None)
        self._port, self._timeout = port, timeout
        self._lane: Any = None  # of the last block

    def _own_lane(self) -> Tuple[Any, int]:
        self._lane = self._port._lanes.own()
        return self._lane, int(ffi.cast("uintptr_t", self._lane.c))

    def _deadline(self) -> int:
        return deadline_of(self._timeout)

    def _outlived(self) -> None:
        raise BufferError(f"{self._OUTLIVED}: copy what is needed, and drop the array (del) inside the block")

    def _refused(self, status: int) -> None:
        check(status)

    @property
    def dtype(self) -> Any:
        return self.array.dtype


class Slots(_InPlace):
    """Requests that are written where the device reads them. The end of the block sends all of them."""

    _OUTLIVED = "an array of the reserved requests outlives its `with` block, so nothing was sent"

    def __init__(self, port: "Port", most: int, timeout: Optional[float]) -> None:
        kind = port.request
        super().__init__(port, timeout, False, kind.size, kind.least if kind.tail else 0, most)

    def _span(self, first: int, count: int, stride: int) -> Any:
        return _array_on(first, count, stride, self._port.request.dtype)


class Views(_InPlace):
    """Completions that are read where the device wrote them. The end of the block gives all of them back.

    All of them have one `outcome`; `index` is the number of the first. `replied`: the array has the replies. `failure`: the
    text of the first, when the handler failed them. A message with a tail comes alone where lengths differ; `message` has
    its texts and spans.
    """

    failure: Optional[str] = None
    message: Any = None
    _OUTLIVED = "an array of the completions outlives its `with` block, so none was given back"

    def __init__(self, port: "Port", most: int, timeout: Optional[float]) -> None:
        super().__init__(port, timeout, True, _NEVER if port.reply.tail else port.reply.size, 0, most)

    @property
    def replied(self) -> bool:
        return self.outcome == REPLIED

    def _span(self, first: int, count: int, stride: int) -> Any:
        array = _array_on(first, count, stride, self._port.reply.dtype)
        array.setflags(write=False)
        return array

    def _forget(self) -> None:
        self.failure = self.message = None

    def _look(self, first: int, count: int, stride: int, length: int) -> Any:
        """For what is no reply, or may be shorter than its type: an array of its own. Sets `message` and `failure`."""
        kind = self._port.reply
        dtype = _NOTHING
        if self.outcome == HANDLER_FAILED:
            text = bytes(ffi.buffer(ffi.cast("char *", first + 4), 44))  # gyre_failure of ring_layout.h
            self.failure = text.split(b"\0")[0].decode("utf-8", "replace")
        if self.replied and kind.tail and count == 1:
            self.message = kind.unpack(ffi.buffer(ffi.cast("char *", first), length), self._lane)
        if self.replied and length:
            dtype = kind.dtype if length >= kind.size else np.dtype(("V", length))
        array = _array_on(first, count, stride, dtype)
        array.setflags(write=False)
        return array
