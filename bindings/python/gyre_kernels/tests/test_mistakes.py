# SPDX-License-Identifier: Apache-2.0
"""What callers get wrong: a sentence for each mistake, and never a crash."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any, Callable, List

import numpy as np
import pytest

import gyre_kernels as gyre
from gyre_kernels import runtime as runtime_module

from .conftest import HANDLERS

WORDS = """
#include <gyre/kernel.h>
#define WORD(FIELD) FIELD(utf8, text) FIELD(span_id128, ids) FIELD(span_u32, marks)
GYRE_MESSAGE_TAIL(word, WORD, 256)
GYRE_KERNEL(words, word, word) { *reply = *request; return GYRE_NO_REPLY; }
"""


@pytest.mark.parametrize(
    "fields, kind, sentence",
    [
        ({"value": None}, TypeError, "'sample.value' is f64: expected a number, found None"),
        ({"value": object()}, TypeError, "'sample.value' is f64: expected a number, found <object"),
        ({"value": [1, 2]}, TypeError, r"'sample.value' is f64: expected one number, found \[1, 2\]"),
        ({"value": 10**400}, ValueError, "'sample.value' is f64: expected a number that it can hold, found 1000"),
    ],
)
def test_numbers(launch: Callable[..., Any], fields: Any, kind: Any, sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        launch("scale")(**fields)


@pytest.mark.parametrize(
    "fields, kind, sentence",
    [
        ({"corners": 5}, TypeError, "'mixed.corners': expected a list, found int"),
        ({"corners": None}, TypeError, "'mixed.corners': expected a list, found NoneType"),
        ({"grid": [[1, 2], [3]]}, (TypeError, ValueError), r"'mixed.grid' is u16: expected .*, found \[\[1, 2\], \[3\]\]"),
        ({"k": 16}, TypeError, "'mixed.k': expected a uuid.UUID, a str or 16 bytes, found int"),
        ({"k": b"x" * 17}, ValueError, "'mixed.k': expected 16 bytes, found 17"),
    ],
)
@pytest.mark.filterwarnings("ignore:Creating an ndarray from ragged")  # NumPy before 1.24
def test_nested_arrays(launch: Callable[..., Any], fields: Any, kind: Any, sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        launch("mirror").request.pack(**fields)


def test_texts_and_spans(gyre_runtime: gyre.Runtime) -> None:
    words = gyre_runtime.launch(WORDS)
    with pytest.raises(TypeError, match="'word.text': expected a str or bytes, found int"):
        words(text=5)
    with pytest.raises(TypeError, match="'word.ids': expected a list, found int"):
        words(ids=5)
    with pytest.raises(TypeError, match="'word.marks' is u32: expected a number, found None"):
        words(marks=None)
    with pytest.raises(ValueError, match=r"a message of type 'word' has \d+ to \d+ bytes, found 3"):
        words(b"abc")
    assert words(text=bytearray(b"a"), ids=(bytes([i] * 16) for i in range(2))) is None


def test_arrays_are_taken_by_the_names_of_their_fields(launch: Callable[..., Any]) -> None:
    scale = launch("scale")
    turned = np.array([(2.0, 3.5)], [("factor", "f8"), ("value", "f4")])
    np.testing.assert_array_equal(scale.request.convert(turned)["value"], [3.5])
    assert scale.map(turned)["result"].tolist() == [7.0]
    assert scale.map(np.ones(2, [("value", "i4")]))["result"].tolist() == [0, 0]  # as of a mapping
    with pytest.raises(TypeError, match="'sample': expected an array with the fields value, factor, found the field 'x'"):
        scale.map(np.ones(2, [("value", "f8"), ("x", "f8")]))
    with pytest.raises(TypeError, match="'sample': expected an array with the fields value, factor, found an array of float64"):
        scale.map(np.ones(2))


def test_numbers_of_arrays_have_to_fit(launch: Callable[..., Any]) -> None:
    grant, mirror = launch("grant"), launch("mirror")
    with pytest.raises(ValueError, match="'wish.number' is u32: expected 0 to 4294967295, found array"):
        grant.map(np.array([(1,), (-1,)], [("number", "i8")]))
    with pytest.raises(TypeError, match="'wish.number' is u32: expected a whole number, found array"):
        grant.map(np.array([(1.5,)], [("number", "f8")]))
    with pytest.raises(ValueError, match="'wish.turns' is u64: expected 0 to 18446744073709551615, found array"):
        grant.map(np.array([(2.0**64,)], [("turns", "f8")]))
    assert grant.request.convert(np.array([(2.0**63,)], [("turns", "f8")]))["turns"].tolist() == [2**63]
    corners = np.ones(3, [("corners", [("y", "i4"), ("x", "f8")], (2, 3))])
    assert mirror.map(corners)["corners"]["y"].sum() == 18
    with pytest.raises(ValueError, match=r"'mixed.grid': expected an array of the shape \(3, 2, 2\), found \(3, 4\)"):
        mirror.map(np.ones(3, [("grid", "u2", (4,))]))


def test_one_message_is_no_batch(launch: Callable[..., Any]) -> None:
    scale = launch("scale")
    row = np.zeros(1, scale.request.dtype)[0]
    for one in (None, 5, "text", b"bytes", {"value": 1}, scale(value=1), row):
        with pytest.raises(TypeError, match="'sample': expected an array or an iterable of messages, found"):
            scale.map(one)
        with pytest.raises(TypeError, match="'sample': expected an array or an iterable of messages, found"):
            list(scale.stream(one))


def test_replies_may_go_where_the_requests_are(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    memory = np.zeros(160_000, np.uint8)
    requests = memory.view(grant.request.dtype)
    requests["number"] = np.arange(10_000)
    out = memory[120_000:].view(grant.reply.dtype)
    assert grant.map(requests, out=out)["number"].tolist() == list(range(10_000))


def test_counts_and_times(launch: Callable[..., Any]) -> None:
    scale = launch("scale")
    for wrong, kind in (("x", TypeError), (1.5, TypeError), (None, TypeError), (10**30, ValueError), (-1, ValueError)):
        with pytest.raises(kind, match="reserve: expected "):
            scale.reserve(wrong)
        with pytest.raises(kind, match="peek: expected "):
            scale.peek(wrong)
    with pytest.raises(TypeError, match="timeout: expected None or seconds, found str"):
        scale.call({"value": 1}, timeout="1")
    scale.send(value=3, factor=2)
    with scale.peek(2**62) as views:  # takes no memory for so many
        assert views["result"].tolist() == [6.0]


def test_what_a_runtime_is_given(gyre_runtime: gyre.Runtime) -> None:
    with pytest.raises(TypeError, match="backend: expected a str, found int"):
        gyre.open(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="backend: expected a str without zeros"):
        gyre.open("cpu\0cuda")
    with pytest.raises(TypeError, match="settings: expected a mapping, found list"):
        gyre.open(settings=["gyre.backend=cpu"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="log: expected a function of a level and a text, found int"):
        gyre.open("cpu", log=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="name: expected a str, found int"):
        gyre_runtime.launch(HANDLERS, name=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="lanes: expected 0 to 4294967295, found -1"):
        gyre_runtime.launch(HANDLERS, kernel="scale", lanes=-1)
    with pytest.raises(TypeError, match="buffers: expected a buffer for 'gain', found int: rt.buffer makes one"):
        gyre_runtime.launch(HANDLERS, kernel="amplify", buffers={"gain": 5})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="pipeline: expected the name of a pipeline, found None"):
        gyre_runtime.pipeline(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="attach: expected the name of a kernel, found None"):
        gyre.attach(None)  # type: ignore[arg-type]


def test_buffers_have_plain_memory(gyre_runtime: gyre.Runtime) -> None:
    """The bytes of a buffer, taken as pointers to objects, would end the interpreter."""
    buffer = gyre_runtime.buffer(np.int64(64))
    assert buffer.size == 64
    turned = gyre_runtime.buffer(np.array([1, 2], ">u4"))  # handlers read numbers as this machine has them
    turned.upload(np.array([7], ">u4"), 4)
    assert turned.download("=u4").tolist() == [1, 7] == turned.array().tolist()
    with pytest.raises(gyre.InvalidError, match="from byte 9 on of a buffer of 8 bytes"):
        turned.download("u1", 9)
    for content in ("text", None, 2.5, True, np.array([object()])):
        with pytest.raises(TypeError, match="buffer: expected a size in bytes, bytes, or an array of numbers, found"):
            gyre_runtime.buffer(content)
        with pytest.raises(TypeError, match="upload: expected bytes, or an array of numbers, found"):
            buffer.upload(content)
    with pytest.raises(TypeError, match="expected a type of numbers, found object"):
        buffer.download(object)
    buffer.dtype = np.dtype(object)
    for take in (buffer.array, buffer.__dlpack__, lambda: np.asarray(buffer)):
        with pytest.raises(TypeError, match="expected a type of numbers, found object"):
            take()


def test_places_in_buffers(gyre_runtime: gyre.Runtime) -> None:
    buffer = gyre_runtime.buffer(64)
    with pytest.raises(gyre.InvalidError, match="download: 65 items of 1 bytes from a buffer of 64 bytes"):
        buffer.download(count=65)
    with pytest.raises(ValueError, match="offset: expected 0 or more, found -1"):
        buffer.upload(b"x", offset=-1)
    with pytest.raises(ValueError, match="byte: expected 0 to 255, found 256"):
        buffer.fill(256)
    with pytest.raises(TypeError, match="copy_from: expected a buffer, found bytes: upload takes arrays and bytes"):
        buffer.copy_from(b"x")  # type: ignore[arg-type]


def test_what_is_resident_is_not_copied(gyre_runtime: gyre.Runtime, launch: Callable[..., Any]) -> None:
    scale = launch("scale")
    for one in (gyre_runtime, scale, gyre_runtime.buffer(8)):
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot be copied or pickled"):
                make(one)


def test_messages_are_copied_and_pickled(launch: Callable[..., Any]) -> None:
    reply = launch("scale")(value=3, factor=2)
    for again in (copy.deepcopy(reply), pickle.loads(pickle.dumps(reply))):
        assert again == reply and again.result == 6.0 and repr(again) == "scaled(result=6.0)"


def test_short_bytes_are_no_message(launch: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="a message of type 'scaled' has 8 bytes at least, found 3"):
        launch("scale").reply.unpack(b"abc")


def test_a_launch_that_a_signal_ends_leaves_no_kernel(gyre_runtime: gyre.Runtime, monkeypatch: Any) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runtime_module, "Kernel", interrupted)
        with pytest.raises(KeyboardInterrupt):
            gyre_runtime.launch(HANDLERS, kernel="scale")
    assert gyre_runtime.launch(HANDLERS, kernel="scale")(value=3, factor=2).result == 6.0


def test_a_closed_server_says_so(gyre_runtime: gyre.Runtime, tmp_path: Any) -> None:
    server = gyre_runtime.serve(str(tmp_path / "door"))
    server.close()
    with pytest.raises(gyre.ClosedError, match="the server was closed"):
        server.info()


def _until_closed(works: List[Callable[[], Any]], close: Callable[[], Any]) -> List[BaseException]:
    """What each piece of work, done again and again by a thread of its own, ended with: `close` comes when all are at it."""
    ends: List[BaseException] = []
    at_it = [threading.Event() for _ in works]

    def work(number: int) -> None:
        try:
            while True:
                works[number]()
                at_it[number].set()
        except BaseException as error:
            ends.append(error)
            at_it[number].set()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for event in at_it:
        event.wait()
    close()
    for thread in threads:
        thread.join()
    return ends


def test_a_buffer_may_be_freed_while_others_copy(gyre_runtime: gyre.Runtime) -> None:
    data = np.ones(1 << 16, np.uint8)
    for _ in range(5):
        buffer = gyre_runtime.buffer(data.nbytes)
        ends = _until_closed([lambda: buffer.upload(data), buffer.download, lambda: buffer.fill(1)], buffer.free)
        assert [str(end) for end in ends] == ["the buffer was freed"] * 3


def test_a_runtime_may_be_closed_while_others_use_it() -> None:
    data = np.ones(1 << 12, np.uint8)
    for _ in range(5):
        runtime = gyre.open("cpu")
        scale, buffer = runtime.launch(HANDLERS, kernel="scale"), runtime.buffer(data.nbytes)
        works = [
            lambda: scale(value=1),
            lambda: buffer.upload(data),
            lambda: runtime.buffer(100).free(),
            lambda: runtime.launch(HANDLERS, kernel="grant").close(),
            runtime.types,
        ]
        ends = _until_closed(works, runtime.close)
        assert [type(end) for end in ends] == [gyre.ClosedError] * 5, ends
