# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The places where engines may be named."""

from __future__ import annotations

import engine_names
import pytest

import registry


def names(line: str) -> bool:
    patterns = [engine_names.pattern(engine) for engine in registry.read()]
    return engine_names.lines_that_name(line, patterns) == [1]


@pytest.mark.parametrize(
    "line",
    [
        "use penstock_rpu::regs;",
        "regs::RPU_CORE_RECV",
        "Engine::Rpu(kinds)",
        "engines/xdp/rtl/rtl.f",
        "fn xdp(&self)",
        "XdpProgram::of(root)",
        "use penstock_flow::Chain;",
        "import flow_pkg::*;",
        "FlowImage::all_of(design)",
        "regs::FLOW_HOST_KEY",
    ],
)
def test_what_names_an_engine(line: str) -> None:
    assert names(line)


@pytest.mark.parametrize(
    "line",
    [
        "the flow hash of a frame",
        "flow_hash.sv",
        'policy = "flow-hash"',
        "frames of a flow",
        "AF_XDP sockets",
        "socket.AF_XDP",
        "apt-get install xdp-tools",
    ],
)
def test_what_does_not(line: str) -> None:
    assert not names(line)


def test_numbers_only_shrink() -> None:
    more, fewer = engine_names.compare(
        {"a.rs": [3, 9], "b.rs": [1], "new.rs": [7]}, {"a.rs": 2, "b.rs": 2, "gone.rs": 1}
    )
    assert [line.split(":")[0] for line in more] == ["new.rs"]
    assert "new.rs:7" in more[0]
    assert [line.split(":")[0] for line in fewer] == ["b.rs", "gone.rs"]
    assert engine_names.compare({"a.rs": [1, 2]}, {"a.rs": 1})[0]
