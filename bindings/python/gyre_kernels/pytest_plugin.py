# SPDX-License-Identifier: Apache-2.0
"""For pytest: the fixture `gyre_runtime`, an open runtime of the CPU backend, closed at the end of each test.

GYRE_TEST_BACKEND names another backend. The configuration of the machine has no say: a test that needs a setting opens a
runtime of its own.
"""

from __future__ import annotations

import os
from typing import Iterator

import pytest

from . import Runtime
from . import open as open_runtime


@pytest.fixture
def gyre_runtime() -> Iterator[Runtime]:
    """An open runtime."""
    with open_runtime(os.environ.get("GYRE_TEST_BACKEND", "cpu")) as runtime:
        yield runtime
