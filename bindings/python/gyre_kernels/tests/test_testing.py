# SPDX-License-Identifier: Apache-2.0
"""gyre_kernels.testing: what is right passes, and what is wrong is told, each case of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gyre_kernels.testing import Fails, check_handler

SCALE = """
#include <gyre/kernel.h>
#define SAMPLE(FIELD) FIELD(f64, value) FIELD(u32, way)
GYRE_MESSAGE(sample, SAMPLE)
#define SCALED(FIELD) FIELD(f64, result) FIELD(f64, parts[2])
GYRE_MESSAGE(scaled, SCALED)
#define GAINS(IN, INOUT) IN(f64, gain)
GYRE_BUFFERS(gains, GAINS)
GYRE_KERNEL_WITH(scale, sample, scaled, gyre_none, gains)
{
    if (request->way == 1)
        return gyre_fail(gyre, 7, "no such way");
    if (request->way == 2)
        return GYRE_NO_REPLY;
    reply->result = request->value * buffers->gain[0];
    reply->parts[0] = 1;
    if (request->way == 3)
        reply->result += reply->parts[1] * 0;
    reply->parts[1] = 2;
    return GYRE_REPLY;
}
"""
GAIN = {"gain": np.array([2.0])}


def test_cases_that_hold_pass() -> None:
    check_handler(
        SCALE,
        [
            ({"value": 3}, {"result": 6.0, "parts": [1, 2]}),
            ({"value": 3, "way": 1}, Fails(7, "no such way")),
            ({"value": 3, "way": 1}, Fails()),
            ({"way": 2}, None),
        ],
        buffers=GAIN,
    )
    check_handler(SCALE, [({"value": 3}, {"result": 6.0001})], buffers=GAIN, tolerance=1e-3)


def test_each_wrong_case_is_told() -> None:
    with pytest.raises(AssertionError) as told:
        check_handler(
            SCALE,
            [
                ({"value": 3}, {"result": 7.0}),
                ({"value": 3}, {"parts": [1, 3]}),
                ({"value": 3}, None),
                ({"value": 3}, Fails(7)),
                ({"way": 1}, {"result": 0.0}),
                ({"way": 1}, Fails(8)),
                ({"way": 2}, {"result": 0.0}),
                ({"value": 1}, {"result": 2.0}),
            ],
            buffers=GAIN,
        )
    text = str(told.value)
    assert text.startswith("7 of 8 cases are wrong:")
    assert "case 0, {'value': 3}: result: expected 7.0, found 6.0" in text
    assert "code 7, no such way" in text and "case 7" not in text


def test_findings_of_the_simulator_are_wrong_cases() -> None:
    with pytest.raises(AssertionError, match="case 0, {'way': 3}: expected .* found: the handler failed: code -"):
        check_handler(SCALE, [({"way": 3}, {"result": 0.0})], buffers=GAIN)
    check_handler(SCALE, [({"way": 3}, {"result": 0.0})], buffers=GAIN, checks=())


@pytest.mark.parametrize("case", [({"value": 3}, 0), ({"value": 3}, []), ({"value": 3}, 6.0), ({"value": 3},), {"value": 3}])
def test_what_is_no_case_is_refused(case: Any) -> None:
    with pytest.raises(TypeError, match="case 0: expected"):
        check_handler(SCALE, [case], buffers=GAIN)


def test_no_cases_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one case"):
        check_handler(SCALE, [])
