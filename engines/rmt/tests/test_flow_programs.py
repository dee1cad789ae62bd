# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Programs that know flows, segments and services, as tenants of one card: every frame leaves as in plain Python, which
is written from the programs' intent; Scapy makes and reads the frames.
"""

from __future__ import annotations

import ipaddress
import json
import random
import struct
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from p4_interpreter import crc16
from penstock import Device
from rmt_language import run
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw
from system import ROOT

PROGRAMS = ROOT / "engines/rmt/programs"
Out = tuple[int, bytes] | None
VLANS = {"heavy": 31, "firewall": 32, "router": 33, "segments": 34, "telemetry": 35}
FILES = {
    "heavy": "heavy_hitters",
    "firewall": "stateful_firewall",
    "router": "ecmp",
    "segments": "srv6",
    "telemetry": "telemetry",
}
STAGES = 12

MEMBERS = [  # group, first and last hash, and where they go
    (1, 0, 127, ("02:00:00:00:00:01", "02:00:00:00:01:01", 0)),
    (1, 128, 255, ("02:00:00:00:00:02", "02:00:00:00:01:02", 1)),
    (2, 0, 49, ("02:00:00:00:00:01", "02:00:00:00:01:03", 0)),
    (2, 50, 199, ("02:00:00:00:00:02", "02:00:00:00:01:04", 1)),
]
GROUPS = {"10.0.0.0/8": 1, "10.1.0.0/16": 2, "10.1.2.0/24": 3}
OWN = ["2001:db8::1", "2001:db8::2"]
PLACES = {"2001:db8:1::/48": 0, "2001:db8:2::/48": 1, "2001:db8:2:3::/64": 0}
SERVICES = {("192.0.2.1", 53): 5, ("192.0.2.2", 4000): 63}

ENTRIES = {
    "router": [
        *(
            {"table": "routes", "match": {"hdr.ipv4.dst": net}, "action": "to_group", "params": {"group": group}}
            for net, group in GROUPS.items()
        ),
        *(
            {
                "table": "members",
                "match": {"meta.group": group, "meta.hash": f"{low}..{high}"},
                "priority": 10,
                "action": "forward",
                "params": {"src": src, "dst": dst, "port": port},
            }
            for group, low, high, (src, dst, port) in MEMBERS
        ),
    ],
    "segments": [
        *({"table": "own", "match": {"hdr.ipv6.dst": one}, "action": "NoAction"} for one in OWN),
        *(
            {
                "table": "routes",
                "match": {"hdr.ipv6.dst": net},
                "action": "forward",
                "params": {"port": port},
            }
            for net, port in PLACES.items()
        ),
    ],
    "telemetry": [
        {
            "table": "services",
            "match": {"hdr.ipv4.dst": address, "hdr.udp.dst": port},
            "action": "watch",
            "params": {"service": number},
        }
        for (address, port), number in SERVICES.items()
    ],
}


def flow_of(packet: Packet) -> tuple[str, str, int, int, int] | None:
    """Addresses, protocol and ports of TCP and UDP over IPv4 without options, in the first fragment."""
    if IP not in packet or packet[IP].ihl != 5 or packet[IP].proto not in (6, 17) or packet[IP].frag:
        return None
    if len(packet[IP].payload) < 4:
        return None
    ports = struct.unpack("!HH", bytes(packet[IP].payload)[:4])
    return packet[IP].src, packet[IP].dst, packet[IP].proto, *ports


def data_of(src: str, dst: str, proto: int, sport: int, dport: int) -> bytes:
    addresses = b"".join(ipaddress.IPv4Address(one).packed for one in (src, dst))
    return addresses + bytes([proto]) + struct.pack("!HH", sport, dport)


def checked(packet: Packet) -> bytes:
    """The frame with a new checksum of the IPv4 header."""
    del packet[IP].chksum
    return bytes(packet)


class Heavy:
    def __init__(self) -> None:
        self.rows: list[Counter[int]] = [Counter(), Counter(), Counter()]
        self.classified = 0

    def __call__(self, port: int, frame: bytes) -> Out:
        packet = Ether(frame)
        flow = flow_of(packet)
        if flow is not None:
            code = zlib.crc32(data_of(*flow))
            counts = []
            for number, row in enumerate(self.rows):
                place = code >> 10 * number & 1023
                row[place] += 1
                counts.append(row[place])
            if min(counts) > 32:
                self.classified += 1
                packet[IP].tos = 8 << 2 | packet[IP].tos & 3
        if IP in packet and packet[IP].ihl == 5:
            frame = checked(packet)
        return port ^ 1, frame


class Firewall:
    def __init__(self) -> None:
        self.seen: list[set[int]] = [set(), set()]

    def __call__(self, port: int, frame: bytes) -> Out:
        packet = Ether(frame)
        if IP not in packet or packet[IP].ihl != 5:
            return port ^ 1, frame
        flow = flow_of(packet)
        if flow is None:
            return None if port == 1 else (0 ^ 1, frame)
        src, dst, proto, sport, dport = flow
        inner = (src, dst, sport, dport) if port == 0 else (dst, src, dport, sport)
        addresses = b"".join(ipaddress.IPv4Address(one).packed for one in inner[:2])
        data = bytes([proto]) + addresses + struct.pack("!HH", *inner[2:])
        cells = [zlib.crc32(data) % 4096, crc16(data) % 4096]
        if port == 0:
            for known, cell in zip(self.seen, cells, strict=True):
                known.add(cell)
            return 1, frame
        passes = all(cell in known for known, cell in zip(self.seen, cells, strict=True))
        return (0, frame) if passes else None


class Router:
    def __call__(self, _: int, frame: bytes) -> Out:
        packet = Ether(frame)
        if IP not in packet or packet[IP].ihl != 5 or packet[IP].ttl < 2:
            return None
        if checked(Ether(frame)) != frame:
            return None
        address = ipaddress.IPv4Address(packet[IP].dst)
        nets = [ipaddress.IPv4Network(net) for net in GROUPS]
        fitting = [net for net in nets if address in net]
        if not fitting:
            return None
        group = GROUPS[str(max(fitting, key=lambda net: net.prefixlen))]
        flow = flow_of(packet) or (packet[IP].src, packet[IP].dst, packet[IP].proto, 0, 0)
        code = zlib.crc32(data_of(*flow)) % 256
        for number, low, high, (src, dst, port) in MEMBERS:
            if number == group and low <= code <= high:
                packet.src, packet.dst = src, dst
                packet[IP].ttl -= 1
                return port, checked(packet)
        return None


class Segments:
    """The offsets are those of RFC 8200 and RFC 8754; Scapy is not asked, as it may repair a list that lies."""

    def __call__(self, _: int, frame: bytes) -> Out:
        at = 18 if frame[12:14] == b"\x81\x00" else 14
        if frame[at - 2 : at] != b"\x86\xdd" or len(frame) < at + 40 or frame[at] >> 4 != 6:
            return None
        new = bytearray(frame)
        if new[at + 7] < 2:
            return None
        dst = slice(at + 24, at + 40)
        if str(ipaddress.IPv6Address(frame[dst])) in OWN:
            routing = at + 40
            if frame[at + 6] != 43 or len(frame) < routing + 8:
                return None
            length, kind, left, last = frame[routing + 1 : routing + 5]
            whole = len(frame) >= routing + 8 + 8 * length
            if kind != 4 or last > 2 or length != 2 * (last + 1) or not whole or not 1 <= left <= last + 1:
                return None
            new[routing + 3] = left - 1
            new[dst] = frame[routing + 8 + 16 * (left - 1) : routing + 24 + 16 * (left - 1)]
        address = ipaddress.IPv6Address(bytes(new[dst]))
        fitting = [net for net in map(ipaddress.IPv6Network, PLACES) if address in net]
        if not fitting:
            return None
        new[at + 7] -= 1
        return PLACES[str(max(fitting, key=lambda net: net.prefixlen))], bytes(new)


class Telemetry:
    def __init__(self) -> None:
        self.sent: Counter[int] = Counter()
        self.received: dict[int, int] = {}

    def __call__(self, port: int, frame: bytes) -> Out:
        packet = Ether(frame)
        if IP not in packet or packet[IP].ihl != 5:
            return port ^ 1, frame
        marked = packet[IP].tos >> 2 == 23
        at = (18 if Dot1Q in packet else 14) + 28
        if packet[IP].proto != 17 or packet[IP].frag or len(frame) < at or (marked and len(frame) < at + 12):
            return port ^ 1, checked(packet)
        head, rest = packet.copy(), frame[at:]
        head[UDP].remove_payload()
        if port == 0 and not marked and (packet[IP].dst, packet[UDP].dport) in SERVICES:
            service = SERVICES[packet[IP].dst, packet[UDP].dport]
            self.sent[service] += 1
            rest = struct.pack("!HHHHI", 7, 0, len(frame), service, self.sent[service]) + rest
            head[IP].tos = 23 << 2 | packet[IP].tos & 3
            head[IP].len += 12
            head[UDP].len += 12
            head[UDP].chksum = 0
        elif port == 1 and marked:
            *_, service, number = struct.unpack("!HHHHI", rest[:12])
            if service < 64:
                self.received[service] = number
            rest = rest[12:]
            head[IP].tos = packet[IP].tos & 3
            head[IP].len -= 12
            head[UDP].len -= 12
        return port ^ 1, checked(head)[:at] + rest


ORACLES: dict[str, Callable[[], Callable[[int, bytes], Out]]] = {
    "heavy": Heavy,
    "firewall": Firewall,
    "router": Router,
    "segments": Segments,
    "telemetry": Telemetry,
}


def internet(rng: random.Random, port: int) -> Packet:
    """IPv4 of few flows, both ways; some with options, fragments or other protocols."""
    inside, outside = f"10.1.{rng.randrange(4)}.{rng.randrange(3)}", f"192.0.2.{rng.randrange(1, 4)}"
    src, dst = (inside, outside) if port == 0 else (outside, inside)
    packet: Packet = IP(src=src, dst=dst, ttl=rng.choice([64, 64, 64, 2, 1]), tos=rng.randrange(4))
    ports = [rng.choice([53, 4000, 1024]), rng.choice([53, 4000, 443])]
    ports = ports if port == 0 else ports[::-1]
    kind = rng.random()
    if kind < 0.05:
        packet.options = b"\x01" * 4
    elif kind < 0.1:
        packet.frag = 7
    elif kind < 0.15:
        return packet / ICMP()
    return packet / rng.choice([UDP, UDP, TCP])(sport=ports[0], dport=ports[1])


def made(rng: random.Random, name: str, port: int) -> bytes:
    """A frame of a tenant that comes to this port."""
    head = Ether(src="02:aa:00:00:00:01", dst="02:aa:00:00:00:02") / Dot1Q(vlan=VLANS[name])
    rest = Raw(rng.randbytes(rng.choice([4, 20, 60, 300])))
    if rng.random() < 0.05:
        return bytes(head / ARP() / rest)
    if name == "segments":
        places = ["2001:db8:1::5", "2001:db8:2::5", "2001:db8:2:3::5", "2001:db8:9::5", *OWN]
        count = rng.randrange(1, 5)
        left = rng.randrange(count + 2)
        dst = rng.choice([*OWN, *OWN, *places])
        routing = IPv6ExtHdrSegmentRouting(
            addresses=[rng.choice(places) for _ in range(count)], segleft=left, lastentry=count - 1
        )
        packet = IPv6(src="2001:db8:5::1", dst=dst, hlim=rng.choice([64, 64, 64, 2, 1]))
        if rng.random() < 0.2:
            return bytes(head / packet / UDP() / rest)
        frame = bytearray(bytes(head / packet / routing / UDP() / rest))
        if rng.random() < 0.1:
            frame[rng.choice([58 + 1, 58 + 2, 58 + 4])] ^= 1 << rng.randrange(3)
        return bytes(frame)
    packet = head / internet(rng, port) / rest
    if name == "heavy" and rng.random() < 0.4:  # two flows that send much
        packet = head / IP(src="10.1.9.9", dst="192.0.2.9") / rng.choice([UDP, TCP])(sport=7, dport=9) / rest
    if name == "telemetry" and rng.random() < 0.4:
        packet[IP].tos = 23 << 2
        number = rng.choice([5, 63, 64, 65535])
        packet.lastlayer().load = struct.pack("!HHHHI", 9, 0, 60, number, rng.getrandbits(32)) + rng.randbytes(
            rng.choice([0, 30])
        )
    frame = bytearray(bytes(packet))
    if name == "router" and rng.random() < 0.05:
        frame[18 + 10] ^= 1
    return bytes(frame)


@pytest.mark.parametrize("name", ["heavy", "firewall"])
def test_rows(name: str) -> None:
    """`soft`, and the program's rows on the model of the machine."""
    rng = random.Random(7)
    oracle = ORACLES[name]()
    frames = [(port, made(rng, name, port)) for port in (rng.randrange(2) for _ in range(1200))]
    frames = [(port, frame[:12] + frame[16:]) for port, frame in frames]
    expected = [oracle(port, frame) for port, frame in frames]
    wanted = [("drop", b"") if out is None else (f"port {out[0]}", out[1]) for out in expected]
    ran = run(f"{FILES[name]}.p4", (PROGRAMS / f"{FILES[name]}.p4").read_text(), [], frames, stages=STAGES)
    assert ran.faults is None and ran.refused is None, (ran.faults, ran.refused)
    assert ran.card is not None
    for frame, want, soft, card in zip(frames, wanted, ran.soft, ran.card, strict=True):
        assert soft == want, frame
        assert card == want, frame
    assert not isinstance(oracle, Heavy) or oracle.classified > 100
    drops = sum(out is None for out in expected)
    assert name != "firewall" or 50 < drops < 500, drops


# On rtl the five programs take minutes to load.
@pytest.mark.parametrize("target", ["soft", pytest.param("rtl", marks=pytest.mark.long)])
def test_flow_programs(target: str, tmp_path: Path) -> None:
    rng = random.Random(1)
    (tmp_path / "entries.json").write_text(json.dumps(ENTRIES))
    tenants = "".join(f'[[tenants]]\nname = "{name}"\nvlan = {vlan}\n' for name, vlan in VLANS.items())
    programs = ", ".join(f'{name} = "{PROGRAMS / file}.p4"' for name, file in FILES.items())
    path = tmp_path / "flows.toml"
    path.write_text(
        f'[card]\nname = "flows"\nports = 2\n{tenants}[[inline]]\nengine = "rmt"\nrmt.programs = {{ {programs} }}\n'
        f'rmt.entries = "entries.json"\nrmt.stages = {STAGES}\n'
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{ROOT}/engines/rpu/programs/forward.c"\n'
    )
    oracles = {name: make() for name, make in ORACLES.items()}
    left: Counter[tuple[str, bool]] = Counter()
    with Device.open(path, target=target) as device:
        for _ in range(2):
            for port in (0, 1):
                frames = [(name, made(rng, name, port)) for name in rng.choices(list(VLANS), k=600)]
                wanted: dict[int, list[bytes]] = {0: [], 1: []}
                for name, frame in frames:
                    out = oracles[name](port, frame)
                    left[name, out is not None] += 1
                    if out is not None:
                        wanted[out[0]].append(out[1])
                device.send([frame for _, frame in frames], port=port)
                device.run()
                for to, some in wanted.items():
                    assert device.receive(to) == some, (port, to)
    for name in ("firewall", "router", "segments"):
        assert min(left[name, True], left[name, False]) > 40, left
    heavy, telemetry = oracles["heavy"], oracles["telemetry"]
    assert isinstance(heavy, Heavy) and heavy.classified > 100
    assert isinstance(telemetry, Telemetry)
    assert set(telemetry.sent) == set(SERVICES.values()) == set(telemetry.received)
