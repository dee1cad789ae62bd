# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Programs of the flow engine in native code, driven from Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from penstock.cargo import example

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "engines/flow/programs"


class Soft:
    """A chain of elements; see engines/flow/soft/examples/exec.rs."""

    def __init__(self, program: Path, contexts: int = 16384) -> None:
        self.process = subprocess.Popen(
            [example("exec"), program, str(contexts)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Soft:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def ask(self, command: str) -> str:
        return self.ask_all([command])[0]

    def ask_all(self, commands: list[str]) -> list[str]:
        """As many commands at once as pipes hold together with their answers."""
        assert self.process.stdin is not None and self.process.stdout is not None
        answers, asked = [], 0
        while asked < len(commands):
            some = []
            # An answer is as long as its command, or a few times a short one.
            while asked < len(commands) and sum(map(len, some)) < 8192:
                some.append(commands[asked] + "\n")
                asked += 1
            self.process.stdin.write("".join(some))
            self.process.stdin.flush()
            for command in some:
                answer = self.process.stdout.readline()
                assert answer, f"no answer to {command!r}"
                answers.append(answer.rstrip("\n"))
        return answers

    def run(self, frame: bytes, port: int, time: int, hash_: int = 0) -> tuple[tuple, bytes]:
        """A frame's verdict and its bytes afterwards."""
        return self.run_all([(frame, port, time, hash_)])[0]

    def run_all(self, frames: list[tuple[bytes, int, int, int]]) -> list[tuple[tuple, bytes]]:
        """The same of many: each a frame, its port, time and flow hash."""
        results = []
        for answer in self.ask_all(
            [f"frame {time} {port} {hash_} {frame.hex()}" for frame, port, time, hash_ in frames]
        ):
            *verdict, data = answer.split(" ")
            what = ("port", int(verdict[1])) if verdict[0] == "port" else (verdict[0],)
            results.append((what, bytes.fromhex(data)))
        return results

    def walk(self, time: int) -> None:
        assert self.ask(f"walk {time}") == "done"

    def contexts(self, element: int = 0) -> dict[tuple[int, ...], dict]:
        """By key, as `state`, `registers`, `hard` and `idle`."""
        return {tuple(map(int, one["key"])): one for one in json.loads(self.ask(f"contexts {element}"))}

    def counters(self, element: int = 0) -> dict:
        return json.loads(self.ask(f"counters {element}"))

    def globals(self, element: int = 0) -> list[int]:
        return json.loads(self.ask(f"globals {element}"))

    def events(self) -> list[dict]:
        return json.loads(self.ask("events"))

    def insert(self, element: int, key: list[int], state: int, registers: list[int]) -> str:
        numbers = ",".join(map(str, registers))
        return self.ask(f"insert {element} {state} {numbers} {','.join(map(str, key))}")

    def remove(self, element: int, key: list[int]) -> str:
        return self.ask(f"remove {element} {','.join(map(str, key))}")

    def change(self, program: Path) -> str:
        return self.ask(f"change {program}")
