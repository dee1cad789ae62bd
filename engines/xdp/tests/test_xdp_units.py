# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""XDP programs on cards of xdp units: native code and RTL agree with plain Python, and with each other."""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from system import ROOT, TARGETS, DesignMaker, assert_twins, run_design, write_capture

PROGRAMS = ROOT / "engines" / "xdp" / "programs"
FIRMWARE = Path(__file__).parent / "firmware"
LONGEST = 3520  # what a slot of an xdp unit holds

# The fate of a frame from port 0: its destination (a port, "host"; None is dropped), and its bytes.
Fate = tuple[str | None, bytes]


def swapped(frame: bytes) -> bytes:
    return frame[6:12] + frame[:6] + frame[12:]


def has_protocol(frame: bytes) -> bool:
    """Whether the frame has the headers that it announces."""
    at = 12
    kind = frame[at : at + 2]
    for _ in range(2):
        if kind in (b"\x81\x00", b"\x88\xa8"):
            at += 4
            if len(frame) < at + 2:
                return False
            kind = frame[at : at + 2]
    needed = {b"\x08\x00": 20, b"\x86\xdd": 40}.get(kind, 0)
    return len(frame) >= at + 2 + needed


FATES: dict[str, Callable[[bytes], Fate]] = {
    "drop": lambda frame: (None, b""),
    "tx": lambda frame: ("port0", swapped(frame)),
    "xdp1": lambda frame: (None, b""),
    "xdp2": lambda frame: ("port0", swapped(frame)) if has_protocol(frame) else (None, b""),
    "redirect": lambda frame: ("port0", frame),
}


def random_frames(seed: int, count: int) -> list[bytes]:
    """Ethernet with up to three tags, IPv4, IPv6 or neither, cut off at any place."""
    rng = random.Random(seed)
    frames = []
    for _ in range(count):
        tags = rng.choice([0, 0, 0, 1, 2, 3])
        header = rng.randbytes(12)
        for _ in range(tags):
            header += rng.choice([b"\x81\x00", b"\x88\xa8"]) + rng.randbytes(2)
        header += rng.choice([b"\x08\x00", b"\x08\x00", b"\x86\xdd", b"\x08\x06", rng.randbytes(2)])
        body = bytes([rng.choice([0x45, 0x60, 0x46])]) + rng.randbytes(
            rng.choice([0, 10, 18, 19, 38, 39, 60, 200, 1400])
        )
        frame = header + body
        frames.append(frame[: rng.randrange(14, len(frame) + 1)] if rng.random() < 0.2 else frame)
    for size in (14, 63, 64, 65, 127, 128, 129, LONGEST - 1, LONGEST):
        frames.append(rng.randbytes(size))
    return frames


@pytest.mark.parametrize("program", FATES)
def test_programs(program: str, make_design: DesignMaker, tmp_path: Path) -> None:
    frames = random_frames(len(program), 400)
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(PROGRAMS / f"{program}.c", units=2, engine="xdp")
    fates = [FATES[program](frame) for frame in frames]
    runs = {target: run_design(design, [capture], tmp_path / target, target) for target in TARGETS}
    for target, run in runs.items():
        assert run.status == 0, run.stderr
        for place in ("port0", "port1", "host"):
            expected = Counter(data for to, data in fates if to == place)
            assert Counter(run.frames[place]) == expected, f"{target}: {place}"
        drops = Counter("blocked" for to, _ in fates if to is None)
        assert run.result["drops"] == dict(drops)
    assert_twins(runs["soft"], runs["rtl"])


def test_each_processor_counts_for_itself(make_design: DesignMaker, tmp_path: Path) -> None:
    """Frames of a flow reach one context of one unit, in order, so the counts are the same on both targets, and equal
    Python's.
    """
    rng = random.Random(3)
    flows = []
    for _ in range(40):
        addresses = bytes([192, 0, 2, rng.randrange(256), 198, 51, 100, rng.randrange(256)])
        flows.append(addresses + rng.randbytes(4))
    frames = []
    for _ in range(1500):
        flow = rng.choice(flows)
        # Bytes 12 to 27 change on the way, so the addresses after them identify the flow: an IPv4 header begins at 14.
        header = bytes([rng.randrange(4)]) + rng.randbytes(11) + b"\x08\x00\x45\x00" + rng.randbytes(4) + bytes(2)
        header += bytes([64, 17]) + rng.randbytes(2)
        frames.append(header + flow + rng.randbytes(rng.randrange(20, 120)))
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(FIRMWARE / "numbered.c", units=2, engine="xdp")
    runs = {target: run_design(design, [capture], tmp_path / target, target) for target in TARGETS}
    for run in runs.values():
        assert run.status == 0, run.stderr
        assert len(run.frames["port0"]) == len(frames)
        counts: Counter[tuple[int, int]] = Counter()
        for data in run.frames["port0"]:
            before, third, rest = struct.unpack("<QII", data[12:28])
            key = data[0]
            assert (third, rest) == (before // (key % 7 + 1), before % (key % 5 + 2))
            counts[key, before] += 1
        # For each key, every processor that saw it has counted from 0 on without a gap.
        for key in range(4):
            numbers = [counts[key, n] for n in range(len(frames))]
            assert numbers == sorted(numbers, reverse=True) and sum(numbers) == sum(f[0] == key for f in frames)
    assert Counter(runs["soft"].frames["port0"]) == Counter(runs["rtl"].frames["port0"])


def test_reaches_its_stack_where_it_computes(make_design: DesignMaker, tmp_path: Path) -> None:
    rng = random.Random(5)
    frames = [rng.randbytes(rng.randrange(14, 100)) for _ in range(300)]
    sent, dropped = [], 0
    for frame in frames:
        table = bytearray([0, 1, 2, 0, 4, 5, 0, 0, 8, 9, 10, 0, 12, 0, 0, 15])
        table[frame[1] & 15] = frame[2]
        if table[frame[0] & 15]:
            sent.append(frame[:4] + table[frame[3] & 12 :][:4] + frame[8:])
        else:
            dropped += 1
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(FIRMWARE / "stacked.c", units=2, engine="xdp")
    runs = {target: run_design(design, [capture], tmp_path / target, target) for target in TARGETS}
    for target, run in runs.items():
        assert run.status == 0, run.stderr
        assert Counter(run.frames["port0"]) == Counter(sent), target
        assert run.result["drops"] == {"blocked": dropped}
    assert_twins(runs["soft"], runs["rtl"])


@pytest.mark.parametrize("target", TARGETS)
def test_random_numbers(target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    """No bit is 1 more often than chance allows, and none correlates with the same bit of the next number, or with its
    neighbours there.
    """
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)] * 400)
    run = run_design(make_design(FIRMWARE / "random.c", units=2, engine="xdp"), [capture], tmp_path / "out", target)
    assert run.status == 0, run.stderr
    numbers = [struct.unpack("<4I", frame[:16]) for frame in run.frames["port0"]]
    assert len({number for four in numbers for number in four}) > 1590
    # Each of n bits is 1 half of the time: n / 2 ± 6 standard deviations.
    close = 6 * (1600**0.5) / 2
    for bit in range(32):
        assert abs(sum(number >> bit & 1 for four in numbers for number in four) - 800) < close, bit
    for turn in range(-8, 9):
        same = sum(
            32 - (first ^ (second << turn if turn >= 0 else second >> -turn) & 0xFFFFFFFF).bit_count()
            for four in numbers
            for first, second in pairwise(four)
        )
        bits = 1200 * 32
        # Bits that are shifted in are 0, which are as often the same.
        assert abs(same - bits / 2) < 6 * bits**0.5 / 2, turn


@pytest.mark.parametrize("target", TARGETS)
def test_what_does_not_fit_is_counted(target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    frames = [bytes(size) for size in (60, LONGEST, LONGEST + 1, 9000, 13, 14)]
    capture = write_capture(tmp_path / "in.pcap", frames)
    run = run_design(make_design(PROGRAMS / "tx.c", units=2, engine="xdp"), [capture], tmp_path / "out", target)
    assert sorted(map(len, run.frames["port0"])) == [14, 60, LONGEST]
    assert run.result["drops"] == {"oversize": 2, "runt": 1}


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        ('#include <bpf.h>\nSEC("xdp") int p(struct xdp_md *ctx) { return 1 }', "soft", "expected ';'"),
        ('#include <bpf.h>\nSEC("xdp") int p(struct xdp_md *c) { return *(char *)(long)c->data; }', "soft", "packet"),
        (
            '#include <bpf.h>\nSEC("xdp") int a(void *c) { return 1; }\nSEC("xdp") int b(void *c) { return 1; }',
            "rtl",
            "entry",
        ),
    ],
)
def test_bad_programs(source: str, target: str, told: str, make_design: DesignMaker, tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text(source)
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)])
    run = run_design(make_design(tmp_path / "bad.c", units=1, engine="xdp"), [capture], tmp_path / "out", target)
    assert run.status != 0 and told in run.stderr and "bad.c" in run.stderr, run.stderr


BEYOND = """#include <bpf.h>
struct { __uint(type, BPF_MAP_TYPE_DEVMAP); __uint(key_size, 4); __uint(value_size, 4); __uint(max_entries, 4); } \
ports SEC(".maps");
SEC("xdp") int beyond(struct xdp_md *ctx) { return %s; }
char _license[] SEC("license") = "GPL";
"""


INSIDE = """#include <bpf.h>
#define ENTRIES %d
#define INNER(kind) struct { __uint(type, BPF_MAP_TYPE_##kind); __uint(key_size, 4); __uint(value_size, 4); \
__uint(max_entries, ENTRIES); }
INNER(%s) one SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(key_size, 4);
  __uint(max_entries, 4);
  __array(values, INNER(%s));
} outer SEC(".maps") = {.values = {(void *)&one}};
SEC("xdp") int beyond(struct xdp_md *ctx) {
  __u32 key = 0;
  void *inner = bpf_map_lookup_elem(&outer, &key);
  return inner && bpf_map_lookup_elem(inner, &key) ? XDP_PASS : XDP_DROP;
}
char _license[] SEC("license") = "GPL";
"""


# A value to be copied, and little stack left.
WIDE = """#include <bpf.h>
struct wide { __u64 words[32]; };
struct { __uint(type, BPF_MAP_TYPE_HASH); __type(key, __u32); __type(value, struct wide); __uint(max_entries, 4); } \
table SEC(".maps");
static const volatile struct wide fresh = {{1}};
SEC("xdp") int beyond(struct xdp_md *ctx) {
  volatile __u64 own[40] = {};
  own[ctx->rx_queue_index & 31] = 1;
  __u32 key = own[3];
  return bpf_map_update_elem(&table, &key, (const void *)&fresh, BPF_ANY) ? XDP_DROP : XDP_TX;
}
"""


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            WIDE,
            "program.c:9: instruction 58 of beyond() in section `xdp`) with a key or value in a map's memory, a "
            "copy of which needs "
            "256 bytes of the stack: the program itself may use 256",
        ),
        (
            BEYOND % '({ static const char s[] = "%s"; bpf_trace_printk(s, 3, s); })',
            "it calls bpf_trace_printk() with %s",
        ),
        (
            BEYOND % "bpf_redirect_map(&ports, 0, 8)",
            "it calls bpf_redirect_map() for copies to several ports (BPF_F_BROADCAST)",
        ),
        (
            INSIDE % (4, "PERCPU_ARRAY", "PERCPU_ARRAY"),
            "it calls bpf_map_lookup_elem() with a map in outer, of the type percpu_array",
        ),
        (
            INSIDE % (100_000, "HASH", "HASH"),
            "it uses the map outer: one, which is to be in it: it takes 21223 rows of each of the card's banks, "
            "16383 are left; "
            "give it fewer entries ([units.xdp.entries]), or the card more memory for maps (xdp.map_mib in "
            "[card], up to 16)",
        ),
    ],
    ids=["stack", "print", "copies", "own", "room"],
)
def test_what_rtl_has_not_is_said(source: str, told: str, make_design: DesignMaker, tmp_path: Path) -> None:
    program = tmp_path / "program.c"
    program.write_text(source)
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)])
    run = run_design(make_design(program, units=1, engine="xdp"), [capture], tmp_path / "out", "rtl")
    assert run.status != 0 and f"{told}; as it is, only `soft` runs it" in run.stderr, run.stderr


SLOW = """
#include <packet.h>
SEC("xdp") int slow(struct xdp_md *ctx) {
    unsigned char *data = frame_start(ctx);
    if (data + 1214 > (unsigned char *)frame_end(ctx)) return XDP_DROP;
    unsigned sum = 0;
    for (int i = 14; i < 1214; i++) sum += data[i] * (i & 7);
    data[0] = sum;
    data[1] = sum >> 8;
    data[2] = sum >> 16;
    return XDP_TX;
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_slow_program_loses_no_frames(target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    """All contexts of a core work on frames of thousands of rows each: none leaves for longer than a card that stands
    is waited for.
    """
    program = tmp_path / "slow.c"
    program.write_text(SLOW)
    rng = random.Random(25)
    frames = [rng.randbytes(1214) for _ in range(32)]
    capture = write_capture(tmp_path / "a.pcap", frames)
    run = run_design(make_design(program, units=1, engine="xdp"), [capture], tmp_path / "out", target)
    assert run.status == 0, run.stderr

    def checked(frame: bytes) -> bytes:
        return sum(frame[i] * (i & 7) for i in range(14, 1214)).to_bytes(3, "little") + frame[3:]

    assert sorted(run.frames["port0"]) == sorted(map(checked, frames))
