# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The flow table never holds a key twice and never loses one: proven by SymbiYosys (engines/flow/formal/flow_table.sv)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from penstock.hdl import ROOT

BIN = Path(sys.executable).parent
FORMAL = ROOT / "engines/flow/formal"


@pytest.mark.parametrize("task", ["prove", "cover", pytest.param("bmc", marks=pytest.mark.long)])
def test_flow_table(task: str) -> None:
    folder = ROOT / "build/proofs" / f"flow_table_{task}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [BIN / "yowasp-sby", "-f", "-d", folder, "flow_table.sby", task],
        check=False,
        cwd=FORMAL,
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
