# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Captures are read as the card takes their frames, and written as they leave: long ones, and pipes without an end.

PENSTOCK_CAPTURE_MB sets how long the long capture is (default 300); the long form is 1,000.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from built import COMMAND_LINE
from scapy.utils import RawPcapReader
from system import ROOT, DesignMaker, call, run_design, write_capture
from test_run_output import times

FORWARD = ROOT / "engines/rpu/programs/forward.c"
MIB = 1 << 20
HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
# A card, its programs and the pieces of captures that are in memory.
MOST = 100 * MIB


def frames(count: int, size: int = 1500) -> Iterator[bytes]:
    """Records of a pcap file, a µs apart."""
    data = bytes(range(256)) * 6
    for number in range(count):
        yield struct.pack("<IIII", number // 1_000_000, number % 1_000_000 * 1000, size, size) + data[:size]


def write(path: Path, count: int, opener: Callable[[Path, str], object] = open) -> Path:
    with opener(path, "wb") as file:
        file.write(HEADER)
        file.writelines(frames(count))
    return path


# Linux counts memory of the process that starts another one as the other's until it begins its program. A small process
# in between keeps the test's own memory out of the measure.
MEASURE = "import resource, subprocess, sys; status = subprocess.call(sys.argv[2:]); "
MEASURE += "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(status)"


def peak(*words: str | Path, out: Path) -> tuple[dict, int]:
    """Runs a design; gives its result and the most memory that it took, in bytes."""
    out.mkdir(exist_ok=True)
    line = [COMMAND_LINE, "-q", "run", *words, "--out", out, "--json", out / "result.json"]
    subprocess.run([sys.executable, "-S", "-c", MEASURE, out / "memory", *line], check=True)
    return json.loads((out / "result.json").read_text()), int((out / "memory").read_text()) * 1024


def most_of(process: int) -> int:
    """The most memory that a running process took so far, in bytes."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


@pytest.mark.parametrize("rate", [(), ("--rate", "turns")])
def test_memory_does_not_grow_with_a_capture(rate: tuple[str, ...], tmp_path: Path, make_design: DesignMaker) -> None:
    """A long capture, which a file of a few MB brings: all frames leave, and never are many in memory."""
    count = int(os.environ.get("PENSTOCK_CAPTURE_MB", "300")) * 1_000_000 // 1500
    capture = write(tmp_path / "a.pcap.gz", count, lambda path, mode: gzip.open(path, mode, compresslevel=1))
    assert capture.stat().st_size < count * 1500 / 50
    result, memory = peak(make_design(FORWARD), "--in", capture, *rate, out=tmp_path / "out")
    assert result["frames_out"]["port1"] == result["frames_in"] == count
    assert result["bytes_in"] == result["bytes_out"] == count * 1500
    assert (tmp_path / "out/port1.pcap").stat().st_size == len(HEADER) + count * (16 + 1500)
    assert memory < MOST, f"{memory >> 20} MiB"


def test_memory_does_not_grow_with_a_capture_on_rtl(tmp_path: Path, make_design: DesignMaker) -> None:
    """The same for 60 MB: what a longer run takes more is what a card and its port hold at most."""
    design = make_design(FORWARD, units=4)
    used = []
    for count in (20, 40_000):
        capture = write(tmp_path / f"{count}.pcap", count)
        result, memory = peak(design, "--target", "rtl", "--in", capture, out=tmp_path / "out")
        assert result["frames_out"]["port1"] == count
        used.append(memory)
    assert used[1] - used[0] < 45 * MIB, [memory >> 20 for memory in used]


def test_a_port_never_waits_for_the_capture(tmp_path: Path, make_design: DesignMaker) -> None:
    """Frames enter at line rate, whatever the pieces in which they come: each leaves as long after its time as all."""
    capture = tmp_path / "in.pcap"
    call("gen", "-o", capture, "--count", "16000", "--size", "1500", "--rate", "100", "--flows", "64")
    run = run_design(make_design(FORWARD, units=4), [capture], tmp_path / "out", "rtl", "--rate", "line")
    assert run.status == 0 and run.result["drops"] == {}
    apart = [out - at for at, out in zip(times(capture), times(tmp_path / "out/port1.pcap"), strict=True)]
    assert max(apart) - min(apart) < 4000


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_pipe_without_an_end(end: signal.Signals, tmp_path: Path, make_design: DesignMaker) -> None:
    """A signal ends the captures, and the run with the frames that have entered; files and figures are whole."""
    out = tmp_path / "out"
    words = [COMMAND_LINE, "run", make_design(FORWARD), "--in", "-", "--out", out, "--json", out / "result.json"]
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=False)

    def feed() -> None:
        try:
            process.stdin.write(HEADER)
            process.stdin.writelines(frames(1 << 40))
        except BrokenPipeError:
            pass

    threading.Thread(target=feed, daemon=True).start()
    deadline = time.monotonic() + 60
    while not (out / "port1.pcap").exists() or (out / "port1.pcap").stat().st_size < 10 * MIB:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    memory = most_of(process.pid)
    process.send_signal(end)
    assert process.wait(60) == 0, process.stderr.read()
    assert b"a signal stopped them" in process.stderr.read()
    result = json.loads((out / "result.json").read_text())
    left = sum(1 for data, _ in RawPcapReader(str(out / "port1.pcap")) if len(data) == 1500)
    assert left == result["frames_in"] == result["frames_out"]["port1"] and result["faults"] == []
    assert (out / "port1.pcap").stat().st_size == len(HEADER) + left * (16 + 1500)
    assert memory < MOST


def test_a_pipe_that_is_silent(tmp_path: Path, make_design: DesignMaker) -> None:
    """A signal also ends a capture that brings nothing more."""
    words = [COMMAND_LINE, "run", make_design(FORWARD), "--in", "-", "--out", tmp_path / "out"]
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(HEADER + b"".join(frames(300)))
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not (tmp_path / "out/port1.pcap").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    assert len(list(RawPcapReader(str(tmp_path / "out/port1.pcap")))) == 300


def test_captures_out_are_compressed_or_piped(tmp_path: Path, make_design: DesignMaker) -> None:
    design, capture = make_design(FORWARD), write_capture(tmp_path / "a.pcap", [bytes([n]) * 90 for n in range(200)])
    run_design(design, [capture], tmp_path / "out", "soft")
    expected = (tmp_path / "out/port1.pcap").read_bytes()

    def run(*words: str | Path) -> subprocess.CompletedProcess[bytes]:
        line = [str(word) for word in (COMMAND_LINE, "run", design, *words)]
        return subprocess.run(line, capture_output=True, check=False)

    # The folder keeps only the captures of the last run.
    assert run("--in", capture, "--out", tmp_path / "out", "--compress", "gz").returncode == 0
    assert gzip.decompress((tmp_path / "out/port1.pcap.gz").read_bytes()) == expected
    assert not (tmp_path / "out/port1.pcap").exists()
    assert run("--in", capture, "--out", tmp_path / "out", "--compress", "zst").returncode == 0
    assert run("--in", tmp_path / "out/port1.pcap.zst", "--out", tmp_path / "again").returncode == 0
    assert (tmp_path / "again/port1.pcap").read_bytes() == expected
    done = run("--in", capture, "--out", "-@1")
    assert (done.returncode, done.stdout) == (0, expected)
    assert b"200 frames in" in done.stderr
    assert b"-@0, -@1" in run("--in", capture, "--out", "-").stderr
    assert b"give --out a folder" in run("--in", capture, "--out", "-@1", "--json", "-").stderr
