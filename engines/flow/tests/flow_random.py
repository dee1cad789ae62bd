# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random programs and the frames for them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from scapy.contrib.mpls import MPLS
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

T = TypeVar("T")

# Few values, so that flows meet and comparisons go both ways.
PORTS = (80, 443, 5123)
WORDS = (0, 1, 7, 100)
KEYS = (
    "ip.src",
    "ip.src, ip.dst",
    "5tuple",
    "biflow(5tuple)",
    "biflow(5tuple6)",
    "biflow(ip.src, ip.dst, l4.proto)",
    "biflow(eth.src, eth.dst, vlan.id)",
    "meta0, port",
    "tcp.dport, ip6.src, ip6.dst",
    "data.0",
)
READ = (
    "port len time hash meta0 meta1 eth.type vlan.id vlan.pcp vlan2.tci mpls.label mpls.tc ip.src ip.dst ip.proto "
    "ip.tos ip.ttl ip.len ip.id "
    "ip.frag ip6.class ip6.label ip6.hops ip6.len ip6.proto tcp.sport tcp.dport tcp.seq tcp.ack tcp.flags "
    "tcp.window tcp.len tcp.syn tcp.ack_flag "
    "tcp.fin tcp.rst udp.sport udp.dport udp.len icmp.type icmp.code l4.sport l4.dport l4.proto data.0 data.1 data.7"
).split()
BITS = {"vlan.pcp": 3, "mpls.tc": 3, "port": 8, "vlan.id": 12, "mpls.label": 20, "ip6.label": 20} | {
    name: 8
    for name in "ip.proto ip.tos ip.ttl ip6.class ip6.hops ip6.proto tcp.flags icmp.type icmp.code l4.proto".split()
}
BITS |= {name: 1 for name in ("tcp.syn", "tcp.ack_flag", "tcp.fin", "tcp.rst")}
BITS |= {name: 32 for name in "time hash meta0 meta1 ip.src ip.dst tcp.seq tcp.ack data.0 data.1 data.7".split()}
SET = (
    "meta0 meta1 vlan.id vlan.pcp vlan2.tci mpls.label mpls.tc mpls.ttl ip.src ip.dst ip.tos ip.ttl ip.id "
    "ip6.class ip6.label ip6.hops tcp.sport "
    "tcp.dport tcp.seq tcp.ack tcp.flags tcp.window tcp.syn udp.sport udp.dport icmp.type icmp.code l4.sport "
    "l4.dport data.0 data.1"
).split()
HEADERS = ("vlan", "vlan2", "mpls", "ip", "ip6", "tcp", "udp", "icmp", "fragment")


class Writer:
    """Writes a program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def program(self) -> str:
        elements = self.random.randint(1, 3)
        return "\n".join(self.element(at, elements) for at in range(elements))

    def element(self, at: int, elements: int) -> str:
        self.keyed = self.random.random() < 0.85
        self.states = [f"S{n}" for n in range(self.random.randint(1, 4))] if self.keyed else []
        self.flow = [f"r{n}" for n in range(self.random.randint(0, 4))] if self.keyed else []
        self.globals = [f"g{n}" for n in range(self.random.choice((0, 0, 1, 3)))]
        self.behind = [f"e{n}" for n in range(at + 1, elements)]
        lines = [f"element e{at} {{"]
        if self.keyed:
            lines.append(f"key {self.random.choice(KEYS)}")
            lines.append(f"states {', '.join(self.states)}")
            if self.random.random() < 0.5:
                evict = self.random.choice(("", "", "evict lowest", "evict highest")) if self.flow else ""
                lines.append(f"table {self.random.randint(1, 4)} {evict}")
        for kind, names in (("flow", self.flow), ("global", self.globals)):
            if names:
                lines.append(f"{kind} {', '.join(f'{name} = {self.random.choice(WORDS)}' for name in names)}")
        # Each state is entered from the one before it, so that all are reached if that row can match.
        for state, after in zip(self.states, self.states[1:], strict=False):
            lines.append(f"in {state} {{ {self.tests(1)} => goto {after} {self.timeouts()} }}")
        for _ in range(self.random.randint(1, 6)):
            row = f"{self.tests(self.random.randint(0, 3))} => {self.actions()}"
            if self.keyed and self.random.random() < 0.6:
                states = self.random.sample(self.states, self.random.randint(1, len(self.states)))
                row = f"in {', '.join(states)} {{ {row} }}"
            lines.append(row)
        return "\n".join([*lines, "}"])

    def number(self, bits: int) -> int:
        return self.random.choice((*WORDS, *PORTS, 6, 17, self.random.getrandbits(32))) & ((1 << bits) - 1)

    def operand(self) -> str:
        kind = self.random.random()
        if kind < 0.5 and self.flow + self.globals:
            return self.random.choice(self.flow + self.globals)
        return self.random.choice(READ) if kind < 0.8 else str(self.number(32))

    def tests(self, count: int) -> str:
        return " && ".join(self.test() for _ in range(count)) or "else"

    def test(self) -> str:
        kind = self.random.random()
        if kind < 0.15:
            return self.random.choice(("", "", "!")) + self.random.choice(HEADERS)
        if kind < 0.2 and self.keyed:
            return self.random.choice(("", "!")) + self.random.choice(("new", "full"))
        if kind < 0.3:
            return (
                self.random.choice(("", "!"))
                + f"{self.random.choice(('ip.src', 'ip.dst'))} in 10.0.0.{2 * self.random.randint(0, 1)}/31"
            )
        if kind < 0.6:
            name = self.random.choice(READ)
            bits = BITS.get(name, 16)
            if self.random.random() < 0.3:
                mask = self.random.getrandbits(bits) or 1
                return f"{name} & {mask} {self.random.choice(('==', '!='))} {self.random.getrandbits(bits) & mask}"
            return f"{name} {self.random.choice(('==', '!=', '<', '<=', '>', '>='))} {self.number(bits)}"
        compare = self.random.choice(("==", "!=", "<", "<=", ">", ">=", "<s", ">=s", "before"))
        return f"{self.operand()} {compare} {self.operand()}"

    def timeouts(self) -> str:
        text = ""
        for kind in ("for", "idle"):
            if self.random.random() < 0.4:
                text += f" {kind} {self.random.choice(('1 us', '50 us', '1 ms', '3 s'))}"
                if self.random.random() < 0.3:
                    text += f" then {self.random.choice(self.states)}"
        return text

    def expression(self) -> str:
        a, b = self.operand(), self.operand()
        operation = self.random.choice(
            ("", "+", "-", "&", "|", "^", "<<", ">>", "ror", "*", "not", "min", "max", "ewma")
        )
        if operation == "":
            return a
        if operation == "not":
            return f"not {a}"
        if operation in {"min", "max"}:
            return f"{operation}({a}, {b})"
        if operation == "ewma":
            return f"ewma({a}, {b}, {self.random.randint(0, 31)})"
        return f"{a} {operation} {b}"

    def actions(self) -> str:
        actions = []
        forgets = self.keyed and self.random.random() < 0.15
        if forgets:
            actions.append("forget")
        elif self.keyed and self.random.random() < 0.4:
            target = self.random.choice((*(f"goto {state}" for state in self.states), "keep"))
            actions.append(target + self.timeouts())
        registers = self.globals + ([] if forgets else self.flow)
        for name in self.random.sample(registers, self.random.randint(0, len(registers))):
            actions.append(f"{name} = {self.expression()}")
        for _ in range(self.random.choice((0, 1, 1, 2, 3))):
            actions.append(self.edit())
        if self.random.random() < 0.2:
            actions.append("notify")
        verdicts = [
            "pass",
            "port 3",
            f"port {self.operand()}",
            "opposite",
            "host",
            "drop",
            *(f"next {name}" for name in self.behind),
        ]
        if not actions or self.random.random() < 0.7:
            actions.append(self.random.choice(verdicts))
        self.random.shuffle(actions)
        return ", ".join(actions)

    def edit(self) -> str:
        kind = self.random.random()
        if kind < 0.15:
            return f"swap {self.random.choice(('eth', 'ip', 'ip6', 'l4'))}"
        if kind < 0.3:
            tag = self.random.choice(("vlan", "mpls"))
            return self.random.choice(
                (
                    f"pop {tag}",
                    f"push {tag} {self.number(12)}",
                    f"push {tag} {self.random.choice(('meta0', 'l4.dport'))}",
                )
            )
        if kind < 0.4:
            return self.random.choice(
                ("eth.src = 02:00:00:00:00:09", "eth.dst = eth.src", "ip6.src = 2001:db8::9", "ip6.dst = ip6.src")
            )
        name = self.random.choice(SET)
        if self.random.random() < 0.3:
            return f"{name} = {self.number(BITS.get(name, 8 if name == 'mpls.ttl' else 16))}"
        if self.random.random() < 0.5:
            return f"{name} = {self.expression()}"
        return f"{name} = {self.random.choice([*self.flow, *self.globals, 'time', 'ip.src', 'hash'])}"


def without_refused(text: str, path: Path, compile_: Callable[[Path], T | str]) -> tuple[str, T] | None:
    """A program without the rows that the compiler refuses, such as those that never fit, and what it is compiled to;
    None when something else of it is refused. The compiler answers with a message when it refuses a program: never a
    panic, always a place.
    """
    lines = text.split("\n")
    while True:
        path.write_text("\n".join(lines))
        told = compile_(path)
        if not isinstance(told, str):
            return "\n".join(lines), told
        assert told.startswith(f"{path}:"), told
        refused = int(told.removeprefix(f"{path}:").split(":")[0]) - 1
        if "=>" not in lines[refused]:
            return None
        del lines[refused]


class Traffic:
    """Frames of few flows, at increasing times."""

    # The ends of addresses.
    hosts: Sequence[str] = "123"
    hosts6: Sequence[str] = "12"

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.time = self.random.choice((0, 1 << 31, (1 << 32) - 500))

    def frame(self) -> tuple[bytes, int, int, int]:
        """A frame, its port, its time and its flow hash."""
        self.time += self.random.choice((0, 0, 1, 1, 10, 49, 50, 51, 900, 1000, 100_000, 3_000_000))
        data = bytes(self.packet())
        if self.random.random() < 0.05:
            data = data[: self.random.randint(14, len(data))]
        return data, self.random.randint(0, 3), self.time, self.random.choice(WORDS)

    def packet(self) -> Packet:
        choice = self.random.choice
        packet: Packet = Ether(src=f"02:00:00:00:00:0{choice('12')}", dst=f"02:00:00:00:00:0{choice('12')}")
        tags = choice((0, 0, 0, 1, 2))
        for at in range(tags):
            packet /= Dot1Q(vlan=choice((1, 7, 100)), prio=choice((0, 7)), type=0x8100 if at + 1 < tags else 0x0800)
        label = self.random.random() < 0.15
        if label:
            packet /= MPLS(label=choice((7, 100, 0xFFFFF)), cos=choice((0, 1, 7)), s=1, ttl=choice((1, 64)))
        six = self.random.random() < 0.3
        kind = 0x8847 if label else 0x86DD if six else 0x0800
        (packet.getlayer(Dot1Q, tags) if tags else packet[Ether]).type = kind
        if six:
            packet /= IPv6(
                src=f"2001:db8::{choice(self.hosts6)}",
                dst=f"2001:db8::{choice(self.hosts6)}",
                hlim=choice((1, 64)),
                tc=choice((0, 8)),
            )
            if self.random.random() < 0.2:
                packet /= choice((IPv6ExtHdrDestOpt(), IPv6ExtHdrFragment(offset=choice((0, 1)), m=1)))
        else:
            packet /= IP(
                src=f"10.0.0.{choice(self.hosts)}",
                dst=f"10.0.0.{choice(self.hosts)}",
                ttl=choice((1, 64)),
                tos=choice((0, 7)),
                id=choice(WORDS),
            )
            if self.random.random() < 0.1:
                packet[IP].flags, packet[IP].frag = "MF", choice((0, 1))
        ports = {"sport": choice(PORTS), "dport": choice(PORTS)}
        transport = choice(("tcp", "tcp", "udp", "udp", "icmp"))
        if transport == "tcp":
            flags = choice((0x02, 0x12, 0x10, 0x11, 0x14, 0x18))
            packet /= TCP(
                **ports,
                seq=choice((*WORDS, 1 << 31)),
                ack=choice((*WORDS, 1 << 31)),
                flags=flags,
                window=choice((0, 7, 8192)),
            )
        elif transport == "udp":
            packet /= UDP(**ports, chksum=choice((None, None, 0)) if not six else None)
        elif not six:
            packet /= ICMP(type=choice((0, 8)))
        words = b"".join(choice(WORDS).to_bytes(4, "big") for _ in range(choice((0, 1, 2, 8, 20))))
        return packet / Raw(words + bytes(choice((0, 0, 1))))
