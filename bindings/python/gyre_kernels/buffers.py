# SPDX-License-Identifier: Apache-2.0
"""Memory on a device, for handlers that name it (GYRE_BUFFERS)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Tuple

import numpy as np

from ._native import ffi, lib
from .errors import ClosedError, check

if TYPE_CHECKING:
    from .runtime import Runtime


class Buffer:
    """A buffer of a device, zeroed. Uploads and downloads work while kernels use it."""

    def __init__(self, runtime: "Runtime", size: int, backend: Optional[str], device: int) -> None:
        out = ffi.new("gyre_buffer **")
        name = backend.encode() if backend else ffi.NULL
        kept = ffi.new("char[]", name) if backend else ffi.NULL
        check(lib.gyre_buffer_alloc(runtime.pointer(), kept, device, size, out))
        self._pointer: Any = out[0]
        self.size = size
        self.dtype: Any = np.dtype(np.uint8)  # of the items that __array__ and __dlpack__ give

    def pointer(self) -> Any:
        if self._pointer is None:
            raise ClosedError("the buffer was freed")
        return self._pointer

    def upload(self, data: Any, offset: int = 0) -> None:
        """Copies an array, or bytes, into the buffer from byte `offset` on."""
        given = np.ascontiguousarray(data) if isinstance(data, np.ndarray) else data
        view = ffi.from_buffer(given)
        check(lib.gyre_buffer_upload(self.pointer(), offset, view, len(view)))

    def download(self, dtype: Any = np.uint8, offset: int = 0, count: int = -1) -> Any:
        """Copies `count` items (-1: all to the end) out of the buffer."""
        kind = np.dtype(dtype)
        there = max(self.size - offset, 0) // max(kind.itemsize, 1)
        out = np.empty(there if count < 0 else count, kind)
        if out.nbytes:
            view = ffi.from_buffer(out)
            check(lib.gyre_buffer_download(self.pointer(), offset, view, out.nbytes))
        return out

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """A copy of the buffer for NumPy."""
        self._refuse_no_copy(copy)
        items = self.download(self.dtype)
        return items if dtype is None else items.astype(dtype)

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Optional[bool] = None
    ) -> Any:
        """A copy of the buffer in memory of the host, for whoever takes DLPack."""
        self._refuse_no_copy(copy)
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"a buffer is given as memory of the host, found the device {tuple(dl_device)} asked for")
        return self.download(self.dtype).__dlpack__()

    def __dlpack_device__(self) -> Tuple[int, int]:
        """Memory of the host: kDLCPU."""
        return (1, 0)

    def _refuse_no_copy(self, copy: Optional[bool]) -> None:
        if copy is False:
            raise BufferError("the memory of a device is copied: copy=False cannot be had")

    def fill(self, byte: int = 0, offset: int = 0, size: int = -1) -> None:
        """Sets bytes of the buffer; a size of -1: all to the end."""
        check(lib.gyre_buffer_fill(self.pointer(), offset, byte, self.size - offset if size < 0 else size))

    def copy_from(self, source: "Buffer", size: int = -1, offset: int = 0, source_offset: int = 0) -> None:
        """Copies from another buffer of the same device, within the device where it can."""
        length = min(self.size - offset, source.size - source_offset) if size < 0 else size
        check(lib.gyre_buffer_copy(self.pointer(), offset, source.pointer(), source_offset, length))

    def free(self) -> None:
        """Frees the memory; InvalidError while a kernel that runs has it bound."""
        if self._pointer is not None:
            check(lib.gyre_buffer_free(self._pointer))
            self._pointer = None

    def forget(self) -> None:
        """For a runtime that is being closed, which frees the memory itself."""
        self._pointer = None
