# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The captures beside the programs of the flow engine, run as the engine's README describes: the frames that leave,
against plain Python.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from flow_captures import PLAYED, Shown, captures, shown
from flow_card import exit_of
from flow_soft import PROGRAMS
from system import Run, run_design
from test_flow_cards import ELEMENT, SMALL, design_of

DESIGN = PROGRAMS / "card.toml"
PORTS = 3


def elements(name: str) -> int:
    return len(ELEMENT.findall((PROGRAMS / f"{name}.efsm").read_text()))


def test_every_program_has_captures() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.efsm")} == set(PLAYED)
    names = {name for one in PLAYED for name in (f"{one}.0.pcap", f"{one}.1.pcap")} | {"flowlets.2.pcap"}
    assert {path.name for path in PROGRAMS.glob("*.pcap")} == names


@pytest.mark.parametrize("name", PLAYED)
def test_capture(name: str, tmp_path: Path) -> None:
    frames = shown(name)
    files = captures(name, frames)
    for path, data in files.items():
        assert path.read_bytes() == data, "made anew by engines/flow/tests/flow_captures.py"
    inputs = [f"{path}@{path.stem[-1]}" for path in files]
    run = run_design(DESIGN, inputs, tmp_path, "soft", "--program", f"flow={PROGRAMS / name}.efsm")
    judge(run, frames)


@pytest.mark.parametrize("name", [name for name in PLAYED if elements(name) <= SMALL[1]])
def test_capture_in_turns(name: str, tmp_path: Path) -> None:
    """In RTL frames enter one at a time, and see the times of the captures: an hour passes between some of them."""
    frames = shown(name)
    design, ports = design_of(tmp_path, (PROGRAMS / f"{name}.efsm").read_text())
    inputs = [f"{path}@{path.stem[-1]}" for path in captures(name, frames)]
    judge(run_design(design, inputs, tmp_path / "out", "rtl", "--rate", "turns"), frames, ports, in_order=True)


def judge(run: Run, frames: list[Shown], ports: int = PORTS, in_order: bool = False) -> None:
    """The frames that left are those of plain Python. Their order is that of the captures only in turns; otherwise each
    port's first frame enters at once.
    """
    assert run.status == 0, run.stderr
    wanted: dict[str, list[bytes]] = {f"port{port}": [] for port in range(ports)}
    dropped = 0
    for _, port, _, verdict, left in frames:
        exit_ = exit_of(verdict, port, ports)
        if exit_ is None:
            dropped += 1
        else:
            wanted[f"port{exit_}"].append(left)
    for port, expected in wanted.items():
        found = run.frames.get(port, [])
        assert found == expected if in_order else sorted(found) == sorted(expected), port
    assert run.result["drops"] == ({"blocked": dropped} if dropped else {})
