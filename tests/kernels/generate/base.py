# SPDX-License-Identifier: Apache-2.0
"""What the case generators share: registration, exact f32 and integer arithmetic, writing files."""
import json
import math
import os
import random
import struct
from fractions import Fraction

CASES = {}
NO_REPLY = {"no_reply": True}


def case(name, **settings):
    """Registers a generator: it gets a seeded random.Random and returns a dict with requests and replies."""
    def register(function):
        CASES[name] = (function, settings)
        return function
    return register


def failed(code, text):
    return {"failed": {"code": code, "text": text.encode()[:43].decode(errors="ignore")}}


def line_of(name, text):
    """The line of a kernel's source where a text stands: assertions report it."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name + ".gyre.c")) as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def assertion(name, condition):
    """What a failed gyre_assert of a kernel's only assertion reports."""
    return failed(-2, "%s.gyre.c:%d: %s" % (name, line_of(name, "gyre_assert("), condition))


# ---- arithmetic as C does it -----------------------------------------------------------------------------

def f32(x):
    """Rounds to f32. Exact for + - * / and sqrt of f32 values computed in f64."""
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def bits32(x):
    return struct.unpack("I", struct.pack("f", x))[0]


def from_bits32(bits):
    return struct.unpack("f", struct.pack("I", bits & 0xffffffff))[0]


def bits64(x):
    return struct.unpack("Q", struct.pack("d", x))[0]


def from_bits64(bits):
    return struct.unpack("d", struct.pack("Q", bits & (1 << 64) - 1))[0]


def nearest_f32(exact):
    """The f32 nearest to a Fraction, ties to even: without rounding twice."""
    guess = f32(float(exact))
    candidates = [from_bits32(bits32(guess) + step) for step in (-1, 0, 1)] if guess else [guess]
    return min((c for c in candidates if math.isfinite(c)),
               key=lambda c: (abs(Fraction(c) - exact), bits32(c) & 1))


def unsigned(x, bits):
    return int(x) & (1 << bits) - 1


def signed(x, bits):
    x = unsigned(x, bits)
    return x - (1 << bits) if x >> bits - 1 else x


def u32(x):
    return unsigned(x, 32)


def u64(x):
    return unsigned(x, 64)


def i32(x):
    return signed(x, 32)


def i64(x):
    return signed(x, 64)


def quotient(a, b):
    """C's division: towards zero."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def rest(a, b):
    return a - b * quotient(a, b)


def rotl32(x, n):
    n &= 31
    return u32(x << n | x >> (32 - n) % 32) if n else u32(x)


def rotl64(x, n):
    n &= 63
    return u64(x << n | x >> 64 - n) if n else u64(x)


def fold(values, combine):
    """Neighbours first, then pairs of pairs: the order of block functions."""
    values = list(values)
    step = 1
    while step < len(values):
        for i in range(0, len(values) - step, 2 * step):
            values[i] = combine(values[i], values[i + step])
        step *= 2
    return values[0]


def text_bytes(text, size):
    raw = list(text.encode())
    return (raw + [0] * size)[:size]


# ---- files -----------------------------------------------------------------------------------------------

class F32(float):
    """A float to be written with the digits of an f32."""


def single(value):
    """Marks floats in lists and dicts as f32."""
    if isinstance(value, float):
        return F32(value)
    if isinstance(value, (list, tuple)):
        return [single(item) for item in value]
    if isinstance(value, dict):
        return {key: single(item) for key, item in value.items()}
    return value


def number_text(x):
    if math.isnan(x):
        return '"NaN"'
    if math.isinf(x):
        return '"Infinity"' if x > 0 else '"-Infinity"'
    if isinstance(x, F32):
        for digits in range(1, 10):
            text = "%.*g" % (digits, x)
            if f32(float(text)) == x:
                return text if any(c in text for c in ".e") else text + ".0"
    return repr(float(x))


def to_json(value, quote_large=False):
    """As gyre writes messages: no spaces. jansson needs quotes around what i64 cannot hold."""
    if value is None or isinstance(value, bool) or isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, int):
        return '"%d"' % value if quote_large and value >= 1 << 63 else str(value)
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(k) + ":" + to_json(v, quote_large) for k, v in value.items()) + "}"
    return "[" + ",".join(to_json(item, quote_large) for item in value) + "]"


def write_case(folder, name):
    function, settings = CASES[name]
    result = function(random.Random("gyre " + name))
    assert len(result["requests"]) == len(result["replies"]) > 0, name
    document = dict(settings)
    for key in ("state", "buffers", "after"):
        if key in result:
            document[key] = result[key]
    document.setdefault("lanes", 1)
    with open(f"{folder}/{name}.case.json", "w") as file:
        lines = [f"  {json.dumps(k)}: {to_json(v, True)}" for k, v in sorted(document.items())]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    for what in ("requests", "replies"):
        with open(f"{folder}/{name}.{what}.jsonl", "w") as file:
            file.writelines(to_json(message) + "\n" for message in result[what])
