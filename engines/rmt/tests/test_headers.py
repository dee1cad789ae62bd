# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A program that adds and removes headers, on a card: every frame leaves as Scapy builds it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from penstock import Device
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw
from system import ROOT

PROGRAMS = ROOT / "engines/rmt/programs"
OWN_MAC, OWN_IPV4 = "02:00:00:00:00:01", "198.51.100.1"
Out = tuple[int, bytes] | None
ENTRIES = json.loads((PROGRAMS / "vxlan.json").read_text())["system"]


def gateway(frame: bytes) -> Out:
    """Port and bytes of the frame that leaves."""
    packet = Ether(frame)
    is_tunnel = IP in packet and packet[IP].ihl == 5 and packet[IP].proto == 17 and len(frame) >= 50
    if is_tunnel and int.from_bytes(frame[36:38], "big") == 4789:
        vni = int.from_bytes(frame[46:49], "big")
        for entry in ENTRIES:
            match = entry["match"]
            if entry["table"] == "tunnels" and match == {"hdr.ipv4.dst": packet[IP].dst, "hdr.vxlan.vni": vni}:
                inner = frame[50:]
                return (entry["params"]["port"], inner) if len(inner) >= 14 else None
        return None
    for entry in ENTRIES:
        if entry["match"] == {"hdr.ethernet.dst": packet.dst}:
            to = entry["params"]
            outer = Ether(src=OWN_MAC, dst=to["next_hop"]) / IP(
                src=OWN_IPV4, dst=to["endpoint"], id=0, flags="DF", ttl=64, proto=17, len=len(frame) + 36
            )
            outer /= UDP(sport=49152, dport=4789, len=len(frame) + 16, chksum=0) / VXLAN(flags=8, vni=to["vni"])
            return to["port"], bytes(outer) + frame
    return None


def made(rng: random.Random) -> bytes:
    """A frame for a tunnel, of a tunnel, or for nobody, of lengths around the ends of beats."""
    known = ["02:00:00:00:0a:01", "02:00:00:00:0a:02"]
    head = Ether(src="02:aa:00:00:00:01", dst=rng.choice([*known, *known, "02:00:00:00:0a:03"]))
    inner: Packet = head / rng.choice([IP() / UDP(), IP() / TCP(), ARP(), IP(options=b"\x01" * 4) / UDP(dport=4789)])
    length = rng.choice([14, 28, 30, 31, 60, 64, 65, 78, 79, 80, 81, 126, 127, 128, 129, 142, 178, 192, 193, 600, 1500])
    if rng.random() < 0.5:
        frame = bytes(inner)[:length]
        return frame + rng.randbytes(length - len(frame))
    tunnel = Ether(dst=OWN_MAC) / IP(src="203.0.113.7", dst=rng.choice([OWN_IPV4, OWN_IPV4, OWN_IPV4, "198.51.100.2"]))
    tunnel /= UDP(sport=rng.randrange(65536), dport=4789, chksum=0) / VXLAN(vni=rng.choice([5000, 77, 5001]))
    inside = rng.randbytes(rng.choice([0, 13, length, length, length]))
    return bytes(tunnel / Raw(inside))


# On rtl the card's model takes minutes to build.
@pytest.mark.parametrize("target", ["soft", pytest.param("rtl", marks=pytest.mark.long)])
def test_vxlan_gateway(target: str, tmp_path: Path) -> None:
    rng = random.Random(3)
    path = tmp_path / "vxlan.toml"
    path.write_text(
        f'[card]\nname = "vxlan"\nports = 2\n[[inline]]\nengine = "rmt"\nprogram = "{PROGRAMS}/vxlan.p4"\n'
        f'rmt.entries = "{PROGRAMS}/vxlan.json"\n'
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{ROOT}/engines/rpu/programs/forward.c"\n'
    )
    met = {"longer": 0, "shorter": 0, "dropped": 0}
    with Device.open(path, target=target) as device:
        for port in (0, 1):
            frames = [made(rng) for _ in range(300)]
            wanted: dict[int, list[bytes]] = {0: [], 1: []}
            for frame in frames:
                out = gateway(frame)
                if out is None:
                    met["dropped"] += 1
                    continue
                wanted[out[0]].append(out[1])
                met["longer" if len(out[1]) > len(frame) else "shorter"] += 1
            device.send(frames, port=port)
            device.run()
            for to, some in wanted.items():
                assert device.receive(to) == some, (port, to)
    assert min(met.values()) > 50, met
