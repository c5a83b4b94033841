#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The architecture, checked in what was built: which files call each other in a loop, which include each other in a circle, which
headers speak for many files, and who reaches into a queue or a kernel from outside its folder.

usage: check_loops.py BUILD NM CEILINGS

A file calls another one when its object needs a symbol that the other object defines. A room is a source with the header of its
name; one room includes another when a file of it includes a header there. No circle of rooms is allowed. CEILINGS has a line `KIND FOLDER COUNT` for
each folder that has some left: a count above its ceiling is a new loop, a count below it has to lower the ceiling. A folder without a
line has none. A folder of which nothing was built (a backend without its library) is not judged.
"""
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict

FOLDERS = ("core", "cli", "backends")
FILES_OF_A_HEADER = 3
OBJECTS = ("gyre_queue", "gyre_kernel")


def objects(build):
    """Source file -> object file; a source that several targets compile stands once."""
    found = {}
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(build, folder)):
            for name in names:
                if name.endswith(".c.o"):
                    path = os.path.join(place, name)
                    source = re.sub(r"/CMakeFiles/[^/]+\.dir", "", os.path.relpath(path, build))[:-2]
                    if os.path.exists(source):  # the object of a file that has gone may be left in the build folder
                        found.setdefault(source, path)
    return found


def symbols(nm, found):
    """Symbol -> the source that defines it, and source -> the symbols that it needs."""
    defined, needed = {}, defaultdict(set)
    by_path = {path: source for source, path in sorted(found.items())}
    listing = subprocess.run([nm, "-A", *by_path], capture_output=True, text=True, check=True).stdout if found else ""
    for path, _, row in (line.rpartition(":") for line in listing.splitlines()):
        words = row.split()
        if len(words) == 2 and words[0] == "U":
            needed[by_path[path]].add(words[1])
        elif len(words) == 3 and words[1] in "TDBRVWC":
            defined.setdefault(words[2], by_path[path])
    return defined, needed


def calls(defined, needed):
    """Source -> the sources whose symbols it needs."""
    return {source: {defined[name] for name in names if name in defined} - {source} for source, names in needed.items()}


def loops(graph):
    """Sets of files each of which reaches every other: Tarjan's components, without those of one file."""
    index, low, stack, found = {}, {}, [], []

    def visit(file):
        index[file] = low[file] = len(index)
        stack.append(file)
        for other in sorted(graph.get(file, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == index[file]:
            at = stack.index(file)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                found.append(sorted(component))

    for file in sorted(graph):
        if file not in index:
            visit(file)
    return found


def rooms():
    """Room -> the rooms whose headers its files include."""
    found = defaultdict(set)
    for folder in FOLDERS:
        for place, _, names in os.walk(folder):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.join(place, name)
                    with open(path, encoding="utf-8") as file:
                        included = re.findall(r'^ *# *include "([^"]+)"', file.read(), flags=re.M)
                    for header in included:
                        beside = os.path.normpath(os.path.join(place, header))
                        there = header if os.path.exists(header) else beside if os.path.exists(beside) else None
                        if there and there[:-2] != path[:-2]:
                            found[path[:-2]].add(there[:-2])
    return found


def declared(header):
    """The functions that a header declares; bodies of its inline functions are left out."""
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", "", text)
    return set(re.findall(r"\b(\w+)\s*\(", text))


def wide_headers(defined):
    """Header -> the files whose functions it declares, where they are more than FILES_OF_A_HEADER."""
    wide = {}
    for folder in FOLDERS:
        for place, _, names in os.walk(folder):
            for name in sorted(names):
                if name.endswith(".h"):
                    header = os.path.join(place, name)
                    files = {defined[function] for function in declared(header) if function in defined}
                    if len(files) > FILES_OF_A_HEADER:
                        wide[header] = sorted(files)
    return wide


def without_comments(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def members(text, struct):
    """The members of a struct, of which nested ones count as one."""
    body = re.search(rf"^struct {struct} \{{\n(.*?)^\}};", text, flags=re.S | re.M).group(1)
    while re.search(r"\{[^{}]*\}", body):
        body = re.sub(r"\{[^{}]*\}", "", body)
    body = re.sub(r"\[[^\]]*\]", "", body)
    return {re.findall(r"\w+", name)[-1] for line in body.split(";") for name in line.split(",") if re.search(r"\w", name)}


def reaches(struct):
    """A file for each time that it reaches into an object of the struct whose home is another folder."""
    texts = {}
    for place, _, names in os.walk("core"):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                path = os.path.join(place, name)
                texts[path] = without_comments(path)
    homes = [path for path, text in texts.items() if re.search(rf"^struct {struct} \{{", text, flags=re.M)]
    if not homes:
        return []
    known = "|".join(members(texts[homes[0]], struct))
    found = []
    for path, text in texts.items():
        if os.path.dirname(path) != os.path.dirname(homes[0]):
            pointers = set(re.findall(rf"\b{struct} \*(?:const )?(\w+)", text))
            for pointer in pointers:
                found += [path] * len(re.findall(rf"\b{pointer}->(?:{known})\b", text))
    return found


def held_against(kind, files, ceilings, built, what):
    """Prints each built folder whose count is not its ceiling; returns how many there are."""
    counts = Counter(os.path.dirname(file) for file in files)
    wrong = 0
    for folder in sorted(built):
        ceiling = ceilings.get((kind, folder), 0)
        if counts[folder] > ceiling:
            print(f"{folder}: {counts[folder]} {what}, at most {ceiling} are allowed")
        elif counts[folder] < ceiling:
            print(f"{folder}: {counts[folder]} {what}: lower the ceiling `{kind} {folder} {ceiling}` to {counts[folder]}")
        wrong += counts[folder] != ceiling
    return wrong


def main():
    build, nm, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    ceilings = {(kind, folder): int(count) for kind, folder, count in rows}
    sources = objects(build)
    built = {os.path.dirname(source) for source in sources}
    defined, needed = symbols(nm, sources)
    if not defined:
        sys.exit(f"{build}: no objects of {', '.join(FOLDERS)} are there; build first")
    found, wide = loops(calls(defined, needed)), wide_headers(defined)
    circles = loops(rooms())
    wrong = len(circles)
    wrong += held_against("loop", [file for loop in found for file in loop], ceilings, built, "files call each other in loops")
    wrong += held_against("header", wide, ceilings, built, f"headers declare the functions of more than {FILES_OF_A_HEADER} files")
    for struct in OBJECTS:
        kind = struct.removeprefix("gyre_")
        wrong += held_against(kind, reaches(struct), ceilings, built, f"times a member of struct {struct} is used, which lives elsewhere")
    for kind, folder in sorted(ceilings):
        if not os.path.isdir(folder):
            print(f"{folder} has gone: take its line `{kind} {folder} {ceilings[kind, folder]}` away")
            wrong += 1
    if wrong:
        for loop in found:
            print("loop:", *loop)
        for circle in circles:
            print("these include each other in a circle:", *circle)
        for header, files in wide.items():
            print(f"{header} declares functions of", *files)
        sys.exit(1)
    print("no loop and no wide header is new")


main()
