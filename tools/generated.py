# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Files that are written from one source: brought up to date, or only checked."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def bring(files: Mapping[str, str], check: bool, tool: str) -> bool:
    """Writes the texts to their paths, from the repository's root on. With `check` it writes nothing: names those that
    are stale, and the `tool` to run, a path from the root. Whether all is up to date.
    """
    current = True
    for name, text in files.items():
        path = ROOT / name
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{name}: not up to date; run python {tool}", file=sys.stderr)
            current = False
    return current
