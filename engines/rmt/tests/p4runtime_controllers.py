# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""P4Runtime controllers of others, each in a Python environment of its own below build/."""

from __future__ import annotations

from pathlib import Path

from environment import environment

HERE = Path(__file__).parent


def finsy_python() -> Path:
    """Python with finsy."""
    return environment("finsy", HERE / "p4runtime_requirements.txt")


def shell_python() -> Path:
    """Python with p4runtime-shell."""
    return environment("p4runtime-shell", HERE / "p4runtime_shell_requirements.txt")
