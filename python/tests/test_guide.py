# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""docs/python.md, as a newcomer follows it: every block of it is written to its file, run as Python, or called."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "python.md").read_text()
# Section, language, text.
BLOCKS = [
    (section.split("\n")[0], language, text)
    for section in re.split(r"^## ", GUIDE, flags=re.MULTILINE)[1:]
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
]
SECTIONS = list(dict.fromkeys(section for section, _, _ in BLOCKS))


@pytest.mark.parametrize("section", SECTIONS)
def test_what_the_guide_shows_works(section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A folder that looks like the top of the checkout, and may be written to.
    for name in ("designs", "engines", "build", "python", "penstock"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    for _, language, text in (block for block in BLOCKS if block[0] == section):
        file = re.match(r"(?:# |/\* )(\S+\.(?:py|c))(?: \*/)?\n", text)
        if file:
            path = tmp_path / file[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif language == "python":
            exec(compile(text, f"docs/python.md, {section}", "exec"), {})
        else:
            assert language == "sh"
            for command in text.splitlines():
                call(command)


def call(command: str) -> None:
    """Runs a line of the guide, but for the launcher, which would build what these tests have built, and the wheel (test_wheel.py)."""
    if command == "./penstock --version" or command.startswith("build/venv/bin/maturin build"):
        return
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
    if "pytest" in command:
        assert re.search(r"\b1 passed" if "--penstock-target" in command else r"\b2 passed", done.stdout), done.stdout
