# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Frames and their headers, edits and their results, a line each. Scapy makes the frames and executes the edits. Scapy
also finds the headers of an intact frame; for a damaged frame plain Python (header_model.py), which is checked against
Scapy, finds them.

    parse FRAME HEADERS FIELDS              headers with commas, fields as name=hex with commas; "-" is none
    edit FRAME EDITS RESULT HEADERS FIELDS edits with commas: set:field:hex, swap:field:field, push_vlan:hex, pop_vlan,
    push_mpls:hex, pop_mpls refuse FRAME EDITS the last edit is not allowed
"""

from __future__ import annotations

import ipaddress
import random
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from header_model import Found, look
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_Router_Alert, IPOption_Timestamp
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
)
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw, bind_layers

bind_layers(Dot1Q, MPLS, type=0x8847)
bind_layers(Dot1AD, MPLS, type=0x8847)

FIELDS = tomllib.loads((Path(__file__).parent.parent / "fields.toml").read_text())["field"]
TAGS = (Dot1Q, Dot1AD)
EXTENSIONS = {IPv6ExtHdrHopByHop: 0, IPv6ExtHdrRouting: 43, IPv6ExtHdrDestOpt: 60, IPv6ExtHdrFragment: 44}
PROTOCOLS = {TCP: 6, UDP: 17, ICMP: 1, ICMPv6EchoRequest: 58, **EXTENSIONS}
TYPES = {Dot1Q: 0x8100, Dot1AD: 0x88A8, MPLS: 0x8847, IP: 0x0800, IPv6: 0x86DD}
# Ports for which Scapy knows no protocol.
PORTS = (20000, 20999)


@dataclass(frozen=True)
class Case:
    """A whole packet as Scapy has it, which works out checksums whenever it is built, and how it becomes a frame."""

    packet: Packet
    # The bytes of this fragment, counted after the IP header and `before` extension headers.
    fragment: tuple[int, int] | None = None
    before: int = 0
    padding: bytes = b""

    def frame(self) -> bytes:
        whole = bytes(self.packet)
        if self.fragment is None:
            return whole + self.padding
        head = self.packet.copy()
        last = head.getlayer(IP) or head.getlayer(IPv6)
        for _ in range(self.before):
            last = last.payload
        last.remove_payload()
        payload = whole[len(bytes(head)) :]
        first, end = self.fragment
        more = end < len(payload)
        if IP in head:
            last.flags = int(last.flags) | more
            last.frag = first // 8
        else:
            header = IPv6ExtHdrFragment(nh=last.nh, offset=first // 8, m=more, id=0x1234)
            last.nh = 44
            head = head / header
        return bytes(head / Raw(payload[first:end])) + self.padding


class Maker:
    """Random frames."""

    def __init__(self, rng: random.Random, tiny: bool) -> None:
        self.rng = rng
        self.tiny = tiny

    def case(self) -> Case:
        rng = self.rng
        link = Ether(src=self.mac(), dst=self.mac())
        for _ in range(rng.choice([0, 0, 0, 0, 1, 1, 2, 2, 3])):
            link = link / rng.choice(TAGS)(prio=rng.getrandbits(3), dei=rng.getrandbits(1), vlan=rng.getrandbits(12))
        labels = rng.choice([0, 0, 0, 0, 1, 1, 2])
        for left in reversed(range(labels)):
            label = {"label": rng.getrandbits(20), "cos": rng.getrandbits(3), "ttl": rng.getrandbits(8)}
            link = link / MPLS(**label, s=left == 0)
        network = rng.choice([self.ip, self.ip, self.ip6, self.ip6, self.other])(labels > 0)
        packet = typed(link / network)
        padding = rng.choice([b"", b"", bytes(6), rng.randbytes(18)])
        if rng.random() > 0.2 or not (network.haslayer(IP) or network.haslayer(IPv6)):
            return Case(packet, padding=padding)
        return self.fragment(Case(packet, padding=padding))

    def fragment(self, case: Case) -> Case:
        """A fragment, if the packet is long enough. Transport headers are not cut, except of `tiny` ones (RFC 1858):
        their checksum would be in another fragment than the one that is known to have it.
        """
        rng = self.rng
        layers = list(layers_of(case.packet))
        extensions = [layer for layer in layers if type(layer) in EXTENSIONS]
        before = rng.randint(0, len(extensions))
        payload = (extensions[before - 1] if before else case.packet.getlayer(IP) or case.packet.getlayer(IPv6)).payload
        transport = next((layer for layer in layers if type(layer) in (TCP, UDP, ICMP, ICMPv6EchoRequest)), None)
        least = 1
        if transport and not self.tiny:
            header = len(transport) - len(transport.payload) if isinstance(transport, TCP) else 8
            least = (len(payload) - len(transport) + header + 7) // 8
        blocks = len(payload) // 8
        if blocks <= least:
            return case
        first = rng.choice([0, 0, rng.randint(least, blocks - 1)])
        end = rng.randint(max(first + 1, least), blocks)
        return replace(case, before=before, fragment=(8 * first, len(payload) if end == blocks else 8 * end))

    def mac(self) -> str:
        return mac(self.rng.getrandbits(48))

    def payload(self) -> bytes:
        size = self.rng.choice([0, 0, 1, 3, 4, 7, 11, 16, 31, 32, 33, 64, 100, 700])
        return self.rng.choice([self.rng.randbytes(size), bytes(size), b"\xff" * size])

    def ip(self, _labelled: bool) -> Packet:
        rng = self.rng
        inner = self.transport(ICMP)
        header = IP(
            src=ip4(rng.getrandbits(32)),
            dst=ip4(rng.getrandbits(32)),
            tos=rng.getrandbits(8),
            ttl=rng.getrandbits(8),
            id=rng.getrandbits(16),
            flags=rng.choice([0, 2, 4]),
            proto=self.number(inner),
            options=rng.choice([[], [], [], [IPOption_Router_Alert()], [IPOption_NOP(), IPOption_Timestamp()]]),
        )
        return header / inner

    def ip6(self, _labelled: bool) -> Packet:
        rng = self.rng
        inner = self.transport(ICMPv6EchoRequest)
        packet = IPv6(
            src=ip6(rng.getrandbits(128)),
            dst=ip6(rng.getrandbits(128)),
            tc=rng.getrandbits(8),
            fl=rng.getrandbits(20),
            hlim=rng.getrandbits(8),
        )
        chain = [self.extension() for _ in range(rng.choice([0, 0, 0, 0, 1, 1, 2, 3, 4, 5]))]
        if rng.random() < 0.15:
            # An atomic fragment (RFC 6946) is whole.
            chain.append(IPv6ExtHdrFragment(id=rng.getrandbits(32)))
        chain.append(inner)
        for above, below in zip([packet, *chain], chain, strict=False):
            above.nh = self.number(below)
        for layer in chain:
            packet = packet / layer
        return packet

    def other(self, labelled: bool) -> Packet:
        """Frames without IP; bytes that look like IP after a label would count as IP."""
        data = self.rng.randbytes(self.rng.choice([0, 1, 46]))
        return Raw(b"\x10" + data if labelled else data)

    def number(self, layer: Packet) -> int:
        return PROTOCOLS.get(type(layer)) or (
            0 if type(layer) in EXTENSIONS else self.rng.choice([50, 59, 89, 132, 253])
        )

    def extension(self) -> Packet:
        rng = self.rng
        kind = rng.choice(list(EXTENSIONS)[:3])
        if kind is IPv6ExtHdrRouting:
            addresses = [ip6(rng.getrandbits(128)) for _ in range(rng.choice([0, 1, 1, 2, 5]))]
            return kind(addresses=addresses, segleft=rng.randint(0, len(addresses)))
        return kind(options=[PadN(optdata=bytes(rng.choice([0, 4, 4, 12, 60])))])

    def transport(self, icmp: type[Packet]) -> Packet:
        rng = self.rng
        ports = {"sport": rng.randint(*PORTS), "dport": rng.randint(*PORTS)}
        match rng.choice(["tcp", "tcp", "udp", "udp", "icmp", "other"]):
            case "tcp":
                options = [("Timestamp", (rng.getrandbits(32), 0)), ("MSS", 1460), ("NOP", None), ("WScale", 3)]
                header = TCP(
                    **ports,
                    seq=rng.getrandbits(32),
                    ack=rng.getrandbits(32),
                    flags=rng.getrandbits(9),
                    window=rng.getrandbits(16),
                    urgptr=rng.choice([0, rng.getrandbits(16)]),
                    options=rng.sample(options, rng.choice([0, 0, 1, 2, 4])),
                )
                return header / Raw(self.payload())
            case "udp":
                # 0: without checksum.
                return UDP(**ports, chksum=rng.choice([None, None, 0])) / Raw(self.payload())
            case "icmp" if icmp is ICMP:
                return ICMP(type=rng.choice([0, 8]), code=rng.getrandbits(8), id=rng.getrandbits(16)) / Raw(
                    self.payload()
                )
            case "icmp":
                return ICMPv6EchoRequest(code=rng.getrandbits(8), data=self.payload())
            case _:
                return Raw(self.payload())


def mac(value: int) -> str:
    return value.to_bytes(6, "big").hex(":")


def ip4(value: int) -> str:
    return str(ipaddress.IPv4Address(value))


def ip6(value: int) -> str:
    return str(ipaddress.IPv6Address(value))


def layers_of(packet: Packet) -> Iterator[Packet]:
    while packet:
        yield packet
        packet = packet.payload


def typed(packet: Packet) -> Packet:
    """Types of Ethernet and of tags determine the next header."""
    layers = list(layers_of(packet))
    for layer, below in zip(layers, [*layers[1:], Raw()], strict=True):
        if isinstance(layer, (Ether, *TAGS)):
            layer.type = TYPES.get(type(below), 0x88B5)
    return packet


def by_scapy(frame: bytes) -> Found:
    """What Scapy finds in an intact frame."""
    found = Found()
    fields, headers = found.fields, found.headers
    packet = Ether(frame)
    fields |= {"eth.dst": int(packet.dst.replace(":", ""), 16), "eth.src": int(packet.src.replace(":", ""), 16)}
    kind, layer = packet.type, packet.payload
    for name in ("vlan", "vlan2"):
        if not isinstance(layer, TAGS):
            break
        headers.add(name)
        tci = layer.prio << 13 | layer.dei << 12 | layer.vlan
        fields |= {f"{name}.id": layer.vlan, f"{name}.pcp": layer.prio, f"{name}.tci": tci}
        kind, layer = layer.type, layer.payload
    fields["eth.type"] = kind
    if isinstance(layer, MPLS):
        headers.add("mpls")
        fields |= {"mpls.label": layer.label, "mpls.tc": layer.cos, "mpls.ttl": layer.ttl}
        layer = layer.payload
    if isinstance(layer, IP):
        headers.add("ip")
        fields |= {"ip.tos": layer.tos, "ip.len": layer.len, "ip.id": layer.id, "ip.ttl": layer.ttl}
        fields |= {"ip.proto": layer.proto, "ip.frag": int(layer.flags) << 13 | layer.frag}
        fields |= {"ip.src": int(ipaddress.ip_address(layer.src)), "ip.dst": int(ipaddress.ip_address(layer.dst))}
        if layer.frag or layer.flags.MF:
            headers.add("fragment")
        proto, size = layer.proto, layer.len - layer.ihl * 4
        layer = layer.payload
    elif isinstance(layer, IPv6):
        headers.add("ip6")
        fields |= {"ip6.class": layer.tc, "ip6.label": layer.fl, "ip6.len": layer.plen, "ip6.hops": layer.hlim}
        fields |= {"ip6.src": int(ipaddress.ip_address(layer.src)), "ip6.dst": int(ipaddress.ip_address(layer.dst))}
        proto, size = layer.nh, layer.plen
        layer = layer.payload
        while type(layer) in EXTENSIONS:
            if isinstance(layer, IPv6ExtHdrFragment) and (layer.offset or layer.m):
                headers.add("fragment")
            proto, size = layer.nh, size - (len(layer) - len(layer.payload))
            layer = layer.payload
        if proto not in EXTENSIONS.values():
            fields["ip6.proto"] = proto
    if isinstance(layer, TCP):
        headers.add("tcp")
        fields |= {
            "tcp.seq": layer.seq,
            "tcp.ack": layer.ack,
            "tcp.window": layer.window,
            "tcp.flags": int(layer.flags) & 0xFF,
        }
        fields |= {
            "tcp.syn": layer.flags.S,
            "tcp.ack_flag": layer.flags.A,
            "tcp.fin": layer.flags.F,
            "tcp.rst": layer.flags.R,
        }
        fields["tcp.len"] = size - layer.dataofs * 4
    elif isinstance(layer, UDP):
        headers.add("udp")
        fields["udp.len"] = layer.len
    elif isinstance(layer, (ICMP, ICMPv6EchoRequest)):
        headers.add("icmp")
        fields |= {"icmp.type": layer.type, "icmp.code": layer.code}
    if isinstance(layer, (TCP, UDP)):
        name = "tcp" if isinstance(layer, TCP) else "udp"
        for prefix in (name, "l4"):
            fields |= {f"{prefix}.sport": layer.sport, f"{prefix}.dport": layer.dport}
        fields["l4.proto"] = proto
        data = layer.payload.load if type(layer.payload) is Raw else b""
        for word in range(min(8, len(data) // 4)):
            fields[f"data.{word}"] = int.from_bytes(data[4 * word : 4 * word + 4], "big")
    return found


def set_field(packet: Packet, name: str, value: int) -> None:
    """Sets a field with Scapy."""
    header, _, attribute = name.partition(".")
    value &= (1 << FIELDS[name]["bits"]) - 1
    tags = [layer for layer in layers_of(packet) if isinstance(layer, TAGS)]
    kinds = {"eth": Ether, "mpls": MPLS, "ip": IP, "ip6": IPv6, "tcp": TCP, "udp": UDP}
    transport = packet.getlayer(TCP) or packet.getlayer(UDP)
    if header in ("vlan", "vlan2"):
        tag = tags[header == "vlan2"]
        if attribute == "tci":
            tag.prio, tag.dei, tag.vlan = value >> 13, value >> 12 & 1, value & 0xFFF
        else:
            setattr(tag, {"id": "vlan", "pcp": "prio"}[attribute], value)
    elif header == "l4":
        setattr(transport, attribute, value)
    elif header == "data":
        data, at = bytes(transport.payload), 4 * int(attribute)
        transport.remove_payload()
        transport.add_payload(Raw(data[:at] + value.to_bytes(4, "big") + data[at + 4 :]))
    elif header == "icmp":
        setattr(packet.getlayer(ICMP) or packet.getlayer(ICMPv6EchoRequest), attribute, value)
    elif name == "tcp.flags":
        transport.flags = int(transport.flags) & 0x100 | value
    elif attribute in ("fin", "syn", "rst", "ack_flag"):
        bit = {"fin": 1, "syn": 2, "rst": 4, "ack_flag": 16}[attribute]
        transport.flags = int(transport.flags) & ~bit | bit * value
    else:
        if attribute in ("src", "dst"):
            value = {"eth": mac, "ip": ip4, "ip6": ip6}[header](value)
        names = {"tc": "cos", "class": "tc", "label": "fl" if header == "ip6" else "label", "hops": "hlim"}
        setattr(packet[kinds[header]], names.get(attribute, attribute), value)


def insert(packet: Packet, above: Packet, layer: Packet) -> Packet:
    """The packet with a layer more."""
    rest = above.payload
    above.remove_payload()
    return typed(packet / layer / rest)


def remove(packet: Packet, above: Packet) -> Packet:
    """The packet without the layer after `above`."""
    rest = above.payload.payload
    above.remove_payload()
    return typed(packet / rest)


class Edits:
    """A case in the hands of edits."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.moved = 0
        self.found = look(case.frame())
        self.tags = len(self.found.headers & {"vlan", "vlan2"})

    def allowed(self, edit: str, *operands: str) -> bool:
        found = self.found
        ip = found.headers & {"ip", "ip6"}
        match edit:
            case "push_vlan":
                return "vlan2" not in found.headers
            case "pop_vlan":
                return "vlan" in found.headers
            case "push_mpls":
                return bool(ip) and "mpls" not in found.headers
            case "pop_mpls":
                return bool(ip) and "mpls" in found.headers
        fields = [operand for operand in operands if operand in FIELDS]
        if found.hidden and {"ip6.src", "ip6.dst"} & set(fields):
            return False
        if edit == "swap" and FIELDS[fields[0]]["bits"] != FIELDS[fields[1]]["bits"]:
            return False
        return all(field in found.fields and FIELDS[field].get("set", False) for field in fields)

    def apply(self, edit: str, *operands: str) -> None:
        packet = self.case.packet.copy()
        links = [layer for layer in layers_of(packet) if isinstance(layer, (Ether, *TAGS))]
        match edit:
            case "set":
                set_field(packet, operands[0], int(operands[1], 16))
            case "swap":
                one, other = (self.found.fields[operand] for operand in operands)
                set_field(packet, operands[0], other)
                set_field(packet, operands[1], one)
            case "push_vlan":
                tci = int(operands[0], 16)
                kind = Dot1AD if self.tags else Dot1Q
                packet = insert(packet, packet, kind(prio=tci >> 13, dei=tci >> 12 & 1, vlan=tci & 0xFFF))
                self.tags += 1
            case "pop_vlan":
                packet = remove(packet, packet)
                self.tags -= 1
            case "push_mpls":
                ttl = packet[IP].ttl if IP in packet else packet[IPv6].hlim
                packet = insert(packet, links[-1], MPLS(label=int(operands[0], 16) & 0xFFFFF, cos=0, s=1, ttl=ttl))
            case "pop_mpls":
                packet = remove(packet, links[-1])
        self.moved += {"push": 4, "pop_": -4}.get(edit[:4], 0)
        self.case = replace(self.case, packet=packet)
        # No part appears or disappears, except the one that the edit names.
        self.found = look(self.case.frame(), 128 + self.moved, self.tags)


def described(found: Found) -> str:
    fields = ",".join(f"{name}={value:x}" for name, value in sorted(found.fields.items()))
    return f"{','.join(sorted(found.headers)) or '-'} {fields or '-'}"


def random_edit(rng: random.Random, found: Found) -> list[str]:
    """Mostly a valid one."""
    likely = [name for name in found.fields if FIELDS[name].get("set")]
    match rng.choice(["set"] * 6 + ["swap", "push_vlan", "pop_vlan", "push_mpls", "pop_mpls"]):
        case "set":
            name = rng.choice(likely) if likely and rng.random() < 0.95 else rng.choice(list(FIELDS))
            # ICMP over IPv4 has other fields in Scapy when it is not an echo.
            values = [0, 8] if name == "icmp.type" else [0, 1, (1 << 128) - 1, rng.getrandbits(128)]
            return ["set", name, f"{rng.choice(values):x}"]
        case "swap":
            likely, known = ([name for name in names if name != "icmp.type"] for names in (likely, FIELDS))
            name = rng.choice(likely or known)
            same = [other for other in likely if FIELDS[other]["bits"] == FIELDS[name]["bits"]]
            return ["swap", name, rng.choice(same) if rng.random() < 0.9 and same else rng.choice(known)]
        case "push_vlan" | "push_mpls" as edit:
            return [edit, f"{rng.getrandbits(16 if edit == 'push_vlan' else 32):x}"]
        case edit:
            return [edit]


def edits(rng: random.Random, count: int) -> Iterator[str]:
    maker = Maker(rng, tiny=False)
    for _ in range(count):
        case = maker.case()
        frame, hands, done = case.frame(), Edits(case), []
        for _ in range(rng.randint(1, 8)):
            edit = random_edit(rng, hands.found)
            while not hands.allowed(*edit) and rng.random() < 0.9:
                edit = random_edit(rng, hands.found)
            done.append(":".join(edit))
            if not hands.allowed(*edit):
                yield f"refuse {frame.hex()} {','.join(done)}"
                break
            hands.apply(*edit)
        else:
            yield f"edit {frame.hex()} {','.join(done)} {hands.case.frame().hex()} {described(hands.found)}"


def zero_checksums(rng: random.Random, count: int) -> Iterator[str]:
    """Edits that bring a checksum to 0: UDP writes it as 0xFFFF."""
    for _ in range(count):
        network = rng.choice([IP(), IPv6()])
        case = Case(
            Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
            / network
            / UDP(sport=rng.getrandbits(16))
            / rng.randbytes(8)
        )
        frame, hands = case.frame(), Edits(case)
        checksum = int.from_bytes(frame[-10:-8], "big")
        port = hands.found.fields["udp.sport"] + checksum
        value = (port & 0xFFFF) + (port >> 16)
        hands.apply("set", "udp.sport", f"{value:x}")
        result = hands.case.frame()
        assert result[-10:-8] == b"\xff\xff", result.hex()
        yield f"edit {frame.hex()} set:udp.sport:{value:x} {result.hex()} {described(hands.found)}"


# The offset of the checksum in the header after IP.
SUM_AT = {"tcp": 16, "udp": 6, "icmp": 2}


def both_zeros(rng: random.Random, count: int) -> Iterator[str]:
    """Checksums of 0xFFFF, the other form of 0: the sum of all edits of a frame decides the result. Scapy, which only
    knows right checksums, computes this sum. Edits that cancel each other keep 0xFFFF.
    """
    maker = Maker(rng, tiny=False)
    for _ in range(count):
        case = maker.case()
        hands, done = Edits(case), []
        fields = {name: value for name, value in hands.found.fields.items() if hands.allowed("set", name)}
        for name in rng.sample(sorted(fields), rng.randint(1, min(3, len(fields)))):
            same = [other for other in fields if FIELDS[other]["bits"] == FIELDS[name]["bits"]]
            way, other = rng.choice(["undo", "swap", "set"]), rng.choice(same)
            if way == "swap" and "icmp.type" not in (name, other):
                done.append(["swap", name, other])
            elif name != "icmp.type":
                done.append(["set", name, f"{rng.getrandbits(128):x}"])
                if way == "undo":
                    done.append(["set", name, f"{fields[name]:x}"])
        before, found = case.frame(), hands.found
        for edit in done:
            hands.apply(*edit)
        after, now = hands.case.frame(), hands.found
        frame, result = bytearray(before), bytearray(after)
        sums = [("l4", SUM_AT[name]) for name in SUM_AT if name in found.headers]
        sums += [("net", 10)] if "ip" in found.headers else []
        for layer, offset in sums:
            places = found.at[layer] + offset, now.at[layer] + offset
            was, becomes = (
                int.from_bytes(data[at : at + 2], "big") for data, at in zip((before, after), places, strict=True)
            )
            # A UDP datagram may have no checksum.
            if was or "udp" not in found.headers or layer == "net":
                frame[places[0] : places[0] + 2] = b"\xff\xff"
                result[places[1] : places[1] + 2] = ((becomes - was) % 0xFFFF or 0xFFFF).to_bytes(2, "big")
        if done:
            edits = ",".join(":".join(edit) for edit in done)
            yield f"edit {frame.hex()} {edits} {result.hex()} {described(look(bytes(result), 128, hands.tags))}"


def parses(rng: random.Random, count: int) -> Iterator[str]:
    maker = Maker(rng, tiny=True)
    for index in range(count):
        case = maker.case()
        frame = case.frame()
        # A first fragment may end within a header, which Scapy takes for data.
        if case.fragment is None or case.fragment[0] > 0:
            agree(frame)
        yield f"parse {frame.hex()} {described(look(frame))}"
        for _ in range(5):
            damaged = bytearray(frame)
            for _ in range(rng.choice([1, 1, 1, 2, 5])):
                damaged[rng.randrange(min(len(damaged), 140))] = rng.choice([0, 1, 255, 0x45, 0x60, rng.getrandbits(8)])
            yield f"parse {damaged.hex()} {described(look(bytes(damaged)))}"
        if index % 10 == 0:
            for length in range(min(len(frame), 220)):
                yield f"parse {frame[:length].hex() or '-'} {described(look(frame[:length]))}"


def agree(frame: bytes) -> None:
    """Scapy, which knows no limits, and the model, which here sees all of the frame."""
    ours, theirs = look(frame, window=len(frame)), by_scapy(frame)
    if ours.hidden:
        theirs.fields = {name: value for name, value in theirs.fields.items() if name in ours.fields}
        theirs.headers &= ours.headers
    assert (ours.fields, ours.headers) == (theirs.fields, theirs.headers), (
        f"{frame.hex()}: model {sorted(ours.fields.items() - theirs.fields.items())} {ours.headers}, "
        f"Scapy {sorted(theirs.fields.items() - ours.fields.items())} {theirs.headers}"
    )


def main() -> None:
    what, count = sys.argv[1], int(sys.argv[2])
    rng = random.Random(what)
    lines = {"parse": parses, "edit": edits, "zero": zero_checksums, "ones": both_zeros}[what](rng, count)
    sys.stdout.writelines(line + "\n" for line in lines)


if __name__ == "__main__":
    main()
