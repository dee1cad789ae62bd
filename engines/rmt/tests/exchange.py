# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Sends frames into an interface and prints those that arrive there: `exchange.py INTERFACE [HEX ...]`. It ends when
none has come for a while.
"""

from __future__ import annotations

import socket
import sys

WAIT = 1.0
LISTEN = 5.0
ALL = 3  # ETH_P_ALL


def main(interface: str, *frames: str) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL)) as wire:
        wire.bind((interface, 0))
        wire.settimeout(WAIT if frames else LISTEN)
        for frame in frames:
            wire.send(bytes.fromhex(frame))
        while True:
            try:
                data, (_, _, kind, *_) = wire.recvfrom(65536)
            except TimeoutError:
                return
            wire.settimeout(WAIT)
            if kind != socket.PACKET_OUTGOING:
                print(data.hex())


if __name__ == "__main__":
    main(*sys.argv[1:])
