# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Verilator -Wall over the whole card, with its simulation checks and, as synthesis sees it, without them."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from penstock.hdl import VERILATOR_ROOT, card_sources  # noqa: E402

# Ports and units at their bounds, where widths go wrong.
SHAPES = [(2, 16, 1), (1, 1, 31), (4, 32, 1), (2, 8, 0)]


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--syntax", action="store_true", help="one small shape and no warnings: does it compile?")
    opts = args.parse_args()
    status = 0
    runs = [(shape, "--assert") for shape in SHAPES] + [(SHAPES[1], "-DSYNTHESIS"), (SHAPES[3], "-DSYNTHESIS")]
    for (ports, units, accel), view in runs[1:2] if opts.syntax else runs:
        command = [
            str(VERILATOR_ROOT / "bin" / "verilator_bin"),
            "--lint-only",
            "-Wno-fatal" if opts.syntax else "-Wall",
            # `.port()` says that an output is not used; packages and interfaces hold what only some of their users need.
            *("-Wno-PINCONNECTEMPTY", "-Wno-UNUSEDPARAM", "-Wno-UNUSEDSIGNAL"),
            view,
            "--top-module",
            "card_top",
            *(f"-G{k}={v}" for k, v in {"Ports": ports, "Units": units, "Accel": accel}.items()),
            *map(str, card_sources()),
        ]
        done = subprocess.run(command, check=False, cwd=ROOT, env={**os.environ, "VERILATOR_ROOT": str(VERILATOR_ROOT)})
        if done.returncode:
            print(f"ports {ports}, units {units}, accelerators {accel:#b}, {view}: see above", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
