# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Variables of C programs by name, on both targets: against the C source, and against bytes of data memory."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from built import ROOT
from penstock import Device, UnsupportedError, VariableError
from system import call, write_capture

PROGRAM = ROOT / "engines/rpu/tests/firmware/variables.c"
FRAME = bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xB5]) + bytes(86)
ENTRY = {
    "mac": [2, 0, 0, 0, 0, 1],
    "offset": -7,
    "rate": 0x20001,
    "parts": [1, 2],
    "low": 5,
    "middle": 700,
    "high": 400000,
    "mode": "MIRROR",
    "flow": {"frames": 9, "bytes": 1 << 40},
}
ZERO = {**dict.fromkeys(ENTRY, 0), "mac": [0] * 6, "parts": [0, 0], "mode": "OFF", "flow": {"frames": 0, "bytes": 0}}


@pytest.fixture
def card(target: str) -> Iterator[Device]:
    with Device.open("designs/forward.toml", target, program=PROGRAM, units=2) as device:
        yield device


def test_values_have_the_types_of_the_source(card: Device) -> None:
    variables = card.units[1].variables
    assert variables["count"] == 5 and variables["small"] == -3 and variables["is_set"] is True
    assert variables["wide"] == 0x123456789ABCDEF0 and variables["mode"] == "FORWARD"
    assert variables["name"] == "penstock" and variables["grid"] == [[1, 2, 3], [4, 5, 6]]
    assert variables["table"] == [ENTRY, ZERO, ZERO, ZERO]
    assert variables["share"] == 0.25 and variables["main.calls"] == 2 and variables["lengths"] == [0] * 16
    assert variables["table[0].flow.bytes"] == 1 << 40 and variables["grid[1][2]"] == 6
    types = variables.types()
    assert types["table"] == "struct entry[4]" and types["grid"] == "uint16_t[2][3]" and types["wide"] == "uint64_t"
    address = next(name for name in variables if name == "count") and variables["next"]
    assert card.units[1].dmem.word(address - 0x800000) == 5
    assert set(variables) >= {"count", "table", "main.calls", "lengths"} and len(variables) == len(list(variables))
    assert "table" in variables and "tables" not in variables
    assert repr(variables).startswith("<variables of unit 1: count, ")


def test_values_are_set(card: Device) -> None:
    """The program sees them: it counts on from the value that it got."""
    variables = card.units[0].variables
    variables["count"] = 1000
    variables["main.calls"] = np.uint32(50)
    variables["small"] = -128
    variables["wide"] = (1 << 64) - 1
    variables["mode"] = "MIRROR"
    variables["name"] = "abcdefghijkl"
    variables["grid[0]"] = np.array([7, 8, 9], np.uint16)
    variables["share"] = 1.5
    variables["table[2]"] = ENTRY
    variables["table[2].middle"] = 1023
    variables["table[2].high"] = 0
    variables["table[2]"] = {"flow": {"frames": 3}}
    variables["table[3].mac[5]"] = 0x7F
    assert [variables[name] for name in ("small", "wide", "mode")] == [-128, (1 << 64) - 1, "MIRROR"]
    assert variables["name"] == "abcdefghijkl" and variables["grid"] == [[7, 8, 9], [4, 5, 6]]
    changed = {**ENTRY, "middle": 1023, "high": 0, "flow": {"frames": 3, "bytes": 1 << 40}}
    assert variables["table"] == [ENTRY, ZERO, changed, {**ZERO, "mac": [0, 0, 0, 0, 0, 0x7F]}]
    # Neighbours of what was set stay as they are.
    assert variables["is_set"] is True and variables["share"] == 1.5 and card.units[1].variables["count"] == 5
    address = variables["next"] - 0x800000
    assert card.units[0].dmem.read(address, 4) == struct.pack("<I", 1000)
    card.send([FRAME] * 10)
    card.run()
    counts = [unit.variables["count"] for unit in card.units]
    calls = [unit.variables["main.calls"] for unit in card.units]
    assert sum(counts) == 1000 + 5 + 10 and [call - count for call, count in zip(calls, counts, strict=True)] == [
        -950,
        -3,
    ]
    assert max(unit.variables["lengths[1]"] for unit in card.units) == 100
    assert card.variables[0]["count"] == counts[0]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cuont", 1, "there is no variable `cuont`; did you mean `count`?"),
        ("nothing_like_it", 1, "`var list` shows all"),
        ("count", -1, "uint32_t holds 0..4294967295, not -1"),
        ("count", "many", "takes a whole number"),
        ("count", [1], "takes a whole number"),
        ("count.low", 1, "uint32_t has no members"),
        ("small", 128, "int8_t holds -128..127, not 128"),
        ("is_set", 2, "holds 0..1"),
        ("mode", "BACK", "OFF, FORWARD, MIRROR"),
        ("table[4]", {}, "struct entry[4] has the items 0..3"),
        ("table[-1]", {}, "has the items 0..3"),
        ("table[0", {}, "a `[` has no `]`"),
        ("table[0].mca", [], "has no member `mca`; did you mean `mac`?"),
        ("table[0].low", 8, "holds 0..7, not 8"),
        ("table[0]", {"low": 1, "lwo": 1}, "has no member `lwo`"),
        ("table[0].mac", [1, 2], "uint8_t[6] has 6 items, and here are 2"),
        ("name", "thirteen byte", "has room for 12"),
    ],
)
def test_a_value_that_does_not_fit_changes_nothing(name: str, value: object, words: str) -> None:
    with Device.open("designs/forward.toml", program=PROGRAM, units=1) as device:
        variables = device.units[0].variables
        before = {name: variables[name] for name in variables}
        with pytest.raises(VariableError) as refused:
            variables[name] = value
        assert words in str(refused.value), refused.value
        assert {name: variables[name] for name in variables} == before
        with pytest.raises(VariableError, match="cannot be removed"):
            del variables["count"]


def test_units_without_c() -> None:
    with Device.open("designs/xdp.toml", units=1) as device, pytest.raises(UnsupportedError, match="rpu"):
        _ = device.units[0].variables["count"]


def test_the_command_line_writes_them(tmp_path: Path) -> None:
    capture = write_capture(tmp_path / "in.pcap", [FRAME] * 7)
    dump = tmp_path / "vars"
    options = (
        "--program",
        PROGRAM,
        "--units",
        "2",
        "--in",
        capture,
        "--out",
        tmp_path / "out",
        "--dump",
        f"var={dump}",
    )
    done = call("run", ROOT / "designs/forward.toml", *options)
    assert done.returncode == 0, done.stderr
    units = [json.loads((dump / f"unit{unit}.json").read_text()) for unit in range(2)]
    assert sum(unit["count"] for unit in units) == 10 + 7 and units[0]["table"][0] == ENTRY
    assert (dump / "vars.txt").read_text() == "unit0.json\nunit1.json\n"


def test_compile_options(tmp_path: Path) -> None:
    """Each level compiles and runs; macros and folders of headers reach the compiler."""
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers/added.h").write_text("#define ADDED 3\n")
    source = tmp_path / "sum.c"
    source.write_text(
        "#include <added.h>\n#include <penstock.h>\nvolatile uint32_t sum = ADDED + GIVEN;\n"
        "int main(void) { pn_init(); for (;;) pn_send(pn_recv() ^ pn_port(sum & 1)); }\n"
    )
    sizes = {}
    for level in "0123szg":
        elf = tmp_path / f"sum{level}.elf"
        done = call("compile", "rpu", source, f"-O{level}", "-DGIVEN=4", "-I", tmp_path / "headers", "-o", elf)
        assert done.returncode == 0, done.stderr
        sizes[level] = int(done.stdout.split("instructions ")[1].split()[0])
        with Device.open("designs/forward.toml", program=elf, units=1) as device:
            assert device.units[0].variables["sum"] == 7
            device.send(FRAME)
            device.run()
            assert device.receive(1) == [FRAME]
    assert sizes["0"] > sizes["2"], sizes
    refused = call("compile", "rpu", source, "-O9")
    assert refused.returncode != 0 and "possible values: 0, 1, 2, 3, s, z, g" in refused.stderr
