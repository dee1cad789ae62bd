# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Keywords about headers of packets and about flows, on packets that Scapy makes."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from ids_soft import Soft
from scapy.layers.inet import (
    ICMP,
    IP,
    TCP,
    UDP,
    IPOption_EOL,
    IPOption_LSRR,
    IPOption_NOP,
    IPOption_RR,
    IPOption_SSRR,
    IPOption_Timestamp,
    fragment,
)
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6PacketTooBig, IPv6, IPv6ExtHdrHopByHop
from scapy.layers.l2 import Ether

ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
SECOND = 1_000_000_000
V4 = IP(src="10.0.0.9", dst="10.0.0.1")
V6 = IPv6(src="fd00::9", dst="fd00::1")
SEGMENT = TCP(sport=4000, dport=80, flags="S", seq=99)


def sids(folder: Path, rules: list[str], packets: list[Any], times: list[int] | None = None) -> list[list[int]]:
    """The sids that each packet reports; `rules` are protocol and options."""
    path = folder / "test.rules"
    text = [rule.split(" ", 1) for rule in rules]
    path.write_text(
        "".join(f"alert {head} any any -> any any ({rest} sid:{sid};)\n" for sid, (head, rest) in enumerate(text, 1))
    )
    with Soft(path) as soft:
        numbers = times or list(range(len(packets)))
        return [sorted(soft.sids(bytes(ETHER / packet), time)) for packet, time in zip(packets, numbers, strict=True)]


# Protocol and options of a rule, a packet that matches and one that does not.
PACKETS: list[tuple[str, Any, Any]] = [
    ("ip fragbits:M;", IP(flags="MF") / b"x", IP(flags="MF+DF") / b"x"),
    ("ip fragbits:M+;", IP(flags="MF+DF") / b"x", IP(flags="DF") / b"x"),
    ("ip fragbits:*MD;", IP(flags="DF") / b"x", IP() / b"x"),
    ("ip fragbits:!D;", IP() / b"x", IP(flags="DF") / b"x"),
    ("ip fragbits:R;", IP(flags="evil") / b"x", IP() / b"x"),
    ("ip fragbits:D;", IP(flags="DF") / UDP(), V6 / UDP()),
    ("ip fragoffset:>3;", IP(frag=4) / b"x", IP(frag=3) / b"x"),
    ("ip fragoffset:0; fragbits:M;", IP(flags="MF") / b"x", IP(frag=1, flags="MF") / b"x"),
    ("ip id:1234;", IP(id=1234) / UDP(), IP(id=1235) / UDP()),
    ("ip id:!0;", IP(id=1) / UDP(), IP(id=0) / UDP()),
    ("ip ipopts:rr;", IP(options=[IPOption_NOP(), IPOption_RR()]) / UDP(), IP(options=[IPOption_NOP()]) / UDP()),
    ("ip ipopts:nop;", IP(options=[IPOption_NOP()]) / UDP(), IP(options=[IPOption_EOL()]) / UDP()),
    ("ip ipopts:lsrr;", IP(options=[IPOption_LSRR()]) / UDP(), IP(options=[IPOption_SSRR()]) / UDP()),
    ("ip ipopts:ssrr;", IP(options=[IPOption_SSRR()]) / UDP(), IP(options=[IPOption_LSRR()]) / UDP()),
    ("ip ipopts:ts;", IP(options=[IPOption_Timestamp(flg=0)]) / UDP(),
     IP(options=[IPOption_RR(routers=["68.68.68.68"])]) / UDP()),
    ("ip ipopts:any;", IP(options=[IPOption_RR()]) / UDP(), V6 / UDP()),
    ("ip sameip;", IP(src="1.2.3.4", dst="1.2.3.4") / UDP(), V4 / UDP()),
    ("ip sameip;", IPv6(src="fd00::1", dst="fd00::1") / UDP(), V6 / UDP()),
    ("ip tos:8;", IP(tos=8) / UDP(), IP(tos=9) / UDP()),
    ("ip tos:!x10;", IP(tos=1) / UDP(), IP(tos=16) / UDP()),
    ("tcp tcp.mss:1400-1460;", V4 / TCP(options=[("NOP", None), ("MSS", 1460)]), V4 / TCP(options=[("MSS", 1399)])),
    ("tcp tcp.mss:>100;", V6 / TCP(options=[("Timestamp", (1, 2)), ("MSS", 200)]), V6 / TCP()),
    ("icmp icmp_id:77;", V4 / ICMP(type=8, id=77), V4 / ICMP(type=8, id=78)),
    ("icmp icmp_id:77;", V6 / ICMPv6EchoRequest(id=77), IP(proto=1) / bytes.fromhex("03 01 fcb1 004d 0000")),
    ('icmp icmp_seq:"5";', V4 / ICMP(type=0, seq=5), V4 / ICMP(type=0, seq=6)),
    ("icmp icmpv6.mtu:<1280;", V6 / ICMPv6PacketTooBig(mtu=1279), V6 / ICMPv6PacketTooBig(mtu=1280)),
    ("icmp icmpv6.mtu:>0;", V6 / ICMPv6PacketTooBig(mtu=1), V6 / ICMPv6EchoRequest(id=0, seq=9)),
    ("tcp tcpv4-csum:valid;", V4 / TCP(), V4 / TCP(chksum=1)),
    ("tcp tcpv4-csum:invalid;", V4 / TCP(chksum=1) / b"abc", V4 / TCP() / b"abc"),
    ("tcp tcpv6-csum:invalid;", V6 / TCP(chksum=1), V4 / TCP(chksum=1)),
    ("udp udpv4-csum:valid;", V4 / UDP(chksum=0) / b"x", V4 / UDP(chksum=1) / b"x"),
    ("udp udpv6-csum:invalid;", V6 / UDP(chksum=0) / b"x", V6 / UDP() / b"xyz"),
    ("icmp icmpv4-csum:invalid;", V4 / ICMP(chksum=1), V4 / ICMP()),
    ("icmp icmpv6-csum:valid;", V6 / ICMPv6EchoRequest(data=b"abc"), V6 / ICMPv6EchoRequest(cksum=1)),
    ("ip ipv4-csum:invalid;", IP(chksum=1) / UDP(), IP() / UDP()),
    ('ip ipv4.hdr; content:"|06|"; offset:9; depth:1;', V4 / TCP(), V4 / UDP()),
    ('ip ipv4.hdr; content:"|07 03 04|"; offset:20;',
     IP(options=[IPOption_RR(routers=[], length=3)]) / UDP(), V4 / UDP()),
    ('ip ipv6.hdr; content:"|3a|"; offset:6; depth:1;', V6 / ICMPv6EchoRequest(), V6 / UDP()),
    ('ip ipv6.hdr; bsize:48;', V6 / IPv6ExtHdrHopByHop() / UDP(), V6 / UDP()),
    ('tcp tcp.hdr; content:"|02 04|"; offset:20; byte_test:2,=,1460,0,relative;',
     V4 / TCP(options=[("MSS", 1460)]), V4 / TCP()),
    ('udp udp.hdr; content:"|00 08|"; offset:4; depth:2;', V4 / UDP(), V4 / UDP() / b"x"),
    ('icmp icmpv4.hdr; content:"|08 00|"; startswith;', V4 / ICMP(type=8), V6 / ICMPv6EchoRequest()),
    ('icmp icmpv6.hdr; content:"|80 00|"; startswith; pkt_data; content:"abc";',
     V6 / ICMPv6EchoRequest(data=b"abc"), V6 / ICMPv6EchoRequest(data=b"abd")),
    ('udp udp.hdr; to_md5; bsize:16; pkt_data; content:"x"; startswith;', V4 / UDP() / b"xy", V4 / UDP() / b"yx"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(PACKETS)))
def test_headers_are_as_a_rule_says(case: int, tmp_path: Path) -> None:
    rule, yes, no = PACKETS[case]
    assert sids(tmp_path, [rule], [no, yes]) == [[], [1]], rule


def test_options_that_lead_nowhere(tmp_path: Path) -> None:
    """Lengths of options that are 0 or too long."""
    rules = ["ip ipopts:rr;", "tcp tcp.mss:>0;"]
    packets = []
    for options in [b"\x44\x00\x00\x00", b"\x44\xff\x07\x00", b"\x44", b"\x02\x04\x01", b"\x03\x00\x02\x04\x05\xb4"]:
        padded = options.ljust(8, b"\x44")
        packets.append(IP(ihl=7, len=48, proto=6) / (padded + bytes(TCP())))
        head = bytearray(bytes(TCP(dataofs=7)))
        packets.append(V4 / (bytes(head) + padded) if len(head) == 20 else V4 / TCP())
        packets[-1].proto = 6
    assert all(found in ([], [1], [2], [1, 2]) for found in sids(tmp_path, rules, packets))


def test_packets_of_fragments(tmp_path: Path) -> None:
    rules = ['udp flow:only_frag; content:"word";', 'udp flow:no_frag; content:"word";']
    packets = [*fragment(V4 / UDP() / (b"x" * 40 + b"word"), fragsize=24), V4 / UDP() / b"word"]
    assert sids(tmp_path, rules, packets) == [[], [], [1], [2]]


def test_sizes_of_flows(tmp_path: Path) -> None:
    rules = [
        "udp flow.pkts:toserver,2;",
        "udp flow.pkts:either,>=3;",
        "udp flow.pkts_toclient:1;",
        "udp flow.age:>=2;",
        "udp flow.bytes:toserver,>120;",
        "udp flow.bytes:both,>45;",
    ]
    to, back = (
        V4 / UDP(sport=1, dport=2) / b"0123",
        IP(src="10.0.0.1", dst="10.0.0.9") / UDP(sport=2, dport=1) / b"01234",
    )
    assert len(bytes(ETHER / to)) == 46
    times = [5 * SECOND, 6 * SECOND, 7 * SECOND - 1, 7 * SECOND]
    found = sids(tmp_path, rules, [to, back, to, to], times)
    assert found == [[], [3, 6], [1, 3, 6], [2, 3, 4, 5, 6]]


def test_bits_of_hosts(tmp_path: Path) -> None:
    rules = [
        'udp content:"first"; hostbits:set,seen; noalert;',
        'udp content:"second"; hostbits:isset,seen,src;',
        'udp content:"third"; hostbits:isset,seen,dst;',
        'udp content:"fourth"; hostbits:isset,seen; hostbits:unset,seen;',
        'udp content:"second"; hostbits:isnotset,seen,src;',
    ]
    other = IP(src="10.0.0.7", dst="10.0.0.9")
    words = [(V4, b"first"), (V4, b"second"), (other, b"second"), (other, b"third"), (V4, b"fourth"), (V4, b"second")]
    packets = [ip / UDP(sport=at, dport=9) / word for at, (ip, word) in enumerate(words)]
    assert sids(tmp_path, rules, packets) == [[], [2], [5], [3], [4], [5]]
    # 300 s unless the rule says it.
    rules = ['udp content:"first"; hostbits:set,seen,src; noalert;', 'udp content:"second"; hostbits:isset,seen,src;']
    for wait, found in [(299, [2]), (300, [])]:
        assert sids(tmp_path, rules, packets[:2], [0, wait * SECOND])[1] == found


def test_thresholds_of_flows(tmp_path: Path) -> None:
    rules = [
        'udp content:"x"; threshold:type backoff, track by_flow, count 1, multiplier 2;',
        'udp content:"x"; threshold:type backoff, track by_flow, count 2, multiplier 3;',
        'udp content:"x"; threshold:type limit, track by_flow, count 1, seconds 60; tag:host,10,packets,src;',
    ]
    flows = [[V4 / UDP(sport=sport, dport=9) / b"x"] * 9 for sport in (1, 2)]
    wanted = [[number for sid, number in enumerate([1, 2, 3], 1) if at in {1: [1, 2, 4, 8], 2: [2, 6], 3: [1]}[sid]]
              for at in range(1, 10)]  # fmt: skip
    assert sids(tmp_path, rules, flows[0] + flows[1]) == wanted * 2


def test_base64_is_decoded(tmp_path: Path) -> None:
    """The letters of Python's encoder, in payload and in messages."""
    secret = base64.b64encode(b"the evil word").decode()
    rules = [
        'tcp content:"data="; base64_decode:relative; base64_data; content:"evil"; pkt_data; content:"end";',
        (
            'http http.header; content:"Authorization|3a| Basic "; base64_decode:bytes 12, relative; base64_data; '
            'content:"the evil "; endswith;'
        ),
        'tcp content:"data="; base64_decode:offset 1, relative; base64_data; content:"evil";',
        (
            'http http.request_header; content:"Authorization"; base64_decode:offset 21; base64_data; content:"word"; '
            "endswith;"
        ),
    ]
    text = f"GET /?data={secret} HTTP/1.1\r\nAuthorization: Basic {secret}\r\n\r\nend".encode()
    packets = [V4 / SEGMENT, V4 / TCP(sport=4000, dport=80, seq=100, flags="PA") / text]
    assert sids(tmp_path, rules, packets) == [[], [1, 2, 4]]
    later = [V4 / SEGMENT]
    later += [
        V4 / TCP(sport=4000, dport=80, seq=100 + at, flags="PA") / text[at : at + 7] for at in range(0, len(text), 7)
    ]
    found = sids(tmp_path, rules, later)
    assert {sid for some in found for sid in some} == {1, 2, 4}


def test_fields_may_be_absent(tmp_path: Path) -> None:
    rules = [
        "http http.referer; absent;",
        'http http.referer; absent:or_else; content:"good";',
        'http http.user_agent; content:"agent"; http.referer; absent;',
        'http http.referer; content:!"good";',
    ]
    heads = ["User-Agent: agent", "Referer: good", "Referer: bad", "X: y"]
    packets: list[Any] = []
    for at, head in enumerate(heads):
        text = f"GET / HTTP/1.1\r\n{head}\r\n\r\n".encode()
        packets.append(V4 / TCP(sport=5000 + at, dport=80, seq=100, flags="PA") / text)
    assert sids(tmp_path, rules, packets) == [[1, 2, 3], [2], [4], [1, 2]]
