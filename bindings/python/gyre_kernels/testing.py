# SPDX-License-Identifier: Apache-2.0
"""Tests of handlers: cases of requests and what they come to, run on the CPU's simulator, which looks for races and unwritten memory.

    from gyre_kernels.testing import Fails, check_handler

    def test_scale():
        check_handler("scale.gyre.c", [
            ({"value": 20.5, "factor": 2}, {"result": 41.0}),
            ({"value": 1, "factor": 0}, Fails(7)),
        ])
"""

from __future__ import annotations

import os
from collections.abc import Mapping as AnyMapping
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import open as open_runtime
from .errors import FailedError

CHECKS = ("races", "memory", "deadlock")


class Fails(NamedTuple):
    """The handler fails the request, with this code and a text that has these words; None: with any."""

    code: Optional[int] = None
    text: Optional[str] = None


Case = Tuple[Any, Union[Mapping[str, Any], Fails, None]]


def check_handler(
    source: Union[str, "os.PathLike[str]"],
    cases: Sequence[Case],
    *,
    kernel: Optional[str] = None,
    checks: Sequence[str] = CHECKS,
    seeds: int = 1,
    tolerance: float = 0.0,
    state: Any = None,
    buffers: Union[Mapping[str, Any], None] = None,
    settings: Union[Mapping[str, Any], None] = None,
) -> None:
    """Sends each request in its turn and compares what it comes to. AssertionError with every case that is wrong.

    A case is a request and the fields that its reply has, Fails, or None for no reply. Fields that it does not name are not
    compared; numbers may differ by `tolerance`, relatively. `checks` are those of docs/simulator.md, () for none; with
    "schedule" lanes run in `seeds` orders. `buffers` are arrays by name. A finding of the simulator is a wrong case.
    """
    chosen = {"backend.cpu.check": ", ".join(checks) or "none", "backend.cpu.seeds": seeds, **(settings or {})}
    given = [_case_of(number, case) for number, case in enumerate(cases)]
    if not given:
        raise ValueError("check_handler: expected at least one case, found none")
    if not tolerance >= 0:
        raise ValueError(f"check_handler: tolerance: expected 0 or more, found {tolerance!r}")
    with open_runtime("cpu", settings=chosen) as runtime:
        bound = {name: runtime.buffer(array) for name, array in (buffers or {}).items()}
        with runtime.launch(source, kernel=kernel, state=state, buffers=bound or None) as launched:
            wrong = [sentence for number, case in enumerate(given) for sentence in _judge(launched, number, case, tolerance)]
    if wrong:
        raise AssertionError(f"{len(wrong)} of {len(given)} cases are wrong:\n  " + "\n  ".join(wrong))


def _case_of(number: int, case: Any) -> Case:
    """What is given as a case. One that is not a mapping of fields, such as 0, would be compared with nothing."""
    if not isinstance(case, (tuple, list)) or len(case) != 2:
        raise TypeError(f"case {number}: expected a request and what it comes to, found {case!r:.80}")
    if case[1] is not None and not isinstance(case[1], (Fails, AnyMapping)):
        raise TypeError(f"case {number}: expected the fields of its reply by name, Fails, or None, found {case[1]!r:.80}")
    return case[0], case[1]


def _judge(launched: Any, number: int, case: Case, tolerance: float) -> List[str]:
    """The sentence about a case that is wrong, or none."""
    request, expected = case
    where = f"case {number}, {request}:"
    try:
        reply = launched.call(request)
    except FailedError as failure:
        if isinstance(expected, Fails) and expected.code in (None, failure.code) and (expected.text or "") in str(failure):
            return []
        return [f"{where} expected {_words(expected)}, found: {failure}"]
    if isinstance(expected, Fails) or (expected is None) != (reply is None):
        return [f"{where} expected {_words(expected)}, found {_words(reply)}"]
    different = [name for name, value in (expected or {}).items() if not _same(getattr(reply, name), value, tolerance)]
    return [f"{where} {name}: expected {(expected or {})[name]}, found {getattr(reply, name)}" for name in different[:1]]


def _words(outcome: Any) -> str:
    return "no reply" if outcome is None else str(outcome)


def _same(found: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(found, (str, bytes)) or found is None or expected is None:
        return bool(found == expected)
    one, other = np.asarray(found), np.asarray(expected)
    if one.shape != other.shape or one.dtype.names or other.dtype == object:
        return bool(np.array_equal(one, other))
    if one.dtype.kind == "f":
        return bool(np.allclose(one, other, rtol=tolerance, atol=0, equal_nan=True))
    return bool(np.array_equal(one, other))
