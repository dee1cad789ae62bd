# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Clones on both targets: frames of two tenants and their clones leave as plain Python says. Sessions change while the
card is up, and no tenant's clones leave by another's session.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from penstock import Device, PenstockError
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from system import ROOT, TARGETS, call

PROGRAM = ROOT / "engines/rmt/tests/programs/clones.p4"
VLANS = {"one": 1, "other": 257}
HOST = 510
DROP = 255
LENGTHS = [22, 40, 60, 61, 75, 76, 79, 80, 81, 100, 128, 129, 300, 1000]


def text(of_egress: bool, tagged: bool) -> str:
    """The program. Frames of tenants are tagged, so their type is in the tag."""
    source = PROGRAM.read_text()
    if tagged:
        source = source.replace(
            "header more_t", "header tag_t {\n    bit<16> vlan;\n    bit<16> type;\n}\n\nheader more_t"
        )
        source = source.replace("    eth_t  eth;", "    eth_t  eth;\n    tag_t  tag;").replace(
            "hdr.eth.type", "hdr.tag.type"
        )
        for verb in ("extract", "emit"):
            source = source.replace(f"b.{verb}(hdr.eth);", f"b.{verb}(hdr.eth);\n        b.{verb}(hdr.tag);")
    return ("#define OF_EGRESS\n" if of_egress else "") + source


def left(frame: bytes, kinds: int) -> bytes:
    """The frame as the program changes it; its type is at byte `kinds`."""
    ask = kinds + 2
    more = bytes.fromhex("A1B2C3D4") if frame[kinds:ask] == b"\x12\x34" else b""
    count = bytes([(frame[ask + 3] + 1) % 256])
    return frame[:kinds] + b"\x99\x99" + more + frame[ask : ask + 3] + count + frame[ask + 4 :]


def outs(frame: bytes, kinds: int, sessions: dict[int, list[int]], keys: dict[int, int], of_egress: bool) -> Iterator[
    tuple[int, bytes]
]:  # fmt: skip
    """Ports and frames that leave."""
    key, port = int.from_bytes(frame[kinds + 2 : kinds + 4], "big"), frame[kinds + 4]
    changed = left(frame, kinds)
    if port != DROP:
        yield port, changed
    if not of_egress or port != DROP:
        for to in sessions.get(keys.get(key, 0), []):
            yield to, changed if of_egress else frame


def entry(key: int, session: int) -> dict[str, Any]:
    return {"table": "watched", "match": {"hdr.ask.key": key}, "action": "watch", "params": {"session": session}}


def session(number: int, ports: list[int]) -> dict[str, Any]:
    return {"clone": number, "copies": [{"port": port, "instance": at} for at, port in enumerate(ports)]}


@pytest.mark.parametrize("of_egress", [False, True], ids=["ingress", "egress"])
@pytest.mark.parametrize("target", TARGETS)
def test_clones(target: str, of_egress: bool, tmp_path: Path) -> None:
    rng = random.Random(7)
    sessions = {"one": {5: [1], 6: [0, 1, 1], 63: [HOST]}, "other": {5: [0], 1: [1] * 8}}
    keys = {"one": {1: 5, 2: 6, 3: 63, 4: 9}, "other": {1: 5, 2: 6, 3: 1, 4: 62}}
    items = {
        name: [*(session(*one) for one in sessions[name].items()), *(entry(*one) for one in keys[name].items())]
        for name in VLANS
    }
    (tmp_path / "clones.p4").write_text(text(of_egress, tagged=True))
    (tmp_path / "entries.json").write_text(json.dumps(items))
    tenants = "".join(f'[[tenants]]\nname = "{name}"\nvlan = {vlan}\n' for name, vlan in VLANS.items())
    path = tmp_path / "clones.toml"
    path.write_text(
        f'[card]\nname = "clones"\nports = 2\n{tenants}[[inline]]\nengine = "rmt"\nrmt.stages = 6\n'
        'rmt.programs = { one = "clones.p4", other = "clones.p4" }\nrmt.entries = "entries.json"\n'
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{ROOT}/engines/rpu/programs/forward.c"\n'
    )
    with Device.open(path, target=target) as device:

        def ask(kind: str, **more: object) -> Any:
            return device.call("rmt", {kind: more})

        def check(count: int) -> None:
            wanted: dict[int, list[bytes]] = {0: [], 1: [], HOST: []}
            clones = 0
            for port in (0, 1):
                frames = []
                for _ in range(count):
                    name, kind = rng.choice(list(VLANS)), rng.choice([0x1234, 0x5678])
                    head = Ether(src="02:aa:00:00:00:01", dst="02:bb:00:00:00:01") / Dot1Q(vlan=VLANS[name], type=kind)
                    asked = bytes([0, rng.choice([0, 1, 2, 3, 4]), rng.choice([0, 1, DROP]), rng.randrange(256)])
                    frame = bytes(head / Raw(asked + rng.randbytes(rng.choice(LENGTHS) - 22)))
                    frames.append(frame)
                    some = list(outs(frame, 16, sessions[name], keys[name], of_egress))
                    clones += len(some) > 1
                    for to, one in some:
                        wanted[to].append(one)
                device.send(frames, port=port)
            # Clones find room.
            device.run(rate=4 if target == "rtl" else None)
            assert clones > count / 4
            for port, frames in wanted.items():
                got = device.receive("host" if port == HOST else port)
                assert sorted(got) == sorted(frames), port

        check(80)
        ask("modify", tenant="one", entry=session(5, [0, 0]))
        ask("delete", tenant="one", entry={"clone": 6})
        ask("insert", tenant="other", entry=session(62, [1, 0]))
        sessions["one"] = {5: [0, 0], 63: [HOST]}
        sessions["other"][62] = [1, 0]
        check(60)
        # The next program of a tenant begins without sessions; those of the other one stay.
        ask("swap", tenant="one", file="clones.p4", source=text(of_egress, tagged=True))
        sessions["one"] = keys["one"] = {}
        ask("insert", tenant="one", entry=entry(1, 5))
        check(40)
        if target == "rtl":
            for wrong, words in (
                (session(64, [0]), "clone sessions 1 to 63"),
                (session(7, [0] * 9), "makes 8 at most"),
                (session(7, [509]), "sends no copy to 509"),
                (session(7, [0]) | {"length": 64}, "does not cut clones"),
                (session(7, [0]) | {"group": 3}, "not to a multicast group"),
            ):
                with pytest.raises(PenstockError, match=words):
                    ask("insert", tenant="one", entry=wrong)
            check(20)
            assert ask("events", tenant="one")["lost_clones"] == 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("of_egress", [False, True], ids=["ingress", "egress"])
def test_stf(target: str, of_egress: bool, tmp_path: Path) -> None:
    program, test = tmp_path / "clones.p4", tmp_path / "clones.stf"
    program.write_text(text(of_egress, tagged=False))
    lines = ["mirroring_add 5 1", "mirroring_add 7 0", "add watched hdr.ask.key:2 watch(session:5)"]
    lines += ["add watched hdr.ask.key:3 watch(session:7)"]
    sessions, keys = {5: [1], 7: [0]}, {2: 5, 3: 7}
    for key, port, kind in ((2, 0, 0x5678), (2, 0, 0x1234), (3, 1, 0x5678), (4, 1, 0x5678), (2, DROP, 0x5678)):
        frame = bytes(Ether(src="02:aa:00:00:00:01", dst="02:bb:00:00:00:01", type=kind))
        frame += bytes([0, key, port, 9]) + bytes(range(50))
        lines.append(f"packet 0 {frame.hex()}")
        lines += [f"expect {to} {one.hex()}$" for to, one in outs(frame, 12, sessions, keys, of_egress)]
    lines += ["mirroring_delete 5", f"packet 0 {frame.hex()}", "no_packet", ""]
    test.write_text("\n".join(lines))
    done = call("exec", "rmt", program, test, "--target", target)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("std.instance_type == 0", "std.instance_type != 7", "egress does this to clones, too"),
        ("b.emit(hdr.ask);", "", "a clone of ingress would not leave as the frame came"),
        ("if (std.instance_type == 0) {", "if (std.instance_type == 0) { clone(CloneType.E2E, 3);", ("both of "
                                                                                                     "ingress and of")),
    ],
)  # fmt: skip
def test_the_card_refuses(old: str, new: str, words: str, tmp_path: Path) -> None:
    program, test = tmp_path / "clones.p4", tmp_path / "clones.stf"
    source = text(of_egress=False, tagged=False)
    assert source.count(old) == 1
    program.write_text(source.replace(old, new))
    test.write_text("no_packet\n")
    done = call("exec", "rmt", program, test, "--target", "rtl")
    assert done.returncode == 1 and words in done.stderr and "clones.p4:" in done.stderr, done.stderr
