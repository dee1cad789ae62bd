# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random frames for tenants with a router and a calculator: good ones, broken ones, and some that nearly belong to a
tenant.
"""

from __future__ import annotations

import random

from scapy.layers.inet import IP, UDP, IPOption_NOP
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw

ADDRESSES = ["10.5.5.5", "10.1.1.1", "10.1.2.3", "10.1.2.4", "192.0.2.77", "11.0.0.1", "10.255.255.255", "0.0.0.0"]


def ethernet(rng: random.Random) -> Ether:
    return Ether(src=f"02:aa:00:00:00:{rng.randrange(256):02x}", dst=f"02:bb:00:00:00:{rng.randrange(256):02x}")


def padded(frame: bytes, rng: random.Random) -> bytes:
    """At least 60 bytes, and often of the lengths that a card folds."""
    length = max(60, len(frame), rng.choice([0, 0, 64, 65, 72, 80, 81, 128, rng.randrange(60, 300)]))
    return frame + rng.randbytes(length - len(frame))


def routed(rng: random.Random, vlan: int | None, kind: type[Packet] = Dot1Q) -> bytes:
    """IPv4, mostly good."""
    options = [IPOption_NOP()] * (4 * rng.randrange(11)) if rng.random() < 0.4 else []
    ip = IP(src="10.9.9.9", dst=rng.choice(ADDRESSES), ttl=rng.choice([0, 1, 2, 64, 255]), options=options)
    tag = kind(vlan=vlan, prio=rng.randrange(8)) if vlan is not None else None
    packet = ethernet(rng) / tag / ip if tag else ethernet(rng) / ip
    frame = bytearray(bytes(packet / UDP(sport=rng.randrange(65536), dport=53) / Raw(rng.randbytes(20))))
    at = 14 if vlan is None else 18
    if rng.random() < 0.15:
        # Version, length, or a byte that the checksum covers.
        frame[at + rng.randrange(20)] ^= 1 << rng.randrange(8)
    return padded(bytes(frame), rng)


def asked(rng: random.Random, vlan: int | None) -> bytes:
    """A request to the calculator, mostly good."""
    request = bytearray(b"P4\x01" + rng.choice(b"+-&|^+-&|^*?").to_bytes(1, "big") + rng.randbytes(8) + bytes(8))
    if rng.random() < 0.1:
        request[rng.randrange(3)] ^= 1 << rng.randrange(8)
    packet = ethernet(rng) / Dot1Q(vlan=vlan, type=0x1234) if vlan is not None else ethernet(rng)
    head = bytes(packet) if vlan is not None else bytes(packet)[:12] + b"\x12\x34"
    return padded(head + bytes(request), rng)


def frames(seed: int, count: int) -> list[tuple[int, bytes]]:
    """Frames with their ports, for bob at VLAN 1 and eve at VLAN 257."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        what = rng.randrange(20)
        vlan = rng.choice([1, 257])
        if what < 9:
            frame = routed(rng, 1)
        elif what < 15:
            frame = asked(rng, 257)
        elif what == 15:
            frame = routed(rng, 257) if vlan == 257 else asked(rng, 1)
        elif what == 16:
            frame = routed(rng, vlan, Dot1AD)
        elif what == 17:
            frame = routed(rng, rng.choice([0, 2, 256, 258, 4094, None]))
        elif what == 18:
            frame = asked(rng, rng.choice([0, 3, 513, None]))
        else:
            frame = padded(bytes(ethernet(rng) / Dot1Q(vlan=vlan) / ARP()), rng)
        made.append((rng.randrange(2), frame))
    return made
