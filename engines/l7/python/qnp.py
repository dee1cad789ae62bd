# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Messages of QNP over a UDP socket, in Python alone: for clients and servers behind an `l7` block (docs/l7.md).

    from penstock.qnp import Endpoint, Message

    with Endpoint.bind("0.0.0.0", 0) as client:
        answer = client.call(("10.0.0.2", 7000), Message(1, 2, dispatch=[(1, b"user:7")]))

It speaks with the Rust crate `penstock-qnp` and delivers each message once within the same limits: 1,024 numbers of
each of 16,384 senders, of which replies use some, too. A call waits for its acknowledgement or answer, so an endpoint
sends its messages one after the other and in order. One thread uses an endpoint at a time.
"""

from __future__ import annotations

import errno
import random
import socket
import struct
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

__all__ = ["Address", "Counts", "Endpoint", "Message", "Received"]

# Not about a card (tools/registry.py).
STANDALONE = True

Address = tuple[str, int]

_HEADER = struct.Struct(">BBIIBBBBIB3x")
_DATA, _ACK = 0, 1
# Bytes of a packet's payload, of the longest message, and of the fields that a card sees.
_PACKET, _LONGEST, _SEEN = 1_450, 16_256, 256
# Numbers of a sender, and senders.
_KNOWN, _SENDERS = 1024, 16_384
# Unfinished messages of a sender and of all, and the seconds that their packets have.
_UNFINISHED_EACH, _UNFINISHED, _UNFINISHED_S = 64, 4096, 10.0
# Whole messages that wait for the program.
_READY_EACH, _READY = 64, 4096
_REPLY_BYTES = 64 << 20
# Seconds until a message is sent again: before anything was measured, at least, and at most.
_FIRST, _SHORTEST, _LONGEST_WAIT = 0.1, 0.01, 1.0
# Errors of a socket that are as if the network had lost the datagram, and those about one destination alone.
_LOST = {errno.EHOSTUNREACH, errno.ENETUNREACH}
_NOWHERE = {errno.EINVAL, errno.EACCES, errno.EPERM, errno.EADDRNOTAVAIL}


@dataclass(frozen=True)
class Message:
    """A message. A card dispatches by the fields in `dispatch`, which come first; a field is a number and its bytes."""

    application: int
    type: int
    dispatch: Sequence[tuple[int, bytes]] = ()
    fields: Sequence[tuple[int, bytes]] = ()

    def get(self, number: int) -> bytes | None:
        """The value of the first field with this number."""
        return next((value for at, value in (*self.dispatch, *self.fields) if at == number), None)

    def text(self, number: int) -> str | None:
        """The first field with this number, as a `string`."""
        value = self.get(number)
        return None if value is None else value.decode()

    def uint(self, number: int, width: int) -> int | None:
        """The first field with this number, as an integer of so many bytes."""
        value = self.get(number)
        if value is not None and len(value) != width:
            raise ValueError(f"field {number} has {len(value)} bytes, not {width}")
        return None if value is None else int.from_bytes(value, "big")

    def expect_type(self, type: int) -> None:
        """Raises ValueError if the message is of another type."""
        if self.type != type:
            raise ValueError(f"the message is of type {self.type}, not {type}")

    def packets(self, number: int, acked: int = 0, *, quiet: bool = False) -> list[bytes]:
        """The datagrams of the message."""
        seen = b"".join(_pieces(*one) for one in self.dispatch)
        if len(seen) > _SEEN:
            raise ValueError(f"the dispatch fields take {len(seen)} bytes; a card sees {_SEEN}")
        # A packet has at least one byte of payload; this one is not a whole field.
        payload = seen + b"".join(_pieces(*one) for one in self.fields) or b"\0"
        if len(payload) > _LONGEST:
            raise ValueError(f"the fields take {len(payload)} bytes; a message has at most {_LONGEST:,}")
        parts = [payload[at : at + _PACKET] for at in range(0, len(payload), _PACKET)]
        head = (self.application, self.type, number, acked, len(parts))
        segments = (len(seen) + 63) // 64
        return [_HEADER.pack(*head, at, _DATA, segments, 0, quiet) + part for at, part in enumerate(parts)]

    @classmethod
    def decode(cls, application: int, type: int, payload: bytes) -> Message:
        """Reads the fields of a message, all as `fields`: which of them are for dispatch is not on the wire."""
        fields: list[tuple[int, bytes]] = []
        at, open_field = 0, None
        while at + 2 <= len(payload):
            number, length = payload[at], payload[at + 1]
            at += 2 + length
            if at > len(payload):
                raise ValueError(f"field {number} ends behind the message")
            piece = payload[at - length : at]
            if open_field == number:
                fields[-1] = (number, fields[-1][1] + piece)
            else:
                fields.append((number, piece))
            open_field = number if length == 255 else None
        return cls(application, type, (), fields)


def _pieces(number: int, value: bytes) -> bytes:
    """A value of 255 bytes or more is a row of pieces of one number, of which the last one is shorter."""
    pieces = (value[at : at + 255] for at in range(0, len(value) + 1, 255))
    return b"".join(bytes([number, len(piece)]) + piece for piece in pieces)


@dataclass(frozen=True)
class Received:
    """A message that arrived."""

    source: Address
    number: int
    acknowledges: int
    message: Message
    # Whether it is a reply of `Endpoint.reply`. Nothing replies to it.
    quiet: bool = False


@dataclass
class Counts:
    """What an endpoint has counted."""

    received: int = 0
    # Datagrams that are none of QNP; packets that contradict others, or end a message with wrong fields.
    noise: int = 0
    wrong: int = 0
    # Packets of messages that had been received; packets for which there was no room.
    again: int = 0
    full: int = 0
    # Acknowledgements of nothing that was sent to their source.
    stray: int = 0
    # Packets that were sent again.
    repeated: int = 0


_Sender = tuple[Address, int]


@dataclass
class _Unfinished:
    began: float
    parts: list[bytes | None]


@dataclass
class _Outgoing:
    to: Address
    number: int
    packets: list[bytes]
    call: bool
    arrived: int = 0
    done: bool = False
    answer: Received | None = None


@dataclass
class _State:
    known: OrderedDict[_Sender, OrderedDict[int, None]] = field(default_factory=OrderedDict)
    unfinished: OrderedDict[tuple[_Sender, int], _Unfinished] = field(default_factory=OrderedDict)
    # Numbers of each sender's unfinished messages, oldest first.
    begun: dict[_Sender, OrderedDict[int, None]] = field(default_factory=dict)
    replies: OrderedDict[tuple[_Sender, int], list[bytes]] = field(default_factory=OrderedDict)
    reply_bytes: int = 0
    ready: deque[Received] = field(default_factory=deque)
    given_up: deque[int] = field(default_factory=lambda: deque(maxlen=_KNOWN))


class Endpoint:
    """One side of conversations.

    `acknowledge`: whether it acknowledges a message when it arrives; servers that reply to all messages need not.
    """

    def __init__(self, sock: socket.socket, *, acknowledge: bool = True) -> None:
        self.socket = sock
        self.acknowledge = acknowledge
        self.counts = Counts()
        # At random: a program that is started again does not repeat the numbers of the one before.
        self._next = random.randrange(1, 1 << 32)
        self._state = _State()
        self._sent: _Outgoing | None = None
        # Mean and mean deviation of the measured times by destination.
        self._times: OrderedDict[Address, tuple[float, float]] = OrderedDict()

    @classmethod
    def bind(cls, host: str, port: int, *, acknowledge: bool = True) -> Endpoint:
        """An endpoint with a UDP socket of IPv4 at this address; port 0 is any port."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((host, port))
        return cls(sock, acknowledge=acknowledge)

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send_msg(self, to: Address, message: Message, timeout: float = 5.0) -> int:
        """Sends a message and waits for its acknowledgement; gives its number.

        Raises TimeoutError if the time is over; the message may have arrived all the same.
        """
        return self._send(to, message, timeout, call=False).number

    def call(self, to: Address, message: Message, timeout: float = 5.0) -> Received:
        """Sends a message and waits for the message that answers it.

        Raises TimeoutError if the time is over; the message may have arrived all the same.
        """
        answer = self._send(to, message, timeout, call=True).answer
        assert answer is not None
        return answer

    def recv_msg(self, timeout: float | None = None) -> Received:
        """Waits for the next message. Wrong input is counted and skipped. Raises TimeoutError if the time is over."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._state.ready:
            self._receive(end)
            if end is not None and not self._state.ready and time.monotonic() >= end:
                raise TimeoutError("no message came in time")
        return self._state.ready.popleft()

    def reply(self, received: Received, message: Message) -> None:
        """Answers a message, and acknowledges it. The endpoint sends the reply again if the message comes again.

        A reply to a reply (`received.quiet`) does nothing: two servers that reply to all they receive would otherwise
        do so without an end after one datagram with a forged source. If the reply cannot be sent to this destination,
        that counts as its loss.
        """
        if received.quiet:
            return
        packets = message.packets(self._number(), received.number, quiet=True)
        self._transmit(received.source, packets, raises=True, lost=_LOST | _NOWHERE)
        state, sender = self._state, (received.source, received.message.application)
        if received.number in state.known.get(sender, ()):
            self._forget(sender, received.number)
            state.replies[sender, received.number] = packets
            state.reply_bytes += sum(map(len, packets))
        while state.reply_bytes > _REPLY_BYTES:
            _, forgotten = state.replies.popitem(last=False)
            state.reply_bytes -= sum(map(len, forgotten))

    def _number(self) -> int:
        number = self._next
        self._next = number % 0xFFFF_FFFF + 1
        return number

    def _transmit(
        self, to: Address, packets: Iterable[bytes], *, raises: bool = False, lost: AbstractSet[int] = _LOST
    ) -> None:
        for packet in packets:
            try:
                self.socket.sendto(packet, to)
            except (ConnectionError, BlockingIOError, InterruptedError, TimeoutError):
                # As if the network had lost it. The time is that of the last wait.
                continue
            except OSError as error:
                if raises and error.errno not in lost:
                    raise

    def _send(self, to: Address, message: Message, timeout: float, *, call: bool) -> _Outgoing:
        to = (socket.gethostbyname(to[0]), to[1]) if self.socket.family == socket.AF_INET else to
        number = self._number()
        sent = _Outgoing(to, number, message.packets(number), call)
        self._sent = sent
        begin = time.monotonic()
        end = begin + timeout
        mean, deviation = self._times.get(to, (0.0, 0.0))
        wait = min(max(mean + 4 * deviation, _SHORTEST), _LONGEST_WAIT) if mean else _FIRST
        due, repeats = begin + wait, 0
        try:
            self._transmit(to, sent.packets, raises=True)
            while not sent.done:
                self._receive(min(due, end))
                now = time.monotonic()
                if sent.done:
                    break
                if now >= end:
                    self._state.given_up.append(number)
                    raise TimeoutError(f"no {'answer' if call else 'acknowledgement'} from {to[0]}:{to[1]} in time")
                if now >= due:
                    repeats += 1
                    again = [
                        packet
                        for at, packet in enumerate(sent.packets)
                        # Packet 0 of a call asks for its reply.
                        if not sent.arrived >> at & 1 or (at == 0 and call)
                    ]
                    again = again or sent.packets[:1]
                    self.counts.repeated += len(again)
                    self._transmit(to, again)
                    due = now + min(wait * 2 ** min(repeats, 16), _LONGEST_WAIT)
        finally:
            self._sent = None
        if not repeats:
            self._measured(to, time.monotonic() - begin)
        return sent

    def _measured(self, to: Address, took: float) -> None:
        """As TCP does (RFC 6298)."""
        mean, deviation = self._times.pop(to, (0.0, 0.0))
        if mean:
            deviation, mean = 0.75 * deviation + 0.25 * abs(mean - took), 0.875 * mean + 0.125 * took
        else:
            mean, deviation = took, took / 2
        self._times[to] = (mean, deviation)
        if len(self._times) > 4096:
            self._times.popitem(last=False)

    def _receive(self, end: float | None) -> None:
        """Processes one datagram, if one arrives in time."""
        self.socket.settimeout(None if end is None else max(end - time.monotonic(), 1e-6))
        try:
            datagram, source = self.socket.recvfrom(65_535)
        except (TimeoutError, ConnectionError, BlockingIOError, InterruptedError):
            return
        self._process(datagram, (source[0], source[1]))

    def _process(self, datagram: bytes, source: Address) -> None:
        # Nothing can be sent to port 0.
        if len(datagram) < _HEADER.size or source[1] == 0:
            self.counts.noise += 1
            return
        application, type_, number, acked, count, at, flag, _, arrived, quiet = _HEADER.unpack_from(datagram)
        payload = datagram[_HEADER.size :]
        if flag not in (_DATA, _ACK) or not 1 <= count <= 32 or at >= count or (flag == _DATA and not payload):
            self.counts.noise += 1
            return
        sent = self._sent if self._sent and (self._sent.to, self._sent.number) == (source, acked) else None
        if flag == _ACK:
            if sent is None:
                self.counts.stray += 1
            elif arrived:
                # The receiver may have given the message up, so packets can be missing again.
                sent.arrived = arrived
            elif not sent.call:
                sent.done = True
            return
        sender = (source, application)
        known = self._state.known.get(sender)
        if known is not None and number in known:
            self._state.known.move_to_end(sender)
            self.counts.again += 1
            self._finish(sent)
            reply = self._state.replies.get((sender, number))
            if reply is None:
                self._acknowledge(source, application, type_, number, 0, quiet)
            elif at == 0:
                self.counts.repeated += len(reply)
                self._transmit(source, reply)
            return
        whole = self._assemble(sender, number, count, at, payload)
        if whole is None:
            one = self._state.unfinished.get((sender, number))
            if one is not None:
                bits = sum(1 << place for place, part in enumerate(one.parts) if part is not None)
                self._acknowledge(source, application, type_, number, bits, quiet)
            return
        try:
            received = Received(source, number, acked, Message.decode(application, type_, whole), quiet == 1)
        except ValueError:
            self.counts.wrong += 1
            return
        asked = sent is not None and sent.call and sent.answer is None
        nobodys = acked in self._state.given_up
        if not asked and not nobodys and not self._has_room(sender):
            self.counts.full += 1
            return
        self._remember(sender, number)
        self.counts.received += 1
        if asked and sent is not None:
            sent.answer = received
        elif not nobodys:
            self._state.ready.append(received)
        self._finish(sent)
        if self.acknowledge or asked or nobodys:
            self._acknowledge(source, application, type_, number, 0, quiet)

    def _finish(self, sent: _Outgoing | None) -> None:
        """A whole message acknowledges the one that is sent, and ends it unless that waits for another answer."""
        if sent is not None and (not sent.call or sent.answer is not None):
            sent.done = True

    def _has_room(self, sender: _Sender) -> bool:
        ready = self._state.ready
        mine = sum((one.source, one.message.application) == sender for one in ready) if len(ready) >= _READY_EACH else 0
        return len(ready) < _READY and mine < _READY_EACH

    def _remember(self, sender: _Sender, number: int) -> None:
        state = self._state
        numbers = state.known.setdefault(sender, OrderedDict())
        state.known.move_to_end(sender)
        numbers[number] = None
        if len(numbers) > _KNOWN:
            self._forget(sender, numbers.popitem(last=False)[0])
        if len(state.known) > _SENDERS:
            other, gone = state.known.popitem(last=False)
            for one in gone:
                self._forget(other, one)

    def _forget(self, sender: _Sender, number: int) -> None:
        packets = self._state.replies.pop((sender, number), ())
        self._state.reply_bytes -= sum(map(len, packets))

    def _assemble(self, sender: _Sender, number: int, count: int, at: int, part: bytes) -> bytes | None:
        """The payload of the message, if it is whole now."""
        state, key, now = self._state, (sender, number), time.monotonic()
        while state.unfinished and now - next(iter(state.unfinished.values())).began > _UNFINISHED_S:
            self._remove(next(iter(state.unfinished)))
        one = state.unfinished.get(key)
        if one is None:
            if count == 1:
                if len(part) <= _LONGEST:
                    return part
                self.counts.wrong += 1
                return None
            mine = state.begun.get(sender, ())
            if len(mine) >= _UNFINISHED_EACH:
                self._remove((sender, next(iter(mine))))
            elif len(state.unfinished) >= _UNFINISHED:
                self._remove(next(iter(state.unfinished)))
            one = state.unfinished[key] = _Unfinished(now, [None] * count)
            state.begun.setdefault(sender, OrderedDict())[number] = None
        size = sum(len(other) for other in one.parts if other is not None)
        if len(one.parts) != count or (one.parts[at] is None and size + len(part) > _LONGEST):
            self.counts.wrong += 1
            return None
        if one.parts[at] is None:
            one.parts[at] = part
        if any(other is None for other in one.parts):
            return None
        self._remove(key)
        return b"".join(other for other in one.parts if other is not None)

    def _remove(self, key: tuple[_Sender, int]) -> None:
        """Forgets an unfinished message."""
        del self._state.unfinished[key]
        sender, number = key
        del self._state.begun[sender][number]
        if not self._state.begun[sender]:
            del self._state.begun[sender]

    def _acknowledge(self, to: Address, application: int, type_: int, number: int, arrived: int, quiet: bool) -> None:
        if not quiet:
            self._transmit(to, [_HEADER.pack(application, type_, 0, number, 1, 0, _ACK, 0, arrived, 0)])
