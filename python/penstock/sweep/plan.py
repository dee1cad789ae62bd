# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The jobs of a sweep, from a file.

The file has one or more `[[sweep]]`. The keys of each are options of `penstock run`; a list gives alternatives, of
which each combination is a run. An option that may be repeated takes a list for an alternative.
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Options whose value is a file, by the part of the value that is the path: all of it, before `@`, or behind `=`.
FILES = {"design": "all", "in": "@", "program": "=", "table": "=", "entries": "all", "rules": "all"}
# Options that may be repeated.
REPEATED = ("in", "program", "table", "units")
# Options whose value is the name of a file that the run writes, in its folder.
WRITTEN = ("eve",)
KEYS = (*FILES, *WRITTEN, "target", "rate", "units", "policy", "parts")
# Without them there is nothing to run.
NEEDED = ("design", "in")
# Runs of a file at most: more is a mistake, and its folders would fill the disk.
MOST = 100_000


class PlanError(Exception):
    """What is wrong with the file of a sweep, with its place."""


@dataclass(frozen=True)
class Job:
    """A run."""

    number: int
    """From 1, in the order of the file."""
    parameters: dict[str, str]
    """What tells it from the others, by the keys of the file; paths as the file has them."""
    options: list[tuple[str, str]]
    """Options of `penstock run` without their dashes, with paths that hold from everywhere; the design is the option
    `design`."""

    def paths(self) -> list[Path]:
        """The files that its options name."""
        return [Path(_split(key, value)[1]) for key, value in self.options if key in FILES]

    def moved(self, to: dict[Path, Path]) -> Job:
        """The same job with some of its files elsewhere."""
        options = []
        for key, value in self.options:
            before, path, behind = _split(key, value)
            options.append((key, f"{before}{to.get(Path(path), path)}{behind}" if key in FILES else value))
        return Job(self.number, self.parameters, options)


def _split(key: str, value: str) -> tuple[str, str, str]:
    """A value's path, and what stands before and behind it."""
    kind = FILES.get(key, "all")
    if kind == "@" and re.search(r"@(\d+|host)$", value):
        path, _, port = value.rpartition("@")
        return "", path, f"@{port}"
    if kind == "=" and "=" in value:
        name, _, path = value.partition("=")
        return f"{name}=", path, ""
    return "", value, ""


def read(path: Path) -> list[Job]:
    """The jobs of a file.

    Raises PlanError.
    """
    try:
        text = path.read_text(encoding="utf-8")
        tree = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{path}: {error}") from error
    sweeps = tree.pop("sweep", None)
    if tree or not isinstance(sweeps, list) or not sweeps:
        first = next(iter(tree), None)
        what = f"`{first}` stands outside of a [[sweep]]" if first else "there is no [[sweep]]"
        raise PlanError(f"{path}: {what}; begin with a line [[sweep]], and put keys like `design` below it")
    jobs: list[Job] = []
    for sweep in sweeps:
        for parameters in combinations(sweep, path, text):
            jobs.append(job(len(jobs) + 1, parameters, path.parent))
            if len(jobs) > MOST:
                raise PlanError(f"{path}: these are more than {MOST} runs; make several sweeps of them")
    return jobs


def combinations(sweep: dict[str, Any], path: Path, text: str) -> list[dict[str, list[str]]]:
    """The values of each run's options, by key."""

    def wrong(key: str, what: str) -> PlanError:
        found = re.search(rf"^[ \t]*{re.escape(key)}[ \t]*=", text, re.MULTILINE)
        line = f":{text.count(chr(10), 0, found.start(0)) + 1}" if found else ""
        return PlanError(f"{path}{line}: {what}")

    for key in sweep:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, 1)
            meant = f"; `{near[0]}` is one" if near else ""
            raise wrong(key, f"`{key}` is no key of a sweep{meant}; the keys are {', '.join(KEYS)}")
    for key in NEEDED:
        if key not in sweep:
            raise PlanError(f"{path}: a [[sweep]] needs the key `{key}`")
    parts = sweep.get("parts", 1)
    if not isinstance(parts, int) or isinstance(parts, bool) or not 1 <= parts <= 1000:
        raise wrong("parts", f"`parts` is {parts!r}; give the number of parts of each capture, 1 to 1000")
    dimensions: list[list[tuple[str, list[str]]]] = []
    for key, value in sweep.items():
        if key == "parts":
            continue
        alternatives = value if isinstance(value, list) else [value]
        if not alternatives:
            raise wrong(key, f"`{key}` is an empty list; give one value, or leave the key out")
        dimension = []
        for one in alternatives:
            words = one if isinstance(one, list) else [one]
            if isinstance(one, list) and key not in REPEATED:
                raise wrong(key, f"a list within the list of `{key}`; only {', '.join(REPEATED)} may be repeated")
            if not words or not all(
                isinstance(word, str | int | float) and not isinstance(word, bool) for word in words
            ):
                raise wrong(key, f"`{key}` holds {one!r}; give strings or numbers")
            if key in WRITTEN and any(Path(str(word)).name != word for word in words):
                raise wrong(key, f"`{key}` is {one!r}; give the name of a file, which each run has in its folder")
            dimension.append((key, [str(word) for word in words]))
        dimensions.append(dimension)
    if parts > 1:
        dimensions.append([("part", [f"{number}/{parts}"]) for number in range(1, parts + 1)])
    if math.prod(map(len, dimensions)) > MOST:
        raise PlanError(f"{path}: these are more than {MOST} runs; make several sweeps of them")
    return [dict(chosen) for chosen in itertools.product(*dimensions)]


def job(number: int, parameters: dict[str, list[str]], folder: Path) -> Job:
    """A run with these options, whose paths begin at `folder`."""
    options = []
    for key, values in parameters.items():
        for value in values:
            before, path, behind = _split(key, value)
            whole = f"{before}{(folder / path).resolve()}{behind}" if key in FILES else value
            options.append((key, whole))
    return Job(number, {key: " ".join(values) for key, values in parameters.items()}, options)
