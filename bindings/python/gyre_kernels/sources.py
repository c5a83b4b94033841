# SPDX-License-Identifier: Apache-2.0
"""Handlers that are texts of Python: each text becomes a file, because compilers, their messages and the cache of compiled
kernels go by files. The name of the file is made from its content, so the same text is compiled once."""

from __future__ import annotations

import hashlib
import os
import tempfile
from typing import Union


def _folder() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(cache, "gyre", "python")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.stat(folder).st_uid == os.getuid() and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return tempfile.mkdtemp(prefix="gyre-python-")  # it stays: a kernel that is relaunched reads its file again


def kept_file(text: str, begin: str, end: str, mode: int = 0o600) -> str:
    """A file with this text, whose name has a hash of it. Another process that writes the same file writes the same
    bytes."""
    data = text.encode()
    path = os.path.join(_folder(), f"{begin}{hashlib.sha256(data).hexdigest()[:16]}{end}")
    try:
        with open(path, "rb") as there:
            if there.read() == data:
                return path
    except FileNotFoundError:
        pass
    handle, name = tempfile.mkstemp(dir=os.path.dirname(path))
    with os.fdopen(handle, "wb") as out:
        out.write(data)
    os.chmod(name, mode)
    os.replace(name, path)
    return path


def file_of(source: Union[str, "os.PathLike[str]"]) -> str:
    """The file of a handler that is given as a path, "FILE.gyre.c:KERNEL", or a text of several lines."""
    path = os.fsdecode(source)
    return kept_file(path, "text-", ".gyre.c") if isinstance(source, str) and "\n" in path else path
