#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""made_up_blocks.py SEED FOLDER: writes blocks.gyre.c, a block kernel `made_up` of conditions and loops around barriers,
its message's header, and `requests`, a line of JSON each. Valid for any number of lanes: what decides about a barrier is
the same for all lanes, and no lane touches what another one uses between the same barriers."""
import random
import sys

CELLS, WORDS, REQUESTS = 40, 7, 12
BARRIER = "gyre_barrier(gyre);"
EACH_CELL = f"for (u32 i = lane; i < {CELLS}; i += lanes)"
EACH_WORD = f"for (u32 i = lane; i < {WORDS}; i += lanes)"

HEADER = f"""#include <gyre/message.h>
#define BLOCKS(FIELD) FIELD(u32, n) FIELD(i32, v[{CELLS}]) FIELD(u32, w[{WORDS}]) FIELD(u64, q)
GYRE_MESSAGE(blocks_message, BLOCKS)
"""


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0

    def one_of(self, *choices):
        return self.random.choice(choices)

    def step(self):
        """Work of all lanes that ends at a barrier."""
        cell = self.one_of("i", f"{CELLS - 1} - i", f"(i * 3 + {self.random.randrange(9)}) % {CELLS}")
        distance = self.one_of(1, 2, 4, 8)
        mine = f"(u32)scratch->v[lane % {CELLS}]"
        return self.one_of(
            [EACH_CELL, f"    scratch->v[i] = (i32)((u32)scratch->v[i] * 3u + 54u + (u32)request->v[{cell}]);", BARRIER],
            [EACH_CELL, f"    keep[i] = scratch->v[{cell}];", BARRIER, EACH_CELL, "    scratch->v[i] = keep[i];", BARRIER],
            [EACH_CELL, f"    keep[i] = i >= {distance} ? scratch->v[i - {distance}] : 0;", BARRIER,
             EACH_CELL, "    scratch->v[i] = (i32)((u32)scratch->v[i] + (u32)keep[i]);", BARRIER],
            [EACH_WORD, f"    scratch->w[i] ^= (u32)scratch->v[i + {self.one_of(0, 10, 20, 30)}];", BARRIER],
            [f"total += gyre_block_{self.one_of('sum', 'min', 'max')}_u32(gyre, lane < {CELLS} ? {mine} : 7u);", BARRIER],
            [f"total ^= gyre_block_broadcast_u32(gyre, {mine}, 0);", BARRIER],
            ["if (lane == 0)", f"    for (u32 i = 0; i < {WORDS}; i++)", "        scratch->w[i] += total + i;", BARRIER],
            [f"if (lane < {CELLS} && scratch->v[lane % {CELLS}] % {self.one_of(2, 3)} == 0)", "    mine += 1;", BARRIER])

    def condition(self):
        """The same for all lanes."""
        return self.one_of("request->n % 2 == 0", "request->q & 1", "total & 4", "request->w[3] > 100", "lanes > 1")

    def nested(self, depth):
        return ["    " + line for line in self.block(depth - 1)]

    def block(self, depth):
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            kind = self.random.random()
            if kind < 0.6 or depth == 0:
                lines += self.step()
            elif kind < 0.78:
                self.loops += 1
                turn = f"turn{self.loops}"
                turns = self.one_of("1", "3", "request->n % 4", "(u32)(request->q % 3)")
                lines += [f"for (u32 {turn} = 0; {turn} < {turns}; {turn}++) {{"] + self.nested(depth) + ["}"]
            elif kind < 0.93:
                lines += [f"if ({self.condition()}) {{"] + self.nested(depth)
                lines += self.one_of(["}"], ["} else {"] + self.nested(depth) + ["}"])
            else:
                end = self.one_of('gyre_fail(gyre, 35, "enough")', "GYRE_NO_REPLY")
                lines += [f"if (request->n == {self.random.randrange(6)})", f"    return {end};"]
        return lines

    def kernel(self):
        body = []
        while len(body) < 8:
            body += self.block(2)
        return "\n".join([
            "#include <gyre/kernel.h>", '#include "blocks.h"',
            "GYRE_BLOCK_KERNEL(made_up, blocks_message, blocks_message, blocks_message)", "{",
            "    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);",
            f"    i32 keep[{CELLS}];", "    u32 total = 0, mine = 0;",
            "    " + EACH_CELL, "        scratch->v[i] = request->v[i];",
            "    " + EACH_WORD, "        scratch->w[i] = request->w[i];", "    " + BARRIER,
            *("    " + line for line in body),
            "    " + EACH_CELL, "        reply->v[i] = scratch->v[i];",
            "    " + EACH_WORD, "        reply->w[i] = scratch->w[i];",
            "    mine = gyre_block_sum_u32(gyre, mine);",
            "    if (lane == 0) {", "        reply->n = total + mine * 1000u;", "        reply->q = request->q + total;", "    }",
            "    (void)keep;", "    return GYRE_REPLY;", "}", ""])

    def request(self, number):
        cells = [self.random.randrange(-1000, 1000) for _ in range(CELLS)]
        words = [self.random.randrange(200) for _ in range(WORDS)]
        return f'{{"n":{number},"q":{self.random.randrange(1 << 40)},"v":{cells},"w":{words}}}'.replace(" ", "")


def main():
    maker, folder = Maker(int(sys.argv[1])), sys.argv[2]
    with open(f"{folder}/blocks.h", "w") as file:
        file.write(HEADER)
    with open(f"{folder}/blocks.gyre.c", "w") as file:
        file.write(maker.kernel())
    with open(f"{folder}/requests", "w") as file:
        file.writelines(maker.request(number) + "\n" for number in range(REQUESTS))


main()
