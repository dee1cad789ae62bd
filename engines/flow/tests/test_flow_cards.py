# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The programs of the flow engine in cards, on both targets, against plain Python models of their purpose: the port and
the bytes of each frame.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
from efsm import Machine
from flow_card import TARGETS, Arrival, Left, TimedCard, exit_of
from flow_soft import PROGRAMS
from penstock import Device, flow_counters
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet
from system import ROOT
from test_flow_programs import DROP, SEQUENCES, S, SynFlood, built, tcp, udp
from test_flow_tcp import INSIDE, OUTSIDE, life, tracked

# Frames of each sequence, enough to cover all actions of a program; the long form has whole sequences.
FRAMES = 250
LONGER = {"big_flows": 320, "super_spreader": 650}
# Only a few kinds of cards, because each is a model to build: the number of Ethernet ports, elements and contexts.
# Elements that a program does not need do nothing.
SMALL = (2, 2, 62)
LARGE = (3, 4, 124)
ELEMENT = re.compile(r"^element ", re.MULTILINE)
NOTHING = "element rest{} {{ port == 255 => drop }}\n"


def design_of(folder: Path, text: str) -> tuple[Path, int]:
    """A card with a program in front of one unit, which forwards, and its ports."""
    elements = len(ELEMENT.findall(text))
    ports, room, contexts = SMALL if elements <= SMALL[1] else LARGE
    # A larger table than is needed takes time to walk through.
    (folder / "program.efsm").write_text(re.sub(r"table \d+", f"table {contexts}", text))
    (folder / "rest.efsm").write_text("".join(NOTHING.format(n) for n in range(room - elements)))
    blocks = ["program", "rest"][: 1 + (room > elements)]
    lines = [f'[card]\nname = "test"\nports = {ports}']
    lines += [
        f'[[inline]]\nname = "{b}"\nengine = "flow"\nprogram = "{b}.efsm"\nflow.contexts = {contexts}' for b in blocks
    ]
    lines += [f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{ROOT}/engines/rpu/programs/forward.c"']
    design = folder / "card.toml"
    design.write_text("\n".join(lines) + "\n")
    return design, ports


def check(left: list[Left], wanted: list[Left], arrivals: list[tuple[int, int, Packet]]) -> None:
    """Describes the first wrong frame."""
    for number, (found, expected, (time, port, packet)) in enumerate(zip(left, wanted, arrivals, strict=True)):
        assert found == expected, f"frame {number} at {time} from port {port}: {packet.summary()}"


def arrivals_of(steps: Iterable[tuple[int, int, Packet]]) -> list[Arrival]:
    return [(time, port, bytes(packet)) for time, port, packet in steps]


PLAYED = SEQUENCES | {"tcp_tracking": lambda: tracked(0)}


def cases() -> Iterable[Any]:
    """Programs, targets, and of how many frames. The large model takes a minute or two to build."""
    for name, target, count in product(PLAYED, TARGETS, (FRAMES, None)):
        elements = len(ELEMENT.findall((PROGRAMS / f"{name}.efsm").read_text()))
        long = count is None or (target == "rtl" and elements > SMALL[1])
        id_ = f"{name}-{target}-{'short' if count else 'whole'}"
        yield pytest.param(name, target, count, id=id_, marks=[pytest.mark.long] if long else [])


@pytest.mark.parametrize(("name", "target", "count"), cases())
def test_program(name: str, target: str, count: int | None, tmp_path: Path) -> None:
    model, sequence = PLAYED[name]()
    # A card's clock never goes back.
    steps = sorted(islice(sequence, count and LONGER.get(name, count)), key=lambda step: step[0])
    design, ports = design_of(tmp_path, (PROGRAMS / f"{name}.efsm").read_text())
    wanted: list[Left] = []
    seen: Counter = Counter()
    for time, port, packet in steps:
        verdict, expected = model(time, port, built(packet))
        seen[verdict] += 1
        exit_ = exit_of(verdict, port, ports)
        wanted.append(None if exit_ is None else (exit_, bytes(expected)))
    with TimedCard(design, target) as card:
        left = card.play(arrivals_of(steps))
        inline = flow_counters(card.card.counters())
    check(left, wanted, steps)
    assert inline is not None and (inline.frames, inline.blocked, inline.refused) == (len(steps), seen[DROP], 0)


def attacked() -> Iterable[tuple[int, int, Packet, bool]]:
    """Connections, and beside them a host inside and one outside that send floods of SYNs; whether the tracking alone
    lets a frame pass.
    """
    connections = list(islice(life(1, pause=0), 600))
    yield from connections
    begin = connections[0][0]
    for port, attacker, victim, start in (
        (INSIDE, "10.0.0.66", "198.51.100.1", begin + 100_001),
        (OUTSIDE, "203.0.113.9", "10.0.0.1", begin + 300_001),
    ):
        other = udp(attacker, victim, 53, 53)
        yield start - 1, port, other, True
        for at in range(130):
            # A request from outside belongs to no connection, so none of these frames passes.
            yield start + 7000 * at, port, tcp(attacker, victim, 1024 + at, 80), port == INSIDE
        banned = start + 7000 * 100
        for after in (1, 59 * S, 60 * S - 1, 60 * S):
            yield banned + after, port, other, True


def small(design: Path, folder: Path) -> Path:
    """A copy of a design with tables of the size of the other cards here."""
    text = re.sub(r"contexts = .*\n", "", design.read_text())
    text = text.replace("[[inline]]\n", f"[[inline]]\nflow.contexts = {LARGE[2]}\n").replace('"../', f'"{ROOT}/')
    text = text.replace(f"{PROGRAMS}/syn_flood.efsm", "syn_flood.efsm")
    program = (PROGRAMS / "syn_flood.efsm").read_text()
    (folder / "syn_flood.efsm").write_text(re.sub(r"table \d+", f"table {LARGE[2]}", program))
    copy = folder / design.name
    copy.write_text(text)
    return copy


@pytest.mark.parametrize("target", ["soft", pytest.param("rtl", marks=pytest.mark.long)])
def test_tracking_behind_flood_detection(target: str, tmp_path: Path) -> None:
    design = ROOT / "designs/tcp.toml"
    # In RTL a card whose model is built anyway, and tables that a walker visits quickly.
    card = (
        TimedCard(small(design, tmp_path), target, ports=3, units=1) if target == "rtl" else TimedCard(design, target)
    )
    flood = SynFlood()
    steps = sorted(attacked(), key=lambda step: step[0])
    wanted: list[Left] = []
    seen: Counter = Counter()
    for time, port, packet, passes in steps:
        detected = flood(time, port, built(packet))[0]
        seen[detected == DROP, passes] += 1
        wanted.append((port ^ 1, bytes(packet)) if passes and detected != DROP else None)
    assert len(flood.banned) == 2 and min(seen.values()) > 10
    with card:
        came = [(time, port, packet) for time, port, packet, _ in steps]
        left = card.play(arrivals_of(came))
        check(left, wanted, came)
        # All that passes gets to the units.
        counters = card.card.counters()
        assert sum(unit.rx_frames for unit in counters.units) == sum(one is not None for one in left)
        told = [event.key["ip.src"] for event in card.flow.events() if event.kind == "notified"]
        assert told == ["10.0.0.66", "203.0.113.9"]


def inside(rng: random.Random, flow: int) -> bytes:
    """A frame of one of the flows of seven hosts behind NAT."""
    layer = TCP(sport=4000 + flow, dport=80) if flow % 3 else UDP(sport=4000 + flow, dport=53)
    load = rng.randbytes(rng.choice([0, 5, 30, 200, 1400]))
    return bytes(Ether() / IP(src=f"10.0.0.{flow % 7}", dst="198.51.100.7") / layer / load)


def answer(rng: random.Random, data: bytes) -> bytes:
    """An answer to a frame that has left NAT for the outside; one of five comes from a stranger."""
    packet = Ether(data)
    layer = packet[TCP] if TCP in packet else packet[UDP]
    source = "198.51.100.8" if rng.random() < 0.2 else packet[IP].dst
    ports = {"sport": layer.dport, "dport": layer.sport}
    return bytes(
        Ether() / IP(src=source, dst=packet[IP].src) / type(layer)(**ports) / rng.randbytes(rng.randint(0, 90))
    )


@pytest.mark.parametrize("target", TARGETS)
def test_both_ports_at_once(target: str, tmp_path: Path) -> None:
    """NAT, with frames at full speed while the clock goes on, against the interpreter of its text. The flow of an
    answer already exists, so it does not matter which of two frames of different ports comes first.
    """
    rng = random.Random(1)
    design, _ = design_of(tmp_path, (PROGRAMS / "nat.efsm").read_text())
    machine = Machine((tmp_path / "program.efsm").read_text(), SMALL[2])
    arp = bytes(Ether() / ARP(psrc="10.0.0.1", pdst="10.0.0.2"))
    out: list[bytes] = []
    answers: list[bytes] = []
    seen: Counter = Counter()
    with Device.open(design, target) as card:
        for flows in (40, 40, 40, 0):
            # Answers to earlier frames, beside flows that may be new.
            sent = {
                INSIDE: [arp, *(inside(rng, rng.randrange(flows)) for _ in range(60 * bool(flows)))],
                OUTSIDE: [*answers, arp],
            }
            past: dict[int, list[bytes]] = {INSIDE: [], OUTSIDE: []}
            onward: dict[int, list[bytes]] = {INSIDE: [], OUTSIDE: []}
            for port, frames in sent.items():
                card.send(frames, port)
                for data in frames:
                    verdict, left = machine.run(data, port, 0)
                    seen[verdict[0]] += 1
                    if verdict[0] != "drop":
                        # Frames that pass go through the unit, to the neighbour port.
                        (past[verdict[1]] if verdict[0] == "port" else onward[port ^ 1]).append(left)
            result = card.run()
            assert result.at("host") == []
            for port in sent:
                new = result.at(port)
                assert [data for data in new if data not in onward[port]] == past[port]
                assert [data for data in new if data in onward[port]] == onward[port]
            out += past[OUTSIDE]
            answers = [answer(rng, data) for data in rng.sample(out, 40)]
        assert seen["drop"] > 10 and seen["pass"] == 8
        inline = flow_counters(card.counters())
        assert inline is not None and (inline.frames, inline.blocked) == (seen.total(), seen["drop"])
        for element, contexts, counted in zip(inline.elements, machine.contexts, machine.counters, strict=True):
            assert element.contexts == len(contexts) > 30
            found = (element.keyless, element.unmatched, element.unkept)
            assert found == (counted["keyless"], counted["unmatched"], counted["unkept"])
        assert card.flow["assign"].registers == machine.globals[0]


@pytest.mark.parametrize("target", TARGETS)
def test_a_port_that_does_not_exist_is_no_other(target: str, tmp_path: Path) -> None:
    """A computed port has 32 bits; one whose low bits alone name a port of the card is refused."""
    design, ports = design_of(tmp_path, "element e1 {\n    udp => port udp.dport\n}\n")
    numbers = [0, 1, 2, 255, 256, 257, 511, 512, 0xFF00, 0xFF01, 0xFFFF]
    frames = [bytes(udp("10.0.0.1", "10.0.0.2", 7, number)) for number in numbers]
    with Device.open(design, target) as card:
        card.send(frames, 1)
        result = card.run()
        for port in range(ports):
            assert result.at(port) == [frame for frame, number in zip(frames, numbers, strict=True) if number == port]
        assert result.at("host") == []
        assert card.counters().inline.refused == sum(number >= ports for number in numbers)
