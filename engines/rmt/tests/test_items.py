# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Everything that a file of entries can hold, and `ctl rmt` for it, on a card that is up."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from netns import LEFT, Net, Up
from system import ROOT

HERE = Path(__file__).parent
PROGRAM = HERE / "programs/control.p4"
REST = bytes(range(20)).hex()

ITEMS = [
    {"multicast": 3, "copies": [{"port": 0}, {"port": 0, "instance": 1}]},
    {"clone": 9, "copies": [{"port": 0}]},
    {"profile": "choices", "member": 1, "action": "answer", "params": {"value": 0x11}},
    {"profile": "choices", "member": 2, "action": "answer", "params": {"value": 0x22}},
    {"profile": "choices", "group": 7, "members": [{"member": 1}, {"member": 2, "weight": 2}]},
    {"table": "by_group", "match": {"hdr.op.key": 1}, "group": 7},
    {"table": "known", "match": {"hdr.op.key": 1}, "action": "answer", "params": {"value": 5}},
    {"meter": "police", "index": 2, "rates": {"cir": 1, "cbs": 1, "pir": 1, "pbs": 2}},
    {"value_set": "tunnels", "members": [{"value": "0x20"}]},
]


def design(folder: Path) -> Path:
    unit = ROOT / "engines/rpu/programs/forward.c"
    path = folder / "control.toml"
    path.write_text(
        '[card]\nname = "items"\nports = 2\n'
        f'[[inline]]\nengine = "rmt"\nprogram = "{PROGRAM}"\n'
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{unit}"\n'
    )
    return path


def frames(net: Net, *heads: str) -> list[str]:
    """What leaves port 0 for frames that begin so, as it begins."""
    said = net.run(LEFT, sys.executable, HERE / "exchange.py", "l0", *(head + REST for head in heads))
    return [line.removesuffix(REST) for line in said.split()]


def test_a_card_begins_with_items(net: Net, tmp_path: Path) -> None:
    entries = tmp_path / "items.json"
    entries.write_text(json.dumps(ITEMS))
    up = Up(net, tmp_path, design(tmp_path), "--entries", entries)
    assert frames(net, "08030000", "09090000") == ["08030000"] * 2 + ["09090000"] * 2
    assert frames(net, *(f"0701{flow:02x}00" for flow in range(3))) == ["07010011", "07010122", "07010222"]
    assert frames(net, "03010000", "04020000", "04020000", "04020000", "20000000") == [
        "03010005",
        "04020000",
        "04020001",
        "04020002",
        # The second header is the beginning of the rest: its fourth byte is the answer.
        "2000000000010277" + REST[8:],
    ]
    assert up.ctl("rmt", "copies") == "group 3: port 0, port 0 instance 1\nclone session 9: port 0\n"
    assert "\ngroup 7: 1, 2 (weight 2)" in up.ctl("rmt", "profiles")
    assert up.ctl("rmt", "meters", "police") == "In.police: 4 cells, frames per second\n2: cir 1 cbs 1 pir 1 pbs 2\n"
    # Changes by hand.
    up.ctl(
        "rmt", "set-item", json.dumps({"profile": "choices", "member": 1, "action": "answer", "params": {"value": 9}})
    )
    assert frames(net, "07010000") == ["07010009"]
    up.ctl("rmt", "drop-item", json.dumps({"meter": "police", "index": 2}))
    assert frames(net, *["04020000"] * 3) == ["04020000"] * 3
    assert "a group leads to member 1" in up.refusal(
        "rmt", "drop-item", json.dumps({"profile": "choices", "member": 1})
    )
    assert "is there already" in up.refusal("rmt", "add-item", json.dumps(ITEMS[0]))
    assert "unknown field `copys`" in up.refusal("rmt", "add-item", '{"multicast": 1, "copys": []}')
    up.stop()


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"multicast": 0}, "items.json:2: the number of a multicast group is not 0"),
        ({"multicast": 1, "copies": [{"port": 600}]}, "items.json:2: ports are 0 to 511, not 600"),
        ({"meter": "polic"}, "items.json:2: there is no meter `polic`; there are: In.police, In.of_entry"),
        ({"table": "known", "match": {"hdr.op.key": 1}, "group": 1}, "items.json:2: In.known has no action profile"),
    ],
)
def test_wrong_items_have_lines(net: Net, tmp_path: Path, item: dict, words: str) -> None:
    entries = tmp_path / "items.json"
    entries.write_text(f"[\n{json.dumps(item)}]")
    with pytest.raises(AssertionError, match=re.escape(words)):
        Up(net, tmp_path, design(tmp_path), "--entries", entries)


def test_programs_come_and_go(net: Net, tmp_path: Path) -> None:
    up = Up(net, tmp_path, ROOT / "designs/rmt.toml")
    up.ctl("rmt", "remove", "eve")
    assert [one["name"] for one in json.loads(up.ctl("--json", "rmt", "tenants"))] == ["bob"]
    calculator = ROOT / "engines/rmt/programs/calculator.p4"
    assert "bob has a program: swap it" in up.refusal("rmt", "add", "bob", calculator)
    assert "no tenant `mallory`" in up.refusal("rmt", "add", "mallory", calculator)
    up.ctl("rmt", "add", "eve", calculator)
    assert [one["name"] for one in json.loads(up.ctl("--json", "rmt", "tenants"))] == ["bob", "eve"]
    up.stop()
