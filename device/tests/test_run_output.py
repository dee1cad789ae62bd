# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""What `run` leaves behind and prints: captures with their times, figures, warnings."""

from __future__ import annotations

from pathlib import Path

import pytest
from scapy.utils import RawPcapReader
from system import ROOT, TARGETS, DesignMaker, call, run_design, write_capture

FORWARD = ROOT / "engines/rpu/programs/forward.c"


def times(path: Path) -> list[int]:
    """Times of a nanosecond capture, ns."""
    return [meta.sec * 1_000_000_000 + meta.usec for _, meta in RawPcapReader(str(path))]


@pytest.mark.parametrize("rate", ["line", "1"])
def test_times_out_minus_times_in_are_latency(rate: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """Traffic made for a rate and sent at that rate: times are those of the card's clock, from the first frame on."""
    capture = tmp_path / "in.pcap"
    gbps = {"line": "100", "1": "1"}[rate]
    call("gen", "-o", capture, "--count", "50", "--size", "400", "--rate", gbps, "--flows", "1")
    run = run_design(make_design(FORWARD), [capture], tmp_path / "out", "rtl", "--rate", rate)
    assert run.status == 0, run.stderr
    entered, left = times(capture), times(tmp_path / "out/port1.pcap")
    latency = run.result["latency_ns"]
    apart = sorted(out - at for at, out in zip(entered, left, strict=True))
    # A clock cycle is 4 ns, and a frame starts in a whole one.
    assert abs(apart[len(apart) // 2] - latency["p50"]) <= 8 and abs(apart[-1] - latency["max"]) <= 8
    words = {"line": "latency at line rate: p50", "1": "latency at 1 Gb/s a port: p50"}[rate]
    assert words in run.stdout and "taken in" in run.stdout


def test_soft_keeps_times(tmp_path: Path, make_design: DesignMaker) -> None:
    capture = tmp_path / "in.pcap"
    call("gen", "-o", capture, "--count", "50", "--flows", "1")
    run_design(make_design(FORWARD), [capture], tmp_path / "out", "soft")
    assert times(tmp_path / "out/port1.pcap") == times(capture)


def test_captures_of_an_earlier_run_are_removed(tmp_path: Path, make_design: DesignMaker) -> None:
    capture = write_capture(tmp_path / "a.pcap", [bytes(60)])
    out = tmp_path / "out"
    run_design(make_design(FORWARD, ports=4), [capture], out, "soft")
    (out / "mine.pcap").write_bytes((out / "port3.pcap").read_bytes())
    names = {"port0", "port1", "host", "mine"}
    assert set(run_design(make_design(FORWARD), [capture], out, "soft").frames) == names


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_left(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """No rate and no latency of frames that there are none of."""
    program = tmp_path / "drop.c"
    program.write_text("#include <penstock.h>\nint main(void) {\n  pn_init();\n  for (;;) pn_drop(pn_recv());\n}\n")
    capture = write_capture(tmp_path / "a.pcap", [bytes(60)] * 20)
    run = run_design(make_design(program), [capture], tmp_path / "out", target)
    assert run.status == 0 and run.result["drops"] == {"blocked": 20}
    assert run.result.get("latency_ns") is None
    for word in ("Mpps", "Gb/s", "latency", "p50"):
        assert word not in run.stdout


def test_warnings_come_with_every_run(tmp_path: Path, make_design: DesignMaker) -> None:
    program = tmp_path / "warning.c"
    program.write_text(FORWARD.read_text().replace("pn_init();", "pn_init(); int unused;"))
    capture = write_capture(tmp_path / "a.pcap", [bytes(60)])
    design = make_design(program)
    for _ in range(2):
        run = run_design(design, [capture], tmp_path / "out", "soft")
        assert run.status == 0 and "unused variable" in run.stderr and "warning.c:" in run.stderr
