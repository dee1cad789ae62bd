# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The guides, as a newcomer follows them: every block is written to its file, run as Python, or called, and prints the
output of the page.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "penstock"

Block = tuple[str, str]  # language, text


def blocks(text: str) -> list[Block]:
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def sections() -> dict[str, list[Block]]:
    """Each section of the guide to Python is independent."""
    text = (ROOT / "docs" / "python.md").read_text()
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {part.split("\n")[0]: blocks(part) for part in parts if blocks(part)}


@pytest.mark.parametrize("section", sections())
def test_the_guide_to_python_works(section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    follow(sections()[section], section, tmp_path, monkeypatch)


def test_a_middlebox_in_an_afternoon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "middlebox.md").read_text()
    printed = follow(blocks(text), "middlebox.md", tmp_path, monkeypatch)
    # The page's rates of the slowest place hold within a tenth, and a program that carries line rate loses no frame.
    mpps = [float(number) for number in re.findall(r"some (\d+)\s+million", text)]
    runs = [line for line in text.splitlines() if line.startswith("./penstock run") and "small.pcap" in line]
    for told, command in zip(mpps, runs, strict=True):
        assert float(re.findall(r"([\d.]+) Mpps", printed[command])[0]) == pytest.approx(told, rel=0.1)
    call("./penstock gen --size 128 --count 20000 -o guard/small.pcap")
    assert " 0 dropped" in call(runs[-1])


def test_an_xdp_program_on_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    follow(blocks((ROOT / "docs" / "xdp.md").read_text()), "xdp.md", tmp_path, monkeypatch)


def test_state_machines_on_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    follow(blocks((ROOT / "docs" / "flow.md").read_text()), "flow.md", tmp_path, monkeypatch)


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("from-*.md")))
def test_the_first_ten_minutes(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What users of other tools read first."""
    guide = blocks((ROOT / "docs" / page).read_text())
    assert [language for language, _ in guide].count("sh") == 1
    follow(guide, page, tmp_path, monkeypatch)


def follow(guide: list[Block], name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Returns the output of each command."""
    # A writable folder that looks like the top of the checkout.
    for entry in ("designs", "engines", "build", "python", "penstock"):
        (folder / entry).symlink_to(ROOT / entry)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    monkeypatch.setenv("PENSTOCK_ROOT", str(ROOT))
    printed: dict[str, str] = {}
    for language, text in guide:
        file = re.match(r"(?:# |/\* )(\S+\.(?:py|c|h|toml|efsm))(?: \*/)?\n", text)
        if file:
            path = folder / file[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif language == "python":
            exec(compile(text, name, "exec"), {})
        elif language == "text":
            assert any(text in output for output in printed.values())
        else:
            assert language == "sh"
            printed |= {command: call(command) for command in text.splitlines()}
    return printed


def call(command: str) -> str:
    """Runs a line of a guide without the launcher, which would repeat the builds of these tests, and of the wheel
    (test_wheel.py).
    """
    if command == "./penstock --version" or command.startswith("build/venv/bin/maturin build"):
        return ""
    command = command.replace("./penstock", str(BINARY))
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
    if "pytest" in command:
        # Every test of the guide runs on both targets unless one is selected.
        tests = len(
            re.findall(r"^def test_", "".join(path.read_text() for path in Path().glob("*/test_*.py")), re.MULTILINE)
        )
        passed = re.search(r"\b(\d+) passed", done.stdout)
        assert passed and int(passed[1]) == tests * (1 if "--penstock-target" in command else 2), done.stdout
    return done.stdout
