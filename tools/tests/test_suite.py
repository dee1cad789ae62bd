# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The suite's own counting: a skipped test does not count as passed, and a required test may not be skipped."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
import test as suite
from test import Count, Step
from tree import ROOT, tracked

import registry

CARGO = """\
     Running tests/kernel.rs (target/release/deps/kernel-1)
SKIPPED maps: bpf() is not allowed here
test maps ... SKIPPED maps: bpf() is not allowed here
test other ... SKIPPED other: apt-get install xdp-tools
test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s
     Running tests/maps.rs (target/release/deps/maps-1)
SKIPPED maps: bpf() is not allowed here
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
"""


def test_a_test_that_reports_itself_as_skipped_is_not_passed() -> None:
    """Once for each test, however often it reports; tests of one name in two binaries are two."""
    assert suite.count_cargo(CARGO) == Count(passed=3, failed=0, skipped=4)


def step(text: str) -> Step:
    return Step("cargo test", [sys.executable, "-c", f"print({text!r})"], suite.count_cargo)


def test_what_is_required_fails_when_it_is_skipped() -> None:
    count, text = suite.run(step(CARGO), ["install xdp-tools"])
    assert (count.failed, count.passed) == (1, 3)
    assert "must not be skipped: SKIPPED other: apt-get install xdp-tools" in text
    count, text = suite.run(step(CARGO), ["install gdb-multiarch"])
    assert (count.failed, count.skipped) == (0, 4)
    assert "SKIPPED other: apt-get install xdp-tools" in text


def test_a_step_that_runs_nothing_fails() -> None:
    assert suite.run(step(""))[0].failed == 1


@pytest.mark.parametrize("name", suite.parts())
def test_each_part_has_its_own_steps(name: str) -> None:
    steps = {step.name: step.command for step in suite.steps(False, [suite.parts()[name]])}
    folder = suite.parts()[name]
    assert "planted bugs fit" in steps
    for word in steps.get("hardware and system tests", []):
        assert "tests" not in word.split("/") or suite.below(word, [folder])
    crates = [word for word in steps.get("cargo test", []) if word.startswith("penstock")]
    assert all(crate in suite.crates([folder]) for crate in crates)
    assert crates or "hardware and system tests" in steps, "a part without tests"


def test_crates_of_an_engine() -> None:
    first, second = (engine.name for engine in registry.read()[:2])
    assert f"penstock-{first}-host" in suite.crates([f"engines/{first}"])
    assert f"penstock-{first}-host" not in suite.crates([f"engines/{second}", "shell"])
    assert not suite.below(f"engines/{first}2", [f"engines/{first}"])


def test_cargo_reads_every_workspace() -> None:
    """A workspace of its own is no member of the one that the suite builds."""
    manifests = [name for name in tracked("*Cargo.toml") if "workspace" in tomllib.loads((ROOT / name).read_text())]
    assert "Cargo.toml" in manifests
    for name in manifests:
        command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path", name]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{name}: {done.stderr}"
