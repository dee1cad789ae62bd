# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""run --trace: a file in the Trace Event Format in which every frame can be followed from port to port."""

from __future__ import annotations

import itertools
import json
import random
import struct
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from system import ROOT, DesignMaker, run_design, write_capture

CYCLE_US = 1 / 250
WAY = [
    *("ingress, port 0", "dispatcher", "switch to the units", "unit", "switch from the units", "loopback"),
    *("switch to the units", "unit", "switch from the units", "exit, port 1"),
]


def random_frames(count: int) -> list[bytes]:
    rng = random.Random(9)
    return [rng.randbytes(rng.choice([60, 64, 65, 200, 1500])) for _ in range(count)]


def events_of(path: Path) -> list[dict[str, Any]]:
    """The events, each as the format asks for."""
    events: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
    for event in events:
        assert {"name", "ph", "pid", "tid"} <= event.keys()
        assert event["ph"] in "MXstf"
        if event["ph"] == "X":
            assert event["dur"] > 0 and event["ts"] >= 0 and event["cat"] == "frame"
    return events


def slices_by_frame(events: list[dict[str, Any]]) -> dict[str, list[tuple[str, float, float]]]:
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    slices = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            slices[event["name"]].append((names[event["pid"]], event["ts"], event["dur"]))
    return {name: sorted(spans, key=lambda span: span[1]) for name, spans in slices.items()}


@pytest.mark.long
def test_waves_begin_with_the_frames(make_design: DesignMaker, tmp_path: Path) -> None:
    """The file is in half cycles, and begins after a load of more than a thousand cycles; a window after the end is
    reported.
    """
    capture = write_capture(tmp_path / "in.pcap", random_frames(40))
    design = make_design(ROOT / "engines" / "rpu" / "programs" / "forward.c", units=1)
    wave = tmp_path / "run.fst"
    options = ("--wave", wave, "--wave-cycles", "200", "--wave-from")
    run = run_design(design, [capture], tmp_path / "out", "rtl", *options, "20")
    assert run.status == 0, run.stderr
    # The header of the Fast Signal Trace: a byte, its length, first and last time.
    start, end = struct.unpack_from(">QQ", wave.read_bytes(), 9)
    assert start > 2 * 1_000 and end - start in range(398, 402)
    run = run_design(design, [capture], tmp_path / "out", "rtl", *options, "1000000")
    assert run.status != 0 and not wave.exists() and "run.fst was not written: the run took" in run.stderr
    run = run_design(design, [capture], tmp_path / "out", "rtl", "--wave", tmp_path / "none" / "run.fst")
    assert run.status != 0 and "none/run.fst: No such file" in run.stderr


def block(name: str) -> str:
    return "unit" if name.startswith("unit ") else name


def test_every_frame_is_followed_from_port_to_port(make_design: DesignMaker, tmp_path: Path) -> None:
    frames = random_frames(60)
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(ROOT / "engines" / "rpu" / "programs" / "loopback.c", policy="round-robin")
    trace = tmp_path / "trace.json"
    run = run_design(design, [capture], tmp_path / "out", "rtl", "--trace", trace)
    assert run.status == 0, run.stderr
    events = events_of(trace)
    journeys = slices_by_frame(events)
    assert set(journeys) == {f"frame {index}" for index in range(len(frames))}
    for name, spans in journeys.items():
        assert [block(place) for place, _, _ in spans] == WAY, name
        for (_, begin, dur), (_, following, _) in itertools.pairwise(spans):
            assert abs(begin + dur - following) < CYCLE_US / 10, f"{name}: a gap"
        first, second = (place for place, _, _ in spans if place.startswith("unit "))
        assert int(first.split()[1]) ^ 1 == int(second.split()[1]), "the program hands frames to its neighbour"
    latencies = [spans[-1][1] + spans[-1][2] - spans[0][1] for spans in journeys.values()]
    assert abs(max(latencies) * 1000 - run.result["latency_ns"]["max"]) < 0.5
    # Slices of a thread do not overlap, and each frame's arrows go from its first slice to its last.
    threads = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append((event["ts"], event["dur"]))
    for spans in threads.values():
        spans.sort()
        assert all(a + d <= b + CYCLE_US / 10 for (a, d), (b, _) in itertools.pairwise(spans))
    arrows = defaultdict(str)
    for event in events:
        if event["ph"] in "stf":
            arrows[event["id"]] += event["ph"]
    assert set(arrows.values()) == {"s" + "t" * (len(WAY) - 2) + "f"}


def test_a_dropped_frame_ends_in_its_unit(make_design: DesignMaker, tmp_path: Path) -> None:
    program = tmp_path / "odd.c"
    program.write_text(
        "#include <penstock.h>\nint main(void) { pn_init(); for (;;) { pn_desc_t d = pn_recv();"
        " if (pn_hdr()[0] & 1) pn_drop(d); else pn_send(d ^ pn_port(1)); } }\n"
    )
    frames = [bytes([index]) + bytes(63) for index in range(20)]
    capture = write_capture(tmp_path / "in.pcap", frames)
    trace = tmp_path / "trace.json"
    run = run_design(make_design(program), [capture], tmp_path / "out", "rtl", "--trace", trace)
    assert run.status == 0 and run.result["drops"]["blocked"] == 10
    journeys = slices_by_frame(events_of(trace))
    assert {f"frame {index}" for index in range(0, 20, 2)} | {"dropped"} == set(journeys)
    assert sum(place.startswith("unit ") for place, _, _ in journeys["dropped"]) == 10
    assert not any(place.startswith(("switch from", "exit")) for place, _, _ in journeys["dropped"])


def test_soft_has_no_time_to_trace(make_design: DesignMaker, tmp_path: Path) -> None:
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)])
    design = make_design(ROOT / "engines" / "rpu" / "programs" / "forward.c")
    run = run_design(design, [capture], tmp_path / "out", "soft", "--trace", tmp_path / "trace.json")
    assert run.status == 1 and "--trace needs --target rtl" in run.stderr
