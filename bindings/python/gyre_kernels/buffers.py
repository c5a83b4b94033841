# SPDX-License-Identifier: Apache-2.0
"""Memory on a device, for handlers that name it (GYRE_BUFFERS)."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

import numpy as np

from ._native import ffi, lib
from .errors import ClosedError, InvalidError, UnimplementedError, check, text_of
from .given import Single, Users, text_for, whole

if TYPE_CHECKING:
    from .runtime import Runtime


def _items(dtype: Any) -> Any:
    """The type of items that are plain memory. Objects of Python are pointers, which no device may give back."""
    kind = np.dtype(dtype)
    if kind.hasobject or kind.itemsize == 0:
        raise TypeError(f"a buffer has items of plain memory: expected a type of numbers, found {kind}")
    return kind


def array_of(what: str, content: Any, other: str = "") -> Any:
    """The content as an array that lies side by side, and has plain memory."""
    if isinstance(content, (bytes, bytearray)):
        return np.frombuffer(content, np.uint8)
    if not isinstance(content, np.ndarray) and hasattr(content, "__dlpack__"):
        content = np.from_dlpack(content)
    array = np.ascontiguousarray(content)
    if array.dtype.kind not in "biufcV" or array.dtype.hasobject or isinstance(content, (bool, int, float, complex)):
        raise TypeError(f"{what}: expected {other}bytes, or an array of numbers, found {type(content).__name__}")
    native = array.dtype.newbyteorder("=")  # as handlers read it
    return array if array.dtype == native else array.astype(native)


class Buffer(Single):
    """A buffer of a device, zeroed. Uploads and downloads work while kernels use it."""

    def __init__(self, runtime: "Runtime", size: int, backend: Optional[str], device: int) -> None:
        out = ffi.new("gyre_buffer **")
        kept = text_for("backend", backend or None)
        device = whole("device", device, 0, 2**32 - 1)
        check(lib.gyre_buffer_alloc(runtime.pointer(), kept, device, size, out))
        self._pointer: Any = out[0]
        self._users = Users()
        self._runtime = runtime
        self.size = size
        self.dtype: Any = np.dtype(np.uint8)  # of the items that `array`, __array__ and __dlpack__ give
        self._held = 0

    def pointer(self) -> Any:
        pointer = self._pointer
        if pointer is None:
            raise ClosedError("the buffer was freed")
        self._runtime.pointer()  # one that is being closed frees it
        return pointer

    def users(self) -> Users:
        """For whoever uses `pointer`, around that."""
        return self._users

    def upload(self, data: Any, offset: int = 0) -> None:
        """Copies an array, or bytes, into the buffer from byte `offset` on."""
        given = array_of("upload", data)
        view = ffi.from_buffer(given) if given.size else ffi.new("char[]", 0)
        begin = whole("offset", offset)
        with self._users:
            check(lib.gyre_buffer_upload(self.pointer(), begin, view, len(view)))

    def download(self, dtype: Any = np.uint8, offset: int = 0, count: int = -1) -> Any:
        """Copies `count` items (-1: all to the end) out of the buffer."""
        kind = _items(dtype)
        begin = whole("offset", offset)
        if begin > self.size:
            raise InvalidError(f"download: from byte {begin} on of a buffer of {self.size} bytes")
        there = (self.size - begin) // kind.itemsize
        count = whole("count", count, -1)
        if count * kind.itemsize > self.size:
            raise InvalidError(f"download: {count} items of {kind.itemsize} bytes from a buffer of {self.size} bytes")
        out = np.empty(there if count < 0 else count, kind)
        if out.nbytes:
            view = ffi.from_buffer(out)
            with self._users:
                check(lib.gyre_buffer_download(self.pointer(), begin, view, out.nbytes))
        return out

    # ---- in place ----

    def array(self) -> Any:
        """The buffer's own memory as an array of `dtype`, without a copy: on the CPU backend. What is stored there, handlers see
        from their next message on. The buffer stays while the array, or a view of it, is there. BufferError where the device
        has memory of its own."""
        items = _items(self.dtype)
        place = self._hold()
        try:
            if not place.host:
                raise BufferError(f"the memory of backend '{text_of(place.backend)}' is not memory of this process: download it")
            # every view that NumPy makes keeps `raw` alive, and its end lets the buffer go
            raw: Any = np.frombuffer(ffi.buffer(place.host, self.size), np.uint8)
        except BaseException:
            self._let_go()
            raise
        weakref.finalize(raw, self._let_go)
        return np.ndarray((self.size // items.itemsize,), items, buffer=raw)

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        """For CuPy and its like: the memory of an NVIDIA GPU, without a copy. The buffer must not be freed while it is in use there;
        whoever takes the interface keeps this object. AttributeError on other backends."""
        try:
            place = self._hold()
        except (InvalidError, UnimplementedError) as error:
            raise AttributeError(f"__cuda_array_interface__: {error}") from None
        try:
            if text_of(place.backend) != "cuda" or not place.address:
                raise AttributeError(f"__cuda_array_interface__: the buffer is on backend '{text_of(place.backend)}'")
            shape = (self.size // self.dtype.itemsize,)
            return {"shape": shape, "typestr": self.dtype.str, "data": (int(place.address), False), "version": 3, "stream": None}
        finally:
            self._let_go()

    def _hold(self) -> Any:
        place = ffi.new("gyre_buffer_place *", {"size": ffi.sizeof("gyre_buffer_place")})
        with self._users:
            check(lib.gyre_buffer_hold(self.pointer(), place))
            self._held += 1
        return place

    def _let_go(self) -> None:
        self._held -= 1
        if self._pointer is not None:
            lib.gyre_buffer_let_go(self._pointer)

    @property
    def held(self) -> bool:
        """Whether an array of `array` is still there, or one that was taken by DLPack."""
        return self._held > 0

    # ---- for other libraries ----

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """The buffer for NumPy: a copy, or with copy=False its own memory."""
        items = self.array() if copy is False else self.download(self.dtype)
        if dtype is None or items.dtype == dtype:
            return items
        if copy is False:
            raise ValueError(f"a buffer of {self.dtype} as {np.dtype(dtype)} is a copy: copy=False cannot be had")
        return items.astype(dtype)

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Optional[bool] = None
    ) -> Any:
        """The buffer for whoever takes DLPack: its own memory where that is memory of this process, else a copy. copy=True asks for
        a copy, copy=False for none."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"a buffer is given as memory of the host, found the device {tuple(dl_device)} asked for")
        if copy is True:
            return self.download(self.dtype).__dlpack__()
        try:
            return self.array().__dlpack__()
        except (BufferError, InvalidError, UnimplementedError):
            if copy is False:
                raise
        return self.download(self.dtype).__dlpack__()

    def __dlpack_device__(self) -> Tuple[int, int]:
        """Memory of the host: kDLCPU."""
        return (1, 0)

    def fill(self, byte: int = 0, offset: int = 0, size: int = -1) -> None:
        """Sets bytes of the buffer; a size of -1: all to the end."""
        begin, length = whole("offset", offset), whole("size", size, -1)
        length = max(self.size - begin, 0) if length < 0 else length
        value = whole("byte", byte, 0, 255)
        with self._users:
            check(lib.gyre_buffer_fill(self.pointer(), begin, value, length))

    def copy_from(self, source: "Buffer", size: int = -1, offset: int = 0, source_offset: int = 0) -> None:
        """Copies from another buffer of the same device, within the device where it can."""
        if not isinstance(source, Buffer):
            raise TypeError(f"copy_from: expected a buffer, found {type(source).__name__}: upload takes arrays and bytes")
        begin, source_begin, length = whole("offset", offset), whole("source_offset", source_offset), whole("size", size, -1)
        length = max(min(self.size - begin, source.size - source_begin), 0) if length < 0 else length
        with self._users, source._users:
            check(lib.gyre_buffer_copy(self.pointer(), begin, source.pointer(), source_begin, length))

    def free(self) -> None:
        """Frees the memory; InvalidError while a kernel that runs has it bound, BufferError while an array in place is there."""
        with self._runtime.users():  # its close waits for this, or frees it itself
            if self._pointer is not None:
                self._runtime.pointer()
            pointer, self._pointer = self._pointer, None
            if pointer is None:
                return
            try:
                self.check_free()
                check(lib.gyre_buffer_free(pointer))
            except BaseException:
                self._pointer = pointer
                raise
            self._runtime.forget(self)

    def check_free(self) -> None:
        """Waits for the calls of other threads. BufferError while somebody has the buffer's memory."""
        self._users.wait()
        if self._held:
            raise BufferError("the buffer cannot be freed: an array of its memory is still there (del it, or copy what is needed)")

    def forget(self) -> None:
        """For a runtime that is being closed, which frees the memory itself."""
        self._pointer = None
