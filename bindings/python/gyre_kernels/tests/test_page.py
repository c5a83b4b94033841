# SPDX-License-Identifier: Apache-2.0
"""docs/python.md: its program runs as it stands, and its lines print what they say."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).with_name("python.md")


def page() -> str:
    if not PAGE.exists():
        pytest.skip(f"the page is not beside the tests: {PAGE}")
    return PAGE.read_text(encoding="utf-8")


def test_the_program_runs_as_it_stands(tmp_path: Path) -> None:
    programs = re.findall(r"^```python\n(.*?)^```", page(), re.M | re.S)
    assert len(programs) == 1
    (tmp_path / "program.py").write_text(programs[0], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["41.0"] + [f"{2.0 * i}" for i in range(100)]


def test_the_program_of_the_readme_runs() -> None:
    root = Path(__file__).resolve().parents[4]
    if not (root / "README.md").exists() or not (root / "examples" / "vector_add").is_dir():
        pytest.skip("the tests are not in a checkout")
    (program,) = re.findall(r"^```python\n(.*?)^```", (root / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root / "examples" / "vector_add", capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1. 2. 3.]\n", "")


def test_its_lines_print_what_they_say() -> None:
    session = "\n".join(re.findall(r"^```pycon\n(.*?)^```", page(), re.M | re.S))
    test = doctest.DocTestParser().get_doctest(session, {}, "python.md", None, None)
    assert len(test.examples) >= 40
    report: list[str] = []
    results = doctest.DocTestRunner().run(test, out=report.append)
    assert results.failed == 0, "".join(report)
