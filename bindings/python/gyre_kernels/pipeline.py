# SPDX-License-Identifier: Apache-2.0
"""Kernels that send to kernels, used like one (docs/pipelines.md)."""

from __future__ import annotations

import threading
from typing import Any, Dict, List, Optional

from ._native import ffi, lib
from .errors import GyreTimeoutError, NotFoundError, check, text_of
from .given import text_for
from .lanes import Lane, Lanes, open_queue
from .port import Port
from .types import MessageType
from .waiting import deadline_of, wait_sliced


class Pipeline(Port):
    """An open pipeline: call it. A request has one reply, once everything that it caused is settled."""

    def __init__(self, runtime: Any, name: str, entry: Optional[str]) -> None:
        if name is None:
            raise TypeError("pipeline: expected the name of a pipeline, found None")
        kept = (text_for("name", name), text_for("entry", entry or None))
        desc = ffi.new("gyre_pipeline_desc *", {"size": ffi.sizeof("gyre_pipeline_desc"), "name": kept[0]})
        out = ffi.new("gyre_pipeline **")
        check(lib.gyre_pipeline_open(runtime, desc, out))
        pointer = self._pointer = out[0]
        self._closing = threading.RLock()  # a signal's handler may look at it, or close it, in the midst of the like

        def open_one() -> Any:
            queue = ffi.new("gyre_queue_desc *", {"size": ffi.sizeof("gyre_queue_desc")})
            return open_queue(lambda place: lib.gyre_pipeline_queue_open(pointer, kept[1], queue, place))

        try:
            first = open_one() if entry else lib.gyre_pipeline_queue(pointer)
        except BaseException:
            lib.gyre_pipeline_close(pointer, 0)
            raise
        kinds = (ffi.new("gyre_type **"), ffi.new("gyre_type **"))
        lib.gyre_queue_types(first, ffi.cast("const gyre_type **", kinds[0]), ffi.cast("const gyre_type **", kinds[1]))
        reply = MessageType(kinds[1][0])
        lanes = Lanes(name, Lane(first, reply.size), lambda: Lane(open_one(), reply.size))
        super().__init__(name, MessageType(kinds[0][0]), reply, lanes)
        self._members = {link[end] for link in self.links() for end in ("from", "to")}

    def uses(self, kernel: str) -> bool:
        """Whether it is open and sends to, or from, the kernel of this name."""
        return self._pointer is not None and kernel in self._members

    @property
    def is_closed(self) -> bool:
        return self._pointer is None

    def links(self) -> List[Dict[str, Any]]:
        """The links, in their order: what they join, and how many messages went through."""
        found: List[Dict[str, Any]] = []
        with self._closing:
            while self._pointer is not None:
                info = ffi.new("gyre_link_info *", {"size": ffi.sizeof("gyre_link_info")})
                try:
                    check(lib.gyre_pipeline_link(self._pointer, len(found), info))
                except NotFoundError:  # past the last one
                    break
                told: Dict[str, Any] = {key: text_of(getattr(info, key)) for key in ("name", "port", "to", "type", "topic", "key")}
                if info.talk == 1:
                    told["asks_for"] = text_of(info.answer)
                if info.talk == 2:
                    told["answers"] = True
                told["from"] = text_of(getattr(info, "from"))
                told.update({key: int(getattr(info, key)) for key in ("rings", "capacity", "bytes", "sent", "waiting", "missed")})
                found.append(told)
        return found

    def drain(self, timeout: Optional[float] = 10.0) -> None:
        """Takes no more requests, and waits until everything is settled; GyreTimeoutError when it is not in time."""
        left = ffi.new("uint64_t *")

        def step(end: int) -> int:
            with self._closing:
                return int(lib.gyre_pipeline_drain(self._pointer, end, left)) if self._pointer is not None else 0

        wait_sliced(step, deadline_of(timeout))

    def close(self, timeout: float = 0.0) -> None:
        """Takes no more requests, waits for `timeout` seconds until all is settled, and takes the links apart. The kernels
        stay. Calls that are left end with ClosedError."""
        self._check_places()
        if timeout:
            try:
                self.drain(timeout)
            except GyreTimeoutError:
                pass  # what is left ends with ClosedError
        with self._closing:
            if self._pointer is None:
                return
            self._lanes.close()
            self._async.close()
            self._lanes.wait()
            pointer, self._pointer = self._pointer, None
            if pointer is None:  # a signal's handler was here
                return
            status = lib.gyre_pipeline_close(pointer, 0)
            if status:
                self._pointer = pointer
            check(status)

    def __repr__(self) -> str:
        return f"<gyre pipeline {self.name}{'' if self._pointer is not None else ', closed'}>"

    def __enter__(self) -> "Pipeline":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
