# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A copy of the tree, which a test changes and builds."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mutants import Copy
from tree import tracked

ROOT = Path(__file__).resolve().parent.parent.parent


# Cargo builds all copies here, so that it compiles crates of others once.
TARGET = ROOT / "build" / "copies"


class Tree:
    """A copy of all tracked files, with the tools of build/venv."""

    def __init__(self, folder: Path) -> None:
        copy = Copy(folder)
        copy.fill([name for name in tracked("*") if (ROOT / name).is_file()], ROOT)
        self.path = copy.tree

    def track(self) -> None:
        """Adds all files to git: the launcher and the tools look for files that git tracks."""
        for words in (["init", "--quiet"], ["add", "--all"]):
            subprocess.run(["git", *words], cwd=self.path, check=True)

    def run(self, command: Sequence[str]) -> None:
        """Runs a command at the top of the copy; it must succeed."""
        env = {**os.environ, "PENSTOCK_ROOT": str(self.path), "CARGO_TARGET_DIR": str(TARGET)}
        env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
        done = subprocess.run(command, cwd=self.path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout[-4000:]}{done.stderr[-4000:]}"
