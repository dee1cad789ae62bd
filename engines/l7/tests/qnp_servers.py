# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Servers of the key-value example in Rust (engines/l7/lib/examples/kv), for clients in other languages."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.cargo import example
from penstock.qnp import Address


def free_address() -> Address:
    """An address of this host that no UDP socket has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        host, port = sock.getsockname()
        return host, port


@contextmanager
def started_server(store: Path, *seed: int) -> Iterator[Address]:
    """A server, which loses, duplicates and reorders datagrams if it has a seed."""
    host, port = free_address()
    words = [example("kv"), "serve", f"{host}:{port}", store, *map(str, seed)]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout and server.stdout.readline() == "ready\n"
        yield host, port
    finally:
        server.kill()
        server.communicate()
