# SPDX-License-Identifier: Apache-2.0
"""Pictures of a report, as SVG: lines over two logarithmic axes, nothing else. Each line carries its name at its end, so
there is no legend to look up; a point's exact figure is its tooltip and stands in the tables of docs/benchmarks.md."""
import html
import math

WIDTH, HEIGHT = 860, 470
LEFT, RIGHT, TOP, BOTTOM = 84, 236, 56, 58
COLOURS = {"ring": "#0f7b5f", "rings": "#0b5cad", "hand": "#c07a2c", "launch": "#b3423a", "graph": "#8057a8"}
STYLE = """    text { fill: #1f2933; }
    .paper { fill: #ffffff; }
    .grid { stroke: #d9dee3; stroke-width: 1; }
    .axis { stroke: #7b8794; stroke-width: 1.2; }
    .small { font-size: 12px; fill: #52606d; }
    .title { font-size: 16px; font-weight: bold; }
    .name { font-size: 13px; }
    .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
    .mark { stroke: #ffffff; stroke-width: 1.2; }
    .cross { fill: none; stroke: #1f2933; stroke-width: 1.5; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e4e7eb; }
      .paper { fill: #14181d; }
      .grid { stroke: #323f4b; }
      .small { fill: #9aa5b1; }
      .mark { stroke: #14181d; }
      .cross { stroke: #e4e7eb; }
    }"""


def words(value, unit=""):
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {letter}{unit}"
    return f"{value:.3g} {unit}".rstrip()


class Picture:
    """Two logarithmic axes and what is drawn between them."""

    def __init__(self, title, across, up, ticks):
        self.title, self.across_name, self.up_name, self.ticks = title, across, up, ticks
        self.lines, self.notes = [], []

    def line(self, name, kind, points, way="solid"):
        """points: (across, up) in any order; a line without points is left out. way: solid, dashed, or marks alone."""
        points = sorted(point for point in points if point[0] > 0 and point[1] > 0)
        if points:
            self.lines.append((name, kind, points, way))

    def note(self, across, up, text):
        """A ring around a place, and what it says."""
        self.notes.append((across, up, text))

    def scale(self):
        ups = [up for _, _, points, _ in self.lines for _, up in points]
        self.low = 10 ** math.floor(math.log10(min(ups)))
        self.high = 10 ** math.ceil(math.log10(max(ups) * 1.05))
        self.first, self.last = self.ticks[0][0], self.ticks[-1][0]

    def x(self, across):
        part = math.log(across / self.first) / math.log(self.last / self.first)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def y(self, up):
        part = math.log(up / self.low) / math.log(self.high / self.low)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    def draw_axes(self):
        parts = []
        up = self.low
        while up <= self.high * 1.001:
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{self.y(up):.1f}" y2="{self.y(up):.1f}"/>')
            parts.append(f'<text class="small" x="{LEFT - 8}" y="{self.y(up) + 4:.1f}" text-anchor="end">{words(up)}</text>')
            up *= 10
        bottom = HEIGHT - BOTTOM
        for across, text in self.ticks:
            parts.append(f'<line class="grid" x1="{self.x(across):.1f}" x2="{self.x(across):.1f}" y1="{TOP}" y2="{bottom}"/>')
            parts.append(f'<text class="small" x="{self.x(across):.1f}" y="{bottom + 18}" text-anchor="middle">{text}</text>')
        parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>')
        parts.append(f'<text class="small" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{bottom + 40}" text-anchor="middle">{html.escape(self.across_name)}</text>')
        parts.append(f'<text class="small" x="{LEFT - 8}" y="{TOP - 12}" text-anchor="end">{html.escape(self.up_name)}</text>')
        return parts

    def name_places(self):
        """Names at the ends of their lines, pushed apart where lines end close together."""
        wanted = sorted((self.y(points[-1][1]), index) for index, (_, _, points, _) in enumerate(self.lines))
        places, before = {}, TOP - 18
        for y, index in wanted:
            before = max(y, before + 18)
            places[index] = before
        return places

    def draw_lines(self):
        parts, places = [], self.name_places()
        for index, (name, kind, points, way) in enumerate(self.lines):
            colour = COLOURS[kind]
            path = " ".join(f"{self.x(across):.1f},{self.y(up):.1f}" for across, up in points)
            dash = ' stroke-dasharray="6 4"' if way == "dashed" else ""
            if way != "marks":
                parts.append(f'<polyline class="line" stroke="{colour}"{dash} points="{path}"/>')
            for across, up in points:
                parts.append(f'<circle class="mark" cx="{self.x(across):.1f}" cy="{self.y(up):.1f}" r="4" fill="{colour}">'
                             f'<title>{html.escape(name)}: {words(up, "msg/s")} at {across:g}</title></circle>')
            end_x, end_y = self.x(points[-1][0]), self.y(points[-1][1])
            label_x, label_y = WIDTH - RIGHT + 22, places[index]
            parts.append(f'<polyline class="grid" fill="none" points="{end_x + 6:.1f},{end_y:.1f} {label_x - 4},{label_y:.1f}"/>')
            parts.append(f'<text class="name" x="{label_x}" y="{label_y + 4:.1f}" style="fill:{colour}">{html.escape(name)}</text>')
        return parts

    def draw_notes(self):
        parts = []
        for across, up, text in self.notes:
            x, y = self.x(across), self.y(up)
            parts.append(f'<circle class="cross" cx="{x:.1f}" cy="{y:.1f}" r="9"/>')
            parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{y + 9:.1f}" y2="{y + 96:.1f}"/>')
            parts.append(f'<text class="small" x="{x:.1f}" y="{y + 112:.1f}" text-anchor="middle">{html.escape(text)}</text>')
        return parts

    def svg(self):
        self.scale()
        head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"',
                '     font-family="\'DejaVu Sans\', Verdana, Helvetica, sans-serif" font-size="13">',
                f"  <title>{html.escape(self.title)}</title>", "  <style>", STYLE, "  </style>",
                f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
                f'<text class="title" x="{LEFT}" y="24">{html.escape(self.title)}</text>']
        return "\n".join(head + self.draw_axes() + self.draw_lines() + self.draw_notes() + ["</svg>", ""])


# ---- the two pictures of a report

SIZES = ((48, "48 B"), (1024, "1 KiB"), (4096, "4 KiB"), (65536, "64 KiB"))


def sizes(rates, peers):
    """How many messages a second, by their size: `rates` of `gyre bench`, `peers` rows of the plain program."""
    picture = Picture("Messages a second by size, every reply checked", "bytes of a request, and of its reply", "msg/s", SIZES)
    by_hand = {row["case"]: row["msgs_per_s"] for row in peers}
    numbers = [size for size, _ in SIZES]

    def of(table, pattern):
        return [(size, table[pattern.format(size)]) for size in numbers if pattern.format(size) in table]

    best = [(size, max(found)) for size in numbers
            if (found := [rate for case, rate in by_hand.items() if case.startswith(f"batched/{size}/")])]
    several = [(48, rates.get("pair/48/six", 0)), (65536, rates.get("pair/65536/four", 0))]
    picture.line("Gyre, one ring", "ring", of(rates, "pair/{}") or of(rates, "stream/{}"))
    picture.line("Gyre, six rings (four at 64 KiB)", "rings", several, "marks")
    picture.line("batches by hand, 8 threads", "hand", best)
    picture.line("a graph for each message", "graph", of(by_hand, "graph/{}"))
    picture.line("a launch for each message", "launch", of(by_hand, "launch/{}"))
    return picture.svg()


def batches(rates, peers):
    """48 bytes: what batches by hand reach by their size, where they overtake the ring, and how long each waits then."""
    sweeps = {row["threads"]: row["sweep"] for row in peers if row["case"].startswith("batched/48/") and row.get("sweep")}
    steps = sorted({step["batch"] for sweep in sweeps.values() for step in sweep})
    ticks = [(batch, str(batch)) for batch in steps if batch in (1, 16, 256, 4096) or batch == steps[-1]]
    picture = Picture("48 bytes: batches by hand and the ring", "messages of a batch, copied and launched together", "msg/s",
                      ticks)
    for threads, sweep in sorted(sweeps.items()):
        picture.line(f"by hand, {threads} thread{'s' if threads > 1 else ''}", "hand",
                     [(step["batch"], step["msgs_per_s"]) for step in sweep], "solid" if threads == 2 else "dashed")
    ends = (steps[0], steps[-1])
    for case, name, kind in (("pair/48", "Gyre, one ring, 2 threads", "ring"), ("pair/48/six", "Gyre, six rings, 12 threads", "rings")):
        if case in rates:
            picture.line(name, kind, [(end, rates[case]) for end in ends])
    quicker = [step for step in sweeps.get(2, []) if step["msgs_per_s"] > rates.get("pair/48", math.inf)]
    if quicker:
        step = min(quicker, key=lambda one: one["batch"])
        picture.note(step["batch"], step["msgs_per_s"], f"from {step['batch']} a batch on; each waits {step['batch_ns'] / 1e3:.3g} us")
    return picture.svg()
