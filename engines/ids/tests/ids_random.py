# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random rules and random traffic that they match often: a small alphabet, short strings, streams that are made of
pieces of the rules.
"""

from __future__ import annotations

from random import Random

from ids_oracle import Packet, Rule, octets

CLIENT, SERVER = "10.0.0.9", "10.0.0.1"


def word(random: Random, least: int, most: int) -> str:
    return "".join(random.choice(["a", "b", "C", "D", "e", "|00|"]) for _ in range(random.randint(least, most)))


def place(random: Random, length: int, first: bool) -> str:
    """The allowed places of a content."""
    kind = random.randrange(12)
    if kind == 0:
        return f"offset:{random.randint(0, 60)}; "
    if kind == 1:
        return f"depth:{length + random.randint(0, 90)}; "
    if kind == 2:
        return f"offset:{random.randint(0, 12)}; depth:{length + random.randint(0, 60)}; "
    if kind in (3, 4) and not first:
        return f"distance:{random.randint(-9, 6)}; "
    if kind == 5 and not first:
        return f"distance:{random.randint(-3, 3)}; within:{length + random.randint(0, 12)}; "
    if kind in (6, 7) and not first:
        return f"within:{length + random.randint(0, 12)}; "
    return random.choice(["", "", "", "", "startswith; ", "endswith; "])


def rule_text(random: Random, sid: int) -> str:
    """A rule."""
    protocol = random.choice(["tcp", "tcp", "tcp", "udp"])
    options = ""
    for number in range(random.choice([1, 1, 2, 2, 3])):
        if number and random.random() < 0.15:
            kind = random.choice(["a+b", "C[^a]D", "b{2,3}", "e.*D"])
            options += f'pcre:"/{kind}/{random.choice(["s", "sR", "si"])}"; '
            continue
        content = word(random, 1 if random.random() < 0.1 else 3, random.choice([4, 14]))
        negated = number and random.random() < 0.25
        options += f'content:{"!" if negated else ""}"{content}"; '
        options += "nocase; " if random.random() < 0.4 else ""
        options += place(random, len(octets(content)), number == 0)
    if random.random() < 0.1:
        options += f"isdataat:{random.choice(['', '!'])}{random.randint(1, 8)},relative; "
    if random.random() < 0.3:
        options += f"flow:{random.choice(['established', 'to_server', 'to_client', 'established,to_server'])}; "
    if random.random() < 0.1:
        options += f"dsize:{random.choice('<>')}{random.randint(1, 30)}; "
    ports = random.choice([("any", "any"), ("any", "80"), ("80", "any"), ("any", "81")])
    arrow = random.choice(["->", "->", "<>"])
    return f"alert {protocol} any {ports[0]} {arrow} any {ports[1]} ({options}sid:{sid};)"


def stuff(random: Random, rules: list[Rule]) -> bytes:
    """Bytes made of the contents of rules and of similar strings."""
    out = bytearray()
    for _ in range(random.randint(1, 30)):
        steps = [step.data for step in random.choice(rules).steps if hasattr(step, "data")]
        if steps and random.random() < 0.8:
            for data in steps:
                piece = bytearray(data)
                if random.random() < 0.2:
                    piece = bytearray(bytes(piece).swapcase())
                if random.random() < 0.1:
                    piece[random.randrange(len(piece))] ^= 1
                out += piece
                out += bytes(random.choices(b"abCDe\0", k=random.randint(0, 5)))
        else:
            out += bytes(random.choices(b"abCDe\0", k=random.randint(1, 10)))
    return bytes(out)


def cut(random: Random, first: int, text: bytes) -> list[tuple[int, bytes]]:
    """Segments of a stream: cut, sent again, overlapping with other bytes, reordered nearby."""
    segments, at = [], 0
    while at < len(text):
        length = random.choice([1, 2, 3, 5, 8, 13, 40])
        begin = max(0, at - random.choice([0, 0, 0, 0, 1, 4]))
        end = min(len(text), at + length + random.choice([0, 0, 0, 0, 2, 6]))
        segments.append((begin, text[begin:end]))
        if random.random() < 0.1:
            other = bytes(random.choices(b"abCDe", k=end - begin))
            segments.append((begin, random.choice([text[begin:end], other])))
        at += length
    order = sorted(range(len(segments)), key=lambda at: at + random.choice([0, 0, 0, 0, 1.5, 3.5]))
    return [((first + segments[at][0]) % 2**32, segments[at][1]) for at in order]


def connection(random: Random, rules: list[Rule], port: int) -> list[Packet]:
    """A TCP connection, from the handshake to its last segment."""
    client, server = (CLIENT, port), (SERVER, random.choice([80, 81, 82]))
    starts = [random.choice([random.randrange(2**32), 2**32 - random.randint(1, 60)]) for _ in range(2)]
    packets = [
        Packet("tcp", client, server, b"", starts[0], "S"),
        Packet("tcp", server, client, b"", starts[1], "SA"),
        Packet("tcp", client, server, b"", (starts[0] + 1) % 2**32, "A"),
    ]
    queues = []
    for way, (source, target) in enumerate([(client, server), (server, client)]):
        segments = cut(random, (starts[way] + 1) % 2**32, stuff(random, rules))
        queues.append([Packet("tcp", source, target, data, sequence, "PA") for sequence, data in segments])
    while any(queues):
        packets.append(random.choice([queue for queue in queues if queue]).pop(0))
    return packets


def datagrams(random: Random, rules: list[Rule], port: int) -> list[Packet]:
    ends = [(CLIENT, port), (SERVER, random.choice([80, 81]))]
    packets = []
    for _ in range(random.randint(1, 4)):
        source, target = random.sample(ends, 2) if packets else ends
        packets.append(Packet("udp", source, target, stuff(random, rules)[:400], 0, ""))
    return packets


def traffic(random: Random, rules: list[Rule], flows: int) -> list[Packet]:
    """Packets of several flows, mixed."""
    kinds = [connection, connection, datagrams]
    queues = [random.choice(kinds)(random, rules, 2000 + flow) for flow in range(flows)]
    packets = []
    while any(queues):
        packets.append(random.choice([queue for queue in queues if queue]).pop(0))
    return packets
