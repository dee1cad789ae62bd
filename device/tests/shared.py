# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Fixtures of the system tests: generated designs; the real captures if they are present."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from netns import Net
from penstock import data
from system import TARGETS, DesignMaker

AF_XDP = 44  # not in every Python


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    """Every test that takes it runs on both targets."""
    name: str = request.param
    return name


@pytest.fixture
def make_design(tmp_path: Path) -> DesignMaker:
    """Writes a design: make_design(program, units=4, policy="flow-hash", accelerators=(), tables={}, engine="rpu",
    **keys).
    """

    def make(
        program: Path | str,
        units: int = 4,
        ports: int = 2,
        policy: str = "flow-hash",
        accelerators: Sequence[str] = (),
        tables: dict[str, Path] | None = None,
        engine: str = "rpu",
        **keys: int | str,
    ) -> Path:
        path = tmp_path / "design.toml"
        lines = ["[card]", 'name = "test"', f"ports = {ports}", "", "[dispatch]", f'policy = "{policy}"', ""]
        lines += ["[[units]]", f'engine = "{engine}"', f"count = {units}", f'program = "{program}"']
        lines += [f"{key} = {value!r}" for key, value in keys.items()]
        if engine == "rpu":
            lines += [f"rpu.accelerators = {list(accelerators)}"]
        if tables:
            lines += ["[units.rpu.tables]", *(f'{name} = "{table}"' for name, table in tables.items())]
        path.write_text("\n".join(lines) + "\n")
        return path

    return make


@pytest.fixture
def captures() -> Path:
    """The folder with real captures; a clone of the project alone does not have it."""
    if not data.CAPTURES.is_dir():
        pytest.skip(data.ABSENT)
    return data.CAPTURES


@pytest.fixture
def net() -> Iterator[Net]:
    """Network namespaces with interfaces for a card."""
    with Net() as net:
        yield net


@pytest.fixture
def has_xdp() -> None:
    """A kernel with AF_XDP."""
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except OSError as error:
        pytest.skip(f"no AF_XDP here: {error}")


@pytest.fixture(params=["packet", "xdp"])
def driver(request: pytest.FixtureRequest) -> str:
    """The driver of a live card."""
    if request.param == "xdp":
        request.getfixturevalue("has_xdp")
    return request.param
