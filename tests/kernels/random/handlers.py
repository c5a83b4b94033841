# SPDX-License-Identifier: Apache-2.0
"""A handler with its messages and requests, put together at random: a lane, a block of lanes with barriers, or an actor."""
from random import Random

from expressions import FLOATS, INTEGERS, TYPES, Writer, constant

CELLS = 64
SCRATCH = {"x": "u64", "y": "i32", "z": "u16", "w": "f32"}
TO_INTEGERS = """GYRE_HELPER i32 to_i32_f32(f32 x)
{
    return x > -2000000000.0f && x < 2000000000.0f ? (i32)x : 77;
}
GYRE_HELPER i32 to_i32_f64(f64 x)
{
    return x > -2000000000.0 && x < 2000000000.0 ? (i32)x : 77;
}
"""


class Message:
    """Fields (type, name, lengths); types are numbers and the messages of `inner`."""

    def __init__(self, random, name, inner=()):
        self.name, self.inner = name, {message.name: message for message in inner}
        self.fields = [(random.choice(TYPES + list(self.inner)), f"{name}{i}",
                        random.choice([[], [], [random.randint(1, 9)], [random.randint(1, 4), random.randint(1, 5)]]))
                       for i in range(random.randint(2, 6))]

    def declaration(self):
        fields = " ".join(f"FIELD({kind}, {name}{''.join(f'[{length}]' for length in lengths)})"
                          for kind, name, lengths in self.fields)
        return f"#define {self.name.upper()}(FIELD) {fields}\nGYRE_MESSAGE({self.name}, {self.name.upper()})\n"

    def places(self, writer, before):
        """All numbers in it, as Writer.readable has them."""
        found = []
        for kind, name, lengths in self.fields:
            def place(name=name, lengths=lengths):
                return before + name + "".join(f"[{writer.index(length)}]" for length in lengths)
            if kind in self.inner:
                found += [(of, lambda place=place, rest=rest: f"{place()}.{rest()}")
                          for of, rest in self.inner[kind].places(writer, "")]
            else:
                found.append((kind, place))
        return found

    def zero(self, before, margin, depth=0):
        """Statements that write 0 to all of it: what a handler leaves out of its reply is unspecified."""
        text = ""
        for kind, name, lengths in self.fields:
            place, deeper = before + name, margin
            for i, length in enumerate(lengths):
                turn = f"z{depth}{i}"
                text += f"{deeper}for (u32 {turn} = 0; {turn} < {length}u; {turn}++) {{\n"
                place, deeper = f"{place}[{turn}]", deeper + "    "
            inner = self.inner.get(kind)
            text += inner.zero(place + ".", deeper, depth + 1) if inner else f"{deeper}{place} = 0;\n"
            for _ in lengths:
                deeper = deeper[4:]
                text += f"{deeper}}}\n"
        return text

    def value(self, random):
        return {name: self.values(random, kind, lengths) for kind, name, lengths in self.fields}

    def values(self, random, kind, lengths):
        if lengths:
            return [self.values(random, kind, lengths[1:]) for _ in range(lengths[0])]
        if kind in self.inner:
            return self.inner[kind].value(random)
        if kind in FLOATS:
            return random.choice([0, 1, -1.5, random.randint(-4000, 4000) / 16])
        bits, low = INTEGERS[kind], 0 if kind[0] == "u" else -(1 << INTEGERS[kind] - 1)
        return random.choice([0, 1 if low == 0 else -1, low, low + (1 << bits) - 1, low + random.getrandbits(bits)])


class Handler:
    def __init__(self, seed):
        self.random = Random(seed)
        self.form = self.random.choice(["lane", "block", "actor"])
        self.writer = Writer(self.random)
        self.inner = [Message(self.random, f"part{i}_") for i in range(self.random.randint(0, 2))]
        self.request, self.reply, self.state = (Message(self.random, name, self.inner) for name in ("asked", "answered", "kept"))
        self.source = self.write()

    def requests(self, count):
        return [self.request.value(self.random) for _ in range(count)]

    def write(self):
        messages = "".join(message.declaration() for message in self.inner + [self.request, self.reply, self.state])
        cells = " ".join(f"FIELD({kind}, {name}[{CELLS}])" for name, kind in SCRATCH.items())
        text = (f"/* Put together at random: form {self.form}. */\n#include <gyre/kernel.h>\n{messages}#define CELLS(FIELD) {cells}\nGYRE_MESSAGE(cells, CELLS)\n"
                f"{self.tables()}{TO_INTEGERS}{self.helpers()}")
        self.writer.readable, self.writer.writable = self.request.places(self.writer, "request->"), []
        body = {"lane": self.lane, "block": self.block, "actor": self.actor}[self.form]()
        return f"{text}{body}    return GYRE_REPLY;\n}}\n"

    def tables(self):
        text = ""
        for i in range(self.random.randint(0, 2)):
            kind, length = self.random.choice(TYPES), self.random.randint(2, 9)
            values = ", ".join(constant(self.random, kind) for _ in range(length))
            text += f"GYRE_CONSTANT {kind} table{i}[{length}] = {{{values}}};\n"
            self.writer.tables.append((kind, f"table{i}", length))
        return text

    def helpers(self):
        text, writer = "", self.writer
        for i in range(self.random.randint(0, 3)):
            result, parameters = self.random.choice(TYPES), self.random.choices(TYPES, k=self.random.randint(1, 4))
            writer.readable = [(kind, lambda j=j: f"p{j}") for j, kind in enumerate(parameters)]
            writer.writable = []
            names = ", ".join(f"{kind} p{j}" for j, kind in enumerate(parameters))
            body = writer.variables("    ") + writer.statements(2, "    ")
            text += f"GYRE_HELPER {result} help{i}({names})\n{{\n{body}    return {writer.expression(result, 2)};\n}}\n"
            writer.helpers.append((result, f"help{i}", parameters))
        return text

    def answer(self, margin):
        """Zeros, then statements that read what there is and write to the reply."""
        text, places = self.reply.zero("reply->", margin), self.reply.places(self.writer, "reply->")
        self.writer.readable += places
        self.writer.writable += places
        text += self.writer.variables(margin)
        return text + "".join(self.writer.statement(3, margin) for _ in range(self.random.randint(4, 9)))

    def lane(self):
        return "GYRE_KERNEL(handler, asked, answered)\n{\n" + self.answer("    ")

    def actor(self):
        places = self.state.places(self.writer, "state->")
        self.writer.readable += places
        self.writer.writable += places
        return "GYRE_ACTOR(handler, asked, answered, kept)\n{\n" + self.answer("    ")

    def block(self):
        """Lanes fill arrays of the scratch, then rewrite one after the other from what the others hold; lane 0 answers."""
        asked = list(self.writer.readable)
        text = ("GYRE_BLOCK_KERNEL(handler, asked, answered, cells)\n{\n"
                "    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);\n")
        text += self.cells(asked, list(SCRATCH), lambda: "")
        for _ in range(self.random.randint(1, 4)):
            name = self.random.choice(list(SCRATCH))
            others = [(kind, lambda other=other: f"scratch->{other}[(i * {self.random.choice([1, 3, 5, 7])}u + {self.random.randrange(CELLS)}u) % {CELLS}u]")
                      for other, kind in SCRATCH.items() if other != name]
            own = (SCRATCH[name], lambda name=name: f"scratch->{name}[i]")
            text += self.cells(asked + 2 * others + [own], [name], lambda: self.rewrite(own))
        self.writer.readable = asked + 3 * [(kind, lambda name=name: f"scratch->{name}[{self.random.randrange(CELLS)}]")
                                            for name, kind in SCRATCH.items()]
        self.writer.writable = []
        return text + "    if (lane == 0) {\n" + self.answer("        ") + "    }\n"

    def rewrite(self, own):
        self.writer.writable = [own]
        return self.writer.variables("        ") + self.writer.statements(2, "        ")

    def cells(self, readable, names, before):
        """A loop of all lanes over their cells of these arrays, and a barrier."""
        self.writer.readable, self.writer.writable = readable + [("u32", lambda: "i")], []
        text = f"    for (u32 i = lane; i < {CELLS}u; i += lanes) {{\n{before()}"
        for name in names:
            text += f"        scratch->{name}[i] = {self.writer.expression(SCRATCH[name], 3)};\n"
        return text + "    }\n    gyre_barrier(gyre);\n"
