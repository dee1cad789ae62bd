# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Designs with inline blocks: the frames that leave a card, one by one, against plain Python models of the programs'
purpose.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.l2 import ARP, Ether
from system import ROOT, DesignMaker, Run, run_design
from test_flow_programs import DROP, MACS, PASS, Knocking, Model, Nat, S, Step, built, knocks, sessions, udp
from test_trace import events_of, slices_by_frame

PORTS = (0, 1)
FORWARD = ROOT / "engines/rpu/programs/forward.c"


def timed_capture(path: Path, frames: Iterable[tuple[int, bytes]]) -> Path:
    """A classic pcap of frames, each with its time in microseconds."""
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1)
    for time, frame in frames:
        data += struct.pack("<IIII", time // S, time % S, len(frame), len(frame)) + frame
    path.write_bytes(data)
    return path


def play(design: Path, steps: list[Step], folder: Path, *options: str | Path, target: str = "soft") -> Run:
    """Takes frames through a design, a capture for each port, whose clock never goes back."""
    inputs = []
    steps = sorted(steps, key=lambda step: step[0])
    for port in PORTS:
        of_port = [(time, bytes(packet)) for time, at, packet in steps if at == port]
        inputs.append(f"{timed_capture(folder / f'in{port}.pcap', of_port)}@{port}")
    return run_design(design, inputs, folder / f"out_{target}", target, *options)


def judge(run: Run, model: Model, steps: list[Step]) -> Counter:
    """The model's frames after a unit that forwards; how often each verdict came."""
    chain: defaultdict[str, list[bytes]] = defaultdict(list)
    unit: defaultdict[str, Counter] = defaultdict(Counter)
    seen: Counter = Counter()
    for time, port, packet in sorted(steps, key=lambda step: step[:2]):
        verdict, expected = model(time, port, built(packet))
        seen[verdict] += 1
        if verdict == PASS:
            unit[f"port{port ^ 1}"][bytes(expected)] += 1
        elif verdict != DROP:
            chain[f"port{verdict[1]}"].append(bytes(expected))
    for port, frames in run.frames.items():
        rest = unit[port].copy()
        # Frames that a unit has forwarded may leave after others.
        direct = []
        for frame in frames:
            if rest[frame] > 0:
                rest[frame] -= 1
            else:
                direct.append(frame)
        assert rest.total() == 0 and direct == chain[port], port
    assert run.result["drops"] == ({"blocked": seen[DROP]} if seen[DROP] else {})
    return seen


def test_a_port_beyond_the_card_is_refused(tmp_path: Path) -> None:
    """When the card is loaded, the error names the place in the program; a program for a card of four ports is valid
    there.
    """
    (tmp_path / "out.efsm").write_text("element out {\n    tcp => port 1\n    udp => port 3\n}\n")
    for ports, said in ((2, "out.efsm:3:5: this row sends to port 3, and the card has 2, counted from 0"), (4, None)):
        design = tmp_path / f"of{ports}.toml"
        design.write_text(
            f'[card]\nname = "test"\nports = {ports}\n[[inline]]\nengine = "flow"\nprogram = "out.efsm"\n'
            f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{FORWARD}"\n'
        )
        frame = bytes(udp("10.0.0.1", "10.0.0.2", 1, 2))
        capture = timed_capture(tmp_path / "in.pcap", [(0, frame)])
        run = run_design(design, [f"{capture}@0"], tmp_path / f"out{ports}", "soft")
        if said:
            assert run.status != 0 and said in run.stderr, run.stderr
        else:
            assert run.frames["port3"] == [frame], run.stderr


def inline(run: Run) -> dict[str, Any]:
    """The counters of all blocks together."""
    counters = run.result["counters"]["inline"]
    first, last = counters["blocks"][0], counters["blocks"][-1]
    blocked = sum(block["blocked"] for block in counters["blocks"])
    elements = [element for block in counters["blocks"] for element in block["own"]["elements"]]
    return {
        **last["own"],
        "elements": elements,
        "frames": first["frames"],
        "blocked": blocked,
        "refused": counters["refused"],
    }


def with_inline(design: Path, **programs: str) -> Path:
    """Puts inline blocks into a design, by name."""
    text = design.read_text()
    for name, program in programs.items():
        path = design.parent / f"{name}.efsm"
        path.write_text(program)
        text += f'[[inline]]\nname = "{name}"\nengine = "flow"\nprogram = "{path.name}"\nflow.contexts = 4\n'
    design.write_text(text)
    return design


def test_nat(tmp_path: Path) -> None:
    steps = list(sessions())
    end = steps[-1][0] + 2 * S
    # Time enough for the walker to have been everywhere.
    steps.append((end, 0, Ether(**MACS) / ARP()))
    model = Nat()
    run = play(ROOT / "designs/nat.toml", steps, tmp_path)
    seen = judge(run, model, steps)
    assert run.status == 0 and min(seen[("port", 0)], seen[("port", 1)], seen[DROP]) > 10, run.stderr
    counters = inline(run)
    assert counters["frames"] == len(steps) and counters["blocked"] == seen[DROP] and counters["refused"] == 0
    assign, translate = counters["elements"]
    assert (assign["name"], translate["name"]) == ("assign", "translate")
    for element in (assign, translate):
        rows = sum(row["frames"] for row in element["rows"])
        assert element["frames"] == rows + element["keyless"] + element["unmatched"]
    # ARP twice and IPv6 pass both elements; ICMP twice and two later fragments end in the second.
    assert assign["keyless"] == 7 and seen[PASS] == 3 and translate["keyless"] == 3
    assert assign["contexts"] == sum(end < until for _, until, _ in model.ports.values()) > 0
    assert translate["contexts"] == sum(end < until for _, until in model.flows.values())
    assert assign["expired"] > 10
    lines = (ROOT / "engines/flow/programs/nat.efsm").read_text().splitlines()
    hits = {lines[row["line"] - 1].split("=>")[0].strip(): row["frames"] for row in assign["rows"]}
    assert hits["ip.dst == PUBLIC"] > 100 and hits["port == 1 && next_port == LAST"] == 0


def test_port_knocking(tmp_path: Path, make_design: DesignMaker) -> None:
    steps = list(knocks())
    program = (ROOT / "engines/flow/programs/port_knocking.efsm").read_text()
    run = play(with_inline(make_design(FORWARD, units=1), knock=program), steps, tmp_path)
    seen = judge(run, Knocking(), steps)
    assert run.status == 0 and seen[PASS] > 50 and seen[DROP] > 50, run.stderr


def test_blocks_follow_each_other_with_metadata(tmp_path: Path, make_design: DesignMaker) -> None:
    """The second block uses the notes of the first one, and has tables of the design's size."""
    design = with_inline(
        make_design(FORWARD, units=1),
        mark="element a { udp.dport < 1000 => meta0 = 7, next c } element b { ip => drop } element c { ip => pass }",
        count="element a { key ip.src flow n meta0 == 7 && full && new => host else => n = n + 1 }",
    )
    frames = [udp(f"10.0.0.{host}", "10.0.1.1", 1, 80) for host in range(1, 7) for _ in range(2)]
    frames.append(udp("10.0.0.1", "10.0.1.1", 1, 2000))
    run = play(design, [(time, 0, packet) for time, packet in enumerate(frames)], tmp_path)
    assert run.status == 0, run.stderr
    assert run.frames["host"] == [bytes(frame) for frame in frames[8:12]]
    assert Counter(run.frames["port1"]) == Counter(bytes(frame) for frame in frames[:8])
    assert run.result["drops"] == {"blocked": 1} and inline(run)["blocked"] == 1
    elements = {element["name"]: element for element in inline(run)["elements"]}
    assert list(elements) == ["mark.a", "mark.b", "mark.c", "count.a"]
    assert [elements[name]["frames"] for name in elements] == [13, 1, 12, 12]
    assert elements["count.a"]["contexts"] == 4


def test_another_program_from_the_command_line(tmp_path: Path, make_design: DesignMaker) -> None:
    design = with_inline(make_design(FORWARD, units=1), gate="element gate { ip => drop }")
    (tmp_path / "open.efsm").write_text("element gate { ip => port 1 }")
    steps: list[Step] = [(0, 0, udp("10.0.0.1", "10.0.0.2", 1, 2))]
    assert play(design, steps, tmp_path).result["drops"] == {"blocked": 1}
    for program in (f"gate={tmp_path / 'open.efsm'}", tmp_path / "open.efsm"):
        run = play(design, steps, tmp_path, "--program", program)
        assert run.frames["port1"] == [bytes(steps[0][2])] and run.result["drops"] == {}
    run = play(make_design(FORWARD, units=1), steps, tmp_path, "--program", tmp_path / "open.efsm")
    assert (
        run.status != 0 and "open.efsm is for an inline block of the engine flow, and the design has none" in run.stderr
    )


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("element gate { ip => port ip.ttl }", "refused"),
        ("element gate { ip => port l4.dport }", "refused"),
        # The low 8 bits of these numbers name a port of the card.
        ("element gate { ip => port ip.src }", "refused"),
        ("element gate { key ip.src flow far ip => far = udp.dport << 7, port far }", "refused"),
        ("element gate { global far ip => far = udp.dport << 15, port far }", "refused"),
        ("element gate { global far ip => far = udp.dport << 30, port far }", "refused"),
        ("element gate { ip => host }", None),
    ],
)
def test_where_there_is_nothing(program: str, words: str | None, tmp_path: Path, make_design: DesignMaker) -> None:
    design = with_inline(make_design(FORWARD, units=1), gate=program)
    run = play(design, [(0, 0, udp("10.0.0.1", "10.0.0.2", 1, 2))], tmp_path)
    assert run.status == 0 and run.result["drops"] == ({words: 1} if words else {})
    assert sum(run.result["frames_out"].values()) == (words is None)


def test_what_is_refused(tmp_path: Path, make_design: DesignMaker) -> None:
    """A program with faults names its place."""
    design = with_inline(make_design(FORWARD, units=1), gate="element gate {\n    tcp.dprt == 1 => drop\n}\n")
    steps: list[Step] = [(0, 0, udp("10.0.0.1", "10.0.0.2", 1, 2))]
    run = play(design, steps, tmp_path)
    assert run.status != 0 and f"{tmp_path / 'gate.efsm'}:2:5: " in run.stderr and "tcp.dport" in run.stderr
    assert "\n   |     ^^^^^^^^" in run.stderr
    # A second element, which does nothing, makes it a card that is built for other tests anyway.
    large = "element gate { key ip.src table 100000 ip => keep }"
    design = with_inline(make_design(FORWARD, units=1), gate=large, rest="element rest { port == 255 => drop }")
    run = play(design, steps, tmp_path, target="rtl")
    assert (
        run.status != 0
        and f"{tmp_path / 'gate.efsm'}:1:9: the table of element `gate` has 100000 contexts" in run.stderr
    )


def test_a_chain_on_both_targets(tmp_path: Path, make_design: DesignMaker) -> None:
    """The same frames and counters. All frames enter at one port: the target decides how frames of two ports meet in
    the chain.
    """
    gate = """element gate {
    key ip.src
    states NEW, OPEN
    flow frames
    in NEW { ip.src == 10.0.0.3 => drop   ip => frames = 1, goto OPEN, ip.ttl = 9, port 0 }
    in OPEN { frames == 5 => frames = 0, drop   ip => frames = frames + 1 }
}
element count { global all udp => all = all + 1, udp.sport = all }
"""
    design = with_inline(make_design(FORWARD, units=1), gate=gate)
    steps: list[Step] = [(10 * n, 1, udp(f"10.0.0.{n * 7 % 9}", "10.0.1.1", n, 53)) for n in range(200)]
    trace = tmp_path / "trace.json"
    soft = play(design, steps, tmp_path)
    rtl = play(design, steps, tmp_path, "--trace", trace, target="rtl")
    assert soft.status == rtl.status == 0, rtl.stderr
    assert {port: Counter(frames) for port, frames in soft.frames.items()} == {
        port: Counter(frames) for port, frames in rtl.frames.items()
    }
    assert soft.result["drops"] == rtl.result["drops"] and inline(soft) == inline(rtl)
    assert sum(map(len, soft.frames.values())) > 100
    # Frames that leave at port 0 go there from the chain; all others that are not dropped go on to the unit.
    ways = Counter(tuple(place for place, _, _ in spans) for spans in slices_by_frame(events_of(trace)).values())
    entry = ("ingress, port 1", "inline chain")
    past, through = (*entry, "exit, port 0"), (*entry, "dispatcher")
    assert ways[past] > 10 and ways.total() == sum(map(len, rtl.frames.values()))
    assert all(way == past or way[:3] == through for way in ways)
