# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""designs/l7.toml: captures of packets in, messages out, against the plain Python of shop.py."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from penstock import Device
from qnp import ACK, Message
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from shop import TIMEOUT, Shop, amount, crc
from system import ROOT, TARGETS, Run, run_design

DESIGN = ROOT / "designs/l7.toml"
REVIEW = Message(1, 1, 77, [(1, b"/CA/20240919"), (2, b"/CS/Algebra"), (3, b"good " * 700)])
ORDER = Message(2, 2, 5, [(1, b"/order/9"), (2, amount(30)), (3, b"box")], dport=8000)
# A packet, and its time in µs.
Step = tuple[int, bytes]


def capture(path: Path, steps: Iterable[Step]) -> Path:
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1)
    for time, frame in steps:
        data += struct.pack("<IIII", time // 1_000_000, time % 1_000_000, len(frame), len(frame)) + frame
    path.write_bytes(data)
    return path


def spaced(frames: Iterable[bytes], begin: int = 0, gap: int = 2) -> list[Step]:
    return [(begin + gap * at, frame) for at, frame in enumerate(frames)]


def play(steps: list[Step], folder: Path, target: str, *options: str, design: Path = DESIGN) -> Run:
    run = run_design(design, [f"{capture(folder / 'in.pcap', steps)}@0"], folder / f"out_{target}", target, *options)
    assert run.status == 0, run.stderr
    return run


def applications(run: Run) -> list[dict[str, Any]]:
    return run.result["counters"]["inline"]["blocks"][0]["own"]["applications"]


def judge(run: Run, shop: Shop) -> None:
    """Whole messages, byte for byte, and the block's counters."""
    assert sorted(run.frames.get("host", [])) == sorted(shop.host)
    assert sorted(run.frames.get("port0", [])) == sorted(shop.answers)
    counted = applications(run)
    for name in ("packets", "malformed", "duplicates", "delivered", "denied", "expired"):
        assert sum(app[name] for app in counted) == shop.counts[name], name
    queues: dict[str, int] = {}
    for rule in (rule for app in counted for rule in app["rules"] if "queue" in rule and "by" not in rule["action"]):
        queues[f"queue {rule['queue']}"] = queues.get(f"queue {rule['queue']}", 0) + rule["messages"]
    for queue in ("queue 0", "queue 1", "queue 9"):
        assert queues[queue] == shop.counts[queue], queue


def check(steps: list[Step], folder: Path, target: str, *options: str) -> Shop:
    shop = Shop()
    for time, frame in steps:
        shop.take(time, frame)
    judge(play(steps, folder, target, *options), shop)
    return shop


@pytest.mark.parametrize("target", TARGETS)
def test_a_message_of_three_packets_whose_last_one_comes_first(tmp_path: Path, target: str) -> None:
    first, second, third = REVIEW.packets([1400, 2800])
    steps = spaced([third, first, second])
    run = play(steps, tmp_path, target)
    assert run.frames["host"] == [REVIEW.delivered(3)]
    (reviews, shop) = applications(run)
    assert (reviews["packets"], reviews["delivered"], shop["packets"]) == (3, 1, 0)
    counters = run.result["counters"]["inline"]["blocks"][0]
    assert (counters["absorbed"], counters["made"]) == (3, 1)


@pytest.mark.parametrize("target", [*TARGETS, pytest.param("fpga", marks=pytest.mark.long)])
def test_senders_with_equal_numbers(tmp_path: Path, target: str) -> None:
    """Two senders, a second port of one of them, and two applications use one message number at the same time."""
    senders = [
        REVIEW,
        REVIEW.to(source="10.0.0.2", fields=[(1, b"/CA/2023"), (2, b"/EE/Math"), (3, b"b" * 2000)]),
        REVIEW.to(sport=4001, fields=[(1, b"/PA/20249"), (2, b"/EE/Math"), (3, b"c" * 2000)]),
        ORDER.to(id=77, fields=[(1, b"/order/1"), (2, amount(5)), (3, b"d" * 2000)]),
    ]
    packets = [message.packets([700, 1400]) for message in senders]
    order = [2, 0, 1]
    shop = check(spaced(frames[at] for at in order for frames in packets), tmp_path, target)
    assert (shop.counts["queue 0"], shop.counts["queue 1"], len(shop.answers)) == (2, 1, 1)


@pytest.mark.long
@pytest.mark.parametrize("card", ["sim", "sim-corundum"])
def test_marks_of_messages_on_a_real_card(card: str) -> None:
    """The queue's number reaches the host through a shell's network interface."""
    other = REVIEW.to(source="10.0.0.2", fields=[(1, b"/CA/2023"), (2, b"/EE/Math"), (3, b"b" * 2000)])
    seen = []
    for target, options in (("soft", {}), ("fpga", {"card": card})):
        with Device.open(DESIGN, target, **options) as device:
            for message in (REVIEW, other):
                device.send(message.packets([700, 1400]), 0)
            result = device.run()
            assert not any(result.drops.values())
            seen.append(sorted((frame.mark, frame.data) for frame in result.frames if frame.port == "host"))
    assert seen[0] == seen[1] and len({mark for mark, _ in seen[0]}) == 2


@pytest.mark.long
def test_messages_in_card_memory_on_a_real_card(tmp_path: Path) -> None:
    """Their packets wait in the four DDR4 channels of a board behind Corundum, two channels of the card on each."""
    design = tmp_path / "memory.toml"
    text = DESIGN.read_text().replace('"../', f'"{DESIGN.parents[1]}/')
    design.write_text(text.replace("l7.timeout_us", "l7.messages = 65536\nl7.timeout_us"))
    senders = [
        REVIEW.to(source=f"10.0.1.{number}", fields=[(1, b"/CA/2023"), (2, b"/EE/Math"), (3, bytes([number]) * 2000)])
        for number in range(1, 41)
    ]
    packets = [message.packets([700, 1400]) for message in senders]
    seen = []
    for target, options in (("soft", {}), ("fpga", {"card": "sim-corundum"})):
        with Device.open(design, target, **options) as device:
            # All are open at once: the last packet of each comes behind the others of all.
            for part in range(len(packets[0])):
                for message in packets:
                    device.send(message[part], 0)
            result = device.run()
            assert not any(result.drops.values())
            seen.append(sorted((frame.mark, frame.data) for frame in result.frames if frame.port == "host"))
    assert seen[0] == seen[1] and len(seen[0]) == len(packets)


@pytest.mark.parametrize("target", TARGETS)
def test_the_answer_of_a_unit_finds_its_way_back(tmp_path: Path, target: str) -> None:
    run = play(spaced(ORDER.packets()), tmp_path, target)
    (frame,) = run.frames["port0"]
    packet = Ether(frame)
    assert (packet[IP].dst, packet[UDP].dport, packet[UDP].sport) == ("10.0.0.1", 4000, 8000)
    data = bytes(packet[UDP].payload)
    assert data[6:10] == struct.pack(">I", 5) and data[22:] == ORDER.payload()


def random_steps(rng: random.Random, messages: int) -> list[Step]:
    """Messages of both applications, cut anywhere, shuffled, with duplicates, false headers and frames without
    messages.
    """
    steps: list[Step] = []
    time = 0
    for number in range(messages):
        source, sport = f"10.0.0.{rng.randint(1, 3)}", rng.choice([4000, 4001])
        tail = rng.randbytes(rng.choice([0, 1, 100, 254, 255, 256, 600, 3000]))
        if rng.random() < 0.5:
            student = rng.choice(
                [b"/CA/2024", b"/CA/20245/x", b"/PA/2024", b"/PA/2023", b"/CA/1", b"CA/2024", b"//2024"]
            )
            course = rng.choice([b"/CS/Math", b"/EE/Math", b"/CS/Maths", b"Math", b"//Math", b"/a/b/Math"])
            fields = [(1, student), (2, course), (3, tail)]
            message = Message(1, rng.choice([1, 1, 1, 2]), number, fields, source, sport)
        else:
            path = rng.choice(
                [b"/order/1", b"/order/", b"/cart/1/pay", b"/cart/1?pay=2", b"/cart/1/2/pay", b"/customer/%d" % number]
            )
            fields = [(1, path), (2, amount(rng.choice([0, 999, 1000, 1 << 31]))), (3, tail)]
            if rng.random() < 0.1:
                fields[1] = (2, b"\x00\x04")
            message = Message(2, 2, number, fields, source, sport, dport=8000)
        length = len(message.payload())
        dispatch = sum(2 + len(value) for _, value in fields[:2])
        cuts = sorted(rng.sample(range(dispatch, length), min(rng.randint(0, 4), length - dispatch)))
        cuts = [cut for cut in cuts if cut > 0]
        frames = message.packets(cuts)
        rng.shuffle(frames)
        if len(frames) > 1 and rng.random() < 0.2:
            frames.insert(len(frames) - 1, frames[0])
        if rng.random() < 0.1:
            bad = bytearray(frames[0])
            bad[42 + 11] = 200
            frames.insert(0, bytes(bad))
        if rng.random() < 0.2:
            frames.append(
                rng.choice([message.frame(b"x", 1, 0, ACK), bytes(Ether() / ARP()), message.to(dport=9).packets()[0]])
            )
        begin = time + rng.randint(0, 30)
        steps += [(begin + rng.randint(0, 40), frame) for frame in frames[:-1]] + [(begin + 41, frames[-1])]
        time += 10
    return sorted(steps, key=lambda step: step[0])


@pytest.mark.parametrize("target", TARGETS)
def test_random_messages(tmp_path: Path, target: str) -> None:
    steps = random_steps(random.Random(3), 300)
    shop = check(steps, tmp_path, target)
    assert all(shop.counts[name] > 0 for name in ("malformed", "duplicates", "denied", "queue 0", "queue 1", "queue 9"))
    assert len(shop.answers) > 5


@pytest.mark.parametrize("target", TARGETS)
def test_messages_in_card_memory(tmp_path: Path, target: str) -> None:
    """More messages at once than the chip holds, one packet of each before the second one of the first."""
    design = tmp_path / "design.toml"
    text = DESIGN.read_text().replace("../engines", str(ROOT / "engines"))
    design.write_text(text.replace("l7.timeout_us", "l7.messages = 65536\nl7.timeout_us"))
    messages = [REVIEW.to(id=number, sport=4000 + number % 3, segments=1) for number in range(700)]
    messages += [
        ORDER.to(id=number, fields=[(1, b"/order/1"), (2, amount(number)), (3, b"box")]) for number in range(100)
    ]
    packets = [message.packets([60 if message.application == 1 else 18]) for message in messages]
    rng = random.Random(9)
    for parts in packets:
        rng.shuffle(parts)
    steps = spaced(parts[0] for parts in packets)
    steps += spaced((parts[1] for parts in rng.sample(packets, len(packets))), 10_000)
    shop = Shop()
    for time, frame in steps + random_steps(random.Random(4), 100):
        shop.take(time, frame)
    for message in shop.waiting.values():  # in card memory they are not decided yet
        shop.counts[f"queue {message.where}"] -= bool(message.first)
    later = [(time + 20_000, frame) for time, frame in random_steps(random.Random(4), 100)]
    run = play(steps + later, tmp_path, target, design=design)
    judge(run, shop)
    assert shop.counts["queue 0"] > 700 and shop.counts["delivered"] > 800
    assert sum(app["in_flight"] for app in applications(run)) == len(shop.waiting) < 5
    assert all(app["refused"] == app["busy"] == 0 for app in applications(run))


@pytest.mark.parametrize("target", TARGETS)
def test_a_message_that_is_not_whole_expires(tmp_path: Path, target: str) -> None:
    """A packet that arrives after the timeout begins a new message."""
    first, second = REVIEW.packets([1400])
    steps = [(0, first), (TIMEOUT + 50_000, second), (TIMEOUT + 50_010, first), *spaced(ORDER.packets(), 4 * TIMEOUT)]
    steps += spaced([first], 4 * TIMEOUT + 100)
    shop = check(steps, tmp_path, target, "--rate", "turns")
    assert (shop.counts["expired"], shop.counts["delivered"]) == (1, 2)


@pytest.mark.parametrize("target", TARGETS)
def test_rules_see_the_segments_that_the_sender_names(tmp_path: Path, target: str) -> None:
    """A field after the first segments is absent for rules, and a field before their end is not."""
    fields = [(1, b"/CA/1" + b"x" * 60), (2, b"/EE/Math")]
    messages = [Message(1, 1, at, fields, segments=at) for at in (0, 1, 2)]
    shop = check(spaced(message.packets()[0] for message in messages), tmp_path, target)
    assert (shop.counts["queue 1"], shop.counts["denied"]) == (2, 1)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source, vlan", [("10.0.0.1", 100), ("fd00::1", None), ("fd00::1", 100)])
def test_tags_and_both_versions_of_ip(tmp_path: Path, target: str, source: str, vlan: int | None) -> None:
    dest = "fd00::2" if ":" in source else "10.0.9.9"
    message = REVIEW.to(source=source, dest=dest, vlan=vlan)
    run = play(spaced(reversed(message.packets([1000, 2000]))), tmp_path, target)
    assert run.frames["host"] == [message.delivered(3)]


def test_groups_of_queues_follow_the_hash(tmp_path: Path) -> None:
    """On soft, where the path distinguishes the answer to `rules` from the frames."""
    paths = [b"/customer/%d" % number for number in range(64)]
    messages = [ORDER.to(id=at, fields=[(1, path), (2, amount(1))]) for at, path in enumerate(paths)]
    shop = check(spaced(frame for message in messages for frame in message.packets()), tmp_path, "soft")
    counts = [shop.counts[f"queue {queue}"] for queue in range(16, 20)]
    assert sum(counts) == 64 and min(counts) > 4
    # The published check value of this CRC.
    assert crc(b"123456789".rjust(32, b"\0")) == 0x31C3
