# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Cards with units of several kinds, which pass frames on to each other over loopback: the output equals plain
Python's, and is the same on both targets.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from penstock import DesignError, Device, UnsupportedError
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from system import ROOT, TARGETS, Run, assert_twins, call, run_design, write_capture

FIRMWARE = ROOT / "engines/xdp/tests/firmware"
CHAIN = ROOT / "designs" / "chain.toml"
CLASSIFIERS, INSPECTORS = range(12), range(12, 16)

# The patterns of designs/signatures.txt, as bytes.
EXACT = (b"/etc/passwd", b"\x90" * 8)
ANY_CASE = (b"cmd.exe", b"union select")
# Things that nearly are patterns.
NEARLY = (b"/etc/Passwd", b"\x90" * 7, b"cmd.ex", b"union  select", b"/etc/passw")


def is_bad(data: bytes) -> bool:
    return any(pattern in data for pattern in EXACT) or any(pattern in data.lower() for pattern in ANY_CASE)


def payload(rng: random.Random) -> bytes:
    """Random bytes, often with a pattern or nearly one at some place, the beginning and the end among them."""
    data = rng.randbytes(rng.choice([0, 1, 20, 60, 200, 1400]))
    pick = rng.random()
    if pick < 0.5:
        word = rng.choice(EXACT + ANY_CASE + NEARLY)
        word = bytes(
            rng.choice([byte, byte ^ 0x20]) if chr(byte).isalpha() and word in ANY_CASE else byte for byte in word
        )
        place = rng.choice([0, len(data), rng.randrange(len(data) + 1)])
        data = data[:place] + word + data[place:]
    return data


def traffic(rng: random.Random, count: int) -> list[bytes]:
    """TCP and UDP over IPv4 in several flows, and other frames: IPv6, ICMP, ARP, truncated headers."""
    flows = [(rng.randrange(1 << 16), rng.randrange(256)) for _ in range(24)]
    frames = []
    for _ in range(count):
        source, target = rng.choice(flows)
        data, ports = payload(rng), {"sport": 1000 + source % 7, "dport": 80}

        def ip(protocol: int) -> IP:
            # Protocols go different ways: no two of them are in a flow, even where a frame ends before its ports.
            return IP(src=f"10.{protocol}.{source >> 8}.{source & 255}", dst=f"192.0.2.{target}")  # noqa: B023

        packet = rng.choice(
            [
                ip(6) / TCP(**ports) / data,
                ip(6) / TCP(**ports) / data,
                ip(17) / UDP(**ports) / data,
                ip(1) / ICMP() / data,
                IPv6(src="2001:db8::1", dst="2001:db8::2") / TCP(**ports) / data,
                ARP(),
            ]
        )
        frame = bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / packet)
        frames.append(frame[: rng.randrange(14, 60)] if rng.random() < 0.05 else frame)
    return frames


def has_protocol(frame: bytes, protocol: int) -> bool:
    """IPv4 with this protocol, its header there without options."""
    return len(frame) >= 34 and frame[12:14] == b"\x08\x00" and frame[14] >> 4 == 4 and frame[23] == protocol


def test_programs_compiled_for_a_design(tmp_path: Path) -> None:
    """A program that names a group compiles if the design is given; otherwise the message asks for it."""
    program = tmp_path / "names.c"
    program.write_text(
        '_Static_assert(PN_FIRST_INSPECT == 12 && PN_COUNT_INSPECT == 4, "");\nint main(void) { return 0; }\n'
    )
    refused = call("compile", "rpu", program)
    assert refused.returncode != 0 and "name the design: --design" in refused.stderr
    done = call("compile", "rpu", program, "--design", CHAIN)
    assert done.returncode == 0, done.stderr


def units(run: Run, numbers: Sequence[int], name: str = "rx_frames") -> int:
    return sum(run.result["counters"]["units"][number][name] for number in numbers)


def test_chain(tmp_path: Path) -> None:
    """Only what a unit of the first group hands on gets to the second, and that drops exactly the frames with a
    pattern.
    """
    rng = random.Random(7)
    sent = {port: traffic(rng, 500) for port in (0, 1)}
    captures = [f"{write_capture(tmp_path / f'{port}.pcap', frames)}@{port}" for port, frames in sent.items()]
    tcp = [frame for frames in sent.values() for frame in frames if has_protocol(frame, 6)]
    bad = [frame for frame in tcp if is_bad(frame[14:])]
    assert len(bad) > 50 and len(tcp) - len(bad) > 100
    assert any(is_bad(frame) for frames in sent.values() for frame in frames if frame not in tcp)
    runs = {target: run_design(CHAIN, captures, tmp_path / target, target) for target in TARGETS}
    for target, run in runs.items():
        assert run.status == 0, run.stderr
        for port, frames in sent.items():
            expected = Counter(frame for frame in frames if not (has_protocol(frame, 6) and is_bad(frame[14:])))
            assert Counter(run.frames[f"port{1 - port}"]) == expected, target
        assert run.result["drops"] == {"blocked": len(bad)}
        assert units(run, CLASSIFIERS) == sum(map(len, sent.values()))
        assert units(run, INSPECTORS) == len(tcp) and units(run, INSPECTORS, "blocked") == len(bad)
        assert all(units(run, [number]) > 0 for number in (*CLASSIFIERS, *INSPECTORS)), target
    assert_twins(runs["soft"], runs["rtl"])


MIXED = """
[card]
name = "mixed"
ports = 2
[dispatch]
policy = "{policy}"
[[units]]
name = "first"
engine = "rpu"
count = 3
program = "{firmware}/to_filters.c"
[[units]]
name = "filters"
engine = "xdp"
count = 2
program = "{firmware}/verdicts.c"
"""


@pytest.mark.parametrize("policy", ["flow-hash", "round-robin"])
def test_rpu_and_xdp(policy: str, tmp_path: Path) -> None:
    """A packet unit passes UDP on to cores for XDP programs, which drop, redirect and pass; frames that they would send
    back over loopback are refused.
    """
    rng = random.Random(11)
    sent = {port: traffic(rng, 300) for port in (0, 1)}
    for frames in sent.values():
        for index, frame in enumerate(frames):
            if has_protocol(frame, 17) and len(frame) > 42:
                frames[index] = frame[:42] + bytes([rng.randrange(6)]) + frame[43:]
    fates = {name: Counter[bytes]() for name in ("port0", "port1", "host", "blocked", "refused")}
    for port, frames in sent.items():
        for frame in frames:
            if not has_protocol(frame, 17):
                fates[f"port{1 - port}"][frame] += 1
            elif len(frame) < 43:
                fates["blocked"][frame] += 1
            else:
                # The interface number of loopback, which the program writes, is 17.
                fate = ["blocked", "refused", "port0", "port1", "host", "blocked"][frame[42]]
                fates[fate][frame[:42] + bytes([17]) + frame[43:]] += 1
    assert all(fate.total() > 5 for fate in fates.values())
    design = tmp_path / "mixed.toml"
    design.write_text(MIXED.format(policy=policy, firmware=FIRMWARE))
    captures = [f"{write_capture(tmp_path / f'{port}.pcap', frames)}@{port}" for port, frames in sent.items()]
    runs = {target: run_design(design, captures, tmp_path / target, target) for target in TARGETS}
    for target, run in runs.items():
        assert run.status == 0, run.stderr
        for place in ("port0", "port1", "host"):
            assert Counter(run.frames[place]) == fates[place], f"{target}: {place}"
        assert run.result["drops"] == {name: fates[name].total() for name in ("blocked", "refused")}
        assert units(run, range(3)) == 600
        assert units(run, range(3, 5)) == sum(has_protocol(f, 17) for frames in sent.values() for f in frames)
    if policy == "flow-hash":
        assert_twins(runs["soft"], runs["rtl"])


def test_any_unit_over_loopback_is_one_that_ports_reach(tmp_path: Path) -> None:
    """With every policy, loopback frames that name no unit stay among the units that get frames of ports."""
    program = tmp_path / "again.c"
    program.write_text(
        "#include <penstock.h>\n"
        "int main(void) { pn_init(); for (;;) { pn_desc_t d = pn_recv();\n"
        "  pn_send(pn_to(d, pn_from(d) == PN_PORT_LOOPBACK ? PN_PORT_ETH(1) : PN_PORT_LOOPBACK)); } }\n"
    )
    frames = traffic(random.Random(5), 200)
    capture = write_capture(tmp_path / "in.pcap", frames)
    for policy in ("round-robin", "least-loaded", "flow-hash"):
        design = tmp_path / f"{policy}.toml"
        # 16 units, as in other tests, which share the model of the card.
        groups = [("idle", 1, "ports = false"), ("busy", 2, "ports = true"), ("spare", 13, "")]
        design.write_text(
            f'[card]\nname = "any"\nports = 2\n[dispatch]\npolicy = "{policy}"\n'
            + "".join(
                f'[[units]]\nname = "{name}"\nengine = "rpu"\ncount = {count}\nprogram = "{program}"\n{ports}\n'
                for name, count, ports in groups
            )
        )
        for target in TARGETS:
            run = run_design(design, [capture], tmp_path / f"{policy}-{target}", target)
            assert run.status == 0, run.stderr
            assert Counter(run.frames["port1"]) == Counter(frames)
            assert units(run, [0, *range(3, 16)]) == 0 and units(run, [1, 2]) == 2 * len(frames), (policy, target)


MARK = """
#include <penstock.h>
int main(void) {
  pn_init();
  for (;;) { pn_desc_t d = pn_recv(); *pn_data() = MARK; pn_send(pn_to(d, PN_PORT_ETH(1))); }
}
"""
KINDS = """
[card]
name = "kinds"
ports = 2
[dispatch]
policy = "{policy}"
[[units]]
name = "plain"
engine = "rpu"
count = 2
program = "plain.c"
[[units]]
name = "lists"
engine = "rpu"
count = 2
program = "lists.c"
rpu.accelerators = ["ip_prefix"]
"""


@pytest.mark.parametrize("policy", ["flow-hash", "round-robin"])
@pytest.mark.parametrize("target", TARGETS)
def test_units_of_another_kind_take_over(target: str, policy: str, tmp_path: Path) -> None:
    """Under traffic, and back: each frame leaves once, by way of a unit of one kind or the other, and none is lost."""
    for mark, name in enumerate(("plain", "lists"), start=1):
        (tmp_path / f"{name}.c").write_text(MARK.replace("MARK", str(mark)))
    design = tmp_path / "kinds.toml"
    design.write_text(KINDS.format(policy=policy))
    frames = [
        bytes(Ether() / IP(src=f"10.0.0.{n % 50}", dst="10.0.0.200") / UDP() / n.to_bytes(2, "big"))
        for n in range(2000)
    ]

    def marks(left: Sequence[bytes]) -> list[int]:
        return [frame[0] for frame in left]

    with Device.open(design, target=target) as device:
        if target == "rtl":
            device.send(frames)
            left = [frame.data for frame in device.step(300)]
            assert 0 < len(left) < 200 and set(marks(left)) == {1}
            device.set_ingress("lists")
            between = [frame.data for frame in device.step(1000)]
            # The units of the first kind have sent all their frames.
            after = [frame.data for frame in device.step(300)]
            assert set(marks(after)) == {2} and 2 in marks(between)
            device.set_ingress("plain")
            result = device.run()
            assert 0 < marks([frame.data for frame in result.frames]).count(2) < 2000 and result.frames[-1].data[0] == 1
            everything = [frame.data for frame in result.frames]
            assert Counter(frame[1:] for frame in everything) == Counter(frame[1:] for frame in frames)
            assert not any(result.drops.values())
        else:
            for groups, mark in ((("lists",), {2}), (("plain",), {1}), (("plain", "lists"), {1, 2})):
                device.set_ingress(*groups)
                device.send(frames)
                result = device.run()
                assert set(marks([frame.data for frame in result.frames])) == mark and not any(result.drops.values())
                assert Counter(f.data[1:] for f in result.frames) == Counter(frame[1:] for frame in frames)
        with pytest.raises(DesignError, match="plain, lists"):
            device.set_ingress("fast")
        with pytest.raises(UnsupportedError, match="name a group"):
            device.set_ingress()


def test_options_name_a_group(tmp_path: Path) -> None:
    """Another program, table and number of units for one group; without a name there is an error
    that lists the groups.
    """
    frames = [
        bytes(Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / TCP() / word) for word in (b"/etc/passwd", b"needle")
    ]
    capture = write_capture(tmp_path / "in.pcap", frames)
    table = tmp_path / "needles.txt"
    table.write_text('"needle"\n')

    def out(*options: str) -> Run:
        run = run_design(CHAIN, [capture], tmp_path / "out", "soft", *options)
        assert run.status == 0, run.stderr
        return run

    assert out().frames["port1"] == frames[1:]
    for name in ("string_match", "inspect.string_match"):
        assert out("--table", f"{name}={table}").frames["port1"] == frames[:1]
    forward = ROOT / "engines" / "rpu" / "programs" / "to_host.c"
    assert sorted(out("--program", f"inspect={forward}").frames["host"]) == sorted(frames)
    fewer = out("--units", "inspect=2", "--units", "classify=1", "--program", f"inspect={forward}")
    assert len(fewer.result["counters"]["units"]) == 3 and sorted(fewer.frames["host"]) == sorted(frames)
    for option, value in (("--program", str(forward)), ("--units", "2")):
        refused = call("run", CHAIN, "--in", capture, "--out", tmp_path / "no", option, value)
        assert refused.returncode != 0 and "classify, inspect" in refused.stderr, refused.stderr
    refused = call("run", CHAIN, "--in", capture, "--out", tmp_path / "no", "--units", "inspekt=2")
    assert "no group of units `inspekt`; there are: classify, inspect" in refused.stderr


def test_from_python(tmp_path: Path) -> None:
    """The groups of a device; programs, numbers of units and tables of one of them; registers show which groups get the
    ports' frames.
    """
    frames = [
        bytes(Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / TCP() / word) for word in (b"/etc/passwd", b"needle")
    ]
    with Device.open(CHAIN, units={"classify": 3, "inspect": 2}) as device:
        assert {name: [unit.number for unit in units] for name, units in device.groups.items()} == {
            "classify": [0, 1, 2],
            "inspect": [3, 4],
        }
        elves = {unit.elf for unit in device.units}
        assert len(device.units) == 5 and len(elves) == 2
        device.send(frames)
        assert [frame.data for frame in device.run().frames] == frames[1:]
        needles = tmp_path / "needles.txt"
        needles.write_text('"needle"\n')
        device.tables["inspect.string_match"] = needles
        device.send(frames)
        assert [frame.data for frame in device.run().frames] == frames[:1]
        to_host = ROOT / "engines" / "rpu" / "programs" / "to_host.c"
        device.load({"inspect": to_host})
        device.send(frames)
        assert sorted(frame.data for frame in device.run().frames if frame.port == "host") == sorted(frames)
        for wrong in ({"inspekt": to_host}, to_host):
            with pytest.raises(DesignError, match="classify, inspect"):
                device.load(wrong)
    with pytest.raises(DesignError, match="classify, inspect"):
        Device.open(CHAIN, units=3)
