# SPDX-License-Identifier: Apache-2.0
"""Calls of Gyre into the C library fail, one in each life of a program, and what the program then does is judged.

    campaign.py LIBRARY PROCESS [brief|long|cold] [only=TEXT] PROGRAM [ARGUMENT]...

PROGRAM is run as `PROGRAM LIVES ARGUMENT...`. A life without failures tells from which places in Gyre the process of
that name calls what (fail.c). Then the first call of each place fails, and of every fourth the last one (`brief`: every
third of these; `long`: the first, second, middle and last of each), in a life behind which another one follows.
`cold`: lives that compile, each pair with a cache of its own; what lives do as often that find their kernels there is left out.

Judged: no crash, no hang; every message that was accepted is completed once, with the right reply; a step that failed
says why, works when it is made again, and leaves the next life undisturbed.
"""
import collections
import concurrent.futures
import os
import signal
import subprocess
import sys
import tempfile

LIFE_S = 100 * int(os.environ.get("GYRE_TEST_PATIENCE", "1"))


def live(command, lives, environment):
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([command[0], str(lives), *command[1:]], env=dict(os.environ, **environment),
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            code = process.wait(LIFE_S)
        except subprocess.TimeoutExpired:
            code = None
        try:  # also processes that outlive it
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        output.seek(0)
        return code, output.read().decode(errors="replace")


def record_life(command, preload, folder, name):
    file = os.path.join(folder, name)
    code, text = live(command, 1, dict(preload, FAIL_CALLS=file))
    if code != 0 or not os.path.exists(file):
        sys.exit("a life without failures is not good:\n" + text)
    with open(file, encoding="ascii") as calls:
        return collections.Counter(calls.read().splitlines())


def record_calls(command, preload, cold):
    with tempfile.TemporaryDirectory() as folder:
        if not cold:
            live(command, 1, {})  # compiles
            return record_life(command, preload, folder, "calls")
        preload = dict(preload, GYRE_CACHE_DIR=os.path.join(folder, "cache"))
        compiles = record_life(command, preload, folder, "cold")
        finds = record_life(command, preload, folder, "warm")
        return collections.Counter({call: count for call, count in compiles.items() if count != finds[call]})


def choose(calls, long):
    """What is to fail: (call, number)."""
    for place, (call, count) in enumerate(sorted(calls.items())):
        numbers = {1, 2, count // 2 + 1, count} if long else {1, count} if place % 4 == 0 else {1}
        for number in sorted(numbers):
            if number <= count:
                yield call, number


def judge(command, preload, cold, call, number):
    with tempfile.TemporaryDirectory() as folder:
        if cold:
            preload = dict(preload, GYRE_CACHE_DIR=os.path.join(folder, "cache"))
        code, text = live(command, 2, dict(preload, FAIL=f"{call} {number}", FAIL_ONCE=os.path.join(folder, "failed")))
    found = []
    if code is None:
        found.append(f"hangs: killed after {LIFE_S} s")
    elif code != 0:
        found.append(f"ended with {code}")
    if "life good" not in text.splitlines():
        found.append("its lives were not good")
    for line in text.splitlines():
        if line.startswith("step ") and line.endswith(": "):
            found.append("no word why: " + line)
    return f"{call} {number}", "fails: " in text, found, text


def main():
    long, brief, cold = ("long" in sys.argv, "brief" in sys.argv, "cold" in sys.argv)
    only = next((argument[5:] for argument in sys.argv if argument.startswith("only=")), "")
    library, process, *command = [argument for argument in sys.argv[1:]
                                  if argument not in ("brief", "long", "cold") and not argument.startswith("only=")]
    preload = {"LD_PRELOAD": library, "FAIL_IN": process}
    plan = [job for job in choose(record_calls(command, preload, cold), long) if only in job[0]][::3 if brief else 1]
    failed = faults = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, fired, found, text in pool.map(lambda job: judge(command, preload, cold, *job), plan):
            failed += fired
            faults += bool(found)
            if found:
                print(f"{name}: {'; '.join(found)}\n{text}")
    print(f"{len(plan)} calls of {process}, of which {failed} were made again and failed; {faults} faults")
    if faults or failed < len(plan) // 3:
        sys.exit(1)


main()
