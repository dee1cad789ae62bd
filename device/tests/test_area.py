# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""`penstock fpga init` prints the counted area of a design's blocks beside what the board has, and refuses a design
that is too large.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from built import COMMAND_LINE
from penstock.hdl import ROOT

METRICS = ("lut", "ff", "bram", "uram", "dsp")
BOARDS = tomllib.loads((ROOT / "shell/cards/boards.toml").read_text())
CARD = Counter(
    ingress=3, egress=3, dispatcher=1, switch_in=1, switch_out=1, loopback=1, host_mem=1, cfg_front=1, shell_card=1
)


def counted() -> dict[str, dict[str, float]]:
    blocks: dict[str, dict[str, float]] = {}
    for row in json.loads((ROOT / "bench/results/synth.json").read_text()):
        blocks.setdefault(row["case"]["block"], {})[row["metric"]] = row["value"]
    return blocks


def init(design: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [COMMAND_LINE, "fpga", "init", design, "--out", out, *options]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)


def row(text: str, name: str) -> list[float]:
    """The figures of a row of the table."""
    found = re.search(rf"^ *{re.escape(name)}((?: +[\d,.]+){{5}})(?:  |$)", text, re.MULTILINE)
    assert found, f"no row `{name}`: {text}"
    return [float(figure.replace(",", "")) for figure in found[1].split()]


def design(folder: Path, units: int, program: str = "forward.c", extra: str = "") -> Path:
    path = folder / f"units{units}.toml"
    path.write_text(
        f'[card]\nname = "sized"\nports = 2\n[[units]]\nengine = "rpu"\ncount = {units}\n'
        f'program = "{ROOT}/engines/rpu/programs/{program}"\n{extra}'
    )
    return path


@pytest.mark.parametrize(("shell", "board"), [("opennic", "au250"), ("corundum", "au250"), ("corundum", "au280")])
def test_areas_stand_beside_those_of_the_board(shell: str, board: str, tmp_path: Path) -> None:
    done = init(ROOT / "designs/firewall.toml", tmp_path / "out", "--shell", shell, "--board", board)
    assert done.returncode == 0, done.stderr
    blocks = counted()
    here = CARD + Counter(unit=16, ip_prefix=16)
    for block, count in here.items():
        assert row(done.stdout, f"{count} x {block}") == [count * blocks[block][metric] for metric in METRICS]
    assert done.stdout.count(" x ") == len(here) and "not counted" not in done.stdout
    total = [sum(count * blocks[block][metric] for block, count in here.items()) for metric in METRICS]
    assert row(done.stdout, "sum") == total
    has = next(entry["has"] for entry in BOARDS["board"] if board in entry["names"])
    assert row(done.stdout, board) == [has[metric] for metric in METRICS]
    if shell == "corundum":
        uses = BOARDS["shell"][0]["uses"]
        left = [has[metric] - uses.get(metric, 0) for metric in METRICS]
        assert row(done.stdout, "without corundum") == left
    else:
        left = [has[metric] for metric in METRICS]
        assert "opennic needs room too; nobody has published how much" in done.stdout
    shares = [f"{100 * used / there:.0f} %" for used, there in zip(total, left, strict=True)]
    assert re.search(r"of it +" + " +".join(shares) + "$", done.stdout, re.MULTILINE), done.stdout


def test_blocks_of_other_sizes_are_marked(tmp_path: Path) -> None:
    for units, mark in ((4, "counted for a larger card"), (16, ""), (24, "counted for a smaller card")):
        done = init(design(tmp_path, units), tmp_path / f"out{units}", "--board", "au250")
        assert done.returncode == 0, done.stderr
        line = next(line for line in done.stdout.splitlines() if line.startswith("1 x switch_in"))
        assert line.endswith(mark) and ("counted" in line) == bool(mark)


def test_a_design_that_is_too_large_is_told_how_many_units_have_room(tmp_path: Path) -> None:
    done = init(design(tmp_path, 32), tmp_path / "out", "--board", "au45n")
    said = re.search(
        r"the design sized is too large for au45n: it needs at least ([\d,]+) block memories of 288 Kbit, and au45n "
        r"has 352; 32 units of rpu take most, ([\d,]+): with `count = (\d+)` it has room",
        done.stderr,
    )
    assert done.returncode == 1 and said and not (tmp_path / "out").exists(), done.stderr
    uram = {block: figures["uram"] for block, figures in counted().items() if "uram" in figures}
    assert float(said[2].replace(",", "")) == 32 * uram["unit"]
    assert float(said[1].replace(",", "")) == 32 * uram["unit"] + sum(CARD[block] * uram[block] for block in CARD)
    # The number is the largest one with room.
    most = int(said[3])
    assert init(design(tmp_path, most), tmp_path / "fits", "--board", "au45n").returncode == 0
    assert init(design(tmp_path, most + 1), tmp_path / "out", "--board", "au45n").returncode == 1


def rows(text: str) -> Counter[str]:
    """How many there are of each block."""
    return Counter({name: int(count) for count, name in re.findall(r"^(\d+) x (\w+)", text, re.MULTILINE)})


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("xdp-firewall", {"xdp_core": 16, "xdp_frames": 16, "xdp_map_bank": 16, "xdp_map_switch": 1}),
        ("nat", {"unit": 1, "header_parser": 2, "flow_table": 2, "flow_control": 2}),
        # Three stages in two lanes, with prefixes in each
        ("rmt", {"rmt_stage": 3, "rmt_units": 6, "rmt_lpm": 3, "rmt_key": 3, "rmt_step": 16}),
        ("l7", {"l7_filter": 2, "l7_matcher": 4, "l7_lane": 1}),
        ("fingerprint", {"unit": 4, "flow_hash": 4}),
    ],
)
def test_parts_of_engines(name: str, has: dict[str, int], tmp_path: Path) -> None:
    done = init(ROOT / f"designs/{name}.toml", tmp_path / "out", "--board", "au250")
    assert done.returncode == 0, done.stderr
    found = rows(done.stdout)
    assert {block: found[block] for block in has} == has and "rmt_key_plain" not in found


def test_the_card_has_maps_once(tmp_path: Path) -> None:
    """Also if two groups of units use them."""
    group = '[[units]]\nengine = "xdp"\nname = "{}"\ncount = {}\nprogram = "{}"\n'
    program = ROOT / "engines/xdp/programs/tx.c"
    path = tmp_path / "two.toml"
    path.write_text('[card]\nname = "two"\nports = 2\n' + group.format("a", 5, program) + group.format("b", 3, program))
    done = init(path, tmp_path / "out", "--board", "au250")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("xdp_map_bank") == 1 and done.stdout.count("xdp_map_switch") == 1
    # Eight units make two groups, and the host has one of its own.
    assert re.findall(r"^(\d) x xdp_map_group", done.stdout, re.MULTILINE) == ["2", "1"]
    assert re.findall(r"^(\d) x xdp_core", done.stdout, re.MULTILINE) == ["5", "3"]


def test_what_nobody_has_counted_is_said(tmp_path: Path) -> None:
    done = init(ROOT / "designs/ids.toml", tmp_path / "out", "--board", "au250")
    assert done.returncode == 0 and "not counted: the inline block of ids" in done.stdout
    # A board without figures
    done = init(ROOT / "designs/one-unit.toml", tmp_path / "55n", "--shell", "corundum", "--board", "au55n")
    assert done.returncode == 0 and "au55n: nobody has entered its resources in shell/cards/boards.toml" in done.stdout


def test_files_of_areas_name_blocks_and_boards_that_there_are(tmp_path: Path) -> None:
    described = [ROOT / "bench/synth.toml", *ROOT.glob("engines/*/bench/synth.toml")]
    known = {block["name"] for file in described for block in tomllib.loads(file.read_text())["block"]}
    files = [*ROOT.glob("shell/**/areas.toml"), *ROOT.glob("engines/*/areas.toml")]
    assert len(files) >= 3
    for file in files:
        named = {area["block"] for area in tomllib.loads(file.read_text())["area"]}
        assert named <= known, f"{file}: no synth.toml has {named - known}"
    boards: set[str] = set()
    for shell in ("opennic", "corundum"):
        refused = init(ROOT / "designs/forward.toml", tmp_path / "no", "--shell", shell, "--board", "none").stderr
        boards |= set(re.findall(r"\w+", refused.split("give")[1]))
    assert {name for entry in BOARDS["board"] for name in entry["names"]} <= boards
