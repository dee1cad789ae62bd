# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""`penstock sweep`: its runs are those of `penstock run`, one by one, wherever they are done."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from built import COMMAND_LINE, ROOT
from environment import environment
from scapy.all import IP, UDP, Ether, rdpcap, wrpcap

FORWARD = ROOT / "designs/forward.toml"
INSIDE = ROOT / "designs/traffic/web.inside.pcap"
OUTSIDE = ROOT / "designs/traffic/web.outside.pcap"
# Columns that the machine's speed decides.
SPEED = ("mpps", "gbps", "seconds")

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the file of a sweep; FORWARD, INSIDE and OUTSIDE in its text are paths."""

    def written(text: str) -> Path:
        for name, path in (("FORWARD", FORWARD), ("INSIDE", INSIDE), ("OUTSIDE", OUTSIDE)):
            text = text.replace(name, str(path))
        path = tmp_path / "sweep.toml"
        path.write_text(text)
        return path

    return written


def sweep(file: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(COMMAND_LINE), "sweep", str(file), "--out", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def table(out: Path) -> list[dict[str, str]]:
    with (out / "table.csv").open() as file:
        return list(csv.DictReader(file))


def run(out: Path, design: Path, *options: str) -> dict[str, Any]:
    """result.json of a single run, and its captures in `out`."""
    command = [str(COMMAND_LINE), "run", str(design), "--out", str(out), "--json", str(out / "result.json"), *options]
    out.mkdir()
    subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads((out / "result.json").read_text())


def captures(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.pcap")}


def without_speed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in SPEED} for row in rows]


def test_runs_are_those_of_run(write: Write, tmp_path: Path) -> None:
    file = write("""
[[sweep]]
design = "FORWARD"
in = ["INSIDE", ["INSIDE@0", "OUTSIDE@1"]]
units = [1, 4]

[[sweep]]
design = "FORWARD"
target = "rtl"
in = "INSIDE@1"
units = 2
rate = [1, "lossless"]
""")
    done = sweep(file, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    two = ("--in", f"{INSIDE}@0", "--in", f"{OUTSIDE}@1")
    singles = [
        ("--in", str(INSIDE), "--units", "1"),
        ("--in", str(INSIDE), "--units", "4"),
        (*two, "--units", "1"),
        (*two, "--units", "4"),
        ("--target", "rtl", "--in", f"{INSIDE}@1", "--units", "2", "--rate", "1"),
        ("--target", "rtl", "--in", f"{INSIDE}@1", "--units", "2", "--rate", "lossless"),
    ]
    rows = table(tmp_path / "out")
    assert [row["run"] for row in rows] == [str(number) for number in range(1, 7)]
    for row, options in zip(rows, singles, strict=True):
        alone = tmp_path / f"alone-{row['run']}"
        result = run(alone, FORWARD, *options)
        folder = tmp_path / f"out/{int(row['run']):05}"
        assert captures(folder) == captures(alone) and captures(alone)
        assert (folder / "result.json").exists()
        assert int(row["frames_in"]) == result["frames_in"]
        assert int(row["frames_out"]) == sum(result["frames_out"].values()) == result["frames_in"]
        assert row["dropped"] == "0" and row["error"] == ""
        assert row["cycles"] == str(result.get("cycles", ""))
        latency = result.get("latency_ns", {})
        assert [row[f"latency_{key}_ns"] for key in ("p50", "p99", "max")] == [
            str(latency.get(key, "")) for key in ("p50", "p99", "max")
        ]
    # A low rate has lower latency than line rate, so the options arrive.
    assert float(rows[4]["latency_p99_ns"]) < float(rows[5]["latency_p99_ns"])
    assert [(row["target"], row["rate"]) for row in rows[3:]] == [("", ""), ("rtl", "1"), ("rtl", "lossless")]


def test_any_number_of_jobs_gives_one_table(write: Write, tmp_path: Path) -> None:
    file = write('[[sweep]]\ndesign = "FORWARD"\nin = ["INSIDE", "OUTSIDE"]\nunits = [1, 2, 3]\n')
    for jobs in ("1", "3"):
        assert sweep(file, tmp_path / jobs, "--jobs", jobs, "--quiet").stderr == ""
    one, three = (without_speed(table(tmp_path / jobs)) for jobs in ("1", "3"))
    assert one == three and len(one) == 6
    whole = hashlib.sha256()
    for name, content in sorted(captures(tmp_path / "1/00002").items()):
        whole.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    assert one[1]["frames"] == whole.hexdigest()


def test_parts_are_the_whole(write: Write, tmp_path: Path) -> None:
    frames = [
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
        / IP(src=f"10.0.{left}.1", dst=f"10.1.{right}.1")
        / UDP(sport=port, dport=53)
        / bytes([left, right, port])
        for left in range(12)
        for right in range(5)
        for port in (1, 2)
    ]
    answers = [frame.copy() for frame in frames]
    for frame in answers:
        frame[IP].src, frame[IP].dst = frame[IP].dst, frame[IP].src
    wrpcap(str(tmp_path / "all.pcap"), frames + answers)
    file = write('[[sweep]]\ndesign = "FORWARD"\nin = "all.pcap"\nunits = 1\nparts = 4\n')
    assert sweep(file, tmp_path / "out").returncode == 0
    parts = [
        [bytes(frame) for frame in rdpcap(str(tmp_path / f"out/{number:05}/port1.pcap"))] for number in range(1, 5)
    ]
    assert sorted(itertools.chain(*parts)) == sorted(map(bytes, frames + answers))
    assert all(len(part) > 20 for part in parts)
    pairs = [{frozenset((Ether(frame)[IP].src, Ether(frame)[IP].dst)) for frame in part} for part in parts]
    assert sum(map(len, pairs)) == len(set().union(*pairs)) == 60
    # Frames of a part keep their order.
    order = {bytes(frame): number for number, frame in enumerate(frames + answers)}
    assert all([order[frame] for frame in part] == sorted(order[frame] for frame in part) for part in parts)


def test_a_run_that_fails_is_a_row(write: Write, tmp_path: Path) -> None:
    file = write('[[sweep]]\ndesign = "FORWARD"\nin = ["INSIDE", "absent.pcap", "OUTSIDE"]\nunits = 1\n')
    done = sweep(file, tmp_path / "out")
    assert done.returncode == 1
    rows = table(tmp_path / "out")
    assert [bool(row["error"]) for row in rows] == [False, True, False]
    assert "absent.pcap" in rows[1]["error"] and rows[1]["frames_out"] == "" and rows[2]["frames_out"] != ""
    assert "3 of 3 runs, 1 with errors" in done.stdout


def test_alerts_are_in_the_folder_of_their_run(write: Write, tmp_path: Path) -> None:
    rules = tmp_path / "any.rules"
    rules.write_text('alert tcp any any -> any any (msg:"a"; dsize:>0; sid:1;)\n')
    design = ROOT / "designs/ids.toml"
    file = write(
        f'[[sweep]]\ndesign = "{design}"\nrules = "any.rules"\neve = "eve.json"\n'
        'in = ["INSIDE@0", ["INSIDE@0", "OUTSIDE@1"]]\n'
    )
    done = sweep(file, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    inputs = ("--in", f"{INSIDE}@0"), ("--in", f"{INSIDE}@0", "--in", f"{OUTSIDE}@1")
    for number, options in enumerate(inputs, 1):
        alone = tmp_path / f"alone-{number}"
        run(alone, design, *options, "--rules", str(rules), "--eve", str(tmp_path / f"eve-{number}.json"))
        seen, want = (
            [line for line in path.read_text().splitlines() if json.loads(line)["event_type"] == "alert"]
            for path in (tmp_path / f"out/{number:05}/eve.json", tmp_path / f"eve-{number}.json")
        )
        assert seen == want and want


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no [[sweep]]"),
        ("design = 3\n", "`design` stands outside of a [[sweep]]"),
        ('[[sweep]]\ndesign = "FORWARD"\n', "a [[sweep]] needs the key `in`"),
        (
            '[[sweep]]\ndesign = "FORWARD"\nin = "INSIDE"\n\nunit = 3\n',
            ":5: `unit` is no key of a sweep; `units` is one",
        ),
        ('[[sweep]]\ndesign = "FORWARD"\nin = "INSIDE"\nunits = []\n', ":4: `units` is an empty list"),
        ('[[sweep]]\ndesign = "FORWARD"\nin = "INSIDE"\nrate = [[1]]\n', ":4: a list within the list of `rate`"),
        ('[[sweep]]\ndesign = "FORWARD"\nin = "INSIDE"\nunits = true\n', ":4: `units` holds True"),
        ('[[sweep]]\ndesign = "FORWARD"\nin = "INSIDE"\nparts = 0\n', ":4: `parts` is 0"),
        ('[[sweep]]\ndesign = "FORWARD"\nin = "INSIDE"\nparts = "2"\n', ":4: `parts` is '2'"),
        ('[[sweep]]\ndesign = "FORWARD"\nin = "INSIDE"\neve = "../a"\n', ":4: `eve` is '../a'"),
        ("[[sweep]]\ndesign = \n", "line 2"),
    ],
)
def test_what_is_no_sweep_is_refused(write: Write, tmp_path: Path, text: str, says: str) -> None:
    file = write(text)
    done = sweep(file, tmp_path / "out")
    assert done.returncode == 1 and says in done.stderr and str(file) in done.stderr
    assert "Traceback" not in done.stderr


def test_too_many_runs_are_refused(write: Write, tmp_path: Path) -> None:
    numbers = list(range(1, 400))
    file = write(f'[[sweep]]\ndesign = "FORWARD"\nin = "INSIDE"\nunits = {numbers}\nrate = {numbers}\n')
    done = sweep(file, tmp_path / "out")
    assert done.returncode == 1 and "more than 100000 runs" in done.stderr


def test_a_cluster_gives_the_table_of_one_machine(write: Write, tmp_path: Path) -> None:
    """On two nodes, one of which is killed while it has a run."""
    python = environment("sweep", Path(__file__).parent / "sweep_requirements.txt")
    many = ("--count", "200000", "--flows", "500", "--output", tmp_path / "many.pcap")
    subprocess.run([COMMAND_LINE, "gen", *many], check=True)
    file = write("""
[[sweep]]
design = "FORWARD"
in = ["many.pcap", "INSIDE"]
units = [1, 2, 3, 4, 5]
parts = 2

[[sweep]]
design = "FORWARD"
in = ["INSIDE", "absent.pcap"]
target = "rtl"
units = 2
""")
    assert sweep(file, tmp_path / "here").returncode == 1
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PENSTOCK_COMMAND": str(COMMAND_LINE)}
    command = [python, Path(__file__).parent / "ray_sweep.py", file, tmp_path / "there"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads((tmp_path / "there/said.json").read_text())
    assert said["nodes"] == [2, 1]
    there = [{key: "" if value is None else str(value) for key, value in row.items()} for row in said["rows"]]
    here = table(tmp_path / "here")
    assert len(here) == 22 and [bool(row.pop("error")) for row in here] == [row.pop("error") != "" for row in there]
    assert without_speed(here) == without_speed(there)
    for row in here[:21]:
        folder = f"{int(row['run']):05}"
        assert captures(tmp_path / "here" / folder) == captures(tmp_path / "there" / folder)
    read = "import json, sys, pyarrow.parquet as p; print(json.dumps(p.read_table(sys.argv[1]).to_pylist()))"
    command = [python, "-c", read, tmp_path / "there/table.parquet"]
    parquet = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert parquet == said["rows"]


def test_packages_that_are_missing_are_named(write: Write, tmp_path: Path) -> None:
    file = write('[[sweep]]\ndesign = "FORWARD"\nin = "INSIDE"\n')
    for options, package in ((("--parquet", "t.parquet"), "pyarrow"), (("--ray", "auto"), "ray")):
        done = sweep(file, tmp_path / "out", *options)
        assert done.returncode == 1 and f"pip install {package}" in done.stderr
