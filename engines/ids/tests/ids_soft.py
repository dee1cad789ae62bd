# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The inspector in native code, driven from Python; and the frames of the tests' packets."""

from __future__ import annotations

import ipaddress
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from ids_oracle import LETTERS, Packet
from penstock.cargo import example
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether


def frame(packet: Packet, tags: int = 0, options: bool = False) -> bytes:
    """The frame of a packet: Scapy makes it."""
    layers: Any = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    for tag in range(tags):
        layers /= Dot1Q(vlan=5 + tag)
    (source, source_port), (target, target_port) = packet.source, packet.target
    version = ipaddress.ip_address(source).version
    layers /= (IP if version == 4 else IPv6)(src=source, dst=target)
    if packet.protocol == "tcp":
        flags = sum(LETTERS[letter] for letter in packet.flags)
        extra = {"options": [("Timestamp", (1, 2))]} if options else {}
        numbers = {"seq": packet.sequence, "ack": packet.acknowledged}
        layers /= TCP(sport=source_port, dport=target_port, flags=flags, **numbers, **extra)
    else:
        layers /= UDP(sport=source_port, dport=target_port)
    # Short frames are padded with bytes that rules might find.
    return bytes(layers / packet.payload).ljust(60, b"a")


class Soft:
    """An inspector; see engines/ids/soft/examples/inspect.rs."""

    def __init__(self, rules: Path, mode: str = "ids", history: int = 1 << 16, options: Sequence[str] = ()) -> None:
        command = [example("inspect"), rules, mode, str(history), *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Soft:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.process.communicate()

    def ask(self, command: str) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"no answer to {command[:100]!r}"
        return json.loads(answer)

    def frame(self, data: bytes, time: int = 0) -> dict[str, Any]:
        return self.ask(f"frame {time} {data.hex()}")

    def sids(self, data: bytes, time: int = 0) -> list[int]:
        """The sids that a frame reports."""
        return [alert["alert"]["signature_id"] for alert in self.frame(data, time)["alerts"]]

    def reload(self, rules: Path) -> None:
        self.ask(f"reload {rules}")

    def finish(self) -> dict[str, Any]:
        return self.ask("finish")
