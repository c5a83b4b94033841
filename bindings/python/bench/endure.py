# SPDX-License-Identifier: Apache-2.0
"""Whether a program in Python can call and launch for long: nothing hangs, every reply is right, and nothing is left of kernels
that were closed.

    PYTHONPATH=build/dev/python python3 bindings/python/bench/endure.py [CALLS [LAUNCHES]]

CALLS of asyncio, then LAUNCHES of a small kernel, each of which answers a call and is closed. Ends with an error when descriptors,
mappings, threads, files in shared memory, objects of Python, its blocks of memory (which references keep), or the process's memory
grow with the launches. After each tenth of the launches it prints what they left until then.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import time
from pathlib import Path
from typing import Dict

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
SHARED = Path(f"/dev/shm/gyre-{os.geteuid()}")  # where a program's counters are
# what may grow by, at the most, however many launches there were: threads come and go with a few mappings each, and Python fills
# its caches
MOST = {"descriptors": 0, "mappings": 64, "threads": 8, "shared files": 0, "objects": WARM, "blocks": 500}
MEMORY_KIB, EACH_KIB = 8192, 0.05  # and the process's memory: once, and for each launch


def held() -> Dict[str, int]:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "mappings": Path("/proc/self/maps").read_bytes().count(b"\n"),
        "threads": len(os.listdir("/proc/self/task")),
        "shared files": len(list(SHARED.glob(f"{os.getpid()}-*"))),
        "objects": len(gc.get_objects()),
        "blocks": sys.getallocatedblocks(),
        "KiB": pages * os.sysconf("SC_PAGE_SIZE") // 1024,
    }


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


def endure_launches(rt: gyre.Runtime, launches: int) -> None:
    launch_many(rt, WARM)
    before = held()
    began = time.perf_counter()
    done = 0
    for tenth in range(1, 11):
        launch_many(rt, launches * tenth // 10 - done)
        done = launches * tenth // 10
        grown = {name: now - before[name] for name, now in held().items()}
        took = (time.perf_counter() - began) / max(done, 1)
        told = ", ".join(f"{count:+d} {name}" for name, count in grown.items())
        print(f"{done} launches: {took * 1e3:.2f} ms each, afterwards {told}", flush=True)
    if any(grown[name] > most for name, most in MOST.items()) or grown["KiB"] > MEMORY_KIB + EACH_KIB * launches:
        raise SystemExit(f"what closed kernels leave grows: {told}")


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with gyre.open("cpu") as rt:
        with rt.launch(SCALE) as scale:
            began = time.perf_counter()
            asyncio.run(call_many(scale, calls))
            print(f"{calls} calls of asyncio: {(time.perf_counter() - began) / max(calls, 1) * 1e6:.1f} us each", flush=True)
        if launches:
            endure_launches(rt, launches)


if __name__ == "__main__":
    main()
