# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class for each status of Gyre, each with Gyre's own sentence."""

from __future__ import annotations

from typing import Dict, Type

from ._native import ffi, lib


class GyreError(Exception):
    """What every exception of this package is. `status` is the number of gyre/status.h."""

    status: int = 0


class InvalidError(GyreError, ValueError):
    """The call can never work as it is."""

    status = 1


class NotFoundError(GyreError, LookupError):
    """A file, kernel, queue or buffer of that name does not exist."""

    status = 2


class ConfigError(GyreError):
    """A configuration file, key or value is wrong."""

    status = 3


class UnavailableError(GyreError):
    """Not on this machine: no driver, no device, no compiler."""

    status = 4


class UnimplementedError(GyreError, NotImplementedError):
    """This backend does not offer the operation."""

    status = 5


class IncompatibleError(GyreError, TypeError):
    """Versions, layouts or message types do not match."""

    status = 6


class ExhaustedError(GyreError, MemoryError):
    """Memory, descriptors, disk or a limit of a device is exhausted."""

    status = 7


class AgainError(GyreError, BlockingIOError):
    """The queue is full, or empty, and the caller did not want to wait."""

    status = 8


class GyreTimeoutError(GyreError, TimeoutError):
    """The time is over. What was accepted stays accepted."""

    status = 9


class ClosedError(GyreError):
    """The kernel, queue or runtime was closed or terminated."""

    status = 10


class FailedError(GyreError):
    """The handler or the compiler failed. For a handler `code` is its number, and `index` the place in a batch."""

    status = 11
    code: int = 0
    index: int = 0


class LostError(GyreError, ConnectionError):
    """The device, or the process that serves it, died."""

    status = 12


class DroppedError(GyreError):
    """A queue's policy discarded the message."""

    status = 13


class InternalError(GyreError):
    """A defect of Gyre or of a plugin."""

    status = 14


_CLASSES: Dict[int, Type[GyreError]] = {
    kind.status: kind
    for kind in (
        InvalidError,
        NotFoundError,
        ConfigError,
        UnavailableError,
        UnimplementedError,
        IncompatibleError,
        ExhaustedError,
        AgainError,
        GyreTimeoutError,
        ClosedError,
        FailedError,
        LostError,
        DroppedError,
        InternalError,
    )
}

OK, AGAIN, TIMEOUT, DROPPED = 0, AgainError.status, GyreTimeoutError.status, DroppedError.status
_LANE_CLOSED = 100  # GYREPY_CLOSED of native/batch.h
REPLIED, NOT_REPLIED, HANDLER_FAILED, WAS_DROPPED, WAS_UNHANDLED = 1, 2, 3, 4, 5


def text_of(chars: object) -> str:
    """A text of C as a str; bytes that are no UTF-8 are replaced."""
    return bytes(ffi.string(chars)).decode("utf-8", "replace")


def error_of(status: int) -> GyreError:
    """The exception of the call that this thread just made, with Gyre's sentence."""
    if status == _LANE_CLOSED:
        return ClosedError("the kernel was closed")
    sentence = text_of(lib.gyre_error_text())
    kind = _CLASSES.get(status, InternalError)
    return kind(sentence or text_of(lib.gyre_status_word(status)))


def check(status: int) -> None:
    """Raises unless the status is OK."""
    if status:
        raise error_of(status)


def outcome_error(outcome: int, code: int, text: str, index: int = 0) -> GyreError:
    """The exception of a completion that is no reply."""
    if outcome == HANDLER_FAILED:
        failed = FailedError(f"the handler failed: code {code}, {text}")
        failed.code, failed.index = code, index
        return failed
    if outcome == WAS_DROPPED:
        return DroppedError("the queue's policy discarded the request")
    if outcome == WAS_UNHANDLED:
        return ClosedError("the kernel ended before it handled the request")
    return InternalError(f"a completion with the unknown outcome {outcome}")
