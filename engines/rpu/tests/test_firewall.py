# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The firewall card against Python's ipaddress, with our firmware, our compat firmware and the published listing."""

from __future__ import annotations

import ipaddress
import random
from pathlib import Path

import pytest
from penstock import data
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.utils import RawPcapReader
from system import ROOT, TARGETS, DesignMaker, assert_twins, run_design, write_capture

PROGRAMS = {
    "ours": ROOT / "engines/rpu/programs/firewall.c",
    "compat": ROOT / "engines/rpu/programs/firewall_compat.c",
    "listing": data.LISTING,
}


@pytest.mark.parametrize("program", ["ours", "compat", "listing"])
def test_published_traffic(program: str, captures: Path, tmp_path: Path) -> None:
    """4 of 2,104 frames come from sources outside the list of 1,050 prefixes."""
    source = PROGRAMS[program]
    if not source.is_file():
        pytest.skip("the published listing is not here")
    capture = captures / "firewall-2104.pcap"
    networks = [
        ipaddress.ip_network(line.split()[0]) for line in data.BLOCK_LIST.read_text().splitlines() if line.strip()
    ]
    frames = [bytes(frame) for frame, _ in RawPcapReader(str(capture))]
    clean = [f for f in frames if not any(ipaddress.ip_address(f[26:30]) in network for network in networks)]
    assert len(clean) == 4 and len(frames) == 2104
    runs = {}
    for target in TARGETS:
        run = run_design(
            ROOT / "designs/firewall.toml",
            [capture],
            tmp_path / target,
            target,
            "--table",
            f"ip_prefix={data.BLOCK_LIST}",
            "--program",
            source,
        )
        assert run.status == 0, run.stderr
        assert run.frames["port1"] == clean or sorted(run.frames["port1"]) == sorted(clean)
        assert run.result["drops"] == {"blocked": 2100}
        assert run.result["frames_out"]["port1"] == 4
        runs[target] = run
    assert_twins(runs["soft"], runs["rtl"])


def random_list(rng: random.Random, count: int) -> list[tuple[ipaddress.IPv4Network, int]]:
    """Prefixes of every length, many nested in others, some exempted (class 0)."""
    networks: dict[ipaddress.IPv4Network, int] = {}
    while len(networks) < count:
        if networks and rng.random() < 0.5:
            outer = rng.choice(list(networks))
            length = rng.randint(outer.prefixlen, 32)
            address = int(outer.network_address) | (rng.getrandbits(32) & ~int(outer.netmask) & 0xFFFFFFFF)
        else:
            length, address = rng.randint(4, 32), rng.getrandbits(32)
        network = ipaddress.IPv4Network((address & (0xFFFFFFFF << (32 - length)) & 0xFFFFFFFF, length))
        networks[network] = rng.choice([0, 1, 1, 1, 7, 15])
    return list(networks.items())


@pytest.mark.parametrize("program", ["ours", "compat"])
def test_random_lists(program: str, tmp_path: Path, make_design: DesignMaker) -> None:
    rng = random.Random(program)
    networks = random_list(rng, 400)
    table = tmp_path / "list.txt"
    table.write_text("# random\n" + "".join(f"{network} {klass}\n" for network, klass in networks))
    frames = []
    for _ in range(400):
        network, _klass = rng.choice(networks)
        edge = rng.choice([int(network.network_address), int(network.broadcast_address), rng.getrandbits(32)])
        source = str(ipaddress.ip_address((edge + rng.choice([-1, 0, 0, 1])) & 0xFFFFFFFF))
        frames.append(
            bytes(
                Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
                / IP(src=source, dst="192.0.2.1")
                / UDP()
                / (b"x" * rng.randrange(18, 600))
            )
        )
    frames += [bytes(Ether() / ARP()).ljust(60, b"\0"), bytes(Ether() / IPv6(src="2001:db8::1") / UDP())]
    rng.shuffle(frames)
    capture = write_capture(tmp_path / "in.pcap", frames)
    best = sorted(networks, key=lambda row: -row[0].prefixlen)

    def passes(frame: bytes) -> bool:
        if frame[12:14] != b"\x08\x00":
            return False
        address = ipaddress.ip_address(frame[26:30])
        return next((klass for network, klass in best if address in network), 0) == 0

    want = [frame for frame in frames if passes(frame)]
    assert 50 < len(want) < len(frames) - 50, "traffic that does not test both verdicts"
    design = make_design(PROGRAMS[program], accelerators=["ip_prefix"], tables={"ip_prefix": table})
    runs = {target: run_design(design, [capture], tmp_path / target, target) for target in TARGETS}
    for run in runs.values():
        assert run.status == 0, run.stderr
        assert sorted(run.frames["port1"]) == sorted(want)
        assert run.result["drops"] == {"blocked": len(frames) - len(want)}
    assert_twins(runs["soft"], runs["rtl"])


def test_readme_program(tmp_path: Path, make_design: DesignMaker) -> None:
    """The program in the README agrees with the shipped firewall, even for frames that end before
    the source address.
    """
    text = (ROOT / "README.md").read_text()
    program = tmp_path / "readme.c"
    program.write_text(text.split("```c\n")[1].split("```")[0])
    table = tmp_path / "list.txt"
    table.write_text("198.51.100.0/24\n")
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    frames = []
    for n in range(60):
        source = f"198.51.100.{n}" if n % 3 == 0 else f"192.0.2.{n}"
        whole = bytes(ether / IP(src=source, dst="192.0.2.1") / UDP() / bytes(20))
        frames.append(whole if n % 4 else whole[: 14 + n % 20])
    capture = write_capture(tmp_path / "in.pcap", frames)
    want = [f for f in frames if len(f) >= 34 and f[26:29] != b"\xc6\x33\x64"]
    for source in (program, PROGRAMS["ours"]):
        design = make_design(source, units=1, accelerators=["ip_prefix"], tables={"ip_prefix": table})
        run = run_design(design, [capture], tmp_path / "out", "soft")
        assert run.status == 0, run.stderr
        assert run.frames["port1"] == want
