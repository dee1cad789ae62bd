# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""`penstock fpga build` and `fpga report`, with a program in the place of Vivado that leaves reports which Penstock's
authors wrote. No Vivado has ever run here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from built import COMMAND_LINE
from penstock.hdl import ROOT

REPORTS = ROOT / "device/tests/reports"
VIVADO = """#!/bin/sh
pwd > "{folder}/where"
echo "$@" > "{folder}/arguments"
echo building
{work}
"""
LEAVE = """mkdir -p "{place}"
cp "{reports}/utilization.rpt" "{place}/top_utilization_placed.rpt"
cp "{reports}/{timing}.rpt" "{place}/top_timing_summary_routed.rpt"
"""
BOARD = "fpga/mqnic/Alveo/fpga_100g/fpga_AU250"


def penstock(*words: str | Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": path or os.environ["PATH"]}
    return subprocess.run([COMMAND_LINE, *words], check=False, capture_output=True, text=True, cwd=ROOT, env=env)


@pytest.fixture
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    done = penstock(
        "fpga",
        "init",
        "designs/one-unit.toml",
        "--shell",
        request.param,
        "--board",
        "au250",
        "--out",
        tmp_path / "card",
    )
    assert done.returncode == 0, done.stderr
    return tmp_path / "card"


def checkout(folder: Path) -> Path:
    """What `build` looks for in a checkout of each shell."""
    (folder / "script").mkdir(parents=True)
    (folder / "script/build.tcl").write_text("")
    (folder / BOARD).mkdir(parents=True)
    return folder


def tool(folder: Path, name: str, work: str) -> str:
    """A PATH with this tool; the others are those of the system without a Vivado."""
    (folder / "bin").mkdir(exist_ok=True)
    program = folder / "bin" / name
    program.write_text(VIVADO.format(folder=folder, work=work))
    program.chmod(0o755)
    return f"{folder / 'bin'}:{without_vivado()}"


def without_vivado() -> str:
    return ":".join(place for place in os.environ["PATH"].split(":") if not (Path(place) / "vivado").exists())


@pytest.mark.parametrize("project", ["opennic"], indirect=True)
@pytest.mark.parametrize(("timing", "code"), [("timing", 0), ("failing", 1)])
def test_opennic_is_built_and_its_reports_are_read(project: Path, timing: str, code: int, tmp_path: Path) -> None:
    shell = checkout(tmp_path / "shell")
    place = shell / "build/au250/open_nic_shell/open_nic_shell.runs/impl_1"
    # A report of an earlier build, in which all was well
    place.mkdir(parents=True)
    shutil.copy(REPORTS / "timing.rpt", place / "old_timing_summary_routed.rpt")
    os.utime(place / "old_timing_summary_routed.rpt", (1, 1))
    path = tool(tmp_path, "vivado", LEAVE.format(place=place, reports=REPORTS, timing=timing))
    done = penstock("fpga", "build", project, "--checkout", shell, path=path)
    assert done.returncode == code, done.stdout + done.stderr
    assert (tmp_path / "where").read_text().strip() == str(shell / "script")
    assert (tmp_path / "arguments").read_text().split() == [
        *("-mode", "batch", "-source", "build.tcl", "-tclargs", "-board", "au250", "-num_cmac_port", "2"),
        *("-user_plugin", str(project), "-impl", "1", "-post_impl", "1", "-rebuild", "1"),
    ]
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["used", "301,234", "245,678", "826.5", "519", "68"] in rows
    assert ["xcu250-figd2104-2L-e", "1,728,000", "3,456,000", "2,688", "1,280", "12,288"] in rows
    if timing == "timing":
        assert "all constraints are met" in done.stdout and "NOT" not in done.stdout
        assert ["card_clk_out", "250.000", "0.042", "252.7", "0"] in rows
    else:
        assert "NOT all constraints are met" in done.stdout and "its bitstream must not be used" in done.stderr
        assert ["card_clk_out", "250.000", "-0.731", "211.4", "1201"] in rows


@pytest.mark.parametrize("project", ["corundum"], indirect=True)
def test_corundum_is_built_in_its_folder(project: Path, tmp_path: Path) -> None:
    shell = checkout(tmp_path / "shell")
    place = shell / f"{BOARD}_app_penstock"
    tool(tmp_path, "vivado", "exit 1")
    work = LEAVE.format(place=place / "fpga.runs/impl_1", reports=REPORTS, timing="timing")
    path = tool(tmp_path, "make", work)
    done = penstock("fpga", "build", project, "--checkout", shell, path=path)
    assert done.returncode == 0 and "all constraints are met" in done.stdout, done.stderr
    assert (tmp_path / "where").read_text().strip() == str(place)
    copied = {file.relative_to(place) for file in place.rglob("*") if file.is_file() and ".runs" not in str(file)}
    assert copied == {file.relative_to(project) for file in project.rglob("*") if file.is_file()} and len(copied) > 100


@pytest.mark.parametrize("project", ["corundum"], indirect=True)
def test_a_project_in_its_place_is_built_there(project: Path, tmp_path: Path) -> None:
    """The folder that a build would copy the project to, and folders around or inside it."""
    shell = checkout(tmp_path / "shell")
    place = shell / f"{BOARD}_app_penstock"
    shutil.copytree(project, place)
    files = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    tool(tmp_path, "vivado", "exit 1")
    work = LEAVE.format(place=place / "fpga.runs/impl_1", reports=REPORTS, timing="timing")
    path = tool(tmp_path, "make", work)
    done = penstock("fpga", "build", place, "--checkout", shell, path=path)
    assert done.returncode == 0, done.stderr
    assert {file: file.read_bytes() for file in files} == files
    inside = place / "inside"
    shutil.copytree(project, inside)
    around = project / "checkout"
    checkout(around)
    for folder, of in ((inside, shell), (project, around)):
        done = penstock("fpga", "build", folder, "--checkout", of, path=path)
        assert done.returncode == 1 and "are inside each other" in done.stderr, done.stderr


@pytest.mark.parametrize("project", ["opennic", "corundum"], indirect=True)
def test_without_vivado_it_says_what_it_would_run(project: Path, tmp_path: Path) -> None:
    shell = checkout(tmp_path / "shell")
    done = penstock("fpga", "build", project, "--checkout", shell, path=without_vivado())
    assert done.returncode == 1 and "vivado is not in an absolute folder of PATH" in done.stderr
    assert "-user_plugin" in done.stderr or f"cp -r {project}/. {shell / BOARD}_app_penstock" in done.stderr
    assert not (shell / f"{BOARD}_app_penstock").exists()


@pytest.mark.parametrize("project", ["opennic"], indirect=True)
@pytest.mark.parametrize("entry", ["", "."])
def test_a_program_of_the_checkout_is_not_the_tool(project: Path, entry: str, tmp_path: Path) -> None:
    """Empty and relative folders of PATH: neither that of the caller, nor that in which the tool runs."""
    shell = checkout(tmp_path / "shell")
    tool(tmp_path, "vivado", "exit 1")
    for folder in (tmp_path, shell / "script"):
        shutil.copy(tmp_path / "bin/vivado", folder / "vivado")
    command = [COMMAND_LINE, "fpga", "build", project, "--checkout", shell]

    def build(path: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PATH": path, "PENSTOCK_ROOT": str(ROOT)}
        return subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=env)

    done = build(f"{entry}:{without_vivado()}:")
    assert done.returncode == 1 and "vivado is not in an absolute folder of PATH" in done.stderr, done.stderr
    assert not (tmp_path / "where").exists()
    # In front of the tool's own folder: the tool runs, and its PATH has no such folder.
    tool(tmp_path, "vivado", f'echo "$PATH" > "{tmp_path}/path"; exit 3')
    (shell / "script/vivado").write_text("#!/bin/sh\nexit 4\n")
    done = build(f"{entry}:{tmp_path / 'bin'}:{without_vivado()}")
    assert done.returncode == 1 and "it ended with exit status: 3" in done.stderr, done.stderr
    assert all(Path(folder).is_absolute() for folder in (tmp_path / "path").read_text().strip().split(":"))


@pytest.mark.parametrize("project", ["opennic"], indirect=True)
def test_what_cannot_be_built_is_said(project: Path, tmp_path: Path) -> None:
    shell = checkout(tmp_path / "shell")

    def fails(says: str, project: Path = project, shell: Path = shell, work: str = "true") -> None:
        done = penstock("fpga", "build", project, "--checkout", shell, path=tool(tmp_path, "vivado", work))
        assert done.returncode == 1 and says in done.stderr, done.stderr

    fails("it ended with exit status: 3", work="exit 3")
    # A report of an earlier build is none of this one.
    (shell / "build").mkdir()
    shutil.copy(REPORTS / "timing.rpt", shell / "build/old_timing_summary_routed.rpt")
    os.utime(shell / "build/old_timing_summary_routed.rpt", (1, 1))
    fails("there is no report of utilization or timing in this folder")
    # Nor is a report of utilization alone enough.
    (shell / "build/run").mkdir()
    fails("has left no report of its timing", work=f'cp "{REPORTS}/utilization.rpt" "{shell}/build/run"')
    fails("this is no project of `penstock fpga init`: hardware.json", project=tmp_path)
    fails("script/build.tcl is not there", shell=tmp_path)
    fails("No such file or directory", shell=tmp_path / "none")
    about = (project / "hardware.json").read_text()
    for old, new, says in (
        ('"au250"', '"../../etc"', "board or ports are no words"),
        ('"opennic"', '"mine"', "no shell `mine`"),
        ('"opennic"', '"opennic', "hardware.json: "),
    ):
        (project / "hardware.json").write_text(about.replace(old, new))
        fails(says)


def test_reports_are_read_by_themselves(tmp_path: Path) -> None:
    both = penstock("fpga", "report", REPORTS / "utilization.rpt", REPORTS / "timing.rpt")
    assert both.returncode == 0 and "301,234" in both.stdout and "all constraints are met" in both.stdout
    folder = penstock("fpga", "report", REPORTS)
    assert folder.returncode == 0 and "301,234" in folder.stdout
    twice = penstock("fpga", "report", REPORTS / "failing.rpt", REPORTS / "timing.rpt")
    assert twice.returncode == 1 and "failing.rpt is a report of the same kind" in twice.stderr
    half = (REPORTS / "utilization.rpt").read_text().split("| Block RAM Tile")[0]
    (tmp_path / "half.rpt").write_text(half)
    done = penstock("fpga", "report", tmp_path / "half.rpt")
    assert done.returncode == 1 and "it has no row `Block RAM Tile`" in done.stderr, done.stderr
    # A sentence alone is no proof.
    claim = (REPORTS / "failing.rpt").read_text().replace("not met", "met")
    claim = claim.replace("Timing constraints are met.", "All user specified timing constraints are met.")
    (tmp_path / "claim.rpt").write_text(claim)
    done = penstock("fpga", "report", tmp_path / "claim.rpt")
    assert "NOT all constraints are met" in done.stdout, done.stdout
    # Names in a report reach no terminal as they are.
    (tmp_path / "evil.rpt").write_text((REPORTS / "timing.rpt").read_text().replace("axil_aclk", "\x1b[2Jaclk"))
    evil = penstock("fpga", "report", tmp_path / "evil.rpt")
    assert evil.returncode == 0 and "\x1b" not in evil.stdout
    for name, content in (("empty", b""), ("binary", os.urandom(100_000)), ("long", b"|" * 5_000_000)):
        (tmp_path / name).write_bytes(content)
        done = penstock("fpga", "report", tmp_path / name)
        assert done.returncode == 1 and f"{tmp_path / name}: this is no text report" in done.stderr, done.stderr
    assert penstock("fpga", "report", tmp_path / "none").returncode == 1
    assert "there is no report" in penstock("fpga", "report", ROOT / "designs").stderr
