#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the measured parts of docs/benchmarks.md, and its pictures, from the documents of `./run report BACKEND FOLDER`.

usage: ./dev benchmarks FILE...         one report a backend; parts of backends without a report stay as they are
       ./dev benchmarks --check FILE... writes nothing; fails when the page is not what the reports say

A part stands between `<!-- measured: BACKEND -->` and `<!-- end measured -->`. Nothing is rounded up, chosen or left
out: what a report does not hold is shown as a dash, and a wrong reply or a failed test is told where it happened.
"""
import json
import pathlib
import re
import sys

import benchmarks_pictures

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"


def fail(sentence):
    sys.exit(f"benchmarks: {sentence}")


def load(path):
    try:
        report = json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError) as error:
        fail(f"'{path}' cannot be read: {error}")
    if report.get("report") != 1:
        fail(f"'{path}' is no document of `./run report` (expected \"report\": 1)")
    return report


# ---- words for figures


def count(value):
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def duration(ns):
    if ns < 1e4:
        return f"{ns:.0f} ns"
    return f"{ns / 1e3:.4g} us" if ns < 1e6 else f"{ns / 1e6:.3g} ms"


def figure(value, unit):
    if unit == "ns":
        return duration(value)
    if unit == "x":
        return f"{value:.2f} x"
    if unit == "cores":
        return f"{value * 100:.2f} % of a core"
    return count(value) + ("B" if unit == "bytes" else "/s")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


# ---- what a report holds


def bench_rows(report):
    return [row for document in report["bench"] or [] if document for row in document["rows"]]


def rates(report):
    return {row["case"]: row["msgs_per_s"] for row in bench_rows(report) if row["msgs_per_s"]}


def machine(report):
    why = report["why"] or ""
    device = re.search(r"^device +\d+: (.*)$", why, re.M)
    library = re.search(r"^vendor library +(?!none needed)(.*)$", why, re.M)
    found = [match.group(1) for match in (device, library) if match]
    if report["backend"] != "cpu":
        found.append(report["processor"])
    return [f"{'; '.join(found)}; {report['cores']} processors; {report['system']}. Measured {report['date']} at commit "
            f"{report['commit']}, {report['seconds_each']} s a case."]


def targets(row):
    words = []
    for target in row["target"]:
        limit = "at least " + figure(target["at_least"], target["unit"]) if "at_least" in target else \
            "at most " + figure(target["at_most"], target["unit"])
        mark = "" if target["met"] else "**missed**: "
        words.append(f"{mark}{target['what']} {figure(target['found'], target['unit'])}, {limit}")
    return "; ".join(words) or "-"


def cases(report):
    """The ratios are to rings between two threads of the host: they say nothing of a GPU, whose floors follow."""
    on_host = report["backend"] == "cpu"
    heads = ["Case", "Messages", "p50 / p99"] + (["Ratio to its floor"] if on_host else []) + ["Asked"]
    rows = []
    for row in bench_rows(report):
        latency = row["rtt_ns"]
        if not (latency or row["msgs_per_s"] or row["target"] or row["errors"]):
            continue  # not measured here: a case of other backends
        cells = [f"`{row['case']}`" + (f" **{row['errors']} wrong**" if row["errors"] else ""),
                 count(row["msgs_per_s"]) + "/s" if row["msgs_per_s"] else "-",
                 f"{duration(latency['p50'])} / {duration(latency['p99'])}" if latency else "-"]
        if on_host:
            cells.append(f"{row['ratio_to_floor']:.2f}" if row["floor"] else "-")
        rows.append(cells + [targets(row)])
    return table(heads, rows)


# ---- what a device was asked for: one row a case, with what was found and what a user would have today


def floor_rate(report, pattern, probe):
    """The best rate, in messages a second, of a probe's lines."""
    found = re.findall(pattern, (report["floors"] or {}).get(probe) or "")
    return max(float(rate) for rate in found) * 1e6 if found else None


def floor_times(report, pattern, probe):
    """The least p50 of a probe's lines, in nanoseconds."""
    found = re.findall(pattern, (report["floors"] or {}).get(probe) or "", re.M)
    return min(float(time) for time in found) * 1e3 if found else None


def copy_engine(report, size):
    """What the bus carries one way, in messages of that size a second."""
    found = re.findall(r"copy engine \S+ (\S+) GB/s", (report["floors"] or {}).get("stream") or "")
    return min(float(rate) for rate in found) * 1e9 / size if found else None


def way_today(report, case, by_latency):
    row = next((row for row in (report["peers"] or {}).get("rows", []) if row["case"] == case), None)
    if not row:
        return "-"
    return duration(row["rtt_ns"]["p50"]) if by_latency else count(row["msgs_per_s"]) + "/s"


def floor_words(report, case):
    """What the hardware gives with the same protocol and nothing else, in the same run."""
    echo = r"stream echo .*msg +{}B: +(\S+) M msg/s"
    rings = (report["floors"] or {}).get("rings") or ""
    value = {"call/48": lambda: floor_times(report, r"RTT p50 (\S+)", "dispatch"),
             "pair/48": lambda: floor_rate(report, r"\| 1 ring (\S+) M", "dispatch"),
             "pair/48/six": lambda: float(re.search(r"6 rings: (\S+) M", rings)[1]) * 1e6 if "6 rings:" in rings else None,
             "pair/4096": lambda: floor_rate(report, echo.format(4096), "stream"),
             "pair/65536/four": lambda: copy_engine(report, 65536),
             "arithmetic/block": lambda: next((row["msgs_per_s"] for row in (report["peers"] or {}).get("rows", [])
                                               if row["case"] == "arithmetic/block"), None)}.get(case, lambda: None)()
    if value is None:
        return "-"
    return duration(value) if case.startswith("call/") else count(value) + "/s"


ASKED = (("call/48", "launch/48"), ("call/1024", "launch/1024"), ("call/1024/block", "launch/1024"), ("pair/48", "launch/48"),
         ("pair/48/six", "batched/48/8"), ("pair/4096", "launch/4096"), ("pair/65536/four", "batched/65536/8"),
         ("pair/vector_add", "-"), ("arithmetic/block", "-"), ("deactivate", "-"), ("terminate", "-"),
         ("yield", "-"), ("yield/132", "-"), ("compile_cold", "-"), ("compile_cached", "-"), ("idle/park", "-"))


def share_of_plain(report, row):
    """The target of the arithmetic is the same work in a plain kernel of the same run."""
    plain = [peer for peer in (report["peers"] or {}).get("rows", []) if peer["case"] == row["case"]]
    if not plain or not row["msgs_per_s"]:
        return "-"
    share = row["msgs_per_s"] / plain[0]["msgs_per_s"]
    return ("" if share >= 0.9 else "**missed**: ") + f"{share * 100:.0f} % of the plain kernel's rate, at least 90 %"


def asked(report):
    if report["backend"] != "cuda":
        return []
    found = {row["case"]: row for row in bench_rows(report)}
    rows = []
    for case, today in ASKED:
        row = found.get(case)
        words = "was not run in this visit" if row is None else \
            share_of_plain(report, row) if case == "arithmetic/block" else targets(row)
        if row and row["errors"]:
            words += f"; **{row['errors']} wrong**"
        rows.append([f"`{case}`", words, floor_words(report, case), way_today(report, today, case.startswith("call/"))])
    return ["What was asked of an H200, beside the floor of the same run and a plain program's way (for calls its p50):", ""] + \
        table(["Case", "Found, asked", "Floor", "By hand"], rows) + [""]


def pictures(report):
    """Their files, by name; none where nobody ran the plain program."""
    if report["backend"] != "cuda" or not report["peers"]:
        return {}
    rows = report["peers"]["rows"]
    return {"throughput-cuda.svg": benchmarks_pictures.sizes(rates(report), rows),
            "batches-cuda.svg": benchmarks_pictures.batches(rates(report), rows)}


def picture_lines(report):
    texts = {"throughput-cuda.svg": "Messages a second by size: Gyre, batches by hand, a graph and a launch for each message",
             "batches-cuda.svg": "Messages of 48 bytes a second by the size of the batch, and the ring"}
    return [line for name in pictures(report) for line in (f"![{texts[name]}](measured/{name})", "")]


def floors(report):
    found = report["floors"] or {}
    rows = []
    for match in re.finditer(r"P=(\d) NW=(\d) stagger= *(\d+): RTT p50 (\S+) p99 (\S+).*\| 1 ring (\S+) M",
                             found.get("dispatch") or ""):
        slots, warps, stagger, p50, p99, rate = match.groups()
        rows.append([f"bare loop, {warps} warps polling {slots} slots, stagger {stagger}",
                     f"{p50} / {p99} us", f"{rate} M/s"])
    for match in re.finditer(r"(\d) rings: (\S+) M", found.get("rings") or ""):
        rows.append([f"bare loop, {match[1]} rings", "-", f"{match[2]} M/s"])
    for match in re.finditer(r"^(\S.*?) +p50 +(\S+) us +p99 +(\S+)", found.get("limits") or "", re.M):
        rows.append([match[1], f"{match[2]} / {match[3]} us", "-"])
    for match in re.finditer(r"^(stream echo \d rings msg +\d+B): +(\S+) M msg/s +(\S+) GB/s",
                             found.get("stream") or "", re.M):
        rows.append([re.sub(" +", " ", match[1]), "-", f"{match[2]} M/s, {match[3]} GB/s"])
    if not rows:
        return []
    return ["", "Floors of the same run: bare kernels and single calls, without Gyre.", ""] + \
        table(["Floor", "p50 / p99", "Messages"], rows)


def peers(report):
    document = report["peers"]
    if not document:
        return []
    rows = []
    for row in document["rows"]:
        latency = row.get("rtt_ns")
        rows.append([f"`{row['case']}`", str(row["batch"]), count(row["msgs_per_s"]) + "/s",
                     f"{duration(latency['p50'])} / {duration(latency['p99'])}" if latency and latency["p50"] else
                     duration(row["batch_ns"]) + " a batch" if row.get("batch_ns") else "-"])
    return ["", "What a user would write without Gyre, in the same run: a launch or a graph for each message, or batches by",
            "hand at the best size of a sweep (the last number is how many host threads fill and check).", ""] + \
        table(["Way", "Batch", "Messages", "p50 / p99"], rows)


# ---- where the lines cross: batches by hand, with as many host threads as the ring had

CROSSINGS = ((48, "pair/48", 2), (1024, "pair/1024", 2), (1024, "pair/1024/eight", 2), (1024, "stream/1024", 1),
             (4096, "pair/4096", 2), (65536, "pair/65536", 2), (65536, "pair/65536/four", 8))


def crossing(sweep, rate):
    """The smallest batch with which batches by hand are quicker than the ring, or None."""
    quicker = [step for step in sweep if step["msgs_per_s"] > rate]
    return min(quicker, key=lambda step: step["batch"]) if quicker else None


def crossings(report):
    ring = rates(report)
    lines = []
    calls = {row["case"]: row["rtt_ns"]["p50"] for row in bench_rows(report) if row["rtt_ns"]}
    for size, case, threads in CROSSINGS:
        by_hand = [row for row in (report["peers"] or {}).get("rows", [])
                   if row["case"] == f"batched/{size}/{threads}" and row.get("sweep")]
        if not by_hand or case not in ring:
            continue
        step = crossing(by_hand[0]["sweep"], ring[case])
        words = f"- {size} bytes, {threads} host thread{'s' if threads > 1 else ''}: the ring (`{case}`) does {count(ring[case])}/s; "
        if step:
            words += f"batches by hand are quicker from {step['batch']} messages a batch on, where each waits for " \
                     f"{duration(step['batch_ns'])}"
        else:
            words += f"batches by hand stay below it at every size (best {count(by_hand[0]['msgs_per_s'])}/s)"
        if f"call/{size}" in calls:
            words += f"; one message through the ring takes {duration(calls[f'call/{size}'])}"
        lines.append(words + ".")
    if not lines:
        return []
    return ["", "Where the lines cross, and a ring is not the right choice any more:", ""] + lines


def stress_words(line):
    """A line of `gyre_stress --json` as words; other lines as they are."""
    if not line.startswith("{"):
        return re.sub(" +", " ", line.strip())
    facts = json.loads(line)
    told = [f"{name.replace('_', ' ')} {count(value)}" for name, value in facts.items() if name not in ("mode", "ok", "seconds")]
    return f"`{facts['mode']}` {'ok' if facts['ok'] else 'FAILED'} in {facts['seconds']:.1f} s: {', '.join(told)}"


def tests(report):
    lines = []
    for name in ("conformance", "kernels"):
        said = (report[name] or "was not run in this visit").strip().splitlines()
        lines.append(f"- {name}: {said[-1].strip()}")
        lines += [f"  - {line.split(': ')[0]}" for line in said if line.startswith("FAILED")]
    for name, title in (("driver_only", "without a compiler"), ("sanitizer", "compute-sanitizer")):
        if report.get(name):
            said = report[name].strip().splitlines()
            lines.append(f"- {title}: {said[-1].strip()}")
            lines += [f"  - {line}" for line in said if line.startswith("FAILED")]
    if report["stress"]:
        lines += [f"- stress: {stress_words(line)}" for line in report["stress"].strip().splitlines()]
    return ["", "Tests of the same run:", ""] + lines


def part(report):
    lines = machine(report) + [""] + picture_lines(report) + asked(report) + cases(report)
    for more in (floors, peers, crossings):
        lines += more(report)
    return "\n".join(lines + tests(report))


def main():
    check = sys.argv[1:2] == ["--check"]
    paths = sys.argv[2:] if check else sys.argv[1:]
    if not paths:
        fail("usage: ./dev benchmarks [--check] FILE... (report-BACKEND.json of `./run report BACKEND FOLDER`)")
    before = page = PAGE.read_text()
    drawn = {}
    for path in paths:
        report = load(path)
        drawn.update(pictures(report))
        backend = report["backend"]
        section = re.compile(rf"(<!-- measured: {re.escape(backend)} -->\n).*?(<!-- end measured -->)", re.S)
        if not section.search(page):
            fail(f"docs/benchmarks.md has no part for backend '{backend}': add its two markers")
        page = section.sub(lambda match, report=report: match[1] + part(report) + "\n" + match[2], page)
    stale = [name for name, text in drawn.items()
             if not (PAGE.parent / "measured" / name).is_file() or (PAGE.parent / "measured" / name).read_text() != text]
    if check and (page != before or stale):
        fail("docs/benchmarks.md is not what the reports say: run ./dev benchmarks " + " ".join(paths))
    if not check:
        PAGE.write_text(page)
        for name, text in drawn.items():
            (PAGE.parent / "measured" / name).write_text(text)


main()
