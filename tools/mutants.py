# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Plants one bug at a time and checks that the suite catches it. `./penstock test --mutants` runs it; run as a program,
this file only checks that all bugs can be planted.

The bugs stand in files named mutants.toml. Each has a `name`, the `file` it changes, the text it replaces (`find`,
which must occur exactly once) and what it puts there (`replace`), and the `test` that must fail: pytest arguments, or
cargo arguments that start with `cargo`. A bug that does not compile proves nothing and counts as missed. Each test runs
on the unchanged tree before and after: if it fails there, it proves nothing. Each processor tries bugs in a copy of the
tree of its own. It takes hours, so a bug that was caught is not tried again while the file it changes and its test are
as they were; `--again` tries all.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import cache
from itertools import chain
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from penstock.data import DATA  # noqa: E402
from tree import tracked  # noqa: E402

COPIES = ROOT / "build" / "mutants"
# The bugs caught so far, a line each: the fingerprint of the bug, and its name.
RECORD = COPIES / "caught"
# What `compiles` knows how to compile, beside an engine's programs.
COMPILED = (".sv", ".rs", ".py", ".c", ".h", ".S", ".js", ".cpp")
# As the command line does it: firmware with the kit's start-up code and headers.
COMPILE = ["cargo", "run", "--quiet", "--release", "--package", "penstock", "--", "compile"]
# A bug may make a test hang; that also counts as a catch. A test has at least this long, and four times as long as on
# the unchanged tree when everything that it needs had to be built.
SHORTEST_LIMIT_S = 600


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    find: str
    replace: str
    test: str
    source: str


FIELDS = {field.name for field in fields(Mutant)} - {"source"}


def load() -> list[Mutant]:
    mutants = []
    for path in sorted(ROOT / name for name in tracked("*mutants.toml")):
        source = str(path.relative_to(ROOT))
        for row in tomllib.loads(path.read_text())["mutant"]:
            if wrong := row.keys() ^ FIELDS:
                sys.exit(f"{source}: {row.get('name', 'a bug')}: has or lacks {', '.join(sorted(wrong))}")
            mutants.append(Mutant(**row, source=source))
    return mutants


def check(mutant: Mutant) -> str | None:
    """Why a mutant cannot be planted, or None."""
    path = ROOT / mutant.file
    if not path.exists():
        return f"{mutant.source}: {mutant.name}: no file {mutant.file}"
    is_program = Path(mutant.file).parts[0] == "engines" and Path(mutant.file).parts[2] == "programs"
    if path.suffix not in COMPILED and not is_program:
        return (
            f"{mutant.source}: {mutant.name}: bugs can be planted in {', '.join(COMPILED)} and programs of engines only"
        )
    found = path.read_text().count(mutant.find)
    if found != 1:
        return (
            f"{mutant.source}: {mutant.name}: the text to replace occurs {found} times in {mutant.file}, must be once"
        )
    return None


@dataclass(frozen=True)
class Copy:
    """A copy of the tree, with its builds: each worker has its own."""

    folder: Path

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    def fill(self, names: Sequence[str], source: Path) -> None:
        """Copies the files `names` of the tree `source`."""
        shutil.rmtree(self.tree, ignore_errors=True)
        for name in names:
            target = self.tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            # Not copy2: cargo rebuilds newer files, and a copy must not look older than the last planted bug.
            shutil.copy(source / name, target, follow_symlinks=False)
        (self.tree / "build").mkdir(exist_ok=True)
        (self.tree / "build" / "venv").symlink_to(ROOT / "build" / "venv")

    def attempt(self, mutant: Mutant, limit_s: float) -> str:
        """Plants the bug, returns whether its test catches it, and removes it."""
        path = self.tree / mutant.file
        original = path.read_text()
        path.write_text(original.replace(mutant.find, mutant.replace))
        try:
            if not self.compiles(mutant.file):
                return "DOES NOT COMPILE"
            try:
                return "MISSED" if self.passes(mutant.test, limit_s) else "caught"
            except subprocess.TimeoutExpired:
                return "caught"
            except InterruptedError:
                return "KILLED"
        finally:
            path.write_text(original)

    def passes(self, test: str, limit_s: float | None = None) -> bool:
        words = shlex.split(test)
        command = words if words[0] == "cargo" else [sys.executable, "-m", "pytest", "-q", "-x", *words]
        return self.succeeds(command, limit_s)

    def compiles(self, file: str) -> bool:
        if file.endswith(".sv"):
            return self.succeeds([sys.executable, "tools/lint_rtl.py", "--syntax"])
        if file.endswith(".py"):
            return self.succeeds([sys.executable, "-m", "py_compile", file])
        if file.endswith(".rs"):
            return self.succeeds(["cargo", "check", "--quiet", "--release", "--workspace"])
        # A program: its folder names its engine.
        engine = Path(file).parts[1]
        return all(self.succeeds([*COMPILE, engine, program]) for program in self.programs(engine, file))

    def programs(self, engine: str, file: str) -> list[str]:
        """The programs that `file` is part of: itself, or, when it is a part of what programs include, all that are
        shipped and need no design.
        """
        folder = Path("engines", engine, "programs")
        if Path(file).is_relative_to(folder):
            return [file]
        shipped = sorted((self.tree / folder).glob("*.c"))
        return [str(path.relative_to(self.tree)) for path in shipped if "PN_COUNT_" not in path.read_text()]

    def succeeds(self, command: list[str], limit_s: float | None = None) -> bool:
        """Whether the command ends well; TimeoutExpired when it does not end, InterruptedError when it was killed."""
        env = {
            **os.environ,
            "PENSTOCK_ROOT": str(self.tree),
            "PENSTOCK_DATA": str(DATA),
            "PENSTOCK_QUICK_MODELS": "1",
            "CARGO_TARGET_DIR": str(self.folder / "target"),
            # A bug changes a line, and compiling is most of the cost of a try, so only the affected part is compiled,
            # and with little optimization.
            "CARGO_INCREMENTAL": "1",
            "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1",
            "CARGO_PROFILE_RELEASE_DEBUG": "0",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        with subprocess.Popen(
            command,
            cwd=self.tree,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                status = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                raise
        # Another process has it: that says nothing about a bug.
        if status < 0:
            raise InterruptedError(f"{command[0]} was ended by signal {-status}; run it again")
        return status == 0


def copy_tree(copies: Sequence[Copy]) -> None:
    """Copies the tree for each worker."""
    names = tracked()
    source = ROOT
    for copy in copies:
        copy.fill(names, source)
        source = copies[0].tree


@cache
def crates() -> dict[str, Path]:
    """The folders of the workspace's crates, by name."""
    patterns = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    members = [member for pattern in patterns for member in ROOT.glob(pattern) if (member / "Cargo.toml").exists()]
    return {tomllib.loads((member / "Cargo.toml").read_text())["package"]["name"]: member for member in members}


def judges(test: str) -> list[Path]:
    """The files of a test: for cargo, a crate's tests of that name or, for its own tests, its sources."""
    words = shlex.split(test)
    if words[0] != "cargo":
        named = [ROOT / word for word in words if (ROOT / word).exists()]
    else:
        crate = crates()[words[words.index("-p") + 1]]
        named = [crate / "tests" / f"{words[words.index('--test') + 1]}.rs"] if "--test" in words else [crate / "src"]
    files = chain.from_iterable(path.rglob("*") if path.is_dir() else [path] for path in named)
    return sorted(path for path in files if path.suffix in COMPILED)


def fingerprint(mutant: Mutant) -> str:
    """The digest of the bug, the file it changes and its test, as they are in the tree."""
    digest = hashlib.sha256(repr(mutant).encode())
    for path in (ROOT / mutant.file, *judges(mutant.test)):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def line(mutant: Mutant) -> str:
    return f"{fingerprint(mutant)} {mutant.name}\n"


class Run:
    """Tries bugs on all copies; the bugs of a test go to the same copy, one after the other."""

    def __init__(self, copies: Sequence[Copy], mutants: Sequence[Mutant]) -> None:
        self._copies = copies
        # As the tree is when it is copied.
        self._lines = {mutant: line(mutant) for mutant in mutants}
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            self._free.put(copy)

    def caught(self, mutants: Sequence[Mutant]) -> int:
        """How many of them the suite catches; each is reported when it is known."""
        tests: dict[str, list[Mutant]] = {}
        for mutant in mutants:
            tests.setdefault(mutant.test, []).append(mutant)
        # Tests with many bugs first, so that no worker is left with them at the end.
        groups = sorted(tests.items(), key=lambda group: -len(group[1]))
        with ThreadPoolExecutor(len(self._copies)) as workers:
            return sum(workers.map(lambda group: self._group(*group), groups))

    def _group(self, test: str, mutants: Sequence[Mutant]) -> int:
        copy = self._free.get()
        try:
            start = time.monotonic()
            if not copy.passes(test):
                print(f"the unchanged tree fails, which proves nothing: {test}", flush=True)
                return 0
            # All that the test needs is built now.
            limit_s = max(SHORTEST_LIMIT_S, 4 * (time.monotonic() - start))
            caught = [mutant for mutant in mutants if self._try(copy, mutant, limit_s)]
            # Else it may have failed for want of memory or of room on the disk.
            if caught and not copy.passes(test):
                print(f"the unchanged tree fails now, so these catches prove nothing: {test}", flush=True)
                return 0
        except InterruptedError as error:
            print(f"{test}: {error}", flush=True)
            return 0
        finally:
            self._free.put(copy)
        with RECORD.open("a") as record:
            record.writelines(self._lines[mutant] for mutant in caught)
        return len(caught)

    def _try(self, copy: Copy, mutant: Mutant, limit_s: float) -> bool:
        start = time.monotonic()
        verdict = copy.attempt(mutant, limit_s)
        print(f"{verdict} {mutant.name} ({mutant.file}) {time.monotonic() - start:.0f} s", flush=True)
        return verdict == "caught"


def main(only: str | None = None, plant: bool = True, again: bool = False) -> int:
    """Tries the bugs whose name contains `only`, and with `again` also those that were caught before; without `plant`
    only checks whether they can be planted.
    """
    mutants = [m for m in load() if only is None or only in m.name]
    complaints = [c for c in map(check, mutants) if c]
    if complaints or not mutants:
        print("\n".join(complaints) or "no mutant has that name")
        print("0 passed, 1 failed")
        return 1
    if not plant:
        return 0
    COPIES.mkdir(parents=True, exist_ok=True)
    lock = (COPIES / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("planted bugs are being tried already: one run at a time, it takes all processors")
        print("0 passed, 1 failed")
        return 1
    copies = [Copy(COPIES / str(number)) for number in range(os.cpu_count() or 1)]
    copy_tree(copies)
    recorded = set() if again or not RECORD.exists() else set(RECORD.read_text().splitlines(keepends=True))
    before = [m for m in mutants if line(m) in recorded]
    for mutant in before:
        print(f"caught {mutant.name} ({mutant.file}) before; neither the file nor the test has changed")
    caught = len(before) + Run(copies, mutants).caught([m for m in mutants if m not in before])
    print(f"{caught} passed, {len(mutants) - caught} failed")
    return 0 if caught == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main(plant=False))
