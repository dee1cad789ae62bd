# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The places where engines may be named."""

from __future__ import annotations

import engine_names
import pytest

import registry

ENGINES = registry.read()
FILE = "live/src/driver.rs"
XDP = engine_names.Namesake("xdp", "the kernel's XDP", [FILE])


def names(line: str, namesakes: tuple[engine_names.Namesake, ...] = (), file: str = FILE) -> bool:
    return engine_names.lines_that_name(line, engine_names.patterns(file, ENGINES, namesakes)) == [1]


@pytest.mark.parametrize("name", [engine.name for engine in ENGINES])
@pytest.mark.parametrize(
    "line",
    [
        "use penstock_{name}::Chain;",
        "use penstock_{name}_host::lanes;",
        "penstock-{name}-host = {{ path = '' }}",
        "engines/{name}/rtl/rtl.f",
        'test = "engines/{name}/tests/test_it.py -k word"',
        "import {name}_regs_pkg::*;",
        '[[units]]\nengine = "{name}"',
        'engine = \\"{name}\\"',
    ],
)
def test_what_names_an_engine(name: str, line: str) -> None:
    """Everywhere, and where the engine's name is a word for something else."""
    text = line.format(name=name).splitlines()[-1]
    assert names(text)
    assert names(text, (engine_names.Namesake(name, "", [FILE]),))


@pytest.mark.parametrize("name", [engine.name for engine in ENGINES if not engine.words])
@pytest.mark.parametrize(
    "line", ["fn {name}(&self)", "regs::{NAME}_BLOCK_WORD", "Engine::{Name}(kinds)", "{Name}Program"]
)
def test_a_name_counts_in_any_spelling(name: str, line: str) -> None:
    assert names(line.format(name=name, NAME=name.upper(), Name=name.capitalize()))


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


@pytest.mark.parametrize(
    "line",
    [
        "Driver::Auto | Driver::Xdp => xdp::Ends::open(interface)",
        "XdpSocketBuilder::new()",
        '"xdp" => Some(Self::Xdp),',
    ],
)
def test_a_namesake_counts_elsewhere_only(line: str) -> None:
    """The kernel's XDP may be named in files of the list; in others the word is taken for the engine."""
    assert not names(line, (XDP,))
    assert names(line, (XDP,), "live/src/other.rs")
    assert names(line)


def test_the_list_of_namesakes_has_no_more_than_it_needs() -> None:
    engines = {engine.name: engine for engine in ENGINES}
    gone = engine_names.Namesake("xdp", "", ["live/src/gone.rs"])
    wordless = engine_names.Namesake("xdp", "", ["tools/tree.py"])
    unknown = engine_names.Namesake("other", "", [FILE])
    assert engine_names.stale([XDP], engines) == []
    assert len(engine_names.stale([gone, wordless, unknown], engines)) == 3


def test_each_file_and_line_is_named() -> None:
    first, second = engine_names.messages({"b.rs": [1], "a.rs": [3, 9]})
    assert first.startswith("a.rs:3, a.rs:9: ") and second.startswith("b.rs:1: ")
