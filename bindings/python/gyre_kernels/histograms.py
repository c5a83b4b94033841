# SPDX-License-Identifier: Apache-2.0
"""How long messages took, as NumPy arrays, out of the observation file that this process itself writes (gyre/observe.h).

The file lies in memory of this process, so looking costs no call into Gyre and disturbs nobody. Only this process and its
user write it; still, what it says of its own layout is checked before it is used.
"""

from __future__ import annotations

import os
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

_MAGIC, _VERSION = 0x3153424F45525947, 1
_RECORDS, _HISTOGRAMS = 1, 5  # kinds of parts
_KERNEL, _QUEUE = 3, 4  # kinds of records
_NAMES = ("waited", "handled", "returned", "round_trip")
_BUCKETS = 256
_HEAD = np.dtype([("magic", "<u8"), ("version", "<u4"), ("head_size", "<u4"), ("part_count", "<u4"), ("pid", "<u4")])
_PARTS_AT, _PARTS_MAX = 200, 16  # of gyre_observe_head; a test holds the file against it
_PART = np.dtype([("kind", "<u4"), ("stride", "<u4"), ("offset", "<u8"), ("count", "<u8")])
_RECORD = np.dtype([
    ("generation", "<u8"), ("kind", "<u4"), ("parent", "<u4"), ("state", "<u4"), ("device", "<u4"), ("made_ns", "<u8"),
    ("state_ns", "<u8"), ("name", "S64"), ("detail", "S128"), ("again", "<u8"),
])
_HISTOGRAM = np.dtype([("record", "<u4"), ("time", "<u4"), ("sum_ns", "<u8"), ("buckets", "<u8", (_BUCKETS,))])


def _edges() -> Any:
    """The least time of each bucket, and the end of the last, as gyre_observe_edge."""
    low = [8 * bucket for bucket in range(8)]
    return np.array(low + [(8 + b % 8) << ((b - 8) // 8 + 3) for b in range(8, _BUCKETS + 1)], np.uint64)


EDGES: Any = _edges()


class Histogram(NamedTuple):
    """`counts[i]` messages took from `edges[i]` up to `edges[i + 1]` nanoseconds; `sum_ns` is the sum of their times."""

    edges: Any
    counts: Any
    sum_ns: int

    def percentile(self, q: float) -> float:
        """The time in nanoseconds that q percent of the messages did not exceed, to 6.25 %; NaN without messages."""
        if not 0 <= q <= 100:
            raise ValueError(f"percentile: expected 0 to 100, found {q!r}")
        total = int(self.counts.sum())
        if not total:
            return float("nan")
        bucket = int(np.searchsorted(np.cumsum(self.counts), max(total * q / 100, 1)))
        return (float(self.edges[bucket]) + float(self.edges[bucket + 1])) / 2


def histograms_of(kernel: str) -> Dict[str, Histogram]:
    """The histograms of the queues of this process's kernel, added up by what they measure."""
    path = _own_file()
    if path is None:
        return {}
    data = np.fromfile(path, np.uint8)
    parts = _parts_of(data)
    records, histograms = parts.get(_RECORDS), parts.get(_HISTOGRAMS)
    if records is None or histograms is None:
        return {}
    kernels = _numbers(records, (records["kind"] == _KERNEL) & (records["name"] == kernel.encode()[:63]))
    queues = _numbers(records, (records["kind"] == _QUEUE) & np.isin(records["parent"], kernels))
    found: Dict[str, Histogram] = {}
    for number, name in enumerate(_NAMES):
        mine = histograms[np.isin(histograms["record"], queues) & (histograms["time"] == number)]
        if len(mine):
            found[name] = Histogram(EDGES, mine["buckets"].sum(axis=0), int(mine["sum_ns"].sum()))
    return found


def _own_file() -> Optional[str]:
    """The file that this process has mapped, wherever the configuration puts it; None: it writes none."""
    begin = f"{os.getpid()}-"
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").split(maxsplit=5)[-1]
            name = os.path.basename(path)
            if name.startswith(begin) and name.endswith(".obs") and os.path.exists(path):
                return path
    return None


def _parts_of(data: Any) -> Dict[int, Any]:
    """The parts that are known and lie in the file, as arrays of their entries' first members."""
    if len(data) < _PARTS_AT + _PARTS_MAX * _PART.itemsize:
        return {}
    head = data[: _HEAD.itemsize].view(_HEAD)[0]
    if head["magic"] != _MAGIC or head["version"] != _VERSION or head["part_count"] > _PARTS_MAX:
        return {}
    table = data[_PARTS_AT : _PARTS_AT + int(head["part_count"]) * _PART.itemsize].view(_PART)
    kinds: List[Tuple[int, Any]] = [(_RECORDS, _RECORD), (_HISTOGRAMS, _HISTOGRAM)]
    found: Dict[int, Any] = {}
    for kind, entry in kinds:
        for part in table[table["kind"] == kind]:
            stride, offset, count = int(part["stride"]), int(part["offset"]), int(part["count"])
            if stride >= entry.itemsize and offset + stride * count <= len(data):
                found[kind] = np.ndarray((count,), entry, data, offset, (stride,))
    return found


def _numbers(records: Any, chosen: Any) -> Any:
    """The numbers of the chosen entries that are whole."""
    whole = (records["generation"] == records["again"]) & (records["generation"] % 2 == 0)
    return np.nonzero(whole & chosen)[0]
