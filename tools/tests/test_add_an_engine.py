# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The pages that add an engine, followed word for word in a copy of the tree."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from copied import ROOT, Tree

# A listing: its language, its file, and `added` if its lines go to the end of an existing file.
LISTING = re.compile(r"^```(\w+) ?(\S*) ?(added)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Page:
    """A page, and the engine that it adds."""

    file: str
    engine: str
    # The module that picks the engine in RTL, and the engine's module.
    selector: str
    module: str


PAGES = (
    Page("add-an-engine.md", "macswap", "engines/inline_block.sv", "macswap_block"),
    Page("add-a-unit.md", "funnel", "engines/unit.sv", "funnel_unit"),
)
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.engine)


def follow(page: Page, folder: Path) -> tuple[Tree, list[list[str]]]:
    """A copy of the tree with the page's files in it, and the page's commands."""
    tree = Tree(folder)
    commands: list[list[str]] = []
    for language, name, added, text in LISTING.findall((ROOT / "docs" / page.file).read_text()):
        if language == "console":
            commands += [shlex.split(line) for line in text.splitlines()]
            continue
        path = tree.path / name
        assert path.exists() == bool(added), f"{page.file}: {name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.read_text() + "\n" + text if added else text)
    assert len(commands) == 4, "the page's commands"
    tree.track()
    return tree, commands


@each_page
def test_the_page_is_well_formed(tmp_path: Path, page: Page) -> None:
    """The files that the tools write from the page's entry and registers are consistent, and the listings have the
    style of the tree.
    """
    tree, commands = follow(page, tmp_path)
    for command in commands[:2]:
        tree.run(command)
    assert page.module in (tree.path / page.selector).read_text()
    static = f"penstock_{page.engine}_host::{page.engine.upper()}"
    assert static in (tree.path / "registry/src/list.rs").read_text()
    host = f"engines/{page.engine}/host/src/lib.rs"
    tree.run(["rustfmt", "--check", "--edition", "2024", "--config-path", ".", host])
    tree.run(["ruff", "check", f"engines/{page.engine}"])
    tree.run(["ruff", "format", "--check", f"engines/{page.engine}"])
    rtl = f"engines/{page.engine}/rtl/{page.module}.sv"
    tree.run(["verible-verilog-lint", "--rules_config", "tools/verible.rules", rtl])


@pytest.mark.long
@each_page
def test_the_engine_works(tmp_path: Path, page: Page) -> None:
    """All of the page's commands, the last of which judges the engine on both targets."""
    tree, commands = follow(page, tmp_path)
    for command in commands:
        tree.run(command)
