# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The fixtures that users' test benches take from penstock.pytest_plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCH = """
import pytest
from penstock import UnsupportedError

opened = []


def test_two_cards(open_device):
    one, other = open_device("designs/one-unit.toml"), open_device("designs/forward.toml", units=4)
    opened.extend([one, other])
    assert (len(one.units), len(other.units)) == (1, 4)
    for card in (one, other):
        card.send(bytes(60))
        assert card.receive(1) == [bytes(60)]
    print("on", one.target)


def test_they_are_closed_afterwards():
    for card in opened:
        with pytest.raises(UnsupportedError, match="closed"):
            card.counters()
    print("closed", len(opened))


def test_that_fails(open_device):
    card = open_device("designs/one-unit.toml")
    card.send(bytes(60))
    assert card.receive(0) == [bytes(60)]
"""


def bench(folder: Path, *options: str) -> str:
    for name in ("designs", "engines"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "test_bench.py").write_text(BENCH)
    (folder / "conftest.py").write_text('pytest_plugins = ["penstock.pytest_plugin"]\n')
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "test_bench.py"]
    done = subprocess.run([*command, *options], cwd=folder, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_each_test_runs_on_both_targets(tmp_path: Path) -> None:
    output = bench(tmp_path)
    assert "2 failed, 3 passed" in output and "closed 4" in output
    for target in ("soft", "rtl"):
        assert f"on {target}\n" in output and f"PASSED test_bench.py::test_two_cards[{target}]" in output
        assert f"FAILED test_bench.py::test_that_fails[{target}]" in output


def test_one_target_can_be_chosen(tmp_path: Path) -> None:
    output = bench(tmp_path, "--penstock-target", "soft")
    assert "1 failed, 2 passed" in output and "closed 2" in output and "rtl" not in output
