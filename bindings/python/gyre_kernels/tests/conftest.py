# SPDX-License-Identifier: Apache-2.0
"""Fixtures of these tests."""

from __future__ import annotations

import os
import signal
from typing import Any, Callable

import pytest

from gyre_kernels import Kernel, Runtime
from gyre_kernels.pytest_plugin import gyre_runtime  # noqa: F401  (also where the plugin is not installed)

HANDLERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "handlers.gyre.c")

# A shell without job control starts what is in its background with Ctrl-C ignored, and some tests, and the programs that they start, are
# interrupted.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def launch(gyre_runtime: Runtime) -> Callable[..., Kernel]:  # noqa: F811
    """Launches a kernel of handlers.gyre.c."""

    def launch_one(kernel: str, **options: Any) -> Kernel:
        return gyre_runtime.launch(HANDLERS, kernel=kernel, **options)

    return launch_one
