# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The words that the compiler makes for hardware, read in plain Python: they agree with the interpreter of the
program's text.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from flow_element import Program
from flow_words import SEEDS, accepted, play, programs, words


@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_programs(path: Path) -> None:
    compiled = words(path)
    assert not isinstance(compiled, str), compiled
    for seed in range(3):
        play(path.read_text(), compiled, 50, seed, walk=40)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random(seed: int, tmp_path: Path) -> None:
    text, compiled = accepted(seed, tmp_path / "random.efsm")
    plays = play(text, compiled, 50, seed, walk=40)
    assert plays[0].given


@pytest.mark.parametrize(
    "key",
    [
        "biflow(5tuple)",
        "biflow(5tuple6)",
        "biflow(eth.src, eth.dst, ip.dst, ip.src, tcp.dport, tcp.sport, vlan.id)",
        "biflow(l4.sport, l4.dport, ip.src, ip.dst)",
        "ip6.src, ip6.dst, tcp.seq, tcp.dport, tcp.sport",
        "eth.src, eth.dst, ip.src, ip.dst, l4.sport, l4.dport, l4.proto, hash, data.0",
        "ip.ttl, ip.tos, ip.len, ip.id, ip.frag, ip.proto, tcp.flags, tcp.window, tcp.len, port, len",
    ],
)
def test_keys(key: str, tmp_path: Path) -> None:
    """Each flow has its own key, and both directions have the same."""
    path = tmp_path / "key.efsm"
    path.write_text(f"element e {{ key {key} flow n n < 100 => n = n + 1 }}")
    compiled = words(path)
    assert not isinstance(compiled, str), compiled
    for seed in range(4):
        play(path.read_text(), compiled, 1000, seed, walk=40)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("element e { key ip.src flow n table 64 tcp => n = n + 1 }", ":1:9:", "those of this hardware hold 62"),
        (
            "element e { key port, ip.tos, ip.ttl, ip.proto, ip.len, ip.id, ip.frag, tcp.flags, tcp.window, "
            "tcp.len, tcp.syn, tcp.fin, "
            "tcp.rst, tcp.ack_flag, vlan.id, vlan.pcp, vlan2.id, vlan2.pcp, mpls.tc, mpls.ttl, len flow n tcp => "
            "n = 1 }",
            ":1:13:",
            "take one of them out",
        ),
        (
            "element e { key ip.src\n" + "\n".join(f"ip.ttl == {n} => keep for {n} s" for n in range(1, 10)) + "}",
            ":10:1:",
            "9 different timeouts",
        ),
    ],
)
def test_refused(text: str, place: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "refused.efsm"
    path.write_text(text)
    fault = words(path, 62)
    assert isinstance(fault, str) and fault.startswith(f"{path}{place}") and message in fault, fault


@pytest.mark.parametrize(
    ("table", "places"),
    [
        ("", 18),
        ("table 4", 0),
        ("table 5", 1),
        ("table 62", 4),
        ("table 63", 5),
        ("table 15892", 12),
        ("table 1048576", 18),
    ],
)
def test_tables_are_no_larger_than_they_need_be(table: str, places: int, tmp_path: Path) -> None:
    path = tmp_path / "table.efsm"
    path.write_text(f"element e {{ key ip.src {table} flow n tcp => n = n + 1 }}")
    compiled = words(path)
    assert not isinstance(compiled, str), compiled
    assert Program.read(compiled[0]["words"]).places == (1 << places) - 1


def test_timeouts_are_shared(tmp_path: Path) -> None:
    path = tmp_path / "timeouts.efsm"
    rows = "\n".join(f"ip.ttl == {n} => keep for {n % 7 + 1} s idle 8 s" for n in range(1, 20))
    path.write_text(f"element e {{ key ip.src\n{rows} }}")
    compiled = words(path)
    assert not isinstance(compiled, str), compiled
    periods = Program.read(compiled[0]["words"]).periods
    assert sorted(period.duration for period in periods) == [n * 1_000_000 for n in range(1, 9)]
