# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Python environments below build/ for packages of others that only tests need."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from system import ROOT


def environment(name: str, requirements: Path) -> Path:
    """Python of an environment with these requirements, which is made once; a test that needs it is skipped if it
    cannot be made.
    """
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    folder = ROOT / "build" / f"{name}-{digest}"
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
