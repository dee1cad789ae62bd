# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Programs written in Rust that tests hold against Python: the examples of the repository's packages."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def example(name: str) -> Path:
    """The example `name`, built if it is not there: as part of all packages, so that their libraries are as
    `cargo test` built them.
    """
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--workspace", "--example", name]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release/examples" / name
