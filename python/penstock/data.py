# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The folder of test data outside of the repository; tests that need it are skipped if it is missing."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Captures and block lists that are not part of the repository.
DATA = Path(os.environ.get("PENSTOCK_DATA") or ROOT / "../shared/data").resolve()
CAPTURES = DATA / "traffic"
BLOCK_LIST = DATA / "blocklist-1050.txt"
# Appendix C of the Rosebud paper, in the folder of papers beside the data.
LISTING = DATA.parent / "papers" / "rosebud-appendix-c.c"
ABSENT = "captures and block lists that are not part of the repository are not here (PENSTOCK_DATA names their folder)"
