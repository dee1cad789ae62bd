# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""EVE records about flows, files, dropped packets and anomalies."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ids_oracle import Packet
from ids_soft import Soft, frame
from scapy.layers.inet import IP, TCP, UDP, fragment
from scapy.layers.l2 import Ether
from test_messages import A, B, exchange, handshake, rules_file
from test_protocols import attachment, session

ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
SECOND = 1_000_000_000
RULE = 'alert tcp any any -> any any (content:"secret"; sid:1;)'


def records(
    folder: Path, frames: list[bytes], rules: list[str], kind: str, mode: str = "ids", step: int = SECOND
) -> list[Any]:
    """The records of a kind, in order; a frame comes each `step`."""
    lines = []
    with Soft(rules_file(folder, rules), mode, options=["records=all"]) as soft:
        for number, data in enumerate(frames):
            lines += soft.frame(data, number * step)["records"]
        lines += soft.finish()["records"]
    return [record for record in map(json.loads, lines) if record["event_type"] == kind]


def test_flows(tmp_path: Path) -> None:
    close = [
        Packet("tcp", A, B, b"a secret", 100, "PA", 500),
        Packet("tcp", A, B, b"", 108, "FA", 500),
        Packet("tcp", B, A, b"", 500, "FA", 109),
        Packet("tcp", A, B, b"", 109, "A", 501),
    ]
    frames = [frame(packet) for packet in [*handshake(), *close]]
    [flow] = records(tmp_path, frames, [RULE], "flow")
    assert (flow["src_ip"], flow["src_port"], flow["dest_ip"], flow["dest_port"], flow["proto"]) == (*A, *B, "TCP")
    assert flow["flow"] == {
        "pkts_toserver": 5,
        "pkts_toclient": 2,
        "bytes_toserver": sum(len(data) for data in [frames[0], *frames[2:5], frames[6]]),
        "bytes_toclient": len(frames[1]) + len(frames[5]),
        "start": "1970-01-01T00:00:00.000000+0000",
        "end": "1970-01-01T00:00:06.000000+0000",
        "age": 6,
        "state": "closed",
        "reason": "shutdown",
        "alerted": True,
    }
    flags = {"syn": True, "fin": True, "psh": True, "ack": True}
    assert flow["tcp"] == {"tcp_flags": "1b", "tcp_flags_ts": "1b", "tcp_flags_tc": "13", **flags, "state": "closed"}


def test_actions_about_flows(tmp_path: Path) -> None:
    frames = [frame(Packet("udp", A, B, b"x", 0, ""))]
    for action, mode, wanted in (("drop", "ips", "drop"), ("drop", "ids", None), ("pass", "ids", "pass")):
        [flow] = records(tmp_path, frames, [f"{action} ip any any -> any any (sid:1;)"], "flow", mode)
        assert flow["flow"].get("action") == wanted
    [flow] = records(tmp_path, frames, ["drop ip any any -> any any (dsize:1; sid:1;)"], "flow", "ips")
    assert "action" not in flow["flow"]


def test_reasons_of_the_end_of_a_flow(tmp_path: Path) -> None:
    """A datagram after more than a minute belongs to another flow; a new SYN begins another connection."""
    udp = frame(Packet("udp", A, B, b"x", 0, ""))
    found = records(tmp_path, [udp, udp], [RULE], "flow", step=61 * SECOND)
    assert [(flow["flow"]["reason"], flow["flow"]["state"], flow["flow"]["alerted"]) for flow in found] == [
        ("timeout", "new", False),
        ("shutdown", "new", False),
    ]
    syn = [frame(Packet("tcp", A, B, b"", first, "S")) for first in (9, 900)]
    found = records(tmp_path, syn, [RULE], "flow")
    assert [(flow["flow"]["reason"], flow["tcp"]["state"]) for flow in found] == [
        ("tcp_reuse", "syn_sent"),
        ("shutdown", "syn_sent"),
    ]


def test_files(tmp_path: Path) -> None:
    body = b"contents"
    response = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n" + body
    packets = exchange((True, b"GET /a/b.exe?c HTTP/1.1\r\nHost: d\r\n\r\n"), (False, response))
    [record] = records(tmp_path, [frame(packet) for packet in packets], [RULE], "fileinfo")
    assert record["app_proto"] == "http" and record["http"]["hostname"] == "d" and record["src_port"] == 80
    facts = {name: getattr(hashlib, name)(body).hexdigest() for name in ("md5", "sha1", "sha256")}
    wanted = {"filename": "/a/b.exe", "gaps": False, "state": "CLOSED", "stored": False, "size": 8, **facts}
    assert record["fileinfo"] == wanted
    packets = exchange(*session(attachment()))
    [record] = records(tmp_path, [frame(packet) for packet in packets], [RULE], "fileinfo")
    assert (record["fileinfo"]["filename"], record["fileinfo"]["size"], record["app_proto"]) == (
        "a-virus.EXE",
        8,
        "smtp",
    )
    assert record["smtp"]["rcpt_to"] == ["bob@home.test"]
    # Only the first bytes of a long body are looked at.
    long = b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + bytes(60_000)
    parts = [(False, long), *[(False, bytes(60_000))] * 2, (False, bytes(20_000))]
    [record] = records(tmp_path, [frame(packet) for packet in exchange(*parts)], [RULE], "fileinfo")
    assert (record["fileinfo"]["size"], record["fileinfo"]["state"], "md5" in record["fileinfo"]) == (
        200_000,
        "TRUNCATED",
        False,
    )


def test_drops(tmp_path: Path) -> None:
    rules = [
        'drop tcp any any -> any any (content:"secret"; sid:1;)',
        'drop udp any any -> any any (content:"x"; sid:2;)',
    ]
    packets = [
        *handshake(),
        Packet("tcp", A, B, b"secret", 100, "PA", 500),
        Packet("tcp", A, B, b"more", 106, "PA", 500),
    ]
    packets.append(Packet("udp", A, B, b"x", 0, ""))
    frames = [frame(packet) for packet in packets]
    found = records(tmp_path, frames, rules, "drop", "ips")
    assert [record["drop"]["reason"] for record in found] == ["rules", "flow drop", "rules"]
    first = found[0]["drop"]
    assert (first["len"], first["ttl"], first["tcpseq"], first["psh"], first["syn"]) == (46, 64, 100, True, False)
    assert found[0]["alert"]["signature_id"] == 1 and found[0]["alert"]["action"] == "blocked"
    assert found[2]["drop"]["udplen"] == 9 and "alert" not in found[1]
    assert records(tmp_path, frames, rules, "drop") == []


def test_anomalies(tmp_path: Path) -> None:
    ends = IP(src="10.0.0.9", dst="10.0.0.1")
    pieces = fragment(ends / UDP(sport=1, dport=2) / bytes(100), fragsize=64)
    broken = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n"
    cases = [
        ([bytes(ETHER / ends / UDP())[:30]], [("decode", "decoder.ipv4.pkt_too_small")]),
        ([bytes(ETHER / piece) for piece in (pieces[0], pieces[0])], [("decode", "decoder.ipv4.frag_overlap")]),
        ([bytes(ETHER / ends / TCP(chksum=1))], [("stream", "stream.pkt_invalid_checksum")]),
        ([frame(packet) for packet in exchange((False, broken))], [("applayer", "malformed")]),
        ([frame(packet) for packet in exchange((True, b"GET / HTTP/1.1\r\n\r\n"))], []),
    ]
    for frames, wanted in cases:
        found = records(tmp_path, frames, [RULE.replace("tcp", "http")], "anomaly")
        assert [(record["anomaly"]["type"], record["anomaly"]["event"]) for record in found] == wanted
    assert found == [] and records(tmp_path, cases[2][0], [RULE], "anomaly")[0]["src_ip"] == "10.0.0.9"
