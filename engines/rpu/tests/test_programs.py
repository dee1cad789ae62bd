# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Programs that show one capability of a unit each, on both targets: length check, sampler, timer, rate meter, latency
probe, generator, hash.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest
from penstock import Device, FaultError, Result, regs
from scapy.layers.inet import IP, TCP, UDP, IPOption_Timestamp
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw
from system import ROOT, RSS_KEY, toeplitz

pytest_plugins = ["penstock.pytest_plugin"]

Open = Callable[..., Device]
DESIGN = ROOT / "designs" / "forward.toml"
PROGRAMS = ROOT / "engines" / "rpu" / "programs"


def lengths_agree(frame: bytes) -> bool:
    """RFC 791, 8200 and 768, read from the bytes."""
    (ethertype,) = struct.unpack("!H", frame[12:14])
    packet = frame[14:]
    if ethertype == 0x0800:
        if len(packet) < 20 or packet[0] >> 4 != 4:
            return False
        words, (total, _, fragment) = packet[0] & 15, struct.unpack("!3H", packet[2:8])
        if not 20 <= 4 * words <= total <= len(packet):
            return False
        if packet[9] != 17 or fragment & 0x2000 or fragment & 0x1FFF:
            return True
        datagram = packet[4 * words : total]
    elif ethertype == 0x86DD:
        if len(packet) < 40 or packet[0] >> 4 != 6:
            return False
        (payload,) = struct.unpack("!H", packet[4:6])
        if payload + 40 > len(packet):
            return False
        if packet[6] != 17:
            return True
        datagram = packet[40 : 40 + payload]
    else:
        return True
    return len(datagram) >= 8 and 8 <= struct.unpack("!H", datagram[4:6])[0] <= len(datagram)


def test_length_check(open_device: Open) -> None:
    rng = random.Random(5)
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    sound = [
        ether / IP(src="192.0.2.1", dst="192.0.2.2") / UDP() / Raw(bytes(30)),
        ether / IP(src="192.0.2.1", dst="192.0.2.2", options=[IPOption_Timestamp()]) / UDP() / Raw(bytes(100)),
        ether / IP(src="192.0.2.1", dst="192.0.2.2", flags="MF") / UDP() / Raw(bytes(64)),
        ether / IP(src="192.0.2.1", dst="192.0.2.2", frag=3, proto=17) / Raw(b"\xff" * 64),
        ether / IP(src="192.0.2.1", dst="192.0.2.2") / TCP() / Raw(bytes(300)),
        ether / IPv6(src="2001:db8::1", dst="2001:db8::2") / UDP() / Raw(bytes(20)),
        ether / IPv6(src="2001:db8::1", dst="2001:db8::2") / TCP(),
        ether / ARP(psrc="192.0.2.1", pdst="192.0.2.2"),
    ]
    frames = []
    for packet in map(bytes, sound):
        frames.append(packet + bytes(max(0, 60 - len(packet))))
        for _ in range(25):
            # A field changed, or the end cut off, or padding added.
            changed = bytearray(packet)
            for place in rng.sample([14, 15, 16, 17, 18, 19, 20, 21, 23, 38, 39, 58, 59], rng.randrange(3)):
                if place < len(changed):
                    changed[place] = rng.choice([0, 1, 8, 17, 0x20, 0x45, 0x46, 0x4F, 0x60, rng.getrandbits(8)])
            cut = rng.choice([len(changed), len(changed), rng.randrange(14, len(changed) + 1)])
            frames.append(bytes(changed[:cut]) + bytes(rng.choice([0, 0, 1, 40])))
    passing = [frame for frame in frames if lengths_agree(frame)]
    assert 50 < len(passing) < len(frames) - 50
    card = open_device(DESIGN, program=PROGRAMS / "length_check.c", units=2)
    card.send(frames)
    result = card.run()
    assert sorted(result.at(1)) == sorted(passing)
    assert result.drops["blocked"] == len(frames) - len(passing)
    told = [unit.debug_out for unit in card.units]
    assert sum(word & 0xFFFFFFFF for word in told) == len(passing)
    assert sum(word >> 32 for word in told) == len(frames) - len(passing)


def test_sampler(open_device: Open) -> None:
    rng = random.Random(6)
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    flows = [ether / IP(src=f"198.51.100.{n}", dst="192.0.2.9") / UDP(sport=1000 + n, dport=53) for n in range(12)]
    frames = [bytes(flow / Raw(struct.pack("!I", number))) for number in range(40) for flow in flows]
    rng.shuffle(frames)
    seen: dict[int, int] = {}
    to_host, to_port = [], []
    for frame in frames:
        bucket = toeplitz(RSS_KEY, frame[26:38]) % 1024  # addresses and ports
        (to_host if seen.get(bucket, 0) % 8 == 0 else to_port).append(frame)
        seen[bucket] = seen.get(bucket, 0) + 1
    card = open_device(DESIGN, program=PROGRAMS / "sampler.c", units=2, policy="flow-hash")
    card.send(frames)
    result = card.run()
    assert sorted(result.at("host")) == sorted(to_host)
    assert sorted(result.at(1)) == sorted(to_port)


def test_timer(open_device: Open) -> None:
    interval = 1000
    card = open_device(DESIGN, program=PROGRAMS / "timer.c", units=2, policy="round-robin")
    for unit in card.units:
        unit.debug_in = interval
    frames = [bytes(100)] * 1000
    card.send(frames)
    assert card.receive(1) == frames
    if card.target == "rtl":
        card.step(1)  # the first step after a run takes more cycles than it is asked for
        before = [unit.debug_out & 0xFFFFFFFF for unit in card.units]
        card.step(50 * interval)
        after = [unit.debug_out & 0xFFFFFFFF for unit in card.units]
        for first, last in zip(before, after, strict=True):
            assert 50 <= last - first <= 51
    for unit in card.units:
        assert unit.debug_out & 0xFFFFFFFF > 3
        times = unit.debug_out >> 32
        # The way to the handler is not always equally long.
        assert interval - 100 < times & 0xFFFF <= interval <= times >> 16 < interval + 100


def test_rate_meter(open_device: Open) -> None:
    card = open_device(DESIGN, program=PROGRAMS / "rate_meter.c", units=2, policy="round-robin")
    interval = 25_000 if card.target == "rtl" else 5_000  # 100 us; some hundred frames' instructions
    for unit in card.units:
        unit.debug_in = interval
    frames = [bytes(100)] * 1920
    card.send(frames)
    if card.target == "rtl":
        # 1,000 bits a microsecond, of which a frame takes 992 on the wire: 100.8 frames in an interval, half of them a
        # unit. The last of them comes in the middle of one.
        result = card.run(rate=1)
        for unit in card.units:
            assert unit.debug_out & 0xFFFFFFFF in (50, 51)
    else:
        result = card.run()
    assert result.drops["blocked"] == len(frames) and not result.frames
    for unit in card.units:
        count = unit.debug_out & 0xFFFFFFFF
        assert unit.debug_out >> 32 == 100 * count and 0 < count <= len(frames) // 2


def test_latency_probe(open_device: Open) -> None:
    frames = [bytes([number]) * length for number, length in enumerate((60, 64, 200, 1514, 60, 60, 60))]
    card = open_device(DESIGN, program=PROGRAMS / "latency_probe.c", units=2)
    card.send([*frames, b"\x07" * 14])
    result = card.run()
    assert sorted(frame[:14] + frame[22:] for frame in result.at(1)) == sorted(
        f[:14] + f[22:] for f in [*frames, b"\x07" * 14]
    )
    for frame in result.frames:
        if len(frame.data) < 22:
            continue
        arrival, round_trip = struct.unpack("<II", frame.data[14:22])
        assert arrival < 1 << 20 and 0 < round_trip < 1 << 20
        if card.target == "rtl":
            # Both are parts of the frame's way; over loopback and back there are two rounds through switches and
            # engines.
            assert 20 < arrival and 60 < round_trip < 1000
            assert (arrival + round_trip) * 4 < frame.latency_ns


def order(count: int, length: int, pace: int = 0, ports: tuple[int, int] = (0, 1), step: int = 0) -> int:
    """The debug words that generator.c reads."""
    return (count | pace << 16) << 32 | length | ports[0] << 16 | ports[1] << 20 | step << 24


def made_frame(unit: int, number: int, length: int, time: bytes) -> bytes:
    """A frame of generator.c as Scapy makes it."""
    ether = Ether(src=f"02:00:00:00:00:{unit:02x}", dst="02:00:00:00:01:00")
    ip = IP(src=f"198.18.0.{unit}", dst="198.19.0.1", id=0, ttl=64, len=length - 14)
    udp = UDP(sport=49152, dport=9, len=length - 34, chksum=0)
    return (bytes(ether / ip / udp / Raw(struct.pack("<I", number) + time)) + bytes(max(0, length - 50)))[:length]


def check_made(result: Result, unit: int, count: int, lengths: list[int], ports: tuple[int | str, ...]) -> list[int]:
    """Checks that all frames of a unit have arrived with the right contents; returns their times."""
    frames = [frame for frame in result.frames if frame.unit == unit]
    frames.sort(key=lambda frame: frame.data[42:46][::-1])
    assert len(frames) == count
    for number, frame in enumerate(frames):
        length = lengths[number % 8]
        assert frame.data == made_frame(unit, number, length, frame.data[46:50]), number
        assert frame.port == ports[number % 2] and frame.source is None
    return [struct.unpack("<I", frame.data[46:50])[0] for frame in frames]


def test_generator(open_device: Open) -> None:
    """Frames of several sizes at both ports and the host at a pace, exactly as many as were ordered, beside frames that
    are forwarded.
    """
    card = open_device(DESIGN, program=PROGRAMS / "generator.c", units=2, policy="round-robin")
    rng = random.Random(11)
    frames = [rng.randbytes(rng.choice([60, 64, 65, 300, 1514])) for _ in range(1500)]
    for number, (count, pace, ports) in enumerate([(300, 100, (0, 1)), (77, 300, (1, 2)), (1, 0, (2, 2))]):
        for unit in card.units:
            unit.debug_in = order(count + unit.number, 60, pace, ports, step=37)
        forwarded = frames if number == 0 else []
        card.send(forwarded)
        result = card.run(rate=10 if card.target == "rtl" else None)
        assert sorted(f.data for f in result.frames if f.unit is None) == sorted(forwarded)
        assert result.generated == 2 * count + 1 and not result.faults
        assert len(forwarded) + result.generated == len(result.frames) + sum(result.drops.values())
        names = tuple("host" if port == 2 else port for port in ports)
        for unit in card.units:
            made = count + unit.number
            times = check_made(result, unit.number, made, [60 + 37 * n for n in range(8)], names)
            assert unit.debug_out == made | number + 1 << 32
            # Late ones are made up for: on average the pace is that which was ordered.
            assert times == sorted(times) and (pace == 0 or abs(times[-1] - times[0] - (made - 1) * pace) < 150)
            if card.target == "rtl":
                assert all(frame.latency_ns is not None for frame in result.frames if frame.unit == unit.number)
    for unit in card.units:
        assert unit.read(regs.UNIT_GENERATED) == 378 + 3 * unit.number
        assert unit.read(regs.UNIT_TX_FRAMES) == unit.read(regs.UNIT_RX_FRAMES) + 378 + 3 * unit.number
    # A new order ends the present one.
    card.units[0].debug_in = order(5000, 64, pace=9000)
    card.units[0].debug_in = order(10, 64)
    result = card.run()
    assert 10 < result.generated < 20


@pytest.mark.long  # a card of its own; `bench rpu-generate` measures the same
def test_generator_fills_both_ports(open_device: Open) -> None:
    """Eight units as fast as they can, which is more long frames than two ports carry: every frame leaves."""
    card = open_device(DESIGN, program=PROGRAMS / "generator.c", units=8)
    for length in (64, 1500):
        for unit in card.units:
            unit.debug_in = order(0, 0)
            unit.debug_in = order(200, length)
        result = card.run()
        assert result.generated == len(result.frames) == 1600
        assert len(result.at(0)) == len(result.at(1)) == 800
        for unit in card.units:
            check_made(result, unit.number, 200, [length] * 8, (0, 1))


def test_generator_and_receivers(open_device: Open) -> None:
    """One card generates frames, and another card meters and probes them."""
    source = open_device(DESIGN, program=PROGRAMS / "generator.c", units=2)
    for unit in source.units:
        unit.debug_in = order(100, 100, ports=(0, 0))
    frames = source.run().at(0)
    meter = open_device(DESIGN, program=PROGRAMS / "rate_meter.c", units=2, policy="round-robin")
    for unit in meter.units:
        unit.debug_in = 5000
    meter.send(frames)
    result = meter.run(rate=1 if meter.target == "rtl" else None)
    assert result.drops["blocked"] == 200 and result.generated == 0
    probe = open_device(DESIGN, program=PROGRAMS / "latency_probe.c", units=2)
    probe.send(frames)
    out = probe.run().at(1)
    assert sorted(f[:14] + f[22:] for f in out) == sorted(f[:14] + f[22:] for f in frames)


def test_generator_without_end(open_device: Open) -> None:
    """A run ends with a reason; afterwards card and program are as before."""
    card = open_device(DESIGN, program=PROGRAMS / "generator.c", units=2)
    card.units[1].debug_in = order(0xFFFF, 1500, pace=1000)
    card.send([bytes(60)] * 2000)  # which takes longer than the first frame of the generator
    with pytest.raises(FaultError, match=r"units go on and on sending frames that they make \(1\)") as caught:
        card.run()
    result = caught.value.result
    assert result.generated + 2000 == len(result.frames) > 5000 and not any(result.drops.values())
    card.units[1].debug_in = 0
    assert card.run().generated < 50
    card.units[1].debug_in = order(3, 60)
    assert card.run().generated == 3
    card.load(PROGRAMS / "forward.c")
    card.send(bytes(60))
    assert card.run().at(1) == [bytes(60)]


BAD_FRAMES = {
    **{kind: "where no frame can be" for kind in (16, 17, 18, 19, 20, 24)},
    **{kind: "destination that does not exist" for kind in (21, 22, 23, 25)},
}


@pytest.mark.parametrize("kind", BAD_FRAMES)
def test_frames_that_cannot_be_made(kind: int, open_device: Open) -> None:
    """An address outside packet memory or odd, a length that is not valid, a destination that is not possible: each is
    reported, and the unit goes on.
    """
    firmware = ROOT / "engines" / "rpu" / "tests" / "firmware" / "generate.c"
    card = open_device(DESIGN, program=firmware, units=2)
    frames = [bytes([kind, n]) + bytes(60) for n in range(10)]
    card.send(frames)
    with pytest.raises(FaultError, match=BAD_FRAMES[kind]) as caught:
        card.run()
    result = caught.value.result
    assert sorted(result.at(1)) == sorted(frames) and len(result.frames) == 10
    assert result.generated == 0 and not any(result.drops.values())
    # The same program makes all valid frames.
    card.send([bytes([1, 60]) + bytes(58), bytes([2, 14]) + bytes(58)])
    result = card.run()
    assert sorted(result.at(0)) == [bytes([1, 60]) + bytes(58), bytes([2, 14]) + bytes(12)]
    assert (result.generated, len(result.at(1))) == (2, 2)


def test_hash_front(open_device: Open) -> None:
    rng = random.Random(8)
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    frames = []
    for _ in range(60):
        address = {"src": f"192.0.2.{rng.randrange(256)}", "dst": f"198.51.100.{rng.randrange(256)}"}
        ports = {"sport": rng.getrandbits(16), "dport": rng.getrandbits(16)}
        layers = rng.choice([IP(**address) / UDP(**ports), IP(**address) / TCP(**ports), ARP()])
        frames.append(bytes(ether / layers / Raw(rng.randbytes(rng.randrange(20, 300)))))
    card = open_device(DESIGN, program=PROGRAMS / "hash_front.c", units=2)
    card.send(frames, port=0)
    result = card.run()
    # Addresses and ports; ARP has neither.
    hashes = [toeplitz(RSS_KEY, frame[26:38]) if frame[12:14] == b"\x08\x00" else 0 for frame in frames]
    hashed = [struct.pack("<I", value) + frame for value, frame in zip(hashes, frames, strict=True)]
    assert sorted(result.at(1)) == sorted(hashed)
    assert len(set(hashes)) > 30
