# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random firmware on random frames: both targets agree with a plain Python evaluation of the same program."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import pytest
from system import ROOT, TARGETS, DesignMaker, assert_twins, run_design, write_capture

MASK = 0xFFFFFFFF
PROGRAMS = int(os.environ.get("PENSTOCK_TWIN_PROGRAMS", "6"))


def signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


class Expression:
    """A random 32-bit expression over words of the frame: its text in C and its value in Python."""

    def __init__(self, rng: random.Random, depth: int) -> None:
        self.children: list[Expression] = []
        if depth == 0 or rng.random() < 0.15:
            if rng.random() < 0.7:
                self.kind, self.value = "word", rng.choice([0, 2, 4, 6, 8, 10, 12, 14, 18, 22, 26, 30, 34, 38])
            elif rng.random() < 0.2:
                self.kind, self.value = "len", 0
            else:
                self.kind, self.value = (
                    "const",
                    rng.choice([0, 1, 2, 31, 0xFF, 0x8000, 0x80000000, MASK, rng.getrandbits(32)]),
                )
            return
        binary = ["+", "-", "*", "&", "|", "^", "/", "%", "s/", "s%", "<<", ">>", "s>>", "<", "s<", "=="]
        unary = ["~", "bswap", "clz", "ctz", "popcount", "s8", "s16"]
        self.kind = rng.choice(binary + unary + ["rot", "mulh", "min", "max"])
        self.value = rng.randrange(32)
        arity = 1 if self.kind in unary or self.kind == "rot" else 2
        self.children = [Expression(rng, depth - 1) for _ in range(arity)]

    def c(self) -> str:
        args = [child.c() for child in self.children]
        match self.kind:
            case "word":
                return f"word({self.value})"
            case "len":
                return "len"
            case "const":
                return f"{self.value}u"
            case "~":
                return f"(~{args[0]})"
            case "bswap":
                return f"__builtin_bswap32({args[0]})"
            case "clz" | "ctz" | "popcount":
                return f"{self.kind}({args[0]})"
            case "s8" | "s16":
                return f"((u32)(i{self.kind[1:]})({args[0]}))"
            case "rot":
                return f"rotate({args[0]}, {self.value})"
            case "mulh" | "min" | "max":
                return f"{self.kind}({args[0]}, {args[1]})"
            case "/" | "%" | "s/" | "s%":
                name = {"/": "udiv", "%": "urem", "s/": "sdiv", "s%": "srem"}[self.kind]
                return f"{name}({args[0]}, {args[1]})"
            case "<<" | ">>":
                return f"({args[0]} {self.kind} ({args[1]} & 31))"
            case "s>>":
                return f"((u32)((i32){args[0]} >> ({args[1]} & 31)))"
            case "s<":
                return f"((u32)((i32){args[0]} < (i32){args[1]}))"
            case "<" | "==":
                return f"((u32)({args[0]} {self.kind} {args[1]}))"
        return f"({args[0]} {self.kind} {args[1]})"

    def eval(self, frame: bytes) -> int:
        if self.kind == "word":
            return struct.unpack_from("<I", frame, self.value)[0]
        if self.kind == "len":
            return len(frame)
        if self.kind == "const":
            return self.value
        args = [child.eval(frame) for child in self.children]
        a, b = args[0], args[-1]
        sa, sb = signed(a), signed(b)
        match self.kind:
            case "+":
                r = a + b
            case "-":
                r = a - b
            case "*":
                r = a * b
            case "&":
                r = a & b
            case "|":
                r = a | b
            case "^":
                r = a ^ b
            case "/":
                r = a // b if b else MASK
            case "%":
                r = a % b if b else a
            case "s/":
                r = MASK if not b else (abs(sa) // abs(sb)) * (1 if (sa < 0) == (sb < 0) else -1)
            case "s%":
                r = a if not b else (abs(sa) % abs(sb)) * (-1 if sa < 0 else 1)
            case "<<":
                r = a << (b & 31)
            case ">>":
                r = a >> (b & 31)
            case "s>>":
                r = sa >> (b & 31)
            case "<":
                r = a < b
            case "s<":
                r = sa < sb
            case "==":
                r = a == b
            case "~":
                r = ~a
            case "bswap":
                r = int.from_bytes(a.to_bytes(4, "little"), "big")
            case "clz":
                r = 32 - a.bit_length()
            case "ctz":
                r = (a & -a).bit_length() - 1 if a else 32
            case "popcount":
                r = a.bit_count()
            case "s8":
                r = (a & 0xFF) - (0x100 if a & 0x80 else 0)
            case "s16":
                r = (a & 0xFFFF) - (0x10000 if a & 0x8000 else 0)
            case "rot":
                r = (a << self.value) | (a >> (32 - self.value)) if self.value else a
            case "mulh":
                r = (sa * sb) >> 32
            case "min":
                r = min(sa, sb)
            case "max":
                r = max(a, b)
            case _:
                raise AssertionError(self.kind)
        return int(r) & MASK


# Division by zero has a value in the RISC-V instruction set but none in C, so the program asks for the instruction by
# name.
PROGRAM = """
#include <penstock.h>
typedef uint32_t u32; typedef int32_t i32; typedef int16_t i16; typedef int8_t i8;
#define OP(name, op) static inline u32 name(u32 a, u32 b) {{ u32 r; \
__asm__ volatile(op " %0, %1, %2" : "=r"(r) : "r"(a), "r"(b)); return r; }}
OP(udiv, "divu") OP(urem, "remu") OP(sdiv, "div") OP(srem, "rem") OP(mulh, "mulh") OP(min, "min") OP(max, "maxu")
static inline u32 clz(u32 a) {{ u32 r; __asm__ volatile("clz %0, %1" : "=r"(r) : "r"(a)); return r; }}
static inline u32 ctz(u32 a) {{ u32 r; __asm__ volatile("ctz %0, %1" : "=r"(r) : "r"(a)); return r; }}
static inline u32 popcount(u32 a) {{ u32 r; __asm__ volatile("cpop %0, %1" : "=r"(r) : "r"(a)); return r; }}
static inline u32 rotate(u32 a, unsigned n) {{ return n ? (a << n) | (a >> (32 - n)) : a; }}
static inline u32 halves(const volatile uint16_t *p) {{ return p[0] | (u32)p[1] << 16; }}
#define word(offset) halves((const volatile uint16_t *)(hdr + (offset)))

int main(void) {{
    pn_init();
    for (;;) {{
        u32 desc = pn_recv();
        const volatile uint8_t *hdr = {header}();
        volatile uint8_t *data = pn_data();
        u32 len = desc & 0xFFFF;
        u32 mark = {mark};
        u32 verdict = {verdict};
        u32 extra = {extra};
        for (int i = 0; i < 4; i++) data[len - 4 + i] = (uint8_t)(mark >> (8 * i));
        if (extra % 4 == 0) pn_generate(extra & 4 ? PN_PORT_HOST : extra >> 3 & 1, \
(const void *)data, len - (extra >> 8) % (len - 41));
        if (verdict % 3 == 0) {{
            while (pn_generating()) {{ }}
            pn_drop(desc);
            continue;
        }}
        pn_send((desc & 0x00FFFFFFu) | (verdict % 3 == 1 ? 0u : verdict & 4 ? PN_PORT_HOST << 24 : 1u << 24));
    }}
}}
"""


def random_frames(rng: random.Random, count: int) -> list[bytes]:
    frames = []
    flows = [(rng.getrandbits(32), rng.getrandbits(32), rng.getrandbits(32)) for _ in range(20)]
    for index in range(count):
        source, destination, ports = rng.choice(flows)
        length = rng.choice(
            [60, 61, 63, 64, 65, 118, 119, 127, 128, 129, 191, 192, 193, 1500, 1514, 4096, rng.randrange(60, 2000)]
        )
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, length - 14, index & 0xFFFF, 0, 64, 17, 0, source, destination)
        frame = bytes.fromhex("02000000000102000000000208 00".replace(" ", "")) + ip + struct.pack(">I", ports)
        frames.append((frame + rng.randbytes(length))[:length])
    return frames


def expected(
    frames: list[bytes], mark: Expression, verdict: Expression, extra: Expression
) -> tuple[dict[str, list[bytes]], int, int]:
    """The frames that leave, the number of dropped frames, and the number of made ones."""
    out: dict[str, list[bytes]] = {"port0": [], "port1": [], "host": []}
    blocked = made = 0
    for frame in frames:
        v, e = verdict.eval(frame), extra.eval(frame)
        changed = frame[:-4] + struct.pack("<I", mark.eval(frame))
        if e % 4 == 0:
            out["host" if e & 4 else f"port{e >> 3 & 1}"].append(changed[: len(frame) - (e >> 8) % (len(frame) - 41)])
            made += 1
        if v % 3 == 0:
            blocked += 1
        else:
            out["port0" if v % 3 == 1 else "host" if v & 4 else "port1"].append(changed)
    return out, blocked, made


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_program(seed: int, tmp_path: Path, make_design: DesignMaker) -> None:
    rng = random.Random(seed)
    mark, verdict, extra = Expression(rng, 5), Expression(rng, 4), Expression(rng, 4)
    header = rng.choice(["pn_hdr", "pn_window"])
    program = tmp_path / "random.c"
    program.write_text(PROGRAM.format(mark=mark.c(), verdict=verdict.c(), extra=extra.c(), header=header))
    frames = random_frames(rng, 300)
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(program)
    want, blocked, made = expected(frames, mark, verdict, extra)
    runs = {}
    for target in ("soft", "rtl"):
        run = run_design(design, [capture], tmp_path / target, target)
        assert run.status == 0, run.stderr
        for port, list_ in want.items():
            assert sorted(run.frames.get(port, [])) == sorted(list_), f"{target}: {port}"
        assert run.result["drops"].get("blocked", 0) == blocked
        assert run.result["generated"] == made
        runs[target] = run
    assert_twins(runs["soft"], runs["rtl"])


@pytest.mark.parametrize("gbps", [100, 25])
def test_rate(gbps: int, tmp_path: Path, make_design: DesignMaker) -> None:
    """At N Gb/s a frame still crosses the wire at line rate: the gaps grow, not the latency."""
    frames = [bytes(1500) for _ in range(1000)]
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(ROOT / "engines/rpu/programs/forward.c", policy="round-robin")
    run = run_design(design, [capture], tmp_path / "rtl", "rtl", "--rate", str(gbps))
    assert run.status == 0 and len(run.frames["port1"]) == len(frames)
    assert run.result["gbps"] == pytest.approx(gbps, rel=0.02)
    # 1,500 bytes in and out at 100 Gb/s take 240 ns, and stretched to 25 Gb/s they would take 600.
    assert 240 < run.result["latency_ns"]["p50"] < 1000


# Frames climb: each unit passes its frames to a higher unit, which the frame's number selects; the highest sends them
# out.
CLIMB = """
#include <penstock.h>
int main(void) {
  pn_init();
  uint32_t above = 3u - pn_unit();
  for (;;) {
    pn_desc_t desc = pn_recv();
    const uint8_t *number = pn_hdr() + 6;
    if (above == 0) pn_send(pn_to(desc, number[7] ^ 1u));
    else pn_send(pn_to(desc, PN_PORT_UNIT(pn_unit() + 1u + number[3] % above)));
  }
}
"""
TO_NEIGHBOUR = (ROOT / "engines/rpu/programs/loopback.c").read_text()


@pytest.mark.parametrize("text", [TO_NEIGHBOUR, CLIMB], ids=["to_neighbour", "climb"])
def test_loopback_under_full_load(text: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """Units send to units all that the ports give them, at line rate on both ports: no frame stands still, is lost or
    doubled.
    """
    frames = {
        port: [struct.pack(">6sIIHH", bytes(6), n, port, 0x0800, 0) + bytes(44) for n in range(2000)] for port in (0, 1)
    }
    ins = [f"{write_capture(tmp_path / f'in{port}.pcap', list_)}@{port}" for port, list_ in frames.items()]
    program = tmp_path / "program.c"
    program.write_text(text)
    design = make_design(program, policy="round-robin")
    runs = {target: run_design(design, ins, tmp_path / target, target) for target in TARGETS}
    for run in runs.values():
        assert run.status == 0, run.stderr
        overflow = run.result["drops"].get("overflow", 0)
        left = sum(run.result["frames_out"].values())
        assert left + overflow == 4000
        assert run.result["counters"]["loopback"]["rx_frames"] >= left * (text is TO_NEIGHBOUR)
        for port in (0, 1):
            out = [frame[1:] for frame in run.frames[f"port{port}"]]  # the first byte is the first unit's
            assert len(set(out)) == len(out) and set(out) <= {frame[1:] for frame in frames[port ^ 1]}
        assert left == 4000 if run is runs["soft"] else left > 500
