# SPDX-License-Identifier: Apache-2.0
"""Times of messages as arrays."""

from __future__ import annotations

import math
import threading
from typing import Any, Callable

import numpy as np
import pytest

import gyre_kernels as gyre
from gyre_kernels.histograms import EDGES, Histogram
from gyre_kernels.tests.conftest import HANDLERS


def test_every_timed_message_is_in_a_bucket() -> None:
    with gyre.open("cpu", settings={"kernel.grant.timing": True, "observe.every_ms": 10}) as rt:
        grant = rt.launch(HANDLERS, kernel="grant")
        for number in range(100):
            grant(number=number)
        batch = np.zeros(5000, grant.request.dtype)
        grant.map(batch)
        found = grant.histograms()
        while "round_trip" not in found or found["round_trip"].counts.sum() < 5100:  # until the writer's next look
            threading.Event().wait(0.01)
            found = grant.histograms()
        assert set(found) == {"waited", "handled", "returned", "round_trip"}
        for times in found.values():
            assert int(times.counts.sum()) == 5100 and len(times.edges) == len(times.counts) + 1
        trips = found["round_trip"]
        low, high = (trips.counts * trips.edges[:-1]).sum(), (trips.counts * trips.edges[1:]).sum()
        assert low <= trips.sum_ns <= high  # the sum belongs to these buckets
        assert 0 < trips.percentile(50) <= trips.percentile(99)


def test_a_kernel_without_timing_has_none(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    assert grant(number=1).number == 1
    assert grant.histograms() == {}
    grant.close()
    with pytest.raises(gyre.ClosedError):
        grant.histograms()


def test_without_a_file_there_are_none() -> None:
    with gyre.open("cpu", settings={"kernel.grant.timing": True, "observe.enabled": False}) as rt:
        grant = rt.launch(HANDLERS, kernel="grant")
        assert grant(number=1).number == 1
        assert grant.histograms() == {}


def test_percentiles() -> None:
    assert EDGES[:10].tolist() == [0, 8, 16, 24, 32, 40, 48, 56, 64, 72] and EDGES[-1] == 1 << 37
    counts = np.zeros(256, np.uint64)
    assert math.isnan(Histogram(EDGES, counts, 0).percentile(50))
    counts[[8, 16]] = [99, 1]
    times = Histogram(EDGES, counts, 0)
    assert times.percentile(0) == times.percentile(99) == 68.0 and times.percentile(100) == 136.0
    with pytest.raises(ValueError, match="expected 0 to 100"):
        times.percentile(101)
