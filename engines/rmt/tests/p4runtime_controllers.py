# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""P4Runtime controllers of others, each in a Python environment of its own below build/."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from system import ROOT

HERE = Path(__file__).parent


def environment(name: str, requirements: Path) -> Path:
    """Python of an environment with these requirements, which is made once; a test that needs it is skipped if it cannot be made."""
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    folder = ROOT / "build" / f"p4runtime-{digest}"
    python = folder / "bin/python"
    folder.parent.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready = folder / "ready"
        if not ready.exists():
            for words in (
                [sys.executable, "-m", "venv", folder],
                [python, "-m", "pip", "install", "--quiet", "--requirement", requirements],
            ):
                done = subprocess.run(words, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    pytest.skip(f"{name} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
            ready.touch()
    return python


def finsy_python() -> Path:
    """Python with finsy."""
    return environment("finsy", HERE / "p4runtime_requirements.txt")


def shell_python() -> Path:
    """Python with p4runtime-shell."""
    return environment("p4runtime-shell", HERE / "p4runtime_shell_requirements.txt")
