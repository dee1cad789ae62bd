# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The command line for shells, for man(1) and for reports of faults: with the real programs."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from built import COMMAND_LINE
from system import ROOT, call


def completed(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    script = folder / "complete.bash"
    script.write_text(call("completion", "bash").stdout)
    line = " ".join(words)
    program = f"""
        source {script}
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1} COMP_LINE='{line}'
        function=$(complete -p penstock | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
        $function penstock '{words[-1]}' '{words[-2]}'
        printf '%s\\n' "${{COMPREPLY[@]}}"
        """
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_options_and_words(tmp_path: Path) -> None:
    assert completed(tmp_path, "penstock", "ch") == ["check"]
    # Subcommands of engines are also there.
    assert {"map", "var", "capture", "status"} <= set(completed(tmp_path, "penstock", "ctl", ""))
    assert "rpu" in completed(tmp_path, "penstock", "compile", "")
    assert {"--target", "--rate"} <= set(completed(tmp_path, "penstock", "run", "--"))
    assert completed(tmp_path, "penstock", "run", "--target", "r") == ["rtl"]


@pytest.mark.parametrize("shell", ["zsh", "fish", "elvish", "powershell"])
def test_scripts_of_other_shells(shell: str) -> None:
    done = call("completion", shell)
    assert done.returncode == 0 and "penstock" in done.stdout and "capture" in done.stdout
    if shutil.which(shell):
        check = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, text=True, check=False)
        assert check.returncode == 0, check.stderr


def test_manual_pages(tmp_path: Path) -> None:
    """Each command has a page that man shows, with its own name, its options and what they do."""
    done = call("man", tmp_path / "man1")
    assert done.returncode == 0, done.stderr
    pages = {path.name for path in (tmp_path / "man1").iterdir()}
    assert {
        "penstock.1",
        "penstock-run.1",
        "penstock-ctl-capture.1",
        "penstock-ctl-map.1",
        "penstock-compile-rpu.1",
    } <= pages
    assert not any("help" in page for page in pages)
    if shutil.which("man") is None:
        pytest.skip("needs man (Debian: apt-get install man-db)")
    shown = subprocess.run(
        ["man", "-P", "cat", "-l", tmp_path / "man1/penstock-run.1"],
        capture_output=True,
        text=True,
        check=True,
        env={"MANWIDTH": "100", "PATH": "/usr/bin:/bin", "MAN_KEEP_FORMATTING": "0"},
    ).stdout
    plain = " ".join(re.sub(r".\x08", "", shown).split())
    assert "penstock run" in plain and "--in <FILE[@PORT]>" in plain and "Repeatable" in plain


def test_the_version_has_the_commit() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    shown = call("--version").stdout
    head = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    assert re.fullmatch(rf"penstock {re.escape(version)}( \({head}(, changed)?\))?\n", shown), shown
    assert head in shown
    # Elsewhere there is no commit, and no fault.
    done = subprocess.run(
        [COMMAND_LINE, "--version"], env={"PENSTOCK_ROOT": "/nowhere"}, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"penstock {version}\n" and done.stderr == ""


def test_output_has_no_colours_in_a_pipe_or_with_no_color(tmp_path: Path) -> None:
    """Help and errors on a terminal are coloured unless the user sets NO_COLOR (no-color.org)."""
    shown = {}
    for name, env in (("colour", ""), ("none", "NO_COLOR=1 ")):
        command = f"{env}TERM=xterm PENSTOCK_ROOT={ROOT} {COMMAND_LINE} run --nonsense"
        done = subprocess.run(["script", "-qec", command, "/dev/null"], capture_output=True, text=True, check=False)
        shown[name] = done.stdout
        assert "--nonsense" in done.stdout
    assert "\x1b[" in shown["colour"] and "\x1b[" not in shown["none"], shown
    assert "\x1b[" not in call("run", "--nonsense").stderr


def test_quiet_and_verbose(tmp_path: Path) -> None:
    """Quiet prints nothing but errors; verbose prints each step with its time; what is written is the same."""
    capture = ROOT / "designs/traffic/names.outside.pcap"
    written = {}
    shown = {}
    for option in ("--quiet", "--verbose", "--json=-"):
        out = tmp_path / option
        words = ("run", "designs/one-unit.toml", "--in", capture, "--out", out)
        shown[option] = call(*words, option)
        assert shown[option].returncode == 0, shown[option].stderr
        written[option] = (out / "port1.pcap").read_bytes()
    assert shown["--quiet"].stdout == shown["--quiet"].stderr == ""
    steps = shown["--verbose"].stderr.splitlines()
    times = [float(step.split()[0]) for step in steps]
    assert len(steps) == 5 and times == sorted(times) and all(step.split()[1] == "s" for step in steps), steps
    assert "one-unit on soft" in shown["--verbose"].stdout or "frames in" in shown["--verbose"].stdout
    assert len(set(written.values())) == 1
    warned = tmp_path / "warned.c"
    warned.write_text("#include <penstock.h>\nint main(void) { int unused; pn_init(); for (;;) pn_send(pn_recv()); }\n")
    words = ("run", "designs/one-unit.toml", "--program", warned, "--in", capture, "--out", tmp_path / "out")
    assert "unused variable" in call(*words).stderr
    assert call(*words, "-q").stderr == ""
    assert "cannot be used with" in call(*words, "-q", "-v").stderr
    # Errors are never quiet.
    refused = call("-q", "run", "none.toml", "--in", capture, "--out", tmp_path / "out")
    assert refused.returncode != 0 and "none.toml" in refused.stderr
