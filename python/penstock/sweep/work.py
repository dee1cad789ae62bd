# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""One run: `penstock run` in a process of its own."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.sweep.plan import WRITTEN, Job

# The checkout.
ROOT = Path(os.environ.get("PENSTOCK_ROOT") or Path(__file__).resolve().parents[3])
# The command that does a run.
BINARY = Path(os.environ.get("PENSTOCK_COMMAND") or ROOT / "target/release/penstock")


@dataclass
class Done:
    """What came of a job."""

    job: Job
    result: dict[str, Any] = field(default_factory=dict)
    """result.json; empty if there is none."""
    frames: str = ""
    """SHA-256 over the captures of all exits: equal frames and times give equal sums."""
    error: str = ""
    """Why the run did not end well, or the faults that it reports; empty if all is well."""


def folder_of(out: Path, job: Job) -> Path:
    """Where the results of a job are."""
    return out / f"{job.number:05}"


def do(job: Job, folder: Path) -> Done:
    """Does a job. Its captures and its result are in `folder` then."""
    try:
        return _done(job, folder)
    except OSError as error:
        return Done(job, error=f"{error.filename or folder}: {error.strerror}")


def _done(job: Job, folder: Path) -> Done:
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    options = dict(job.options)
    command = [str(BINARY), "--quiet", "run", options["design"], "--out", str(folder)]
    command += ["--json", str(folder / "result.json")]
    for key, value in job.options:
        if key != "design":
            command.append(f"--{key}={folder / value if key in WRITTEN else value}")
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    said = [line.removeprefix("error: ") for line in done.stderr.splitlines() if line.strip()]
    error = ""
    if done.returncode != 0:
        error = " ".join(said) or f"penstock ended with status {done.returncode}"
    return Done(job, _result(folder), digest(folder), error)


def _result(folder: Path) -> dict[str, Any]:
    try:
        tree = json.loads((folder / "result.json").read_text())
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def digest(folder: Path) -> str:
    """The sum over all captures in a folder, by name; empty without captures."""
    total = hashlib.sha256()
    captures = sorted(folder.glob("*.pcap"))
    for path in captures:
        with path.open("rb") as file:
            total.update(path.name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest() if captures else ""


def model(options: list[tuple[str, str]]) -> Path:
    """Builds the RTL model for the options of a job, and gives its path.

    Raises RuntimeError with what the build said.
    """
    command = [str(BINARY), "--quiet", "model", dict(options)["design"]]
    command += [f"--units={value}" for key, value in options if key == "units"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return Path(done.stdout.strip())


def models(jobs: list[Job]) -> dict[tuple[tuple[str, str], ...], list[Job]]:
    """The jobs on `rtl`, by the options that select their model."""
    found: dict[tuple[tuple[str, str], ...], list[Job]] = {}
    for job in jobs:
        if ("target", "rtl") in job.options:
            key = tuple((key, value) for key, value in job.options if key in ("design", "units"))
            found.setdefault(key, []).append(job)
    return found
