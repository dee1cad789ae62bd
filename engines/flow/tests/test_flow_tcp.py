# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Connections with all faults of real networks, and forgeries, through engines/flow/programs/tcp_tracking.efsm: frames
that hosts sent pass, all others are dropped.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from efsm import Machine
from flow_soft import PROGRAMS, Soft
from scapy.layers.inet import IP, TCP, UDP, fragment
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw
from test_flow_programs import DROP, PASS, Model, Step, built, deep, is_hidden, never_taken

S = 1_000_000
# Without them Scapy asks the network for them.
MACS = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
OUTSIDE, INSIDE = 0, 1
HOSTS = {INSIDE: "10.0.0.1", OUTSIDE: "192.0.2.80"}
# A frame, its port, and whether it passes.
Event = tuple[int, Packet, bool]


@dataclass
class Connection:
    """Both ends of a connection; the network can repeat their frames."""

    chance: random.Random
    port: int
    # The next sequence number of each side.
    number: dict[int, int] = field(default_factory=dict)
    # The frames that were sent, for retransmission.
    sent: list[tuple[int, Packet]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for side in HOSTS:
            self.number[side] = self.chance.choice((0, 1 << 31, (1 << 32) - 300, self.chance.getrandbits(32)))

    def segment(self, side: int, flags: str, data: int = 0, seq: int = 0, ack: int = 0) -> Packet:
        """A segment of a side, its numbers so far from right."""
        ports = {"sport": self.port, "dport": 80} if side == INSIDE else {"sport": 80, "dport": self.port}
        right = self.number[1 - side] if "A" in flags else 0
        packet = Ether(**MACS) / IP(src=HOSTS[side], dst=HOSTS[1 - side])
        packet /= TCP(
            **ports,
            flags=flags,
            seq=(self.number[side] + seq) % 2**32,
            ack=(right + ack) % 2**32 if "A" in flags else 0,
        )
        return packet / Raw(bytes(data)) if data else packet

    def send(self, side: int, flags: str, data: int = 0) -> Iterator[Event]:
        packet = self.segment(side, flags, data)
        self.number[side] = (self.number[side] + data + sum(flag in "SF" for flag in flags)) % 2**32
        self.sent.append((side, packet))
        yield side, packet, True

    def forged(self) -> Iterator[Event]:
        """Frames that only an attacker sends into an open connection."""
        # Farther than windows are.
        far = self.chance.choice(((1 << 30) + 1, 1 << 31, -(1 << 30) - 2, -(1 << 30) - (1 << 21)))
        for side in HOSTS:
            # A reset in the window without the next sequence number ends nothing (RFC 5961): its receiver challenges
            # the sender.
            yield side, self.segment(side, "RA", seq=self.chance.choice((1, 1000, 500_000))), True
            yield side, self.segment(side, "R", seq=-self.chance.choice((1, 1000, 500_000))), False
            yield side, self.segment(side, "A", 10, seq=far), False
            yield side, self.segment(side, "RA", seq=far), False
            yield side, self.segment(side, "A", 10, ack=self.chance.choice((1, 1000, 1 << 30))), False
            yield side, self.segment(side, "FA", ack=1), False
        yield OUTSIDE, self.segment(OUTSIDE, "S"), False
        yield OUTSIDE, self.segment(OUTSIDE, "SA", ack=777), False
        yield OUTSIDE, self.segment(OUTSIDE, ""), False

    def open(self) -> Iterator[Event]:
        yield OUTSIDE, self.segment(OUTSIDE, "SA"), False
        yield OUTSIDE, self.segment(OUTSIDE, "A", 5), False
        yield INSIDE, self.segment(INSIDE, "A", 5), False
        # The other side takes all, some or none of a SYN's data (RFC 7413).
        data = self.chance.choice((0, 0, 1, 500))
        taken = self.chance.randint(0, data)
        again = self.segment(INSIDE, "S")
        yield from self.send(INSIDE, "S", data)
        for _ in range(self.chance.choice((0, 0, 1))):
            yield *self.sent[-1], True
        if self.chance.random() < 0.3:
            # Once more without them, as hosts do that had no answer.
            yield INSIDE, again, True
        yield OUTSIDE, self.segment(OUTSIDE, "SA", ack=self.chance.choice((-1 - data, 1))), False
        self.number[INSIDE] = (self.number[INSIDE] - data + taken) % 2**32
        yield OUTSIDE, self.segment(OUTSIDE, "A", 5), False
        if self.chance.random() < 0.3:
            # The other side has an old connection (RFC 5961, section 4): it learns that this has ended, and gets a new
            # request.
            yield OUTSIDE, self.segment(OUTSIDE, "A", seq=77, ack=99), True
            yield INSIDE, self.segment(INSIDE, "R", seq=99), True
            yield *self.sent[-1], True
        yield from self.send(OUTSIDE, "SA")
        if self.chance.random() < 0.3:
            # The SYN again while its answer is on the way, and the answer again.
            yield *self.sent[-2], True
            yield *self.sent[-1], True
        yield OUTSIDE, self.segment(OUTSIDE, "A", 5), False
        yield INSIDE, self.segment(INSIDE, "A", seq=self.chance.choice((-1 - taken, 1 + data - taken))), False
        yield INSIDE, self.segment(INSIDE, "A", ack=1), False
        yield from self.send(INSIDE, "A", self.chance.choice((0, 20)))
        if self.chance.random() < 0.3:
            # Lost after the card: the other side sends again.
            yield OUTSIDE, self.sent[1][1], True

    def talk(self, rounds: int) -> Iterator[Event]:
        for _ in range(rounds):
            side = self.chance.choice((INSIDE, OUTSIDE))
            for _ in range(self.chance.randint(1, 4)):
                yield from self.send(side, self.chance.choice(("A", "PA")), self.chance.choice((0, 1, 100, 1000)))
            if self.chance.random() < 0.8:
                yield from self.send(1 - side, "A")
            if self.chance.random() < 0.3:
                # Comes again, or late.
                yield *self.chance.choice(self.sent[-5:]), True
            if self.chance.random() < 0.3:
                yield from self.forged()

    def close(self) -> Iterator[Event]:
        first = self.chance.choice((INSIDE, OUTSIDE))
        how = self.chance.choice(("one by one", "half open", "together", "reset", "reset bare"))
        if how.startswith("reset"):
            yield first, self.segment(first, "RA" if how == "reset" else "R"), True
            for side in HOSTS:
                yield side, self.segment(side, "A", 10), False
            return
        fin = self.segment(1 - first, "FA")
        yield from self.send(first, "FA")
        if how == "together":
            # The other side's was on its way before it saw this one.
            yield 1 - first, fin, True
            self.number[1 - first] = (self.number[1 - first] + 1) % 2**32
        else:
            yield from self.send(1 - first, "A")
            if how == "half open":
                for _ in range(3):
                    yield from self.send(1 - first, "PA", 500)
                    yield from self.send(first, "A")
                yield from self.forged()
            yield from self.send(1 - first, "FA")
        yield from self.send(first, "A")
        yield from self.send(1 - first, "A")


def life(seed: int, pause: int = 4000 * S) -> Iterator[tuple[int, int, Packet, bool]]:
    """Connections one after the other, some of the same port as the one before, some after a pause in which all that is
    known of it ends.
    """
    chance, time = random.Random(seed), seed * 1_000_000_000
    before: Connection | None = None
    for number in range(12):
        connection = Connection(chance, 1000 + number // 2)
        if before and before.port == connection.port:
            # Hosts begin far from where they were (RFC 6528).
            connection.number = {side: (last + (1 << 31)) % 2**32 for side, last in before.number.items()}
        before = connection
        parts = [connection.open(), connection.talk(chance.randint(0, 10))]
        # Some are left as they are: their host is gone, and its next connection may have the same port.
        if chance.random() < 0.8:
            parts.append(connection.close())
        for part in parts:
            for side, packet, passes in part:
                time += chance.choice((1, 1000, 50_000))
                yield time, side, packet, passes
        if chance.random() < 0.5 and pause:
            # The connection is over, whatever its state was. Frames from inside may still leave; no frame comes in.
            time += pause
            yield time, OUTSIDE, connection.segment(OUTSIDE, "A", 10), False
        time += 1


def tracked(seed: int) -> tuple[Model, list[Step]]:
    """The same, with the fate of each frame, in order."""
    events = list(life(seed))
    passes = iter([passes for _, _, _, passes in events])
    return lambda _time, _port, packet: (PASS if next(passes) else DROP, packet), [event[:3] for event in events]


@pytest.mark.parametrize("seed", range(20))
def test_connections(seed: int) -> None:
    path = PROGRAMS / "tcp_tracking.efsm"
    machine = Machine(path.read_text())
    events = [(time, port, packet, bytes(packet), passes) for time, port, packet, passes in life(seed)]
    with Soft(path) as soft:
        results = soft.run_all([(frame, port, time, 0) for time, port, _, frame, _ in events])
    for number, ((time, port, packet, frame, passes), result) in enumerate(zip(events, results, strict=True)):
        expected = ("pass" if passes else "drop",), frame
        assert result == expected, (
            f"frame {number} from port {port}: {packet.summary()} {packet[TCP].seq} {packet[TCP].ack}"
        )
        assert machine.run(frame, port, time) == expected


def others() -> Iterator[tuple[Packet, bool]]:
    """Frames that belong to no connection, and whether they come in."""
    yield Ether(**MACS) / ARP(), True
    yield Ether(**MACS) / IP() / UDP(), True
    yield from ((packet, False) for packet in deep(TCP(flags="A")))
    yield from ((packet, not is_hidden(built(packet))) for packet in deep(UDP()))
    yield Ether(**MACS, type=0x86DD) / IPv6() / TCP(flags="A"), False
    yield from ((piece, False) for piece in fragment(Ether(**MACS) / IP() / TCP() / Raw(bytes(100)), fragsize=40))


def test_everything_else() -> None:
    with Soft(PROGRAMS / "tcp_tracking.efsm") as soft:
        for packet, enters in others():
            assert soft.run(bytes(packet), OUTSIDE, 0)[0] == ("pass" if enters else "drop",)
            if TCP not in packet:
                assert soft.run(bytes(packet), INSIDE, 0)[0] == ("pass",)


def test_what_is_over_takes_no_room() -> None:
    """A connection every ten seconds, which ends at once: a table of ten refuses none of them. Open
    connections stay.
    """
    path = PROGRAMS / "tcp_tracking.efsm"
    time = 0
    with Soft(path, contexts=10) as soft:

        def play(events: Iterator[Event]) -> None:
            nonlocal time
            for side, packet, passes in events:
                time += 1000
                assert (soft.run(bytes(packet), side, time)[0] == ("pass",)) == passes

        lasting = Connection(random.Random(0), 999)
        play(lasting.send(INSIDE, "S"))
        play(lasting.send(OUTSIDE, "SA"))
        play(lasting.send(INSIDE, "A"))
        for number in range(60):
            connection = Connection(random.Random(number), 1000 + number)
            for side, flags in ((INSIDE, "S"), (OUTSIDE, "SA"), (INSIDE, "A")):
                play(connection.send(side, flags))
            if number % 2:
                play(iter([(OUTSIDE, connection.segment(OUTSIDE, "RA"), True)]))
            else:
                for side, flags in ((OUTSIDE, "FA"), (INSIDE, "FA"), (OUTSIDE, "A")):
                    play(connection.send(side, flags))
            time += 10 * S
            soft.walk(time)
            play(lasting.send(number % 2, "PA", 100))
        assert len(soft.contexts(1)) < 10 and len(soft.contexts(2)) < 10


def test_a_handshake_that_finds_no_room() -> None:
    """If the table of open connections is full, the answer to the SYN/ACK is dropped; once it has room, the
    retransmission from inside opens the connection.
    """
    path = PROGRAMS / "tcp_tracking.efsm"
    machine = Machine(path.read_text(), 1)
    first, second = (Connection(random.Random(port), port) for port in (1, 2))
    with Soft(path, contexts=1) as soft:

        def goes(event: Event, time: int) -> bool:
            side, packet, _ = event
            result = soft.run(bytes(packet), side, time)
            assert result == machine.run(bytes(packet), side, time)
            return result[0] == ("pass",)

        for time, (connection, side, flags, wanted) in enumerate(
            [
                (first, INSIDE, "S", True),
                (first, OUTSIDE, "SA", True),
                (first, INSIDE, "A", True),
                (second, INSIDE, "S", False),
            ]
        ):
            assert [goes(event, time) for event in connection.send(side, flags)] == [wanted]
        # Frames other than TCP need no context.
        question = Ether(**MACS) / IP(src=HOSTS[INSIDE], dst=HOSTS[OUTSIDE]) / UDP(sport=1, dport=53)
        assert goes((INSIDE, question, True), 10)
        # The first one's handshake is forgotten; it is still open.
        soft.walk(61 * S)
        machine.walk(61 * S)
        again = second.sent[-1]
        assert goes((*again, True), 61 * S)
        assert [goes(event, 61 * S + 1) for event in second.send(OUTSIDE, "SA")] == [True]
        answer = next(second.send(INSIDE, "A"))
        assert not goes(answer, 61 * S + 2)
        assert goes((INSIDE, first.segment(INSIDE, "RA"), True), 62 * S)
        soft.walk(122 * S)
        machine.walk(122 * S)
        assert goes((*second.sent[1], True), 122 * S - 1) is False


def refused() -> Iterator[Event]:
    """A port that is closed: the answer to the SYN is a reset."""
    connection = Connection(random.Random(1), 1)
    yield from connection.send(INSIDE, "S")
    yield OUTSIDE, connection.segment(OUTSIDE, "RA", ack=5), False
    yield OUTSIDE, connection.segment(OUTSIDE, "RA"), True
    yield OUTSIDE, connection.segment(OUTSIDE, "SA"), False


def changed_mind(side: int) -> Iterator[Event]:
    """A side resets a connection before it is open; later frames of the other side belong to no connection."""
    connection = Connection(random.Random(2), 2)
    yield from connection.send(INSIDE, "S")
    yield from connection.send(OUTSIDE, "SA")
    # From outside only with the right number.
    yield OUTSIDE, connection.segment(OUTSIDE, "R", seq=1), False
    yield side, connection.segment(side, "R"), True
    yield INSIDE, connection.segment(INSIDE, "A"), False
    yield OUTSIDE, connection.segment(OUTSIDE, "SA", seq=-1), False


@pytest.mark.parametrize("events", [list(refused()), list(changed_mind(INSIDE)), list(changed_mind(OUTSIDE))])
def test_handshakes_that_end(events: list[Event]) -> None:
    """Nothing is left of them."""
    with Soft(PROGRAMS / "tcp_tracking.efsm") as soft:
        for time, (side, packet, passes) in enumerate(events):
            assert (soft.run(bytes(packet), side, time)[0] == PASS) == passes, f"frame {time}"
        assert soft.contexts(1) == soft.contexts(2) == {}


def full_windows() -> Iterator[Event]:
    """Sides that send as much as the largest window takes (RFC 7323, section 2.3) before anything of it is
    acknowledged.
    """
    connection, window = Connection(random.Random(3), 3), (1 << 30) - (1 << 14)
    yield from connection.send(INSIDE, "S")
    yield from connection.send(OUTSIDE, "SA")
    yield from connection.send(INSIDE, "A")
    for side in (INSIDE, OUTSIDE, INSIDE):
        for ahead in (0, 1 << 20, 1 << 29, window - 1000):
            yield side, connection.segment(side, "A", 1000, seq=ahead), True
        yield side, connection.segment(side, "A", 1000, seq=(1 << 30) - 999), False
        # The first is lost, and sent again.
        yield side, connection.segment(side, "A", 1000), True
        connection.number[side] = (connection.number[side] + window) % 2**32
        yield 1 - side, connection.segment(1 - side, "A"), True


def unlucky_number() -> Iterator[Event]:
    """A segment with the sequence number that the elements represent as 0 (tcp_tracking.efsm): it opens nothing by
    itself, and belongs to an open connection.
    """
    connection = Connection(random.Random(4), 4)
    connection.number[INSIDE] = (3 << 30) - 1001
    yield INSIDE, connection.segment(INSIDE, "A", 10, seq=1001), False
    yield from connection.send(INSIDE, "S")
    yield from connection.send(OUTSIDE, "SA")
    yield from connection.send(INSIDE, "A", 1000)
    yield from connection.send(INSIDE, "A", 1000)
    yield *connection.sent[-1], True


def unlucky_zero() -> Iterator[Event]:
    """The same from outside, for no connection and for an open one, and resets with sequence number 0."""
    connection = Connection(random.Random(5), 5)
    for number, flags in ((3 << 30, "A"), (0, "RA")):
        connection.number[OUTSIDE] = number
        yield OUTSIDE, connection.segment(OUTSIDE, flags), False
    connection.number = {INSIDE: 0, OUTSIDE: 2**32 - 1}
    yield from connection.send(INSIDE, "S")
    yield from connection.send(OUTSIDE, "SA")
    yield from connection.send(INSIDE, "A")
    yield OUTSIDE, connection.segment(OUTSIDE, "A", 10, seq=3 << 30), True
    yield OUTSIDE, connection.segment(OUTSIDE, "A", 10, seq=(3 << 30) - 1), False
    yield INSIDE, connection.segment(INSIDE, "R", seq=-1), False
    yield OUTSIDE, connection.segment(OUTSIDE, "R"), True
    yield INSIDE, connection.segment(INSIDE, "A", 10), False


@pytest.mark.parametrize("events", [list(full_windows()), list(unlucky_number()), list(unlucky_zero())])
def test_numbers(events: list[Event]) -> None:
    path = PROGRAMS / "tcp_tracking.efsm"
    machine = Machine(path.read_text())
    with Soft(path) as soft:
        for time, (side, packet, passes) in enumerate(events):
            result = soft.run(bytes(packet), side, time)
            assert result[0] == (PASS if passes else DROP), f"frame {time}"
            assert result == machine.run(bytes(packet), side, time)


def test_every_row_is_taken() -> None:
    def steps(*parts: Iterator[Event]) -> Iterator[Step]:
        for time, (side, packet, _) in enumerate(event for part in parts for event in part):
            yield time, side, packet

    special = (refused(), changed_mind(INSIDE), changed_mind(OUTSIDE), unlucky_number(), unlucky_zero())
    first, second = (
        steps(*(one.send(side, flags) for side, flags in ((INSIDE, "S"), (OUTSIDE, "SA"), (INSIDE, "A"))))
        for one in (Connection(random.Random(port), port) for port in (5, 6))
    )
    # The second finds the handshake of the first forgotten, which is open; a third finds no room for its own.
    no_room = [
        *first,
        lambda soft: soft.walk(61 * S),
        *((time + 61 * S, side, packet) for time, side, packet in second),
        *steps(Connection(random.Random(7), 7).send(INSIDE, "S")),
    ]
    everything_else = ((side, packet, passes) for packet, passes in others() for side in HOSTS)
    scenes = [(16384, tracked(seed)[1]) for seed in range(6)]
    scenes += [(16384, steps(*special, everything_else)), (1, no_room)]
    assert never_taken("tcp_tracking", scenes) == []
