# SPDX-License-Identifier: Apache-2.0
"""Kernels that several programs use: the door of the program that has them, and the way in for others."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Dict, Optional

from ._native import ffi, lib
from .errors import ClosedError, check, text_of
from .given import Single, Users, text_for, whole
from .lanes import Lane, Lanes, open_queue
from .port import Port
from .types import MessageType
from .waiting import FOREVER, deadline_of, wait_aside


class Server(Single):
    """An open door: other programs attach to the kernels of this one by name."""

    def __init__(self, runtime: Any, path: Optional[str], mode: int, clients_max: int) -> None:
        kept = text_for("path", path or None)
        desc = ffi.new("gyre_serve_desc *", {"size": ffi.sizeof("gyre_serve_desc")})
        desc.path, desc.mode, desc.clients_max = kept, whole("mode", mode, 0, 0o777), whole("clients_max", clients_max, 0, 2**31 - 1)
        out = ffi.new("gyre_server **")
        check(lib.gyre_serve(runtime, desc, out))
        self._pointer: Any = out[0]
        self._users = Users()
        self._closing = threading.RLock()

    @property
    def is_closed(self) -> bool:
        return self._pointer is None

    def info(self) -> Dict[str, Any]:
        """The socket's path, and how many clients there are and were."""
        info = ffi.new("gyre_server_info *", {"size": ffi.sizeof("gyre_server_info")})
        with self._users:
            pointer = self._pointer
            if pointer is None:
                raise ClosedError("the server was closed")
            check(lib.gyre_server_info_get(pointer, info))
        told: Dict[str, Any] = {key: int(getattr(info, key)) for key in ("attached", "admitted", "refused")}
        told["path"] = text_of(info.path)
        return told

    def close(self) -> None:
        """Ends every attachment and removes the socket. A second call does nothing."""
        with self._closing:  # whoever comes second waits: the runtime's close, for example
            pointer, self._pointer = self._pointer, None
            if pointer is not None:
                self._users.wait()
                lib.gyre_server_close(pointer)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Attachment(Port):
    """A kernel, or a pipeline, of another program."""

    def __init__(
        self,
        name: str,
        path: Optional[str] = None,
        *,
        timeout: Optional[float] = 5.0,
        capacity: int = 0,
        client: Optional[str] = None,
        reconnect: bool = False,
    ) -> None:
        if name is None:
            raise TypeError("attach: expected the name of a kernel, found None")
        texts = [text_for("path", path or None), text_for("client", client or None), text_for("name", name)]
        slots = whole("capacity", capacity, 0, 2**32 - 1)

        def open_one() -> Any:
            desc = ffi.new("gyre_attach_desc *", {"size": ffi.sizeof("gyre_attach_desc")})
            desc.path, desc.client, desc.capacity, desc.reconnect = texts[0], texts[1], slots, reconnect
            desc.deadline_ns = FOREVER if timeout is None else deadline_of(timeout) or 1
            def attach() -> Any:
                return open_queue(lambda out: lib.gyre_attach(texts[2], desc, out))

            return wait_aside(attach, lambda: None, lib.gyre_queue_close)

        first = open_one()
        kinds = (ffi.new("gyre_type **"), ffi.new("gyre_type **"))
        lib.gyre_queue_types(first, ffi.cast("const gyre_type **", kinds[0]), ffi.cast("const gyre_type **", kinds[1]))
        request, reply = MessageType(kinds[0][0]), MessageType(kinds[1][0])
        more = None if client else lambda: Lane(open_one(), reply.size)  # at most one client of a name is attached
        super().__init__(name, request, reply, Lanes(name, Lane(first, reply.size), more))
        self._is_open, self._process = True, os.getpid()
        self._closing = threading.RLock()  # a signal's handler may close it in the midst of its close

    def close(self) -> None:
        """Lets go of the kernel; calls of other threads are waited for. A second call does nothing."""
        self._check_places()
        with self._closing:
            if not self._is_open:
                return
            self._lanes.close()
            self._async.close()
            self._lanes.wait()
            was_open, self._is_open = self._is_open, False
            for lane in self._lanes.lanes() if was_open else []:
                lib.gyre_queue_close(lane.c.queue)

    def __del__(self) -> None:
        """One that nobody has any more is closed: unlike a kernel, it serves nobody else. A child that was forked leaves it alone."""
        if getattr(self, "_is_open", False) and self._process == os.getpid() and not sys.is_finalizing():
            self.close()

    def __repr__(self) -> str:
        return f"<gyre attachment {self.name}{'' if self._is_open else ', closed'}>"

    def __enter__(self) -> "Attachment":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
