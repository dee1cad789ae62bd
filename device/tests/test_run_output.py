# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The files and the output of `run`: captures with their times, figures, warnings."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from built import COMMAND_LINE
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


def test_gen_tells_what_it_wrote(tmp_path: Path) -> None:
    capture = tmp_path / "in.pcap"
    done = call("gen", "-o", capture, "--count", "70", "--size", "60,1500", "--json")
    told, packets = json.loads(done.stdout), list(RawPcapReader(str(capture)))
    sizes = [len(data) for data, _ in packets]
    at = times(capture)
    assert told == {"file": str(capture), "frames": 70, "bytes": sum(sizes), "ns": at[-1] - at[0]}
    assert set(sizes) == {60, 1500}


def test_captures_of_an_earlier_run_are_removed(tmp_path: Path, make_design: DesignMaker) -> None:
    capture = write_capture(tmp_path / "a.pcap", [bytes(60)])
    out = tmp_path / "out"
    run_design(make_design(FORWARD, ports=4), [capture], out, "soft")
    (out / "mine.pcap").write_bytes((out / "port3.pcap").read_bytes())
    names = {"port0", "port1", "host", "mine"}
    assert set(run_design(make_design(FORWARD), [capture], out, "soft").frames) == names


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_left(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """Without frames, the output has no rate and no latency."""
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


def test_compressed_captures_and_pipes(tmp_path: Path, make_design: DesignMaker) -> None:
    """The same frames enter from a file, from a compressed one and from standard input; `--json -` prints the result
    alone.
    """
    design = make_design(FORWARD)
    frames = [bytes([n]) * 60 for n in range(20)]
    plain = write_capture(tmp_path / "a.pcap", frames)
    packed = tmp_path / "a.pcap.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert run_design(design, [packed], tmp_path / "gz", "soft").frames["port1"] == frames
    words = [COMMAND_LINE, "run", design, "--in", "-", "--out", tmp_path / "pipe", "--json", "-"]
    done = subprocess.run([str(word) for word in words], input=plain.read_bytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["frames_out"]["port1"] == 20
    assert (tmp_path / "pipe/port1.pcap").read_bytes() == (tmp_path / "gz/port1.pcap").read_bytes()


def test_results_that_cannot_be_written(tmp_path: Path, make_design: DesignMaker) -> None:
    """The run does not begin, and a fault of standard output is no panic."""
    design, capture = make_design(FORWARD), write_capture(tmp_path / "a.pcap", [bytes(60)])

    def run(*words: str | Path, **io: Any) -> subprocess.CompletedProcess[str]:
        line = [str(word) for word in (COMMAND_LINE, "run", design, "--in", capture, *words)]
        return subprocess.run(line, stderr=subprocess.PIPE, text=True, check=False, timeout=60, **io)

    for option in ("--json", "--report"):
        out = tmp_path / option
        done = run("--out", out, option, tmp_path / "missing/file")
        assert done.returncode == 1 and "missing/file: " in done.stderr and not (out / "port1.pcap").exists()
    (tmp_path / "file").touch()
    assert "choose a place that can be written" in run("--out", tmp_path / "file").stderr
    # The file of a port, of waves and of a dump.
    for name, options in (("port1.pcap", ()), ("host.pcap", ()), ("port0.pcap.gz", ("--compress", "gz"))):
        (tmp_path / name / name).mkdir(parents=True)
        done = run("--out", tmp_path / name, *options)
        assert done.returncode == 1 and f"{name}/{name}: is a directory" in done.stderr
        assert [path.name for path in (tmp_path / name).iterdir()] == [name]
    for options in (
        ("--target", "rtl", "--wave", tmp_path / "file/a.fst"),
        ("--target", "rtl", "--trace", tmp_path / "file/a.json"),
        ("--dump", f"var={tmp_path / 'file'}"),
    ):
        done = run("--out", tmp_path / "none", *options)
        assert done.returncode == 1 and "choose a place that can be written" in done.stderr
        assert not list((tmp_path / "none").iterdir())
    with Path("/dev/full").open("w") as full:
        done = run("--out", tmp_path / "full", stdout=full)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot write standard output" in done.stderr
    reader, writer = os.pipe()
    os.close(reader)
    done = run("--out", tmp_path / "closed", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
