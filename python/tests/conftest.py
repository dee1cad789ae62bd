# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Builds the extension of this tree, before the tests that import it are."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "python" / "penstock" / "_native.abi3.so"
TARGETS = ("soft", "rtl")

# A worker of pytest-xdist takes what the process that starts it has built.
if "PYTEST_XDIST_WORKER" not in os.environ:
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--locked", "--package", "penstock-python"], cwd=ROOT, check=True
    )
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "libpenstock_native.so"
    # Renamed into its place: a Python that runs keeps the one that it has.
    new = EXTENSION.with_suffix(f".{os.getpid()}.so")
    shutil.copy(built, new)
    new.replace(EXTENSION)


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    """Every test that takes it runs on both targets."""
    return request.param


@pytest.fixture(scope="session")
def command_line() -> list[str]:
    """The command line of this tree, built."""
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "penstock"]
    subprocess.run(command, cwd=ROOT, check=True)
    return [str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "penstock")]


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Designs are named as users name them, from the top of the checkout."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PENSTOCK_ROOT", str(ROOT))
