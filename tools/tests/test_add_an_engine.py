# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""docs/add-an-engine.md, followed word for word in a copy of the tree."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mutants import Copy
from tree import tracked

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/add-an-engine.md"
# A listing: its language, its file, and `added` if its lines go to the end of an existing file.
LISTING = re.compile(r"^```(\w+) ?(\S*) ?(added)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(folder: Path) -> tuple[Copy, list[list[str]]]:
    """A copy of the tree with the page's files in it, and the page's commands."""
    copy = Copy(folder)
    copy.fill([name for name in tracked("*") if (ROOT / name).is_file()], ROOT)
    commands: list[list[str]] = []
    for language, name, added, text in LISTING.findall(PAGE.read_text()):
        if language == "console":
            commands += [shlex.split(line) for line in text.splitlines()]
            continue
        path = copy.tree / name
        assert path.exists() == bool(added), f"{PAGE.name}: {name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.read_text() + "\n" + text if added else text)
    assert len(commands) == 4, "the page's commands"
    # The launcher and tools look for files that git tracks.
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=copy.tree, check=True)
    return copy, commands


def run(copy: Copy, command: list[str]) -> None:
    env = {**os.environ, "PENSTOCK_ROOT": str(copy.tree), "CARGO_TARGET_DIR": str(copy.folder / "target")}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    done = subprocess.run(command, cwd=copy.tree, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout[-4000:]}{done.stderr[-4000:]}"


def test_the_page_is_well_formed(tmp_path: Path) -> None:
    """The files that the tools write from the page's entry and registers are consistent, and the listings have the
    style of the tree.
    """
    copy, commands = follow(tmp_path)
    for command in commands[:2]:
        run(copy, command)
    assert "macswap_block" in (copy.tree / "engines/inline_block.sv").read_text()
    assert "penstock_macswap_host::MACSWAP" in (copy.tree / "registry/src/list.rs").read_text()
    run(copy, ["rustfmt", "--check", "--edition", "2024", "--config-path", ".", "engines/macswap/host/src/lib.rs"])
    run(copy, ["ruff", "check", "engines/macswap"])
    rtl = "engines/macswap/rtl/macswap_block.sv"
    run(copy, ["verible-verilog-lint", "--rules_config", "tools/verible.rules", rtl])


@pytest.mark.long
def test_the_engine_works(tmp_path: Path) -> None:
    """All of the page's commands, the last of which judges the engine on both targets."""
    copy, commands = follow(tmp_path)
    for command in commands:
        run(copy, command)
