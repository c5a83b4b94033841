# SPDX-License-Identifier: Apache-2.0
"""Deadlines, and waits that are cut into slices, so that signals such as Ctrl-C are handled between them."""

from __future__ import annotations

import threading
from numbers import Real
from time import monotonic_ns
from typing import Any, Callable, List, Optional

from .errors import OK, TIMEOUT, check

FOREVER = 2**64 - 1
MORE = 101  # GYREPY_MORE: calls that cut their wait themselves return it at the end of a slice, and are made again
# monotonic_ns is CLOCK_MONOTONIC, on which Gyre's deadlines are
_SLICE_NS = 50_000_000


def deadline_of(timeout: Optional[float]) -> int:
    """The deadline that lies `timeout` seconds ahead; None: never, 0: no wait."""
    if timeout is None:
        return FOREVER
    if not isinstance(timeout, (int, float, Real)):
        raise TypeError(f"timeout: expected None or seconds, found {type(timeout).__name__}")
    if not timeout >= 0:
        raise ValueError(f"timeout: expected None or seconds from 0 on, found {timeout!r}")
    if timeout == 0:
        return 0
    return min(monotonic_ns() + int(min(timeout, 1e9) * 1e9), FOREVER - 1)


def wait_sliced(step: Callable[[int], int], deadline: int) -> None:
    """Calls `step` with the deadlines of slices until it returns another status than TIMEOUT, or the time is over."""
    while True:
        end = min(deadline, monotonic_ns() + _SLICE_NS)
        status = step(end)
        if status == OK:
            return
        if status != TIMEOUT or end == deadline:
            check(status)


def wait_aside(call: Callable[[], Any], give_up: Callable[[], None], undo: Callable[[Any], None]) -> Any:
    """The value of a call of Gyre that cannot be cut into slices: a thread of its own waits in it, so that signals are handled
    here. When one raises, `give_up` is called, which may shorten the wait, and what the call still gives goes to `undo`."""
    values: List[Any] = []
    errors: List[BaseException] = []
    lock = threading.Lock()
    left = False  # nobody wants the value any more

    def wait() -> None:
        try:
            value = call()
        except BaseException as error:
            errors.append(error)
            return
        with lock:
            values.append(value)
            unwanted = left
        if unwanted:
            undo(value)

    thread = threading.Thread(target=wait, daemon=True)
    try:
        thread.start()
        while thread.is_alive():
            thread.join(_SLICE_NS / 1e9)
    except BaseException:
        with lock:
            left = True
            come = list(values)
        give_up()
        for value in come:
            undo(value)
        raise
    if errors:
        raise errors[0]
    return values[0]
