# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""What finsy, unmodified, sets beside entries on a card that is up: frames show that it has an effect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from netns import CARD, LEFT, Net, Up
from p4runtime_controllers import finsy_python, shell_python
from system import ROOT

HERE = Path(__file__).parent
PROGRAM = HERE / "programs/control.p4"
ADDRESS = "127.0.0.1:9560"


@pytest.fixture(scope="module")
def python() -> Path:
    """Python with finsy."""
    return finsy_python()


@pytest.fixture
def up(net: Net, tmp_path: Path) -> Up:
    design = tmp_path / "control.toml"
    unit = ROOT / "engines/rpu/programs/forward.c"
    design.write_text(
        '[card]\nname = "control"\nports = 2\n'
        f'[[inline]]\nengine = "rmt"\nprogram = "{PROGRAM}"\n'
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{unit}"\n'
    )
    return Up(net, tmp_path, design, "--p4runtime", ADDRESS)


def finsy(net: Net, python: Path, job: str, *words: Path) -> dict:
    """What finsy says; it can have frames sent into port 0."""
    exchange = json.dumps(net.command(LEFT, sys.executable, HERE / "exchange.py", "l0"))
    command = [str(python), str(HERE / "finsy_control.py"), job, ADDRESS, exchange, *map(str, words)]
    done = subprocess.run(net.command(CARD, *command), capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_copies(net: Net, python: Path, up: Up) -> None:
    said = finsy(net, python, "copies")
    # Without a group the frame is dropped; without a session it is not cloned.
    assert said["before"] == ["09090000"]
    assert said["group"] == ["08030000"] * 2 and said["clone"] == ["09090000"] * 2
    assert said["groups"] == [["0", "0#7"]] and said["sessions"] == [9]
    assert [one[0] for one in said["twice"] + said["missing"] + said["same"]] == [
        "ALREADY_EXISTS",
        "NOT_FOUND",
        "INVALID_ARGUMENT",
    ]
    assert said["cut"] == [4, 16] and said["gone"] == []
    assert json.loads(up.ctl("--json", "rmt", "copies"))["sessions"] == [
        {"clone": 9, "copies": [{"port": 0, "instance": 0}], "length": 16, "class": 0}
    ]
    up.stop()


def test_meters(net: Net, python: Path, up: Up) -> None:
    said = finsy(net, python, "meters")
    colors = [0, 0, 1, 2, 2]
    assert said["colors"] == said["direct"] == colors
    assert said["others"] == said["green"] == [0] * 5 and said["reset"] == [[0] * 5] * 2
    assert said["read"] == [None, None, [1, 3], None] and said["direct read"] == [2]
    assert [one[0] for one in said["outside"] + said["wrong"]] == ["OUT_OF_RANGE", "INVALID_ARGUMENT"]
    up.stop()


def test_profiles(net: Net, python: Path, up: Up) -> None:
    said = finsy(net, python, "profiles")
    assert said["members"] == [0x11, 0x22, 0] and said["changed"] == [0x33] and said["read"] == [1, 2, 3, 4]
    assert said["group"] == [1, 2, 2, 1, 2, 2] and said["other"] == [3, 3, 3] and said["empty"] == [0x5A]
    assert said["set"] == [0x41, 0x42, 0x41, 0x42] and said["set read"] == [[1, 0x41], [1, 0x42]]
    for what, code in (
        ("no member", "NOT_FOUND"),
        ("used", "FAILED_PRECONDITION"),
        ("full", "RESOURCE_EXHAUSTED"),
        ("unknown", "NOT_FOUND"),
        ("member of group", "FAILED_PRECONDITION"),
        ("group used", "FAILED_PRECONDITION"),
        ("mixed", "INVALID_ARGUMENT"),
    ):
        assert [one[0] for one in said[what] if one[0] != "OK"] == [code], (what, said[what])
    up.stop()


def test_packets(net: Net, python: Path, up: Up) -> None:
    said = finsy(net, python, "packets")
    assert said["to"] == [] and said["in"] == [0, 0x2A, "012a0000"]
    assert said["out"] == ["00010203"]
    up.stop()


def test_digests(net: Net, python: Path, up: Up) -> None:
    said = finsy(net, python, "digests")
    assert said["config"] == [10] and said["gone"] == 0
    assert said["first"] == [[5, 0], [6, 0]] and said["second"] == [7] and said["acknowledged"] == [5]
    up.stop()


def test_idle_timeouts(net: Net, python: Path, up: Up) -> None:
    said = finsy(net, python, "idle")
    assert said["first"] == said["second"] == [1] and not said["early"] and said["hit"] == [1]
    assert said["timeout"] == [300_000_000] and said["no timeouts"][0][0] == "INVALID_ARGUMENT"
    up.stop()


def test_value_sets(net: Net, python: Path, up: Up) -> None:
    said = finsy(net, python, "values")
    assert said["before"][0].startswith("20000000") and "77" not in said["before"][0][:16]
    assert said["after"] == ["2000000009090977", "21000000"]
    assert said["read"] == [0x20, 0x30] and said["full"][0][0] == "RESOURCE_EXHAUSTED"
    up.stop()


def test_direct_counters(net: Net, python: Path, up: Up) -> None:
    said = finsy(net, python, "counters")
    assert said["counted"] == [2, 48] and said["set"] == [101, 25] and said["metadata"] == ["note"]
    up.stop()


def test_reconcile(net: Net, python: Path, up: Up) -> None:
    said = finsy(net, python, "pipeline", PROGRAM)
    assert said == {"reconciled": "OK", "kept": [0x32], "groups": 1, "refused": "FAILED_PRECONDITION", "still": [0x32]}
    up.stop()


def test_a_table_that_is_full(net: Net, python: Path, up: Up) -> None:
    said = finsy(net, python, "full", PROGRAM)
    ((code, message),) = said["refused"]
    assert code == "UNKNOWN" and "3976 of 5000 updates were refused; the first is update 1024: " in message
    assert "5000 of 5000 updates were refused; the first is update 0: " in said["last"][0][1]
    assert [one[0] for one in said["few"]] == ["ALREADY_EXISTS", "RESOURCE_EXHAUSTED"] and said["there"] == 1024
    up.stop()


def test_p4runtime_shell(net: Net, up: Up) -> None:
    exchange = json.dumps(net.command(LEFT, sys.executable, HERE / "exchange.py", "l0"))
    command = [str(shell_python()), str(HERE / "shell_control.py"), ADDRESS, exchange]
    done = subprocess.run(net.command(CARD, *command), capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert said["entry"] == ["03010011"] and said["counter"] == [1] and said["gone"] == ["03010000"]
    assert "ALREADY_EXISTS" in said["twice"]
    assert said["meter"] == ["04000000", "04000001", "04000002"]
    assert said["group"] == ["08050000"] * 2 and said["groups"] == [[[0, 1], [0, 2]]]
    assert said["clone"] == ["09060000"] * 2 and said["choice"] == ["07070033"]
    assert said["packet in"] == ["01090000" + bytes(range(20)).hex(), ["00", "09"]]
    assert said["digest"] == ["04", "00"]
    up.stop()
