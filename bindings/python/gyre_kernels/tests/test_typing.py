# SPDX-License-Identifier: Apache-2.0
"""The package's types, for mypy --strict: of the package itself, and of a program that uses it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest

import gyre_kernels

PROGRAM = """
import gyre_kernels as gyre

def scale(rt: gyre.Runtime, source: str) -> gyre.Kernel:
    kernel = rt.launch(source, backend="cpu")
    with kernel.reserve(4) as slots:
        slots["value"] = 1
        count: int = len(slots)
    error: type[TimeoutError] = gyre.GyreTimeoutError
    print(kernel.name.upper(), count, error)
    return kernel
"""


def mypy(*arguments: str, folder: Path) -> List[str]:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not here")
    package = Path(gyre_kernels.__file__).parent
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), *arguments],
        cwd=folder,
        env={**os.environ, "MYPYPATH": "" if "site-packages" in str(package) else str(package.parent)},
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


def test_a_program_is_checked(tmp_path: Path) -> None:
    (tmp_path / "fine.py").write_text(PROGRAM, encoding="utf-8")
    assert mypy("fine.py", folder=tmp_path)[-1].startswith("Success")


def test_mistakes_of_a_program_are_found(tmp_path: Path) -> None:
    wrong = PROGRAM.replace('backend="cpu"', "backend=5").replace("kernel.name", "kernel.nome")
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")
    report = "\n".join(mypy("wrong.py", folder=tmp_path))
    assert 'incompatible type "int"' in report and 'has no attribute "nome"' in report


def test_the_package_is_checked(tmp_path: Path) -> None:
    report = mypy("-p", "gyre_kernels", "--exclude", "tests", folder=tmp_path)
    assert report[-1].startswith("Success"), "\n".join(report)


def test_its_types_are_what_runs(tmp_path: Path) -> None:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not here")
    package = Path(gyre_kernels.__file__).parent
    environment = {**os.environ, "MYPYPATH": str(package.parent), "PYTHONPATH": str(package.parent)}
    if "site-packages" in str(package):
        environment = dict(os.environ)
    allowed = tmp_path / "allowed"
    # newer stubtests: what lru_cache wraps is another function, and a type in C wants a decorator that older ones do not know
    names = ["gyre_kernels\\.tests.*", "gyre_kernels\\.types\\._message_class", "gyre_kernels\\._block\\.Block"]
    allowed.write_text("\n".join(names) + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--allowlist", str(allowed), "--ignore-unused-allowlist", "gyre_kernels"],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_is_there() -> None:
    for name in gyre_kernels.__all__:
        assert getattr(gyre_kernels, name).__doc__, name
