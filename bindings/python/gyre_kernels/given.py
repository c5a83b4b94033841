# SPDX-License-Identifier: Apache-2.0
"""What callers give, looked at before C gets it: each mistake has a sentence that names the argument. And who is inside of calls, so
that what they use is not freed."""

from __future__ import annotations

import contextlib
import operator
import threading
import time
from typing import Any, Callable, Dict, List, Optional

from ._native import ffi

_MOST = 2**63 - 1


def text_for(what: str, value: Optional[str]) -> Any:
    """The characters of a text for C; NULL for None. C would end the text at its first zero."""
    if value is None:
        return ffi.NULL
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected a str, found {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{what}: expected a str without zeros, found {value!r:.60}")
    return ffi.new("char[]", value.encode(errors="surrogateescape"))


def whole(what: str, value: Any, least: int = 0, most: int = _MOST) -> int:
    """A whole number that C can hold."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: expected a whole number, found {type(value).__name__}") from None
    if not least <= number <= most:
        limits = f"{least} or more" if number < least and most == _MOST else f"{least} to {most}"
        raise ValueError(f"{what}: expected {limits}, found {number}")
    return number


def drop(items: List[Any], is_over: Callable[[Any], bool]) -> None:
    """Takes what is over out of a list that other threads use as well."""
    for item in [one for one in items if is_over(one)]:
        with contextlib.suppress(ValueError):  # another thread did
            items.remove(item)


class Single:
    """An object of Python that ends what it stands for, so that there cannot be two of them."""

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError(f"{type(self).__name__}: cannot be copied or pickled, because it is in this process alone, once")


class Users:
    """The threads that are inside of calls into an object of C: `with users:` around each call, which looks for the object inside of
    it. Whoever frees the object first takes it away, and then waits."""

    def __init__(self) -> None:
        self._inside: Dict[int, int] = {}  # how many calls, by thread

    def __enter__(self) -> None:
        thread = threading.get_ident()
        self._inside[thread] = self._inside.get(thread, 0) + 1

    def __exit__(self, *_: Any) -> None:
        thread = threading.get_ident()
        left = self._inside.get(thread, 1) - 1
        if left:
            self._inside[thread] = left
        else:
            self._inside.pop(thread, None)

    def wait(self) -> None:
        """Waits until no other thread is inside. What a signal left of this thread's own calls does not count."""
        while any(thread != threading.get_ident() for thread in list(self._inside)):
            time.sleep(0.001)
