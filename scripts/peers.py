#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a user could pick instead of Gyre on processors, and Gyre, in one run, by turns; prints a table.

    peers.py [--seconds S] [--rounds N] [--json FILE] [--check] [--ray] [--aeron FOLDER] GYRE

GYRE is the command to measure. Builds tests/bench/peers with cc and c++ in a folder of its own. A peer whose library is
not there is left out, with a line that says what to install. Every reply is checked. Figures are medians of the
rounds. --check: every peer for a moment, without Gyre and without a table. --ray: also Ray, whose wheel pip installs into
build/peers/venv when it is not there; it is some hundred megabytes. --aeron: also Aeron, which is installed below FOLDER.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "tests/bench/peers"
RAY = "ray==2.60.0"
# A busy machine starts Ray's processes late: Ray gives them half a minute, and ends with a core dump then.
os.environ.setdefault("RAY_agent_register_timeout_ms", "300000")
# source, flags, libraries, a header without which it is not built, the package that has it
PEERS = [
    ("peer_condition.c", [], [], None, None),
    ("peer_socket.c", [], [], None, None),
    ("peer_zmq.c", ['-DPEER_ADDRESS="inproc://gyre-peer-%d"', '-DPEER_NAME="ZeroMQ, inproc"'], ["-lzmq"], "zmq.h",
     "libzmq3-dev"),
    ("peer_zmq.c", ['-DPEER_ADDRESS="ipc:///tmp/gyre-peer-%d"', '-DPEER_NAME="ZeroMQ, ipc"'], ["-lzmq"], "zmq.h",
     "libzmq3-dev"),
    ("peer_nng.c", [], ["-lnng"], "nng/nng.h", "libnng-dev"),
    ("peer_caf.cpp", ["-std=c++17"], ["-lcaf_core"], "caf/all.hpp", "libcaf-dev"),
]
# row: name, cases of `gyre bench` for calls, streams and rest
OURS = [
    ("**Gyre**, a handler in the program", "call/48", "stream/48", "idle"),
    ("**Gyre**, a handler of another program", "attached/call/48", "attached/stream/48", None),
    ("**Gyre**, both sides sleep (`idle = park`)", "call/48/park", None, "idle/park"),
]


def compiler_of(source):
    return "c++" if source.endswith(".cpp") else "cc"


def has_header(source, header):
    return subprocess.run([compiler_of(source), "-E", "-x", "c++" if source.endswith(".cpp") else "c", "-"],
                          input=f"#include <{header}>\n", text=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def run(command, where="."):
    done = subprocess.run(command, stdout=subprocess.PIPE, cwd=where, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"peers: {' '.join(map(str, command))}: exit code {done.returncode}")
    return done.stdout


def aeron_peer(installed):
    """As a line of PEERS. Its headers include each other as if their folder were searched."""
    include, library = f"{installed}/include", f"{installed}/lib"
    if not os.path.exists(f"{include}/aeronmd/aeronmd.h"):
        sys.exit(f"peers: --aeron: expected a folder with include/aeronmd/aeronmd.h, where Aeron was installed, found '{installed}'")
    return ("peer_aeron.c", [f"-I{include}", f"-I{include}/aeron"], [f"-L{library}", f"-Wl,-rpath,{library}", "-laeron_driver", "-laeron"],
            None, None)


def build(folder, peers):
    programs = []
    run(["cc", "-O2", "-c", SOURCES / "peer.c", "-o", folder / "peer.o"])
    for number, (source, flags, libraries, header, package) in enumerate(peers):
        if not shutil.which(compiler_of(source)) or (header and not has_header(source, header)):
            print(f"left out: {source} {' '.join(flags)}: no {header} (apt install {package})", file=sys.stderr)
            continue
        program = folder / f"peer_{number}"
        run([compiler_of(source), "-O2", *flags, SOURCES / source, folder / "peer.o", "-o", program, *libraries,
             "-lpthread"])
        programs.append([program])
    return programs


def ray_command():
    """How the peer of Ray is run: by the Python of a venv that has its wheel."""
    venv = ROOT / "build/peers/venv"
    python = venv / "bin/python"
    if not python.exists() or subprocess.run([python, "-c", "import ray"], check=False).returncode != 0:
        print(f"peers: installing {RAY} into {venv}", file=sys.stderr)
        run([sys.executable, "-m", "venv", venv])
        run([venv / "bin/pip", "--disable-pip-version-check", "install", "-q", RAY])
    return [python, SOURCES / "peer_ray.py"]


def measure_gyre(gyre, seconds):
    cases = [f"--case={case}" for row in OURS for case in row[1:] if case]
    rows = json.loads(run([gyre, "bench", "--backend", "cpu", "--json", "--seconds", str(seconds), *cases]))["rows"]
    found = {row["case"]: row for row in rows}
    for name, call, stream, idle in OURS:
        yield {"peer": name, "call_p50_ns": found[call]["rtt_ns"]["p50"], "call_p99_ns": found[call]["rtt_ns"]["p99"],
               "stream_per_s": found[stream]["msgs_per_s"] if stream else None,
               "idle_processors": found[idle]["cpu_use"] if idle else None}


def middle(rows):
    """One row of the medians of all rounds; None where a figure is missing."""
    return {key: value if isinstance(value, str) or value is None else statistics.median(row[key] for row in rows)
            for key, value in rows[0].items()}


def time_text(ns):
    return f"{ns:.0f} ns" if ns < 1e4 else f"{ns / 1e3:.1f} us"


def rate_text(rate):
    if rate is None:
        return ""
    return f"{rate / 1e6:.2f} M/s" if rate >= 1e4 else f"{rate:.0f} /s"


def print_table(rows):
    print("| | one call, p50 | p99 | a stream | processors in use at rest |\n|---|---|---|---|---|")
    for row in rows:
        idle = row["idle_processors"]
        print(f"| {row['peer']} | {time_text(row['call_p50_ns'])} | {time_text(row['call_p99_ns'])} | "
              f"{rate_text(row['stream_per_s'])} | {'' if idle is None else f'{idle:.3f}'} |")


def main():
    parser = argparse.ArgumentParser(description="what else one could pick, measured beside Gyre")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--aeron", metavar="FOLDER")
    parser.add_argument("gyre", nargs="?")
    wanted = parser.parse_args()
    if not wanted.check and not wanted.gyre:
        parser.error("the command `gyre` to measure is expected")
    if not 0 < wanted.seconds < 60 or not 0 < wanted.rounds < 1000:
        parser.error("--seconds is above 0 and below 60, --rounds from 1 to 999")
    with tempfile.TemporaryDirectory() as folder:
        peers = PEERS + ([aeron_peer(os.path.abspath(wanted.aeron))] if wanted.aeron else [])
        programs = build(pathlib.Path(folder), peers) + ([ray_command()] if wanted.ray else [])
        if wanted.check:
            for program in programs:
                print(run([*program, "0.02"]), end="")
            return
        rounds = []
        for _ in range(wanted.rounds):
            ours = list(measure_gyre(wanted.gyre, wanted.seconds))
            rounds.append(ours + [json.loads(run([*program, str(wanted.seconds)])) for program in programs])
    rows = [middle(each) for each in zip(*rounds)]
    print_table(rows)
    if wanted.json:
        pathlib.Path(wanted.json).write_text(json.dumps({"processors": os.cpu_count(), "seconds": wanted.seconds,
                                                         "rounds": rounds, "medians": rows}, indent=1) + "\n")


main()
