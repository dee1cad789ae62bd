# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Alerts of the native engine against a brute-force evaluation of all rules in plain Python, and
the faults of others.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from ids_oracle import Oracle, Packet, read
from ids_random import CLIENT, SERVER, rule_text, traffic
from ids_soft import Soft, frame

A, B = (CLIENT, 4000), (SERVER, 80)


def rules_file(folder: Path, rules: list[str], name: str = "test.rules") -> Path:
    path = folder / name
    path.write_text("\n".join(rules) + "\n", encoding="latin-1")
    return path


@pytest.mark.parametrize("seed", range(12))
def test_alerts_equal_brute_force(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    texts = [rule_text(random, sid) for sid in range(1, 81)]
    rules = [read(text) for text in texts]
    oracle = Oracle(rules)
    alerts = 0
    with Soft(rules_file(tmp_path, texts)) as soft:
        for number, packet in enumerate(traffic(random, rules, 30)):
            expected = oracle.packet(packet)
            data = frame(packet, options=random.random() < 0.3)
            assert sorted(soft.sids(data, number)) == sorted(expected), (number, packet)
            alerts += len(expected)
        assert soft.finish()["alerts"] == []
    assert alerts > 50


def handshake() -> list[Packet]:
    return [
        Packet("tcp", A, B, b"", 99, "S"),
        Packet("tcp", B, A, b"", 499, "SA"),
        Packet("tcp", A, B, b"", 100, "A"),
    ]


def sent(*segments: tuple[int, bytes]) -> list[Packet]:
    return [Packet("tcp", A, B, data, sequence, "PA") for sequence, data in segments]


def found(folder: Path, rules: list[str], packets: list[Packet], mode: str = "ids") -> list[list[int]]:
    with Soft(rules_file(folder, rules), mode) as soft:
        return [soft.sids(frame(packet)) for packet in packets]


SECRET = 'alert tcp any any -> any any (content:"secret word"; sid:1;)'


@pytest.mark.parametrize("at", range(1, 11))
def test_a_string_may_straddle_segments(at: int, tmp_path: Path) -> None:
    text = b"secret word"
    assert found(tmp_path, [SECRET], [*handshake(), *sent((100, text[:at]), (100 + at, text[at:]))])[-1] == [1]


def test_a_string_may_come_byte_by_byte_across_the_wrap(tmp_path: Path) -> None:
    start = 2**32 - 4
    packets = [Packet("tcp", A, B, b"", start - 1, "S")]
    packets += sent(*[((start + at) % 2**32, bytes([byte])) for at, byte in enumerate(b"secret word")])
    assert found(tmp_path, [SECRET], packets) == [[]] * 11 + [[1]]


def test_padding_is_not_searched(tmp_path: Path) -> None:
    rule = 'alert tcp any any -> any any (content:"aaaa"; sid:1;)'
    data = frame(handshake()[2])
    assert data.endswith(b"aaaa")
    assert found(tmp_path, [rule], [*handshake(), *sent((100, b"aaa"))]) == [[]] * 4


def test_headers_have_any_length(tmp_path: Path) -> None:
    with Soft(rules_file(tmp_path, [SECRET])) as soft:
        for tags in range(3):
            for version in (4, 6):
                ends = [("fd00::1", 5000 + tags), ("fd00::2", 80)] if version == 6 else [(CLIENT, 5000 + tags), B]
                packet = Packet("tcp", ends[0], ends[1], b"a secret word", 100, "A")
                assert soft.sids(frame(packet, tags, options=True)) == [1], (tags, version)


@pytest.mark.parametrize("closed", [True, False])
def test_a_five_tuple_is_used_again(closed: bool, tmp_path: Path) -> None:
    """After its end, or when the server answers a new SYN: the new sequence numbers may be below the old ones."""
    close = [
        Packet("tcp", A, B, b"", 100, "FA", 500),
        Packet("tcp", B, A, b"", 500, "FA", 101),
        Packet("tcp", A, B, b"", 101, "A", 501),
    ]
    again = [
        Packet("tcp", A, B, b"", 50, "S"),
        Packet("tcp", B, A, b"", 900, "SA", 51),
        Packet("tcp", A, B, b"a secret word", 51, "PA", 901),
    ]
    packets = [*handshake(), *(close if closed else []), *again]
    assert found(tmp_path, [SECRET], packets) == [[]] * (len(packets) - 1) + [[1]]


def test_retransmissions_neither_hide_nor_repeat(tmp_path: Path) -> None:
    packets = [*handshake(), *sent((100, b"secret"), (100, b"secret"), (106, b" word"), (100, b"secret word"))]
    assert found(tmp_path, [SECRET], packets)[3:] == [[], [], [1], []]


def test_protocols_have_flows_of_their_own(tmp_path: Path) -> None:
    udp = Packet("udp", A, B, b"secret", 0, "")
    rest = Packet("udp", A, B, b" word", 0, "")
    packets = [*handshake(), *sent((100, b"secret")), udp, rest, *sent((106, b" word"))]
    assert found(tmp_path, [SECRET], packets)[-3:] == [[], [], [1]]


def test_case_is_folded_in_rule_and_data(tmp_path: Path) -> None:
    rules = [
        'alert tcp any any -> any any (content:"SeCReT wOrd"; nocase; sid:1;)',
        'alert tcp any any -> any any (content:"sEcrEt"; sid:2;)',
    ]
    packets = [*handshake(), *sent((100, b"SECRET WORD"), (111, b"sEcrEt"), (117, b"secret word"))]
    assert found(tmp_path, rules, packets)[3:] == [[1], [2], [1]]


def test_every_rule_is_reached_and_reported(tmp_path: Path) -> None:
    """Rules whose strings end alike share places of the filter; each is still found, and all at once."""
    words = [f"{prefix}tail-of-all" for prefix in "abcdefghijklmnopqrstuvwxyz"] + [
        "zzzz" + "x" * n for n in range(1, 30)
    ]
    rules = [f'alert tcp any any -> any any (content:"{word}"; sid:{sid};)' for sid, word in enumerate(words, 1)]
    text = " ".join(words).encode()
    packets = [*handshake(), *sent((100, text[:300]), (400, text[300:]))]
    assert sorted({sid for sids in found(tmp_path, rules, packets) for sid in sids}) == list(range(1, len(words) + 1))


def test_a_rule_reports_again_for_new_bytes(tmp_path: Path) -> None:
    packets = [*handshake(), *sent((100, b"secret word"), (111, b"nothing"), (118, b"secret word secret word"))]
    assert found(tmp_path, [SECRET], packets)[3:] == [[1], [], [1]]


def test_contents_in_several_segments(tmp_path: Path) -> None:
    rule = 'alert tcp any any -> any any (content:"xyz"; content:"long-and-rare"; content:"end"; distance:0; sid:1;)'
    packets = [
        *handshake(),
        *sent((100, b"..xyz.."), (107, b"long-and-rare"), (120, b"...."), (124, b"end"), (127, b"end")),
    ]
    assert found(tmp_path, [rule], packets)[3:] == [[], [], [], [1], [1]]


def test_drops(tmp_path: Path) -> None:
    rules = [
        'drop tcp any any -> any any (content:"secret word"; sid:1;)',
        'drop udp any any -> any any (content:"secret word"; sid:2;)',
        'pass tcp any any -> any 81 (content:"secret word"; sid:3;)',
        'alert tcp any any -> any any (content:"secret word"; sid:4;)',
    ]
    after = Packet("tcp", B, A, b"answer", 500, "PA")
    other = [Packet("tcp", A, (SERVER, 81), b"a secret word", 100, "PA")]
    datagrams = [Packet("udp", A, B, text, 0, "") for text in (b"a secret word", b"harmless")]
    packets = [*handshake(), *sent((100, b"secret"), (106, b" word")), after, *other, *datagrams]
    for mode, drops in [("ids", set()), ("ips", {4, 5, 7})]:
        with Soft(rules_file(tmp_path, rules), mode) as soft:
            answers = [soft.frame(frame(packet)) for packet in packets]
        assert {at for at, answer in enumerate(answers) if answer["drop"]} == drops
        alerts = [[alert["alert"]["signature_id"] for alert in answer["alerts"]] for answer in answers]
        assert alerts == [[], [], [], [], [1, 4], [], [], [2], []]
        actions = {alert["alert"]["action"] for answer in answers for alert in answer["alerts"]}
        assert actions == {"blocked" if mode == "ips" else "allowed"}


def test_rules_are_exchanged_in_a_stream(tmp_path: Path) -> None:
    two = 'alert tcp any any -> any any (content:"first-part"; fast_pattern; content:"second-part"; distance:0; sid:2;)'
    three = 'alert tcp any any -> any any (content:"other words"; sid:3;)'
    before = rules_file(tmp_path, [SECRET, two], "before.rules")
    behind = rules_file(tmp_path, [three, two], "behind.rules")
    packets = [*handshake(), *sent((100, b"first-part"), (110, b"secret word other w"), (129, b"ords second-part"))]
    with Soft(before) as soft:
        assert [soft.sids(frame(packet)) for packet in packets[:5]] == [[]] * 4 + [[1]]
        soft.reload(behind)
        # The rule that stays continues its search, and the new one also searches the bytes that arrived before it.
        assert soft.sids(frame(packets[5])) == [3, 2]
        stats = soft.finish()["stats"]
    assert (stats["detect"]["alerts"], stats["detect"]["reloads"], stats["detect"]["rules"]) == (3, 1, 2)


def test_bits_of_flows(tmp_path: Path) -> None:
    rules = [
        # The rule that tests comes before the rule that sets.
        'alert tcp any any -> any any (content:"second"; flowbits:isset,login; sid:1;)',
        'alert tcp any any -> any any (content:"first"; flowbits:set,login; flowbits:noalert; sid:2;)',
        'alert tcp any any -> any any (content:"leave"; flowbits:isset,login|other; flowbits:unset,login; sid:3;)',
        'alert tcp any any -> any any (content:"second"; flowbits:isnotset,login; sid:4;)',
    ]
    texts = [b"second", b"first second", b"second", b"leave leave", b"second", b"leave"]
    packets, at = handshake(), 100
    for text in texts:
        packets += sent((at, text))
        at += len(text)
    other = Packet("tcp", (CLIENT, 4001), B, b"second", 100, "PA")
    assert found(tmp_path, rules, [*packets, other])[3:] == [[4], [1], [1], [3], [4], [], [4]]


def test_thresholds(tmp_path: Path) -> None:
    kinds = ["threshold:type limit", "threshold:type threshold", "threshold:type both", "detection_filter:"]
    rules = [
        (
            'alert udp any any -> any any (content:"again"; '
            f"{kind}{'' if kind[-1] == ':' else ','} track by_src, count 2, seconds 10; sid:{sid};)"
        )
        for sid, kind in enumerate(kinds, 1)
    ]
    second = 1_000_000_000
    times = [0, 1, 2, 3, 9, 10, 11, 12]
    packet = frame(Packet("udp", A, B, b"again", 0, ""))
    other = frame(Packet("udp", (SERVER, 9), B, b"again", 0, ""))
    with Soft(rules_file(tmp_path, rules)) as soft:
        sids = [soft.sids(packet, time * second) for time in times]
        assert sids == [[1], [1, 2, 3], [4], [2, 4], [4], [1], [1, 2, 3], [4]]
        assert soft.sids(other, 12 * second) == [1]


def test_numbers_in_payload(tmp_path: Path) -> None:
    rules = [
        'alert udp any any -> any any (content:"len"; byte_test:2,>,300,0,relative; sid:1;)',
        'alert udp any any -> any any (content:"len"; byte_jump:1,1,relative; content:"end"; within:3; sid:2;)',
    ]
    texts = [b"len\x01\x2cxx", b"len\x01\x2d", b"len\0\x02..end", b"len\0\x02.end", b"len\0", b"len\0\xffend"]
    packets = [Packet("udp", A, B, text, 0, "") for text in texts]
    assert found(tmp_path, rules, packets) == [[], [1], [2], [], [], []]


def test_what_waits_behind_a_hole_is_searched_at_the_end(tmp_path: Path) -> None:
    with Soft(rules_file(tmp_path, [SECRET])) as soft:
        for packet in [*handshake(), *sent((200, b"a secret word"))]:
            assert soft.sids(frame(packet), 7) == []
        end = soft.finish()
        assert [alert["alert"]["signature_id"] for alert in end["alerts"]] == [1]
        assert end["stats"]["streams"]["waiting_bytes"] == 13
        # The hole is not given up: the bytes that fill it count.
        filling = Packet("tcp", A, B, b"x" * 89 + b"secret word", 100, "PA")
        assert soft.sids(frame(filling), 8) == [1]
        assert soft.finish()["stats"]["streams"]["waiting_bytes"] == 0
