# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The files of the checkout, for the tools."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def tracked(*patterns: str) -> list[str]:
    """Files that git tracks or would track: all, or those that match some patterns."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]
