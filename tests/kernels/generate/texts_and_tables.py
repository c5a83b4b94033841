# SPDX-License-Identifier: Apache-2.0
"""Lane kernels over bytes and tables, and those that share state or buffers."""
import hashlib
import string
import zlib

from base import *

LETTERS = string.ascii_letters + "_"


def tokens_of(text):
    """The tokenizer's rules, as a scanner that looks ahead. Returns tokens, the sum of numbers, the bad place."""
    tokens, total, i = [], 0, 0
    while i < len(text):
        c, start = text[i], i
        if c in LETTERS:
            while i < len(text) and (text[i] in LETTERS or text[i].isdigit()):
                i += 1
            tokens.append((1, start, i - start))
        elif c.isdigit():
            while i < len(text) and text[i].isdigit():
                i += 1
            tokens.append((2, start, i - start))
            total += int(text[start:i])
            if i < len(text) and text[i] in LETTERS:
                return tokens, total, i
        elif c == '"':
            i += 1
            while i < len(text) and text[i] != '"':
                i += 2 if text[i] == "\\" else 1
            i = min(i + 1, len(text))
            tokens.append((3, start, i - start))
        else:
            i += 1
            if c > " ":
                tokens.append((4, start, 1))
    return tokens, total, 0


@case("tokenizer")
def tokenizer(rng):
    texts = ["", "x", "let x = 42;", 'say("hello \\"world\\"", 7)', "a1 b2 c3 123", "f(x)=x*x+10", "12ab", "  ",
             '"open', "1 2 3 4 5 6", "if(a<b){swap(a,b);}", 'x="" y="a"', "99 bottles_of beer 99"]
    requests, replies = [], []
    for text in texts:
        tokens, total, bad = tokens_of(text)
        if bad:  # what is read before the bad character does not count as a finished number
            total -= int(text[tokens[-1][1]:bad])
        padded = tokens + [(0, 0, 0)] * (24 - len(tokens))
        requests.append({"length": len(text), "text": text_bytes(text, 120)})
        replies.append({"count": len(tokens), "bad_at": bad, "total": total,
                        "tokens": [{"kind": k, "start": s, "length": n} for k, s, n in padded]})
    requests.append({"length": 121, "text": text_bytes("", 120)})
    replies.append(failed(1, "longer than its array"))
    return {"requests": requests, "replies": replies}


@case("string_scan")
def string_scan(rng):
    inputs = [("the cat sat on the mat", "the"), ("aaaa", "aa"), ("", "x"), ("abc", "abcd"), ("one\ntwo\n", "\n"),
              ("x" * 96, "xxx"), ("Hello, World", "World"), ("mississippi", "issi"), ("a b c", "z")]
    requests, replies = [], []
    for text, word in inputs:
        places = [i for i in range(len(text) - len(word) + 1) if text.startswith(word, i)]
        longest = max((len(part) for part in text.replace("\n", " ").split(" ")), default=0)
        requests.append({"text_length": len(text), "word_length": len(word), "text": text_bytes(text, 96),
                         "word": text_bytes(word, 12)})
        replies.append({"first": places[0] if places else -1, "count": len(places), "lines": text.count("\n"),
                        "longest": longest, "upper": text_bytes(text.upper(), 96)})
    requests.append({"text_length": 3, "word_length": 0, "text": text_bytes("abc", 96), "word": [0] * 12})
    replies.append(assertion("string_scan", "length <= 96 && word_length > 0 && word_length <= 12"))
    return {"requests": requests, "replies": replies}


def murmur3(data, seed):
    def scramble(k):
        return u32(rotl32(u32(k * 0xcc9e2d51), 15) * 0x1b873593)
    h = seed
    whole = len(data) // 4 * 4
    for i in range(0, whole, 4):
        h = u32(rotl32(h ^ scramble(int.from_bytes(data[i:i + 4], "little")), 13) * 5 + 0xe6546b64)
    h ^= scramble(int.from_bytes(data[whole:], "little")) ^ len(data)
    h = u32((h ^ h >> 16) * 0x85ebca6b)
    h = u32((h ^ h >> 13) * 0xc2b2ae35)
    return h ^ h >> 16


@case("hash")
def hashes(rng):
    requests, replies = [], []
    for length in (0, 1, 2, 3, 4, 5, 31, 64, 99, 100):
        data, seed = rng.randbytes(length), rng.getrandbits(32)
        fnv = 0xcbf29ce484222325
        for byte in data:
            fnv = u64((fnv ^ byte) * 0x100000001b3)
        requests.append({"length": length, "seed": seed, "bytes": list(data) + [0] * (100 - length)})
        replies.append({"fnv": fnv, "murmur": murmur3(data, seed), "crc": zlib.crc32(data)})
    requests.append({"length": 101, "seed": 0, "bytes": [0] * 100})
    replies.append(assertion("hash", "request->length <= 100"))
    return {"requests": requests, "replies": replies}


@case("sha256")
def sha256(rng):
    requests, replies = [], []
    for length in (0, 1, 3, 55, 56, 63, 64, 65, 118, 119):
        data = rng.randbytes(length)
        requests.append({"length": length, "bytes": list(data) + [0] * (119 - length)})
        replies.append({"digest": list(hashlib.sha256(data).digest())})
    requests.append({"length": 120, "bytes": [0] * 119})
    replies.append(assertion("sha256", "request->length <= 119"))
    return {"requests": requests, "replies": replies}


@case("lookup")
def lookup(rng):
    days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    curve = [0.0, 1.5, 2.0, -1.0, 4.0]
    requests, replies = [], []
    for month, year, index, at in [(1, 2000, 0, -1.0), (2, 2000, 99, 0.5), (2, 1900, 100, 1.25), (2, 2024, 1000, 2.75),
                                   (12, 2023, 5, 3.5), (2, 2023, 12345, 9.0), (0, 2000, 0, 0.0), (13, 2000, 0, 0.0)]:
        leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
        position = min(max(at, 0.0), f32(3.999))
        whole = int(position)
        value = f32(curve[whole] + f32((curve[whole + 1] - curve[whole]) * f32(position - whole)))
        factor = 5 if index >= 1000 else 3 if index >= 100 else 2
        requests.append({"month": month, "year": year, "index": index, "at": F32(at)})
        if 1 <= month <= 12:
            replies.append({"days": days[month - 1] + (leap and month == 2), "weight": index * factor,
                            "interpolated": F32(value), "letter": ord("%x" % (index % 16))})
        else:
            replies.append(assertion("lookup", "request->month >= 1 && request->month <= 12"))
    return {"requests": requests, "replies": replies}


@case("outcomes")
def outcomes(rng):
    long_text = "a text that is longer than the 43 bytes that a failure carries"
    expected = {0: lambda c: {"code": c + 1}, 1: lambda c: NO_REPLY, 2: lambda c: failed(c, "told to fail"),
                3: lambda c: {"code": c + 1} if c < 100 else assertion("outcomes", "code < 100"),
                4: lambda c: failed(c, "the first one counts"),
                5: lambda c: failed(c, "a failure cannot be taken back"), 6: lambda c: failed(c, long_text)}
    inputs = [(way, code) for way in range(7) for code in (0, 5, 99, 100, 2147483000)] + [(0, -7), (3, -1)]
    return {"requests": [{"way": way, "code": code} for way, code in inputs],
            "replies": [expected[way](code) for way, code in inputs]}


@case("clock")
def clock(rng):
    turns = [0, 1, 100, 1000]
    return {"requests": [{"turns": n} for n in turns], "replies": [{"forward": 1, "set": 1} for _ in turns]}


@case("histogram", lanes=32, blocks=2)
def histogram(rng):
    requests, replies, seen = [], [], []
    for i in range(40):
        values = [rng.randrange(256) for _ in range(rng.randrange(61))]
        seen += values
        requests.append({"count": len(values), "values": values + [0] * (60 - len(values))})
        replies.append({"counted": len(values)})
    requests.append({"count": 61, "values": [1] * 60})
    replies.append(assertion("histogram", "request->count <= 60"))
    bins = [sum(1 for v in seen if v * 32 // 256 == b) for b in range(32)]
    return {"requests": requests, "replies": replies,
            "state": {"bins": [0] * 32, "total": 0, "largest": 0, "smallest": 0xffffffff},
            "after": {"state": {"bins": bins, "total": sum(seen), "largest": max(seen), "smallest": min(seen)}}}


@case("atomics", lanes=64, blocks=2)
def atomics(rng):
    widths = {"u32": (32, False), "i32": (32, True), "u64": (64, False), "i64": (64, True)}
    keys = {"u32": "u", "i32": "i", "u64": "w", "i64": "l"}
    requests, state, after = [], {}, {}
    for _ in range(100):
        request = {key: signed(rng.getrandbits(w), w) if s else rng.getrandbits(w)
                   for (w, s), key in zip(widths.values(), keys.values())}
        request["f"] = F32(float(rng.randrange(-1000, 1000)))
        requests.append(request)
    for name, (width, is_signed) in widths.items():
        wrap = (lambda x: signed(x, width)) if is_signed else (lambda x: unsigned(x, width))
        values = [request[keys[name]] for request in requests]
        low, high = wrap(1 << width - 1 if is_signed else 0), wrap((1 << width - is_signed) - 1)
        conjunction, disjunction, difference = wrap(-1), 0, 0
        for value in values:
            conjunction, disjunction, difference = conjunction & value, disjunction | value, difference ^ value
        before = {"sum": 1, "difference": 2, "least": high, "most": low, "and": wrap(-1), "or": 0, "xor": 0,
                  "swapped": 1, "cas": 100, "stored": 0}
        behind = {"sum": wrap(1 + sum(values)), "difference": wrap(2 - sum(values)), "least": min(values),
                  "most": max(values), "and": wrap(conjunction), "or": wrap(disjunction), "xor": wrap(difference),
                  "swapped": 77, "cas": 100 + 3 * len(values), "stored": wrap(-5)}
        state.update({f"{name}_{key}": value for key, value in before.items()})
        after.update({f"{name}_{key}": value for key, value in behind.items()})
    state["f32_sum"] = 0.5
    after["f32_sum"] = 0.5 + sum(request["f"] for request in requests)
    return {"requests": requests, "replies": [{"ok": 1}] * 100, "state": state, "after": {"state": after}}


@case("saxpy", lanes=16, blocks=2)
def saxpy(rng):
    count = 300
    x = [f32(rng.uniform(-10, 10)) for _ in range(count)]
    y = [f32(rng.uniform(-10, 10)) for _ in range(count)]
    before = list(y)
    requests, replies = [], []
    for start in range(0, count, 25):
        factor = f32(rng.uniform(-2, 2))
        total = 0.0
        for i in range(start, start + 25):
            y[i] = f32(f32(factor * x[i]) + y[i])
            total += y[i]
        requests.append({"start": start, "count": 25, "factor": F32(factor)})
        replies.append({"sum": total, "x_count": count, "y_count": count})
    for start, length in ((290, 11), ((1 << 64) - 1, 2), (301, 0)):
        requests.append({"start": start, "count": length, "factor": F32(1.0)})
        replies.append(failed(1, "the range ends outside the buffers"))
    return {"requests": requests, "replies": replies, "buffers": single({"x": x, "y": before}),
            "after": {"buffers": single({"x": x, "y": y})}}


@case("permute")
def permute(rng):
    requests, replies = [], []
    for _ in range(20):
        values, words = [rng.randrange(256) for _ in range(16)], [rng.randrange(1 << 32) for _ in range(12)]
        step = rng.choice((1, 5, 7, 11))
        requests.append({"values": values, "words": words, "step": step})
        replies.append({"fifths": [values[i * 5 % 16] for i in range(16)],
                        "rows": [values[(i + i % 4 * 4) % 16] for i in range(16)],
                        "steps": [words[i * step % 12] for i in range(12)],
                        "sevenths": [values[i * 7 % 16] for i in range(16)]})
    return {"requests": requests, "replies": replies}
