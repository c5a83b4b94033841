# SPDX-License-Identifier: Apache-2.0
"""Lane kernels that compute: floats, integers, bits, random numbers."""
import math
from fractions import Fraction

from base import *


@case("vector_add")
def vector_add(rng):
    requests, replies = [], []
    for i in range(20):
        a = [f32(rng.uniform(-1000, 1000)) for _ in range(25)]
        b = [f32(rng.uniform(-1, 1) * 10 ** rng.randrange(-6, 6)) for _ in range(25)]
        requests.append(single({"a": a, "b": b}))
        replies.append(single({"sum": [f32(x + y) for x, y in zip(a, b)]}))
    return {"requests": requests, "replies": replies}


def collatz(n):
    turns = 0
    while n > 1 and turns < 1000:
        n = u32(3 * n + 1) if n % 2 else n // 2
        turns += 1
    return turns


def first_pair(product):
    for a in range(2, 50):
        for b in range(a, 50):
            if a * b == product:
                return a * 100 + b
    return 0


@case("control_flow")
def control_flow(rng):
    inputs = [(0, 0), (1, 1), (27, 91), (97, 100), (4294967295, 2), (65535 * 65535, 1001), (12, 2401), (7, 4)]
    inputs += [(rng.randrange(1 << 30), rng.randrange(3000)) for _ in range(12)]
    replies = []
    for n, limit in inputs:
        primes = sum(1 for p in range(2, limit) if all(p % d for d in range(2, math.isqrt(p) + 1)))
        replies.append({"collatz": collatz(n), "gcd": math.gcd(n, limit), "primes": primes,
                        "pairs": first_pair(limit), "digits": len(str(n)), "root": math.isqrt(n)})
    return {"requests": [{"n": n, "limit": limit} for n, limit in inputs], "replies": replies}


@case("calculator")
def calculator(rng):
    wide = lambda: rng.choice([rng.randrange(-100, 100), rng.randrange(-1 << 40, 1 << 40)])
    inputs = [(wide(), wide(), i % 4) for i in range(16)] + [(-7, 2, 3), (-7, 2, 4), (7, -2, 3), (7, -2, 4)]
    inputs += [(5, 0, 3), (5, 0, 4), (3, 20, 5), (-3, 41, 5), (2, 0, 5), (9, -1, 5), (4, 3, 6), (1, 1, 7)]
    replies = []
    for a, b, operation in inputs:
        if operation > 6:
            replies.append(failed(1, "unknown operation"))
        elif operation in (3, 4) and b == 0:
            replies.append(failed(2, "division by zero"))
        else:
            result = [lambda: a + b, lambda: a - b, lambda: a * b, lambda: quotient(a, b), lambda: rest(a, b),
                      lambda: a ** max(b, 0), lambda: b - a][operation]()
            steps = {5: 1 + max(b, 0), 6: 2}.get(operation, 1)
            replies.append({"result": i64(result), "steps": steps})
    # products that do not fit are undefined in C: keep them out
    kept = [i for i, (a, b, o) in enumerate(inputs) if o != 2 or abs(a * b) < 1 << 63]
    requests = [{"a": a, "b": b, "operation": o} for a, b, o in inputs]
    return {"requests": [requests[i] for i in kept], "replies": [replies[i] for i in kept]}


def fly(particle, turns, dt):
    x, y = particle["position"]["x"], particle["position"]["y"]
    vx, vy = particle["velocity"]["x"], particle["velocity"]["y"]
    for _ in range(turns):
        gx, gy = -y * 0.5, x * 0.5 - 9.81
        vx, vy = vx + gx * dt, vy + gy * dt
        x, y = x + vx * dt, y + vy * dt
    return {"position": {"x": x, "y": y}, "velocity": {"x": vx, "y": vy},
            "charge": particle["charge"], "mass": particle["mass"]}


@case("particles")
def particles(rng):
    requests, replies = [], []
    point = lambda: {"x": rng.uniform(-5, 5), "y": rng.uniform(-5, 5)}
    for turns in (0, 1, 2, 50, 100):
        start = [{"position": point(), "velocity": point(), "charge": rng.randrange(256),
                  "mass": rng.uniform(0.1, 2)} for _ in range(4)]
        dt = rng.uniform(0.001, 0.01)
        end = [fly(p, turns, dt) for p in start]
        energy = 0.0
        for p in end:
            vx, vy = p["velocity"]["x"], p["velocity"]["y"]
            energy = energy + p["mass"] * (vx * vx + vy * vy) / 2
        xs, ys = [p["position"]["x"] for p in end], [p["position"]["y"] for p in end]
        requests.append({"turns": turns, "dt": dt, "particles": start})
        replies.append({"particles": end, "energy": energy,
                        "corner": [{"x": min(xs), "y": min(ys)}, {"x": max(xs), "y": max(ys)}]})
    return {"requests": requests, "replies": replies}


def clz(x, width):
    return width - x.bit_length()


def ctz(x, width):
    return (x & -x).bit_length() - 1 if x else width


def spread(x):
    return sum((x >> i & 1) << 2 * i for i in range(32))


@case("bits")
def bits(rng):
    words = [(0, 0, 0), (1, 1, 31), (0xffffffff, (1 << 64) - 1, 32), (0x80000000, 1 << 63, 63), (2, 2, 64),
             (0x80000001, 0x8000000000000001, 1)]
    words += [(rng.getrandbits(32) >> rng.randrange(32), rng.getrandbits(64) >> rng.randrange(64),
               rng.randrange(200)) for _ in range(20)]
    replies = []
    for x, wide, shift in words:
        power = 1 if x <= 1 else u32(1 << (x - 1).bit_length())
        replies.append({"popcount": x.bit_count(), "popcount_wide": wide.bit_count(), "clz": clz(x, 32),
                        "clz_wide": clz(wide, 64), "ctz": ctz(x, 32), "ctz_wide": ctz(wide, 64),
                        "rotated": rotl32(x, shift), "rotated_wide": rotl64(wide, shift),
                        "reversed": int(f"{x:032b}"[::-1], 2), "gray": x ^ x >> 1,
                        "morton": spread(x) | spread(u32(wide)) << 1, "next_power": power,
                        "swapped": int.from_bytes(x.to_bytes(4, "little"), "big"),
                        "parity": x.bit_count() % 2})
    return {"requests": [{"word": x, "wide": w, "shift": s} for x, w, s in words], "replies": replies}


@case("integers")
def integers(rng):
    requests, replies = [], []
    def pick(width, is_signed):
        low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
        return rng.choice([low, high, 0, 1, rng.randint(low, high), rng.randint(low, high)])
    while len(requests) < 30:
        r = {}
        for prefix, is_signed in (("", True), ("u", False)):
            for width in (8, 16, 32, 64):
                r[f"{prefix}a{width}"], r[f"{prefix}b{width}"] = pick(width, is_signed), pick(width, is_signed)
        order = [f"{p}{l}{w}" for p in ("", "u") for w in (8, 16, 32, 64) for l in "ab"]
        r = {key: r[key] for key in order}
        overflows = (r["a32"] == -1 << 31 and r["b32"] == -1) or (r["a64"] == -1 << 63 and r["b64"] == -1)
        if overflows or abs(r["a8"] * r["a16"] * r["a32"]) >= 1 << 63:
            continue
        requests.append(r)
        if 0 in (r["b32"], r["b64"], r["ub64"]):
            replies.append(assertion("integers", "request->b32 != 0 && request->b64 != 0 && request->ub64 != 0"))
            continue
        less = sum((r[p + "a" + w] < r[p + "b" + w]) << i for i, (p, w) in
                   enumerate([("", "8"), ("", "16"), ("", "32"), ("", "64"),
                              ("u", "8"), ("u", "16"), ("u", "32"), ("u", "64")]))
        replies.append({"sum8": signed(r["a8"] + r["b8"], 8), "sum16": signed(r["a16"] + r["b16"], 16),
                        "sum32": i32(r["a32"] + r["b32"]), "sum64": i64(r["a64"] + r["b64"]),
                        "product8": unsigned(r["ua8"] * r["ub8"], 8),
                        "product16": unsigned(r["ua16"] * r["ub16"], 16), "product32": u32(r["ua32"] * r["ub32"]),
                        "product64": u64(r["ua64"] * r["ub64"]), "high64": r["ua64"] * r["ub64"] >> 64,
                        "quotient": quotient(r["a32"], r["b32"]), "rest": rest(r["a32"], r["b32"]),
                        "quotient64": quotient(r["a64"], r["b64"]), "rest64": r["ua64"] % r["ub64"],
                        "shifted": r["a32"] >> (r["ub8"] & 31), "less": less,
                        "widened": r["a8"] * r["a16"] * r["a32"], "narrowed": signed(r["a32"], 8),
                        "saturated": min(r["ua32"] + r["ub32"], 0xffffffff)})
    return {"requests": requests, "replies": replies}


@case("float_bits")
def float_bits(rng):
    xs = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, f32(1e-40), f32(3e38), f32(0.1), f32(-123456.78)]
    ys = [0.0, -0.0, 1.0, math.inf, math.nan, 5e-324, 1e300, 0.1, -1 / 3, 1e-30, 16777217.0]
    replies, requests = [], []
    for x, y in zip(xs, ys):
        bits, wide = rng.getrandbits(32), rng.getrandbits(64)
        exponent = bits32(x) >> 23 & 0xff
        fraction = bits32(x) & 0x7fffff
        kind = (4 if fraction else 3) if exponent == 255 else (1 if fraction else 0) if exponent == 0 else 2
        requests.append({"x": F32(x), "y": y, "bits": bits, "wide": wide})
        # which NaN a NaN of JSON becomes is nobody's promise, so its bits are those of the quiet one
        replies.append({"bits": bits32(x), "wide": bits64(y), "x": F32(from_bits32(bits)), "y": from_bits64(wide),
                        "next": F32(from_bits32(bits32(x) + 1)) if kind == 2 else F32(x),
                        "exponent": exponent - 127, "kind": kind,
                        "truncated": int(x) if abs(x) < 1e9 else 0, "narrowed": F32(f32(y)), "widened": x})
    return {"requests": requests, "replies": replies}


def c_round(x):
    whole = math.trunc(x)
    return math.copysign(whole + (math.copysign(1, x) if abs(x - whole) >= 0.5 else 0), x)


ONE = {"fabs": abs, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": c_round,
       "sqrt": math.sqrt, "cbrt": math.cbrt, "exp": math.exp, "exp2": math.exp2, "log": math.log,
       "log2": math.log2, "log10": math.log10, "sin": math.sin, "cos": math.cos, "tan": math.tan,
       "asin": math.asin, "acos": math.acos, "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh,
       "tanh": math.tanh}
TWO = {"fmin": min, "fmax": max, "atan2": math.atan2, "pow": math.pow, "fmod": math.fmod, "hypot": math.hypot}


def math_case(rng, narrow, fma):
    requests, replies = [], []
    for i in range(30):
        x, y, z = (narrow(rng.uniform(-10, 10) * 10 ** rng.choice([-3, 0, 0])) for _ in range(3))
        unit = narrow(rng.uniform(-1, 1))
        positive = abs(x)
        reply = {}
        for name, function in ONE.items():
            a = unit if name in ("asin", "acos") else positive if name in ("sqrt", "log", "log2", "log10") else x
            reply[name + "_x"] = narrow(float(function(a)))
        for name, function in TWO.items():
            reply[name + "_xy"] = narrow(function(positive if name == "pow" else x, y))
        reply["fma_xyz"] = fma(Fraction(x) * Fraction(y) + Fraction(z))
        requests.append({"x": x, "y": y, "z": z, "unit": unit})
        replies.append(reply)
    return {"requests": requests, "replies": replies}


@case("math_f32", ulp=16)
def math_f32(rng):
    return {key: single(value) for key, value in math_case(rng, f32, nearest_f32).items()}


@case("math_f64", ulp=16)
def math_f64(rng):
    return math_case(rng, float, float)


def splitmix(seed):
    while True:
        seed = u64(seed + 0x9e3779b97f4a7c15)
        z = u64((seed ^ seed >> 30) * 0xbf58476d1ce4e5b9)
        z = u64((z ^ z >> 27) * 0x94d049bb133111eb)
        yield z ^ z >> 31


def xoshiro(seed):
    source = splitmix(seed)
    s = [next(source) for _ in range(4)]
    while True:
        result, t = u64(rotl64(u64(s[1] * 5), 7) * 9), u64(s[1] << 17)
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl64(s[3], 45)
        yield result


def pcg(seed, draws):
    out = 0
    for _ in range(draws):
        turn = seed >> 59
        shifted = u32((seed >> 18 ^ seed) >> 27)
        out = u32(shifted >> turn | shifted << (-turn & 31))
        seed = u64(seed * 6364136223846793005 + 1442695040888963407)
    return out


@case("random_numbers")
def random_numbers(rng):
    requests, replies = [], []
    for draws in (0, 1, 2, 10, 100, 1000):
        seed = rng.getrandbits(64)
        numbers = xoshiro(seed)
        inside, total, last = 0, 0.0, 0
        for _ in range(draws):
            x = (next(numbers) >> 11) * 2.0 ** -53
            last = next(numbers)
            y = (last >> 11) * 2.0 ** -53
            inside += x * x + y * y < 1
            total += x
        requests.append({"seed": seed, "draws": draws})
        replies.append({"last": last, "pcg": pcg(seed, draws), "inside": inside,
                        "mean": total / draws if draws else 0.0})
    return {"requests": requests, "replies": replies}


@case("mandelbrot")
def mandelbrot(rng):
    requests, replies = [], []
    for x, y, width, limit in [(-2.0, -1.25, 2.5, 50), (-0.7435, 0.1314, 0.002, 300), (0.3, 0.5, 0.1, 200)]:
        rows = []
        for row in range(8):
            line = []
            for column in range(8):
                cx, cy = x + width * column / 8.0, y + width * row / 8.0
                a = b = 0.0
                turns = 0
                while turns < limit and a * a + b * b <= 4.0:
                    a, b = a * a - b * b + cx, 2.0 * a * b + cy
                    turns += 1
                line.append(turns)
            rows.append(line)
        requests.append({"x": x, "y": y, "width": width, "limit": limit})
        replies.append({"turns": rows})
    return {"requests": requests, "replies": replies}


def solve_system(a, b):
    n = len(b)
    rows = [list(row) + [value] for row, value in zip(a, b)]
    determinant, swaps = 1.0, 0
    for column in range(n):
        pivot = max(range(column, n), key=lambda row: (abs(rows[row][column]), -row))
        if rows[pivot][column] == 0:
            return failed(column, "the matrix is singular")
        if pivot != column:
            rows[pivot], rows[column] = rows[column], rows[pivot]
            swaps += 1
        determinant *= rows[column][column]
        for row in range(column + 1, n):
            factor = rows[row][column] / rows[column][column]
            for i in range(column, n + 1):
                rows[row][i] -= factor * rows[column][i]
    x = [0.0] * n
    for row in reversed(range(n)):
        total = rows[row][n]
        for i in range(row + 1, n):
            total -= rows[row][i] * x[i]
        x[row] = total / rows[row][row]
    return {"x": x, "determinant": -determinant if swaps % 2 else determinant, "swaps": swaps}


@case("solve")
def solve(rng):
    systems = [([[rng.uniform(-3, 3) for _ in range(6)] for _ in range(6)], [rng.uniform(-9, 9) for _ in range(6)])
               for _ in range(6)]
    systems.append(([[float(i == j) for j in range(6)] for i in range(6)], [float(i) for i in range(6)]))
    systems.append(([[float(i == 5 - j) for j in range(6)] for i in range(6)], [float(i) for i in range(6)]))
    systems.append(([[1.0 if j < 3 else 0.0 for j in range(6)] for i in range(6)], [1.0] * 6))
    return {"requests": [{"a": a, "b": b} for a, b in systems],
            "replies": [solve_system(a, b) for a, b in systems]}
