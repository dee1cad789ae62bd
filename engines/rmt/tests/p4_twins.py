# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random P4 programs on `soft`, on rows of the machine by the card's driver, and in plain Python: all agree on the
frames that leave, on registers, on counters and on digests.

A campaign: python engines/rmt/tests/p4_twins.py --programs 10000 --seed 1
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))

import machine
import p4_tree as p4
from p4_case import Case, state_of
from p4_interpreter import SHORTEST, Interpreter
from p4_random import Writer
from penstock.cargo import example

TENANT = "t1"
CARD_SHARE = 0.70
STAGES = 12


class Twins:
    """The program that has `soft` and the driver (engines/rmt/host/examples/p4twins.rs)."""

    def __init__(self) -> None:
        command = [str(example("p4twins"))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, commands: list[dict[str, Any]]) -> list[Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(commands) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the compiler or soft ended with {self.process.wait()}"
        return json.loads(line)


@dataclass
class Outcome:
    """What became of a program."""

    fault: str = ""
    """The compiler refuses it."""
    wrong: str = ""
    """Where the twins differ."""
    refused: str = ""
    """Why it does not fit the card."""
    met: int = 0
    """Frames that took an action of an entry."""
    ran: Counter[str] = field(default_factory=Counter)


# ---- entries and frames, as the driver takes them


def items(case: Case) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for group, copies in case.groups.items():
        out.append({"multicast": group, "copies": [{"port": port, "instance": number} for port, number in copies]})
    for session, copies in case.sessions.items():
        out.append({"clone": session, "copies": [{"port": port, "instance": number} for port, number in copies]})
    for name, values in case.sets.items():
        out.append({"value_set": name, "members": [{"value": hex(value)} for value in values]})
    for (profile, member), (action, args) in case.members.items():
        of = action_named(case.program, action)
        out.append({"profile": profile, "member": member, "action": action, "params": params(of, args)})
    for (profile, group), members in case.member_groups.items():
        shown = [{"member": member, "weight": weight} for member, weight in members]
        out.append({"profile": profile, "group": group, "members": shown})
    tables = tables_of(case.program)
    for number, entry in enumerate(case.entries):
        item = named(case.program, tables[entry.table], entry)
        index = [one for one in case.entries if one.table == entry.table].index(case.entries[number])
        if tables[entry.table].meter and (entry.table, index) in case.rates:
            item["rates"] = case.rates[entry.table, index]
        out.append(item)
    for (name, index), rates in case.rates.items():
        if name not in tables:
            out.append({"meter": name, "index": index, "rates": rates})
    return out


def controls_of(program: p4.Program) -> Iterator[tuple[str, Any]]:
    """All parsers and controls at work, by their full names."""

    def inside(path: str, control: Any) -> Iterator[tuple[str, Any]]:
        yield path, control
        applied = {one.name for one in nodes(control) if isinstance(one, p4.Call) and one.apply}
        for one in control.locals:
            if one.name not in applied:
                continue
            sub = next((sub for sub in program.subs if isinstance(one, p4.Object) and sub.name == one.kind), None)
            if sub:
                yield from inside(f"{path}.{one.name}", sub)

    for path, control in (("P", program.parser), ("I", program.ingress), ("E", program.egress)):
        yield from inside(path, control)


def tables_of(program: p4.Program) -> dict[str, p4.Table]:
    of = controls_of(program)
    return {f"{path}.{one.name}": one for path, control in of for one in control.locals if isinstance(one, p4.Table)}


def objects_of(program: p4.Program, kind: str) -> dict[str, p4.Object]:
    of = controls_of(program)
    all_ = ((path, one) for path, control in of for one in control.locals if isinstance(one, p4.Object))
    return {f"{path}.{one.name}": one for path, one in all_ if one.kind == kind}


def action_named(program: p4.Program, name: str) -> p4.Function:
    of = controls_of(program)
    return next(one for _, control in of for one in control.locals if isinstance(one, p4.Function) and one.name == name)


def params(action: p4.Function, args: list[int]) -> dict[str, str]:
    return {param.name: hex(arg) for param, arg in zip(action.params, args, strict=True)}


def named(program: p4.Program, table: p4.Table, entry: p4.Entry) -> dict[str, Any]:
    def show(match: Any) -> str:
        if not isinstance(match, tuple):
            return hex(match)
        return f"{match[1]:#x}/{match[2]}" if match[0] == "/" else f"{match[1]:#x}{match[0]}{match[2]:#x}"

    keys = [key for key in table.keys if key.kind != "selector"]
    shown = {key.name: show(match) for key, match in zip(keys, entry.keys, strict=True) if match is not None}
    item: dict[str, Any] = {"table": entry.table, "match": shown}
    if entry.priority:
        item["priority"] = entry.priority
    if entry.via:
        return item | {entry.via[0]: entry.via[1]}
    return item | {"action": entry.action, "params": params(action_named(program, entry.action), entry.args)}


# ---- a case on all sides


def probes(case: Case, tenant: str = TENANT) -> list[tuple[str, str, dict[str, Any]]]:
    """Questions about the state that frames leave behind: kind, name and request."""
    out = []
    for name in objects_of(case.program, "register"):
        out.append(("register", name, {"registers": {"tenant": tenant, "register": name}}))
    for name in objects_of(case.program, "counter"):
        out.append(("counter", name, {"counters": {"tenant": tenant, "counter": name}}))
    for name, table in tables_of(case.program).items():
        if table.counter:
            out.append(("table", name, {"entries": {"tenant": tenant, "table": name}}))
    return out


def cells(kind: str, name: str, answer: Any, case: Case) -> list[Any]:
    """An answer in the form of [`expected`]."""
    if isinstance(answer, dict):
        return [answer["error"]]
    if kind == "register":
        cells_ = next(one["cells"] for one in answer if one["name"] == name)
        return [number(cell) for cell in cells_]
    if kind == "counter":
        return [[one["packets"], one["bytes"]] for one in next(one["cells"] for one in answer if one["name"] == name)]
    counts = [one["count"] for one in answer if not one.get("default")]
    return sorted([one["packets"], one["bytes"]] for one in counts)


def number(cell: Any) -> int:
    if isinstance(cell, int):
        return cell
    if ":" in cell:
        groups = cell.split(":")
        if len(groups) == 6 and all(len(one) == 2 for one in groups):
            return int("".join(groups), 16)
        import ipaddress

        return int(ipaddress.IPv6Address(cell))
    return int(cell, 0)


def expected(kind: str, name: str, python: Interpreter, case: Case) -> list[Any]:
    if kind == "register":
        of = objects_of(case.program, "register")[name].type
        assert isinstance(of, p4.Bits)
        return [cell & (1 << of.width) - 1 for cell in python.state.registers[name]]
    unit = None
    if kind == "counter":
        unit = objects_of(case.program, "counter")[name].args[1]
        counts = python.state.counters[name]
    else:
        table = tables_of(case.program)[name]
        control = next(control for path, control in controls_of(case.program) if path == name.rpartition(".")[0])
        unit = next(one for one in control.locals if one.name == table.counter).args[0]
        there = range(len(python.entries(table, name)))
        counts = [python.state.hits.get((name, index), [0, 0]) for index in there]
    shown = [[one[0] * ("packets" in unit), one[1] * ("bytes" in unit)] for one in counts]
    return shown if kind == "counter" else sorted(shown)


def compare(case: Case, twins: Twins, stages: int = STAGES) -> Outcome:
    """Runs a case on all sides."""
    outcome = Outcome()
    python = Interpreter(case.program, state_of(case))
    text = str(case.program)
    begin = {"begin": {"stages": stages, "tenants": [TENANT]}}
    add = {"add": {"tenant": TENANT, "file": "random.p4", "source": text}}
    insert = [{"insert": {"tenant": TENANT, "entry": item}} for item in items(case)]
    asked = probes(case)
    frames = [[1, port, time, frame.hex()] for port, time, frame in case.frames]
    answers = twins.ask([begin, {"soft": add}, *({"soft": one} for one in insert), {"frames": frames}])
    for answer in answers[1:-1]:
        if isinstance(answer, dict) and "error" in answer:
            outcome.fault = answer["error"]
            return outcome
    want = []
    for port, time, frame in case.frames:
        want.append(sorted(python.carry(port, frame, time)))
        outcome.met += python.met
    outcome.ran = python.ran
    for at, (ours, theirs) in enumerate(zip(want, answers[-1], strict=True)):
        soft = sorted((verdict, bytes.fromhex(frame)) for verdict, frame in theirs)
        if ours != soft:
            outcome.wrong = f"soft, frame {at}:\n{shown_frames(soft)}Python:\n{shown_frames(ours)}"
            return outcome
    questions = [*({"soft": ask} for _, _, ask in asked), {"soft": {"events": {"tenant": TENANT}}}]
    *answers, events = twins.ask(questions)
    if messages_of(events) != python.messages:
        outcome.wrong = f"soft, digests: {messages_of(events)}; Python: {python.messages}"
    for (kind, name, _), answer in zip(asked, answers, strict=True):
        ours, theirs = expected(kind, name, python, case), cells(kind, name, answer, case)
        if ours != theirs:
            outcome.wrong = f"soft, {kind} {name}: {theirs}; Python: {ours}"
    if outcome.wrong:
        return outcome
    card(case, twins, python, want, outcome, stages)
    return outcome


def refusal(case: Case, twins: Twins, tenant: str) -> str:
    """Gives a tenant of the card the program with its entries; why the card does not take it."""
    add = {"add": {"tenant": tenant, "file": "random.p4", "source": str(case.program)}}
    (answer,) = twins.ask([{"card": add}])
    if answer is not None:
        return answer["error"]
    answers = twins.ask([{"card": {"insert": {"tenant": tenant, "entry": item}}} for item in items(case)])
    return next((answer["error"] for answer in answers if isinstance(answer, dict) and "error" in answer), "")


def card(case: Case, twins: Twins, python: Interpreter, want: list[list[Any]], outcome: Outcome, stages: int) -> None:
    """The same by the driver and the plain model of the machine."""
    outcome.refused = refusal(case, twins, TENANT)
    if outcome.refused:
        return
    (rows,) = twins.ask([{"rows": None}])
    block = machine.Machine(stages)
    for memory, stage, row, words in rows:
        block.write(memory, stage, row, tuple(words[: machine.SHAPES[memory][1]]))
    records = []
    for at, (port, block.now, frame) in enumerate(case.frames):
        result = block.carry(port, frame, 1, 0)
        records += [result.record.hex()] if result.record else []
        verdict = f"port {result.target}" if result.kind == "port" else result.kind
        theirs = [] if result.kind == "drop" else [(verdict, result.frame)]
        if result.kind == "copies":
            theirs = [(f"port {to}" if to < 256 else "host", result.frame) for to in result.copies]
        theirs = sorted(theirs + [(f"port {to}" if to < 256 else "host", result.clone) for to in result.clones])
        # The card drops frames that become too short, also in programs that clone.
        ours = [one for one in want[at] if len(one[1]) >= SHORTEST]
        if theirs != ours:
            outcome.wrong = f"card, frame {at}:\n{shown_frames(theirs)}Python:\n{shown_frames(ours)}"
            return
    changed = [
        [memory, stage, row, list(words)]
        for (memory, stage), all_ in block.rows.items() if memory in (machine.REGISTER, machine.COUNTER)
        for row, words in all_.items()
    ]  # fmt: skip
    twins.ask([{"put": changed}, {"records": records}])
    outcome.wrong = state_differs(case, twins, python, TENANT)


def state_differs(case: Case, twins: Twins, python: Interpreter, tenant: str) -> str:
    """Where registers, counters and messages of the card, whose rows and records the driver has, are not those of
    Python.
    """
    asked = probes(case, tenant)
    answers = twins.ask([{"card": ask} for _, _, ask in asked])
    for (kind, name, _), answer in zip(asked, answers, strict=True):
        ours, theirs = expected(kind, name, python, case), cells(kind, name, answer, case)
        if ours != theirs:
            return f"card, {kind} {name}: {theirs}; Python: {ours}"
    (events,) = twins.ask([{"card": {"events": {"tenant": tenant}}}])
    if messages_of(events) != python.messages:
        return f"card, digests: {messages_of(events)}; Python: {python.messages}"
    return ""


def messages_of(events: dict[str, Any]) -> list[tuple[int, ...]]:
    return [tuple(map(number, fields.values())) for _, fields in events["messages"]]


def shown_frames(frames: list[tuple[str, bytes]]) -> str:
    return "".join(f"    {verdict}: {frame.hex()}\n" for verdict, frame in frames) or "    nothing\n"


# ---- smaller cases


def smaller(case: Case) -> Iterator[Case]:
    """Cases with a part less."""
    for attribute in ("frames", "entries"):
        for at in range(len(getattr(case, attribute))):
            new = copy.deepcopy(case)
            del getattr(new, attribute)[at]
            yield new
    count = sum(1 for _ in lists(case.program))
    for place in range(count):
        size = len(list(lists(case.program))[place])
        for at in reversed(range(size)):
            new = copy.deepcopy(case)
            del list(lists(new.program))[place][at]
            yield new
    for place, (_, one) in enumerate(expressions(case.program)):
        for way in range(len(list(simpler(one)))):
            new = copy.deepcopy(case)
            put, other = list(expressions(new.program))[place]
            put(list(simpler(other))[way])
            yield new


def nodes(of: Any) -> Iterator[Any]:
    if isinstance(of, list):
        for one in of:
            yield from nodes(one)
    elif dataclasses.is_dataclass(of) and not isinstance(of, (p4.Fields, p4.Bits, p4.Plain, p4.Varbit, p4.Stack)):
        yield of
        for one in dataclasses.fields(of):
            yield from nodes(getattr(of, one.name))


def lists(program: p4.Program) -> Iterator[list[Any]]:
    """Lists whose elements may go: statements, rows, cases, declarations and others."""
    for one in nodes(program):
        for name in (
            "statements",
            "rows",
            "cases",
            "locals",
            "states",
            "functions",
            "subs",
            "actions",
            "const",
            "emits",
        ):
            found = getattr(one, name, None)
            if isinstance(found, list):
                yield found


def expressions(program: p4.Program) -> Iterator[tuple[Any, Any]]:
    for one in nodes(program):
        for of in dataclasses.fields(one):
            value = getattr(one, of.name)
            if isinstance(value, (p4.Binary, p4.Unary, p4.Mux, p4.Cast, p4.Shift, p4.Slice, p4.FunctionCall)):
                yield (lambda new, one=one, name=of.name: setattr(one, name, new)), value
            if isinstance(one, p4.If) and of.name == "otherwise" and value is not None:
                yield (lambda new, one=one: setattr(one, "otherwise", None)), value


def simpler(of: Any) -> Iterator[Any]:
    if isinstance(of, p4.Block):
        yield None
        return
    for one in dataclasses.fields(of):
        value = getattr(of, one.name)
        if getattr(value, "type", None) == of.type:
            yield value
    if isinstance(of.type, p4.Bits):
        yield p4.Const(of.type, 1)


def shrunk(case: Case, twins: Twins, sign: str, most: int = 600) -> Case:
    """The smallest case found that fails in the same way."""
    tries = 0
    again = True
    while again and tries < most:
        again = False
        for new in smaller(case):
            tries += 1
            if tries > most:
                break
            try:
                found = compare(new, twins).wrong
            except Exception:
                continue
            if found and found.split(",")[0] == sign:
                case, again = new, True
                break
    return case


def report(case: Case, outcome: Outcome) -> str:
    lines = [outcome.wrong or outcome.fault, str(case.program)]
    lines += [json.dumps(item) for item in items(case)]
    lines += [f"port {port}, {time} ns: {frame.hex()}" for port, time, frame in case.frames]
    return "\n".join(lines)


def random_case(seed: int) -> Case:
    return Writer(seed, card=seed * 7919 % 100 < 100 * CARD_SHARE).program()


@dataclass
class Campaign:
    """What a campaign has met so far."""

    programs: int = 0
    fits: int = 0
    frames: int = 0
    met: int = 0
    features: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)

    def add(self, case: Case, outcome: Outcome) -> None:
        self.programs += 1
        self.frames += len(case.frames)
        self.met += outcome.met
        self.features.update(kind for kind in externs(case.program))
        if outcome.fault:
            self.faults[reason(outcome.fault)] += 1
        elif outcome.refused:
            self.refused[reason(outcome.refused)] += 1
        else:
            self.fits += 1
        self.ran.update(
            {
                of.split(" ")[0] if of.startswith(("state", "action", "hit ", "miss ")) else of: count
                for of, count in outcome.ran.items()
            }
        )

    def __str__(self) -> str:
        of = max(1, self.programs)
        lines = [
            f"{self.programs} programs, {self.fits / of:.0%} fit the card; {self.frames} frames, "
            f"{self.met / max(1, self.frames):.0%} met an entry",
            "in programs: " + ", ".join(f"{name} {count / of:.1%}" for name, count in sorted(self.features.items())),
            "ran: " + ", ".join(f"{name} {count}" for name, count in sorted(self.ran.items())),
            "not on the card: " + "; ".join(f"{count} {why}" for why, count in self.refused.most_common(12)),
        ]
        if self.faults:
            lines.append("refused: " + "; ".join(f"{count} {why}" for why, count in self.faults.most_common(12)))
        return "\n".join(lines)


def reason(text: str) -> str:
    lines = [line for line in text.splitlines() if "error" in line or "fit" in line]
    return (lines or text.splitlines())[0][:110]


def externs(program: p4.Program) -> set[str]:
    """Extern objects, functions and other parts of the language that are in a program."""
    out = set()
    for one in nodes(program):
        if isinstance(one, p4.Extern):
            out.add(one.name.split("<")[0])
        elif isinstance(one, p4.Object):
            out.add(one.kind if one.kind[0] not in "SQ" else {"S": "sub-control", "Q": "sub-parser"}[one.kind[0]])
        elif isinstance(one, p4.Member) and one.name == "mcast_grp":
            out.add("multicast")
        elif isinstance(one, p4.Member) and one.name in ("next", "last") and isinstance(one.of.type, p4.Stack):
            out.add(f"stack.{one.name}")
        elif isinstance(one, p4.Element) and not isinstance(one.index, int):
            out.add("variable index")
        elif isinstance(one, p4.Assign) and one.sign:
            out.add("compound assignment")
        elif isinstance(one, p4.Program) and one.guards:
            out.add("emit with condition")
        elif isinstance(one, p4.Key):
            out.add(f"key {one.kind}")
        elif isinstance(one, (p4.Exit, p4.Lookahead, p4.FunctionCall, p4.Switch, p4.SetValid, p4.AssignList, p4.Push)):
            out.add(type(one).__name__)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stages", type=int, default=STAGES)
    parser.add_argument("--keep-going", action="store_true", help="do not end at the first difference")
    parser.add_argument("--no-shrink", action="store_true")
    args = parser.parse_args()
    twins, campaign, failures = Twins(), Campaign(), 0
    for seed in range(args.seed, args.seed + args.programs):
        case = random_case(seed)
        outcome = compare(case, twins, args.stages)
        campaign.add(case, outcome)
        if outcome.wrong:
            failures += 1
            if not args.no_shrink:
                case = shrunk(case, twins, outcome.wrong.split(",")[0])
                outcome = compare(case, twins, args.stages)
            print(f"seed {seed}: {report(case, outcome)}", flush=True)
            if not args.keep_going:
                break
        elif outcome.fault and args.no_shrink:
            print(f"seed {seed}: {outcome.fault}", flush=True)
    print(campaign)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
