# SPDX-License-Identifier: Apache-2.0
"""Gyre: message handlers in C that stay resident on a device and answer messages.

    import gyre_kernels as gyre

    with gyre.open() as rt:
        scale = rt.launch("scale.gyre.c")
        print(scale(value=20.5, factor=2).result)
"""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Union

from ._native import lib as _lib
from .attachment import Attachment, Server
from .buffers import Buffer
from .compilers import zig_compiler
from .errors import (
    AgainError,
    ClosedError,
    ConfigError,
    DroppedError,
    ExhaustedError,
    FailedError,
    GyreError,
    GyreTimeoutError,
    IncompatibleError,
    InternalError,
    InvalidError,
    LostError,
    NotFoundError,
    UnavailableError,
    UnimplementedError,
    text_of,
)
from .histograms import Histogram
from .pipeline import Pipeline
from .places import Slots, Views
from .port import Port, Stream
from .runtime import Kernel, Log, Runtime
from .types import Field, Message, MessageType

__version__ = text_of(_lib.gyre_version())


def open(
    backend: Optional[str] = None,
    *,
    settings: Union[Mapping[str, Any], None] = None,
    config: Union[str, "os.PathLike[str]", None] = None,
    log: Optional[Log] = None,
) -> Runtime:
    """Reads the configuration and finds the backends; opens no device yet.

    `settings` beat the configuration: {"gyre.backend": "cpu"}. `log(level, text)` gets Gyre's log, level 1 being an error
    and 4 a detail; without it the log goes to logging.getLogger("gyre"). It may be called from any thread, and must not
    call Gyre.
    """
    return Runtime(backend, settings, config, log)


def attach(
    name: str,
    path: Optional[str] = None,
    *,
    timeout: Optional[float] = 5.0,
    capacity: int = 0,
    client: Optional[str] = None,
    reconnect: bool = False,
) -> Attachment:
    """Opens a way into a kernel of another program, which serves at `path`: "KERNEL", or "PIPELINE/ENTRY"."""
    return Attachment(name, path, timeout=timeout, capacity=capacity, client=client, reconnect=reconnect)


def load_ipython_extension(ipython: Any) -> None:
    """For notebooks: `%load_ext gyre_kernels` makes cells that begin with `%%gyre` handlers."""
    from .magic import register

    register(ipython)


__all__ = [
    "AgainError",
    "Attachment",
    "Buffer",
    "ClosedError",
    "ConfigError",
    "DroppedError",
    "ExhaustedError",
    "FailedError",
    "Field",
    "GyreError",
    "GyreTimeoutError",
    "Histogram",
    "IncompatibleError",
    "InternalError",
    "InvalidError",
    "Kernel",
    "LostError",
    "Message",
    "MessageType",
    "NotFoundError",
    "Pipeline",
    "Port",
    "Runtime",
    "Server",
    "Slots",
    "Stream",
    "UnavailableError",
    "UnimplementedError",
    "Views",
    "attach",
    "open",
    "zig_compiler",
]
