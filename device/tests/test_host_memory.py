# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Frames through the host's memory and back: both targets deliver each frame unchanged, and count the same traffic."""

from __future__ import annotations

import random
from pathlib import Path

from system import ROOT, DesignMaker, assert_twins, run_design, write_capture
from test_twins import random_frames

PROGRAM = ROOT / "engines" / "rpu" / "programs" / "host_memory.c"
TARGETS = ("soft", "rtl")

# Sends impossible requests: past the end of host memory, outside packet memory, without bytes, without a tag. Then it
# goes on as a forwarder.
WILD = """
#include <penstock.h>
int main(void) {
    pn_init();
    for (;;) {
        pn_desc_t desc = pn_recv();
        uint32_t slot = pn_slot(desc), bytes = pn_len(desc);
        uint8_t *data = pn_data();
        pn_host_write(pn_now(0), 0, data, bytes);                 /* no tag */
        pn_host_write(pn_now(33), 0, data, bytes);                /* no tag */
        pn_host_write(slot, 0, data, pn_now(0));                  /* nothing */
        pn_host_write(slot, 0, data + 1, bytes);                  /* where no frame may begin */
        pn_host_read(slot, 0, (void *)PN_DMEM_BASE, bytes);       /* not packet memory */
        pn_host_read(slot, 0, (void *)0x10FFFC0, 128);            /* past its end */
        pn_ack(PN_INT_HOST_MEMORY);
        uint32_t none = pn_host_flags() | (pn_interrupts() & PN_INT_HOST_MEMORY);
        pn_host_write(slot, 0x3FFFFFFEull, data, bytes);          /* two bytes fit */
        pn_host_wait(slot);
        pn_host_read(slot, 0x3FFFFFFCull, data + 64, 16);         /* four bytes are there */
        pn_host_wait(slot);
        pn_host_write(slot, 0x8000000000000000ull, data, bytes);  /* nothing is there */
        pn_host_wait(slot);
        data[14] = (uint8_t)none;
        data[15] = (uint8_t)(pn_interrupts() >> 8);
        data[16] = (uint8_t)pn_host_flags();
        pn_send(desc ^ pn_port(1));
    }
}
"""

# Rosebud's names: a frame is written, its ends are exchanged on the way back, and flags are handled as a word.
COMPAT = """
#include <core.h>
int main(void) {
    struct Desc packet;
    unsigned long long address = 0x12345678;
    init_slots(8, 0x00000A, 16384);
    write_dram_flags(0xFFFFFFFF);
    dram_flag_reset(32);
    unsigned int start = dram_flags();
    write_dram_flags(0);
    set_masks(0x30);
    for (;;) {
        if (!in_pkt_ready()) continue;
        read_in_pkt(&packet);
        struct Desc part = packet;
        part.tag = 32;
        dram_write(&address, &part);
        while (!dram_flags()) {}
        unsigned int flags = dram_flags();
        dram_flag_reset(32);
        unsigned long long from = address + 4;
        part.len = 8;
        part.tag = 1;
        part.data = (unsigned char *)(PMEM_BASE + 0x80000 + 10);
        dram_read_req(&from, &part);
        while (!(dram_flags() & 1)) {}
        write_dram_flags(0);
        for (int i = 0; i < 8; i++) packet.data[i] = part.data[7 - i];
        packet.data[8] = (unsigned char)(flags >> 24);
        packet.data[9] = (unsigned char)(start >> 24);
        address += 12345;
        packet.port ^= 1;
        pkt_send(&packet);
    }
}
"""


def test_frames_go_through_host_memory(tmp_path: Path, make_design: DesignMaker) -> None:
    rng = random.Random(5)
    frames = random_frames(rng, 400) + [rng.randbytes(n) for n in (14, 15, 9000, 16384, 16383, 63, 64, 65, 14)]
    rng.shuffle(frames)
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(PROGRAM, units=4)
    runs = {}
    for target in TARGETS:
        run = run_design(design, [capture], tmp_path / target, target)
        assert run.status == 0, run.stderr
        assert sorted(run.frames["port1"]) == sorted(frames)
        total = sum(len(frame) for frame in frames)
        assert run.result["counters"]["host_memory"] == {
            "reads": len(frames),
            "read_bytes": total,
            "writes": len(frames),
            "write_bytes": total,
            "errors": 0,
            "denied": 0,
        }
        units = run.result["counters"]["units"]
        assert sum(unit["tx_frames"] for unit in units) == len(frames)
        runs[target] = run
    assert_twins(runs["soft"], runs["rtl"])


def test_what_host_memory_refuses(tmp_path: Path, make_design: DesignMaker) -> None:
    rng = random.Random(6)
    frames = [rng.randbytes(n) for n in (100, 128, 200)]
    capture = write_capture(tmp_path / "in.pcap", frames)
    program = tmp_path / "wild.c"
    program.write_text(WILD)
    design = make_design(program, units=1, policy="round-robin")
    want = []
    for frame in frames:
        data = bytearray(frame)
        data[64:80] = bytes(2) + data[:2] + bytes(12)
        data[14:17] = bytes(3)  # no request left a mark, the kit acknowledged the errors, no flag is left
        want.append(bytes(data))
    runs = {}
    for target in TARGETS:
        run = run_design(design, [capture], tmp_path / target, target)
        assert run.frames["port1"] == want, target
        assert run.result["counters"]["host_memory"]["errors"] == 9
        assert run.result["counters"]["host_memory"]["denied"] == 0
        assert run.result["counters"]["units"][0]["errors"] == 0x2200
        assert any("host memory" in fault for fault in run.result["faults"])
        runs[target] = run
    assert_twins(runs["soft"], runs["rtl"])


def test_under_the_names_of_rosebud(tmp_path: Path, make_design: DesignMaker) -> None:
    rng = random.Random(7)
    frames = [rng.randbytes(rng.randrange(60, 1515)) for _ in range(30)]
    capture = write_capture(tmp_path / "in.pcap", frames)
    program = tmp_path / "compat.c"
    program.write_text(COMPAT)
    design = make_design(program, units=1, policy="round-robin")
    want = [frame[4:12][::-1] + bytes([0x80, 0x7F]) + frame[10:] for frame in frames]
    for target in TARGETS:
        run = run_design(design, [capture], tmp_path / target, target)
        assert run.status == 0, run.stderr
        assert run.frames["port1"] == want, target
