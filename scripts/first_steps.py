#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long a stranger takes from an installed Gyre to a handler of his own that is resident and seen in `gyre top`.

    first_steps.py c|c++ [--prefix FOLDER] [--times N]      Gyre is installed below FOLDER; without it, where the system looks
    first_steps.py python --wheel FILE [--times N]          the wheel goes into a venv that is made for it

Types into a shell, in an empty folder and with an empty home, what README.md says: its files, its commands, and one change of the
handler. A command that README.md does not have any more is an error, and so is another output than it tells. Prints the time of
each walk, what of it the processors worked, and how busy the machine was. The time that a reader needs is not in it.
"""
import argparse
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROMPT = "typed-so-far> "
WITHIN_S = 150
HANDLER, SUM, PRODUCT = "vector_add.gyre.c", "request->a[i] + request->b[i]", "request->a[i] * request->b[i]"
# language: the program's file, how it is built and run, and what it prints with the handler of README.md and with the changed one
PROGRAMS = {
    "c": ("main.c", ["cc main.c $(pkg-config --cflags --libs gyre) -o vector_add", "./vector_add"], "11 22 33", "10 40 90"),
    "c++": ("main.cpp", ["c++ -std=c++17 main.cpp $(pkg-config --cflags --libs gyre) -o vector_add", "./vector_add"], "11 22 33",
            "10 40 90"),
    "python": ("main.py", ["python3 main.py"], "[1. 2. 3.]", "[0. 1. 2.]"),
}
EXPORT = "export PATH=DIR/bin:$PATH PKG_CONFIG_PATH=DIR/lib/pkgconfig"  # for an install in a folder DIR
WATCHED = ["gyre serve vector_add.gyre.c &", "gyre top"]


def block(before):
    """The code of README.md behind the line that begins with `before`."""
    found = re.search(re.escape(before) + r".*?^```[a-z+]*\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    if not found:
        sys.exit(f"first_steps: README.md has no code behind '{before}'")
    return found.group(1)


def check_lines(lines):
    for line in lines:
        if line not in README and line != "python3 main.py":  # how a program in Python is run needs no word
            sys.exit(f"first_steps: README.md does not have the command '{line}' any more")


class Terminal:
    """A shell at a terminal, in a folder of its own."""

    def __init__(self, folder, path):
        environment = {"HOME": str(folder / "home"), "PATH": path, "TERM": "xterm", "PS1": PROMPT, "LANG": "C.UTF-8"}
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            os.chdir(folder / "work")
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting"], environment)
        self.seen = ""
        self.wait_for(PROMPT)

    def wait_for(self, text):
        """What the terminal shows up to `text`."""
        end = time.monotonic() + WITHIN_S
        while text not in self.seen:
            if not select.select([self.descriptor], [], [], max(0, end - time.monotonic()))[0]:
                sys.exit(f"first_steps: '{text}' did not come within {WITHIN_S} s; the terminal shows:\n{self.seen}")
            self.seen += os.read(self.descriptor, 65536).decode(errors="replace")
        shown, self.seen = self.seen.split(text, 1)
        return shown

    def type(self, line, end="\n"):
        os.write(self.descriptor, (line + end).encode())

    def run(self, line, expected=""):
        self.type(line)
        shown = self.wait_for(PROMPT)
        self.type("echo status $?.")
        status = self.wait_for(PROMPT)
        if "status 0." not in status or expected not in shown:
            sys.exit(f"first_steps: '{line}' was to give '{expected}'; the terminal shows:\n{shown}{status}")

    def close(self):
        self.type("exit")
        try:
            while os.read(self.descriptor, 65536):
                pass
        except OSError:
            pass  # the shell has ended
        os.waitpid(self.process, 0)
        os.close(self.descriptor)


def write_files(folder, language):
    program = PROGRAMS[language][0]
    for name in ("vector_add.h", HANDLER):
        (folder / name).write_text(block(f"<!-- examples/vector_add/{name} -->"), encoding="utf-8")
    before = "A program in Python does the same" if language == "python" else f"<!-- examples/vector_add/{program} -->"
    (folder / program).write_text(block(before), encoding="utf-8")


def prepare(terminal, wanted):
    """What README.md has to be typed before its programs run."""
    if wanted.wheel:
        terminal.run("python3 -m venv venv && . venv/bin/activate")
        terminal.run(f"pip install --disable-pip-version-check -q {wanted.wheel}")
    elif wanted.prefix:
        check_lines([EXPORT])
        terminal.run(EXPORT.replace("DIR", wanted.prefix))


def walk(wanted):
    _, lines, first, changed = PROGRAMS[wanted.language]
    check_lines(lines + WATCHED)
    if wanted.prefix:
        lines = [line.replace("gyre)", f"gyre) -Wl,-rpath,{wanted.prefix}/lib") for line in lines]
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        (folder / "home").mkdir()
        (folder / "work").mkdir()
        terminal = Terminal(folder, "/usr/local/bin:/usr/bin:/bin")
        prepare(terminal, wanted)
        write_files(folder / "work", wanted.language)
        for line in lines:
            terminal.run(line, first if line == lines[-1] else "")
        handler = folder / "work" / HANDLER
        handler.write_text(handler.read_text(encoding="utf-8").replace(SUM, PRODUCT), encoding="utf-8")
        terminal.run(lines[-1], changed)
        terminal.type(WATCHED[0])
        terminal.wait_for("serving at")
        terminal.type(WATCHED[1])
        terminal.wait_for("MSG/S")
        terminal.wait_for("vector_add")
        terminal.type("q", end="")
        terminal.wait_for(PROMPT)
        terminal.run("kill %1")
        terminal.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # what the shell started may write yet, after a failure


def main():
    parser = argparse.ArgumentParser(description="how long the first steps of README.md take")
    parser.add_argument("language", choices=PROGRAMS)
    parser.add_argument("--prefix", type=os.path.abspath)
    parser.add_argument("--wheel", type=os.path.abspath)
    parser.add_argument("--times", type=int, default=3)
    wanted = parser.parse_args()
    if (wanted.language == "python") != bool(wanted.wheel):
        parser.error("--wheel is for python, which needs it")
    for number in range(1, wanted.times + 1):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        walk(wanted)
        took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        worked = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        print(f"{wanted.language}, walk {number}: {took:.1f} s, of which the processors worked {worked:.1f} s; "
              f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)


main()
