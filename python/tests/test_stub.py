# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The stub of the extension, which type checkers of users read, says what the extension has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from built import ROOT


def test_the_stub_is_that_of_the_extension() -> None:
    """mypy's stubtest imports the extension of this tree, and compares names, parameters and defaults."""
    stubtest = Path(sys.executable).with_name("stubtest")
    run = subprocess.run(
        [stubtest, "penstock._native", "--mypy-config-file", ROOT / "pyproject.toml"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
