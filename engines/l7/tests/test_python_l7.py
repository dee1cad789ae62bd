# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""`penstock.qnp`, messages in Python alone, against servers and clients of the Rust library (lib/examples/kv), with
lost, repeated and late datagrams on both sides; and beside strangers.
"""

from __future__ import annotations

import errno
import importlib
import itertools
import random
import socket
import struct
import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from penstock.cargo import example
from penstock.qnp import Address, Endpoint, Message
from qnp_servers import started_server
from system import ROOT, call

HEADER = struct.Struct(">BBIIBBBBIB3x")
PUT, GET, REPLY = 1, 2, 3


class Impaired(socket.socket):
    """A UDP socket that loses one datagram in twenty, repeats one, and holds one until another was sent."""

    def __init__(self, seed: int) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_DGRAM)
        self.bind(("127.0.0.1", 0))
        self.random = random.Random(seed)
        self.held: list[tuple[bytes, Any]] = []

    def sendto(self, datagram: bytes, to: Any) -> int:  # type: ignore[override]
        held, self.held = self.held, []
        chance = self.random.random()
        if chance < 0.05:
            self.held.append((datagram, to))
        elif chance > 0.1:
            super().sendto(datagram, to)
            if chance > 0.95:
                super().sendto(datagram, to)
        for late, where in held:
            super().sendto(late, where)
        return len(datagram)


@pytest.fixture
def pair() -> Iterator[tuple[Endpoint, socket.socket]]:
    """An endpoint, and the socket of another side."""
    with Endpoint.bind("127.0.0.1", 0) as endpoint, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        other.settimeout(5)
        yield endpoint, other


def packet(
    number: int, payload: bytes = b"", *, acked: int = 0, count: int = 1, at: int = 0, ack: bool = False
) -> bytes:
    return HEADER.pack(1, 1, number, acked, count, at, ack, 0, 0, 0) + payload


def address(sock: socket.socket) -> Address:
    host, port = sock.getsockname()
    return host, port


def test_a_client_in_python_and_a_server_in_rust(tmp_path: Path) -> None:
    with Endpoint(Impaired(5)) as client, started_server(tmp_path / "store", 3) as to:
        values: dict[bytes, bytes] = {}
        sent = []
        for number in range(120):
            key = b"user:%d" % (number % 7)
            if number % 3 == 2:
                answer = client.call(to, Message(1, GET, [(1, key)]), timeout=20)
                assert answer.message.get(4) == values.get(key)
                continue
            values[key] = bytes([number]) * (15_000 if number % 10 == 0 else number)
            fields = [(2, struct.pack(">I", 9)), (3, struct.pack(">I", number)), (4, values[key])]
            assert client.call(to, Message(1, PUT, [(1, key)], fields), timeout=20).message.type == REPLY
            sent.append(f"9 {number} {key.decode()}")
        assert client.counts.received == 120 and client.counts.repeated > 5
    dump = subprocess.run(
        [example("kv"), "dump", tmp_path / "store"], capture_output=True, text=True, check=True
    ).stdout
    assert dump.splitlines() == sent


def test_message_types_are_those_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`compile --bindings python` writes a module whose types the server in Rust reads."""
    done = call("compile", "l7", ROOT / "engines/l7/programs/kv.l7", "--bindings", "python")
    assert done.returncode == 0, done.stderr
    (tmp_path / "kv_messages.py").write_text(done.stdout)
    monkeypatch.syspath_prepend(tmp_path)
    kv = importlib.import_module("kv_messages")
    assert (kv.APPLICATION_KV, kv.PORT_KV, kv.Put.TYPE) == (1, 7000, PUT)
    put = kv.Put(key=b"item:1", sender=3, number=0xFFFF_FFFF, value=b"\0" * 300)
    message = put.encode(1)
    assert message.dispatch == [(1, b"item:1")] and kv.Put.decode(message) == put
    assert kv.Put.decode(kv.Put().encode(1)) == kv.Put()
    with pytest.raises(ValueError, match="of type 1, not 2"):
        kv.Get.decode(message)
    with pytest.raises(ValueError, match="field 2 has 3 bytes, not 4"):
        kv.Put.decode(Message(1, PUT, [], [(2, b"abc")]))
    with pytest.raises(OverflowError):
        kv.Put(sender=1 << 32).encode(1)
    with Endpoint.bind("127.0.0.1", 0) as client, started_server(tmp_path / "store") as to:
        assert kv.Reply.decode(client.call(to, message).message).value is None
        assert kv.Reply.decode(client.call(to, kv.Get(key=b"item:1").encode(1)).message).value == b"\0" * 300
    dump = subprocess.run(
        [example("kv"), "dump", tmp_path / "store"], capture_output=True, text=True, check=True
    ).stdout
    assert dump == "3 4294967295 item:1\n"


def test_a_server_in_python_and_clients_in_rust(tmp_path: Path) -> None:
    kv = example("kv")
    server = Endpoint(Impaired(6), acknowledge=False)
    to = address(server.socket)
    puts: list[tuple[int, int, str]] = []
    end = threading.Event()

    def serve() -> None:
        store: dict[bytes | None, bytes] = {}
        while not end.is_set():
            try:
                received = server.recv_msg(timeout=0.1)
            except TimeoutError:
                continue
            key, value = received.message.get(1), received.message.get(4)
            if received.message.type == PUT and key is not None and value is not None:
                store[key] = value
                sender, number = (int.from_bytes(received.message.get(field) or b"", "big") for field in (2, 3))
                puts.append((sender, number, key.decode()))
            held = store.get(key) if received.message.type == GET else None
            server.reply(received, Message(1, REPLY, [], [] if held is None else [(4, held)]))

    with server:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            words = ["load", f"{to[0]}:{to[1]}", tmp_path / "log", "8", "40", "11"]
            done = subprocess.run([kv, *words], capture_output=True, text=True, check=False, timeout=120)
        finally:
            end.set()
            thread.join()
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    sent = [(int(sender), int(number), key) for sender, number, key in rows]
    assert len(sent) == 8 * 30 and Counter(puts) == Counter(sent)
    order = defaultdict(list)
    for sender, number, _ in puts:
        order[sender].append(number)
    assert all(numbers == sorted(numbers) for numbers in order.values())
    assert server.counts.received == 8 * 40 and server.counts.again > 5 and server.counts.wrong == 0


def test_strangers_are_not_heard(pair: tuple[Endpoint, socket.socket]) -> None:
    endpoint, other = pair
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:

        def answer() -> None:
            asked = HEADER.unpack_from(other.recv(2000))[2]
            stranger.sendto(packet(0, acked=asked, ack=True), address(endpoint.socket))
            stranger.sendto(packet(7, b"\1\1s", acked=asked), address(endpoint.socket))
            other.sendto(packet(7, b"\1\1o", acked=asked), address(endpoint.socket))

        thread = threading.Thread(target=answer)
        thread.start()
        got = endpoint.call(address(other), Message(1, 1))
        thread.join()
    assert (got.source, got.message.get(1)) == (address(other), b"o")
    assert endpoint.recv_msg(timeout=5).message.get(1) == b"s"
    assert endpoint.counts.stray == 1


def test_wrong_input_is_counted_and_does_not_extend_a_wait(pair: tuple[Endpoint, socket.socket]) -> None:
    endpoint, other = pair
    to = address(endpoint.socket)
    for datagram in (
        b"noise",
        packet(1, b"\1\5abc"),
        packet(2, b"x", count=33),
        packet(0, acked=9, ack=True),
        packet(3, b"\1\1x"),
    ):
        other.sendto(datagram, to)
    assert endpoint.recv_msg(timeout=5).number == 3
    counts = endpoint.counts
    assert (counts.noise, counts.wrong, counts.stray, counts.received) == (2, 1, 1, 1)
    end = threading.Event()

    def noise() -> None:
        while not end.wait(0.002) and time.monotonic() < begin + 4:
            other.sendto(b"noise", to)

    begin = time.monotonic()
    thread = threading.Thread(target=noise)
    thread.start()
    with pytest.raises(TimeoutError):
        endpoint.recv_msg(timeout=0.2)
    with pytest.raises(TimeoutError, match="no answer from"):
        endpoint.call(address(other), Message(1, 1), timeout=0.2)
    took = time.monotonic() - begin
    end.set()
    thread.join()
    assert 0.4 <= took < 3


def test_what_is_kept_is_bounded(pair: tuple[Endpoint, socket.socket]) -> None:
    endpoint, other = pair
    source = address(other)
    for number in range(1, 5000):
        endpoint._process(packet(number, b"\1\0"), source)
        if number > 64:
            endpoint.recv_msg(timeout=0)
            endpoint._process(packet(number, b"\1\0"), source)
        endpoint._process(packet(10_000 + number, b"x", count=2), source)
        endpoint._process(packet(number, b"x", count=2), ("192.0.2.1", number))
    state = endpoint._state
    ((_, numbers),) = state.known.items()
    assert len(numbers) == 1024 and len(state.ready) == 64 and endpoint.counts.full > 0
    assert len(state.unfinished) <= 4096
    assert sum(sender == (source, 1) for sender, _ in state.unfinished) == 64
    assert sum(map(len, state.begun.values())) == len(state.unfinished)
    # The oldest that is known, and the one before it
    endpoint.recv_msg(timeout=0)
    for number, again in ((next(iter(numbers)), 1), (next(iter(numbers)) - 1, 0)):
        before = endpoint.counts.again
        endpoint._process(packet(number, b"\1\0"), source)
        assert endpoint.counts.again - before == again


@pytest.mark.parametrize("length", [0, 1, 254, 255, 256, 3000, 16_000])
def test_long_values_are_pieces(length: int) -> None:
    message = Message(1, 2, [(9, b"first")], [(4, bytes(length)), (4, b"again")])
    packets = message.packets(5, 4)
    payload = b"".join(one[HEADER.size :] for one in packets)
    assert Message.decode(1, 2, payload).fields == [(9, b"first"), (4, bytes(length)), (4, b"again")]
    assert [HEADER.unpack_from(one) for one in packets] == [
        (1, 2, 5, 4, len(packets), at, 0, 1, 0, 0) for at in range(len(packets))
    ]
    with pytest.raises(ValueError, match="at most 16,256"):
        Message(1, 2, [], [(1, bytes(16_129))]).packets(1)
    with pytest.raises(ValueError, match="a card sees 256"):
        Message(1, 2, [(1, bytes(255))]).packets(1)


def test_servers_do_not_reply_to_replies() -> None:
    """Two servers that reply to all they receive, and a datagram to one of them with the address of the other."""
    with Endpoint.bind("127.0.0.1", 0) as one, Endpoint.bind("127.0.0.1", 0) as two:
        two.socket.sendto(packet(77, b"\1\1x"), address(one.socket))
        quiet = []
        for _ in range(4):
            for server in (one, two):
                try:
                    received = server.recv_msg(timeout=0.05)
                except TimeoutError:
                    continue
                server.reply(received, Message(1, 1))
                quiet.append(received.quiet)
        assert quiet == [False, True]


def test_datagrams_from_port_0_are_noise(pair: tuple[Endpoint, socket.socket]) -> None:
    endpoint, _ = pair
    endpoint._process(packet(1, b"\1\0"), ("127.0.0.1", 0))
    assert (endpoint.counts.noise, endpoint.counts.received) == (1, 0)


class Fails(socket.socket):
    """A UDP socket that fails to send with an error, and says that no datagram came in time."""

    error: OSError | None = None

    def sendto(self, datagram: bytes, to: Any) -> int:  # type: ignore[override]
        if self.error is not None:
            raise self.error
        return len(datagram)

    def recvfrom(self, size: int) -> Any:  # type: ignore[override]
        raise TimeoutError


def test_a_reply_to_nowhere_is_lost() -> None:
    with Endpoint(Fails(socket.AF_INET, socket.SOCK_DGRAM)) as server:
        server.acknowledge = False
        assert isinstance(server.socket, Fails)
        server._process(packet(1, b"\1\0"), ("192.0.2.1", 9))
        received = server.recv_msg(timeout=0)
        for code in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EACCES, errno.EPERM, errno.EINVAL):
            server.socket.error = OSError(code, "nowhere")
            server.reply(received, Message(1, 2))
        server.socket.error = TimeoutError()
        server.reply(received, Message(1, 2))
        server.socket.error = OSError(errno.EBADF, "closed")
        with pytest.raises(OSError, match="closed"):
            server.reply(received, Message(1, 2))
        # A client hears at once that its message cannot leave, but not about a network that is away for now.
        server.socket.error = OSError(errno.EACCES, "not allowed")
        with pytest.raises(OSError, match="not allowed"):
            server.send_msg(("192.0.2.1", 9), Message(1, 1), timeout=0.05)
        server.socket.error = OSError(errno.ENETUNREACH, "nowhere")
        with pytest.raises(TimeoutError, match="no acknowledgement from"):
            server.send_msg(("192.0.2.1", 9), Message(1, 1), timeout=0.05)


def test_a_message_is_repeated_for_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    monkeypatch.setattr("penstock.qnp.time", SimpleNamespace(monotonic=lambda: next(clock)))
    with Endpoint(Fails(socket.AF_INET, socket.SOCK_DGRAM)) as client:
        with pytest.raises(TimeoutError, match="no acknowledgement from"):
            client.send_msg(("192.0.2.1", 9), Message(1, 1), timeout=3600)
        assert client.counts.repeated > 1024


def test_a_second_reply_takes_the_place_of_the_first(pair: tuple[Endpoint, socket.socket]) -> None:
    endpoint, other = pair
    other.sendto(packet(1, b"\1\0"), address(endpoint.socket))
    received = endpoint.recv_msg(timeout=5)
    for length in (1000, 100):
        endpoint.reply(received, Message(1, 2, [], [(1, bytes(length))]))
    state = endpoint._state
    assert state.reply_bytes == sum(len(one) for reply in state.replies.values() for one in reply) < 200


def test_a_known_message_does_not_end_a_call(pair: tuple[Endpoint, socket.socket]) -> None:
    endpoint, other = pair
    other.sendto(packet(5, b"\1\0"), address(endpoint.socket))
    endpoint.recv_msg(timeout=5)
    other.recv(2000)

    def answer() -> None:
        asked = HEADER.unpack_from(other.recv(2000))[2]
        other.sendto(packet(5, b"\1\1a", acked=asked), address(endpoint.socket))
        while HEADER.unpack_from(other.recv(2000))[6]:
            pass
        other.sendto(packet(6, b"\1\1b", acked=asked), address(endpoint.socket))

    thread = threading.Thread(target=answer)
    thread.start()
    got = endpoint.call(address(other), Message(1, 1))
    thread.join()
    assert got.message.get(1) == b"b" and endpoint.counts.again == 1
