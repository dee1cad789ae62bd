# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""`penstock exec rmt`: tests in STF, on both targets. Scapy makes the expected frames."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from system import ROOT, call

PROGRAMS = ROOT / "engines/rmt/programs"
TESTS = ROOT / "engines/rmt/tests/stf"
HOP = ("02:00:00:00:00:01", "02:00:00:00:00:11")


def run(program: str, test: Path, target: str = "soft") -> subprocess.CompletedProcess[str]:
    return call("exec", "rmt", PROGRAMS / program, test, "--target", target)


def routed(vlan: bool, ttl: int, dst: str) -> tuple[str, str]:
    """A frame, and its form after a router."""

    def frame(src: str, to: str, ttl: int) -> str:
        tag = Dot1Q(vlan=257) if vlan else None
        below = Ether(src=src, dst=to) / tag if tag else Ether(src=src, dst=to)
        return bytes(below / IP(src="192.0.2.9", dst=dst, ttl=ttl) / UDP(sport=1, dport=2) / b"payload").hex()

    return frame("02:00:00:00:00:aa", "02:00:00:00:00:bb", ttl), frame(*HOP, ttl - 1)


def router(folder: Path) -> Path:
    number = [mac.replace(":", "") for mac in HOP]
    lines = [
        "add routes hdr.ipv4.dst:0x0a000000/8 route(next_hop:1)",
        "add RouterIngress.routes hdr.ipv4.dst:0x0a010000/16 RouterIngress.drop()",
        f"add next_hops meta.next_hop:1 forward(port:1, src:0x{number[0]}, dst:0x{number[1]})",
    ]
    for vlan, ttl, dst in ((False, 64, "10.2.0.1"), (True, 2, "10.255.0.1")):
        enters, leaves = routed(vlan, ttl, dst)
        lines += [f"packet 0 {enters}", f"expect 1 {leaves}$"]
    # A dropped route, no route, and a time to live that ends
    lines += [
        f"packet 0 {routed(False, ttl, dst)[0]}" for ttl, dst in ((64, "10.1.0.1"), (64, "11.0.0.1"), (1, "10.2.0.1"))
    ]
    path = folder / "router.stf"
    path.write_text("\n".join([*lines, "no_packet", ""]))
    return path


@pytest.mark.parametrize("target", ["soft", "rtl"])
def test_programs(tmp_path: Path, target: str) -> None:
    for program, test, says in (
        ("calculator.p4", TESTS / "calculator.stf", "6 packets, 3 expectations hold"),
        ("router.p4", router(tmp_path), "5 packets, 2 expectations hold"),
    ):
        done = run(program, test, target)
        assert done.returncode == 0 and says in done.stdout, done.stderr


@pytest.mark.parametrize("target", ["soft", "rtl"])
def test_groups(tmp_path: Path, target: str) -> None:
    def frame(ttl: int) -> str:
        head = Ether(src="02:aa:00:00:00:01", dst="01:00:5e:01:01:01")
        return bytes(head / IP(src="10.1.0.9", dst="239.1.1.1", ttl=ttl) / UDP(sport=1, dport=2) / b"payload").hex()

    lines = ["add streams hdr.ipv4.src:0x0a010009 hdr.ipv4.dst:0xef010101 replicate(group:2)"]
    lines += ["mc_mgrp_create 2", "mc_node_create 0 0 1", "mc_node_create 7 1"]
    for node, copies in ((0, (0, 1)), (1, (0, 1, 1))):
        lines += [f"mc_node_associate 2 {node}", f"packet 0 {frame(9)}"]
        lines += [f"expect {port} {frame(8)}$" for port in copies]
    path = tmp_path / "groups.stf"
    path.write_text("\n".join([*lines, ""]))
    done = run("multicast.p4", path, target)
    assert done.returncode == 0, done.stderr


def test_expectations_that_do_not_hold(tmp_path: Path) -> None:
    good = (TESTS / "calculator.stf").read_text()
    for old, new, line, words in (
        ("0000000c00000001$", "0000000d00000001$", 6, "port 0: expected"),
        ("expect 0", "expect 1", 5, "a frame left port 0 unexpected"),
        ("\nexpect 0", "\n# expect 0", 5, "a frame left port 0 unexpected"),
        ("no_packet", "expect 3", 20, "no further frame left port 3"),
        ("no_packet", "expct 3", 20, "`expct` is no statement"),
        ("no_packet", "add nothing k:1 drop()", 20, "there is no table `nothing`"),
        ("no_packet", "mc_node_associate 1 0", 20, "there is no node 0"),
    ):
        assert old in good
        path = tmp_path / "wrong.stf"
        path.write_text(good.replace(old, new, 1))
        done = run("calculator.p4", path)
        assert done.returncode == 1 and f"wrong.stf:{line}: " in done.stderr and words in done.stderr, done.stderr
