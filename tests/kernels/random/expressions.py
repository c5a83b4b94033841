# SPDX-License-Identifier: Apache-2.0
"""Expressions and statements of the dialect, put together at random. None of them has an undefined result."""
INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
FLOATS = ("f32", "f64")
TYPES = list(INTEGERS) + list(FLOATS)
DEEPEST = 3  # indices in indices


def unsigned(kind):
    """The type in which C computes without an overflow."""
    return "u64" if INTEGERS[kind] == 64 else "u32"


def constant(random, kind):
    if kind in FLOATS:
        value = random.choice([0.5, 1.0, -2.25, 3.0, 0.125, 100.0, 0.001, 7.0])
        return f"{value}f" if kind == "f32" else str(value)
    bits = INTEGERS[kind]
    top = 1 << bits - 1
    if kind[0] == "u":
        value = random.choice([0, 1, 2, 3, 7, 255, 2 * top - 1, top, random.getrandbits(bits)]) % (2 * top)
        return f"{value}u" if bits <= 32 else f"{value}UL"
    value = random.choice([0, 1, -1, 5, -7, top - 1, 1 - top, random.getrandbits(bits - 1)])
    return f"({kind}){value}" if bits <= 32 else f"{value}L"


def cast(kind, of, text):
    """A float that has no room in an integer becomes 77 (`to_i32_`)."""
    if kind == of:
        return text
    return f"({kind})to_i32_{of}({text})" if of in FLOATS and kind in INTEGERS else f"({kind})({text})"


class Writer:
    """What may be read and written at this place of a handler: pairs of a type and a function that names one such variable or field."""

    def __init__(self, random):
        self.random = random
        self.readable, self.writable = [], []
        self.helpers, self.tables = [], []  # (result, name, parameters), (type, name, length)
        self.names = self.nested = 0

    def name(self, what):
        self.names += 1
        return f"{what}_{self.names}"

    # ---- expressions ----

    def index(self, length):
        if self.nested >= DEEPEST or self.random.random() < 0.5:
            return str(self.random.randrange(length))
        self.nested += 1
        text = self.expression("u32", 1)
        self.nested -= 1
        return f"({text}) % {length}u"

    def read(self, kind):
        fitting = [place for of, place in self.readable if of == kind]
        if fitting:
            return self.random.choice(fitting)()
        of, place = self.random.choice(self.readable)
        return cast(kind, of, place())

    def leaf(self, kind):
        return self.read(kind) if self.random.random() < 0.75 else constant(self.random, kind)

    def expression(self, kind, depth):
        if depth <= 0:
            return self.leaf(kind)
        way = self.random.random()
        if way < 0.12:
            of = self.random.choice(TYPES)
            return f"({cast(kind, of, self.expression(of, depth - 1))})"
        if way < 0.20:
            return f"({self.condition(depth - 1)} ? {self.expression(kind, depth - 1)} : {self.expression(kind, depth - 1)})"
        if way < 0.26 and self.helpers:
            of, name, parameters = self.random.choice(self.helpers)
            given = ", ".join(self.expression(parameter, depth - 1) for parameter in parameters)
            return f"({cast(kind, of, f'{name}({given})')})"
        if way < 0.30 and self.tables:
            of, name, length = self.random.choice(self.tables)
            return f"({cast(kind, of, f'{name}[{self.index(length)}]')})"
        return self.of_floats(kind, depth) if kind in FLOATS else self.of_integers(kind, depth)

    def of_floats(self, kind, depth):
        end = "f" if kind == "f32" else ""
        left, right = self.expression(kind, depth - 1), self.expression(kind, depth - 1)
        way = self.random.choice(["+", "-", "*", "/", "+", "-", "*", "sqrt", "whole", "fma"])
        if way == "sqrt":
            return f"sqrt{end}(fabs{end}({left}))"
        if way == "whole":
            return f"{self.random.choice(['floor', 'ceil', 'trunc', 'fabs'])}{end}({left})"
        if way == "fma":
            return f"fma{end}({left}, {right}, {self.expression(kind, depth - 1)})"
        return f"({left} {way} {right})"

    def of_integers(self, kind, depth):
        bits, wide = INTEGERS[kind], unsigned(kind)
        left, right = self.expression(kind, depth - 1), self.expression(kind, depth - 1)
        way = self.random.choice(["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%", "~", "negate", "compare", "!", "count", "rotate"])
        if way in ("+", "-", "*"):
            return f"({kind})(({wide})({left}) {way} ({wide})({right}))"
        if way in ("&", "|", "^"):
            return f"({kind})(({left}) {way} ({right}))"
        if way == "<<":
            return f"({kind})(({wide})({left}) << (({right}) & {bits - 1}))"
        if way == ">>":
            return f"({kind})(({left}) >> (({right}) & {bits - 1}))"
        if way in ("/", "%"):
            divisor = f"({right})" if kind[0] == "u" else f"(({right}) & {min((1 << bits - 1) - 1, 0xffff)})"
            return f"({kind})(({left}) {way} ({divisor} | 1))"
        if way == "negate":
            return f"({kind})(0 - ({wide})({left}))"
        if way == "compare":
            return f"({kind})(({left}) {self.random.choice(['<', '>', '<=', '>=', '==', '!='])} ({right}))"
        if way == "count":
            return f"({kind})gyre_{self.random.choice(['popcount', 'clz', 'ctz'])}_{wide}(({wide})({left}))"
        if way == "rotate":
            return f"({kind})gyre_rotl_{wide}(({wide})({left}), ({right}) & {31 if wide == 'u32' else 63})"
        return f"({kind}){way}({left})"

    def condition(self, depth):
        kind = self.random.choice(TYPES)
        sign = self.random.choice(["<", ">", "<=", ">=", "==", "!="])
        text = f"({self.expression(kind, depth)}) {sign} ({self.expression(kind, depth)})"
        way = self.random.random()
        if way < 0.2 and depth > 0:
            return f"{text} && {self.condition(depth - 1)}"
        return f"!({text})" if 0.2 <= way < 0.3 else text

    # ---- statements ----

    def assignment(self, margin):
        kind, place = self.random.choice(self.writable)
        signs = ["^=", "|=", "&="] + (["+=", "-=", "*="] if kind in ("u32", "u64") else [])
        if kind in INTEGERS and self.random.random() < 0.25:
            return f"{margin}{place()} {self.random.choice(signs)} {self.expression(kind, 2)};\n"
        return f"{margin}{place()} = {self.expression(kind, self.random.randint(1, 4))};\n"

    def statements(self, depth, margin):
        return "".join(self.statement(depth, margin) for _ in range(self.random.randint(1, 3)))

    def statement(self, depth, margin):
        way = self.random.random()
        if depth <= 0 or way < 0.45:
            return self.assignment(margin)
        if way < 0.60:
            return self.branch(depth, margin)
        if way < 0.75:
            return self.counted_loop(depth, margin)
        return self.switch(depth, margin) if way < 0.85 else self.open_loop(depth, margin)

    def branch(self, depth, margin):
        text = f"{margin}if ({self.condition(2)}) {{\n{self.statements(depth - 1, margin + '    ')}{margin}}}"
        if self.random.random() < 0.5:
            text += f" else {{\n{self.statements(depth - 1, margin + '    ')}{margin}}}"
        return text + "\n"

    def counted_loop(self, depth, margin):
        turn = self.name("turn")
        self.readable.append(("u32", lambda: turn))
        body = self.statements(depth - 1, margin + "    ")
        self.readable.pop()
        leave = f"{margin}    if ({turn} == 2)\n{margin}        {self.random.choice(['break', 'continue'])};\n"
        return (f"{margin}for (u32 {turn} = 0; {turn} < {self.random.randint(1, 6)}u; {turn}++) {{\n"
                f"{leave if self.random.random() < 0.3 else ''}{body}{margin}}}\n")

    def switch(self, depth, margin):
        text = f"{margin}switch ({self.expression('u32', 2)} % 5u) {{\n"
        for number in self.random.sample(range(5), 3):
            end = f"{margin}    break;\n" if self.random.random() < 0.7 else f"{margin}    /* falls through */\n"
            text += f"{margin}case {number}:\n{self.statements(depth - 1, margin + '    ')}{end}"
        return f"{text}{margin}default:\n{self.statements(depth - 1, margin + '    ')}{margin}    break;\n{margin}}}\n"

    def open_loop(self, depth, margin):
        left = self.name("left")
        body = self.statements(depth - 1, margin + "    ")
        if self.random.random() < 0.5:
            return f"{margin}u32 {left} = 3;\n{margin}do {{\n{body}{margin}}} while (--{left} > 0);\n".replace(
                f"{margin}u32", f"{margin}{{\n{margin}u32", 1) + f"{margin}}}\n"
        return (f"{margin}for (u32 {left} = ({self.expression('u32', 2)}) % 5u; {left} > 0;) {{\n"
                f"{body}{margin}    {left}--;\n{margin}}}\n")

    def variables(self, margin):
        """Declares some, which what follows reads and writes."""
        text = ""
        for _ in range(self.random.randint(2, 5)):
            kind, name, way = self.random.choice(TYPES), self.name("v"), self.random.random()
            if way < 0.6:
                text += f"{margin}{kind} {name} = {self.expression(kind, 2)};\n"
                place = (lambda name=name: name)
            elif way < 0.85:
                length = self.random.randint(2, 7)
                text += (f"{margin}{kind} {name}[{length}];\n{margin}for (u32 k = 0; k < {length}u; k++)\n"
                         f"{margin}    {name}[k] = {constant(self.random, kind)};\n")
                place = (lambda name=name, length=length: f"{name}[{self.index(length)}]")
            else:
                text += f"{margin}{kind} {name} = {constant(self.random, kind)}, *to_{name} = &{name};\n"
                place = (lambda name=name: self.random.choice([name, f"(*to_{name})"]))
            self.readable.append((kind, place))
            self.writable.append((kind, place))
        return text
