# SPDX-License-Identifier: Apache-2.0
"""Whether a handler that was put together at random gives the same replies on several devices.

usage: python3 tests/kernels/random GYRE SEED [SEEDS [SETTING...]]

GYRE is the command, SEED the first of SEEDS seeds (1). The replies of the CPU, compiled without optimization and with traps where the
handler's text has no defined result, are compared with those of the CPU as users have it and, for each SETTING (`gyre.backend=opencl`), with those
that this setting gives. A handler whose replies differ stays in a folder, which is told, and the exit code is 1."""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from handlers import Handler

REQUESTS = 40
TRAPS = "-O0 -fsanitize=undefined -fno-sanitize=alignment -fsanitize-undefined-trap-on-error"


def bits_of_nan_apart(value):
    """The bits of a NaN are each device's own."""
    if isinstance(value, dict):
        return {name: bits_of_nan_apart(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [bits_of_nan_apart(inner) for inner in value]
    return "NaN" if value != value or (isinstance(value, str) and "nan" in value.lower()) else value


def call(gyre, folder, settings):
    command = [gyre, "call", "handler.gyre.c", "--timeout", "0"]
    for setting in settings:
        command += ["--set", setting]
    with open(os.path.join(folder, "requests.json")) as requests:
        ended = subprocess.run(command, cwd=folder, stdin=requests, capture_output=True, text=True)
    if ended.returncode != 0:
        return f"exit code {ended.returncode}: {ended.stderr.strip()}"
    return [bits_of_nan_apart(json.loads(line)) for line in ended.stdout.splitlines()]


def difference(expected, found):
    if isinstance(found, str):
        return found
    for number, (one, other) in enumerate(zip(expected, found), 1):
        if one != other:
            return f"request {number}: expected {json.dumps(one)}, found {json.dumps(other)}"
    return None if len(expected) == len(found) else f"expected {len(expected)} replies, found {len(found)}"


def try_seed(gyre, seed, devices):
    handler, folder = Handler(seed), tempfile.mkdtemp(prefix=f"gyre-random-{seed}-")
    with open(os.path.join(folder, "handler.gyre.c"), "w") as file:
        file.write(handler.source)
    with open(os.path.join(folder, "requests.json"), "w") as file:
        file.writelines(json.dumps(request) + "\n" for request in handler.requests(REQUESTS))
    expected = call(gyre, folder, ["gyre.backend=cpu", f"backend.cpu.compiler_options={TRAPS}"])
    told = expected if isinstance(expected, str) else None
    for device in ["gyre.backend=cpu"] + devices:
        told = told or difference(expected, call(gyre, folder, [device]))
        if told:
            print(f"seed {seed}, {handler.form}, {device}: {told}\n  {folder}")
            return False
    shutil.rmtree(folder)
    return True


gyre, first, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
results = [try_seed(gyre, seed, sys.argv[4:]) for seed in range(first, first + count)]
print(f"{results.count(True)} of {count} handlers give the same replies everywhere")
sys.exit(0 if all(results) else 1)
