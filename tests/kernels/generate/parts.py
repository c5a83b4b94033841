# SPDX-License-Identifier: Apache-2.0
"""Kernels whose messages have tails: texts, spans, records within records, optional fields."""
from base import *

SHORTEST = (1 << 32) - 1
TAIL_FULL = failed(-9, "the reply's tail has no room for it")
WORDS = ["", "a", "Grüße", "two words", "日本語", "x" * 40, "  spaced  out ", "ALL CAPS", "end."]


def ident(rng):
    digits = "%032x" % rng.getrandbits(128)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def upper(text):
    return "".join(c.upper() if "a" <= c <= "z" else c for c in text)


def fnv(data):
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xffffffff
    return value


def aligned(end, alignment):
    return (end + alignment - 1) // alignment * alignment


@case("parts_chat")
def chat(rng):
    requests, replies = [], []
    for number in range(60):
        text = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(4)))
        author = rng.choice(WORDS)
        room = rng.choice([None, "", "hall", "Küche"])
        line = {"id": ident(rng), "level": 9 if number % 20 == 7 else rng.randrange(9), "author": author,
                "text": text, "room": room}
        answer = {"id": line["id"], "words": sum(1 for word in text.encode().split(b" ") if word),
                  "text": upper(text), "to": ["@", author] if author else [],
                  "room_hash": None if room is None else fnv(room.encode())}
        requests.append(line)
        end = 4 + 16 + 4 + 8 * 3 + len(text.encode())
        if author:
            end = aligned(end, 8) + 16 + 1 + len(author.encode())
        if room is not None:
            end = aligned(end, 4) + 4
        if line["level"] == 9:
            replies.append(failed(-8, "no item of that index"))
        else:
            replies.append(TAIL_FULL if end > 48 + 160 else answer)
    return {"requests": requests, "replies": replies}


def address(rng):
    return {"street": rng.choice(WORDS), "number": rng.randrange(65536),
            "door": rng.choice([None, "", "left", "Tür 3"])}


def address_bytes(value):
    return len(value["street"].encode()) + len((value["door"] or "").encode())


@case("parts_order")
def order(rng):
    requests, replies = [], []
    for number in range(40):
        lines = [{"article": str(rng.getrandbits(64)), "pieces": rng.randrange(100), "price": rng.randrange(1000) / 4,
                  "rebate": rng.choice([None, rng.randrange(64) / 8]),
                  "notes": [rng.choice(WORDS) for _ in range(rng.randrange(4))]}
                 for _ in range(rng.choice([0, 1, 2, 5, 8]))]
        whole = {"id": ident(rng), "to": address(rng), "invoice_to": rng.choice([None, address(rng)]),
                 "lines": lines, "codes": [rng.choice(WORDS), rng.choice(WORDS)]}
        total, end, notes = 0.0, 40 + 40 * len(lines), 0
        for line in reversed(lines):
            total += line["price"] * line["pieces"] - (line["rebate"] or 0)
            if line["rebate"] is not None:
                end = aligned(end, 4) + 4
            if line["notes"]:
                end = aligned(end, 8) + 8 * len(line["notes"])
            for note in line["notes"]:
                end += len(note.encode())
                notes += len(note.encode())
        requests.append(whole)
        if end > 40 + 1200:
            replies.append(TAIL_FULL)
            continue
        replies.append({"id": whole["id"], "total": total, "note_bytes": notes,
                        "address_bytes": address_bytes(whole["to"]) +
                        (address_bytes(whole["invoice_to"]) if whole["invoice_to"] else 0) +
                        sum(len(code.encode()) for code in whole["codes"]),
                        "lines": list(reversed(lines))})
    return {"requests": requests, "replies": replies}


@case("parts_ticks", lanes=32, blocks=2)
def ticks(rng):
    requests, replies = [], []
    for count in [0, 1, 2, 31, 32, 33, 100, 222, 240, 250]:
        symbol = rng.choice(WORDS)[:9]
        rows = [{"time": i, "price": rng.randrange(-100000, 100000), "size": rng.getrandbits(32),
                 "flags": rng.getrandbits(32)} for i in range(count)]
        prices = [row["price"] for row in rows]
        requests.append({"symbol": symbol, "ticks": rows})
        end = aligned(40 + len(symbol.encode()), 4) + 4 * max(0, count - 1)
        if end > 40 + 900:
            replies.append(TAIL_FULL)
            continue
        replies.append({"volume": sum(row["size"] for row in rows), "low": min(prices, default=2147483647),
                        "high": max(prices, default=-2147483648), "symbol": symbol,
                        "differences": [b - a for a, b in zip(prices, prices[1:])]})
    return {"requests": requests, "replies": replies}


def guid(rng):
    """16 bytes on the wire."""
    return bytes(rng.getrandbits(8) for _ in range(16))


def add_pairs(rng):
    """VectorAdd on the wire: requests, and for each the reply or the failure."""
    known = bytes.fromhex("33221100 5544 7766 8899 aabbccddeeff 2a 01 44332211 6655 8877 99aa bbccddeeff00 "
                          "0000c03f 00002040")
    yield known, known[:34] + struct.pack("<f", 4.0)
    for number in range(40):
        head = guid(rng) + bytes([rng.getrandbits(8)])
        flag = rng.randrange(2)
        correlation = bytes([flag]) + (guid(rng) if flag else bytes(16))
        a, b = f32(rng.randrange(-1000, 1000) / 8), f32(rng.randrange(-1000, 1000) / 4)
        whole = head + correlation + struct.pack("<ff", a, b)
        if number % 8 == 1:
            yield whole[:41], failed(41, "the input ends within it")
        elif number % 8 == 5:
            yield whole[:17] + b"\x02" + whole[18:], failed(17, "expected an optional value's flag, 0 or 1")
        elif number % 8 == 3:
            yield whole + b"!", failed(42, "bytes are left over behind the message")
        else:
            yield whole, head + correlation + struct.pack("<f", a + b)


def shown(pairs, show):
    """The same, as lines of a case."""
    pairs = list(pairs)
    return {"requests": [show(request) for request, _ in pairs],
            "replies": [show(reply) if isinstance(reply, bytes) else reply for _, reply in pairs]}


@case("wire_add")
def wire_add(rng):
    return shown(add_pairs(rng), lambda raw: {"bytes": list(raw)})


@case("wired_add")
def wired_add(rng):
    return shown(add_pairs(rng), bytes.hex)


def frame(payload, time, sender, receiver, size=None):
    return (struct.pack("<IQQII", 0xdcf1, len(payload) if size is None else size, time, sender, receiver) + bytes(228) +
            payload)


def framed_pairs(rng):
    for number, (request, reply) in enumerate(add_pairs(rng)):
        time, sender, receiver = rng.getrandbits(64), rng.getrandbits(32), rng.getrandbits(32)
        whole = frame(request, time, sender, receiver)
        if isinstance(reply, dict):
            inner = reply["failed"]
            yield whole, failed(inner["code"] + 256, inner["text"])
        elif number % 8 == 2:
            yield b"\xf2" + whole[1:], failed(0, "no frame: expected the magic 0xDCF1")
        elif number % 8 == 4:
            yield frame(request, time, sender, receiver, 43), failed(4, "the frame names another size")
        elif number % 16 == 6:
            yield whole[:255], failed(0, "no frame: expected the magic 0xDCF1")
        else:
            yield whole, frame(reply, time, receiver, sender)


@case("wired_framed")
def wired_framed(rng):
    return shown(framed_pairs(rng), bytes.hex)


@case("wired_order", lanes=32)
def wired_order(rng):
    pairs = []
    for request, reply in order_pairs(rng):
        pairs.append((request, request if isinstance(reply, int) else reply))
    return shown(pairs, bytes.hex)


def wire_text(text, utf16):
    """A text of MemoryPack; None is null."""
    if not text:
        return struct.pack("<i", 0 if text == "" else -1)
    units = text.encode("utf-16-le")
    if utf16:
        return struct.pack("<i", len(units) // 2) + units
    return struct.pack("<ii", ~len(text.encode()), len(units) // 2) + text.encode()


def wire_address(address):
    if address is None:
        return b"\xff"
    return (b"\x03" + wire_text(address[0], False) + struct.pack("<H", address[1]) + wire_text(address[2], False))


def wire_line(line):
    article, pieces, price, rebate, notes = line
    flagged = struct.pack("<Bf", rebate is not None, rebate or 0.0)
    return (struct.pack("<QIf", article, pieces, price) + flagged + struct.pack("<i", len(notes)) +
            b"".join(wire_text(note, True) for note in notes))


def order_pairs(rng):
    """Orders on the wire, and for each the number of pieces or the failure."""
    words = ["", "a", "Gr\u00fc\u00dfe", "\u65e5\u672c", "x\U0001f514", "fragile"]
    for number in range(48):
        lines = [(rng.getrandbits(64), rng.randrange(1000), rng.randrange(100) / 4,
                  rng.choice([None, 0.25]), [rng.choice(words) for _ in range(rng.randrange(3))])
                 for _ in range(rng.randrange(5))]
        addresses = [(rng.choice(words), rng.randrange(65536), rng.choice(words + [None])) for _ in range(2)]
        if rng.randrange(2):
            addresses[0] = None
        head = b"\x04" + struct.pack("<i", len(lines)) + b"".join(wire_line(line) for line in lines)
        whole = head + guid(rng) + wire_address(addresses[0]) + wire_address(addresses[1])
        reply = sum(line[1] for line in lines)
        if number % 8 == 1:
            whole, reply = whole[:-1], failed(len(whole) - 1, "the input ends within it")
        if number % 8 == 3:
            whole = whole[:1] + struct.pack("<i", -2) + whole[5:]
            reply = failed(1, "a collection's count is negative or too big")
        if number % 8 == 5:
            whole, reply = b"\x03" + whole[1:], failed(
                0, "an object of another number of members")
        if number % 8 == 7:
            whole = head + guid(rng) + b"\x02" + wire_address(addresses[1])
            reply = failed(len(head) + 16, "an object of another number of members")
        yield whole, reply


@case("wire_order")
def wire_order(rng):
    pairs = list(order_pairs(rng))
    return {"requests": [{"bytes": list(request)} for request, _ in pairs],
            "replies": [{"pieces": reply, "bytes": list(request)} if isinstance(reply, int) else reply
                        for request, reply in pairs]}


def decimal(number, decimals):
    """As gyre_append_f64 writes it: Python rounds exactly, too."""
    if math.isnan(number):
        return "nan"
    return "%.*f" % (decimals, number) if decimals != SHORTEST else shortest(number)


def shortest(number):
    """As %.17g, with the fewest digits that read back."""
    if math.isinf(number) or number == 0:
        return "%g" % number
    digits = next(d for d in range(1, 18) if float("%.*e" % (d - 1, number)) == number)
    text = "%.*e" % (digits - 1, number)
    exponent = int(text.split("e")[1])
    if exponent < -4 or exponent >= 17:
        return text
    figures = text.split("e")[0].replace("-", "").replace(".", "")
    if exponent < 0:
        figures = "0." + "0" * (-exponent - 1) + figures
    elif digits > exponent + 1:
        figures = figures[:exponent + 1] + "." + figures[exponent + 1:]
    else:
        figures += "0" * (exponent + 1 - digits)
    return ("-" if number < 0 else "") + figures


@case("decimals")
def decimals(rng):
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan, 5e-324, -5e-324, 2.2250738585072014e-308,
               2.225073858507201e-308, 1.7976931348623157e308, 0.1, -0.1, 0.3, 1 / 3, 1e15, 1e16, 1e17, 1e21, 1e22, 1e23, 9.5,
               2.5, 0.5, 0.125, 9.995, 999.9995, -0.4, 5e-5, 1e-4, 9007199254740993.0, 2.0 ** -44, 2.0 ** 63, 2.0 ** 64]
    special += [2.0 ** power for power in range(-1074, 1024, 131)] + [float("1e%d" % power) for power in range(-323, 309, 41)]
    numbers = [(number, d) for number in special for d in (SHORTEST, 0, 2, 17)]
    numbers += [(from_bits64(rng.getrandbits(64)), SHORTEST) for _ in range(200)]
    numbers += [(rng.randrange(10 ** 6) / 1000, rng.choice([SHORTEST, 0, 1, 2, 3, 9])) for _ in range(100)]
    numbers += [(from_bits64(rng.getrandbits(64)), rng.randrange(60)) for _ in range(50)]
    numbers += [(0.1, 60), (5e-324, 330), (1.0, 5000)]
    lines = [">" + decimal(number, min(d, 1074) if d != SHORTEST else d) for number, d in numbers]
    return {"requests": [{"bits": str(bits64(number)), "decimals": d} for number, d in numbers],
            "replies": [TAIL_FULL if len(line) > 400 else {"line": line} for line in lines]}


@case("texts")
def texts(rng):
    requests, replies = [], []
    names = ["", "Ada", "Adam", "Al", "Gottlob", "Leibnitz"]
    for number in range(60):
        name, one, other = rng.choice(names).encode(), rng.choice(WORDS), rng.choice(WORDS + ["words", "o", "two words"])
        ask = {"name": list(name.ljust(8, b"\0")), "one": one, "other": other,
               "number": str(rng.choice([0, 7, -1, -(1 << 63), (1 << 63) - 1, rng.randrange(-10 ** 6, 10 ** 6)])),
               "price": rng.choice([0.0, 9.5, -0.25, 0.9999, 1e22, -3e19, 123456.78125, rng.randrange(10 ** 6) / 64]),
               "decimals": rng.choice([0, 1, 2, 4, 9])}
        a, b = one.encode(), other.encode()
        line = (name + b": " + a[1:31] + b" " + ask["number"].encode() + b"/" +
                str(int(ask["number"]) % (1 << 64)).encode() + b" " + decimal(ask["price"], ask["decimals"]).encode())
        try:
            line.decode()
        except UnicodeDecodeError:
            continue
        requests.append(ask)
        told = {"order": (a > b) - (a < b), "found": a.find(b) % (1 << 32), "blank": a.find(b" ") % (1 << 32),
                "equal": int(a == b), "is_ada": int(name == b"Ada"), "begins": int(a.startswith(b"two ")),
                "stored": min(len(a), 6), "copy": list(a[:6].ljust(6, b"\0")), "line": line.decode()}
        replies.append(TAIL_FULL if len(line) > 120 else told)
    return {"requests": requests, "replies": replies}
