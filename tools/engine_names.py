# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Checks that engines are named only in their own folders, so that an engine can be added or taken away without a
change elsewhere.

Usage: python tools/engine_names.py [--write]

tools/engine_names.toml lists files that still name engines, each with the number of such lines. These numbers may only
shrink: `--write` writes lower ones and drops files without such lines. EXEMPT lists exceptions: the registry and files
generated from it, documentation, designs, results, and tests of combinations.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping

from generated import ROOT
from tree import tracked

import registry

RECORD = "tools/engine_names.toml"
EXEMPT = (
    "engines/",
    "registry/",
    "designs/",
    "docs/",
    "bench/README.md",
    "bench/all/",
    "bench/placements/",
    "bench/results/",
    "bench/synth/",
    "bench/synth.toml",
    "CHANGELOG.md",
    "README.md",
    "CHANGELOG.md",
    "live/README.md",
    "tools/README.md",
    "Cargo.toml",
    "Cargo.lock",
    "device/tests/",
    "python/tests/",
    "cli/tests/",
    "python/penstock/regs.py",
    RECORD,
)
HEADER = """\
# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
# Files outside the engines' folders that name an engine, and how many of their lines do. The numbers may only shrink: tools/engine_names.py.

[lines]
"""


def lines_that_name(text: str, patterns: Iterable[re.Pattern[str]]) -> list[int]:
    """Numbers of the lines, from 1, in which one of the patterns is found."""
    return [at for at, line in enumerate(text.splitlines(), 1) if any(pattern.search(line) for pattern in patterns)]


def pattern(engine: registry.Engine) -> re.Pattern[str]:
    """A pattern for the engine's name: in any spelling, or as the registry defines it."""
    return re.compile(engine.words or f"(?i){re.escape(engine.name)}")


def found() -> dict[str, list[int]]:
    """The files that name engines, with the lines."""
    patterns = [pattern(engine) for engine in registry.read()]
    result = {}
    for file in tracked("*"):
        path = ROOT / file
        if file.startswith(EXEMPT) or not path.is_file():
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # no text
        if lines := lines_that_name(text, patterns):
            result[file] = lines
    return result


def compare(seen: Mapping[str, list[int]], recorded: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """The messages about files with more lines than recorded, and about files with fewer."""
    more, fewer = [], []
    for file in sorted({*seen, *recorded}):
        lines, before = seen.get(file, []), recorded.get(file, 0)
        if len(lines) > before:
            places = ", ".join(f"{file}:{line}" for line in lines[:5])
            more.append(
                f"{file}: {len(lines)} lines name an engine, {before} did: {places}. Ask the registry (engines/engines.toml) or move this below engines/."
            )
        elif len(lines) < before:
            fewer.append(f"{file}: {len(lines)} lines name an engine, {before} did")
    return more, fewer


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--write", action="store_true", help=f"write lower numbers to {RECORD}")
    opts = args.parse_args()
    seen = found()
    path = ROOT / RECORD
    recorded = tomllib.loads(path.read_text())["lines"]
    more, fewer = compare(seen, recorded)
    if opts.write:
        kept = {file: min(len(lines), recorded[file]) for file, lines in seen.items() if file in recorded}
        path.write_text(HEADER + "".join(f'"{file}" = {count}\n' for file, count in sorted(kept.items())))
    elif fewer:
        more += [*fewer, "run tools/engine_names.py --write, so that it stays so"]
    print("\n".join(more), file=sys.stderr, end="\n" if more else "")
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
