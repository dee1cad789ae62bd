# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A tree from which an engine's folder and its entry were taken: it builds, and the tests of the other engines pass."""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import engine_names
from copied import Tree

import registry

ENGINES = [engine.name for engine in registry.read()]


def taken(folder: Path, name: str) -> Tree:
    """A copy of the tree without the engine."""
    tree = Tree(folder)
    shutil.rmtree(tree.path / "engines" / name)
    path = tree.path / registry.REGISTRY
    head, *entries = re.split(r"^(?=\[\[engine\]\]$)", path.read_text(), flags=re.MULTILINE)
    left = [entry for entry in entries if f'name = "{name}"' not in entry.splitlines()]
    assert len(left) == len(entries) - 1
    path.write_text(head + "".join(left))
    # tools/engine_names.py tells who takes an engine away to take these out.
    path = tree.path / engine_names.RECORD
    head, *namesakes = re.split(r"^(?=\[\[namesake\]\]$)", path.read_text(), flags=re.MULTILINE)
    path.write_text(head + "".join(one for one in namesakes if f'engine = "{name}"' not in one.splitlines()))
    tree.track()
    for tool in ("tools/registry.py", "tools/regs.py"):
        tree.run([sys.executable, tool])
    tree.track()
    return tree


def refers(text: str, name: str) -> bool:
    """Whether a text refers to the engine: its name can also be a word for something else."""
    engine = next(engine for engine in registry.read() if engine.name == name)
    return bool(engine_names.lines_that_name(text, [engine_names.reference(engine)]))


def combines(text: str, name: str, designs: list[str]) -> bool:
    """Whether a test needs the engine: it refers to the engine, or names a design that has it."""
    return refers(text, name) or any(design in text for design in designs)


def designs_with(tree: Path, name: str) -> list[str]:
    """The shipped designs that have the engine. A group of units without the key `engine` has the first one."""
    found = []
    for path in (tree / "designs").glob("*.toml"):
        design = tomllib.loads(path.read_text())
        parts = [*design.get("units", []), *design.get("inline", [])]
        if any(part.get("engine", ENGINES[0]) == name for part in parts):
            found.append(path.name)
    return found


@pytest.mark.parametrize("name", ENGINES)
def test_the_rest_is_consistent(tmp_path: Path, name: str) -> None:
    """The generated files no longer refer to the engine, all planted bugs fit, and cargo finds all crates."""
    tree = taken(tmp_path, name)
    written = [*registry.render(registry.read()), "python/penstock/regs.py"]
    assert [file for file in written if refers((tree.path / file).read_text(), name)] == []
    for tool in ("tools/engine_names.py", "tools/mutants.py"):
        tree.run([sys.executable, tool])
    # Cargo resolves all crates, for this platform only: of the others not all sources are downloaded.
    tree.run(["cargo", "tree", "--workspace", "--offline", "--quiet"])


@pytest.mark.long
@pytest.mark.parametrize("name", ENGINES)
def test_the_rest_builds(tmp_path: Path, name: str) -> None:
    """All crates compile with their tests, and RTL passes the lint."""
    tree = taken(tmp_path, name)
    tree.run(["cargo", "update", "--workspace", "--offline"])
    tree.run(["cargo", "check", "--release", "--workspace", "--all-targets", "--offline"])
    tree.run([sys.executable, "tools/lint_rtl.py"])


@pytest.mark.long
@pytest.mark.parametrize("name", ENGINES)
def test_the_others_work(tmp_path: Path, name: str) -> None:
    """The tests of the other engines pass that do not need this one: those of Rust, and the short ones of Python."""
    tree = taken(tmp_path, name)
    tree.run(["cargo", "update", "--workspace", "--offline"])
    manifests = [path for other in ENGINES for path in (tree.path / "engines" / other).glob("*/Cargo.toml")]
    crates = [tomllib.loads(path.read_text())["package"]["name"] for path in manifests]
    tree.run(["cargo", "test", "--release", "--offline", *(word for crate in crates for word in ("--package", crate))])
    designs = designs_with(tree.path, name)
    tests = [path for other in ENGINES for path in (tree.path / "engines" / other).glob("**/test_*.py")]
    chosen = [str(path.relative_to(tree.path)) for path in tests if not combines(path.read_text(), name, designs)]
    assert len(chosen) > 10
    tree.run([sys.executable, "-m", "pytest", "-q", "-m", "not long", *chosen])
