#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the .dist-info of the Python package beside it, as pip would, so that pip, pytest and importlib.metadata know it.

    dist_info.py PYPROJECT VERSION SITE_PACKAGES
"""
import pathlib
import sys
import tomllib


def main():
    pyproject, version, packages = sys.argv[1:]
    project = tomllib.loads(pathlib.Path(pyproject).read_text(encoding="utf-8"))["project"]
    folder = pathlib.Path(packages) / f"{project['name'].replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}",
             f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Classifier: {each}" for each in project["classifiers"]]
    lines += [f"Requires-Dist: {each}" for each in project["dependencies"]]
    (folder / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")
    groups = [f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in entries.items())
              for group, entries in project["entry-points"].items()]
    (folder / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")


main()
