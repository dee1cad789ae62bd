# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""All accelerators in one unit, against plain Python: zlib, bytes.find, ipaddress, and sums and hashes written here."""

from __future__ import annotations

import ipaddress
import random
import re
import struct
import zlib
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.utils import RawPcapReader
from system import ROOT, RSS_KEY, TARGETS, DesignMaker, assert_twins, call, run_design, toeplitz, write_capture

PROGRAM = ROOT / "engines/rpu/programs/fingerprint.c"
ALL = ["ip_prefix", "flow_hash", "checksum", "crc32", "string_match"]
WORDS = 9  # that the program appends

# Entries as in the list of patterns: the text, and the bytes that it stands for.
PATTERNS: list[tuple[str, bytes, bool]] = [
    ('"GET /"', b"GET /", False),
    ('"host: " nocase', b"host: ", True),
    (r'"\x00\xff\"\\"   # a comment', b'\0\xff"\\', False),
    ('"aa"', b"aa", False),
    ('"aab"', b"aab", False),
    ('"a" nocase', b"a", True),
    ('"#no comment#"', b"#no comment#", False),
    ('"0123456789abcdef0123456789abcdef"', b"0123456789abcdef0123456789abcdef", False),
    ('"zzzzzzzzzz"', b"zzzzzzzzzz", False),
    ('"\\xFE"', b"\xfe", False),
    ('"é"', "é".encode(), False),
]
PREFIXES = [("10.0.0.0/8", 3), ("10.1.0.0/16", 0), ("192.0.2.7/32", 15)]


def ones_sum(packet: bytes, initial: int = 0) -> int:
    """RFC 1071 over words in memory order."""
    padded = packet + bytes(len(packet) % 2)
    total = initial + sum(struct.unpack(f"<{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def rss(frame: bytes, key: bytes) -> int:
    """As in the program: IPv4 alone, without tags."""
    if len(frame) < 34 or frame[12:14] != b"\x08\x00" or frame[14] >> 4 != 4 or frame[14] & 15 < 5:
        return 0
    ports = frame[23] in (6, 17) and frame[14] == 0x45 and not frame[20] & 0x3F and not frame[21] and len(frame) >= 38
    return toeplitz(key, frame[26:34] + (frame[34:38] if ports else b""))


def matches(frame: bytes) -> tuple[int, int]:
    """Patterns found, and the end of the occurrence that ends first."""
    found, ends = 0, []
    for n, (_, pattern, nocase) in enumerate(PATTERNS):
        at = frame.lower().find(pattern.lower()) if nocase else frame.find(pattern)
        if at >= 0:
            found |= 1 << n
            ends.append(at + len(pattern))
    return found, min(ends, default=0)


def prefix_class(frame: bytes) -> int:
    source = ipaddress.ip_address(frame[26:30] if len(frame) >= 34 else bytes(4))
    best = max(
        (n.prefixlen, klass)
        for n, klass in [(ipaddress.ip_network(p), k) for p, k in [*PREFIXES, ("0.0.0.0/0", 0)]]
        if source in n
    )
    return best[1]


def expected(frame: bytes, key: bytes = RSS_KEY) -> list[int]:
    words = [zlib.crc32(frame), ones_sum(frame), ones_sum(frame[14:], 0xABCD1234), rss(frame, key)]
    return [*words, *matches(frame), zlib.crc32(frame[1:]), prefix_class(frame)]


def check(frames: list[bytes], out: list[bytes], key: bytes = RSS_KEY) -> None:
    assert len(out) == len(frames)
    assert sorted(frame[: -4 * WORDS] for frame in out) == sorted(frames)
    for whole in out:
        frame, words = whole[: -4 * WORDS], struct.unpack(f"<{WORDS}I", whole[-4 * WORDS :])
        assert list(words[:8]) == expected(frame, key), f"{len(frame)} bytes: {frame.hex()}"
        if frame[12:14] == b"\x08\x00" and key == RSS_KEY:
            assert words[3] == words[8], "not the hash of the card"


def random_frames(rng: random.Random) -> list[bytes]:
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    frames = []
    for n in range(250):
        source = rng.choice(["10.0.0.1", "10.1.2.3", "192.0.2.7", "203.0.113.9", f"10.{n}.1.{n}"])
        ip = IP(src=source, dst=f"198.51.100.{n}", proto=rng.choice([6, 17, 50]), frag=rng.choice([0, 0, 0, 9]))
        ip.flags = rng.choice([0, 0, 2, 1])
        if rng.random() < 0.1:
            ip.options = [b"\x01\x01\x01\x00"]
        upper = rng.choice([TCP(sport=n, dport=80), UDP(sport=53, dport=n)])
        network = rng.choice([ip, ip, ip, Dot1Q(vlan=7) / ip, IPv6(src="2001:db8::1", dst=f"2001:db8::{n}")])
        payload = bytearray(rng.randbytes(rng.choice([0, 1, 2, 30, 100, 500, 1400, 9000])))
        for _ in range(rng.randrange(4)):
            # Whole, in capitals, or all but the last byte.
            pattern = rng.choice(PATTERNS)[1]
            pattern = rng.choice([pattern, pattern.upper(), pattern[:-1]])
            at = rng.randrange(len(payload) + 1)
            payload[at : at + len(pattern)] = pattern
        frames.append(bytes(ether / network / upper / bytes(payload)))
    # Each length up to some rows, the shortest ones included; bytes that sum up to 0 and to 0xFFFF.
    frames += [rng.randbytes(length) for length in range(14, 210)]
    frames += [bytes(60), b"\xff" * 60, bytes(16384 - 4 * WORDS), rng.randbytes(16384 - 4 * WORDS)]
    rng.shuffle(frames)
    return frames


def write_tables(folder: Path) -> dict[str, Path]:
    tables = {"ip_prefix": folder / "prefixes.txt", "string_match": folder / "patterns.txt"}
    tables["ip_prefix"].write_text("".join(f"{prefix} {klass}\n" for prefix, klass in PREFIXES))
    tables["string_match"].write_text("# patterns\n\n" + "".join(f"{text}\n" for text, _, _ in PATTERNS))
    return tables


def test_random_frames(tmp_path: Path, make_design: DesignMaker) -> None:
    frames = random_frames(random.Random("fingerprint"))
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(PROGRAM, accelerators=ALL, tables=write_tables(tmp_path))
    runs = {target: run_design(design, [capture], tmp_path / target, target) for target in TARGETS}
    for run in runs.values():
        assert run.status == 0, run.stderr
        check(frames, run.frames["port1"])
    assert_twins(runs["soft"], runs["rtl"])


def test_real_frames(captures: Path, tmp_path: Path, make_design: DesignMaker) -> None:
    capture = captures / "firewall-2104.pcap"
    frames = [bytes(frame) for frame, _ in RawPcapReader(str(capture))]
    design = make_design(PROGRAM, accelerators=ALL, tables=write_tables(tmp_path))
    runs = {target: run_design(design, [capture], tmp_path / target, target) for target in TARGETS}
    for run in runs.values():
        assert run.status == 0, run.stderr
        check(frames, run.frames["port1"])
    assert_twins(runs["soft"], runs["rtl"])


@pytest.mark.parametrize("target", TARGETS)
def test_another_key(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    key = random.Random(5).randbytes(40)
    tables = {**write_tables(tmp_path), "flow_hash": tmp_path / "key.txt"}
    tables["flow_hash"].write_text(f"# a key\n{key[:20].hex(':')}:\n{key[20:].hex(' ')} # second half\n")
    frames = [frame for frame in random_frames(random.Random("key")) if len(frame) < 200][:60]
    capture = write_capture(tmp_path / "in.pcap", frames)
    run = run_design(make_design(PROGRAM, accelerators=ALL, tables=tables), [capture], tmp_path, target)
    assert run.status == 0, run.stderr
    check(frames, run.frames["port1"], key)


BAD_TABLES = [
    ("string_match", '"ok"\n"open\n', ":2: the closing quote is missing; write"),
    ("string_match", "GET\n", ":1: a pattern stands in quotes"),
    ("string_match", '""\n', ":1: a pattern of 0 bytes; it has 1 to 32"),
    ("string_match", f'"{"a" * 33}"\n', ":1: a pattern of 33 bytes; it has 1 to 32"),
    ("string_match", '\n"a" nocas\n', ":2: `nocas` behind the pattern"),
    ("string_match", '"\\n"\n', ":1: `\\n` means nothing"),
    ("string_match", '"\\x4"\n', ":1: \\x needs two hexadecimal digits"),
    (
        "string_match",
        '"a"\n' * 17,
        ":17: 17 patterns with 17 bytes up to here; the table holds 16 patterns with 128 bytes",
    ),
    ("string_match", f'"{"a" * 32}"\n' * 4 + '"b"', ":5: 5 patterns with 129 bytes up to here"),
    ("flow_hash", "6d:5a\n:xy\n", ":2: `x` is no hexadecimal digit"),
    ("flow_hash", "ab" * 39, ": 78 hexadecimal digits; a key has 40 bytes"),
    ("flow_hash", "ab" * 40 + "c", ": 81 hexadecimal digits"),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD_TABLES)
def test_bad_tables(name: str, text: str, message: str, tmp_path: Path) -> None:
    """An error names file and line."""
    table = tmp_path / "table.txt"
    table.write_text(text)
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)])
    done = call(
        "run", ROOT / "designs/fingerprint.toml", "--in", capture, "--out", tmp_path, "--table", f"{name}={table}"
    )
    assert done.returncode != 0 and f"{table}{message}" in done.stderr, done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_not_there(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """The page of an accelerator that the units do not have, and bytes outside packet memory: reported, and everything
    else goes on.
    """
    program = tmp_path / "wrong.c"
    program.write_text(
        "#include <checksum.h>\n#include <crc32.h>\n"
        "int main(void) {\n  pn_init();\n  for (;;) {\n    pn_desc_t desc = pn_recv();\n"
        "    const uint8_t *frame = pn_data();\n"
        "    if (frame[0] == 1) pn_crc32(frame, 60);\n"
        "    if (frame[0] == 2) pn_checksum((const void *)PN_DMEM_BASE, 60, 0);\n"
        "    pn_send(desc ^ pn_port(1));\n  }\n}\n"
    )
    for first, accelerators, fails in [(1, ["ip_prefix"], True), (0, ALL, False), (1, ALL, False), (2, ALL, True)]:
        capture = write_capture(tmp_path / "in.pcap", [bytes([first]) * 60, bytes(60)])
        run = run_design(make_design(program, accelerators=accelerators), [capture], tmp_path, target)
        assert len(run.frames["port1"]) == 2
        assert bool(run.result["faults"]) == fails
        if fails:
            names = ", ".join(accelerators)
            assert re.match(f"unit 0: accelerator error: .*units have {names}$", run.result["faults"][0])


@pytest.mark.parametrize("target", TARGETS)
def test_the_example_of_the_documentation(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """After a change of addresses both checksums equal Scapy's."""
    text = (ROOT / "docs/accelerators.md").read_text().split("```c\n")[1].split("```")[0]
    program = tmp_path / "repair.c"
    program.write_text(
        text + "int main(void) {\n  pn_init();\n  for (;;) {\n    pn_desc_t desc = pn_recv();\n"
        "    uint8_t *frame = pn_data();\n"
        "    struct ipv4_header *ip = (struct ipv4_header *)(frame + ETH_HEADER_SIZE);\n"
        "    ip->src_ip = PN_BE32(0xC0000201u);\n"
        "    repair(ip, (struct tcp_header *)(ip + 1));\n    pn_send(desc ^ pn_port(1));\n  }\n}\n"
    )
    rng = random.Random(3)
    before, after = [], []
    for n in range(60):
        payload = rng.randbytes(rng.randrange(300))
        ip, tcp = IP(src=f"10.0.0.{n}", dst="198.51.100.7", id=n), TCP(sport=n, dport=443, seq=rng.getrandbits(32))
        before.append(bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip / tcp / payload))
        ip.src = "192.0.2.1"
        after.append(bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip / tcp / payload))
    capture = write_capture(tmp_path / "in.pcap", before)
    run = run_design(make_design(program, accelerators=ALL), [capture], tmp_path, target)
    assert run.status == 0, run.stderr
    assert sorted(run.frames["port1"]) == sorted(after)


def test_the_ready_design(tmp_path: Path) -> None:
    frame = bytes(Ether() / IP(src="10.0.0.1") / TCP() / b"GET / HTTP/1.1\r\nHOST: example.org\r\n")
    capture = write_capture(tmp_path / "in.pcap", [frame])
    run = run_design(ROOT / "designs/fingerprint.toml", [capture], tmp_path, "soft")
    assert run.status == 0, run.stderr
    words = struct.unpack(f"<{WORDS}I", run.frames["port1"][0][-4 * WORDS :])
    assert words[4:6] == (0b11, 14 + 20 + 20 + 5)
