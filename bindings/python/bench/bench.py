# SPDX-License-Identifier: Apache-2.0
"""What Python adds to a message: calls, batches and messages in place, beside loops in C on the same queue.

    PYTHONPATH=build/dev/python python3 bindings/python/bench/bench.py [ROUNDS [BACKEND]]

Both sides of each row take turns, and every reply is checked. A row has the medians, and the median of the ratios of
neighbouring turns. One row has no loop in C beside it: THREADS threads
of Python, each of which maps a part of the batch of 48 bytes.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import numpy as np

import gyre_kernels as gyre
from gyre_kernels._native import ffi

SCALE = """
#include <gyre/kernel.h>
#define SAMPLE(FIELD) FIELD(f64, value) FIELD(f64, factor)
GYRE_MESSAGE(sample, SAMPLE)
#define SCALED(FIELD) FIELD(f64, result)
GYRE_MESSAGE(scaled, SCALED)
GYRE_KERNEL(scale, sample, scaled) { reply->result = request->value * request->factor; return GYRE_REPLY; }
"""
RECORDS = """
#include <gyre/kernel.h>
#define RECORD(FIELD) FIELD(u64, key) FIELD(f64, values[5])
GYRE_MESSAGE(record, RECORD)
GYRE_KERNEL(records, record, record) { *reply = *request; return GYRE_REPLY; }
"""  # 48 bytes
CALLS, BATCH, IN_PLACE, CAPACITY = 5_000, 500_000, 200_000, 16_384
AT_ONCE = (256, 4096)  # messages in place of one block
THREADS = 4


def load_bench() -> Any:
    """The loops in C, which the build puts beside the package."""
    library = ctypes.CDLL(str(Path(gyre.__file__).parent.parent / "gyre_python_bench.so"))
    for name in ("bench_calls", "bench_batch", "bench_in_place"):
        getattr(library, name).restype = ctypes.c_double
    return library


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def call_each(scale: gyre.Kernel) -> None:
    for number in range(CALLS):
        if scale(value=number, factor=2).result != number * 2:
            raise SystemExit("a wrong reply")


def write_in_place(scale: gyre.Kernel, at_once: int) -> None:
    numbers = np.arange(at_once, dtype=np.float64)
    sums = np.cumsum(2 * numbers)
    slots, views = scale.reserve(at_once), scale.peek(at_once)
    done = 0
    while done < IN_PLACE:
        with slots:
            count = left = len(slots)
            slots["value"] = numbers[:count]
            slots["factor"] = 2
        total = 0.0
        while left:
            with views:
                total += views["result"].sum()
                left -= len(views)
        if total != sums[count - 1]:
            raise SystemExit("a wrong reply")
        done += count


def queue_of(kernel: gyre.Kernel) -> ctypes.c_void_p:
    lane = kernel._lanes.take()
    queue = ctypes.c_void_p(int(ffi.cast("uintptr_t", lane.c.queue)))
    kernel._lanes.give(lane)
    return queue


def compare_map(name: str, library: Any, rounds: int, kernel: gyre.Kernel, batch: Any, expected: Any) -> None:
    """map, beside a loop in C over the same arrays; `expected` are the replies."""
    replies = np.empty(len(batch), kernel.reply.dtype)
    queue, count = queue_of(kernel), ctypes.c_size_t(len(batch))
    sizes = (ctypes.c_size_t(kernel.request.size), ctypes.c_size_t(kernel.reply.size))

    def run_map() -> float:
        taken = timed(lambda: kernel.map(batch, out=replies))
        if not np.array_equal(replies, expected):
            raise SystemExit("a wrong reply")
        return taken

    def run_batch() -> float:
        requests, out = ctypes.c_void_p(batch.ctypes.data), ctypes.c_void_p(replies.ctypes.data)
        return float(library.bench_batch(queue, requests, sizes[0], out, sizes[1], count))

    compare(name, len(batch), rounds, run_map, run_batch)


def map_by_threads(rounds: int, kernel: gyre.Kernel, batch: Any) -> None:
    replies = np.empty(len(batch), kernel.reply.dtype)
    parts = [slice(i * len(batch) // THREADS, (i + 1) * len(batch) // THREADS) for i in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:

        def run_parts() -> float:
            taken = timed(lambda: list(pool.map(lambda part: kernel.map(batch[part], out=replies[part]), parts)))
            if not np.array_equal(replies, batch):
                raise SystemExit("a wrong reply")
            replies[:] = 0
            return taken

        run_parts()  # warm
        each = statistics.median(run_parts() for _ in range(rounds)) / len(batch) * 1e9
    print(f"{f'{THREADS} threads':<14} {each:9.1f} ns")


def compare(name: str, count: int, rounds: int, python: Callable[[], float], bare: Callable[[], float]) -> None:
    python(), bare()  # warm
    pairs = [(python(), bare()) for _ in range(rounds)]
    if min(floor for _, floor in pairs) < 0:
        raise SystemExit(f"{name}: the loop in C failed")
    ours, floors = (statistics.median(column) / count * 1e9 for column in zip(*pairs))
    ratio = statistics.median(mine / floor for mine, floor in pairs)
    print(f"{name:<14} {ours:9.1f} ns {floors:9.1f} ns {ratio:8.2f}")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    backend = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    library = load_bench()
    capacity = {"queue.default.capacity": CAPACITY}
    with gyre.open(backend, settings=capacity) as rt:
        scale = rt.launch(SCALE)
        queue = queue_of(scale)
        batch = np.zeros(BATCH, scale.request.dtype)
        batch["value"], batch["factor"] = np.arange(BATCH), 2
        expected = np.zeros(BATCH, scale.reply.dtype)
        expected["result"] = batch["value"] * 2
        records = rt.launch(RECORDS)
        large = np.zeros(BATCH, records.request.dtype)
        large["key"] = np.arange(BATCH)
        large["values"] = np.arange(BATCH * 5).reshape(-1, 5)

        print(f"{'a message':<14} {'Python':>12} {'bare C':>12} {'ratio':>8}")
        calls, place = ctypes.c_size_t(CALLS), ctypes.c_size_t(IN_PLACE)
        compare("call", CALLS, rounds, lambda: timed(lambda: call_each(scale)), lambda: library.bench_calls(queue, calls))
        compare_map("map", library, rounds, scale, batch, expected)
        compare_map("map, 48 bytes", library, rounds, records, large, large)
        map_by_threads(rounds, records, large)
        for at_once in AT_ONCE:
            compare(
                f"in place, {at_once}",
                IN_PLACE,
                rounds,
                lambda: timed(lambda: write_in_place(scale, at_once)),
                lambda: library.bench_in_place(queue, place, ctypes.c_size_t(at_once)),
            )


if __name__ == "__main__":
    main()
