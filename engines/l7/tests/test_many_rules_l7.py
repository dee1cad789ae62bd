# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Cards with thousands of rules."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from penstock import Device, ProgramError, ServiceError
from qnp import Message
from system import ROOT, TARGETS

LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
DESIGN = f"""
[card]
name = "many"
ports = 1
[[inline]]
engine = "l7"
program = "many.l7"
[[units]]
name = "unit"
engine = "rpu"
count = 1
program = "{ROOT / "engines/rpu/programs/forward.c"}"
"""


def names_of(count: int) -> list[bytes]:
    """Names of 6 to 32 bytes, all of which differ."""
    random = Random(5)
    names: dict[bytes, None] = {}
    while len(names) < count:
        names[bytes(random.choices(LETTERS, k=random.randint(6, 32)))] = None
    return list(names)


def program(names: list[bytes], first: int) -> str:
    """A rule for each name, which goes to a queue of its own, from `first` on."""
    rules = [f'rule r{at} {{ name = "{name.decode()}"; }} => queue {first + at};' for at, name in enumerate(names)]
    body = "\n".join([*rules, "default => queue 65000;"])
    message = "message M { option (type) = 1; bytes name = 1 [(dispatch) = true]; }"
    return f"{message}\napplication many = 1 {{ udp port 7000; on M {{\n{body}\n}} }}\n"


def write(folder: Path, names: list[bytes]) -> Path:
    (folder / "many.l7").write_text(program(names, 0))
    (folder / "many.toml").write_text(DESIGN)
    return folder / "many.toml"


def load(card: Device, text: str) -> None:
    card.call("l7", {"load": {"application": "many", "file": "new.l7", "text": text}})


def queues(card: Device, names: list[bytes]) -> list[int]:
    """The queues of a message for each name, ascending."""
    card.send([frame for name in names for frame in Message(1, 1, 1, [(1, name)]).packets()])
    return sorted(frame.mark & 0xFFFF for frame in card.run().frames)


@pytest.mark.parametrize("target", TARGETS)
def test_each_of_four_thousand_rules_takes_its_messages(target: str, tmp_path: Path) -> None:
    names = names_of(4000)
    with Device.open(write(tmp_path, names), target) as card:
        others = [name[:-1] for name in names[:50]] + [name + b"x" for name in names[:50]]
        assert queues(card, names + others) == [*range(4000), *[65000] * 100]
        rules = card.call("l7", "rules")
        assert isinstance(rules, list)
        messages = {rule["rule"]: rule["messages"] for rule in rules if rule["message"]}
        assert messages == {"default": 100} | {f"r{at}": 1 for at in range(4000)}
        # Rules that do not fit, alone or beside those that run, change nothing.
        with pytest.raises((ServiceError, ProgramError)) as error:
            load(card, program(names_of(8191), 0))
        assert "the card has room for 8190 beside the two defaults: leave rules out" in str(error.value)
        if target == "rtl":
            with pytest.raises(ServiceError) as error:
                load(card, program(names_of(4300), 0))
            said = "the rules of `many` take 4302 decisions, and 4190 in a row are free while those before still run"
            assert said in str(error.value)
        assert queues(card, names[::100]) == list(range(0, 4000, 100))
        # As many others fit.
        load(card, program(names, 10_000))
        assert queues(card, names[::100]) == list(range(10_000, 14_000, 100))


@pytest.mark.parametrize("target", TARGETS)
def test_two_thousand_rules_are_swapped_under_load(target: str, tmp_path: Path) -> None:
    """On rtl, messages enter at line rate during the whole swap. Each is decided by the old rules or the new ones."""
    names = names_of(2000)
    with Device.open(write(tmp_path, names), target) as card:
        for first in (10_000, 20_000):
            some = list(enumerate(names))[first // 10_000 :: 53]
            frames = [Message(1, 1, 1, [(1, name), (2, bytes(200))] * 40).packets()[0] for _, name in some]
            count = 50 if target == "rtl" else 1
            card.send(frames * count)
            before = first - 10_000
            marks: Counter[int] = Counter()
            if target == "rtl":
                marks.update(frame.mark & 0xFFFF for frame in card.step(2000))
            else:
                marks.update(frame.mark & 0xFFFF for frame in card.run().frames)
                card.send(frames)
            load(card, program(names, first))
            run = card.run()
            if target == "rtl":
                marks = Counter(frame.mark & 0xFFFF for frame in run.frames)
            else:
                marks.update(frame.mark & 0xFFFF for frame in run.frames)
                count += 1
            old = sum(marks[before + at] for at, _ in some)
            assert all(marks[before + at] + marks[first + at] == count for at, _ in some), marks
            assert old + sum(marks[first + at] for at, _ in some) == marks.total() == len(some) * count
            assert min(old, marks.total() - old) >= len(some), (old, marks.total())
