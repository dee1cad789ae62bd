# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Rules about events: of frames that cannot be decoded, of packets, of streams, and of messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ids_oracle import Packet
from ids_random import CLIENT, SERVER
from ids_soft import Soft, frame
from scapy.layers.inet import ICMP, IP, TCP, UDP, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrRouting
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from test_messages import A, B, exchange, handshake, play, rules_file

ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
ENDS = IP(src=CLIENT, dst=SERVER)

FRAMES = [
    ("udp", "udp.hlen_too_small", [ENDS.copy() / Raw(b"half")], {"proto": 17}),
    ("tcp", "tcp.pkt_too_small", [ENDS.copy() / Raw(b"half")], {"proto": 6}),
    ("pkthdr", "ipv4.trunc_pkt", [ENDS / UDP() / Raw(b"data")], {"len": 99}),
    ("ip", "ipv4.hlen_too_small", [ENDS / UDP()], {"ihl": 4}),
    ("pkthdr", "tcp.opt_duplicate", [ENDS / TCP(options=[("MSS", 9), ("MSS", 9)])], {}),
    ("tcp", "tcp.opt_invalid_len", [ENDS / TCP(options=[("MSS", b"abc")])], {}),
    ("icmp", "icmpv4.unknown_type", [ENDS / ICMP(type=77)], {}),
    ("icmp", "icmpv4.unknown_code", [ENDS / ICMP(type=8, code=3)], {}),
    ("ip", "ipv6.rh_type_0", [IPv6(src="fd00::1", dst="fd00::2") / IPv6ExtHdrRouting(addresses=["fd00::3"])], {}),
    ("ip", "ipv4.frag_overlap", [fragment(ENDS / UDP() / Raw(bytes(64)), 32)[0]] * 2, {}),
]


@pytest.mark.parametrize(("protocol", "event", "packets", "fields"), FRAMES)
def test_events_of_packets(protocol: str, event: str, packets: list, fields: dict, tmp_path: Path) -> None:
    """Each event is reported once, with the last frame, and by no rule about another one."""
    sound = bytes(ETHER / ENDS / UDP() / Raw(b"data"))
    rules = [
        f"alert {protocol} any any -> any any (decode-event:{event}; sid:1;)",
        *[
            f"alert pkthdr any any -> any any (decode-event:{other}; sid:{sid};)"
            for sid, (_, other, *_) in enumerate(FRAMES, 2)
            if other != event
        ],
        f"alert {protocol} {SERVER} any -> any any (decode-event:{event}; sid:98;)",
        'alert ip any any -> any any (content:"half"; sid:99;)',
    ]
    frames = []
    for packet in packets:
        changed = packet.copy()
        for name, value in fields.items():
            setattr(changed, name, value)
        frames.append(bytes(ETHER / changed))
    with Soft(rules_file(tmp_path, rules), options=["records=all", "checksums=ignore"]) as soft:
        assert soft.sids(sound) == []
        answers = [soft.frame(data) for data in frames]
    found = [[alert["alert"]["signature_id"] for alert in answer["alerts"]] for answer in answers]
    assert found == [[]] * (len(frames) - 1) + [[1]]
    [alert] = answers[-1]["alerts"]
    assert (alert["src_ip"], alert["dest_ip"]) == (packets[0].src, packets[0].dst)


def test_a_frame_with_a_fault_is_dropped(tmp_path: Path) -> None:
    packet = ENDS.copy() / Raw(b"half")
    packet.proto = 6
    rules = ["drop pkthdr any any -> any any (decode-event:tcp.pkt_too_small; sid:1;)"]
    with Soft(rules_file(tmp_path, rules), "ips", options=["records=all"]) as soft:
        answer = soft.frame(bytes(ETHER / packet))
        assert soft.finish()["stats"]["detect"]["host_frames"] == 1
    assert answer["drop"] and answer["alerts"][0]["alert"]["action"] == "blocked"
    kinds = [json.loads(record)["event_type"] for record in answer["records"]]
    assert kinds == ["anomaly", "drop"], answer["records"]
    record = json.loads(answer["records"][1])
    assert (record["src_ip"], record["drop"]["reason"]) == (CLIENT, "rules")
    assert record["alert"]["signature_id"] == 1


def test_flags_of_segments_that_are_no_part_of_a_stream(tmp_path: Path) -> None:
    """Resets, and segments with a wrong checksum."""
    rules = [
        "alert tcp any any -> any any (stream-event:fin_syn; sid:1;)",
        "alert tcp any any -> any any (stream-event:pkt_broken_ack; sid:2;)",
    ]
    wrong = bytearray(frame(Packet("tcp", A, B, b"x", 9, "FS")))
    wrong[50] ^= 1
    with Soft(rules_file(tmp_path, rules), options=["checksums=check"]) as soft:
        assert soft.sids(frame(Packet("tcp", A, B, b"", 9, "R", 7))) == [2]
        assert soft.sids(bytes(wrong)) == [1]


def test_events_of_streams(tmp_path: Path) -> None:
    """A counter of retransmissions that another rule compares."""
    rules = [
        "alert tcp any any -> any any (stream-event:pkt_retransmission; flowint:again,+,1; noalert; sid:1;)",
        "alert tcp any any -> any any (flowint:again,>=,2; flowbits:isnotset,told; flowbits:set,told; sid:2;)",
        "alert tcp any any -> any any (stream-event:fin_syn; sid:3;)",
        "alert tcp any any -> any any (stream-event:pkt_broken_ack; sid:4;)",
        "alert tcp any any -> any any (stream-event:fin_but_no_session; sid:5;)",
    ]
    data = Packet("tcp", A, B, b"data", 100, "PA", 500)
    other, third = ((CLIENT, 4001), (CLIENT, 4002))
    packets = [
        *handshake(),
        data,
        data,
        data,
        data,
        Packet("tcp", A, B, b"", 104, "FA", 500),
        Packet("tcp", other, B, b"", 9, "FS"),
        Packet("tcp", other, B, b"x", 11, "P", 7),
        Packet("tcp", third, B, b"", 9, "FA", 3),
    ]
    with Soft(rules_file(tmp_path, rules)) as soft:
        answers = [soft.frame(frame(packet)) for packet in packets]
    found = [[alert["alert"]["signature_id"] for alert in answer["alerts"]] for answer in answers]
    assert found == [[], [], [], [], [], [2], [], [], [3], [4], [5]]
    assert answers[5]["alerts"][0]["metadata"] == {"flowbits": ["told"]}


# An event, whether it is one of requests, and a message with it and one without it.
MESSAGES = [
    ("missing_host_header", True, b"GET / HTTP/1.1\r\nA: b\r\n\r\n", b"GET / HTTP/1.0\r\nA: b\r\n\r\n"),
    ("missing_host_header", True, b"GET http://a/ HTTP/1.1\r\nA: host: b\r\n\r\n", b"GET / HTTP/1.1\r\nHost:\r\n\r\n"),
    (
        "host_header_ambiguous",
        True,
        b"GET http://a:80/ HTTP/1.1\r\nHost: a:81\r\n\r\n",
        b"GET http://a:80/ HTTP/1.1\r\nHost: a.\r\n\r\n",
    ),
    ("host_header_ambiguous", True, b"GET http://a/ HTTP/1.1\r\nHost:\r\n\r\n", b"GET / HTTP/1.1\r\nHost:\r\n\r\n"),
    (
        "host_header_ambiguous",
        True,
        b"GET http://a:80/ HTTP/1.1\r\nHost: b:80\r\n\r\n",
        b"GET http://u@a/ HTTP/1.1\r\nHost: A:80\r\n\r\n",
    ),
    (
        "request_field_missing_colon",
        True,
        b"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
    ),
    ("response_field_missing_colon", False, b"HTTP/1.1 204 A\r\nnone\r\n\r\n", b"HTTP/1.1 204 A\r\nB: c\r\n\r\n"),
    (
        "invalid_content_length_field_in_request",
        True,
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: none\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x0x\r\n\r\n",
    ),
    (
        "duplicate_content_length_field_in_response",
        False,
        b"HTTP/1.1 200 A\r\nContent-Length: 0\r\ncontent-length: 1\r\n\r\n",
        b"HTTP/1.1 200 A\r\nContent-Length: 0\r\ncontent-length: 00\r\nX-Content-Length: 1\r\n\r\n",
    ),
    (
        "duplicate_content_length_field_in_response",
        False,
        b"HTTP/1.1 204 A\r\nContent-Length: a\r\ncontent-length: a\r\n\r\n",
        b"HTTP/1.1 204 A\r\nContent-Length: a\r\n\r\n",
    ),
]


@pytest.mark.parametrize(("event", "to_server", "yes", "no"), MESSAGES)
def test_events_of_messages(event: str, to_server: bool, yes: bytes, no: bytes, tmp_path: Path) -> None:
    rules = [
        f"alert http any any -> any any (app-layer-event:http.{event}; flowint:odd,+,1; sid:1;)",
        f'alert http any any -> any any (app-layer-event:http.{event}; http.header; content:"none such"; sid:2;)',
    ]
    for message, reported in [(yes, [1]), (no, [])]:
        found, _, alerts = play(tmp_path, rules, exchange((to_server, message)))
        assert found == [reported], json.dumps(alerts)
