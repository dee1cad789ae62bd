# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Compares native code with plain Python (l7_model.py) on random programs and messages:

    build/venv/bin/python engines/l7/tests/l7_twins.py --programs 10000

prints what the programs covered, and the first one on which the twins differ.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any

if __name__ == "__main__":
    sys.path += [str(Path(__file__).parents[3] / "python")]

from l7_language import Ambiguous, Application, On, Program, Range, Rule
from l7_model import COUNTERS, Card, Out
from l7_random import (
    TIMEOUT,
    Case,
    Frame,
    Load,
    Names,
    add_many,
    fields_of,
    other_rules,
    program,
    rule_at,
    traffic,
    width_of,
    without,
)
from penstock.cargo import example
from penstock.hdl import simulate

# Messages, frames and rows of one case in a simulation, at most.
MESSAGES_RTL, FRAMES_RTL, ROWS_RTL = 24, 120, 150
SOURCES = [
    "lib/rtl/rtl.f",
    "engines/l7/rtl/rtl.f",
    "lib/sim/axi_memory.sv",
    "lib/sim/axi_fault.sv",
    "engines/l7/tests/l7_block_bench.sv",
]
# A refused rule is taken out, and the program tried again.
TRIES = 400


class Soft:
    """The engine in native code; see engines/l7/soft/examples/l7exec.rs."""

    def __init__(self, command: Path) -> None:
        self.process = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Soft:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.process.communicate()

    def run(self, case: Case, images: bool = False) -> dict[str, Any]:
        steps = [
            ["frame", step.time, step.port, step.tenant, step.hash, step.data.hex()]
            if isinstance(step, Frame)
            else ["load", step.application, step.program.text()]
            for step in case.steps
        ]
        asked = {
            "text": case.program.text(),
            "timeout": TIMEOUT,
            "messages": case.messages_max,
            "pages": case.pages_max,
            "steps": steps,
            "images": images,
        }
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the native code has stopped"
        return json.loads(answer)


def accepted(random: Random, soft: Soft, one: Program, coverage: Counter) -> Program:
    """The program without the rules for which it is refused."""
    coverage["programs"] += 1
    for _ in range(TRIES):
        answer = soft.run(Case(one))
        if "faults" not in answer:
            return one
        # The text changes with each rule that is taken out, from its end.
        for line, message in sorted(answer["faults"], reverse=True):
            coverage[f"refused {reason(message)}"] += 1
            if found := rule_at(one, line):
                deserved(random, *found, message)
        without(one, {line for line, _ in answer["faults"]}, random)
    raise AssertionError(f"refused again and again: {answer['faults']}\n{one.text()}")


def deserved(random: Random, on: On, rule: Rule, message: str) -> None:
    """Whether the fault of a rule is one."""
    if " never matches" in message:
        for _ in range(12):
            fields = fields_of(random, rule)
            try:
                winner = on.choose([(of.number, fields[of.name]) for of in on.message.fields if of.name in fields])
            except Ambiguous:
                continue
            assert winner is not rule, f"{message}\nbut it takes {fields}"
    elif found := re.match(r"`\w+` and `(\w+)` .* both match (.*): write", message):
        other = next(one for one in on.rules if one.name == found[1])
        shown = re.findall(r'(\w+) = ("(?:[^"\\]|\\.)*"|\d+)', found[2])
        widths = {of.name: width_of(of) for of in on.message.fields}
        fields = {name: bytes_shown(value, widths[name]) for name, value in shown}
        assert rule.matches(fields) and other.matches(fields), f"{message}\nbut not both match"
        # If a rule has patterns of several lengths, a longer one may also match the message that is shown.
        assert rule.priority == other.priority and rule.action != other.action, message
        assert on.longest or on.order(rule, fields) == on.order(other, fields), message
    elif found := re.match(r"this rule needs fields of (\d+) bytes", message):
        # Of the longest alternative of each field, with the field's number and length
        shortest = [
            [one.width if isinstance(one, Range) else one.length()[0] for one in patterns]
            for patterns in rule.conditions.values()
        ]
        least = sum(2 + max(lengths) for lengths in shortest)
        assert 256 < int(found[1]) <= least, f"{message}\nbut {least} bytes do"
    elif found := re.match(r"this pattern needs (\d+) bytes or more, and the card sees at most (\d+) of", message):
        lengths = [one.length()[0] for of in rule.conditions.values() for one in of if not isinstance(one, Range)]
        assert int(found[2]) < int(found[1]) <= max(lengths), message


def bytes_shown(value: str, width: int) -> bytes:
    """A field's bytes from how an example shows them: a string, or a number if the field is an integer."""
    if value.startswith('"'):
        return bytes(ast.literal_eval(f"b{value}"))
    return int(value).to_bytes(width, "big")


def reason(message: str) -> str:
    reasons = {
        "same priority": "same priority",
        "never": "never matches",
        "rows": "rows",
        "room for": "decisions",
        "steps": "steps",
        "kinds of bytes": "classes",
        "begin in too many": "work",
        "combinations": "combinations",
        "needs fields of": "bytes of fields",
        "know domain names": "bytes of a name",
        "the card sees at most": "bytes of a field",
    }
    return next((name for part, name in reasons.items() if part in message), message)


def make(seed: int, soft: Soft, coverage: Counter, count: int = 40, many: int = 0) -> Case:
    """The case of a seed; `many` rules more than other cases have."""
    random = Random(seed)
    names = Names()
    one = program(random, names)
    if many:
        add_many(random, one, names, many)
    case = Case(accepted(random, soft, one, coverage))
    if random.random() < 0.1:
        case.messages_max = random.choice([1, 2, 3])
    if random.random() < 0.1:
        case.pages_max = random.choice([1, 2, 3, 5, 40])
    loads: list[Load] = []
    for _ in range(random.choice([0, 0, 0, 1, 2])):
        load = other_rules(random, case.program, names)
        loads.append(Load(load.application, accepted(random, soft, load.program, coverage)))
    traffic(random, case, loads, count)
    return case


# A frame that leaves: port, tenant, hash, mark, verdict, its number, bytes.
Leaves = tuple[int, int, int, int, str, int, str]


def leaves(out: Out) -> Leaves:
    assert out.verdict is not None
    kind, number = out.verdict
    return (out.port, out.tenant, out.hash, out.mark, kind, 0 if kind == "host" else number, out.data.hex())


def hits(share: Any) -> dict[str, int]:
    """Messages by decision of the rules that an application has now."""
    return {name: count for name, count in share.hits.items() if count}


def applications(program: Program) -> list[Application]:
    return program.applications


def expect(case: Case) -> tuple[Card, list[list[Out]]]:
    """What the model says: the frames that leave after each frame, and its end."""
    card = Card(case.program.applications, TIMEOUT)
    for share in card.shares:
        share.messages_max, share.pages_max = case.messages_max, case.pages_max
    outs = []
    for step in case.steps:
        if isinstance(step, Load):
            card.load(step.application, step.program.applications[step.application])
            continue
        outs.append(card.packet(step.port, step.tenant, step.data, step.time, step.hash))
    return card, outs


def compare(case: Case, answer: dict[str, Any]) -> Card:
    """Checks what native code did; returns the model."""
    card, outs = expect(case)
    frames = [step for step in case.steps if isinstance(step, Frame)]
    for frame, out, (verdict, made) in zip(frames, outs, answer["steps"], strict=True):
        went_on = bool(out) and out[0].verdict is None
        assert (verdict == "onward") == went_on, f"{verdict}, not {out}: {frame}"
        if not went_on:
            wanted = [list(leaves(one)) for one in out]
            assert made == wanted, f"made {made}\nnot  {wanted}\nof port {frame.port} {frame.data.hex()}"
    for index, (share, told) in enumerate(zip(card.shares, answer["applications"], strict=True)):
        for name in COUNTERS:
            assert told[name] == share.counters[name], (
                f"application {index}: {name} {told[name]}, not {share.counters[name]}"
            )
        by_rule: Counter = Counter()
        for message, rule, count in told["hits"]:
            by_rule[f"{message}.{rule}" if message else rule] += count
        assert dict(+by_rule) == hits(share), f"application {index}: {dict(+by_rule)}, not {hits(share)}"
    return card


def shrink(case: Case, fails: Any) -> Case:
    """A shorter case that fails, too: without as many steps and rules as possible."""
    size = max(1, len(case.steps) // 2)
    while size:
        at = 0
        while at < len(case.steps):
            shorter = Case(case.program, case.messages_max, case.pages_max, case.steps[:at] + case.steps[at + size :])
            if fails(shorter):
                case = shorter
            else:
                at += size
        size //= 2
    return case


def show(case: Case) -> str:
    """The case as text, the frames in hexadecimal."""
    lines = [case.program.text(), f"messages {case.messages_max} pages {case.pages_max}"]
    for step in case.steps:
        if isinstance(step, Load):
            lines.append(f"load application {step.application} from\n{step.program.text()}")
        else:
            lines.append(f"frame {step.time} port {step.port} tenant {step.tenant} {step.data.hex()}")
    return "\n".join(lines)


def differs(soft: Soft, case: Case) -> str:
    """How the twins differ on a case; empty if they agree."""
    try:
        compare(case, soft.run(case))
    except AssertionError as error:
        return str(error) or "an assertion"
    return ""


def campaign(command: Path, first: int, count: int, limit: float = float("inf"), many: int = 0) -> Counter:
    """Runs the cases of `count` seeds, up to `limit` seconds; returns what they covered."""
    coverage: Counter = Counter()
    begin = time.process_time()
    with Soft(command) as soft:
        for seed in range(first, first + count):
            if time.process_time() - begin > limit:
                break
            case = make(seed, soft, coverage, many=many)
            answer = soft.run(case, images=True)
            try:
                coverage += compare(case, answer).coverage
            except AssertionError as error:
                small = shrink(case, lambda shorter: bool(differs(soft, shorter)))
                raise AssertionError(f"seed {seed}: {error}\n{show(small)}\n{differs(soft, small)}") from None
            coverage["cases"] += 1
            coverage["cases that fit a card"] += answer["images"] is not None
            coverage["cases with loads"] += any(isinstance(step, Load) for step in case.steps)
            coverage["frames"] += sum(isinstance(step, Frame) for step in case.steps)
    return coverage


def campaign_rtl(command: Path, first: int, count: int, many: int = 0) -> Counter:
    """The same for the block in RTL: all cases run on one model without a reset."""
    coverage: Counter = Counter()
    cases = []
    seed = first
    with Soft(command) as soft, tempfile.TemporaryDirectory() as folder:
        while len(cases) < count:
            case = make(seed, soft, coverage, MESSAGES_RTL, many)
            images = soft.run(case, images=True)["images"]
            frames = sum(isinstance(step, Frame) for step in case.steps)
            rows = sum(len(image["rows"]) for image in images or [])
            if images and (many or rows <= ROWS_RTL) and frames <= FRAMES_RTL:
                cases.append((seed, case, images))
                coverage["rows"] += rows
            seed += 1
        inputs, outputs = Path(folder) / "cases", Path(folder) / "coverage"
        inputs.write_bytes(pickle.dumps(cases))
        env = {"TWINS": str(inputs), "TWINS_OUT": str(outputs)}
        simulate("l7_block_bench", SOURCES, "l7_twins_bench", env=env)
        return coverage + pickle.loads(outputs.read_bytes())


def report(coverage: Counter) -> str:
    lines = []
    for name in sorted(coverage):
        kind = name.split()[0]
        of = {"outcome": "frames", "cases": "cases", "refused": "programs"}.get(kind)
        total = coverage[of] if of else sum(n for other, n in coverage.items() if other.split()[0] == kind)
        lines.append(f"{name:28} {coverage[name]:9} {100 * coverage[name] / max(1, total):6.1f} %")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000, help="so many programs (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (default 0)")
    parser.add_argument("--rtl", action="store_true", help="run the block in RTL instead of native code")
    arguments = parser.parse_args()
    os.chdir(Path(__file__).parents[3])
    run = campaign_rtl if arguments.rtl else campaign
    print(report(run(example("l7exec"), arguments.seed, arguments.programs)))


if __name__ == "__main__":
    main()
