# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Rules that match once in each direction of a flow, and actions that are about the whole flow."""

from __future__ import annotations

from pathlib import Path

import pytest
from ids_oracle import Packet
from ids_random import CLIENT, SERVER
from ids_soft import Soft, frame
from test_messages import rules_file

A, B = (CLIENT, 4000), (SERVER, 5000)


def datagrams(count: int, port: int = 4000) -> list[bytes]:
    """Datagrams of one flow: the client sends the first one, then the ends take turns."""
    client = (A[0], port)
    ways = [(client, B), (B, client)]
    return [frame(Packet("udp", *ways[number % 2], b"word", 0, "")) for number in range(count)]


def segments(*payloads: tuple[bool, bytes]) -> list[bytes]:
    """A connection with the payloads of its client (True) and server."""
    position = {True: 1, False: 1}
    out = [frame(Packet("tcp", A, B, b"", 0, "S")), frame(Packet("tcp", B, A, b"", 0, "SA"))]
    for of_client, payload in payloads:
        ends = (A, B) if of_client else (B, A)
        out.append(frame(Packet("tcp", *ends, payload, position[of_client], "A")))
        position[of_client] += len(payload)
    return out


# Rules by what they name, and the numbers of the frames of six in turns that they report.
RULES = [
    ("udp any any -> any any ({})", [0, 1]),
    ("ip any any -> any any (flowbits:set,seen; {})", [0, 1]),
    ("ip any any -> any any (hostbits:set,seen; priority:2; {})", [0, 1]),
    (f"ip {CLIENT} any -> any any ({{}})", [0]),
    (f"udp any any <> {SERVER} 5000 ({{}})", [0, 1]),
    (f"ip !{SERVER} any -> any any ({{}})", [0, 2, 4]),
    (f"ip any any -> [0.0.0.0/0,!{CLIENT}] any ({{}})", [0, 2, 4]),
    ("udp any any -> any any (flow:to_server; {})", [0, 2, 4]),
    ("udp any any -> any any (dsize:4; {})", [0, 1, 2, 3, 4, 5]),
    ('udp any any -> any any (content:"word"; {})', [0, 1, 2, 3, 4, 5]),
    ("udp any any -> any any (flowint:seen,+,1; {})", [0, 1, 2, 3, 4, 5]),
]


@pytest.mark.parametrize(("rule", "reports"), RULES, ids=[rule for rule, _ in RULES])
def test_rules_about_ends_match_once(rule: str, reports: list[int], tmp_path: Path) -> None:
    """A rule that names nothing but addresses and ports reports each direction once, and again for the next flow."""
    with Soft(rules_file(tmp_path, [f"alert {rule.format('sid:1;')}"])) as soft:
        for port in (4000, 4001):
            found = [soft.sids(data) for data in datagrams(6, port)]
            assert [number for number, sids in enumerate(found) if sids] == reports


def test_a_reload_reports_no_direction_again(tmp_path: Path) -> None:
    rules = [f"alert udp any any -> any any (sid:{sid};)" for sid in (1, 2)]
    frames = datagrams(3)
    with Soft(rules_file(tmp_path, rules[:1])) as soft:
        assert soft.sids(frames[0]) == [1]
        soft.reload(rules_file(tmp_path, rules[::-1]))
        assert [soft.sids(data) for data in frames[1:]] == [[2, 1], [2]]


def test_a_protocol_is_reported_once(tmp_path: Path) -> None:
    """Also if it has messages: a rule with its name in the header reports each of them."""
    rules = [
        "alert tcp any any -> any any (app-layer-protocol:http; sid:1;)",
        "alert tcp any any -> any any (app-layer-protocol:http; flow:to_client; sid:2;)",
        "alert http any any -> any any (sid:3;)",
        "alert tcp any any -> any any (app-layer-protocol:smb; sid:4;)",
    ]
    turn = [(True, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"), (False, b"HTTP/1.1 204 No\r\n\r\n")]
    smb = b"\0\0\0\x40\xfeSMB" + bytes(60)
    for payloads, wanted in (
        (turn + turn, [[1, 3], [1, 2, 3], [3], [3]]),
        ([(True, smb), (False, smb), (True, smb), (False, smb)], [[4], [4], [], []]),
    ):
        with Soft(rules_file(tmp_path, rules)) as soft:
            assert [sorted(soft.sids(data)) for data in segments(*payloads)][2:] == wanted


def test_a_match_of_ends_drops_the_flow(tmp_path: Path) -> None:
    """The other direction is dropped, too; a rule about packets drops packets."""
    for condition, dropped in (("", [True, True, True, True]), ("dsize:4; ", [True, False, True, False])):
        rule = f"drop udp any any -> {SERVER} any ({condition}sid:1;)"
        with Soft(rules_file(tmp_path, [rule]), "ips") as soft:
            assert [soft.frame(data)["drop"] for data in datagrams(4)] == dropped


PASSES = [
    ("ip any any -> any 5000 (sid:1;)", 0),
    ('tcp any any -> any any (content:"friend"; sid:1;)', 3),
    ('http any any -> any any (http.host; content:"friend"; sid:1;)', 3),
    ("tcp any any -> any any (flags:S; sid:1;)", None),
]


@pytest.mark.parametrize(("rule", "begin"), PASSES, ids=[rule for rule, _ in PASSES])
def test_a_flow_passes(rule: str, begin: int | None, tmp_path: Path) -> None:
    """A match in a stream, in a message or of the ends lets all later frames of the flow pass; one of a packet that
    packet."""
    rules = [f"pass {rule}", 'alert tcp any any -> any any (content:"evil"; sid:2;)']
    hello = b"GET / HTTP/1.1\r\nHost: friend.test\r\n\r\n"
    frames = segments((False, b"evil 1 "), (True, hello), (False, b"evil 2 "), (True, b"GET /evil"))
    with Soft(rules_file(tmp_path, rules)) as soft:
        found = [number for number, data in enumerate(frames) if soft.sids(data)]
    assert found == [number for number in (2, 4, 5) if begin is None or number < begin]
