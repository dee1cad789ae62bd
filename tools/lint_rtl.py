# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Verilator -Wall over the whole card, with its simulation checks and, as synthesis sees it, without them."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from penstock.hdl import VERILATOR_ROOT, card_sources  # noqa: E402

MAX_UNITS = 32


def each(*groups: tuple[int, int]) -> str:
    """A parameter of the card with a byte for each unit: so many units have this value, so many that; those behind the last."""
    values = [value for count, value in groups for _ in range(count)]
    values += [values[-1]] * (MAX_UNITS - len(values))
    return f"{8 * MAX_UNITS}'h" + bytes(reversed(values)).hex()


# Each shows what no other does: ports and units at their bounds, where widths go wrong, an inline chain, and all that units can be beside each other, in
# numbers that are no powers of two.
SMALLEST = [
    {"Ports": 1, "Units": 1, "Accel": each((1, 31))},
    {"Ports": 1, "Units": 1, "Engine": each((1, 1)), "Lanes": each((1, 1))},
]
LARGEST = {"Ports": 4, "Units": 32, "Accel": each((1, 1))}
INLINE = {
    "Ports": 2,
    "Units": 8,
    "Accel": each((1, 0)),
    "Blocks": 2,
    "BlockEngine": f"64'h{0x0202:x}",
    "BlockParam": f"512'h{0x0A01 << 64 | 0x0A02:x}",
}
MIXED = {
    "Ports": 2,
    "Units": 7,
    "Engine": each((2, 0), (5, 1)),
    "Accel": each((1, 16), (1, 31)),
    "Lanes": each((4, 2), (2, 4), (1, 8)),
    "MapRows": 65536,
}
# Cards as they are used, which have nothing that the others have not.
USUAL = [
    {"Ports": 2, "Units": 16, "Accel": each((1, 1))},
    {"Ports": 2, "Units": 2, "Engine": each((1, 1)), "Lanes": each((1, 2))},
    {"Ports": 2, "Units": 5, "Engine": each((1, 1)), "Lanes": each((1, 4))},
    {"Ports": 4, "Units": 4, "Engine": each((1, 1)), "Lanes": each((1, 8))},
]


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--syntax", action="store_true", help="one small shape and no warnings: does it compile?")
    args.add_argument(
        "--long", action="store_true", help="also the usual cards, which have nothing that the others have not"
    )
    opts = args.parse_args()
    # The largest first, so that no processor is left alone with it.
    shapes = [LARGEST, INLINE, MIXED, *SMALLEST, *(USUAL if opts.long else [])]
    runs = [(shape, "--assert") for shape in (SMALLEST if opts.syntax else shapes)]
    if not opts.syntax:
        runs += [(shape, "-DSYNTHESIS") for shape in (INLINE, MIXED, SMALLEST[0])]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        results = workers.map(lambda run: lint(*run, "-Wno-fatal" if opts.syntax else "-Wall"), runs)
        return 0 if all(list(results)) else 1


def lint(shape: dict[str, int | str], view: str, warnings: str) -> bool:
    """Whether Verilator has nothing to say; prints what it says."""
    command = [
        str(VERILATOR_ROOT / "bin" / "verilator_bin"),
        "--lint-only",
        warnings,
        # `.port()` says that an output is not used; packages and interfaces hold what only some of their users need.
        *("-Wno-PINCONNECTEMPTY", "-Wno-UNUSEDPARAM", "-Wno-UNUSEDSIGNAL"),
        view,
        "--top-module",
        "card_top",
        *(f"-G{name}={value}" for name, value in shape.items()),
        *map(str, card_sources()),
    ]
    env = {**os.environ, "VERILATOR_ROOT": str(VERILATOR_ROOT)}
    done = subprocess.run(command, check=False, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.stderr or done.returncode:
        print(f"{done.stderr}{shape}, {view}: see above", file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
