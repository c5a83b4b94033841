# SPDX-License-Identifier: Apache-2.0
"""The runtime: configuration and devices, the kernels that are launched on them, and the door for other programs."""

from __future__ import annotations

import atexit
import contextlib
import functools
import logging
import os
import threading
import time
from collections.abc import Mapping as AnyMapping
from typing import Any, Callable, Dict, List, Mapping, Optional, Set, Union

import numpy as np

from ._native import ffi, lib
from .attachment import Server
from .buffers import Buffer, array_of
from .compilers import offer_zig
from .errors import ClosedError, InvalidError, check, text_of
from .given import Single, Users, drop, text_for, whole
from .histograms import Histogram, histograms_of
from .lanes import Lane, Lanes, open_queue
from .pipeline import Pipeline
from .port import Port
from .sources import file_of
from .types import MessageType
from .waiting import deadline_of, wait_aside, wait_sliced

Log = Callable[[int, str], None]
_LEVELS = {1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO, 4: logging.DEBUG}
_NUMBER_MAX = 2**32 - 1
_logger = logging.getLogger("gyre")


def _log_to_python(level: int, text: str) -> None:
    _logger.log(_LEVELS.get(level, logging.DEBUG), "%s", text)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def gyrepy_log(context: Any, level: int, text: Any) -> None:
    """Passes a line of Gyre's log on, in whichever thread it is told."""
    log = ffi.from_handle(context)
    log(level, text_of(text))


# Strong references: threads of Gyre log into a runtime until it is closed, and a collector may not close it, because it may run
# inside of such a log line.
_open_runtimes: "Set[Runtime]" = set()


class Runtime(Single):
    """An open runtime. As a context manager it closes itself."""

    def __init__(
        self,
        backend: Optional[str] = None,
        settings: Union[Mapping[str, Any], None] = None,
        config: Union[str, "os.PathLike[str]", None] = None,
        log: Optional[Log] = None,
    ) -> None:
        self._pointer: Any = None
        if log is not None and not callable(log):
            raise TypeError(f"log: expected a function of a level and a text, found {type(log).__name__}")
        offer_zig()
        self._log = ffi.new_handle(log or _log_to_python)
        self._kernels: List[Kernel] = []
        self._buffers: Set[Buffer] = set()
        self._users = Users()
        self._closing = threading.RLock()  # a signal's handler may close it in the midst of its close
        self._servers: List[Server] = []
        self._pipelines: List[Pipeline] = []
        given = _mapping("settings", settings).items()
        texts = [text_for("settings", f"{key}={_setting(value)}") for key, value in given]
        array = ffi.new("char *[]", [*texts, ffi.NULL])
        path = None if config is None else os.fsdecode(config)
        names = (text_for("config", path), text_for("backend", backend))
        desc = ffi.new("gyre_open_desc *", {"size": ffi.sizeof("gyre_open_desc")})
        desc.config_path, desc.backend = names
        desc.settings = ffi.cast("const char *const *", array)
        desc.log, desc.log_context = lib.gyrepy_log, self._log
        out = ffi.new("gyre_runtime **")
        try:
            check(lib.gyre_open(desc, out))
            self._pointer = out[0]
            self._process = os.getpid()
            _open_runtimes.add(self)
        except BaseException:
            if out[0]:  # a signal came: nobody would close it, and it logs into what goes with this object
                _open_runtimes.discard(self)
                lib.gyre_close(out[0])
            raise

    def pointer(self) -> Any:
        if self._pointer is None:
            raise ClosedError("the runtime was closed")
        return self._pointer

    def users(self) -> Users:
        """For whoever uses `pointer`, around that."""
        return self._users

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- what it has ----

    def launch(
        self,
        source: Union[str, "os.PathLike[str]", None] = None,
        *,
        kernel: Optional[str] = None,
        name: Optional[str] = None,
        backend: Optional[str] = None,
        device: int = 0,
        lanes: int = 0,
        blocks: int = 0,
        active: bool = True,
        state: Any = None,
        buffers: Union[Mapping[str, Buffer], None] = None,
    ) -> "Kernel":
        """Compiles a handler, or takes it from the cache, and makes it resident.

        `source` is a text of C, the path of a file, or "FILE.gyre.c:KERNEL"; None: as [kernel.NAME] is configured.
        `state` begins an actor: bytes, or an array of the state's type. `buffers` binds the kernel's buffers by name.
        """
        path = None if source is None else file_of(source)
        given = {"source": path, "kernel": kernel, "name": name, "backend": backend}
        texts = {what: text_for(what, text) for what, text in given.items()}
        desc = ffi.new("gyre_launch_desc *", {"size": ffi.sizeof("gyre_launch_desc"), **texts})
        desc.device = whole("device", device, 0, _NUMBER_MAX)
        desc.lanes, desc.blocks = whole("lanes", lanes, 0, _NUMBER_MAX), whole("blocks", blocks, 0, _NUMBER_MAX)
        desc.start_inactive = not active
        begun = b"" if state is None else _state_bytes(state)
        if state is not None:
            desc.state, desc.state_size = ffi.from_buffer(begun), len(begun)
        bound = [(text_for("buffers", key), _buffer(key, value)) for key, value in _mapping("buffers", buffers).items()]
        names = ffi.new("gyre_binding_name[]", max(len(bound), 1))
        desc.bindings, desc.binding_count = names, len(bound)
        out = ffi.new("gyre_kernel **")
        launched: Optional[Kernel] = None
        try:
            with self._users, contextlib.ExitStack() as inside:
                for place, (key, buffer) in zip(names, bound):
                    inside.enter_context(buffer.users())
                    place.name, place.buffer = key, buffer.pointer()
                try:
                    check(lib.gyre_launch(self.pointer(), desc, out))
                    launched = Kernel(self, out[0])
                    self._kernels.append(launched)
                except BaseException:
                    if out[0] and launched not in self._kernels:  # a signal came: nobody else could end it
                        launched = None
                        lib.gyre_kernel_release(out[0])
                    raise
            return launched
        except BaseException:
            if launched:  # a signal came, and the caller will not have it
                launched.close()
            raise

    def buffer(self, size_or_array: Any, *, backend: Optional[str] = None, device: int = 0) -> Buffer:
        """Memory on a device: of a size in bytes, or with the content of an array, of NumPy or of whoever gives DLPack."""
        if isinstance(size_or_array, (int, np.integer)) and not isinstance(size_or_array, bool):
            given, size = None, whole("buffer", size_or_array, 1)
        else:
            given = array_of("buffer", size_or_array, "a size in bytes, ")
            size = given.nbytes
        with self._users:
            made = Buffer(self, size, backend, device)
            self._buffers.add(made)
        if given is not None:
            made.upload(given)
            made.dtype = given.dtype
        return made

    def pipeline(self, name: str, entry: Optional[str] = None) -> Pipeline:
        """Joins kernels to the pipeline that [pipeline.NAME] configures, and launches those that are not yet. `entry`
        names one of its entries; None: the first."""
        with self._users:
            joined = Pipeline(self.pointer(), name, entry)
            self._pipelines.append(joined)
            drop(self._pipelines, lambda one: one.is_closed)
        return joined

    def serve(self, path: Optional[str] = None, *, mode: int = 0, clients_max: int = 0) -> Server:
        """Lets other programs attach to the kernels of this one."""
        with self._users:
            server = Server(self.pointer(), path, mode, clients_max)
            self._servers.append(server)
            drop(self._servers, lambda one: one.is_closed)
        return server

    def load_types(self, file: Union[str, "os.PathLike[str]"], *, backend: Optional[str] = None) -> Dict[str, MessageType]:
        """Reads the message types of a header, a kernel file or a compiled file, and returns all that are known now."""
        texts = text_for("backend", backend), text_for("file", file_of(file))
        with self._users:
            check(lib.gyre_types_load(self.pointer(), *texts))
        return self.types()

    def types(self) -> Dict[str, MessageType]:
        """The message types that the runtime knows, by name."""
        with self._users:
            count = lib.gyre_types(self.pointer(), ffi.NULL, 0)
            found = ffi.new("const gyre_type *[]", max(count, 1))
            count = min(count, lib.gyre_types(self.pointer(), found, count))
            kinds = [MessageType(found[i]) for i in range(count)]
        return {kind.name: kind for kind in kinds}

    def backend(self, name: Optional[str] = None) -> Dict[str, str]:
        """The backend that a launch would use, and why."""
        choice = ffi.new("gyre_backend_choice *", {"size": ffi.sizeof("gyre_backend_choice")})
        with self._users:
            check(lib.gyre_backend_choose(self.pointer(), text_for("name", name), choice))
        return {"name": text_of(choice.name), "why": text_of(choice.why)}

    # ---- the end ----

    def check_unused(self, kernel: "Kernel") -> None:
        """InvalidError for a kernel of a pipeline that is open, which would send to what is gone."""
        for pipeline in self._pipelines:
            if pipeline.uses(kernel.name):
                raise InvalidError(f"kernel '{kernel.name}' cannot be closed: the pipeline '{pipeline.name}' is open and uses it; close that first")

    def forget(self, ended: Union["Kernel", Buffer]) -> None:
        """For a kernel or a buffer that ended by itself."""
        if isinstance(ended, Buffer):
            self._buffers.discard(ended)
        elif ended in self._kernels:
            self._kernels.remove(ended)

    def close(self) -> None:
        """Terminates every kernel without draining and frees everything. A second call does nothing."""
        with self._closing:
            if self._pointer is None:
                return
            pointer, self._pointer = self._pointer, None  # nothing else begins
            try:
                self._users.wait()
                for buffer in list(self._buffers):
                    buffer.check_free()
                for server in self._servers:
                    server.close()
                for pipeline in self._pipelines:
                    pipeline.close()
                for kernel in list(self._kernels):
                    kernel.close()
            except BaseException:  # memory in place is in use, or a signal came
                self._pointer = pointer
                raise
            for buffer in list(self._buffers):
                buffer.forget()
            _open_runtimes.discard(self)
            lib.gyre_close(pointer)


def _mapping(what: str, given: Any) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, AnyMapping):
        raise TypeError(f"{what}: expected a mapping, found {type(given).__name__}")
    return given or {}


def _buffer(name: str, given: Any) -> Buffer:
    if not isinstance(given, Buffer):
        raise TypeError(f"buffers: expected a buffer for '{name}', found {type(given).__name__}: rt.buffer makes one")
    return given


def _state_bytes(state: Any) -> bytes:
    """The bytes of an actor's first state; bytes() of a number would be so many zeros."""
    if isinstance(state, (np.ndarray, np.generic)):
        return bytes(state.tobytes())
    if isinstance(state, (bytes, bytearray, memoryview)):
        return bytes(state)
    raise TypeError(f"state: expected bytes or a NumPy value of the state's type, found {type(state).__name__}")


def _setting(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _close_all() -> None:
    """At the end of the program: threads of Gyre that log need Python's interpreter."""
    for runtime in list(_open_runtimes):
        try:
            if runtime._process == os.getpid():
                runtime.close()
        except BufferError:
            pass  # an array of messages in place is still there; the memory goes with the process


atexit.register(_close_all)


class Kernel(Port):
    """A launched kernel: call it. `request`, `reply` and `state` are its types."""

    def __init__(self, runtime: Runtime, pointer: Any) -> None:
        self._runtime, self._pointer = runtime, pointer
        self._closing = threading.RLock()  # a signal's handler may close it in the midst of its close
        self._c = ffi.new("gyrepy_kernel *", {"kernel": pointer})
        info = self._info()
        request, reply = MessageType(info.request), MessageType(info.reply)
        self.state: MessageType = MessageType(info.state_type)
        first = Lane(lib.gyre_kernel_queue(pointer), reply.size)
        name = text_of(info.name)
        super().__init__(name, request, reply, Lanes(name, first, lambda: self._open_lane(reply)))

    def _open_lane(self, reply: MessageType) -> Lane:
        desc = ffi.new("gyre_queue_desc *", {"size": ffi.sizeof("gyre_queue_desc")})
        return Lane(open_queue(lambda out: lib.gyre_queue_open(self.pointer(), desc, out)), reply.size)

    def pointer(self) -> Any:
        if self._pointer is None:
            raise ClosedError(f"kernel '{self.name}' was closed")
        return self._pointer

    def __repr__(self) -> str:
        if self._pointer is None:
            return f"<gyre kernel {self.name}, closed>"
        info = self.info()
        return f"<gyre kernel {self.name} on {info['backend']}, {info['state']}>"

    def __enter__(self) -> "Kernel":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _info(self) -> Any:
        info = ffi.new("gyre_kernel_info *", {"size": ffi.sizeof("gyre_kernel_info")})
        check(lib.gyrepy_kernel_info(self._c, info))
        return info

    def info(self) -> Dict[str, Any]:
        """What the kernel says of itself (gyre_kernel_info)."""
        info = self._info()
        told: Dict[str, Any] = {key: text_of(getattr(info, key)) for key in ("name", "kernel", "backend", "device")}
        told["state"] = text_of(lib.gyre_kernel_state_word(info.state))
        told["health"] = text_of(lib.gyre_kernel_health_word(info.health))
        for key in ("lanes", "blocks", "queues", "handled", "failed", "queued", "restarts", "stalls", "relaunches", "checkpoints"):
            told[key] = int(getattr(info, key))
        told["cache_hit"] = bool(info.cache_hit)
        return told

    def histograms(self) -> Dict[str, Histogram]:
        """How long messages took, over all queues of the kernel: "waited", "handled", "returned" and "round_trip", of those
        that came so far. Only of a kernel with `timing`, and without `observe.enabled = false`; else it is empty."""
        self._info()
        return histograms_of(self.name)

    def read_state(self, key: Any = None) -> Any:
        """The state that an actor keeps between messages, at a message boundary. Of a keyed actor: that of `key`, a number, a
        uuid.UUID, or a text for a key of bytes; NotFoundError when no message of it came, or it left."""
        room = ffi.new("char[]", max(self.state.size, 1))
        if key is None:
            check(lib.gyrepy_kernel_state_read(self._c, room, self.state.size))
        else:
            check(lib.gyrepy_kernel_key_read(self._c, text_for("key", str(key)), room, self.state.size))
        return self.state.unpack(ffi.buffer(room, self.state.size))

    def activate(self, timeout: Optional[float] = 10.0) -> None:
        """Serves the queues again."""
        wait_sliced(functools.partial(lib.gyrepy_kernel_activate, self._c), deadline_of(timeout))

    def deactivate(self, timeout: Optional[float] = 10.0) -> None:
        """Stops at the next message boundary and keeps what is queued."""
        wait_sliced(functools.partial(lib.gyrepy_kernel_deactivate, self._c), deadline_of(timeout))

    def terminate(self, drain: float = 0.0) -> int:
        """Refuses further requests, works off what is queued for `drain` seconds at most, and ends. Returns how many
        requests were left."""
        left = ffi.new("uint64_t *")
        end = deadline_of(drain)

        def terminate() -> int:
            check(lib.gyrepy_kernel_terminate(self._c, end, left))
            return int(left[0])

        def end_now() -> None:
            lib.gyrepy_kernel_terminate(self._c, 0, ffi.NULL)  # the earliest deadline holds

        return int(wait_aside(terminate, end_now, lambda _: None)) if end else terminate()

    def close(self) -> None:
        """Terminates the kernel and frees it. Calls of other threads end with ClosedError first."""
        self._check_places()
        with self._closing:
            if self._pointer is None:
                return
            self._runtime.check_unused(self)
            self._lanes.close()
            lib.gyrepy_kernel_terminate(self._c, 0, ffi.NULL)
            self._async.close()
            self._lanes.wait()
            while not lib.gyrepy_close(ffi.addressof(self._c, "gate")):
                time.sleep(0.001)
            pointer, self._pointer = self._pointer, None
            if pointer is None:  # such a handler was here
                return
            lib.gyre_kernel_release(pointer)
            self._runtime.forget(self)  # last: the runtime's close waits for the kernels that it knows
