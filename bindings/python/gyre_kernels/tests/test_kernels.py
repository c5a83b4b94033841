# SPDX-License-Identifier: Apache-2.0
"""Runtimes and kernels: texts and files, states, buffers, logs, statistics, errors."""

from __future__ import annotations

import gc
import importlib.util
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, List, Tuple

import numpy as np
import pytest

import gyre_kernels as gyre
from gyre_kernels.tests.conftest import HANDLERS

ECHO = """
#include <gyre/kernel.h>
#define WORD(FIELD) FIELD(u64, word)
GYRE_MESSAGE(word, WORD)
GYRE_KERNEL(echo, word, word) { reply->word = request->word; return GYRE_REPLY; }
"""


def test_a_text_is_compiled_once(gyre_runtime: gyre.Runtime) -> None:
    first = gyre_runtime.launch(ECHO)
    assert first(word=2**64 - 1).word == 2**64 - 1
    first.close()
    second = gyre_runtime.launch(ECHO)
    assert second.info()["cache_hit"] is True
    assert second.info()["kernel"] == "echo" and second.info()["state"] == "active"


def test_files_are_taken_by_path_and_kernel(gyre_runtime: gyre.Runtime) -> None:
    assert gyre_runtime.launch(Path(HANDLERS), kernel="scale")(value=2, factor=3).result == 6
    assert gyre_runtime.launch(f"{HANDLERS}:grant")(number=3).number == 3


def test_mistakes_are_told_with_the_sentence_of_gyre(gyre_runtime: gyre.Runtime) -> None:
    with pytest.raises(gyre.NotFoundError, match="kernel file 'missing.gyre.c'.*cannot be opened"):
        gyre_runtime.launch("missing.gyre.c")
    with pytest.raises(LookupError):
        gyre_runtime.launch(HANDLERS, kernel="scales")
    with pytest.raises(gyre.FailedError, match=r"\.gyre\.c:5"):
        gyre_runtime.launch(ECHO.replace("request->word", "request->wort"))
    with pytest.raises(gyre.ConfigError, match="nonsense"):
        gyre.open(settings={"gyre.strict": True, "gyre.nonsense": 1})
    with pytest.raises(gyre.GyreError, match="no_such"):
        gyre.open("no_such").launch(ECHO)


def test_every_status_has_an_exception() -> None:
    from gyre_kernels import errors

    for status in range(1, 15):
        error = errors.error_of(status)
        assert error.status == status and isinstance(error, gyre.GyreError)
    assert issubclass(gyre.GyreTimeoutError, TimeoutError) and issubclass(gyre.InvalidError, ValueError)


ACCOUNTS = """
#include <gyre/kernel.h>
#define DEPOSIT(FIELD) FIELD(i32, account) FIELD(u64, cents)
GYRE_MESSAGE(deposit, DEPOSIT)
GYRE_KEYED_ACTOR(accounts, deposit, deposit, deposit, account)
{
    state->cents += request->cents;
    return GYRE_NO_REPLY;
}
"""


def test_a_keyed_actor_keeps_a_state_for_each_key(gyre_runtime: gyre.Runtime) -> None:
    accounts = gyre_runtime.launch(ACCOUNTS)
    for account, cents in ((7, 5), (-8, 20), (7, 37)):
        accounts(account=account, cents=cents)
    assert accounts.read_state(7).cents == 42 and accounts.read_state("-8").cents == 20
    with pytest.raises(gyre.NotFoundError, match="has no state for this key"):
        accounts.read_state(9)
    with pytest.raises(gyre.InvalidError, match="expected a whole number of 32 bits"):
        accounts.read_state(1 << 40)
    with pytest.raises(ValueError, match="key: expected a str without zeros"):
        accounts.read_state("7\0")
    with pytest.raises(gyre.InvalidError, match="keeps a state for each 'account'"):
        accounts.read_state()
    with pytest.raises(gyre.InvalidError, match="has no keys"):
        gyre_runtime.launch(ECHO).read_state(7)


def test_an_actor_keeps_its_state(launch: Callable[..., Any]) -> None:
    begun = np.array([(10, 100.0)], [("count", "<u8"), ("sum", "<f8")])
    total = launch("total", state=begun)
    for number in range(5):
        total(result=number)
    state = total.read_state()
    assert state.count == 15 and state.sum == 110.0
    assert total.state.name == "totals"
    total.close()
    with pytest.raises(gyre.InvalidError, match="has a state of 16 bytes"):
        launch("total", state=b"short")
    with pytest.raises(TypeError, match="state: expected bytes or a NumPy value of the state's type, found int"):
        launch("total", state=5)


def test_a_kernel_with_one_queue_uses_it_for_everything() -> None:
    with gyre.open("cpu", settings={"kernel.total.checkpoints": True, "backend.cpu.isolation": "process"}) as rt:
        total = rt.launch(HANDLERS, kernel="total")
        assert total(result=1).count == 1
        with total.reserve() as slots:
            slots["result"] = 1
        with pytest.raises(gyre.InvalidError, match="'total' has one queue, and 1 completions .* receive them first"):
            total(result=1)
        with total.peek() as views:
            assert views["count"].tolist() == [2]
        assert total(result=1).count == 3
        assert [reply.count for reply in total.stream({"result": 1} for _ in range(3))] == [4, 5, 6]
        assert total.info()["queues"] == 1


def test_a_queue_with_a_journal_is_the_only_one(tmp_path: Path) -> None:
    settings = {"queue.grant.durability": "journal", "gyre.journal_dir": tmp_path}
    with gyre.open("cpu", settings=settings) as rt:
        grant = rt.launch(HANDLERS, kernel="grant")
        grant.send(number=1)
        with pytest.raises(gyre.InvalidError, match="has one queue, and 1 completions"):
            grant(number=2)  # another queue would have no journal
        assert grant.receive().number == 1
        assert grant(number=2).number == 2


JOURNALED = """
import sys, gyre_kernels as gyre
settings = {"queue.total.durability": "journal", "gyre.journal_dir": sys.argv[2], "kernel.total.checkpoints": True}
with gyre.open("cpu", settings=settings) as rt:
    total = rt.launch(sys.argv[1], kernel="total")
    if sys.argv[3] == "first":
        print(total(result=1).count, flush=True)
        for _ in range(3):
            total.send(result=1)
        total.terminate(drain=60)
        sys.exit()
    try:
        total(result=1)
    except gyre.InvalidError as error:
        print(error)
    print([total.receive().count for _ in range(3)], total(result=1).count, total.info()["queues"])
"""


def test_completions_that_a_journal_kept_are_not_taken_for_others(tmp_path: Path) -> None:
    def run(turn: str) -> str:
        words = [sys.executable, "-c", JOURNALED, HANDLERS, str(tmp_path), turn]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("first") == "1\n"
    sentence, replies = run("second").splitlines()
    assert sentence.startswith("'total' has one queue, and 3 completions of requests that were sent or reserved wait in it")
    assert replies == "[2, 3, 4] 5 1"


def test_buffers_are_bound_by_name(gyre_runtime: gyre.Runtime, launch: Callable[..., Any]) -> None:
    gains = gyre_runtime.buffer(np.array([1.5, 2.5, 3.5]))
    amplify = launch("amplify", buffers={"gain": gains})
    assert [amplify(number=i).result for i in range(3)] == [1.5, 2.5, 3.5]
    with pytest.raises(gyre.FailedError, match="no such gain"):
        amplify(number=3)
    gains.upload(np.array([9.0]), offset=8)
    assert gains.download(np.float64).tolist() == [1.5, 9.0, 3.5]
    assert gains.download("<f8", offset=8, count=1).tolist() == [9.0]
    other = gyre_runtime.buffer(24)
    other.copy_from(gains)
    other.fill(0, offset=16)
    assert other.download(np.float64).tolist() == [1.5, 9.0, 0.0]
    with pytest.raises(gyre.InvalidError):
        gains.free()
    amplify.close()
    gains.free()
    with pytest.raises(gyre.ClosedError, match="the buffer was freed"):
        gains.download()
    with pytest.raises(gyre.InvalidError):
        other.upload(b"too long", offset=20)


def test_a_kernel_pauses_and_ends(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    grant.deactivate()
    assert grant.info()["state"] == "inactive"
    grant.send(number=4)
    grant.activate()
    assert grant.receive().number == 4
    assert grant.terminate(drain=10) == 0
    assert grant.info()["state"] == "terminated"
    with pytest.raises(gyre.ClosedError):
        grant(number=1)
    assert "terminated" in repr(grant)


def test_statistics_count_all_queues(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    grant.send(number=1)
    grant.receive()
    grant(number=2)
    grant.map(np.zeros(1000, grant.request.dtype))
    stats = grant.stats()
    assert stats["sent"] == stats["received"] == 1002
    assert stats["request_size"] == grant.request.size
    assert grant.info()["handled"] == 1002


def test_the_log_goes_where_it_is_wanted(caplog: Any) -> None:
    lines: List[Tuple[int, str]] = []
    with gyre.open("cpu", settings={"gyre.log_level": "debug"}, log=lambda level, text: lines.append((level, text))) as rt:
        rt.launch(ECHO)
    assert lines and all(1 <= level <= 4 and text for level, text in lines)


def test_a_compiler_out_of_a_wheel() -> None:
    if importlib.util.find_spec("ziglang") is None:
        with pytest.raises(gyre.UnavailableError, match="pip install"):
            gyre.zig_compiler()
        pytest.skip("ziglang is not here")
    with gyre.open("cpu", settings={"backend.cpu.compiler": gyre.zig_compiler()}) as rt:
        assert rt.launch(ECHO)(word=6).word == 6


def test_types_are_read_without_a_launch(gyre_runtime: gyre.Runtime) -> None:
    types = gyre_runtime.load_types(HANDLERS)
    assert types["wish"].dtype.names == ("number", "outcome", "turns")
    assert gyre_runtime.backend()["name"] == "cpu"


def test_a_kernel_may_be_closed_while_others_ask_it(launch: Callable[..., Any]) -> None:
    for _ in range(20):
        total = launch("total")
        ended: List[BaseException] = []
        begun = threading.Barrier(4)

        def ask(total: Any = total, ended: Any = ended, begun: Any = begun) -> None:
            begun.wait()
            try:
                while True:
                    total.info()
                    total.read_state()
                    total.stats()
                    total.deactivate()
                    total.activate()
            except gyre.ClosedError as error:
                ended.append(error)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        begun.wait()
        total.close()
        for thread in threads:
            thread.join()
        assert len(ended) == 3


def test_streams_that_nobody_reads_keep_nothing_from_ending(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    replies = iter(grant.stream({"number": i} for i in range(3000)))
    assert next(replies).number == 0
    grant.close()
    with pytest.raises(gyre.ClosedError):
        list(replies)


def test_everything_is_refused_after_the_end(launch: Callable[..., Any], gyre_runtime: gyre.Runtime) -> None:
    grant = launch("grant")
    gyre_runtime.close()
    gyre_runtime.close()
    uses: List[Callable[[], Any]] = [lambda: grant(number=1), lambda: grant.send(number=1), lambda: grant.info(), lambda: grant.peek().__enter__()]
    for use in uses:
        with pytest.raises(gyre.ClosedError):
            use()
    with pytest.raises(gyre.ClosedError, match="the runtime was closed"):
        gyre_runtime.launch(ECHO)


def test_a_program_that_closes_nothing_ends_quietly() -> None:
    program = f"import gyre_kernels as g; rt = g.open('cpu'); k = rt.launch({HANDLERS!r}, kernel='grant'); print(k(number=3).number)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")


FORKED = """
import os, sys, gyre_kernels as gyre
with gyre.open("cpu") as rt:
    grant = rt.launch(sys.argv[1], kernel="grant")
    child = os.fork()
    if child == 0:
        try:
            grant(number=1)
        except gyre.GyreError as error:
            with gyre.open("cpu") as own:
                print(own.launch(sys.argv[1], kernel="grant")(number=7).number, flush=True)
        sys.exit(5)
    status = os.waitpid(child, 0)[1]
    print(os.waitstatus_to_exitcode(status), grant(number=2).number)
"""


def test_a_forked_child_has_runtimes_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED, HANDLERS], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "7\n5 2\n"), done.stderr


def test_a_runtime_that_nobody_holds_stays_open() -> None:
    program = f"""
import gc, gyre_kernels as g
def work():
    g.open("cpu").launch({HANDLERS!r}, kernel="grant")
work()
gc.collect()
(runtime,) = g.runtime._open_runtimes  # its threads log into Python
print(runtime._kernels[0](number=3).number)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")


def test_what_is_no_longer_wanted_is_collected(gyre_runtime: gyre.Runtime) -> None:
    for _ in range(20):
        with gyre_runtime.launch(HANDLERS, kernel="grant") as grant:
            grant(number=1)
    gc.collect()
    assert len(gyre_runtime._kernels) == 0
