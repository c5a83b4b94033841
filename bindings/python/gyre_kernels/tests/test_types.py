# SPDX-License-Identifier: Apache-2.0
"""Types as Gyre reflects them, and values on their way into bytes and back."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any, Callable, List

import numpy as np
import pytest

import gyre_kernels as gyre

MIXED = {
    "a": -8,
    "b": -16,
    "c": -32,
    "d": -(2**63),
    "e": 255,
    "f": 65535,
    "g": 2**32 - 1,
    "h": 2**64 - 1,
    "i": 0.5,
    "j": -1e300,
    "k": uuid.UUID(int=0x1234),
    "corners": [[{"x": 1.5, "y": -1}, {"x": 2.5}, {}], [{"y": 4}, {"y": 5}, {"y": 6}]],
    "grid": [[1, 2], [3, 4]],
}


def test_the_dtype_is_the_struct_of_c(launch: Callable[..., Any]) -> None:
    kind = launch("mirror").request
    assert kind.dtype.itemsize == kind.size
    assert kind.dtype.names == tuple("abcdefghijk") + ("corners", "grid")
    assert [kind.dtype.fields[name][1] for name in "abcdefgh"] == [0, 2, 4, 8, 16, 18, 20, 24]
    assert kind.dtype["corners"].shape == (2, 3)
    assert kind.dtype["corners"].base.fields["y"][1] == 8
    assert kind.dtype["d"] == np.dtype("<i8") and kind.dtype["i"] == np.dtype("<f4")


def test_every_kind_of_field_comes_back_as_it_went(launch: Callable[..., Any]) -> None:
    reply = launch("mirror")(**MIXED)
    for name in "abcdefghijk":
        assert getattr(reply, name) == MIXED[name], name
    assert reply.grid.tolist() == [[1, 2], [3, 4]]
    assert reply.corners[0][0].asdict() == {"x": 1.5, "y": -1}
    assert reply.corners[0][2].asdict() == {"x": 0, "y": 0}
    assert [corner.y for corner in reply.corners[1]] == [4, 5, 6]


def test_arrays_and_single_messages_have_the_same_bytes(launch: Callable[..., Any]) -> None:
    mirror = launch("mirror")
    rows = mirror.request.array([MIXED, {"a": 1}])
    assert rows["h"].tolist() == [2**64 - 1, 0]
    assert rows["corners"]["y"][0].tolist() == [[-1, 0, 0], [4, 5, 6]]
    replies = mirror.map(rows)
    assert replies.tobytes() == rows.tobytes()
    assert mirror.request.unpack(replies[0].tobytes()).grid.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "values, kind, sentence",
    [
        ({"z": 1}, TypeError, "'mixed' has no field 'z'; its fields are a, b, c"),
        ({"e": 256}, ValueError, "'mixed.e' is u8: expected 0 to 255, found 256"),
        ({"a": -129}, ValueError, "'mixed.a' is i8: expected -128 to 127, found -129"),
        ({"c": 0.5}, TypeError, "'mixed.c' is i32: expected a whole number, found 0.5"),
        ({"c": "five"}, TypeError, "'mixed.c' is i32: expected a number, found 'five'"),
        ({"grid": [1, 2, 3]}, ValueError, r"'mixed.grid': expected numbers of the shape \(2, 2\), found \(3,\)"),
        ({"corners": [[]]}, ValueError, "'mixed.corners': expected 2 elements, found 1"),
    ],
)
def test_values_that_do_not_fit_are_refused(
    launch: Callable[..., Any], values: Any, kind: Any, sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        launch("mirror").request.pack(**values)


def test_plain_numbers_are_checked_as_well(launch: Callable[..., Any]) -> None:
    grant = launch("grant")
    with pytest.raises(ValueError, match="'wish.number' is u32: expected 0 to 4294967295, found -1"):
        grant(number=-1)
    with pytest.raises(TypeError, match="'wish' has no field 'nummer'"):
        grant(nummer=1)
    with pytest.raises(ValueError, match="a message of type 'wish' has 16 bytes, found 3"):
        grant(b"abc")
    with pytest.raises(TypeError, match="expected the fields by name, a mapping, a received message or bytes, found int"):
        grant(5)


def test_a_reply_is_a_tuple_with_names(launch: Callable[..., Any]) -> None:
    reply = launch("grant")(number=5)
    assert reply == (5,) and reply.number == 5 and reply.asdict() == {"number": 5}
    assert repr(reply) == "granted(number=5)"
    with pytest.raises(AttributeError, match="'granted' has no field 'nummer'; its fields are number"):
        reply.nummer


TAILS = """
#include <gyre/kernel.h>
#define LEG(FIELD) FIELD(utf8, venue) FIELD(u32, price)
GYRE_MESSAGE(leg, LEG)
GYRE_SPAN(legs, leg)
#define ORDER(FIELD)                                                                      \\
    FIELD(u32, number) FIELD(utf8, symbol) FIELD(span_f64, prices) FIELD(optional_u16, halted) \\
    FIELD(span_utf8, notes) FIELD(legs, legs) FIELD(id128, owner)
GYRE_MESSAGE_TAIL(order, ORDER, 2048)
GYRE_KERNEL(mirror, order, order)
{
    reply->number = request->number;
    reply->symbol = gyre_copy(gyre, u8, reply, request, request->symbol);
    reply->prices = gyre_copy(gyre, f64, reply, request, request->prices);
    reply->halted = gyre_copy(gyre, u16, reply, request, request->halted);
    reply->owner = request->owner;
    return GYRE_REPLY;
}
"""
ORDER = {
    "number": 7,
    "symbol": "Grüße",
    "prices": [1.5, 2.5, -3],
    "halted": 9,
    "notes": ["one", "", "three"],
    "legs": [{"venue": "XETR", "price": 1}, {"venue": "NYSE", "price": 2}],
    "owner": uuid.UUID(int=5),
}


def test_texts_and_spans_go_there_and_back(gyre_runtime: gyre.Runtime) -> None:
    kind = gyre_runtime.launch(TAILS).request
    assert kind.tail == 2048 and kind.size > kind.least
    order = kind.unpack(kind.pack(ORDER))
    assert order.number == 7 and order.symbol == "Grüße" and order.halted == 9
    assert order.prices.tolist() == [1.5, 2.5, -3] and order.notes == ["one", "", "three"]
    assert [leg.asdict() for leg in order.legs] == ORDER["legs"]
    assert order.owner == uuid.UUID(int=5)
    empty = kind.unpack(kind.pack())
    assert empty.symbol == "" and empty.halted is None and len(empty.prices) == 0 and empty.legs == []


def test_handlers_see_texts_and_spans(gyre_runtime: gyre.Runtime) -> None:
    mirror = gyre_runtime.launch(TAILS)
    for number in range(20):
        prices = np.arange(number, dtype=np.float64)
        reply = mirror(number=number, symbol="ä" * number, prices=prices, halted=number if number % 2 else None)
        assert (reply.number, reply.symbol, reply.halted) == (number, "ä" * number, number if number % 2 else None)
        assert reply.prices.tolist() == prices.tolist()
    replies = mirror.map([{"number": i, "symbol": str(i)} for i in range(500)])
    assert [(reply.number, reply.symbol) for reply in replies] == [(i, str(i)) for i in range(500)]
    streamed = mirror.stream({"symbol": "x" * (i % 50)} for i in range(2000))
    assert [len(reply.symbol) for reply in streamed] == [i % 50 for i in range(2000)]

    async def main() -> Any:
        return await asyncio.gather(*(mirror.acall(symbol="y" * (i % 60)) for i in range(500)))

    assert [len(reply.symbol) for reply in asyncio.run(main())] == [i % 60 for i in range(500)]


def test_messages_with_tails_in_place(gyre_runtime: gyre.Runtime) -> None:
    mirror = gyre_runtime.launch(TAILS)
    with mirror.reserve(3) as slots:
        slots["number"] = [4, 5, 6]
    numbers: List[Any] = []
    while len(numbers) < 3:
        with mirror.peek(1) as views:
            numbers.append((views.message.number, views.message.symbol))
    assert numbers == [(4, ""), (5, ""), (6, "")]
    mirror.send(symbol="text")
    with mirror.peek() as views:
        assert views.message.symbol == "text" and views.replied


def test_copies_of_arrays_have_their_tails(gyre_runtime: gyre.Runtime) -> None:
    mirror = gyre_runtime.launch(TAILS)
    rows = mirror.request.array({"number": i, "symbol": f"text {i}"} for i in range(30))
    every_third = rows[::3]
    copied = np.zeros(10, rows.dtype)
    copied[:] = every_third
    for batch in (every_third, copied, every_third[np.arange(10)]):
        replies = mirror.map(batch)
        assert [mirror.reply.unpack(row.tobytes()).symbol for row in replies] == [f"text {i}" for i in range(0, 30, 3)]


def test_parts_that_lie_outside_of_the_message_are_refused(gyre_runtime: gyre.Runtime) -> None:
    kind = gyre_runtime.launch(TAILS).request
    data = bytearray(kind.pack(ORDER))
    at = kind.dtype.fields["prices"][1]
    data[at : at + 8] = (2000).to_bytes(4, "little") + (100).to_bytes(4, "little")
    with pytest.raises(ValueError, match="a part of type 'span_f64' lies outside of its message"):
        kind.unpack(bytes(data))


def test_what_has_no_room_in_the_tail_is_refused(gyre_runtime: gyre.Runtime) -> None:
    kind = gyre_runtime.launch(TAILS).request
    with pytest.raises(gyre.InvalidError, match="2048|room|fit"):
        kind.pack(symbol="x" * 3000)


def test_arrays_of_bytes_take_texts(gyre_runtime: gyre.Runtime) -> None:
    kind = gyre_runtime.launch(TAILS.replace("FIELD(u32, number)", "FIELD(u8, number[8])").replace(
        "reply->number = request->number;", "")).request
    assert bytes(kind.unpack(kind.pack(number="Grüße")).number) == "Grüße".encode() + b"\0"
    assert bytes(kind.unpack(kind.pack(number=b"abc")).number) == b"abc\0\0\0\0\0"
    with pytest.raises(ValueError, match="'order.number': expected at most 8 bytes, found 9"):
        kind.pack(number=b"123456789")


BANK = """
#include <gyre/kernel.h>
#define DEPOSIT(FIELD) FIELD(u32, account) FIELD(u64, cents)
GYRE_MESSAGE(deposit, DEPOSIT)
#define BALANCE(FIELD) FIELD(u64, cents)
GYRE_MESSAGE(balance, BALANCE)
#define NOTE(FIELD) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(note, NOTE, 200)
#define ECHO(FIELD) FIELD(u32, length) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(echo, ECHO, 200)
#define BANK(TAKES) TAKES(deposit, balance) TAKES(note, echo)
GYRE_PROTOCOL(bank, BANK)
GYRE_KERNEL_OF(bank, BANK)
GYRE_HANDLER(bank, deposit, balance)
{
    reply->cents = request->cents + request->account;
    return GYRE_REPLY;
}
GYRE_HANDLER(bank, note, echo)
{
    reply->length = request->text.count;
    reply->text = gyre_copy(gyre, u8, reply, request, request->text);
    return GYRE_REPLY;
}
"""


def test_a_kernel_of_several_types_takes_each_by_name(gyre_runtime: gyre.Runtime) -> None:
    bank = gyre_runtime.launch(BANK)
    reply = bank(deposit={"account": 5, "cents": 100})
    assert repr(reply) == "balance(cents=105)"
    assert bank({"note": {"text": "Grüße"}}).asdict() == {"length": 7, "text": "Grüße"}
    replies = list(bank.stream({"note": {"text": "x" * i}} if i % 2 else {"deposit": {"cents": i}} for i in range(200)))
    assert [r.length if i % 2 else r.cents for i, r in enumerate(replies)] == list(range(200))
    replies = bank.map([{"deposit": {"cents": 3}}, {"note": {"text": "ab"}}])
    assert [type(r).__name__ for r in replies] == ["balance", "echo"] and replies[1].text == "ab"

    async def main() -> Any:
        return await asyncio.gather(*(bank.acall(note={"text": "y" * i}) for i in range(100)))

    assert [r.length for r in asyncio.run(main())] == list(range(100))


def test_messages_that_no_handler_takes_are_refused(gyre_runtime: gyre.Runtime) -> None:
    bank = gyre_runtime.launch(BANK)
    with pytest.raises(TypeError, match="'bank_request' is one message of deposit, note: expected one of these, found loan"):
        bank(loan={})
    with pytest.raises(TypeError, match="found nothing"):
        bank()
    with pytest.raises(TypeError, match="'deposit' has no field 'sum'"):
        bank(deposit={"sum": 1})
    with pytest.raises(ValueError, match="says that it is number 9"):
        bank.reply.unpack((16).to_bytes(4, "little") + (9).to_bytes(4, "little") + bytes(8))
