# SPDX-License-Identifier: Apache-2.0
"""The work of peer.h for Ray: an actor in a process of its own answers 48 bytes. Prints the line of JSON that peer.c prints.

usage: peer_ray.py [SECONDS]      for each of the three measurements; needs Ray's wheel (scripts/peers.py --ray)
"""
import json
import os
import pathlib
import struct
import sys
import time

import ray

WORDS, WINDOW = "<6Q", 1024
MASK = 2**64 - 1


@ray.remote
class Server:
    """What the handler of the other peers does."""

    def handle(self, message):
        return struct.pack(WORDS, *((word * 3 + i) & MASK for i, word in enumerate(struct.unpack(WORDS, message))))


def request(number):
    return struct.pack(WORDS, *range(number * 6, number * 6 + 6))


def check(number, reply):
    if struct.unpack(WORDS, reply) != tuple((number * 6 + i) * 3 + i for i in range(6)):
        sys.exit("Ray: a reply was wrong")


def measure_calls(server, seconds):
    """How long calls take, sorted, in nanoseconds."""
    samples = []
    end = time.perf_counter() + seconds
    while not samples or time.perf_counter() < end:
        before = time.perf_counter_ns()
        reply = ray.get(server.handle.remote(request(len(samples))))
        samples.append(time.perf_counter_ns() - before)
        check(len(samples) - 1, reply)
    return sorted(samples)


def measure_stream(server, seconds):
    """Messages a second, with a window under way, half of which is taken at once."""
    under_way, sent, received = [], 0, 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or under_way:
        while len(under_way) < WINDOW and time.perf_counter() - start < seconds:
            under_way.append(server.handle.remote(request(sent)))
            sent += 1
        taken, under_way = under_way[: WINDOW // 2], under_way[WINDOW // 2 :]
        for reply in ray.get(taken):
            check(received, reply)
            received += 1
    return received / (time.perf_counter() - start)


def processor_seconds():
    """What this process and all that descend from it used of processors, in seconds."""
    parents, used = {}, {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()
        except OSError:
            continue  # it ended meanwhile
        process = int(stat.parent.name)
        parents[process] = int(fields[1])
        used[process] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descends(process):
        while process not in (0, os.getpid()):
            process = parents.get(process, 0)
        return process != 0

    return sum(seconds for process, seconds in used.items() if descends(process))


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    ray.init(num_cpus=1, include_dashboard=False, logging_level="error", log_to_driver=False)
    server = Server.remote()
    measure_calls(server, seconds / 4)  # warm
    calls = measure_calls(server, seconds)
    rate = measure_stream(server, seconds)
    before = processor_seconds()
    time.sleep(seconds)
    idle = (processor_seconds() - before) / seconds
    ray.shutdown()
    print(json.dumps({"peer": "an actor of Ray, in Python", "call_p50_ns": calls[len(calls) // 2],
                      "call_p99_ns": calls[len(calls) - 1 - len(calls) // 100], "stream_per_s": round(rate),
                      "idle_processors": round(idle, 3)}))


main()
