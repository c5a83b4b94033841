# SPDX-License-Identifier: Apache-2.0
"""Buffers for NumPy and other libraries: copies, and the device's own memory."""

from __future__ import annotations

import gc
from typing import Any, Callable

import numpy as np
import pytest

import gyre_kernels as gyre
from gyre_kernels.tests.conftest import HANDLERS


@pytest.fixture
def numbers(gyre_runtime: gyre.Runtime) -> gyre.Buffer:
    return gyre_runtime.buffer(np.arange(5, dtype=np.float32))


def test_numpy_gets_a_copy_unless_it_wants_none(numbers: gyre.Buffer) -> None:
    copied = np.asarray(numbers)
    numbers.upload(np.array([7], np.float32))
    assert copied[0] == 0 and np.asarray(numbers)[0] == 7
    assert np.asarray(numbers, np.int64).dtype == np.int64
    there = numbers.__array__(copy=False)
    there[1] = 9
    assert numbers.download(np.float32).tolist() == [7, 9, 2, 3, 4]
    with pytest.raises(ValueError, match="copy=False cannot be had"):
        numbers.__array__(np.int64, copy=False)


def test_dlpack_gives_the_memory_itself(gyre_runtime: gyre.Runtime, numbers: gyre.Buffer) -> None:
    taken = np.from_dlpack(numbers)
    assert taken.dtype == np.float32 and taken.tolist() == [0, 1, 2, 3, 4]
    numbers.upload(np.array([7], np.float32))
    assert taken[0] == 7 and numbers.held
    again = gyre_runtime.buffer(numbers)  # by DLPack
    assert again.download(np.float32).tolist() == [7, 1, 2, 3, 4]
    with pytest.raises(BufferError, match="memory of the host"):
        numbers.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="still there"):
        numbers.free()
    del taken
    gc.collect()
    numbers.free()


def test_a_copy_can_be_asked_for(numbers: gyre.Buffer) -> None:
    numbers.__dlpack__(copy=True)
    gc.collect()
    assert not numbers.held
    numbers.free()


def test_handlers_read_what_is_stored_in_place(gyre_runtime: gyre.Runtime) -> None:
    gains = gyre_runtime.buffer(np.zeros(4))
    amplify = gyre_runtime.launch(HANDLERS, kernel="amplify", buffers={"gain": gains})
    there = gains.array()
    for number in range(20):
        there[:] = np.arange(4) + number
        assert [amplify(number=i).result for i in range(4)] == [i + number for i in range(4)]


def test_a_view_keeps_the_buffer(numbers: gyre.Buffer) -> None:
    view = numbers.array()[1:3]
    with pytest.raises(BufferError, match="still there"):
        numbers.free()
    assert view.tolist() == [1, 2]
    del view
    numbers.free()


def test_a_runtime_is_not_closed_under_an_array() -> None:
    rt = gyre.open("cpu")
    there = rt.buffer(np.arange(3)).array()
    with pytest.raises(BufferError, match="still there"):
        rt.close()
    assert there.tolist() == [0, 1, 2]
    del there
    rt.close()


def test_memory_of_a_worker_process_is_copied() -> None:
    with gyre.open("cpu", settings={"backend.cpu.isolation": "process"}) as rt:
        numbers = rt.buffer(np.arange(3))
        with pytest.raises(gyre.UnimplementedError, match="worker process"):
            numbers.array()
        assert np.from_dlpack(numbers).tolist() == [0, 1, 2] and not numbers.held
        with pytest.raises(gyre.UnimplementedError):
            numbers.__dlpack__(copy=False)


def test_memory_of_the_host_is_none_of_a_gpu(numbers: gyre.Buffer) -> None:
    assert not hasattr(numbers, "__cuda_array_interface__")
    assert not numbers.held


def test_the_end_of_the_program_leaves_arrays_alone(tmp_path: Any, launch: Callable[..., Any]) -> None:
    import subprocess
    import sys

    program = "import numpy as np, gyre_kernels as g; a = g.open('cpu').buffer(np.arange(3)).array(); print(a.sum())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("3\n", "", 0)
