# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The command line and the Python extension of this tree, also when it is a copy with a planted bug: importing this
builds both, before tests that import the extension are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
COMMAND_LINE = FOLDER / "penstock"
EXTENSION = ROOT / "python" / "penstock" / "_native.abi3.so"


def build() -> None:
    """In one build: separate builds would compile shared crates twice, with different features."""
    packages = ["--package", "penstock", "--package", "penstock-python"]
    subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", *packages], cwd=ROOT, check=True)
    # Renamed into its place: a running Python keeps the old one.
    new = EXTENSION.with_suffix(f".{os.getpid()}.so")
    shutil.copy(FOLDER / "libpenstock_native.so", new)
    new.replace(EXTENSION)


# A worker of pytest-xdist uses the build of the process that starts it.
if "PYTEST_XDIST_WORKER" not in os.environ:
    build()
