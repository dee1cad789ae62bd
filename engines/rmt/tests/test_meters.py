# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Meters on both targets: frames come at the times of a capture, and leave with the colors that RFC 2698 gives them, by
tokens in plain Python. Rates change while the card is up, and a program that is swapped in begins with its own.
"""

from __future__ import annotations

import json
import random
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from penstock import Device
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from system import ROOT, TARGETS

PROGRAM = ROOT / "engines/rmt/tests/programs/meters.p4"
SECOND = 1_000_000_000


class Marker:
    """A cell: tokens as they are, without rounding."""

    def __init__(self, rates: dict[str, int]) -> None:
        self.rates, self.time = rates, 0
        self.committed, self.peak = Fraction(rates["cbs"]), Fraction(rates["pbs"])

    def color(self, amount: int, time: int) -> int:
        passed, self.time = Fraction(time - self.time, SECOND), time
        self.committed = min(self.committed + passed * self.rates["cir"], Fraction(self.rates["cbs"]))
        self.peak = min(self.peak + passed * self.rates["pir"], Fraction(self.rates["pbs"]))
        if self.peak < amount:
            return 2
        self.peak -= amount
        if self.committed < amount:
            return 1
        self.committed -= amount
        return 0


def customer(number: int, rates: dict[str, int] | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"table": "customers", "match": {"hdr.ip.source": f"10.0.0.{number}"}, "action": "police"}
    return entry | ({"rates": rates} if rates else {})


OWN = {
    1: {"cir": 1_000_000, "cbs": 1000, "pir": 2_000_000, "pbs": 2000},
    2: {"cir": 250_000, "cbs": 3000, "pir": 1_000_000, "pbs": 1500},
}
CLASSES = {0: {"cir": 1000, "cbs": 2, "pir": 8000, "pbs": 6}, 3: {"cir": 0, "cbs": 4, "pir": 500, "pbs": 9}}


def design(folder: Path) -> Path:
    items = [customer(number, rates) for number, rates in OWN.items()] + [customer(3, None)]
    items += [{"meter": "of_class", "index": index, "rates": rates} for index, rates in CLASSES.items()]
    (folder / "entries.json").write_text(json.dumps({"tenant": items}))
    path = folder / "meters.toml"
    path.write_text(
        '[card]\nname = "meters"\nports = 2\n[[tenants]]\nname = "tenant"\nvlan = 5\n[[inline]]\nengine = "rmt"\n'
        f'rmt.programs = {{ tenant = "{PROGRAM}" }}\nrmt.stages = 6\nrmt.entries = "entries.json"\n'
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{ROOT}/engines/rpu/programs/forward.c"\n'
    )
    return path


@pytest.mark.parametrize("target", TARGETS)
def test_meters(target: str, tmp_path: Path) -> None:
    rng = random.Random(6)
    own = {number: Marker(rates) for number, rates in OWN.items()}
    classes = {number: Marker(rates) for number, rates in CLASSES.items()}
    met: list[tuple[int, int]] = []
    time, turn = 1_700_000_000 * SECOND, 0

    def made() -> bytes:
        head = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / Dot1Q(vlan=5)
        packet = IP(src=f"10.0.0.{rng.randint(1, 4)}", dst="10.1.0.1", tos=rng.choice([0, 0, 1, 3, 3, 7]))
        return bytes(head / packet / UDP() / Raw(rng.randbytes(rng.choice([20, 200, 700]))))

    def check(device: Device, count: int) -> None:
        nonlocal time, turn
        turn += 1
        wanted = []
        path = tmp_path / f"{turn}.pcap"
        with path.open("wb") as capture:
            # A pcap with times in ns.
            capture.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
            for _ in range(count):
                time += rng.choice([0, 1, 999, 250_000, 700_000])
                frame = made()
                capture.write(struct.pack("<IIII", *divmod(time, SECOND), len(frame), len(frame)) + frame)
                packet = Ether(frame)
                number, index = int(packet[IP].src.split(".")[-1]), packet[IP].tos
                colors = (
                    own[number].color(len(frame), time) if number in own else 0,
                    classes[index].color(1, time) if index in classes else 0,
                )
                met.append(colors)
                if 2 not in colors:
                    wanted.append(frame[:4] + bytes(colors) + frame[6:])
        device.send_capture(str(path))
        device.run(rate="turns")
        assert [frame[:60] for frame in device.receive(1)] == [frame[:60] for frame in wanted]

    def restarted(rates: dict[str, int]) -> Marker:
        marker = Marker(rates)
        marker.time = time
        return marker

    with Device.open(design(tmp_path), target=target) as device:

        def call(kind: str, **ask: object) -> Any:
            return device.call("rmt", {kind: ask})

        check(device, 150)
        assert {color for color, _ in met} == {color for _, color in met} == {0, 1, 2}
        shown = {one["match"]["hdr.ip.source"]: one.get("rates") for one in call("entries", table="customers")[:-1]}
        assert shown == {0x0A000001: OWN[1], 0x0A000002: OWN[2], 0x0A000003: None}
        (meter,) = call("meters", meter="of_class")
        assert meter["cells"] == [CLASSES[0], None, None, CLASSES[3]]
        # One class gets other rates and one loses them; a customer goes, another one comes in its cell, without rates.
        rates = {"cir": 2000, "cbs": 1, "pir": 4000, "pbs": 3}
        call("modify", entry={"meter": "of_class", "index": 1, "rates": rates})
        call("modify", entry={"meter": "of_class", "index": 0})
        classes[1] = restarted(rates)
        del classes[0]
        call("delete", entry=customer(1, None))
        call("insert", entry=customer(4, None))
        del own[1]
        check(device, 60)
        entry = {key: value for key, value in customer(4, OWN[1]).items() if key != "action"}
        call("modify", entry=entry)
        own[4] = restarted(OWN[1])
        check(device, 60)
