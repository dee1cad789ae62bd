# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Multicast groups on both targets: the frames of two tenants with the program multicast.p4 leave at the ports of their
groups, as plain Python says; groups change while the card is up.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from penstock import Device, PenstockError
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from system import ROOT, TARGETS

PROGRAM = ROOT / "engines/rmt/programs/multicast.p4"
SHIPPED = json.loads(PROGRAM.with_suffix(".json").read_text())["cast"]
VLANS = {"cast": 1, "other": 257}
SOURCE = "10.1.0.9"


def design(folder: Path) -> Path:
    other = [
        {"multicast": 2, "copies": [{"port": 1, "instance": number} for number in range(8)]},
        {"multicast": 63, "copies": [{"port": 0}]},
        *({**one, "params": {"group": 65 - one["params"]["group"]}} for one in SHIPPED if "table" in one),
    ]
    # Group 64 is none that the card can have: its frames are dropped, as on soft.
    (folder / "entries.json").write_text(json.dumps({"cast": SHIPPED, "other": other}))
    path = folder / "multicast.toml"
    tenants = "".join(f'[[tenants]]\nname = "{name}"\nvlan = {vlan}\n' for name, vlan in VLANS.items())
    path.write_text(
        f'[card]\nname = "multicast"\nports = 2\n{tenants}[[inline]]\nengine = "rmt"\n'
        f'rmt.programs = {{ cast = "{PROGRAM}", other = "{PROGRAM}" }}\nrmt.entries = "entries.json"\n'
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{ROOT}/engines/rpu/programs/forward.c"\n'
    )
    return path


def made(rng: random.Random) -> tuple[str, str, int, bytes]:
    """A frame, and what it is made of: tenant, address and time to live."""
    name, to, ttl = rng.choice(list(VLANS)), f"239.1.1.{rng.choice([1, 1, 2, 2, 3])}", rng.choice([1, 2, 64])
    source = "02:aa:00:00:00:01"
    head = Ether(src=source, dst="01:00:5e:01:01:01") / Dot1Q(vlan=VLANS[name]) / IP(src=SOURCE, dst=to, ttl=ttl)
    return name, to, ttl, bytes(head / UDP() / Raw(rng.randbytes(rng.choice([20, 38, 39, 82, 300, 1000]))))


def passed(frame: bytes) -> bytes:
    packet = Ether(frame)
    packet[IP].ttl -= 1
    del packet[IP].chksum
    return bytes(packet)


@pytest.mark.parametrize("target", TARGETS)
def test_multicast(target: str, tmp_path: Path) -> None:
    rng = random.Random(3)
    groups: dict[str, dict[int, list[int]]] = {"cast": {1: [1], 2: [0, 1]}, "other": {2: [1] * 8, 63: [0]}}
    numbers = {"cast": {"239.1.1.1": 1, "239.1.1.2": 2}, "other": {"239.1.1.1": 64, "239.1.1.2": 63}}
    with Device.open(design(tmp_path), target=target) as device:

        def call(kind: str, **ask: object) -> Any:
            return device.call("rmt", {kind: ask})

        def check(count: int) -> None:
            wanted: dict[int, list[bytes]] = {0: [], 1: []}
            copied = 0
            for port in (0, 1):
                frames = [made(rng) for _ in range(count)]
                for name, to, ttl, frame in frames:
                    copies = groups[name].get(numbers[name].get(to, 0), []) if ttl > 1 else []
                    copied += bool(copies)
                    for where in copies:
                        wanted[where].append(passed(frame))
                device.send([frame for *_, frame in frames], port=port)
            # Copies of a port's frames leave together with those of the other one: slowly enough that all find room.
            device.run(rate=4 if target == "rtl" else None)
            assert copied > count / 2
            for port, frames in wanted.items():
                assert sorted(device.receive(port)) == sorted(frames), port

        check(100)
        call("insert", tenant="other", entry={"multicast": 5, "copies": [{"port": 1}, {"port": 0}]})
        call("modify", tenant="cast", entry={"multicast": 1, "copies": [{"port": 0}, {"port": 0, "instance": 1}]})
        call("delete", tenant="cast", entry={"multicast": 2})
        groups["other"][5], groups["cast"] = [1, 0], {1: [0, 0]}
        numbers["other"]["239.1.1.1"] = 5
        stream = {"table": "streams", "match": {"hdr.ipv4.src": SOURCE, "hdr.ipv4.dst": "239.1.1.1"}}
        call("modify", tenant="other", entry={**stream, "action": "replicate", "params": {"group": 5}})
        check(60)
        if target == "rtl":
            for entry, words in (
                ({"multicast": 64, "copies": [{"port": 0}]}, "multicast groups 1 to 63"),
                ({"multicast": 7, "copies": [{"port": 0, "instance": n} for n in range(9)]}, "makes 8 at most"),
                ({"multicast": 7, "copies": [{"port": 509}]}, "sends no copy to 509"),
            ):
                with pytest.raises(PenstockError, match=words):
                    call("insert", tenant="cast", entry=entry)
            check(20)
