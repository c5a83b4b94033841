# SPDX-License-Identifier: Apache-2.0
"""Each call into the driver fails once, and what the program driver_life (life.c) then does is judged.

    campaign.py PROGRAM [brief|short|long] [worker] [SEED] [only=CALL:N:KIND]

A life without failures tells which calls there are. Then one life for each call and kind of failure (`long`), or
for the first call of each place in the plugin and one more of some functions (`short`, which the seed varies; `brief`: a few of these), by the driver made of software (tests/emulator,
driver_fail.c); with `worker` they fail in the first worker process of a runtime with isolation = process. Then drivers
that lack a function: one that is optional takes nothing away, another is named.

Judged: no crash, no hang, no wrong reply, nothing left behind on the device; a step that failed says why with call,
code, name and text, and works when it is made again; a device that died is LOST for everybody, with the first cause
(which is another thread's where its call was answered the same before the thread that failed made another one); and
where it did not, a second life in the same process is undisturbed.
"""
import collections
import concurrent.futures
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import tempfile

LIFE_S = 100 * int(os.environ.get("GYRE_TEST_PATIENCE", "1"))
NOT_GOOD = 2  # the exit code of a program whose life was not good
KINDS = {  # what a call answers: (code of cuda.h, its name, its text)
    "transient": (802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"),
    "resource": (2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"),
    "launch": (720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"),
    "programmer": (1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"),
    "fatal": (700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"),
    "overtaken": (700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"),
    "uncorrectable": (214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"),
    "late": ("late", "", ""),
}
FATAL = ("fatal", "overtaken", "uncorrectable")
# Calls of a large transfer, while a thread looks after a kernel and is answered the same: it may be first to say so
# only where the answer itself was late, not when the transfer makes other calls before it says what failed.
RACES = [("cuEventCreate", 2, "overtaken", 1), ("cuEventCreate", 2, "fatal", 1), ("cuEventSynchronize", 1, "fatal", 1)]
# Calls made before there is a kernel, of which a device dies: a worker that opened one is replaced all the same.
EARLY = [("cuInit", 1, "fatal", 2), ("cuDeviceGetPCIBusId", 1, "uncorrectable", 2), ("cuMemHostAlloc", 1, "fatal", 2)]
BRIEF = 12
# Calls whose failure takes nothing away that anybody asked for, so that nobody has to be told.
OF_NO_CONSEQUENCE = {
    "cuCtxGetCurrent": "then the context is made current without that",
    "cuCtxSetCurrent": "the thread that watches over kernels does that again 20 ms later",
    "cuDeviceGetPCIBusId": "a detail for people",
    "cuDeviceGetUuid": "a detail for people",
    "cuPointerGetAttribute": "a transfer is staged without need",
    "cuEventElapsedTime": "a stay is not counted",
    "cuEventRecord": "a stay is not counted",
    "cuStreamDestroy": "it ends with the process",
    "cuEventDestroy": "it ends with the process",
}
# Calls that give something back: when they fail for good, the driver has it still, and may refuse the same again.
GIVES_BACK = ("cuMemHostUnregister", "cuMemFreeHost", "cuMemFreeAsync", "cuModuleUnload", "cuStreamDestroy",
              "cuEventDestroy", "cuDevicePrimaryCtxRelease")
# What a kernel ends with is the device's end, whatever it is; so these are asked for answers that make sense alone.
ENDS = {"cuStreamQuery": ("transient", "fatal", "uncorrectable", "late")}
STARTS = ("cuInit", "cuDriverGetVersion")  # before there is a device that could be lost
EXPECTED = ("as it was told to", "does not work any more", "answers the same in another thread")
OPTIONAL = ("cuDeviceGetUuid", "cuEventElapsedTime", "cuMemPoolGetAttribute", "cuMemPoolTrimTo", "cuPointerGetAttribute",
            "cuFuncLoad")
POLLED = {"cuStreamQuery": 12}  # as often as time allows: so many of them are enough


class Life:
    def __init__(self, program, settings, lives, worker):
        environment = dict(os.environ, GYRE_KERNEL__CHAIN__TIMING="1",
                           EMULATOR_FAIL_IN="gyre-worker" if worker else os.path.basename(program), **settings)
        if worker:
            environment["GYRE_BACKEND__CUDA__ISOLATION"] = "process"
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen([program, str(lives)], env=environment, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                self.code = process.wait(LIFE_S)
            except subprocess.TimeoutExpired:
                self.code = None
            try:  # also workers that outlive it
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            output.seek(0)
            self.text = output.read().decode(errors="replace")
        self.lines = self.text.splitlines()

    def ends(self):
        return [line for line in self.lines if line.startswith("life ")]

    def misses_its_code(self):
        """Whether it ended otherwise than its last line tells."""
        return self.code != (0 if all(end == "life good" for end in self.ends()) else NOT_GOOD)

    def steps(self):
        for line in self.lines:
            match = re.match(r"step (\w+) (\w+) \d+ ms: (.*)", line)
            if match:
                yield match.groups()


def record_calls(program, worker):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "calls")
        Life(program, {}, 1, worker)  # compiles
        life = Life(program, {"EMULATOR_CALLS": file}, 1, worker)
        if life.code != 0 or "life good" not in life.lines:
            sys.exit("a life without failures is not good:\n" + life.text)
        with open(file, encoding="ascii") as calls:
            return [line.split(" ", 1) for line in calls.read().splitlines()]


def choose(calls, long, dice):
    """What is to be lived: (call, number, kind, how many lives)."""
    counts, firsts = collections.Counter(), {}
    for call, *place in calls:
        counts[call] += 1
        firsts.setdefault((call, *place), counts[call])
    plan = [] if long else [(call, number, "programmer", 1) for (call, *_), number in sorted(firsts.items())
                            if call not in ENDS and call != "cuCtxGetCurrent"]
    some = sorted(counts.items())
    for call, count in some if long else dice.sample(some, len(some) // 2):
        count = min(count, POLLED.get(call, count))
        for number in range(1, count + 1) if long else [dice.randint(1, count)]:
            kinds = ENDS.get(call, [kind for kind in KINDS if kind != "launch" or call == "cuLaunchCooperativeKernel"])
            if not long:
                kinds = dice.sample(kinds, 1)
            plan += [(call, number, kind, 2) for kind in kinds]
    return plan + ([] if long else RACES)


def complaints(life, call):
    """What the driver says of the program."""
    for line in life.lines:
        if not line.startswith("emulator: ") or any(words in line for words in EXPECTED):
            continue
        if call in GIVES_BACK and ("left behind" in line or "registered" in line):
            continue
        yield line


def rivals(life):
    """Calls answered the same before the thread whose call failed made another one: any may be told of first."""
    for line in life.lines:
        match = re.match(r"emulator: (\w+) answers the same in another thread", line)
        if match:
            yield match.group(1)


def judge_sentences(life, call, kind):
    code, name, text = KINDS[kind]
    cause = f"{call} failed with {code} ({name}: {text})"
    causes = [cause] + [f"{rival} failed with {code} ({name}: {text})" for rival in rivals(life)]
    told = any(one in line for one in causes for line in life.lines)
    for step, status, sentence in life.steps():
        if status == "ok" or kind == "late":
            continue
        if kind in FATAL:
            if status == "lost" and f"failed with {code}" not in sentence:
                yield f"{step} is LOST without the cause: {sentence}"
        elif cause not in sentence and call not in GIVES_BACK:
            yield f"{step} failed with another sentence: {sentence}"
    if not told and kind not in ("late", "transient", "resource") and call not in OF_NO_CONSEQUENCE:
        yield f"nobody is told '{cause}'"


def judge(life, call, kind, worker):
    if life.code is None:
        yield f"hangs: killed after {LIFE_S} s"
    elif life.misses_its_code():
        yield f"ended with {life.code}"
    fired = "as it was told to" in life.text
    yield from complaints(life, call)
    if not fired:
        return
    for line in life.lines:
        if line.startswith("load ") and not (kind in FATAL and line.startswith("load lost")):
            yield "the load of another kernel fails: " + line
    if not worker:
        yield from judge_sentences(life, call, kind)
    ends = life.ends()
    allowed = ["life good"]
    if kind in FATAL and not worker:
        allowed.append("life failed" if call in STARTS else "life lost")
    if kind in ("resource", "programmer") and call in GIVES_BACK:
        allowed.append("life failed")
    if any(end not in allowed for end in ends) or not ends:
        yield f"lives ended so: {ends}"
    if kind == "late" and any(status != "ok" for _, status, _ in life.steps()):
        yield "a call that only took long made a step fail"


def live(program, call, number, kind, lives, worker):
    with tempfile.TemporaryDirectory() as folder:
        settings = {"EMULATOR_FAIL": f"{call}:{number}:{KINDS[kind][0]}{'late' * (kind == 'overtaken')}",
                    "EMULATOR_FAIL_ONCE": os.path.join(folder, "failed")}
        life = Life(program, settings, lives, worker)
    findings = list(judge(life, call, kind, worker))
    return f"{call}:{number}:{kind}", "as it was told to" in life.text, findings, life


def live_without(program, call):
    """With a copy of the driver that does not have the function."""
    folder, _, rest = os.environ["LD_LIBRARY_PATH"].partition(":")
    with open(os.path.join(folder, "libcuda.so.1"), "rb") as file:
        library = file.read()
    pattern = rb"\0" + call.encode() + rb"((_v[0-9]+)?)\0"
    with tempfile.TemporaryDirectory() as copies:
        with open(os.path.join(copies, "libcuda.so.1"), "wb") as file:
            file.write(re.sub(pattern, lambda found: b"\0no" + found.group(0)[3:], library))
        life = Life(program, {"LD_LIBRARY_PATH": copies + ":" + rest}, 1, False)
    findings = list(complaints(life, call))
    if call in OPTIONAL and "life good" not in life.lines:
        findings.append("it is optional, and life is not good")
    if call not in OPTIONAL and f"is too old: it has no {call}" not in life.text:
        findings.append("the driver is too old without it, and nobody says so")
    if life.misses_its_code():
        findings.append(f"ended with {life.code}")
    return f"without {call}", True, findings, life


def main():
    program, options = sys.argv[1], sys.argv[2:]
    worker, long = "worker" in options, "long" in options
    seed = next((int(option) for option in options if option.isdigit()), 1)
    only = next((option[5:] for option in options if option.startswith("only=")), None)
    if only:
        call, number, kind = only.split(":")
        plan = [(call, int(number), kind, 2)]
    else:
        plan = choose(record_calls(program, worker), long, random.Random(seed))
    if "brief" in options:
        plan = (EARLY if worker else []) + random.Random(seed).sample(plan, BRIEF)
    lacking = [] if only or worker else list(OPTIONAL) + (sorted(set(row[0] for row in plan)) if long else ["cuMemFreeAsync"])
    fired = bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = itertools.chain(pool.map(lambda row: live(program, *row, worker), plan),
                               pool.map(lambda call: live_without(program, call), lacking))
        for name, did, findings, life in rows:
            fired += did
            bad += bool(findings)
            for finding in findings:
                print(f"{name}: {finding}", flush=True)
            if only:
                print(life.text)
    lives = len(plan) + len(lacking)
    print(f"seed {seed}: {lives} lives, in {fired} of them a call failed; {bad} are not as they have to be")
    sys.exit(1 if bad or fired < lives * 9 // 10 else 0)


main()
