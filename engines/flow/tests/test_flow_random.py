# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random programs on random frames: native code against plain Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from efsm import Machine
from flow_random import Traffic, Writer, without_refused
from flow_soft import Soft
from penstock.cargo import example

# The number of seeds, and the number of frames for each program.
SEEDS = 60
FRAMES = 150


def compile_(path: Path) -> str | None:
    """The compiler's errors for a program."""
    done = subprocess.run([example("exec"), path], input="", capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    assert done.returncode == 1, done.stderr
    return done.stderr


def accepted(seed: int, path: Path) -> str:
    """A random program, without the parts that the compiler refuses."""
    for attempt in range(100):
        compiled = without_refused(Writer(100 * seed + attempt).program(), path, compile_)
        if compiled is not None:
            return compiled[0]
    raise AssertionError("no program was accepted")


@pytest.mark.parametrize("seed", range(SEEDS))
def test_alike(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "random.efsm"
    text = accepted(seed, path)
    machine = Machine(text, 50)
    traffic = Traffic(seed)
    events: list[dict] = []
    # Frames that arrive together go through together; but the context that gives way must be known in time.
    together = seed % 2 == 1 and "evict" not in text
    with Soft(path, 50) as soft:
        for number in range(FRAMES):
            if number % 10 == 0:
                frames = [traffic.frame() for _ in range(10)]
                results = soft.run_all(frames) if together else []
            data, port, time, hash_ = frames[number % 10]
            result = results[number % 10] if together else soft.run(data, port, time, hash_)
            happened = soft.events()
            events += happened
            machine.gone = [tuple(map(int, event["key"])) for event in happened if event["kind"] == "Evicted"]
            assert result == machine.run(data, port, time, hash_), f"frame {number}: {data.hex()}\n{text}"
            if number % 40 == 39:
                soft.walk(time)
                machine.walk(time)
            if number % 10 == 9:
                compare(soft, machine, events + soft.events(), text)
                events = []


def compare(soft: Soft, machine: Machine, happened: list[dict], text: str) -> None:
    """Contexts, registers, counters and events."""
    events = [
        (event["kind"], event["element"], tuple(map(int, event["key"])), event["state"], event["registers"])
        for event in happened
    ]
    expected = []
    for kind, at, key, state, registers in machine.events:
        element = machine.elements[at]
        expected.append((kind, at, key, element.states.index(state), [*registers, 0, 0, 0, 0][:4]))
    # The walker goes by places, which Python does not have.
    assert sorted(events) == sorted(expected), text
    machine.events.clear()
    for at, element in enumerate(machine.elements):
        contexts = {}
        for key, context in machine.contexts[at].items():
            state = element.states.index
            hard = (
                [context.hard[0], None if context.hard[1] is None else state(context.hard[1])] if context.hard else None
            )
            idle = None
            if context.idle:
                span, since, then = context.idle
                idle = [since + span, None if then is None else state(then), span]
            registers = [*context.registers.values(), 0, 0, 0, 0][:4]
            contexts[key] = {"state": state(context.state), "registers": registers, "hard": hard, "idle": idle}
        found = {
            key: {name: one[name] for name in ("state", "registers", "hard", "idle")}
            for key, one in soft.contexts(at).items()
        }
        assert found == contexts, text
        assert soft.globals(at) == [*machine.globals[at].values(), *[0] * 8][:8], text
        counters = soft.counters(at)
        assert {name: counters[name] for name in machine.counters[at]} == machine.counters[at], text
