# SPDX-License-Identifier: Apache-2.0
"""Writes requests and expected replies of every kernel: python3 tests/kernels/generate [FOLDER].

Expected values are computed here, from the kernels' descriptions, in Python's own arithmetic: nothing of Gyre
runs. Inputs come from fixed seeds, so the files are the same every time; a test compares them with those that
are checked in."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import base
import actors
import blocks
import numbers_and_bits
import parts
import protocols
import texts_and_tables

folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases")
os.makedirs(folder, exist_ok=True)
for name in sorted(base.CASES):
    base.write_case(folder, name)
print(f"{len(base.CASES)} cases")
