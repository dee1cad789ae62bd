# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The shipped designs of XDP programs on real captures: every frame that leaves equals that of Scapy and plain Python,
on both targets.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from penstock import Device
from penstock.data import DATA
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap

ROOT = Path(__file__).resolve().parents[3]
DESIGNS = ROOT / "designs"
TRAFFIC = DATA / "traffic"
CAPTURES = ["http-apt", "smtp", "sip", "tls"]
# The longest frame that the units take; longer frames are counted drops.
LONGEST = 3000
PLACES = 1021

pytestmark = pytest.mark.skipif(not TRAFFIC.exists(), reason=f"no captures in {TRAFFIC}")


def frames_of(capture: str) -> list[bytes]:
    """Frames of a capture that a card takes, and no more than a simulation likes."""
    return [bytes(frame) for frame in rdpcap(str(TRAFFIC / f"{capture}.pcap"), 600) if len(frame) <= LONGEST]


def transport(packet: Ether) -> TCP | UDP | None:
    """The transport header of an unfragmented TCP or UDP packet over IPv4 without options."""
    if IP not in packet or packet[IP].ihl != 5 or packet[IP].frag or packet[IP].flags.MF:
        return None
    return next((packet[layer] for layer in (TCP, UDP) if layer in packet), None)


def ends(packet: Ether) -> tuple[int, frozenset[tuple[str, int]]]:
    """A flow, whichever way: protocol and both ends."""
    ports = transport(packet)
    assert ports is not None
    ip = packet[IP]
    return ip.proto, frozenset([(ip.src, ports.sport), (ip.dst, ports.dport)])


def test_a_firewall_on_captures(target: str) -> None:
    """Frames from one side of each capture go out; then answers of half of these flows arrive, and answers of other
    flows that nobody began.
    """
    with Device.open(DESIGNS / "xdp-firewall.toml", target, units=2) as card:
        began, allowed = set(), 0
        for capture in CAPTURES:
            packets = [Ether(frame) for frame in frames_of(capture)]
            packets = [packet for packet in packets if transport(packet) is not None]
            inside = packets[0][IP].src
            calls = [packet for packet in packets if packet[IP].src == inside]
            answers = [packet for packet in packets if packet[IP].src != inside]
            calls = calls[: len(calls) // 2]
            began |= {ends(packet) for packet in calls}
            card.send([bytes(packet) for packet in calls], port=0)
            assert sorted(card.run().at(1)) == sorted(bytes(packet) for packet in calls)
            known = [bytes(packet) for packet in answers if ends(packet) in began]
            card.send([bytes(packet) for packet in answers], port=1)
            result = card.run()
            assert sorted(result.at(0)) == sorted(known)
            assert result.drops["blocked"] == len(answers) - len(known)
            allowed += len(known)
        assert allowed > 300 and len(card.maps["flows"]) == len(began)


def flow_hash(source: bytes, dest: bytes, source_port: bytes, dest_port: bytes) -> int:
    """The program's hash of a flow; it reads network order as a little-endian machine does."""
    word = 0xFFFFFFFF

    def rotate(x: int, by: int) -> int:
        return (x << by | x >> (32 - by)) & word

    def little(data: bytes) -> int:
        return int.from_bytes(data, "little")

    value = rotate(little(source) * 0xCC9E2D51 & word, 15) ^ little(dest) * 0x1B873593 & word
    value = rotate(value, 13) * 5 + (little(source_port) << 16 | little(dest_port)) & word
    value = (value ^ value >> 16) * 0x85EBCA6B & word
    value = (value ^ value >> 13) * 0xC2B2AE35 & word
    return value ^ value >> 16


@pytest.mark.parametrize("capture", CAPTURES)
def test_a_load_balancer_on_captures(capture: str, target: str) -> None:
    """The busiest server of a capture becomes a virtual address: its frames leave in a tunnel, to the server at their
    flow's place in the ring; all other frames go to the host.
    """
    ring = dict(json.loads((DESIGNS / "balancer" / "ring.json").read_text()))
    servers = {
        number: value["address"] for number, value in json.loads((DESIGNS / "balancer" / "servers.json").read_text())
    }
    frames = frames_of(capture)
    called = Counter()
    for frame in frames:
        packet = Ether(frame)
        if (ports := transport(packet)) is not None:
            called[packet[IP].dst, ports.dport, packet[IP].proto] += 1
    (address, port, protocol), count = called.most_common(1)[0]
    assert count >= 10

    tunnelled, passed = [], []
    for frame in frames:
        packet = Ether(frame)
        ports = transport(packet)
        if IP in packet and ports is None and packet[IP].proto in (6, 17):
            continue  # fragments and options are dropped
        if ports is None or (packet[IP].dst, ports.dport, packet[IP].proto) != (address, port, protocol):
            passed.append(frame)
            continue
        place = flow_hash(frame[26:30], frame[30:34], frame[34:36], frame[36:38]) % PLACES
        source = bytes([172, 16, 0, 1][i] ^ (frame[26 + i] if i >= 2 else 0) for i in range(4))
        outer = Ether(dst="02:00:00:00:00:fe", src=packet.dst) / IP(
            src=".".join(map(str, source)), dst=servers[ring[place]], id=0, ttl=64, proto=4, len=packet[IP].len + 20
        )
        tunnelled.append(bytes(outer) + frame[14:])

    with Device.open(DESIGNS / "xdp-lb.toml", target, units=2) as card:
        card.maps["vips"][
            {"address": address, "port": int.from_bytes(port.to_bytes(2, "big"), "little"), "protocol": protocol}
        ] = {}
        card.send(frames)
        result = card.run()
        assert sorted(result.at(0)) == sorted(tunnelled)
        assert sorted(result.at("host")) == sorted(passed)
        counted = card.maps["counters"][0]
        assert sum(one["packets"] for one in counted) == count == len(tunnelled)
        assert sum(one["bytes"] for one in counted) == sum(Ether(frame)[IP].len - 20 for frame in tunnelled)
