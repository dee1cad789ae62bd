# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A small client of gdb's remote protocol (Debugging with GDB, appendix E), and its knowledge of a program."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from built import COMMAND_LINE
from elftools.elf.elffile import ELFFile
from system import ROOT


class Remote:
    """One connection. Registers are numbered as gdb does: x0..x31, then the PC."""

    PC = 32

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream: BinaryIO = self._socket.makefile("rb")
        self.features = self.ask("qSupported:swbreak+;vContSupported+")
        assert "swbreak+" in self.features

    def close(self) -> None:
        """Goes without a word."""
        self._stream.close()
        self._socket.close()

    def send(self, packet: str) -> None:
        """Sends a packet and waits for its acknowledgement."""
        data = packet.encode("latin-1")
        self._socket.sendall(b"$%s#%02x" % (data, sum(data) % 256))
        assert self._stream.read(1) == b"+", f"{packet} is not acknowledged"

    def receive(self) -> str:
        """The next packet."""
        while (byte := self._stream.read(1)) != b"$":
            assert byte, "the server has gone"
        data = b""
        while (byte := self._stream.read(1)) != b"#":
            assert byte, "the server has gone"
            data += byte
        assert int(self._stream.read(2), 16) == sum(data) % 256
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the server leaves with its last packet
            self._socket.sendall(b"+")
        # Runs of a byte: its code less 29 is the number of repetitions.
        return re.sub(r"(.)\*(.)", lambda run: run[1] * (ord(run[2]) - 28), data.decode("latin-1"), flags=re.DOTALL)

    def ask(self, packet: str) -> str:
        """Sends a packet; gives the answer."""
        self.send(packet)
        return self.receive()

    def do(self, packet: str) -> None:
        """Has something done."""
        assert (answer := self.ask(packet)) == "OK", f"{packet}: {answer}"

    def registers(self) -> list[int]:
        """x0..x31 and the PC."""
        data = bytes.fromhex(self.ask("g"))
        return [int.from_bytes(data[i : i + 4], "little") for i in range(0, 4 * 33, 4)]

    def set_registers(self, values: list[int]) -> None:
        self.do("G" + b"".join(value.to_bytes(4, "little") for value in values).hex())

    def pc(self) -> int:
        return self.registers()[self.PC]

    def read(self, address: int, count: int) -> bytes:
        """Reads memory; raises KeyError if the address is not mapped."""
        answer = self.ask(f"m{address:x},{count:x}")
        if answer.startswith("E"):
            raise KeyError(f"{address:#x}: {answer}")
        return bytes.fromhex(answer)

    def word(self, address: int) -> int:
        return int.from_bytes(self.read(address, 4), "little")

    def write(self, address: int, data: bytes) -> None:
        answer = self.ask(f"M{address:x},{len(data):x}:{data.hex()}")
        if answer != "OK":
            raise KeyError(f"{address:#x}: {answer}")

    def set_breakpoint(self, address: int) -> None:
        self.do(f"Z0,{address:x},4")

    def clear_breakpoint(self, address: int) -> None:
        self.do(f"z0,{address:x},4")

    def step(self) -> str:
        return self.ask("vCont;s")

    def go(self) -> None:
        """Lets the unit go on; `receive` gives the reason of its stop."""
        self.send("vCont;c")

    def interrupt(self) -> str:
        """Ctrl-C."""
        self._socket.sendall(b"\x03")
        return self.receive()


class Debugged:
    """A running command that prints the port for gdb."""

    def __init__(self, *args: str | Path, env: dict[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [str(COMMAND_LINE), *map(str, args)],
            cwd=ROOT,
            env={**os.environ, "PENSTOCK_ROOT": str(ROOT), **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self.said = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr
        for line in self._process.stderr:
            self._lines.put(line)

    def __enter__(self) -> Debugged:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def port(self, timeout: float = 600) -> int:
        """The port at which gdb finds the unit."""
        while not (found := re.search(r"target remote localhost:(\d+)", self.said)):
            self.said += self._lines.get(timeout=timeout)
        return int(found[1])

    def settle(self, timeout: float) -> None:
        """Waits until it hardly computes any more, or has ended. On rtl, whose clock never stops, it waits the full
        time, in seconds.
        """
        # Counts only time in which the thread does not wait for a processor, so the machine's load does not matter.
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and self._process.poll() is None:
            began, before = time.monotonic_ns(), self._times()
            time.sleep(1)
            passed, now = time.monotonic_ns() - began, self._times()
            spent = [
                (now[thread][0] - ran, now[thread][1] - waited)
                for thread, (ran, waited) in before.items()
                if thread in now
            ]
            if all(ran < 0.1 * (passed - waited) for ran, waited in spent):
                return

    def _times(self) -> dict[str, tuple[int, int]]:
        """How long each of its threads has run, and waited for a processor, in ns."""
        times = {}
        for path in Path(f"/proc/{self._process.pid}/task").glob("*/schedstat"):
            ran, waited, _ = path.read_text().split()
            times[path.parent.name] = (int(ran), int(waited))
        return times

    def end(self, timeout: float = 300) -> tuple[int, str]:
        """Waits for its end: exit status, and all that it said on standard error."""
        status = self._process.wait(timeout)
        self._reader.join(timeout)
        while not self._lines.empty():
            self.said += self._lines.get()
        return status, self.said

    def stop(self) -> tuple[int, str]:
        """Ctrl-C."""
        self._process.send_signal(signal.SIGINT)
        return self.end(20)


class Symbols:
    """The places of a program's variables, functions and lines."""

    def __init__(self, elf: Path) -> None:
        with elf.open("rb") as file:
            parsed = ELFFile(file)
            table = parsed.get_section_by_name(".symtab")
            self._symbols = {symbol.name: symbol["st_value"] for symbol in table.iter_symbols() if symbol.name}
            self._lines: dict[tuple[str, int], list[int]] = {}
            dwarf = parsed.get_dwarf_info()
            for unit in dwarf.iter_CUs():
                program = dwarf.line_program_for_CU(unit)
                names = [entry.name.decode() for entry in program["file_entry"]]
                first = 0 if unit["version"] >= 5 else 1
                for entry in program.get_entries():
                    state = entry.state
                    if state is not None and state.is_stmt and not state.end_sequence:
                        place = names[state.file - first], state.line
                        self._lines.setdefault(place, []).append(state.address)

    def __getitem__(self, name: str) -> int:
        return self._symbols[name]

    def line(self, source: Path, mark: str) -> int:
        """Lowest address of the line of `source` that has `mark` in it."""
        number = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if mark in text)
        return min(self._lines[source.name, number])
