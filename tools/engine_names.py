# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Checks that engines are named only in their own folders, so that an engine can be added or taken away without a
change elsewhere.

Usage: python tools/engine_names.py

tools/engine_names.toml lists namesakes: files in which an engine's name is a word for something else. There, only
references to the engine count (`reference`). EXEMPT lists exceptions: the registry and files generated from it,
documentation, designs, results, tests of combinations, and the test of this tool.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    "CHANGELOG.md",
    "README.md",
    "live/README.md",
    "tools/README.md",
    "Cargo.toml",
    "Cargo.lock",
    "device/tests/",
    "python/tests/",
    "cli/tests/",
    "python/penstock/regs.py",
    "python/penstock/engines.py",
    "tools/tests/test_add_an_engine.py",
    "tools/tests/test_engine_names.py",
    RECORD,
)


@dataclass(frozen=True)
class Namesake:
    """Files in which an engine's name is a word for something else."""

    engine: str
    reason: str
    files: list[str]


def lines_that_name(text: str, patterns: Iterable[re.Pattern[str]]) -> list[int]:
    """Numbers of the lines, from 1, in which one of the patterns is found."""
    return [at for at, line in enumerate(text.splitlines(), 1) if any(pattern.search(line) for pattern in patterns)]


def pattern(engine: registry.Engine) -> re.Pattern[str]:
    """A pattern for the engine's name: in any spelling, or as the registry defines it."""
    return re.compile(engine.words or f"(?i){re.escape(engine.name)}")


def reference(engine: registry.Engine) -> re.Pattern[str]:
    """A pattern for what can only mean the engine: its folder, crates, modules of RTL, register constants, tables of a
    design and types.
    """
    name, title = re.escape(engine.name), engine.name.capitalize()
    modules = rf"{name}_(?:pkg|unit|block|core|host|card|soft|compiler|regs)"
    tables = rf"(?:units|inline|card)\.{name}|engine\W{{1,8}}{name}"
    types = rf"\b{title}(?:Image|Program|Engine|Design|Settings|Driver|Part)\b|Engine::{title}\b"
    constants = rf"\b{engine.name.upper()}_(?:BLOCK|UNIT|CORE|HOST)|_host::{engine.name.upper()}\b"
    crates = rf"engines/{name}\b|penstock[-_]{name}\b|penstock[-_]{name}_"
    return re.compile("|".join((crates, modules, tables, types, constants)))


def patterns(file: str, engines: Iterable[registry.Engine], namesakes: Iterable[Namesake]) -> list[re.Pattern[str]]:
    """What names an engine in a file."""
    others = {namesake.engine for namesake in namesakes if file in namesake.files}
    named = [pattern(engine) for engine in engines if engine.name not in others]
    return named + [reference(engine) for engine in engines]


def stale(namesakes: Iterable[Namesake], engines: Mapping[str, registry.Engine]) -> list[str]:
    """The messages about namesakes that nothing needs: the engine or the file is gone, or has no such word."""
    result = []
    for namesake in namesakes:
        engine = engines.get(namesake.engine)
        for file in namesake.files:
            path = ROOT / file
            if engine is None or not path.is_file() or not lines_that_name(path.read_text(), [pattern(engine)]):
                result.append(f"{RECORD}: {file} has nothing that is called {namesake.engine}: take it out")
    return result


def found(namesakes: Sequence[Namesake]) -> dict[str, list[int]]:
    """The files that name engines, with the lines."""
    engines = registry.read()
    result = {}
    for file in tracked("*"):
        path = ROOT / file
        # A link is judged where it leads to.
        if file.startswith(EXEMPT) or path.is_symlink():
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # no text
        if lines := lines_that_name(text, patterns(file, engines, namesakes)):
            result[file] = lines
    return result


def messages(seen: Mapping[str, list[int]]) -> list[str]:
    """The messages about files that name an engine."""
    return [
        f"{', '.join(f'{file}:{line}' for line in lines[:5])}: names an engine. Ask the registry "
        "(engines/engines.toml) or move this below engines/."
        for file, lines in sorted(seen.items())
    ]


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    namesakes = [Namesake(**entry) for entry in tomllib.loads((ROOT / RECORD).read_text())["namesake"]]
    problems = messages(found(namesakes)) + stale(namesakes, {engine.name: engine for engine in registry.read()})
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
