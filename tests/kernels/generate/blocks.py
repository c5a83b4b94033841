# SPDX-License-Identifier: Apache-2.0
"""Block kernels: all lanes work on one message."""
from base import *


@case("reduce", lanes=96)
def reduce(rng):
    lanes = 96
    requests, replies = [], []
    for from_lane in (0, 1, 31, 32, 95):
        values = [float(rng.randrange(-1000, 1000)) for _ in range(256)]
        mine = [values[lane % 256] for lane in range(lanes)]
        types = {"u32": [u32(int(x)) for x in mine], "i32": [int(x) for x in mine],
                 "u64": [u64(int(x) * 1000003) for x in mine], "i64": [int(x) * 1000003 for x in mine],
                 "f32": [f32(x * f32(1.1)) for x in mine], "f64": [x * 1.1 for x in mine]}
        wrap = {"u32": u32, "i32": i32, "u64": u64, "i64": i64, "f32": f32, "f64": float}
        reply = {}
        for name, of_lanes in types.items():
            results = {"sum": fold(of_lanes, lambda a, b: wrap[name](a + b)), "least": min(of_lanes),
                       "most": max(of_lanes), "sent": of_lanes[from_lane]}
            reply.update({f"{name}_{key}": F32(v) if name == "f32" else v for key, v in results.items()})
        reply["agree"] = lanes
        requests.append({"values": single(values), "from_lane": from_lane})
        replies.append(reply)
    return {"requests": requests, "replies": replies}


@case("prefix_sum", lanes=64)
def prefix_sum(rng):
    requests, replies = [], []
    for _ in range(6):
        values = [rng.choice([rng.randrange(100), rng.getrandbits(32)]) for _ in range(128)]
        sums, total = [], 0
        for value in values:
            total = u32(total + value)
            sums.append(total)
        requests.append({"values": values})
        replies.append({"values": sums})
    return {"requests": requests, "replies": replies}


@case("matmul", lanes=64)
def matmul(rng):
    requests, replies = [], []
    for _ in range(2):
        a, b = ([[f32(round(rng.uniform(-2, 2), 2)) for _ in range(32)] for _ in range(32)] for _ in "ab")
        product = []
        for row in a:
            line = []
            for column in range(32):
                total = 0.0
                for k in range(32):
                    total = f32(total + f32(row[k] * b[k][column]))
                line.append(total)
            product.append(line)
        requests.append(single({"a": a, "b": b}))
        replies.append(single({"c": product}))
    return {"requests": requests, "replies": replies}


@case("transpose", lanes=33)
def transpose(rng):
    grids = [[[rng.randrange(65536) for _ in range(32)] for _ in range(32)] for _ in range(2)]
    return {"requests": [{"cells": g} for g in grids],
            "replies": [{"cells": [list(column) for column in zip(*g)]} for g in grids]}


@case("stencil", lanes=32)
def stencil(rng):
    requests, replies = [], []
    for turns in (0, 1, 2, 9):
        rate = f32(rng.uniform(0.05, 0.2))
        start = [[f32(rng.uniform(0, 100)) for _ in range(16)] for _ in range(16)]
        grid, change = start, 0.0
        for _ in range(turns):
            new, change = [list(row) for row in grid], 0.0
            for y in range(1, 15):
                for x in range(1, 15):
                    here = grid[y][x]
                    around = f32(f32(f32(grid[y - 1][x] + grid[y + 1][x]) + grid[y][x - 1]) + grid[y][x + 1])
                    new[y][x] = f32(here + f32(rate * f32(around - f32(4.0 * here))))
                    change = max(change, abs(f32(new[y][x] - here)))
            grid = new
        requests.append(single({"turns": turns, "rate": rate, "grid": start}))
        replies.append(single({"grid": grid, "change": change}))
    return {"requests": requests, "replies": replies}


def web(rng, pages):
    """A graph by incoming links, weighted by one over the number of outgoing links."""
    links = [sorted(rng.sample(range(pages), rng.randrange(1, 6))) for _ in range(pages)]
    incoming = [[p for p in range(pages) if page in links[p]] for page in range(pages)]
    starts = [0]
    for sources in incoming:
        starts.append(starts[-1] + len(sources))
    sources = [s for of_page in incoming for s in of_page]
    return starts, sources, [f32(1 / len(links[s])) for s in sources]


@case("pagerank", lanes=32)
def pagerank(rng):
    pages, lanes = 60, 32
    starts, sources, weights = web(rng, pages)
    ranks = [f32(1 / pages)] * pages
    first = list(ranks)
    requests, replies, following = [], [], [0.0] * pages
    for turns in (1, 2, 10, 0):
        damping = f32(0.85)
        base = f32(f32(1.0 - damping) / pages)
        change = 0.0
        for _ in range(turns):
            following = []
            for page in range(pages):
                total = 0.0
                for link in range(starts[page], starts[page + 1]):
                    total = f32(total + f32(weights[link] * ranks[sources[link]]))
                following.append(f32(base + f32(damping * total)))
            change = max(abs(f32(a - b)) for a, b in zip(following, ranks))
            ranks = following
        partial = [0.0] * lanes
        for page in range(pages):
            partial[page % lanes] = f32(partial[page % lanes] + ranks[page])
        requests.append({"turns": turns, "damping": F32(damping)})
        replies.append({"total": F32(fold(partial, lambda a, b: f32(a + b))), "change": F32(change),
                        "highest": ranks.index(max(ranks))})
    buffers = {"row_starts": starts, "sources": sources, "weights": single(weights)}
    return {"requests": requests, "replies": replies,
            "buffers": dict(buffers, ranks=single(first), next=single([0.0] * pages)),
            "after": {"buffers": dict(buffers, ranks=single(ranks), next=single(following))}}


@case("bitonic_sort", lanes=48)
def bitonic_sort(rng):
    lists = [[rng.randrange(-1 << 31, 1 << 31) for _ in range(64)] for _ in range(4)]
    lists += [list(range(64)), list(range(64, 0, -1)), [7] * 64]
    return {"requests": [{"keys": keys} for keys in lists], "replies": [{"keys": sorted(keys)} for keys in lists]}


@case("placement", lanes=40)
def placement(rng):
    order = [lane * lane if lane < 40 else 0 for lane in range(64)]
    return {"requests": [{"nothing": i} for i in range(3)],
            "replies": [{"lanes": 40, "blocks": 1, "block_is_one": 1, "order": order}] * 3}


@case("sieve", lanes=32)
def sieve(rng):
    requests, replies = [], []
    for limit in (0, 1, 2, 3, 4, 10, 100, 997, 998, 1024):
        primes = [n for n in range(2, limit) if all(n % d for d in range(2, int(n ** 0.5) + 1))]
        requests.append({"limit": limit})
        replies.append({"count": len(primes), "largest": max(primes, default=0), "sum": sum(primes)})
    requests.append({"limit": 1025})
    replies.append(failed(1, "limit is too high"))
    return {"requests": requests, "replies": replies}


@case("life", lanes=32)
def life(rng):
    glider = [0b010, 0b001, 0b111] + [0] * 29
    requests, replies = [], []
    for turns, rows in ((0, glider), (4, glider), (128, glider), (7, [rng.getrandbits(32) for _ in range(32)]),
                        (50, [rng.getrandbits(32) for _ in range(32)])):
        alive = {(y, x) for y in range(32) for x in range(32) if rows[y] >> x & 1}
        for _ in range(turns):
            counts = {}
            for y, x in alive:
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        if dy or dx:
                            cell = ((y + dy) % 32, (x + dx) % 32)
                            counts[cell] = counts.get(cell, 0) + 1
            alive = {cell for cell, n in counts.items() if n == 3 or (n == 2 and cell in alive)}
        requests.append({"turns": turns, "rows": rows})
        replies.append({"turns": turns, "rows": [sum(1 << x for x in range(32) if (y, x) in alive) for y in range(32)]})
    return {"requests": requests, "replies": replies}


@case("divergence", lanes=96, any_text=True)
def divergence(rng):
    ways = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]
    parted = failed(-3, "any text: it names lanes and places as far as the backend knows them")
    return {"requests": [{"way": way} for way in ways],
            "replies": [{"lanes": 96} if way == 0 else failed(7, "lane 40 fails") if way == 3 else parted for way in ways]}


@case("diffusion", lanes=32)
def diffusion(rng):
    count = 150
    heat = [rng.randrange(-1000, 100000) for _ in range(count)]
    before, requests, replies = list(heat), [], []
    for most, enough in ((0, 0), (1, 0), (7, 0), (40, 900), (5000, 3)):
        steps, change = 0, enough + 1
        while steps < most and change > enough:
            after = [int((heat[i - 1] + 2 * heat[i] + heat[(i + 1) % count]) / 4) for i in range(count)]
            change = max(abs(a - b) for a, b in zip(after, heat))
            heat, steps = after, steps + 1
        requests.append({"steps": most, "enough": enough})
        replies.append({"steps": steps, "change": change, "sum": sum(heat)})
    return {"requests": requests, "replies": replies, "buffers": {"heat": before, "next": [0] * count},
            "after": {"buffers": {"heat": heat}}}
