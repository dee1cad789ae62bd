# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Programs that make copies of frames and send messages: multicast_router.p4, on `soft`, and mac_learning.p4. The
models are written from the programs' intent, and Scapy makes and reads the frames.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from penstock import Device
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from system import ROOT, TARGETS

PROGRAMS = ROOT / "engines/rmt/programs"
PORTS = 4
GROUPS = {5: [0, 1, 2], 6: [3], 7: [0, 1, 2, 3]}
TREES = {
    ("10.0.0.1", "239.1.2.3", 0): 5,
    ("10.0.0.2", "239.1.2.3", 1): 7,
    ("10.0.0.1", "232.129.9.9", 0): 6,
    ("10.0.0.3", "224.5.6.7", 2): 9,
}
ADDRESSES = {port: f"02:00:00:00:00:{port:02x}" for port in range(3)}


def design(folder: Path, program: str, items: list[dict[str, Any]], ports: int = PORTS) -> Path:
    (folder / "entries.json").write_text(json.dumps(items))
    path = folder / f"{program}.toml"
    path.write_text(
        f'[card]\nname = "copies"\nports = {ports}\n[[inline]]\nengine = "rmt"\nrmt.stages = 6\n'
        f'program = "{PROGRAMS / program}.p4"\nrmt.entries = "entries.json"\n'
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{ROOT}/engines/rpu/programs/forward.c"\n'
    )
    return path


def port_items(groups: dict[int, list[int]]) -> list[dict[str, Any]]:
    return [{"multicast": group, "copies": [{"port": port} for port in ports]} for group, ports in groups.items()]


def copies(port: int, frame: bytes) -> dict[int, bytes]:
    """The frames that leave, by port."""
    packet = Ether(frame)
    if IP not in packet or packet[IP].ihl != 5 or packet[IP].ttl < 2:
        return {}
    given = packet[IP].chksum
    again = IP(bytes(packet[IP])[:20])
    del again.chksum
    if IP(bytes(again)).chksum != given:
        return {}
    group = TREES.get((packet[IP].src, packet[IP].dst, port))
    left = {}
    for to in GROUPS.get(group or 0, []):
        if to == port or to not in ADDRESSES:
            continue
        copy: Packet = Ether(frame)
        low = int.from_bytes(bytes(int(part) for part in packet[IP].dst.split(".")), "big") & 0x7FFFFF
        copy.dst = (0x01005E000000 | low).to_bytes(6, "big").hex(":")
        copy.src = ADDRESSES[to]
        copy[IP].ttl -= 1
        del copy[IP].chksum
        left[to] = bytes(copy)
    return left


def test_multicast(tmp_path: Path) -> None:
    rng = random.Random(1)
    items = port_items(GROUPS)
    for (src, dst, port), group in TREES.items():
        match = {"hdr.ipv4.src": src, "hdr.ipv4.dst": dst, "standard_metadata.ingress_port": port}
        items.append({"table": "trees", "match": match, "action": "replicate", "params": {"group": group}})
    for port, address in ADDRESSES.items():
        match = {"standard_metadata.egress_port": port}
        items.append({"table": "ports", "match": match, "action": "from", "params": {"address": address}})
    left: Counter[int] = Counter()
    with Device.open(design(tmp_path, "multicast_router", items), target="soft") as device:
        for port in range(PORTS):
            wanted: dict[int, list[bytes]] = {to: [] for to in range(PORTS)}
            frames = []
            for _ in range(400):
                src = rng.choice(["10.0.0.1", "10.0.0.2", "10.0.0.3"])
                dst = rng.choice(["239.1.2.3", "239.1.2.3", "232.129.9.9", "224.5.6.7", "224.0.0.9"])
                packet = Ether(src="02:aa:00:00:00:01", dst="01:00:5e:01:02:03")
                packet /= IP(src=src, dst=dst, ttl=rng.choice([64, 64, 64, 2, 1])) / UDP() / Raw(rng.randbytes(20))
                frame = bytearray(bytes(packet))
                if rng.random() < 0.1:
                    frame[24] ^= 1
                if rng.random() < 0.05:
                    frame = bytearray(bytes(Ether() / IPv6() / UDP()))
                frames.append(bytes(frame))
                for to, copy in copies(port, bytes(frame)).items():
                    wanted[to].append(copy)
            device.send(frames, port=port)
            device.run()
            for to, some in wanted.items():
                assert device.receive(to) == some, (port, to)
                left[to] += len(some)
    assert min(left[port] for port in ADDRESSES) > 10 and left[3] == 0, left


@pytest.mark.parametrize("target", TARGETS)
def test_mac_learning(target: str, tmp_path: Path) -> None:
    """Hosts that talk, and one that moves. The controller is this test: it takes the messages and adds entries."""
    rng, ports = random.Random(2), 2 if target == "rtl" else PORTS
    places = {number: number % ports for number in range(1, 9)}
    known: dict[int, int] = {}
    messages = moves = unicast = 0
    items: list[dict[str, Any]] = [*port_items({1: list(range(ports))}), {"digest": "learn_t"}]
    with Device.open(design(tmp_path, "mac_learning", items, ports), target=target) as device:

        def write(act: str, entry: dict[str, Any]) -> None:
            device.call("rmt", {act: {"entry": entry}})

        def entries(address: int, port: int) -> list[dict[str, Any]]:
            source = {"hdr.ethernet.src": address, "meta.port": port}
            to = {"table": "destinations", "match": {"hdr.ethernet.dst": address}, "action": "forward"}
            return [{"table": "sources", "match": source, "action": "NoAction"}, to | {"params": {"port": port}}]

        for _ in range(40):
            if rng.random() < 0.3:
                places[rng.randrange(1, 9)] = rng.randrange(ports)
            port = rng.randrange(ports)
            here = [number for number, at in places.items() if at == port]
            frames, learned = [], []
            wanted: dict[int, list[bytes]] = {to: [] for to in range(ports)}
            for _ in range(20):
                src = rng.choice([*here, 1 << 40]) if here else 1 << 40
                dst = rng.choice([*places, 0xFFFFFFFFFFFF])
                frame = dst.to_bytes(6, "big") + src.to_bytes(6, "big") + b"\x88\xb5" + rng.randbytes(50)
                frames.append(frame)
                if src < 1 << 40 and known.get(src) != port:
                    learned.append([src, port])
                outs = [known[dst]] if dst in known else list(range(ports))
                unicast += dst in known
                for to in outs:
                    if to != port:
                        wanted[to].append(frame)
            device.send(frames, port=port)
            device.run()
            for to, some in wanted.items():
                # On rtl a frame may pass the copy of one that came before it.
                order = sorted if target == "rtl" else list
                assert order(device.receive(to)) == order(some), (port, to)
            answer = device.call("rmt", {"stream": {}})
            assert isinstance(answer, dict)
            said = [[int(value, 0) if isinstance(value, str) else value for value in message]
                    for _, some in answer["digests"] for message in some]  # fmt: skip
            assert said == learned, (said, learned)
            messages += len(said)
            for address, at in {address: at for address, at in said}.items():
                source, destination = entries(address, at)
                if address in known:
                    moves += 1
                    write("delete", entries(address, known[address])[0])
                    write("modify", destination)
                else:
                    write("insert", destination)
                write("insert", source)
                known[address] = at
        events = device.call("rmt", {"events": {}})
        assert isinstance(events, dict) and events["messages"] == [] and events["lost_digests"] == 0
        assert events["sent"] == messages
    assert messages > 20 and moves > 2 and unicast > 200, (messages, moves, unicast)
