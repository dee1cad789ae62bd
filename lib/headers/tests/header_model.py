# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The headers of a frame, in plain Python: the rules of lib/headers (src/lib.rs), without regard to
speed or hardware.
"""

from __future__ import annotations

from dataclasses import dataclass, field

EXTENSIONS = {0: "hop-by-hop", 43: "routing", 44: "fragment", 60: "destination"}


@dataclass
class Found:
    """The parts that a frame has: headers, and fields by name."""

    headers: set[str] = field(default_factory=set)
    fields: dict[str, int] = field(default_factory=dict)
    # The beginnings of the layers that are present; `net` begins after tags and label.
    at: dict[str, int] = field(default_factory=dict)
    # A limit, and not damage, has ended the search.
    hidden: bool = False
    # Checksums cover another destination than the header's.
    routed: bool = False


class Gone(Exception):
    """The frame has no further headers."""


class Hidden(Gone):
    """There may be further headers, but they are not parsed."""


def look(frame: bytes, window: int = 128, tags: int = 2) -> Found:
    """The headers within the first `window` bytes of a frame, with up to `tags` VLAN tags."""
    found = Found()
    try:
        _ethernet(found, frame, window, tags)
    except Hidden:
        found.hidden = True
    except Gone:
        pass
    return found


def _take(frame: bytes, at: int, size: int, end: int, window: int) -> bytes:
    """A header's bytes; they must be before the end of the packet, and within the window."""
    if at + size > end:
        raise Gone
    if at + size > window:
        raise Hidden
    return frame[at : at + size]


def _bits(data: bytes, first: int, count: int) -> int:
    """Bits of a header, counted as RFCs draw them."""
    return int.from_bytes(data, "big") >> (len(data) * 8 - first - count) & ((1 << count) - 1)


def _ethernet(found: Found, frame: bytes, window: int, tags: int) -> None:
    end = len(frame)
    header = _take(frame, 0, 14, end, window)
    found.fields |= {"eth.dst": _bits(header, 0, 48), "eth.src": _bits(header, 48, 48)}
    kind, at = _bits(header, 96, 16), 14
    found.at["net"] = at
    for name in ("vlan", "vlan2")[:tags]:
        if kind not in (0x8100, 0x88A8):
            break
        tag = _take(frame, at, 4, end, window)
        found.headers.add(name)
        found.fields |= {
            f"{name}.tci": _bits(tag, 0, 16),
            f"{name}.pcp": _bits(tag, 0, 3),
            f"{name}.id": _bits(tag, 4, 12),
        }
        kind, at = _bits(tag, 16, 16), at + 4
        found.at["net"] = at
    found.fields["eth.type"] = kind
    if kind == 0x8847:
        entry = _take(frame, at, 4, end, window)
        found.headers.add("mpls")
        found.fields |= {
            "mpls.label": _bits(entry, 0, 20),
            "mpls.tc": _bits(entry, 20, 3),
            "mpls.ttl": _bits(entry, 24, 8),
        }
        at += 4
        found.at["net"] = at
        if _bits(entry, 23, 1) == 0 or at >= end:
            raise Gone
        kind = {4: 0x0800, 6: 0x86DD}.get(frame[at] >> 4, 0)
    if kind == 0x0800:
        _ip(found, frame, at, window)
    elif kind == 0x86DD:
        _ip6(found, frame, at, window)


def _ip(found: Found, frame: bytes, at: int, window: int) -> None:
    header = _take(frame, at, 20, len(frame), window)
    size, length = _bits(header, 4, 4) * 4, _bits(header, 16, 16)
    if _bits(header, 0, 4) != 4 or size < 20 or length < size or at + length > len(frame):
        raise Gone
    found.headers.add("ip")
    found.fields |= {
        "ip.tos": header[1],
        "ip.len": length,
        "ip.id": _bits(header, 32, 16),
        "ip.frag": _bits(header, 48, 16),
        "ip.ttl": header[8],
        "ip.proto": header[9],
        "ip.src": _bits(header, 96, 32),
        "ip.dst": _bits(header, 128, 32),
    }
    more, offset = _bits(header, 50, 1), _bits(header, 51, 13)
    if more or offset:
        found.headers.add("fragment")
    if offset == 0:
        _transport(found, frame, header[9], at + size, at + length, window, 1)


def _ip6(found: Found, frame: bytes, at: int, window: int) -> None:
    header = _take(frame, at, 40, len(frame), window)
    end = at + 40 + _bits(header, 32, 16)
    if _bits(header, 0, 4) != 6 or end > len(frame):
        raise Gone
    found.headers.add("ip6")
    found.fields |= {
        "ip6.class": _bits(header, 4, 8),
        "ip6.label": _bits(header, 12, 20),
        "ip6.len": _bits(header, 32, 16),
        "ip6.hops": header[7],
        "ip6.src": _bits(header, 64, 128),
        "ip6.dst": _bits(header, 192, 128),
    }
    proto, at, offset, walked = header[6], at + 40, 0, 0
    while proto in EXTENSIONS and offset == 0:
        if walked == 4:
            raise Hidden
        extension = _take(frame, at, 8, end, window)
        size = 8
        if EXTENSIONS[proto] == "fragment":
            offset = _bits(extension, 16, 13)
            if offset or _bits(extension, 31, 1):
                found.headers.add("fragment")
        else:
            size += extension[1] * 8
        if at + size > end:
            raise Gone
        if EXTENSIONS[proto] == "routing" and extension[3] > 0:
            found.routed = True
        proto, at, walked = extension[0], at + size, walked + 1
    if proto in EXTENSIONS:
        raise Gone
    found.fields["ip6.proto"] = proto
    if offset == 0:
        _transport(found, frame, proto, at, end, window, 58)


def _transport(found: Found, frame: bytes, proto: int, at: int, end: int, window: int, icmp: int) -> None:
    if proto == 6:
        header = _take(frame, at, 20, end, window)
        payload = at + _bits(header, 96, 4) * 4
        if payload < at + 20 or payload > end:
            raise Gone
        found.fields |= {
            "tcp.seq": _bits(header, 32, 32),
            "tcp.ack": _bits(header, 64, 32),
            "tcp.flags": header[13],
            "tcp.ack_flag": header[13] >> 4 & 1,
            "tcp.rst": header[13] >> 2 & 1,
            "tcp.syn": header[13] >> 1 & 1,
            "tcp.fin": header[13] & 1,
            "tcp.window": _bits(header, 112, 16),
            "tcp.len": end - payload,
        }
        name = "tcp"
    elif proto == 17:
        header = _take(frame, at, 8, end, window)
        length = _bits(header, 32, 16)
        if length < 8 or (at + length > end and "fragment" not in found.headers):
            raise Gone
        found.fields["udp.len"] = length
        payload, end = at + 8, min(end, at + length)
        name = "udp"
    elif proto == icmp:
        header = _take(frame, at, 8, end, window)
        found.headers.add("icmp")
        found.at["l4"] = at
        found.fields |= {"icmp.type": header[0], "icmp.code": header[1]}
        return
    else:
        return
    found.headers.add(name)
    found.at |= {"l4": at, "data": payload}
    for layer in (name, "l4"):
        found.fields |= {f"{layer}.sport": _bits(header, 0, 16), f"{layer}.dport": _bits(header, 16, 16)}
    found.fields["l4.proto"] = proto
    for word in range(8):
        start = payload + 4 * word
        if start + 4 <= min(end, window):
            found.fields[f"data.{word}"] = int.from_bytes(frame[start : start + 4], "big")
