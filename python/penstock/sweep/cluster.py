# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The nodes of a Ray cluster do the jobs.

Each node has a checkout of the same commit, built, and Ray runs in its build/venv. Files of the checkout are read from
the node's own. Captures and other files outside of it that options name, and models, come from the machine of the
sweep: Ray brings each to a node once, and the node keeps it. Designs outside are read from the same path.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.sweep.plan import Job
from penstock.sweep.work import BINARY, ROOT, Done, do, folder_of, model, models

# Times that a job begins again because its node has died.
RETRIES = 5

# A file by its content: the sum, its name, and where Ray has it.
Shipped = tuple[str, str, Any]


class Cluster:
    """A cluster at an address of Ray's, which does as many jobs at a time as it has processors."""

    def __init__(self, address: str) -> None:
        """Joins the cluster.

        Raises ImportError without ray, and ConnectionError if there is no such cluster.
        """
        import ray

        self.ray = ray
        ray.init(address=address, log_to_driver=False, logging_level="error")

    def carry(self, jobs: list[Job], out: Path) -> Iterator[Done]:
        """What came of the jobs, in the order in which they end. A job whose node dies begins again elsewhere."""
        ray = self.ray
        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_on_node)
        version = _version()
        files: dict[Path, Shipped] = {}
        library: dict[int, Shipped] = {}
        failed: dict[int, str] = {}
        for options, theirs in models(jobs).items():
            try:
                path = model(list(options))
            except RuntimeError as error:
                failed |= dict.fromkeys((job.number for job in theirs), str(error))
                continue
            shipped = (str(path.relative_to(ROOT)), path.name, ray.put(path.read_bytes()))
            library |= dict.fromkeys((job.number for job in theirs), shipped)
        waiting = {}
        for job in jobs:
            missing = [path for path in _to_ship(job) if not path.is_file()]
            if missing or job.number in failed:
                yield Done(job, error=failed.get(job.number) or f"{missing[0]}: there is no such file")
                continue
            for path in _to_ship(job):
                if path not in files:
                    content = path.read_bytes()
                    files[path] = (hashlib.sha256(content).hexdigest(), path.name, ray.put(content))
            theirs_files = {path: files[path] for path in _to_ship(job)}
            waiting[remote.remote(job, theirs_files, library.get(job.number), str(ROOT), version)] = job
        while waiting:
            ended, _ = ray.wait(list(waiting), num_returns=1)
            job = waiting.pop(ended[0])
            try:
                done, results = ray.get(ended[0])
            except ray.exceptions.RayError as error:
                yield Done(job, error=f"Ray gave the job up: {error}")
                continue
            folder = folder_of(out, job)
            folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder)
            folder.mkdir()
            for name, content in results.items():
                (folder / name).write_bytes(content)
            yield done


def _to_ship(job: Job) -> list[Path]:
    """The files of a job that nodes may not have: those outside of the checkout, but not its design, which refers to
    others by their places.
    """
    design = Path(dict(job.options)["design"])
    return [path for path in job.paths() if path != design and not path.is_relative_to(ROOT)]


def _version() -> str:
    done = subprocess.run([BINARY, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _on_node(
    job: Job, files: dict[Path, Shipped], library: Shipped | None, root: str, version: str
) -> tuple[Done, dict[str, bytes]]:
    """A job on the node that Ray has chosen; gives its results' files besides."""
    own = _version()
    if own != version:
        node = os.uname().nodename
        return Done(job, error=f"{node} has {own}, and this sweep {version}: check out the same commit there"), {}
    if library:
        place, _, content = library
        _place(ROOT / place, content, mode=0o755)
    to: dict[Path, Path] = {}
    for path, (total, name, content) in files.items():
        to[path] = ROOT / "build/sweep" / total / name
        _place(to[path], content)
    to |= {path: ROOT / path.relative_to(root) for path in job.paths() if path.is_relative_to(root)}
    with tempfile.TemporaryDirectory(prefix="penstock-sweep-") as folder:
        done = do(job.moved(to), Path(folder) / "job")
        results = {path.name: path.read_bytes() for path in (Path(folder) / "job").iterdir() if path.is_file()}
    return Done(job, done.result, done.frames, done.error), results


def _place(path: Path, content: Any, mode: int = 0o644) -> None:
    """Fetches a file from Ray, if the node does not have it. Jobs beside this one see it whole or not at all."""
    import ray

    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(ray.get(content))
    Path(file.name).chmod(mode)
    Path(file.name).replace(path)
