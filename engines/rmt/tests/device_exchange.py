# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Has a device carry frames for another process: `device_exchange.py PORT [HEX ...]` asks the [`Exchange`] at this port
of the machine to carry frames from port 0, and prints those that leave there.
"""

from __future__ import annotations

import socket
import sys
import threading
from typing import Any


class Exchange:
    """Carries frames of others, a line of hexadecimal digits for each connection."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    @property
    def command(self) -> list[str]:
        """The command that has frames carried."""
        return [sys.executable, __file__, str(self.listener.getsockname()[1])]

    def work(self) -> None:
        while True:
            wire, _ = self.listener.accept()
            with wire, wire.makefile("rw") as lines:
                line = lines.readline()
                if line == "end\n":
                    return
                lines.write(self.carry(line))

    def carry(self, line: str) -> str:
        try:
            self.device.send([bytes.fromhex(one) for one in line.split()])
            self.device.run()
            return "".join(f"{frame.hex()}\n" for frame in map(bytes, self.device.receive(0)))
        # The process that asked reports it.
        except Exception as error:
            return f"failed: {error!r}\n"

    def end(self) -> None:
        ask(self.listener.getsockname()[1], "end")
        self.thread.join(timeout=60)
        self.listener.close()


def ask(port: int, line: str) -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=300) as wire:
        wire.sendall(f"{line}\n".encode())
        return wire.makefile().read()


if __name__ == "__main__":
    answer = ask(int(sys.argv[1]), " ".join(sys.argv[2:]))
    if answer.startswith("failed"):
        sys.exit(answer)
    print(answer, end="")
