# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Connections that begin and end in every way: both targets report the same.

Random ends send SYN, FIN and RST when they like, begin again on the same ports, send fragments and wrong checksums, and
data before, between and after these. On rtl the card tells its host some of the frames only; native code sees all.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from ids_random import CLIENT, SERVER
from scapy.layers.inet import ICMP, IP, TCP, UDP, fragment
from scapy.layers.l2 import Ether
from system import ROOT, TARGETS, run_design, write_capture
from test_design_ids import records

DESIGN = ROOT / "designs/ids.toml"
CONTENTS = [b"alpha-one", b"bravo-two", b"charlie-3"]
# Rounds of a campaign; the suite has the short form.
ROUNDS = int(os.environ.get("PENSTOCK_ROUNDS", "3"))


@dataclass(frozen=True)
class Mix:
    """How often the frames of a mix are of each kind, and what happens to them."""

    kinds: dict[str, int]
    midstream: bool = False  # connections may begin without a SYN
    new_start: float = 0.0  # share of SYNs with a sequence number of their own
    lost: float = 0.0  # share of frames of a connection that never come
    wrong: float = 0.0  # share of segments with a wrong checksum
    cut: float = 0.0  # share of packets in fragments


COMMON = {"data": 12, "udp": 1, "ping": 1}
MIXES = {
    "syn again": Mix({**COMMON, "syn": 4}),
    "reset": Mix({**COMMON, "rst": 1, "empty": 3}),
    "everything": Mix(
        {**COMMON, "syn": 4, "fin": 2, "rst": 1, "again": 1, "empty": 3, "odd": 1}, True, 0.7, 0.1, 0.06, 0.12
    ),
}


def rules() -> list[str]:
    """Rules about flags, about the state and the ends of flows, about strings, and with memory between them."""
    options = []
    for flags in ("S", "SA", "F+", "R+", "A", "0", "!S", "*SF", "PA"):
        options.append(f"tcp any any -> any any (flags:{flags};")
    options += [
        "tcp any any -> any 80 (flags:S; flowbits:set,begun;",
        'tcp any any -> any any (flowbits:isset,begun; content:"alpha-one";',
        'tcp any any -> any any (flowbits:isnotset,begun; content:"alpha-one";',
        "tcp any any -> any any (flags:F+; flowint:ends,+,1;",
        'tcp any any -> any any (flowint:ends,>,1; content:"bravo-two";',
        "tcp any any -> any any (flow:established; dsize:>8;",
        "tcp any any -> any any (flow:not_established; dsize:>8;",
        "icmp any any -> any any (itype:8;",
        "ip any any -> any any (ip_proto:17; dsize:9;",
    ]
    for word in CONTENTS:
        for flow in ("", "flow:to_server; ", "flow:established,to_client; ", "flow:not_established; "):
            options.append(f'tcp any any -> any any ({flow}content:"{word.decode()}";')
    options.append('tcp any any -> any any (flow:stateless; content:"alpha"; startswith;')
    options.append('http any any -> any any (http.uri; content:"/alpha-one";')
    return [f"alert {option} sid:{number};)" for number, option in enumerate(options, 1)]


class End:
    """An end of a connection."""

    def __init__(self, random: Random) -> None:
        self.next = random.choice([random.randrange(2**32), 2**32 - random.randint(1, 40)])


def frames(random: Random, mix: Mix, count: int) -> list[bytes]:
    """Frames of a few connections, mixed."""
    ends: dict[tuple[int, int, bool], End] = {}
    begun: set[tuple[int, int]] = set()
    out: list[bytes] = []
    while len(out) < count:
        client, server = random.choice([4000, 4001, 4002]), random.choice([80, 80, 81])
        of_client = random.random() < 0.6
        kind = random.choices(list(mix.kinds), list(mix.kinds.values()))[0]
        if kind not in ("udp", "ping") and (client, server) not in begun and not mix.midstream:
            if not of_client:
                continue
            kind = "syn"
            begun.add((client, server))
        me = ends.setdefault((client, server, of_client), End(random))
        other = ends.setdefault((client, server, not of_client), End(random))
        ip = IP(src=CLIENT, dst=SERVER) if of_client else IP(src=SERVER, dst=CLIENT)
        ip.id = random.randrange(2**16)
        ports = {"sport": client if of_client else server, "dport": server if of_client else client}
        if kind == "udp":
            packet = ip / UDP(**ports) / random.choice([b"nine more", b"alpha-one" * 3])
        elif kind == "ping":
            packet = ip / ICMP(type=random.choice([0, 8])) / b"alpha-one"
        else:
            data = b""
            if kind in ("data", "again") or random.random() < 0.15:
                word = random.choice(CONTENTS)
                data = random.choice([word, word[:5], word[5:], b"." * random.randint(1, 60) + word])
                if random.random() < 0.1:
                    data = b"GET /" + word + b" HTTP/1.1\r\n\r\n"
            flags = {
                "syn": "S" if of_client or random.random() < 0.3 else "SA",
                "fin": random.choice(["FA", "FA", "F"]),
                "rst": random.choice(["R", "RA"]),
                "odd": random.choice(["", "SF", "SFRPAU", "P"]),
            }.get(kind, random.choice(["A", "PA", "PA"]))
            if "S" in flags and random.random() < mix.new_start:
                me.next = random.randrange(2**32)
            sequence = me.next - (random.randint(1, 12) if kind == "again" else 0)
            tcp = TCP(flags=flags, seq=sequence % 2**32, ack=other.next, **ports)
            if random.random() < mix.wrong:
                tcp.chksum = random.randrange(2**16)
            packet = ip / tcp / data
            if "R" not in flags and random.random() >= mix.lost:
                me.next = (sequence + len(data) + ("S" in flags) + ("F" in flags)) % 2**32
        pieces = fragment(packet, fragsize=random.choice([8, 24, 32])) if random.random() < mix.cut else [packet]
        if len(pieces) > 1 and random.random() < 0.5:
            random.shuffle(pieces)
        ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
        out += [bytes(ether / piece).ljust(60, b"\0") for piece in pieces]
    return out


def reports(target: str, capture: Path, texts: list[str], folder: Path) -> list[dict[str, Any]]:
    folder.mkdir()
    (folder / "my.rules").write_text("\n".join(texts) + "\n")
    options: list[str | Path] = ["--rules", folder / "my.rules", "--eve", folder / "eve.json"]
    run = run_design(DESIGN, [capture], folder / "out", target, *options)
    assert run.status == 0, run.stderr
    return records(folder / "eve.json")[0]


def compare(name: str, seed: int, folder: Path) -> None:
    """Sends the frames of a mix through both targets."""
    random = Random(7000 + seed)
    texts = rules()
    capture = write_capture(folder / "in.pcap", frames(random, MIXES[name], 150))
    # Few rules leave more frames on the card than all of them.
    chosen = texts if seed % 2 else sorted(random.sample(texts, 5))
    soft, rtl = (reports(target, capture, chosen, folder / target) for target in TARGETS)
    assert len(soft) > 10, "hardly any rule matches"
    found = [
        sorted(
            (
                alert["timestamp"],
                alert["alert"]["signature_id"],
                alert.get("src_port", 0),
                alert.get("direction", ""),
                alert["flow_id"],
            )
            for alert in alerts
        )
        for alerts in (soft, rtl)
    ]
    missing, more = [[one for one in found[at] if one not in found[1 - at]] for at in (0, 1)]
    assert found[0] == found[1], f"rtl lacks {missing} and has {more}"


@pytest.mark.parametrize("seed", range(ROUNDS))
@pytest.mark.parametrize("name", ["syn again", "reset"])
def test_targets_report_the_same_of_connections(name: str, seed: int, tmp_path: Path) -> None:
    compare(name, seed, tmp_path)


# A known fault. A SYN or FIN inside a connection, lost and wrong segments and fragments leave holes in its numbers: rtl
# reports at once what follows, native code when it gives the hole up. And in a connection without a SYN, rtl may take
# the other end for the client, since the card does not tell its host the first frame.
@pytest.mark.xfail(reason="holes end at other times on rtl", strict=True)
def test_targets_report_the_same_of_everything(tmp_path: Path) -> None:
    compare("everything", 0, tmp_path)
