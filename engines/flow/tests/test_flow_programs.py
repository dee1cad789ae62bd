# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The programs of engines/flow/programs, each against a plain Python model of its purpose: every verdict and every
byte.
"""

from __future__ import annotations

import functools
import heapq
import random
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby

import pytest
from efsm import Machine
from flow_soft import PROGRAMS, Soft
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import ICMP, IP, TCP, UDP, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw

S = 1_000_000
# Without them Scapy asks the network for them.
MACS = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
# With the addresses of this machine it would be another frame on each.
ADDRESS_QUESTION = Ether(**MACS) / ARP(hwsrc=MACS["src"], psrc="10.9.9.1", pdst="10.9.9.2")
PASS, DROP = ("pass",), ("drop",)
# A frame with its time and port.
Step = tuple[int, int, Packet]
Answer = tuple[tuple, Packet]
Model = Callable[[int, int, Packet], Answer]
# The number of contexts of tables, and the frames; in between the host may act.
Scene = tuple[int, Iterable[Step | Callable[[Soft], object]]]


def out(port: int) -> tuple:
    return ("port", port)


def built(packet: Packet) -> Packet:
    """The frame as on the wire, dissected again."""
    return Ether(bytes(packet))


def changed(packet: Packet, **fields: object) -> Packet:
    """A copy with other fields, `layer_field`; lengths and checksums are computed again."""
    packet = packet.copy()
    layers = {"eth": Ether, "ip": IP, "tcp": TCP, "udp": UDP, "mpls": MPLS}
    for name, value in fields.items():
        layer, field = name.split("_")
        setattr(packet[layers[layer]], field, value)
    for layer in (IP, TCP, UDP, ICMP):
        if layer in packet:
            del packet[layer].chksum
    return packet


def play(name: str, model: Model, steps: Iterable[Step], contexts: int = 16384) -> Counter:
    """Sends frames through a program, its interpreter and its model; returns how often each verdict came."""
    path = PROGRAMS / f"{name}.efsm"
    machine = Machine(path.read_text(), contexts)
    steps = [(time, port, packet, bytes(packet)) for time, port, packet in steps]
    seen: Counter = Counter()
    with Soft(path, contexts) as soft:
        results = soft.run_all([(frame, port, time, 0) for time, port, _, frame in steps])
    for number, ((time, port, packet, frame), result) in enumerate(zip(steps, results, strict=True)):
        verdict, expected = model(time, port, built(packet))
        assert result == (verdict, bytes(expected)), f"frame {number} at {time} from port {port}: {packet.summary()}"
        assert machine.run(frame, port, time) == result
        seen[verdict] += 1
    return seen


def never_taken(name: str, scenes: Iterable[Scene]) -> list[tuple[str, int]]:
    """The rows of a program that no scene takes: each its element, and which of its rows."""
    path = PROGRAMS / f"{name}.efsm"
    elements = Machine(path.read_text()).elements
    taken: Counter = Counter()
    for contexts, steps in scenes:
        with Soft(path, contexts) as soft:
            for host, frames in groupby(steps, callable):
                if host:
                    for act in frames:
                        act(soft)
                else:
                    soft.run_all([(bytes(packet), port, time, 0) for time, port, packet in frames])
            for at, element in enumerate(elements):
                rows = soft.counters(at)["rows"]
                assert len(rows) == len(element.rows)
                taken.update({(element.name, number): count for number, count in enumerate(rows)})
    return [(one.name, number) for one in elements for number in range(len(one.rows)) if not taken[one.name, number]]


def tcp(src: str, dst: str, sport: int, dport: int, flags: str = "S", **more: int) -> Packet:
    return Ether(**MACS) / IP(src=src, dst=dst) / TCP(sport=sport, dport=dport, flags=flags, **more)


def udp(src: str, dst: str, sport: int, dport: int, data: bytes = b"hello") -> Packet:
    return Ether(**MACS) / IP(src=src, dst=dst) / UDP(sport=sport, dport=dport) / Raw(data)


def words(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "big") for value in values)


# --- Port knocking ---


class Knocking:
    """A host knocks at four doors, each within a second of the last; then port 22 is open for a minute. Nothing else
    comes in but ARP.
    """

    DOORS = (5123, 6234, 7345, 8456)

    def __init__(self) -> None:
        self.hosts: dict[str, tuple[int, int]] = {}

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        if port == 1 or ARP in packet:
            return out(port ^ 1), packet
        # The whole header of TCP, in the first fragment if there are several.
        if IP not in packet or TCP not in packet or packet[IP].frag or len(packet[TCP]) < 20 or is_hidden(packet):
            return DROP, packet
        host, door = packet[IP].src, packet[TCP].dport
        stage, until = self.hosts.get(host, (0, 0))
        if stage and time >= until:
            stage = 0
        if stage == 4:
            return (PASS if door == 22 else DROP), packet
        stage = stage + 1 if door == self.DOORS[stage] else 0
        self.hosts[host] = (stage, time + (60 if stage == 4 else 1) * S)
        return DROP, packet


def knocks() -> Iterable[Step]:
    def to(host: str, door: int) -> Packet:
        return tcp(host, "10.0.0.1", 1024, door)

    # Right, with another host's frames in between; then to 22 and elsewhere; until it is closed again.
    for at, door in enumerate(Knocking.DOORS):
        yield at * 900_000, 0, to("1.1.1.1", door)
        yield at * 900_000 + 1, 0, to("2.2.2.2", 22)
    opened = 3 * 900_000
    for after in (1, 30 * S, 60 * S - 1, 60 * S, 60 * S + 1):
        yield opened + after, 0, to("1.1.1.1", 22)
        yield opened + after, 0, to("1.1.1.1", 80)
    # Just in time, and at one of the doors too slow by nothing at all.
    for slow in range(4):
        now = opened + (100 + 10 * slow) * S
        for at, door in enumerate(Knocking.DOORS):
            now += S if at == slow else S - 1
            yield now, 0, to(f"3.3.3.{slow}", door)
        yield now + 5, 0, to(f"3.3.3.{slow}", 22)
    yield 300 * S, 0, udp("1.1.1.1", "10.0.0.1", 1, 22)
    yield 300 * S, 0, ADDRESS_QUESTION
    # Ways around the doors, for hosts that have knocked and for others: hidden headers, IPv6, a SYN in pieces (RFC
    # 1858).
    for at, door in enumerate(Knocking.DOORS):
        yield 301 * S + at, 0, to("8.8.8.8", door)
    for packet in deep(TCP(sport=1024, dport=22, flags="S")):
        yield 302 * S, 0, packet
    for host, size in (("8.8.8.8", 8), ("9.9.9.9", 8), ("8.8.8.8", 24)):
        for piece in fragment(to(host, 22) / Raw(bytes(20)), fragsize=size):
            yield 303 * S, 0, piece
    # The server's answer.
    yield 303 * S, 1, tcp("10.0.0.1", "8.8.8.8", 22, 1024, "SA")
    yield 303 * S, 1, tcp("10.0.0.1", "9.9.9.9", 22, 1024, "SA")
    yield 303 * S, 1, ADDRESS_QUESTION
    chance, time, doors = random.Random(1), 400 * S, {"4.4.4.4": 0, "5.5.5.5": 0}
    for _ in range(1000):
        time += chance.choice((1000, 100_000, 400_000))
        host = chance.choice(list(doors))
        # Mostly the next door, and when all are open some frames to port 22.
        doors[host] = (doors[host] + 1) % 20
        right = (*Knocking.DOORS, *[22] * 16)[doors[host] - 1]
        yield time, 0, to(host, right if chance.random() < 0.95 else chance.choice(Knocking.DOORS))


def test_port_knocking() -> None:
    seen = play("port_knocking", Knocking(), knocks())
    assert seen[PASS] > 50 and seen[DROP] > 50


# --- UDP firewall ---


def deep(payload: Packet) -> Iterable[Packet]:
    """TCP or UDP behind more and more headers: extensions of IPv6, VLAN tags, MPLS labels; then in an IPv4 packet whose
    header is damaged.
    """
    ether, ip = Ether(**MACS), IP(src="8.8.8.8", dst="10.0.0.1")
    for extensions in (0, 1, 4, 5, 6):
        packet = Ether(**MACS, type=0x86DD) / IPv6(src="2001:db8::8", dst="2001:db8::1")
        for _ in range(extensions):
            packet /= IPv6ExtHdrDestOpt()
        yield packet / payload
    yield ether / Dot1Q(vlan=1) / Dot1Q(vlan=2) / ip / payload
    yield ether / Dot1Q(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / ip / payload
    yield ether / Dot1AD(vlan=1) / Dot1Q(vlan=2) / Dot1AD(vlan=3) / ip / payload
    for labels in (1, 2):
        packet = Ether(**MACS, type=0x8847)
        for left in reversed(range(labels)):
            packet /= MPLS(label=16, s=int(left == 0), ttl=9)
        yield packet / ip / payload
    yield ether / IP(src="8.8.8.8", dst="10.0.0.1", ihl=4) / payload


def is_hidden(packet: Packet) -> bool:
    """Whether there is more in front of the ports than inline engines parse (engines/flow/language.md), or the frame is
    damaged.
    """
    names = [layer.__name__ for layer in packet.layers()]
    tags, extensions = names.count("Dot1Q") + names.count("Dot1AD"), sum(name.startswith("IPv6Ext") for name in names)
    return tags > 2 or names.count("MPLS") > 1 or extensions > 4 or (IP in packet and packet[IP].ihl < 5)


class UdpFirewall:
    """UDP enters only between hosts of which the inner one has sent, up to 30 s after a question and 120 s after any
    frame of a conversation.
    """

    def __init__(self) -> None:
        self.talks: dict[frozenset, tuple[int, int]] = {}

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        inside = port == 1
        layer = IP if IP in packet else IPv6 if IPv6 in packet else None
        verdict = out(port ^ 1)
        if is_hidden(packet):
            return verdict if inside else DROP, packet
        if layer and UDP in packet and not (layer is IP and packet[IP].frag):
            ends = frozenset({(packet[layer].src, packet[UDP].sport), (packet[layer].dst, packet[UDP].dport)})
            patience, last = self.talks.get(ends, (0, 0))
            alive = patience and time < last + patience * S
            if inside:
                self.talks[ends] = (patience if alive else 30, time)
            elif alive:
                self.talks[ends] = (120, time)
            else:
                verdict = DROP
        elif layer is IP and packet[IP].proto == 17 and not inside:
            verdict = DROP
        return verdict, packet


def conversations() -> Iterable[Step]:
    def six(src: str, dst: str, sport: int, dport: int) -> Packet:
        return Ether(**MACS, type=0x86DD) / IPv6(src=src, dst=dst) / UDP(sport=sport, dport=dport) / Raw(b"hi")

    yield 0, 0, udp("8.8.8.8", "10.0.0.1", 53, 4000)
    yield 1, 1, udp("10.0.0.1", "8.8.8.8", 4000, 53)
    yield 2, 0, udp("8.8.8.8", "10.0.0.1", 53, 4001)
    yield 3, 0, udp("8.8.8.8", "10.0.0.1", 53, 4000)
    yield 3 + 120 * S - 1, 0, udp("8.8.8.8", "10.0.0.1", 53, 4000)
    yield 3 + 240 * S - 1, 0, udp("8.8.8.8", "10.0.0.1", 53, 4000)
    yield 400 * S, 1, udp("10.0.0.1", "8.8.8.8", 4000, 53)
    yield 430 * S, 0, udp("8.8.8.8", "10.0.0.1", 53, 4000)
    for piece in fragment(udp("8.8.8.8", "10.0.0.1", 53, 4000, bytes(64)), fragsize=24):
        yield 431 * S, 0, piece
        yield 432 * S, 1, piece
    yield 433 * S, 0, Ether(**MACS) / IP() / ICMP()
    yield 433 * S, 0, ADDRESS_QUESTION
    # From outside, from inside, and back.
    for port, payload in (
        (0, UDP(sport=1, dport=2)),
        (0, TCP()),
        (1, UDP(sport=2, dport=1)),
        (0, UDP(sport=1, dport=2)),
    ):
        for packet in deep(payload):
            if port:
                for layer in (IP, IPv6):
                    if layer in packet:
                        packet[layer].src, packet[layer].dst = packet[layer].dst, packet[layer].src
            yield 434 * S, port, packet
    chance, time = random.Random(2), 500 * S
    for _ in range(1500):
        time += chance.choice((1, 1, 1, S, S, 5 * S, 29 * S, 119 * S))
        ends = [(chance.choice("12"), chance.choice((53, 54))), (chance.choice("34"), 4000)]
        chance.shuffle(ends)
        (a, sport), (b, dport) = ends
        if chance.random() < 0.4:
            yield time, chance.choice((0, 1)), six(f"2001:db8::{a}", f"2001:db8::{b}", sport, dport)
        else:
            yield time, chance.choice((0, 1)), udp(f"10.0.0.{a}", f"10.0.0.{b}", sport, dport)


def test_udp_firewall() -> None:
    seen = play("udp_firewall", UdpFirewall(), conversations())
    assert seen[out(1)] > 50 and seen[DROP] > 50


# --- Server load balancer ---


class Balancer:
    """New connections go to the servers in turn, and stay there."""

    SERVERS = ("10.0.0.2", "10.0.0.3", "10.0.0.4")

    def __init__(self, room: int) -> None:
        self.room, self.turn = room, 0
        self.bound: dict[tuple, list[int]] = {}

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        if TCP in packet and port == 0 and packet[IP].dst == "192.0.2.1" and packet[TCP].dport == 80:
            key = (packet[IP].src, packet[TCP].sport)
            if key in self.bound and time >= self.bound[key][1] + 20 * S:
                del self.bound[key]
            if key not in self.bound:
                if len(self.bound) == self.room:
                    return DROP, packet
                self.bound[key] = [self.turn, time]
                self.turn = (self.turn + 1) % 3
            self.bound[key][1] = time
            return out(1), changed(packet, ip_dst=self.SERVERS[self.bound[key][0]])
        if TCP in packet and port == 1 and packet[IP].src in self.SERVERS and packet[TCP].sport == 80:
            return out(0), changed(packet, ip_src="192.0.2.1")
        if TCP not in packet and IP in packet and packet[IP].proto == 6:
            # Its owner is unknown.
            to_service, from_server = packet[IP].dst == "192.0.2.1", packet[IP].src in self.SERVERS
            if from_server if port else to_service:
                return DROP, packet
        return out(port ^ 1), packet


def clients() -> Iterable[Step]:
    chance, time = random.Random(3), 0
    for _ in range(1200):
        time += chance.choice((1, 1000, S, 6 * S))
        host, sport = f"198.51.100.{chance.randint(1, 3)}", chance.choice((1000, 1001, 1002))
        yield time, 0, tcp(host, "192.0.2.1", sport, 80, chance.choice(("S", "A", "FA")))
        yield (
            time + 1,
            1,
            tcp(chance.choice((*Balancer.SERVERS, "10.0.0.9")), host, chance.choice((80, 22)), sport, "SA"),
        )
        if chance.random() < 0.1:
            yield time + 1, 0, tcp(host, "192.0.2.1", sport, 443)
            ends = [chance.choice(("192.0.2.1", "192.0.2.2", *Balancer.SERVERS)), host]
            chance.shuffle(ends)
            for piece in fragment(tcp(*ends, 80, 80) / Raw(bytes(40)), fragsize=24)[1:]:
                yield time + 1, chance.choice((0, 1)), piece
            yield time + 1, 0, ADDRESS_QUESTION


def test_load_balancer() -> None:
    seen = play("load_balancer", Balancer(16384), clients())
    assert seen[out(0)] > 500 and seen[out(1)] > 500 and seen[DROP] > 50


def crowd() -> Iterable[Step]:
    # An expired context takes up room until the walker visits it, so all frames are within 20 s.
    return [(at, 0, tcp("198.51.100.1", "192.0.2.1", 1000 + at % 7, 80)) for at in range(30)]


def test_load_balancer_full() -> None:
    assert play("load_balancer", Balancer(5), crowd(), contexts=5)[DROP] == 8


# --- Flowlets ---


class Flowlets:
    """Averages of the traffic from both spines, reports of other leaves, and a way for each burst."""

    def __init__(self) -> None:
        self.average = [0, 0]
        self.reported = {(uplink, leaf): 0 for uplink in (0, 1) for leaf in (2, 3)}
        self.flows: dict[tuple, tuple[int, int]] = {}
        self.since = [0, 0]

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        l4 = TCP if TCP in packet else UDP if UDP in packet else None
        if port < 2:
            self.average[port] += (len(packet) - self.average[port]) >> 3
            if MPLS in packet and l4:
                self.reported[port, packet[MPLS].cos] = packet[MPLS].label
                bare = packet.copy()
                bare[Ether].remove_payload()
                bare[Ether].type = 0x0800
                return out(2), bare / packet[IP]
            return out(2), packet
        if IP not in packet or packet[IP].dst.split(".")[1] not in {"2", "3"}:
            return DROP, packet
        if not l4:
            return out(0), packet
        leaf = int(packet[IP].dst.split(".")[1])
        key = (packet[IP].src, packet[IP].dst, l4, packet[l4].sport, packet[l4].dport)
        uplink, last = self.flows.get(key, (0, -S))
        if time >= last + 500:
            uplink = 1 if self.reported[1, leaf] < self.reported[0, leaf] else 0
        self.flows[key] = (uplink, time)
        if self.since[uplink] < 15:
            self.since[uplink] += 1
            return out(uplink), packet
        self.since[uplink] = 0
        labelled = packet.copy()
        labelled[Ether].remove_payload()
        labelled[Ether].type = 0x8847
        return out(uplink), labelled / MPLS(label=self.average[uplink], cos=1, s=1, ttl=packet[IP].ttl) / packet[IP]


def bursts() -> Iterable[Step]:
    chance, time = random.Random(4), 0
    for _ in range(2000):
        time += chance.choice((1, 1, 10, 499, 500, 501))
        kind = chance.random()
        if kind < 0.6:
            packet = udp("10.1.0.1", f"10.{chance.choice('23')}.0.1", chance.choice((1, 2, 3)), 7)
            yield time, 2, packet
        elif kind < 0.8:
            yield time, chance.choice((0, 1)), tcp("10.2.0.1", "10.1.0.1", 9, 9) / Raw(bytes(chance.randint(0, 1000)))
        elif kind < 0.95:
            inner = udp("10.2.0.1", "10.1.0.1", 9, 9, bytes(chance.randint(0, 100)))
            label = MPLS(label=chance.randint(0, 1000), cos=chance.choice((2, 3)), s=1, ttl=64)
            yield time, chance.choice((0, 1)), Ether(**MACS, type=0x8847) / label / inner[IP]
        else:
            yield (
                time,
                chance.choice((0, 1, 2)),
                chance.choice(
                    (
                        ADDRESS_QUESTION,
                        Ether(**MACS) / IP(src="10.1.0.1", dst="10.3.0.1") / ICMP(),
                        udp("10.1.0.1", "9.9.9.9", 1, 1),
                    )
                ),
            )


def test_flowlets() -> None:
    seen = play("flowlets", Flowlets(), bursts())
    assert min(seen[out(0)], seen[out(1)], seen[out(2)]) > 100


# --- Policer ---


class Bucket:
    """Ten tokens at most, one more each millisecond: in thousandths of a token, so that nothing is rounded."""

    def __init__(self) -> None:
        self.hosts: dict[str, tuple[int, int]] = {}

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        tokens, last = self.hosts.get(packet[IP].src, (10_000, time))
        tokens = min(10_000, tokens + time - last)
        verdict = PASS if tokens >= 1000 else DROP
        self.hosts[packet[IP].src] = (tokens - 1000 if verdict == PASS else tokens, time)
        return verdict, packet


def bursts_of_hosts(start: int) -> Iterable[Step]:
    chance, time = random.Random(5), start
    for _ in range(1500):
        time += chance.choice(
            (*[0] * 12, 1, 100, 500, 999, 1000, 1001, 5000, chance.choice((1, 9_000, 10_000, 20_000, 30_000)))
        )
        yield time, 0, udp(f"10.0.0.{chance.choice('1112')}", "10.9.9.9", 1, 1)


@pytest.mark.parametrize("start", (0, (1 << 32) - 200_000, (1 << 31) - 200_000))
def test_policer(start: int) -> None:
    seen = play("policer", Bucket(), bursts_of_hosts(start))
    assert seen[PASS] > 100 and seen[DROP] > 100


def test_policer_forgets() -> None:
    """A silence of half the range of 32 bits of microseconds: if contexts did not end, the past would look like the
    future.
    """
    packet = udp("10.0.0.1", "10.9.9.9", 1, 1)
    times = [*[0] * 11, *[(1 << 31) + 5000] * 11]
    assert play("policer", Bucket(), [(time, 0, packet) for time in times]) == {PASS: 20, DROP: 2}


# --- Big flows ---


class Big:
    """From the 101st on, frames of a flow are marked, and still report congestion."""

    def __init__(self) -> None:
        self.flows: dict[tuple, tuple[int, int]] = {}

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        l4 = TCP if TCP in packet else UDP
        key = (packet[IP].src, packet[IP].dst, l4, packet[l4].sport, packet[l4].dport)
        count, last = self.flows.get(key, (0, time))
        count = 1 if time >= last + 10 * S else count + 1
        self.flows[key] = (count, time)
        return PASS, changed(packet, ip_tos=4 | packet[IP].tos & 3) if count > 100 else packet


def few_flows() -> Iterable[Step]:
    chance, marks, time = random.Random(6), random.Random(60), 0
    for _ in range(2500):
        time += chance.choice((1, 1, 1000, S)) if chance.random() < 0.998 else 11 * S
        make = tcp if chance.random() < 0.5 else udp
        packet = make("10.0.0.1", "10.0.0.2", chance.choice((1, 1, 1, 2)), 80)
        packet[IP].tos = marks.choice((0, 1, 2, 3, 0xB8, 0xFF))
        yield time, 0, packet


def test_big_flows() -> None:
    model = Big()
    play("big_flows", model, few_flows())
    assert max(count for count, _ in model.flows.values()) > 100


# --- SYN flood ---


class SynFlood:
    """More than 100 SYNs in the second that begins with the first: banned for a minute."""

    def __init__(self) -> None:
        self.hosts: dict[str, tuple[int, int]] = {}
        self.banned: dict[str, int] = {}

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        host = packet[IP].src
        if time < self.banned.get(host, 0):
            return DROP, packet
        if TCP in packet and packet[TCP].flags.S and not packet[TCP].flags.A:
            first, count = self.hosts.get(host, (-S, 0))
            first, count = (time, 1) if time >= first + S else (first, count + 1)
            self.hosts[host] = (first, count)
            if count > 100:
                self.banned[host] = time + 60 * S
                del self.hosts[host]
                return DROP, packet
        return PASS, packet


def syns() -> Iterable[Step]:
    chance, time = random.Random(7), 0
    for _ in range(4000):
        time += chance.choice((0, 10, 1000, 5000)) if chance.random() < 0.999 else chance.choice((S, 61 * S))
        host = chance.choice(("6.6.6.6", "6.6.6.6", "6.6.6.6", "7.7.7.7"))
        kind = chance.random()
        packet = tcp(host, "10.0.0.1", 1, 80, "S" if kind < 0.8 else chance.choice(("A", "SA", "R")))
        yield time, 0, packet if kind < 0.95 else udp(host, "10.0.0.1", 1, 1)
    # An answer begins no second.
    for at in range(101):
        yield time + at, 0, tcp("8.8.8.8", "10.0.0.1", 1, 80, "S" if at else "SA")


def test_syn_flood() -> None:
    seen = play("syn_flood", SynFlood(), syns())
    assert seen[PASS] > 500 and seen[DROP] > 500


def test_syn_flood_from_everywhere() -> None:
    """A full table: a banned host stays banned."""
    with Soft(PROGRAMS / "syn_flood.efsm") as soft:
        evil = bytes(tcp("6.6.6.6", "10.0.0.1", 1, 80))
        verdicts = [soft.run(evil, 0, at)[0] for at in range(101)]
        assert verdicts == [PASS] * 100 + [DROP]
        one = bytes(tcp("7.0.0.0", "10.0.0.1", 1, 80))
        others = [(bytes(one[:27]) + at.to_bytes(3, "big") + bytes(one[30:]), 0, 200 + at, 0) for at in range(20_000)]
        assert {verdict for verdict, _ in soft.run_all(others)} == {PASS}
        assert soft.run(evil, 0, 30 * S)[0] == DROP
        counters = soft.counters()
        assert counters["contexts"] == 15_000 and counters["evicted"] == 20_001 - 15_000 and counters["unkept"] == 0


# --- Optimistic ACKs ---


class Optimist:
    """No host may acknowledge data that the other side has not sent."""

    def __init__(self) -> None:
        self.sent: dict[frozenset, dict[str, int]] = {}
        # The number with which the other side has begun.
        self.first: dict[frozenset, int] = {}
        self.caught: set[frozenset] = set()

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        flags, seq = packet[TCP].flags, packet[TCP].seq
        key = frozenset({(packet[IP].src, packet[TCP].sport), (packet[IP].dst, packet[TCP].dport)})
        if key in self.caught:
            return DROP, packet
        me, other = packet[IP].src, packet[IP].dst
        if flags.S and flags.A and (key not in self.sent or seq != self.first[key]):
            self.sent[key], self.first[key] = {me: (seq + 1) % 2**32, other: packet[TCP].ack}, seq
            return PASS, packet
        if key not in self.sent:
            return PASS, packet
        if flags.R:
            del self.sent[key]
            return PASS, packet
        if flags.A and self.ahead(packet[TCP].ack, self.sent[key][other]):
            self.caught.add(key)
            return DROP, packet
        length = len(packet[TCP].payload) + int(bool(flags.F))
        end = (seq + length) % 2**32
        if self.ahead(end, self.sent[key][me]):
            self.sent[key][me] = end
        return PASS, packet

    @staticmethod
    def ahead(one: int, other: int) -> bool:
        """Whether a number is ahead of another, by less than half of all numbers."""
        return (one - other) % 2**32 in range(1, 1 << 31)


def transfers(chance: random.Random) -> Iterable[Step]:
    """Connections that carry data both ways; some acknowledge too much."""
    time = 0
    for sport in range(40):
        ends = {"c": ("10.0.0.1", sport + 1), "s": ("10.0.0.2", 80)}
        # Many pass 2^31 or 2^32.
        number = {side: chance.choice((1 << 31, 1 << 32, 1 << 32)) - chance.randint(0, 1500) for side in "cs"}
        other = {"c": "s", "s": "c"}

        def segment(
            side: str, flags: str, data: int = 0, more: int = 0, ends: dict = ends, number: dict = number
        ) -> Packet:
            there = "s" if side == "c" else "c"
            packet = tcp(
                ends[side][0],
                ends[there][0],
                ends[side][1],
                ends[there][1],
                flags,
                seq=number[side] % 2**32,
                ack=(number[there] + more) % 2**32,
            )
            return packet / Raw(bytes(data)) if data else packet

        def begin(number: dict = number) -> Iterable[Packet]:
            for side, flags in (("c", "S"), ("s", "SA")):
                yield segment(side, flags)
                number[side] += 1

        answer: Packet | None = None
        if sport % 5:
            for answer in begin():
                yield time, 0, answer
        for round_ in range(20):
            time += 1000
            if answer and chance.random() < 0.1:
                # Comes again, late.
                yield time, 0, answer
            if sport % 7 == 6 and round_ == 10:
                # One side has lost its state, and begins again.
                number |= {side: chance.getrandbits(32) for side in number}
                for answer in begin():
                    yield time, 0, answer
            side, data = chance.choice("cs"), chance.choice((0, 10, 100))
            yield time, 0, segment(side, "A", data)
            if chance.random() < 0.2:
                yield time, 0, segment(side, "A", data)
            if chance.random() < 0.8:
                number[side] += data
        if sport % 3 == 0:
            yield time, 0, segment(chance.choice("cs"), "A", 0, chance.choice((0, 1, 1000)))
        if sport % 4 == 0:
            yield time, 0, segment("c", chance.choice(("R", "RA")))
        else:
            yield time, 0, segment("c", "FA")
            number["c"] += 1
            yield time, 0, segment("s", "FA")
            number["s"] += 1
            yield time, 0, segment("c", "A", 0, chance.choice((0, 0, 1)))
        yield time, 0, segment(chance.choice("cs"), "A")
        assert other


@pytest.mark.parametrize("seed", range(5))
def test_optimistic_ack(seed: int) -> None:
    seen = play("optimistic_ack", Optimist(), transfers(random.Random(seed)))
    assert seen[PASS] > 500 and seen[DROP] >= 4


# --- Super-spreaders ---


class Spreader:
    """A host may have 100 open connections; a host with more must close half of them, or wait for five minutes. A host
    that is silent for that long is forgotten.
    """

    def __init__(self) -> None:
        self.open: Counter = Counter()
        self.last: Counter = Counter()
        self.shut: dict[str, int] = {}

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        host, flags = packet[IP].src, packet[TCP].flags
        if port != 1:
            return PASS, packet
        if time >= self.shut.get(host, self.last[host]) + 300 * S:
            self.open[host] = 0
            self.shut.pop(host, None)
        if flags.S and not flags.A:
            if self.open[host] >= 100 and host not in self.shut:
                self.shut[host] = time
                return DROP, packet
            if host in self.shut and self.open[host] > 50:
                return DROP, packet
            self.shut.pop(host, None)
            self.open[host] += 1
        elif flags.F or flags.R:
            self.open[host] = max(0, self.open[host] - 1)
        self.last[host] = time
        return PASS, packet


def spreads() -> Iterable[Step]:
    chance, time = random.Random(8), 0
    for at in range(4000):
        phase = (at // 1000) % 2
        time += 1000 if chance.random() < 0.998 else chance.choice((100, 200, 299, 300)) * S
        flags = chance.choices(("S", "FA", "R", "A", "SA"), ((8, 2, 1, 1, 1), (3, 6, 2, 1, 1))[phase])[0]
        port = chance.choice((1, 1, 1, 0))
        yield time, port, tcp(f"10.0.0.{chance.choice('1112')}", "9.9.9.9", 1, 1, flags)


def test_super_spreader() -> None:
    seen = play("super_spreader", Spreader(), spreads())
    assert seen[DROP] > 50


def test_super_spreader_may_come_back() -> None:
    """A host whose connections were all refused goes on asking."""
    times = [*range(101), *(240 * S * n for n in range(1, 101))]
    seen = play("super_spreader", Spreader(), [(time, 1, tcp("10.0.0.1", "9.9.9.9", 1, 1)) for time in times])
    assert seen[DROP] == 2


def test_super_spreader_who_only_sends() -> None:
    """With 100 open connections that are used for longer than silence is remembered, no more can be opened."""
    steps = [(at, 1, tcp("10.0.0.1", "9.9.9.9", 1 + at, 80)) for at in range(100)]
    steps += [(at * S, 1, tcp("10.0.0.1", "9.9.9.9", at, 80, "A")) for at in range(1, 901, 299)]
    steps += [(901 * S, 1, tcp("10.0.0.1", "9.9.9.9", 200, 80))]
    assert play("super_spreader", Spreader(), steps) == {PASS: 104, DROP: 1}


def test_super_spreader_full() -> None:
    """With a table that one host fills no other begins a connection; all else of it passes."""
    path = PROGRAMS / "super_spreader.efsm"
    machine = Machine(path.read_text(), 1)
    other = Ether(**MACS) / IP(src="10.0.0.2", dst="9.9.9.9")
    with Soft(path, 1) as soft:
        for packet, verdict in (
            (tcp("10.0.0.1", "9.9.9.9", 1, 80), PASS),
            (tcp("10.0.0.2", "9.9.9.9", 1, 80), DROP),
            (tcp("10.0.0.2", "9.9.9.9", 1, 80, "A"), PASS),
            (tcp("10.0.0.2", "9.9.9.9", 1, 80, "FA"), PASS),
            (udp("10.0.0.2", "9.9.9.9", 1, 53), PASS),
            (other / ICMP(), PASS),
            (tcp("10.0.0.1", "9.9.9.9", 2, 80), PASS),
        ):
            result = soft.run(bytes(packet), 1, 0)
            assert result == (verdict, bytes(packet)) and result == machine.run(bytes(packet), 1, 0), packet.summary()


# --- NAT ---


class Nat:
    """Each flow from inside keeps a public port while it sends, whatever arrives for it; answers must come from its
    destination.
    """

    PUBLIC = "203.0.113.1"

    def __init__(self) -> None:
        # For each flow its port, its deadline, and whether its connection has ended; for each port its flow and its
        # deadline.
        self.ports: dict[tuple, tuple[int, int, bool]] = {}
        self.flows: dict[tuple[int, type], tuple[tuple, int]] = {}
        self.next = 1024

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        l4 = TCP if TCP in packet else UDP if UDP in packet else None
        if IP not in packet:
            return PASS, packet
        if l4 is None:
            return DROP, packet
        name = "tcp" if l4 is TCP else "udp"
        flow = (packet[IP].src, packet[l4].sport, packet[IP].dst, packet[l4].dport)
        if port == 1:
            public, until, ended = self.ports.get((*flow, l4), (0, 0, False))
            established = False
            if time >= until:
                public, self.next, ended = self.next, 1024 if self.next == 65535 else self.next + 1, False
            elif l4 is TCP:
                # Established connections are kept for long; connections that begin or have ended are not.
                begins, ends = packet[TCP].flags.S, packet[TCP].flags.F or packet[TCP].flags.R
                ended = not begins if ended else bool(ends)
                established = not begins and not ended
            patience = 3999 if established else 300
            self.ports[*flow, l4] = (public, time + patience * S, ended)
            owner, taken = self.flows.get((public, l4), (flow, 0))
            if owner != flow and time < taken:
                return DROP, packet
            self.flows[public, l4] = (flow, time + (patience + 1) * S)
            return out(0), changed(packet, ip_src=self.PUBLIC, **{f"{name}_sport": public})
        if packet[IP].dst != self.PUBLIC or (packet[l4].dport, l4) not in self.flows:
            return DROP, packet
        (inside, sport, outside, dport), until = self.flows[packet[l4].dport, l4]
        if time >= until:
            return DROP, packet
        if (outside, dport) != (packet[IP].src, packet[l4].sport):
            return DROP, packet
        return out(1), changed(packet, ip_dst=inside, **{f"{name}_dport": sport})


def sessions() -> Iterable[Step]:
    # A NAT for the generator alone, so that answers go to ports that were assigned.
    chance, time, nat = random.Random(9), 0, Nat()
    for at in range(2500):
        # The last pauses are so long that connections end.
        pauses = (150, 299) if at < 2000 else (2000, 3999)
        time += chance.choice((1, 1000, S, S)) if chance.random() < 0.99 else chance.choice(pauses) * S
        make = chance.choice((tcp, udp))
        if chance.random() < 0.5:
            packet = make(f"192.168.0.{chance.choice('12')}", f"9.9.9.{chance.choice('12')}", chance.choice((5, 6)), 80)
            if make is tcp:
                packet[TCP].flags = chance.choice(("S", "A", "A", "A", "PA", "FA", "R"))
            nat(time, 1, packet)
            yield time, 1, packet
        else:
            public = chance.choice((Nat.PUBLIC, Nat.PUBLIC, Nat.PUBLIC, "192.168.0.1"))
            number = max(1024, nat.next - chance.randint(0, 16))
            yield time, 0, make(f"9.9.9.{chance.choice('12')}", public, chance.choice((80, 80, 81)), number)
    yield time, 1, ADDRESS_QUESTION
    yield time, 0, Ether(**MACS) / IP() / ICMP()
    yield time, 1, Ether(**MACS) / IP(src="192.168.0.1", dst="9.9.9.9") / ICMP()
    for piece in fragment(udp("192.168.0.1", "9.9.9.9", 5, 80, bytes(64)), fragsize=24)[1:]:
        yield time, 1, piece
    yield time, 1, Ether(**MACS, type=0x86DD) / IPv6() / UDP()


def test_nat() -> None:
    seen = play("nat", Nat(), sessions())
    assert min(seen[out(0)], seen[out(1)], seen[DROP]) > 10


def test_nat_keeps_no_port_for_strangers() -> None:
    """Only the owner of a port keeps it in use, not the hosts that send to it."""
    path = PROGRAMS / "nat.efsm"
    machine = Machine(path.read_text())
    ask, answer = udp("192.168.0.1", "9.9.9.9", 5, 80), udp("9.9.9.9", Nat.PUBLIC, 80, 1024)
    foreign = udp("6.6.6.6", Nat.PUBLIC, 80, 1024)
    with Soft(path) as soft:

        def play(steps: list[tuple[int, int, Packet, tuple]]) -> None:
            for time, port, packet, verdict in steps:
                result = soft.run(bytes(packet), port, time)
                assert result[0] == verdict and result == machine.run(bytes(packet), port, time), time
            soft.walk(time)

        play(
            [
                (0, 1, ask, out(0)),
                (290 * S, 0, foreign, DROP),
                (299 * S, 1, ask, out(0)),
                (580 * S, 0, foreign, DROP),
                (590 * S, 0, answer, out(1)),
                (600 * S, 0, answer, DROP),
                (601 * S, 1, ask, out(0)),
            ]
        )
        # The last one has a new port, and the old one is free.
        assert [port for port, _ in soft.contexts(1)] == [1025]
        answer, foreign = changed(answer, udp_dport=1025), changed(foreign, udp_dport=1025)
        play([(890 * S, 0, answer, out(1)), (901 * S, 0, foreign, DROP), (902 * S, 0, answer, DROP)])
        assert soft.contexts(0) == soft.contexts(1) == {}


def test_nat_keeps_connections() -> None:
    """An idle connection keeps its port for more than an hour, but not before it is established nor
    when it has ended.
    """

    def ports(*segments: tuple[int, str]) -> list[int]:
        """The ports with which segments leave, each with its time in seconds and its flags."""
        steps = [(time * S, 1, tcp("192.168.0.1", "9.9.9.9", 5, 80, flags)) for time, flags in segments]
        play("nat", Nat(), steps)
        with Soft(PROGRAMS / "nat.efsm") as soft:
            return [Ether(soft.run(bytes(packet), port, time)[1])[TCP].sport for time, port, packet in steps]

    assert ports((0, "S"), (299, "A"), (4297, "A"), (8296, "A")) == [1024, 1024, 1024, 1025]
    assert ports((0, "S"), (299, "S"), (599, "A")) == [1024, 1024, 1025]
    for end in ("FA", "R"):
        assert ports((0, "S"), (1, "A"), (2, end), (3, "A"), (302, "A"), (602, "A")) == [1024] * 5 + [1025]
        assert ports((0, "S"), (2, end), (3, "S"), (4, "A"), (4002, "A")) == [1024] * 5


def test_nat_has_no_room() -> None:
    """A flow that finds the table full gets no port, and no port is lost."""
    path = PROGRAMS / "nat.efsm"
    machine = Machine(path.read_text(), 5)
    with Soft(path, 5) as soft:

        def ports(flows: Iterable[int], time: int) -> list[int]:
            """The ports that flows leave with; 0: none."""
            found = []
            for flow in flows:
                frame = bytes(udp("192.168.0.1", "9.9.9.9", flow, 80))
                verdict, left = result = soft.run(frame, 1, time)
                assert result == machine.run(frame, 1, time)
                found.append(Ether(left)[UDP].sport if verdict == out(0) else 0)
            return found

        assert ports([*range(8), 3], 0) == [1024, 1025, 1026, 1027, 1028, 0, 0, 0, 1027]
        # The table of ports has room a second earlier than the table of flows; the flow keeps its port.
        for time, wanted in ((300 * S, 0), (301 * S, 1029)):
            soft.walk(time)
            machine.walk(time)
            assert ports([100], time) == [wanted]


@functools.cache
def first_of_many() -> bytes:
    return bytes(udp("192.168.0.1", "9.9.9.9", 5, 80))


def many_flows(flow: int) -> bytes:
    """A frame of one of more flows than there are ports."""
    one = first_of_many()
    return one[:29] + bytes([flow // 60_000]) + one[30:34] + (flow % 60_000).to_bytes(2, "big") + one[36:]


def test_nat_runs_out_of_ports() -> None:
    """The last port is followed by the first; a port of another flow is assigned to none until it is free."""
    with Soft(PROGRAMS / "nat.efsm") as soft:
        # Slowly, so that flows whose ports are used again have ended, and the table never has more than half of its
        # contexts. The first flow keeps its port; it differs only in its source from the flow that gets the same port.
        gap, kept = 40_000, 4512
        flows = range(65536 - 1024 + 3)
        ports, told = [], 0
        for first in range(0, len(flows), 1000):
            soft.walk(first * gap)
            assert soft.run(many_flows(kept), 1, first * gap)[0] == out(0)
            frames = [(many_flows(flow), 1, flow * gap, 0) for flow in flows[first : first + 1000]]
            for verdict, result in soft.run_all(frames):
                ports.append(int.from_bytes(result[34:36], "big") if verdict == out(0) else 0)
            told += sum(event["kind"] == "Notified" for event in soft.events())
        assert (
            ports[:3] == [1025, 1026, 1027] and ports[kept] == 1024 and ports[64510:] == [65534, 65535, 0, 1025, 1026]
        )
        # However often it asks, the port is its own when the other has been silent for long enough.
        late, silent = many_flows(64512), 64_000 * gap
        assert soft.globals(0)[0] == 1027 and told == 1
        assert [soft.run(late, 1, silent + after * S)[0] for after in (100, 200, 300)] == [DROP] * 3
        verdict, result = soft.run(late, 1, silent + 301 * S)
        assert verdict == out(0) and int.from_bytes(result[34:36], "big") == 1024


# --- Quotas ---


class Quota:
    """100,000 bytes for each subscriber who has sent something; the frame that exhausts the quota still passes."""

    def __init__(self) -> None:
        self.left: Counter = Counter()

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        if IP in packet:
            host = packet[IP].src if port == 1 else packet[IP].dst
            if port != 1 and host not in self.left:
                return DROP, packet
            if self.left.setdefault(host, 100_000) < 0:
                return DROP, packet
            self.left[host] -= len(packet)
        return out(port ^ 1), packet


def subscribers() -> Iterable[Step]:
    chance = random.Random(10)
    for at in range(4):
        yield at, at % 2, udp(f"10.0.0.{3 + at % 2}", f"10.0.0.{3 + at % 2}", 1, 1)
    for at in range(4, 800):
        ends = [f"10.0.0.{chance.choice('12')}", "9.9.9.9"]
        port = chance.choice((0, 1))
        source, destination = ends if port == 1 else ends[::-1]
        yield at, port, udp(source, destination, 1, 1, bytes(chance.randint(0, 1400)))
    yield 900, 0, ADDRESS_QUESTION


def test_quota() -> None:
    seen = play("quota", Quota(), subscribers())
    assert seen[DROP] > 100


def test_quota_is_topped_up() -> None:
    subscriber = 0x0A000001
    with Soft(PROGRAMS / "quota.efsm") as soft:
        frame = bytes(udp("10.0.0.1", "9.9.9.9", 1, 1, bytes(1358)))
        assert len(frame) == 1400
        verdicts = [soft.run(frame, 1, at)[0] for at in range(80)]
        # 71 frames leave 600 bytes, the 72nd takes them; 58 leave less than 20,001.
        assert verdicts == [out(0)] * 72 + [DROP] * 8
        told = [(event["kind"], event["registers"][0]) for event in soft.events() if event["kind"] == "Notified"]
        assert told == [("Notified", 100_000 - 59 * 1400), ("Notified", (100_000 - 72 * 1400) % 2**32)]
        assert soft.insert(1, [subscriber], 2, [5000]) == "done"
        assert [soft.run(frame, 1, at)[0] for at in range(100, 106)] == [out(0)] * 4 + [DROP] * 2
        soft.events()
        # A host that had little traffic, or none, and then has much is reported again.
        for state in (1, 2):
            assert soft.insert(1, [subscriber], state, [50_000]) == "done"
            assert [soft.run(frame, 1, 150)[0] for _ in range(40)] == [out(0)] * 36 + [DROP] * 4
            told = [event["registers"][0] for event in soft.events() if event["kind"] == "Notified"]
            assert told == [50_000 - 23 * 1400, (50_000 - 36 * 1400) % 2**32]
        assert soft.remove(1, [subscriber]) == "done" and soft.contexts(1) == {}
        assert soft.run(frame, 1, 200)[0] == out(0)


# --- Paxos ---

REQUEST, P1A, P1B, P2A, P2B = range(5)


def message(kind: int, instance: int, number: int, voted: int, sender: int, value: int) -> Packet:
    return udp("10.0.0.1", "10.0.0.2", 7, 34952, words(kind, instance, number, voted, sender, value))


class Coordinator:
    """Gives requests their numbers."""

    def __init__(self) -> None:
        self.given = 0

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        load = bytes(packet[UDP].payload)
        if packet[UDP].dport == 34952 and load[:4] == words(REQUEST):
            self.given += 1
            packet = changed(packet)
            packet[UDP].payload = Raw(words(P2A, self.given, 1) + load[12:])
        return out(port ^ 1), packet


def requests() -> Iterable[Step]:
    chance = random.Random(11)
    for at in range(100):
        yield at, 0, message(chance.choice((REQUEST, P1A, P2B)), 0, 0, 0, 0, at)
    yield 200, 1, udp("1.1.1.1", "2.2.2.2", 1, 34951, words(REQUEST, 0, 0))


def test_paxos_coordinator() -> None:
    model = Coordinator()
    play("paxos_coordinator", model, requests())
    assert model.given > 20


class Acceptor:
    """Promises and votes, of each instance."""

    def __init__(self) -> None:
        self.promised: Counter = Counter()
        self.votes: dict[int, tuple[int, int]] = {}

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        if packet[UDP].dport != 34952:
            return out(port ^ 1), packet
        load = bytes(packet[UDP].payload)
        kind, instance, number, _, _, value = (int.from_bytes(load[at : at + 4], "big") for at in range(0, 24, 4))
        if kind not in {P1A, P2A}:
            return out(port ^ 1), packet
        if number < self.promised[instance]:
            return DROP, packet
        self.promised[instance] = number
        if kind == P1A:
            voted, value = self.votes.get(instance, (0, 0))
            answer = changed(
                packet, eth_src=packet.dst, eth_dst=packet.src, ip_src=packet[IP].dst, ip_dst=packet[IP].src
            )
            answer[UDP].sport, answer[UDP].dport = packet[UDP].dport, packet[UDP].sport
            answer[UDP].payload = Raw(words(P1B, instance, number, voted, 1, value))
            return out(port), answer
        self.votes[instance] = (number, value)
        vote = changed(packet)
        vote[UDP].payload = Raw(words(P2B, instance, number, number, 1, value))
        return out(port ^ 1), vote


def messages() -> Iterable[Step]:
    chance = random.Random(12)
    for at in range(1500):
        kind = chance.choice((P1A, P1A, P2A, P2A, REQUEST, P1B))
        yield at, 0, message(kind, chance.randint(1, 20), chance.randint(0, 8), 0, 0, chance.randint(1, 1000))
    yield 2000, 0, udp("1.1.1.1", "2.2.2.2", 1, 1, words(P1A, 1, 9, 0, 0, 0))


def test_paxos_acceptor() -> None:
    seen = play("paxos_acceptor", Acceptor(), messages())
    assert min(seen[out(0)], seen[out(1)], seen[DROP]) > 20


def test_paxos_agrees() -> None:
    """Three acceptors, proposers that overtake each other, lost messages: a decision never changes."""
    path = PROGRAMS / "paxos_acceptor.efsm"
    chance, time, decided = random.Random(13), 0, {}
    with Soft(path) as one, Soft(path) as two, Soft(path) as three:
        for attempt in range(1, 60):
            instance, promises, votes = chance.randint(1, 4), [], 0
            number, value = chance.choice((attempt, max(1, attempt - 3))), 1000 + attempt
            for acceptor in (one, two, three):
                time += 1
                verdict, answer = acceptor.run(bytes(message(P1A, instance, number, 0, 0, 0)), 0, time)
                if verdict == out(0) and chance.random() < 0.8:
                    load = bytes(Ether(answer)[UDP].payload)
                    promises.append((int.from_bytes(load[12:16], "big"), int.from_bytes(load[20:24], "big")))
            if len(promises) < 2:
                continue
            voted, earlier = max(promises)
            # A number that was used before for another value is no number of this proposer's.
            if voted == number:
                continue
            value = earlier if voted else value
            for acceptor in (one, two, three):
                time += 1
                if chance.random() < 0.8:
                    votes += acceptor.run(bytes(message(P2A, instance, number, 0, 0, value)), 0, time)[0] == out(1)
            if votes >= 2:
                assert decided.setdefault(instance, value) == value
    assert decided


# --- Key-value cache ---


GET, SET, RESPONSE = 1, 2, 3


class Cache:
    """Answers with the store's first answer since two seconds after the last SET, unless there was no request for it in
    a minute.
    """

    def __init__(self) -> None:
        self.cached: dict[bytes, bytes] = {}
        self.last: Counter = Counter()
        self.changed: dict[bytes, int] = {}

    def __call__(self, time: int, port: int, packet: Packet) -> Answer:
        load = bytes(packet[UDP].payload)
        kind, key = int.from_bytes(load[:4], "big"), load[4:12]
        if key in self.cached and time >= self.last[key] + 60 * S:
            del self.cached[key]
        if port == 1 and packet[UDP].sport == 11211 and kind == RESPONSE:
            if key not in self.cached and time >= self.changed.get(key, -2 * S) + 2 * S:
                self.cached[key], self.last[key] = load[12:20], time
        elif port == 0 and packet[UDP].dport == 11211:
            if kind == GET and key in self.cached:
                self.last[key] = time
                answer = changed(
                    packet, eth_src=packet.dst, eth_dst=packet.src, ip_src=packet[IP].dst, ip_dst=packet[IP].src
                )
                answer[UDP].sport, answer[UDP].dport = 11211, packet[UDP].sport
                answer[UDP].payload = Raw(words(RESPONSE) + key + self.cached[key])
                return out(0), answer
            if kind == SET:
                self.cached.pop(key, None)
                self.changed[key] = time
        return out(port ^ 1), packet


def lookups() -> Iterable[Step]:
    chance, time = random.Random(14), 0
    for _ in range(1500):
        time += 1 if chance.random() < 0.8 else chance.choice((1, 2, 2, 29, 30, 60)) * S
        load = words(
            chance.choice((GET, GET, GET, SET, RESPONSE, RESPONSE)),
            0,
            chance.randint(0, 5),
            chance.getrandbits(32),
            chance.getrandbits(32),
        )
        store, other = chance.choice((11211, 11211, 9)), chance.choice((4000, 4000, 11211))
        if chance.random() < 0.5:
            yield time, 1, udp("10.0.0.9", "10.0.0.1", store, other, load)
        else:
            yield time, 0, udp("10.0.0.1", "10.0.0.9", other, store, load)


def lookup(kind: int, key: int) -> Packet:
    return udp("10.0.0.1", "10.0.0.9", 4000, 11211, words(kind, 0, key, 0, 0))


def test_kvs_cache() -> None:
    seen = play("kvs_cache", Cache(), lookups())
    assert min(seen.values()) > 100


class Network:
    """Clients and a store with the cache between them; messages overtake each other, and get lost. Values are versions,
    which the store gives with each SET.
    """

    def __init__(self, chance: random.Random, cache: Soft) -> None:
        self.chance, self.cache = chance, cache
        self.stored: Counter[int] = Counter()
        self.confirmed: Counter[int] = Counter()
        # For each request, by its client's port: its kind, its key, and the value that was confirmed when it was made.
        self.asked: list[tuple[int, int, int]] = []
        # Time, order among equal times, receiver, and message.
        self.coming: list[tuple[int, int, str, Packet]] = []
        self.sent = self.hits = 0

    def send(self, time: int, to: str, packet: Packet) -> None:
        self.sent += 1
        if self.chance.random() < 0.97:
            late = self.chance.choice((10, 1000, self.chance.randrange(S)))
            heapq.heappush(self.coming, (time + late, self.sent, to, packet))

    def ask(self, time: int, kind: int, key: int) -> None:
        self.asked.append((kind, key, self.confirmed[key]))
        port = len(self.asked) - 1
        self.send(time, "cache 0", udp("10.0.0.1", "10.0.0.9", port, 11211, words(kind, 0, key, 0, 0)))

    def take(self, time: int, to: str, packet: Packet) -> None:
        load = bytes(packet[UDP].payload)
        kind, key, version = (int.from_bytes(load[at : at + 4], "big") for at in (0, 8, 16))
        if to == "store":
            self.stored[key] += kind == SET
            load = words(RESPONSE, 0, key, 0, self.stored[key])
            self.send(time, "cache 1", udp("10.0.0.9", "10.0.0.1", 11211, packet[UDP].sport, load))
        elif to == "client":
            kind, key, confirmed = self.asked[packet[UDP].dport]
            assert version >= confirmed, f"key {key} at {time}"
            if kind == SET:
                self.confirmed[key] = max(self.confirmed[key], version)
        else:
            verdict, left = self.cache.run(bytes(packet), int(to[-1]), time)
            self.hits += (to, verdict) == ("cache 0", out(0))
            self.send(time, "client" if verdict == out(0) else "store", Ether(left))


@pytest.mark.parametrize("seed", range(3))
def test_kvs_cache_gives_nothing_older_than_was_confirmed(seed: int) -> None:
    chance, time = random.Random(seed), 0
    with Soft(PROGRAMS / "kvs_cache.efsm") as soft:
        network = Network(chance, soft)
        for _ in range(2000):
            time += chance.choice((1, 1000, 100_000, S))
            while network.coming and network.coming[0][0] <= time:
                at, _, to, packet = heapq.heappop(network.coming)
                network.take(at, to, packet)
            network.ask(time, SET if chance.random() < 0.15 else GET, chance.choice((1, 2)))
    assert network.hits > 100 and network.stored.total() > 200


# --- No room ---


def question6(src: str, dst: str) -> Packet:
    return Ether(**MACS, type=0x86DD) / IPv6(src=src, dst=dst) / UDP(sport=4000, dport=53)


# A program, a port, a frame of a flow that fills its table, a frame of another flow, and the fate of the first.
NO_ROOM: list[tuple[str, int, Packet, Packet, tuple]] = [
    ("udp_firewall", 1, udp("10.0.0.1", "8.8.8.8", 4000, 53), udp("10.0.0.1", "8.8.8.8", 4001, 53), out(0)),
    ("udp_firewall", 1, question6("2001:db8::1", "2001:db8::2"), question6("2001:db8::1", "2001:db8::3"), out(0)),
    ("policer", 0, udp("10.0.0.1", "10.9.9.9", 1, 1), udp("10.0.0.2", "10.9.9.9", 1, 1), PASS),
    ("super_spreader", 1, tcp("10.0.0.1", "9.9.9.9", 1, 1), tcp("10.0.0.2", "9.9.9.9", 1, 1), PASS),
    ("quota", 1, udp("10.0.0.1", "9.9.9.9", 1, 1), udp("10.0.0.2", "9.9.9.9", 1, 1), out(0)),
    ("paxos_acceptor", 0, message(P2A, 1, 1, 0, 0, 7), message(P2A, 2, 1, 0, 0, 7), out(1)),
    ("kvs_cache", 0, lookup(SET, 1), lookup(SET, 2), out(1)),
    ("tcp_tracking", 1, tcp("10.0.0.1", "9.9.9.9", 1, 1), tcp("10.0.0.1", "9.9.9.9", 2, 1), PASS),
]


@pytest.mark.parametrize(("program", "port", "known", "new", "verdict"), NO_ROOM)
def test_no_room(program: str, port: int, known: Packet, new: Packet, verdict: tuple) -> None:
    """With a table that one flow fills: the next is dropped, and the first is not harmed."""
    path = PROGRAMS / f"{program}.efsm"
    machine = Machine(path.read_text(), 1)
    with Soft(path, 1) as soft:
        for time, (packet, wanted) in enumerate([(known, verdict), (new, DROP), (known, verdict), (new, DROP)]):
            result = soft.run(bytes(packet), port, time)
            assert result[0] == wanted and result == machine.run(bytes(packet), port, time)


# The frames and the model for each program; tcp_tracking has tests of its own (test_flow_tcp.py).
SEQUENCES: dict[str, Callable[[], tuple[Model, Iterable[Step]]]] = {
    "big_flows": lambda: (Big(), few_flows()),
    "flowlets": lambda: (Flowlets(), bursts()),
    "kvs_cache": lambda: (Cache(), lookups()),
    "load_balancer": lambda: (Balancer(16384), clients()),
    "nat": lambda: (Nat(), sessions()),
    "optimistic_ack": lambda: (Optimist(), transfers(random.Random(0))),
    "paxos_acceptor": lambda: (Acceptor(), messages()),
    "paxos_coordinator": lambda: (Coordinator(), requests()),
    "policer": lambda: (Bucket(), bursts_of_hosts(0)),
    "port_knocking": lambda: (Knocking(), knocks()),
    "quota": lambda: (Quota(), subscribers()),
    "super_spreader": lambda: (Spreader(), spreads()),
    "syn_flood": lambda: (SynFlood(), syns()),
    "udp_firewall": lambda: (UdpFirewall(), conversations()),
}


def few_ports() -> Iterable[Scene]:
    """NAT with tables of five contexts, then with all ports given, one of them to a flow that the
    host has put there.
    """

    def asks(time: int, flow: int) -> Step:
        return time, 1, udp("192.168.0.1", "9.9.9.9", flow, 80)

    # Places of the first table are free a second earlier than those of the second.
    yield 5, [*(asks(0, flow) for flow in range(8)), lambda soft: soft.walk(300 * S), asks(300 * S, 100)]
    frames = [(0, 1, many_flows(flow)) for flow in range(65536 - 1024)]
    yield 1 << 17, [lambda soft: soft.insert(1, [1025, 17], 1, [1, 1, 1, 1]), *frames]


def credits() -> Iterable[Step | Callable[[Soft], object]]:
    """A quota that is exhausted, and the host's changes of it: states, and the amount that is left."""
    frame = udp("10.0.0.1", "9.9.9.9", 1, 1, bytes(1358))
    for state, left in ((0, 2**32 - 1), (1, 50_000), (2, 5000), (2, 50_000)):
        yield from [(0, 1, frame)] * 80
        yield lambda soft, state=state, left=left: soft.insert(1, [0x0A000001], state, [left])
    yield 0, 1, frame


# In addition to the frames of a program's test.
MORE: dict[str, Callable[[], Iterable[Scene]]] = {
    "load_balancer": lambda: [(5, crowd())],
    "nat": few_ports,
    "quota": lambda: [(16384, credits())],
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_every_row_is_taken(name: str) -> None:
    scenes: list[Scene] = [(16384, SEQUENCES[name]()[1])]
    scenes += [(1, [(0, port, known), (0, port, new)]) for program, port, known, new, _ in NO_ROOM if program == name]
    scenes += MORE[name]() if name in MORE else []
    assert never_taken(name, scenes) == []
