# SPDX-License-Identifier: Apache-2.0
"""Whether a program in Python can call and launch for long: nothing hangs, every reply is right, and nothing is left of kernels
that were closed.

    PYTHONPATH=build/dev/python python3 bindings/python/bench/endure.py [CALLS [LAUNCHES]]

CALLS of asyncio, then LAUNCHES of a small kernel, each of which answers a call and is closed. Ends with an error when descriptors,
threads, objects of Python or the process's memory grow with the launches.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import time
from pathlib import Path
from typing import Tuple

import gyre_kernels as gyre

SCALE = """
#include <gyre/kernel.h>
#define SAMPLE(FIELD) FIELD(f64, value) FIELD(f64, factor)
GYRE_MESSAGE(sample, SAMPLE)
#define SCALED(FIELD) FIELD(f64, result)
GYRE_MESSAGE(scaled, SCALED)
GYRE_KERNEL(scale, sample, scaled) { reply->result = request->value * request->factor; return GYRE_REPLY; }
"""
AT_ONCE, WARM = 10_000, 50
MEMORY_KIB, EACH_KIB, THREADS = 8192, 0.5, 8  # what memory may grow by, at the most: once, and for each launch; threads come and go


def held() -> Tuple[int, int, int, int]:
    """Descriptors, threads, objects, and memory in KiB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return (
        len(os.listdir("/proc/self/fd")),
        len(os.listdir("/proc/self/task")),
        len(gc.get_objects()),
        pages * os.sysconf("SC_PAGE_SIZE") // 1024,
    )


async def call_many(scale: gyre.Kernel, calls: int) -> None:
    for done in range(0, calls, AT_ONCE):
        numbers = range(done, min(done + AT_ONCE, calls))
        replies = await asyncio.gather(*(scale.acall(value=number, factor=2) for number in numbers))
        if [reply.result for reply in replies] != [2.0 * number for number in numbers]:
            raise SystemExit("a wrong reply")


def launch_many(rt: gyre.Runtime, launches: int) -> None:
    for number in range(launches):
        with rt.launch(SCALE) as scale:
            if scale(value=number, factor=2).result != 2.0 * number:
                raise SystemExit("a wrong reply")


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with gyre.open("cpu") as rt:
        with rt.launch(SCALE) as scale:
            began = time.perf_counter()
            asyncio.run(call_many(scale, calls))
            print(f"{calls} calls of asyncio: {(time.perf_counter() - began) / calls * 1e6:.1f} us each")
        launch_many(rt, WARM)
        before = held()
        began = time.perf_counter()
        launch_many(rt, launches)
        took = (time.perf_counter() - began) / launches
        grown = [now - then for now, then in zip(held(), before)]
    told = "{:+d} descriptors, {:+d} threads, {:+d} objects, {:+d} KiB".format(*grown)
    print(f"{launches} launches: {took * 1e3:.1f} ms each, afterwards {told}")
    if grown[0] > 0 or grown[1] > THREADS or grown[2] > WARM or grown[3] > MEMORY_KIB + EACH_KIB * launches:
        raise SystemExit(f"what closed kernels leave grows: {told}")


if __name__ == "__main__":
    main()
