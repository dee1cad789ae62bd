# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Verilator -Wall over the whole card, alone and as a plugin of a shell, with its simulation checks and, as synthesis
sees it, without them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from penstock.hdl import VERILATOR_ROOT, card_sources, filelist  # noqa: E402

import registry  # noqa: E402
from registry import Engine  # noqa: E402

MAX_UNITS = 32
MAX_BLOCKS = 8
# The card as it stands in each shell
Shape = dict[str, int | str]
CORUNDUM = ("mqnic_app_block", "shell/cards/corundum/app.f")
DDR: Shape = {"DDR_ENABLE": 1, "DDR_CH": 2, "AXI_DDR_DATA_WIDTH": 512, "AXI_DDR_ADDR_WIDTH": 34, "MapRows": 65536}
SHELLS: tuple[tuple[str, str, Shape], ...] = (
    ("opennic_plugin", "shell/cards/opennic/plugin.f", {}),
    (*CORUNDUM, {}),
    (*CORUNDUM, DDR),
)


def each(*groups: tuple[int, Engine, int]) -> dict[str, str]:
    """The parameters of the card that have a value for each unit: pairs of a number of units and the word of their
    engine. Units after the last group are like the last one.
    """
    units = [(engine.number, word) for count, engine, word in groups for _ in range(count)]
    units += [units[-1]] * (MAX_UNITS - len(units))
    return {
        "Engine": f"{8 * MAX_UNITS}'h" + "".join(f"{number:02x}" for number, _ in reversed(units)),
        "UnitParam": f"{32 * MAX_UNITS}'h" + "".join(f"{word:08x}" for _, word in reversed(units)),
    }


def blocks(*chosen: Engine) -> dict[str, int | str]:
    """The parameters of a card with an inline block for each word of these engines."""
    pairs = [(engine.number, word) for engine in chosen for word in engine.params]
    return {
        "Blocks": len(pairs),
        "BlockEngine": f"{8 * MAX_BLOCKS}'h" + "".join(f"{number:02x}" for number, _ in reversed(pairs)),
        "BlockParam": f"{64 * MAX_BLOCKS}'h" + "".join(f"{word:016x}" for _, word in reversed(pairs)),
    }


def shapes(units: list[Engine], inline: list[Engine]) -> tuple[list[Shape], list[Shape]]:
    """Parameters of cards, the largest first. Each has something that no other has: ports and units at their bounds,
    where widths go wrong, an inline chain, and all combinations of units; and cards as they are used.
    """
    first = units[0]
    telling: list[Shape] = [
        {"Ports": 4, "Units": 32, **each((1, first, first.params[0]))},
        {"Ports": 2, "Units": 8, **each((1, first, first.params[-1])), **blocks(*inline)},
        {
            "Ports": 2,
            "Units": sum(len(engine.params) for engine in units),
            **each(*((1, engine, word) for engine in units for word in engine.params)),
            "MapRows": 65536,
        },
        *({"Ports": 1, "Units": 1, **each((1, engine, engine.params[-1]))} for engine in units),
    ]
    usual: list[Shape] = [{"Ports": 2, "Units": 5, **each((1, e, word))} for e in units for word in e.params]
    return telling, usual


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--syntax", action="store_true", help="one small shape and no warnings: does it compile?")
    args.add_argument(
        "--long", action="store_true", help="also the usual cards, which have nothing that the others have not"
    )
    opts = args.parse_args()
    telling, usual = shapes(
        [engine for engine in registry.read() if engine.kind == "unit"],
        [engine for engine in registry.read() if engine.kind == "inline"],
    )
    chosen = (
        [shape for shape in telling if shape["Units"] == 1] if opts.syntax else telling + (usual if opts.long else [])
    )
    runs = [(shape, "--assert") for shape in chosen]
    if not opts.syntax:
        runs += [(shape, "-DSYNTHESIS") for shape in telling[1:4]]
    warnings = "-Wno-fatal" if opts.syntax else "-Wall"
    in_shells = [
        (telling[-1] | shape, view, warnings, top, list(dict.fromkeys([*card_sources(), *filelist(list_of_top)])))
        for top, list_of_top, shape in SHELLS
        for view in ("--assert -DPENSTOCK_SHELL", "-DSYNTHESIS")
    ]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        results = workers.map(lambda run: lint(*run, warnings), runs)
        behind_shells = workers.map(lambda run: lint(*run), in_shells)
        return 0 if all([*results, *behind_shells]) else 1


def lint(shape: Shape, view: str, warnings: str, top: str = "card_top", sources: Sequence[Path] | None = None) -> bool:
    """Whether Verilator has no messages; prints them otherwise."""
    command = [
        str(VERILATOR_ROOT / "bin" / "verilator_bin"),
        "--lint-only",
        warnings,
        # `.port()` marks an output as unused; packages and interfaces have items that only some of their users need.
        *("-Wno-PINCONNECTEMPTY", "-Wno-UNUSEDPARAM", "-Wno-UNUSEDSIGNAL"),
        *view.split(),
        "--top-module",
        top,
        *(f"-G{name}={value}" for name, value in shape.items()),
        *map(str, sources or card_sources()),
    ]
    env = {**os.environ, "VERILATOR_ROOT": str(VERILATOR_ROOT)}
    done = subprocess.run(command, check=False, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.stderr or done.returncode:
        print(f"{done.stderr}{top}, {shape}, {view}: see above", file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
