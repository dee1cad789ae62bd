# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""What rules see of packets in tags, labels and tunnels, of fragments, and of segments that no receiver takes. Scapy
makes the packets.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from ids_soft import Soft
from scapy.contrib.geneve import GENEVE
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import GRE, IP, TCP, UDP, fragment
from scapy.layers.inet6 import (
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    fragment6,
)
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.layers.ppp import PPP, PPPoE
from scapy.layers.vxlan import VXLAN

ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
SECOND = 1_000_000_000
WORD = b"a secret word here"
RULES = ['alert ip any any -> any any (content:"secret word"; sid:1;)']


def play(folder: Path, rules: list[str], packets: list[Any], options: Sequence[str] = ()) -> tuple[list[Any], Any]:
    """The alerts of each frame, and the end of the run."""
    path = folder / "test.rules"
    path.write_text("\n".join(rules) + "\n")
    with Soft(path, options=options) as soft:
        alerts = [soft.frame(bytes(packet), number * 1000)["alerts"] for number, packet in enumerate(packets)]
        return alerts, soft.finish()


def sids(alerts: list[Any]) -> list[int]:
    return sorted(alert["alert"]["signature_id"] for alert in alerts)


def outer(version: int = 4) -> Any:
    return IP(src="192.0.2.1", dst="192.0.2.2") if version == 4 else IPv6(src="2001:db8::1", dst="2001:db8::2")


def inner(version: int = 4) -> Any:
    ends = IP(src="10.0.0.9", dst="10.0.0.1") if version == 4 else IPv6(src="fd00::9", dst="fd00::1")
    return ends / UDP(sport=4000, dport=5000) / WORD


# Headers before a packet, and whether rules see the bytes of it also in the packet around it.
BEFORE = {
    "none": (ETHER, False),
    "VLAN": (ETHER / Dot1Q(vlan=5), False),
    "QinQ": (ETHER / Dot1AD(vlan=5) / Dot1Q(vlan=6), False),
    "three tags": (ETHER / Dot1AD(vlan=5) / Dot1Q(vlan=6) / Dot1Q(vlan=7), False),
    "MPLS": (ETHER / MPLS(label=16, s=1, ttl=9), False),
    "labels behind a tag": (
        ETHER / Dot1Q(vlan=5) / MPLS(label=16, s=0) / MPLS(label=3, s=0) / MPLS(label=0, s=1),
        False,
    ),
    "pseudowire": (ETHER / MPLS(label=16, s=1) / bytes(4) / ETHER / Dot1Q(vlan=9), False),
    "PPPoE": (ETHER / PPPoE(sessionid=7) / PPP(), False),
    "IP in IPv4": (ETHER / outer(4), False),
    "IP in IPv6": (ETHER / outer(6), False),
    "GRE": (ETHER / outer(4) / GRE(), False),
    "GRE with everything": (ETHER / outer(6) / GRE(chksum_present=1, key_present=1, seqnum_present=1), False),
    "Ethernet in GRE": (ETHER / outer(4) / GRE(proto=0x6558) / ETHER / Dot1Q(vlan=3), False),
    "VXLAN": (ETHER / outer(4) / UDP(sport=9, dport=4789) / VXLAN(vni=77) / ETHER, True),
    "Geneve": (ETHER / outer(6) / UDP(sport=9, dport=6081) / GENEVE(vni=7) / ETHER, True),
    "tunnel in tunnel": (ETHER / outer(4) / GRE() / outer(6) / outer(4), False),
    "hop-by-hop": (ETHER / outer(6) / IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting() / IPv6ExtHdrDestOpt(), False),
}


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("name", BEFORE)
def test_packets_are_found_behind_headers(name: str, version: int, tmp_path: Path) -> None:
    before, both = BEFORE[name]
    packet = before / inner(version)
    if name == "PPPoE":
        packet[PPP].proto = 0x21 if version == 4 else 0x57
    [alerts], _ = play(tmp_path, RULES, [packet])
    assert len(alerts) == 1 + both, alerts
    assert {alert["src_ip"] for alert in alerts} >= {"10.0.0.9" if version == 4 else "fd00::9"}
    [alert] = [alert for alert in alerts if alert["src_port"] == 4000]
    assert (alert["dest_port"], alert["proto"]) == (5000, "UDP")
    if name == "three tags":
        assert alert["vlan"] == [5, 6, 7]


def test_a_protocol_of_ppp_may_have_one_byte(tmp_path: Path) -> None:
    head = bytes(ETHER / PPPoE(sessionid=7, len=len(inner()) + 1))
    [alerts], _ = play(tmp_path, RULES, [head + b"\x21" + bytes(inner())])
    assert sids(alerts) == [1]


def test_routes_of_gre_are_skipped(tmp_path: Path) -> None:
    """An entry with four bytes, and the one that ends the list."""
    head = bytes.fromhex("4000 0800 0000 0000" + "0800 00 04 01020304" + "0000 00 00")
    [alerts], _ = play(tmp_path, RULES, [ETHER / IP(src="192.0.2.1", dst="192.0.2.2", proto=47) / head / inner()])
    assert sids(alerts) == [1]
    [alerts], end = play(tmp_path, RULES, [ETHER / IP(src="192.0.2.1", dst="192.0.2.2", proto=47) / head[:-1]])
    assert alerts == [] and end["stats"]["frames"]["malformed"] == 1


def test_options_of_geneve_are_skipped(tmp_path: Path) -> None:
    datagram = outer() / UDP(sport=9, dport=6081) / bytes.fromhex("02 00 0800 000007 00 0102 8001 aabbccdd")
    [alerts], _ = play(tmp_path, RULES, [ETHER / datagram / inner()])
    assert len(alerts) == 2


def test_ipv6_in_datagrams(tmp_path: Path) -> None:
    """Teredo, with indications of authentication and origin and without."""
    for begin in [b"", bytes(8), bytes.fromhex("0001 02 01 aabb cc 0011223344556677 00"), b"\x60\0\0\0"]:
        datagram = ETHER / outer() / UDP(sport=3544, dport=9) / begin
        [alerts], end = play(tmp_path, RULES, [datagram / inner(6)])
        tunnel = not begin.startswith(b"\x60")
        assert len(alerts) == 1 + tunnel and end["stats"]["frames"]["malformed"] == 0


def test_datagrams_without_identifier_are_no_tunnel(tmp_path: Path) -> None:
    [alerts], end = play(tmp_path, RULES, [ETHER / outer() / UDP(sport=9, dport=4789) / bytes(8) / ETHER / inner()])
    assert len(alerts) == 1 and end["stats"]["frames"]["tunnels"] == 0


def test_rules_about_the_packet_around_another_one(tmp_path: Path) -> None:
    rules = [
        "alert ip 192.0.2.1 any -> any any (ip_proto:47; sid:1;)",
        'alert ip 192.0.2.1 any -> any any (content:"secret"; sid:2;)',
        'alert udp 10.0.0.9 any -> any 5000 (content:"secret"; dsize:18; sid:3;)',
    ]
    [alerts], end = play(tmp_path, rules, [ETHER / outer() / GRE() / inner()])
    assert sids(alerts) == [1, 3]
    assert end["stats"]["frames"]["tunnels"] == 1


def test_streams_in_tunnels_are_others_than_outside(tmp_path: Path) -> None:
    """The same ends inside and outside: the halves of the string do not belong together."""
    rule = 'alert tcp any any -> any any (content:"secret word"; sid:1;)'
    tunnel = ETHER / outer() / GRE()
    parts = [(b"secret", 100), (b" word", 106)]

    def segment(before: Any, part: tuple[bytes, int]) -> Any:
        return before / IP(src="10.0.0.9", dst="10.0.0.1") / TCP(sport=1, dport=2, flags="PA", seq=part[1]) / part[0]

    alerts, _ = play(tmp_path, [rule], [segment(ETHER, parts[0]), segment(tunnel, parts[1])])
    assert [sids(some) for some in alerts] == [[], []]
    alerts, _ = play(tmp_path, [rule], [segment(tunnel, part) for part in parts])
    assert [sids(some) for some in alerts] == [[], [1]]


def test_no_length_of_a_tunnel_is_trusted(tmp_path: Path) -> None:
    """Every cut of these frames, and many changes of them, are looked at, and none is a fault."""
    random = Random(1)
    frames = [bytes(before / inner()) for before, _ in BEFORE.values()]
    frames += [frame[:length] for frame in frames for length in range(14, len(frame), 5)]
    for frame in list(frames[: len(BEFORE)]) * 20:
        changed = bytearray(frame)
        for _ in range(3):
            changed[random.randrange(12, len(changed))] = random.choice([0, 1, 4, 41, 47, 0x45, 0x60, 0xFF])
        frames.append(bytes(changed))
    alerts, end = play(tmp_path, RULES, frames)
    assert len(alerts) == len(frames) == end["stats"]["frames"]["frames"]


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("seed", range(4))
def test_fragments_are_put_together(version: int, seed: int, tmp_path: Path) -> None:
    """In any order, mixed with those of others and sent twice: rules see the whole packet once, with its ports."""
    random = Random(seed)
    rules = [
        'alert udp any any -> any 5000 (content:"first part"; content:"last part"; distance:0; sid:1;)',
        'alert ip any any -> any any (content:"part"; sid:2;)',
    ]
    pieces = []
    for number in range(5):
        payload = b"first part" + bytes(random.randrange(200, 900)) + b"last part"
        if version == 4:
            whole = IP(src=f"10.0.0.{number}", dst="10.0.1.1", id=7) / UDP(sport=9, dport=5000) / payload
            parts = fragment(whole, fragsize=random.choice([8, 64, 200]))
        else:
            head = IPv6(src=f"fd00::{number + 1}", dst="fd00::99") / IPv6ExtHdrFragment(id=7)
            parts = fragment6(head / UDP(sport=9, dport=5000) / payload, random.choice([80, 200]))
        pieces += parts
        assert len(parts) > 1
    random.shuffle(pieces)
    alerts, end = play(tmp_path, rules, [ETHER / piece for piece in pieces])
    assert sids([alert for some in alerts for alert in some]) == [1] * 5 + [2] * 5
    assert {alert["dest_port"] for some in alerts for alert in some} == {5000}
    assert end["stats"]["defrag"]["reassembled"] == 5 and end["stats"]["frames"]["fragments"] == len(pieces)


def test_a_stream_may_come_in_fragments(tmp_path: Path) -> None:
    rule = 'alert tcp any any -> any any (content:"secret word"; sid:1;)'
    packets: list[Any] = []
    for sequence, text in [(100, b"x" * 60 + b"sec"), (163, b"ret word")]:
        whole = IP(src="10.0.0.9", dst="10.0.0.1", id=sequence) / TCP(sport=1, dport=2, seq=sequence, flags="PA") / text
        packets += fragment(whole, fragsize=24)
    alerts, _ = play(tmp_path, [rule], [ETHER / packet for packet in packets])
    assert [sids(some) for some in alerts] == [[]] * (len(packets) - 1) + [[1]]


def test_fragments_of_a_tunnel(tmp_path: Path) -> None:
    whole = outer() / GRE() / inner()
    alerts, _ = play(tmp_path, RULES, [ETHER / piece for piece in fragment(whole, fragsize=16)])
    assert [sids(some) for some in alerts][-1] == [1]


def test_overlapping_fragments(tmp_path: Path) -> None:
    """BSD's choice: the older bytes stay, unless the new fragment begins before them."""

    def piece(offset: int, more: int, data: bytes) -> Any:
        return ETHER / IP(src="10.0.0.9", dst="10.0.0.1", id=1, frag=offset, flags=more, proto=17) / data

    head = bytes(UDP(sport=1, dport=2, len=40, chksum=0))
    rules = [
        f'alert udp any any -> any any (content:"{text}"; startswith; sid:{sid};)'
        for sid, text in enumerate(["A" * 8 + "C" * 8 + "B" * 8 + "D" * 8, "A" * 8 + "B" * 16 + "D" * 8], 1)
    ]
    # B lies at 8 to 24 of the payload; C begins before it at 0 with A, or behind it.
    before = [piece(2, 1, b"B" * 16), piece(1, 1, b"A" * 8 + b"C" * 8), piece(0, 1, head), piece(4, 0, b"D" * 8)]
    behind = [piece(2, 1, b"B" * 16), piece(3, 1, b"C" * 8), piece(0, 1, head + b"A" * 8), piece(4, 0, b"D" * 8)]
    for packets, sid in [(before, 1), (behind, 2)]:
        alerts, end = play(tmp_path, rules, packets)
        assert sids(alerts[-1]) == [sid] and end["stats"]["defrag"]["overlaps"] == 1


def test_fragments_wait_for_a_minute_of_the_capture(tmp_path: Path) -> None:
    path = tmp_path / "test.rules"
    path.write_text("\n".join(RULES) + "\n")
    first, *_, last = pieces = fragment(inner(), fragsize=16)
    assert len(pieces) == 2
    for wait, found in [(59, [1]), (61, [])]:
        with Soft(path) as soft:
            assert soft.sids(bytes(ETHER / first), 5 * SECOND) == []
            assert soft.sids(bytes(ETHER / last), (5 + wait) * SECOND) == found


def stream(*segments: tuple[int, bytes, int | None]) -> list[Any]:
    """Segments of a stream from byte 100: number, bytes and, if it is not the right one, a checksum."""
    ends = IP(src="10.0.0.9", dst="10.0.0.1")
    opening = ETHER / ends / TCP(sport=1, dport=80, seq=99, flags="S")
    return [opening] + [
        ETHER / ends / TCP(sport=1, dport=80, seq=at, flags="PA", **({} if sum is None else {"chksum": sum})) / text
        for at, text, sum in segments
    ]


def test_segments_with_a_wrong_checksum(tmp_path: Path) -> None:
    """Their receiver drops them: a sender would hide a string behind them. Rules look at them alone."""
    rules = [
        'alert tcp any any -> any any (content:"secret word"; sid:1;)',
        'alert tcp any any -> any any (content:"chaff"; sid:2;)',
        'alert tcp-stream any any -> any any (content:"chaff"; sid:3;)',
    ]
    packets = stream((100, b"secret", None), (106, b"chaff", 0x1234), (106, b" word", None))
    for mode, found in [("check", [[], [], [2], [1]]), ("ignore", [[], [], [2, 3], []])]:
        alerts, end = play(tmp_path, rules, packets, [f"checksums={mode}"])
        assert [sids(some) for some in alerts] == found, mode
        assert end["stats"]["frames"]["wrong_checksums"] == (mode == "check")
    alerts, _ = play(tmp_path, rules, packets)
    assert sids(alerts[-1]) == [1]


def test_wrong_checksums_of_a_sending_card(tmp_path: Path) -> None:
    """If one segment of nine has a wrong checksum, the capture has it from before the card filled it in."""
    rule = 'alert tcp-stream any any -> any any (content:"secret word"; sid:1;)'
    for wrong_of, found in [(9, [1]), (11, [])]:
        segments = [(100 + at, b"x", 1 if at % wrong_of == 0 else None) for at in range(1000)]
        packets = [packet for at, packet in enumerate(stream(*segments)) if at]
        packets += stream((5000, b"secret word", 1))[1:]
        for packet in packets[-1:]:
            packet[TCP].sport = 7
        alerts, _ = play(tmp_path, [rule], packets)
        assert sids(alerts[-1]) == found, wrong_of


def test_a_reset_with_a_wrong_checksum_changes_nothing(tmp_path: Path) -> None:
    rule = 'alert tcp any any -> any any (flow:established; content:"secret word"; sid:1;)'
    packets = stream((100, b"secret", None), (106, b"", None), (106, b" word", None))
    packets[2][TCP].flags = "R"
    packets[2][TCP].chksum = 0x1234
    packets.insert(3, ETHER / IP(src="10.0.0.9", dst="10.0.0.1") / TCP(sport=1, dport=80, seq=50, flags="S", chksum=9))
    alerts, _ = play(tmp_path, [rule], packets)
    assert sids(alerts[-1]) == [1]


# A system, begin and end of a segment that comes behind one with the bytes 4 and 5, and whose byte the system reads
# where both have one: the old segment's or the new one's.
CHOICES = [
    ("bsd", 2, 6, "n"),
    ("bsd", 5, 8, "o"),
    ("windows", 4, 8, "o"),
    ("linux", 4, 8, "n"),
    ("linux", 4, 6, "o"),
    ("old-linux", 4, 6, "n"),
    ("solaris", 2, 5, "o"),
    ("solaris", 2, 6, "n"),
    ("solaris", 5, 8, "n"),
    ("vista", 2, 8, "o"),
    ("last", 5, 6, "n"),
]


@pytest.mark.parametrize("choice", CHOICES)
def test_systems_choose_between_overlapping_segments(choice: tuple[str, int, int, str], tmp_path: Path) -> None:
    name, begin, end, both = choice
    first = min(begin, 4)
    packets = stream((104, b"oo", None), (100 + begin, b"n" * (end - begin), None), (100, b"x" * first, None))
    old = {at: "o" for at in (4, 5)}
    new = {at: both if at in old else "n" for at in range(begin, end)}
    text = "x" * first + "".join({**old, **new}[at] for at in range(first, max(end, 6)))
    rule = f'alert tcp any any -> any any (content:"{text}"; startswith; flow:only_stream; sid:1;)'
    # The receiver's system counts: the one of the narrowest range.
    options = [f"{name}=10.0.0.1/32", f"{'first' if name == 'last' else 'last'}=10.0.0.0/8"]
    alerts, end_of_run = play(tmp_path, [rule], packets, options)
    assert sids(alerts[-1]) == [1], rule
    assert end_of_run["stats"]["streams"]["overlaps"] >= 1
