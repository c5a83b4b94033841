# SPDX-License-Identifier: Apache-2.0
"""A machine without a C compiler: zig out of a wheel takes its place. The stand-in for zig is a program that says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gyre_kernels as gyre
from gyre_kernels.__main__ import COMMAND
from gyre_kernels.compilers import offer_zig

HANDLER = """
#include <gyre/kernel.h>
#define NUMBER(FIELD) FIELD(u64, number)
GYRE_MESSAGE(number, NUMBER)
GYRE_KERNEL(twice, number, number) { reply->number = 2 * request->number; return GYRE_REPLY; }
"""
PROGRAM = f"""
import gyre_kernels as gyre
with gyre.open("cpu") as rt:
    print(rt.launch({HANDLER!r})(number=21).number)
"""


@pytest.fixture
def fake_zig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package ziglang that says that it was called."""
    package = tmp_path / "modules" / "ziglang"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(f"import sys; open({str(tmp_path / 'called')!r}, 'w').write(' '.join(sys.argv[1:]))")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def commands(folder: Path, *names: str) -> str:
    """A PATH with these commands of the system alone."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(next(f"{at}/{name}" for at in ("/bin", "/usr/bin") if os.path.exists(f"{at}/{name}")))
    return str(folder)


def test_zig_is_called_as_cc_where_there_is_none(fake_zig: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", commands(fake_zig / "bin", "sh"))
    offer_zig()
    offer_zig()  # once more adds nothing
    assert os.environ["PATH"].count(os.pathsep) == 1
    subprocess.run(["cc", "-ftrack-macro-expansion=0", "-c", "a.c"], check=True)
    assert (fake_zig / "called").read_text() == "cc -Wl,--no-gc-sections -c a.c"


def test_kernels_that_the_simulator_watches_are_linked_without_a_runtime(fake_zig: Path) -> None:
    calls = fake_zig / "calls"
    (fake_zig / "modules" / "ziglang" / "__main__.py").write_text(
        f"import sys; open({str(calls)!r}, 'a').write(' '.join(sys.argv[1:]) + chr(10))"
    )
    words = ["-shared", "-fsanitize=thread,bounds", "-Wl,-z,defs", "-o", "out dir/k.so", "k.c", "-lm", "-lgcc"]
    subprocess.run([gyre.zig_compiler(), *words], check=True)
    compiled, linked = calls.read_text().splitlines()
    assert compiled == "cc -c -fno-sanitize=undefined -fsanitize=thread,bounds -o out dir/k.so.o k.c"
    assert linked == "cc -O2 -shared -Wl,--no-gc-sections -Wl,-z,defs -o out dir/k.so out dir/k.so.o -lm"


def test_a_compiler_of_the_machine_stays(fake_zig: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fake_zig / "bin"
    folder.mkdir()
    (folder / "cc").write_text("#!/bin/sh\n")
    (folder / "cc").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    offer_zig()
    assert os.environ["PATH"] == str(folder)


def test_without_zig_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    offer_zig()
    assert os.environ["PATH"] == str(tmp_path)
    with pytest.raises(gyre.UnavailableError, match=r'pip install "gyre-kernels\[cc\]"'):
        gyre.zig_compiler()


def limit_of_compilers() -> str:
    done = subprocess.run([sys.executable, "-m", "gyre_kernels", "config"], check=True, capture_output=True, text=True)
    return next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("gyre.compile_timeout_ms "))


def test_a_wheel_gives_zig_the_time_that_it_takes_for_its_own_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the usual minute; and what a user sets beats it."""
    if not Path(COMMAND).parent.with_name("lib").is_dir():
        pytest.skip("the package is not out of a wheel")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("GYRE_COMPILE_TIMEOUT_MS", raising=False)
    assert limit_of_compilers() == "900000"
    (tmp_path / "gyre").mkdir()
    (tmp_path / "gyre" / "gyre.ini").write_text("[gyre]\ncompile_timeout_ms = 7000\n")
    assert limit_of_compilers() == "7000"


def test_a_handler_is_compiled_by_zig_alone(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    environment: Any = {**os.environ, "PATH": commands(tmp_path / "bin", "sh"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("42\n", 0), done.stderr
