# SPDX-License-Identifier: Apache-2.0
"""Messages in place: NumPy arrays on the ring's own memory, while a `with` block lasts.

After the block the memory belongs to the other side. So an array that outlives the block is an error, BufferError, and
nothing is sent or given back for it.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._native import ffi, lib
from .errors import HANDLER_FAILED, REPLIED, check
from .lanes import Lane
from .waiting import deadline_of, wait_sliced

if TYPE_CHECKING:
    from .port import Port


class _Place:
    """An array on foreign memory, and the knowledge whether anybody still has a view of it."""

    def __init__(self, address: Any, stride: int, count: int, dtype: Any, writable: bool) -> None:
        # every view that NumPy makes of the array keeps `raw` alive, and nothing else does
        raw: Any = np.frombuffer(ffi.buffer(ffi.cast("char *", address), stride * (count - 1) + dtype.itemsize), np.uint8)
        raw.flags.writeable = writable
        self._raw = weakref.ref(raw)
        self._array: Optional[Any] = np.ndarray((count,), dtype, buffer=raw, strides=(stride,))

    def array(self) -> Any:
        if self._array is None:
            raise BufferError("the messages in place are gone: their `with` block is over")
        return self._array

    def leave(self) -> bool:
        """Gives the own array up. False while somebody else has a view."""
        self._array = None
        return self._raw() is None


class _InPlace:
    """What Slots and Views share: an array that is read by fields and places."""

    _place: Optional[_Place] = None

    def __init__(self, port: "Port", count: int, timeout: Optional[float]) -> None:
        self._port, self._count, self._timeout = port, count, timeout
        self._lane: Any = None

    @property
    def array(self) -> Any:
        """All of it as one structured array; drop every view before the block ends."""
        if self._place is None:
            raise BufferError("messages in place are there inside of their `with` block alone")
        return self._place.array()

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def _begin(self) -> Lane:
        if self._place is not None or self._lane is not None:
            raise BufferError("a block of messages in place is entered once")
        self._lane = self._port.own_lane()
        self._port.begun()
        return self._lane  # type: ignore[no-any-return]

    def _leave(self) -> bool:
        """Ends the block. False while somebody has an array of it."""
        place = self._place
        assert place is not None
        free = place.leave()
        self._port.ended(None if free else place)
        return free


class Slots(_InPlace):
    """Requests that are written where the device reads them. The end of the block sends all of them."""

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = value

    def __enter__(self) -> "Slots":
        kind = self._port.request
        place, stride, granted = ffi.new("void **"), ffi.new("size_t *"), ffi.new("size_t *")
        least = kind.least if kind.tail else 0
        lane = self._begin()

        def reserve(end: int) -> int:
            granted[0] = self._count
            return int(lib.gyrepy_reserve(lane.c, kind.size, least, place, stride, granted, end))

        try:
            wait_sliced(reserve, deadline_of(self._timeout))
            self._count = int(granted[0])
            self._place = _Place(place[0], stride[0], self._count, kind.dtype, True)
        except BaseException:
            if place[0]:
                lib.gyrepy_commit(lane.c, 0)
            self._port.ended(None)
            raise
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        free = self._leave()
        send = free and kind is None
        check(lib.gyrepy_commit(self._lane.c, self._count if send else 0))
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
        lane = self._begin()
        try:
            step = functools.partial(lib.gyrepy_views_peek, lane.c, self._count, run)
            wait_sliced(step, deadline_of(self._timeout))
            self._look(run, lane)
        except BaseException:
            if run.count:
                lib.gyrepy_release_views(lane.c, 0)
            self._port.ended(None)
            raise
        return self

    def _look(self, run: Any, lane: Lane) -> None:
        kind = self._port.reply
        self._count, self.index, self.outcome = int(run.count), int(run.index), int(run.outcome)
        self.replied = self.outcome == REPLIED
        dtype = np.dtype("V1")
        if self.replied and run.length >= kind.size:
            dtype = kind.dtype
        elif self.replied and run.length:
            dtype = np.dtype(("V", run.length))
        if self.replied and kind.tail and self._count == 1:
            self.message = kind.unpack(ffi.buffer(ffi.cast("char *", run.first), run.length), lane)
        if self.outcome == HANDLER_FAILED:
            text = bytes(ffi.buffer(ffi.cast("char *", run.first) + 4, 44))  # gyre_failure of ring_layout.h
            self.failure = text.split(b"\0")[0].decode("utf-8", "replace")
        self._place = _Place(run.first, run.stride, self._count, dtype, False)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        free = self._leave()
        check(lib.gyrepy_release_views(self._lane.c, self._count if free and kind is None else 0))
        if not free and kind is None:
            raise BufferError(
                "an array of the completions outlives its `with` block, so none was given back: "
                "copy what is needed, and drop the array (del) inside the block"
            )
