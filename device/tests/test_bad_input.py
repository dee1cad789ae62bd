# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Bad captures, manifests, lists and firmware: a message that names the place and the way out, and
nothing else lost.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from penstock import Device, regs
from system import ROOT, TARGETS, DesignMaker, call, run_design, write_capture

FORWARD = ROOT / "engines/rpu/programs/forward.c"
FRAMES = [bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xB5]) + bytes([n]) * (46 + n) for n in range(40)]


@pytest.mark.parametrize("target", TARGETS)
def test_capture_cut_short(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    capture = write_capture(tmp_path / "cut.pcap", FRAMES)
    capture.write_bytes(capture.read_bytes()[:-5])
    run = run_design(make_design(FORWARD), [capture], tmp_path / "out", target)
    assert run.status != 0
    assert "cut.pcap" in run.stderr and "cut short" in run.stderr
    assert sorted(run.frames["port1"]) == sorted(FRAMES[:-1])


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 this is no capture at all, not even nearly", b"\xd4\xc3\xb2\xa1"]
)
def test_not_a_capture(content: bytes, tmp_path: Path, make_design: DesignMaker) -> None:
    capture = tmp_path / "odd.pcap"
    capture.write_bytes(content)
    run = run_design(make_design(FORWARD), [capture], tmp_path / "out", "soft")
    assert run.status != 0 and "odd.pcap" in run.stderr


@pytest.mark.parametrize("missing", ["design", "capture", "program", "table", "folder"])
@pytest.mark.parametrize("kind", ["nothing", "wrong kind"])
def test_missing_file(missing: str, kind: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """If a file does not exist, or is a folder, the message names it and the way out."""
    place = tmp_path / "nowhere"
    if kind == "wrong kind":
        place.write_text("") if missing == "folder" else place.mkdir()
    elif missing == "folder":
        place = Path("/proc/nowhere")
    firewall = ROOT / "engines/rpu/programs/firewall.c"
    design = make_design(firewall, accelerators=["ip_prefix"], tables={"ip_prefix": ROOT / "designs/blocklist.txt"})
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    options = {"program": ["--program", place], "table": ["--table", f"ip_prefix={place}"]}.get(missing, [])
    done = call(
        *("run", place if missing == "design" else design, "--in", place if missing == "capture" else capture),
        *("--out", place if missing == "folder" else tmp_path / "out", *options),
    )
    ways_out = {
        "design": "give the path of a design, for example designs/forward.toml",
        "capture": "give a capture (pcap or pcapng)",
        "program": "give a C source or a linked .elf",
        "table": "give a block list, one prefix a line",
        "folder": "choose a place that can be written",
    }
    assert done.returncode != 0
    assert done.stderr.startswith(f"error: {place}: ") and ways_out[missing] in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--in", "a.pcap@foo"], ["`foo` is no port", "FILE@host"]),
        (["--rate", "line"], ["--rate needs --target rtl or fpga"]),
        (["--wave", "x.fst"], ["--wave needs --target rtl"]),
        (["--threads", "2"], ["--threads needs --target rtl"]),
    ],
)
def test_options_that_mean_nothing(
    options: list[str], words: list[str], tmp_path: Path, make_design: DesignMaker
) -> None:
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    done = call("run", make_design(FORWARD), "--in", capture, "--out", tmp_path / "out", *options)
    assert done.returncode != 0
    for word in words:
        assert word in done.stderr


def test_a_capture_may_have_an_at_in_its_name(tmp_path: Path, make_design: DesignMaker) -> None:
    capture = write_capture(tmp_path / "a@home.pcap", FRAMES)
    run = run_design(make_design(FORWARD), [capture], tmp_path / "out", "soft")
    assert run.status == 0 and len(run.frames["port1"]) == len(FRAMES)


def test_port_that_the_card_does_not_have(tmp_path: Path, make_design: DesignMaker) -> None:
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    run = run_design(make_design(FORWARD), [f"{capture}@7"], tmp_path / "out", "soft")
    assert run.status != 0 and "7" in run.stderr and "port" in run.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_odd_lengths(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """Runts and frames that the card cannot store are counted drops; their neighbours cross."""
    sizes = [60, 1, 13, 14, 16373, 16374, 16375, 16384, 16385, 65535, 65, 128, 40000, 59, 64]
    frames = [bytes([index]) * size for index, size in enumerate(sizes)]
    capture = write_capture(tmp_path / "odd.pcap", frames)
    run = run_design(make_design(FORWARD, policy="round-robin"), [capture], tmp_path / "out", target)
    assert run.status == 0, run.stderr
    assert sorted(run.frames["port1"]) == sorted(f for f in frames if 14 <= len(f) <= 16384)
    assert run.result["drops"] == {"runt": 2, "oversize": 3}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[card]\nname = "x"\nports = 2\nspeed = 4\n', ["design.toml:4", "speed", "ports"]),
        ('[card]\nname = "x"\nports = 9\n', ["design.toml", "ports", "4"]),
        ('[card\nname = "x"\n', ["design.toml:1"]),
        (
            '[card]\nname = "x"\nports = 1\n[[units]]\nengine = "gpu"\ncount = 1\nprogram = "a.c"\n',
            ["design.toml", "gpu", "rpu"],
        ),
        (
            '[card]\nname = "x"\nports = 1\n[[units]]\nengine = "rpu"\ncount = 33\nprogram = "a.c"\n',
            ["design.toml", "33", "32"],
        ),
    ],
)
def test_bad_manifest(text: str, words: list[str], tmp_path: Path) -> None:
    design = tmp_path / "design.toml"
    design.write_text(text)
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    run = run_design(design, [capture], tmp_path / "out", "soft")
    assert run.status != 0
    for word in words:
        assert word in run.stderr


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("10.0.0.0/33", "33"),
        ("10.0.0.300/8", "10.0.0.300"),
        ("hello", "hello"),
        ("10.0.0.1/8", "10.0.0.1/8"),
        ("10.0.0.0/8 16", "16"),
        ("2001:db8::/32", "2001:db8::"),
    ],
)
def test_bad_block_list(line: str, word: str, tmp_path: Path, make_design: DesignMaker) -> None:
    table = tmp_path / "list.txt"
    table.write_text(f"# fine\n192.0.2.0/24\n{line}\n")
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    design = make_design(
        ROOT / "engines/rpu/programs/firewall.c", accelerators=["ip_prefix"], tables={"ip_prefix": table}
    )
    run = run_design(design, [capture], tmp_path / "out", "soft")
    assert run.status != 0
    assert "list.txt:3" in run.stderr and word in run.stderr


def test_block_list_that_is_no_text(tmp_path: Path, make_design: DesignMaker) -> None:
    table = tmp_path / "list.bin"
    table.write_bytes(bytes(range(256)))
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    design = make_design(
        ROOT / "engines/rpu/programs/firewall.c", accelerators=["ip_prefix"], tables={"ip_prefix": table}
    )
    run = run_design(design, [capture], tmp_path / "out", "soft")
    assert run.status != 0 and "list.bin: not a text file" in run.stderr and run.stderr[:-1].isprintable()


def test_block_list_too_long(tmp_path: Path, make_design: DesignMaker) -> None:
    table = tmp_path / "list.txt"
    table.write_text("".join(f"10.{i >> 7 & 255}.{2 * i & 255}.0/25\n" for i in range(9000)))
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    design = make_design(
        ROOT / "engines/rpu/programs/firewall.c", accelerators=["ip_prefix"], tables={"ip_prefix": table}
    )
    run = run_design(design, [capture], tmp_path / "out", "soft")
    assert run.status != 0 and "list.txt" in run.stderr and "8192" in run.stderr.replace(",", "")


def test_firmware_that_does_not_compile(tmp_path: Path, make_design: DesignMaker) -> None:
    program = tmp_path / "broken.c"
    program.write_text("#include <penstock.h>\nint main(void) {\n  return pn_nothing();\n}\n")
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    run = run_design(make_design(program), [capture], tmp_path / "out", "soft")
    assert run.status != 0 and "broken.c:3" in run.stderr and "pn_nothing" in run.stderr


@pytest.mark.parametrize(
    ("body", "memory"),
    [("static int big[12000] = {1};", "dmem"), ("", "imem")],
)
def test_firmware_that_does_not_fit(body: str, memory: str, tmp_path: Path, make_design: DesignMaker) -> None:
    program = tmp_path / "big.c"
    code = (
        "\n".join(f'__asm__ volatile(".fill 1024, 4, 0x00000013"); /* {n} */' for n in range(20))
        if memory == "imem"
        else ""
    )
    use = "big[pn_recv() & 1023]++;" if body else "pn_recv();"
    program.write_text(
        f"#include <penstock.h>\n{body}\nint main(void) {{ pn_init(); for (;;) {{ {use}\n{code}\n }} }}\n"
    )
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    run = run_design(make_design(program), [capture], tmp_path / "out", "soft")
    assert run.status != 0 and "big.c" in run.stderr and "fit" in run.stderr and memory in run.stderr


HANG = """
#include <penstock.h>
int main(void) {
    pn_init();
    for (;;) {
        uint32_t desc = pn_recv();
        if ((desc & 0xFFFF) == 77)
            for (;;) ;
        pn_send(desc ^ (1u << 24));
    }
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_firmware_that_hangs(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """One unit hangs on a frame of 77 bytes; the others deliver everything else, and the message names the unit and the
    place.
    """
    program = tmp_path / "hang.c"
    program.write_text(HANG)
    frames = [frame for frame in FRAMES if len(frame) != 77]
    capture = write_capture(tmp_path / "a.pcap", [*frames[:10], bytes(77), *frames[10:]])
    run = run_design(make_design(program, policy="round-robin"), [capture], tmp_path / "out", target)
    assert run.status != 0
    counted = "instructions" if target == "soft" else "cycles"
    assert f"has not released a slot for 10,000 {counted}" in run.stderr
    assert "pc=0x" in run.stderr and "unit " in run.stderr
    out = run.frames["port1"]
    assert set(out) <= set(frames)
    lost = run.result["drops"]["lost"]
    assert len(out) + lost == len(frames) + 1
    # Frames that had been given to the hung unit are lost with it, no others: round robin over four units gives it one
    # in four.
    assert 1 <= lost <= 1 + len(frames) // 4


def test_a_run_ends_soon_after_the_last_movement(tmp_path: Path, make_design: DesignMaker) -> None:
    """A frame that never leaves costs a run some 100,000 cycles, however often the device looks."""
    program = tmp_path / "hang.c"
    program.write_text(HANG)
    with Device.open(make_design(program), "rtl") as card:
        card.send([bytes(60), bytes(77)])
        before = card.read(regs.CARD_CYCLES_L)
        assert card.run(check=False).drops["lost"] == 1
        assert card.read(regs.CARD_CYCLES_L) - before < 200_000


# The program's action on a frame of 77 bytes, and the message about it.
ENDS = {
    "misaligned load": ("*(volatile uint32_t *)(pn_data() + 3);", "unit 0: misaligned load, pc=0x"),
    "misaligned store": ("*(volatile uint16_t *)(pn_data() + 1) = 1;", "unit 0: misaligned store, pc=0x"),
    "illegal": ('__asm__ volatile("unimp");', "unit 0: illegal instruction, pc=0x"),
    "ebreak": ('__asm__ volatile("ebreak");', "unit 0: breakpoint (ebreak), pc=0x"),
    "ecall": ('__asm__ volatile("ecall");', "unit 0: environment call (ecall), pc=0x"),
    "jump": ('__asm__ volatile("jr %0" :: "r"(0x102));', "unit 0: jump to a misaligned address, pc=0x"),
    "return": ("return 0;", "unit 0: main returned; it must take frames in a loop without end"),
    "own handler": ("for (;;) ;", "unit 0 has not released a slot for 10,000"),
    "leak": ("continue;", "unit 0 waits for frames and has not released 1 that it holds, pc=0x"),
    "loop behind a receive": ("pn_recv(); for (;;) ;", "unit 0 has not released a slot for 10,000"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("end", ENDS)
def test_firmware_that_ends(target: str, end: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """A program that stops by itself: both targets report the reason and, where it helps, the line."""
    statement, said = ENDS[end]
    program = tmp_path / "ends.c"
    program.write_text(
        "#include <penstock.h>\nint main(void) {\n    pn_init();\n    for (;;) {\n        pn_desc_t desc = pn_recv();\n"
        f"        if (pn_len(desc) == 77) {{ {statement} }}\n        pn_send(desc ^ pn_port(1));\n    }}\n}}\n"
    )
    frames = [frame for frame in FRAMES if len(frame) != 77]
    # The last but one: the program may take one more.
    capture = write_capture(tmp_path / "a.pcap", [*frames[:10], bytes(77), frames[11]])
    run = run_design(make_design(program), [capture], tmp_path / "out", target)
    assert run.status == 1
    first = run.result["faults"][0]
    assert first.startswith(said)
    if first.endswith("(main))"):
        # A wait is where the program takes frames; all else is where it went wrong.
        assert first.endswith("(ends.c:5 (main))" if end == "leak" else "(ends.c:6 (main))")
    else:
        assert end in ("return", "own handler")
    assert run.frames["port1"][:10] == frames[:10]


SMALL_SLOTS = """
#include <penstock.h>
int main(void) {
    pn_set_interrupts(0);
    pn_init_headers(8, PN_HEADERS_BASE, PN_HEADER_BYTES);
    pn_init_slots(8, PN_PMEM_BASE + 6, 512);
    for (;;) pn_send(pn_recv() ^ pn_port(1));
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_main_that_returns_at_once(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    program = tmp_path / "none.c"
    program.write_text("int main(void) { return 0; }\n")
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    run = run_design(make_design(program), [capture], tmp_path / "out", target)
    assert run.status == 1 and "unit 0: main returned" in run.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_firmware_for_an_accelerator_that_is_not_there(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    design = make_design(ROOT / "engines/rpu/programs/firewall.c")
    run = run_design(design, [capture], tmp_path / "out", target)
    assert run.status == 1
    assert run.result["faults"][0].startswith("the program uses an accelerator and the design's units have none; add")
    assert "accelerator error" not in run.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_frames_over_the_slot(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """A slot of 512 bytes at offset 6 holds 506 bytes of frame."""
    program = tmp_path / "small.c"
    program.write_text(SMALL_SLOTS)
    frames = [
        bytes([index % 251]) * size for index, size in enumerate([505, 506, 507, 64, 1500, 300, 512, 60, 9000, 506])
    ]
    capture = write_capture(tmp_path / "a.pcap", frames)
    run = run_design(make_design(program, policy="least-loaded"), [capture], tmp_path / "out", target)
    assert run.status == 0, run.stderr
    assert sorted(run.frames["port1"]) == sorted(f for f in frames if len(f) <= 506)
    assert run.result["drops"] == {"oversize": 4}


REFUSED = """
#include <penstock.h>
int main(void) {
    pn_init();
    for (;;) {
        uint32_t desc = pn_recv();
        uint32_t len = desc & 0xFFFF;
        if (len == 61) pn_send((desc & 0x00FFFFFFu) | 0x07000000u); /* no such port */
        else if (len == 62) {
            pn_send(desc ^ (1u << 24));
            pn_drop(desc); /* released twice */
            pn_debug(62, 0); /* so that the compiler does not merge the branches, which would leave no line */
        }
        else if (len == 63) {
            *(volatile uint32_t *)0x810000 = 1;
            *(volatile uint32_t *)0x6000000 = 1; /* wild */
            pn_send(desc ^ (1u << 24));
        } else pn_send(desc ^ (1u << 24));
    }
}
void int_handler(void) { pn_ack(pn_interrupts()); } /* goes on */
"""


@pytest.mark.parametrize("target", TARGETS)
def test_bad_descriptors(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    program = tmp_path / "refused.c"
    program.write_text(REFUSED)
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    run = run_design(make_design(program), [capture], tmp_path / "out", target)
    assert run.status == 1
    line = {
        comment: 1 + REFUSED[: REFUSED.index(comment)].count("\n")
        for comment in ("wild", "released twice", "no such port")
    }
    faults = [
        f"wild address 0x6000000, pc=? (refused.c:{line['wild']} (main))",
        f"descriptor of a slot that it does not hold, pc=? (refused.c:{line['released twice']} (main)); "
        "most often the frame was sent or "
        "dropped twice, or a frame without a slot was to be sent from where no frame can be",
        f"destination that does not exist, pc=? (refused.c:{line['no such port']} (main)); "
        "this card has Ethernet ports 0..1, units 0..3, "
        "and the host; frames that programs make cannot go to units",
    ]
    # Frames that carry no flow have hash 0, which is the first unit's.
    assert [re.sub("pc=0x[0-9a-f]+", "pc=?", fault) for fault in run.result["faults"]] == [
        f"unit 0: {f}" for f in faults
    ]
    for fault in run.result["faults"]:
        assert f"error: {fault}\n" in run.stderr
    assert sorted(run.frames["port1"]) == sorted(frame for frame in FRAMES if len(frame) != 61)
    assert run.result["drops"] == {"refused": 1}


# A table that a program forgot to set: a load and a store through a null pointer, in time before the frame is sent.
NULL = """
#include <penstock.h>
struct flow { uint32_t frames, bytes; };
static struct flow *volatile table;
static volatile uint32_t wait;
int main(void) {
    pn_init();
    for (;;) {
        pn_desc_t desc = pn_recv();
        struct flow *flow = table;
        if (pn_len(desc) == 61) pn_debug(flow->bytes, 0); /* load */
        if (pn_len(desc) == 62) flow[31].frames = 1; /* store */
        for (wait = 0; wait < 10; wait++);
        pn_send(desc ^ pn_port(1));
    }
}
"""
OWN_HANDLER = """
void int_handler(void) { pn_ack(pn_interrupts()); }
"""
NULL_CASES = [(61, 0x4, "load"), (62, 0xF8, "store")]


def null_fault(address: int, comment: str) -> str:
    line = 1 + NULL[: NULL.index(comment + " */")].count("\n")
    return f"unit 0: wild address {address:#x}, pc=? (null.c:{line} (main))"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("length", "address", "comment"), NULL_CASES)
def test_null_pointers_end_the_program(
    length: int, address: int, comment: str, target: str, tmp_path: Path, make_design: DesignMaker
) -> None:
    """The unit stops with the frame in hand, the run names the line, and the other unit takes all later frames."""
    program = tmp_path / "null.c"
    program.write_text(NULL)
    frames = [bytes([n]) * 100 for n in range(6)]
    frames.insert(2, bytes(length))
    later = [bytes([n]) * 200 for n in range(200)]
    design = make_design(program, units=2, policy="round-robin")
    runs = []
    with Device.open(design, target=target) as device:
        for part in (frames, later):
            device.send(part)
            runs.append(device.run(check=False))
    # Frames 0, 2, 4 and 6 went to one unit: on soft to the first one, on rtl to the one whose turn it was. Frame 2
    # ended its program.
    faults = [re.sub("pc=0x[0-9a-f]+", "pc=?", fault).replace("unit 1", "unit 0") for fault in runs[0].faults]
    lost = "3 frames are lost: they entered and neither left nor were dropped"
    assert sorted(faults) == [lost, null_fault(address, comment) + "; the program ended there"]
    assert sorted(frame.data for frame in runs[0].frames) == sorted([frames[n] for n in (0, 1, 3, 5)])
    assert sorted(frame.data for frame in runs[1].frames) == sorted(later) and not runs[1].faults
    done = run_design(design, [write_capture(tmp_path / "a.pcap", frames)], tmp_path / "out", target)
    assert done.status == 1 and all(f"error: {fault}\n" in done.stderr for fault in runs[0].faults)


# A handler that a program forgot to set, called for the second frame.
NULL_CALL = """
#include <penstock.h>
static void (*volatile handler)(pn_desc_t);
int main(void) {
    pn_init();
    for (;;) {
        pn_desc_t desc = pn_recv();
        if (pn_len(desc) == 61) handler(desc); /* call */
        pn_send(desc ^ pn_port(1));
    }
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_calls_through_null_pointers_end_the_program(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """The unit stops with the frame in hand, and the run names the line of the call."""
    program = tmp_path / "null.c"
    program.write_text(NULL_CALL)
    capture = write_capture(tmp_path / "a.pcap", [bytes(60), bytes(61)])
    run = run_design(make_design(program), [capture], tmp_path / "out", target)
    line = 1 + NULL_CALL[: NULL_CALL.index("/* call */")].count("\n")
    ended = [fault for fault in run.result["faults"] if "jump through a null pointer" in fault]
    assert len(ended) == 1 and f"(null.c:{line} (main))" in ended[0], run.result["faults"]
    assert run.status == 1 and run.frames["port1"] == [bytes(60)] and run.result["drops"] == {"lost": 1}


@pytest.mark.parametrize("target", TARGETS)
def test_calls_through_null_pointers_of_programs_with_a_handler(
    target: str, tmp_path: Path, make_design: DesignMaker
) -> None:
    """A program whose own handler returns goes on behind the call."""
    program = tmp_path / "null.c"
    program.write_text(NULL_CALL + "void fault_handler(uint32_t cause, uint32_t pc) { pn_debug(pc, cause); }")
    frames = [bytes(60), bytes(61), bytes(62)]
    capture = write_capture(tmp_path / "a.pcap", frames)
    run = run_design(make_design(program), [capture], tmp_path / "out", target)
    assert run.status == 0 and run.frames["port1"] == frames


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("length", "address", "comment"), NULL_CASES)
def test_null_pointers_of_programs_with_a_handler(
    length: int, address: int, comment: str, target: str, tmp_path: Path, make_design: DesignMaker
) -> None:
    """A program whose own handler acknowledges the error goes on, and the run reports the line."""
    program = tmp_path / "null.c"
    program.write_text(NULL + OWN_HANDLER)
    frames = [frame for frame in FRAMES if len(frame) not in (61, 62) or len(frame) == length]
    capture = write_capture(tmp_path / "a.pcap", frames)
    run = run_design(make_design(program), [capture], tmp_path / "out", target)
    (fault,) = run.result["faults"]
    assert re.sub("pc=0x[0-9a-f]+", "pc=?", fault) == null_fault(address, comment)
    assert run.status == 1 and run.frames["port1"] == frames


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("slots", ["16, PN_PMEM_BASE, 65536", "4, PN_PMEM_BASE + 10, 262144"])
def test_slots_longer_than_the_field(slots: str, target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    program = tmp_path / "long.c"
    program.write_text(
        "#include <penstock.h>\nint main(void) {\n    pn_set_interrupts(0);\n"
        f"    pn_init_slots({slots});\n    for (;;) pn_send(pn_recv() ^ pn_port(1));\n}}\n"
    )
    frames = [bytes([n % 251]) * (60 + n * 37 % 1455) for n in range(400)]
    capture = write_capture(tmp_path / "a.pcap", frames)
    run = run_design(make_design(program, policy="round-robin"), [capture], tmp_path / "out", target)
    assert run.status == 0, run.stderr
    assert sorted(run.frames["port1"]) == sorted(frames)


@pytest.mark.parametrize("target", TARGETS)
def test_slots_that_the_card_refuses(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """A program that computes wrong slots: the message reports it, with the line."""
    program = tmp_path / "slots.c"
    program.write_text(
        "#include <penstock.h>\nint main(void) {\n    uint32_t bytes = pn_unit() + 65536;\n"
        "    pn_init_slots(32, PN_PMEM_BASE + PN_PACKET_OFFSET, bytes);\n"
        "    for (;;) pn_send(pn_recv() ^ pn_port(1));\n}\n"
    )
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    run = run_design(make_design(program), [capture], tmp_path / "out", target)
    assert run.status == 1
    assert "unit 0: bad slot set-up, pc=0x" in run.stderr and "(pn_init_slots)" in run.stderr
    assert "1 to 32 of them within packet memory" in run.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_units_that_erred_alike(target: str, tmp_path: Path, make_design: DesignMaker) -> None:
    """The same fault of all units at the same place is reported once."""
    capture = write_capture(tmp_path / "a.pcap", FRAMES)
    design = make_design(ROOT / "engines/rpu/programs/bad/nowhere.c", policy="round-robin")
    run = run_design(design, [capture], tmp_path / "out", target)
    (fault,) = run.result["faults"]
    assert fault.startswith("units 0..3: destination that does not exist, pc=0x") and "(nowhere.c:7 (main))" in fault


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("bench no-such-bench", ["no-such-bench", "rpu-forward"]),
        ("bench rpu-forward --size 61", ["--size", "60,64,65"]),
        ("bench rpu-forward --units 3", ["--units", "16"]),
        ("bench rpu-forward --units 16,3", ["--units", "16"]),
        ("bench rpu-firewall --size 60", ["--size", "64"]),
        ("compile gpu x.c", ["gpu", "rpu"]),
        ("compile rpu nowhere.c", ["nowhere.c", "give a C source"]),
        ("compile rpu engines/rpu/programs/classify.c", ["inspect", "--design"]),
        ("compile xdp engines/xdp/programs/tx.c --design designs/chain.toml", ["--design", "xdp"]),
        ("gen -o nowhere/x.pcap", ["nowhere/x.pcap", "choose a place"]),
        ("gen -o x.pcap --hostile nowhere.txt", ["nowhere.txt", "give a block list"]),
        ("gen -o x.pcap --rate nan", ["--rate", "above 0"]),
        ("gen -o x.pcap --hostile designs/blocklist.txt --share 2", ["--share", "0..1"]),
        ("gen -o x.pcap --size 9", ["42", "imix"]),
        ("gen -o x.pcap --count 0", ["--count", "0"]),
        ("synth nowhere", ["nowhere", "dispatcher"]),
    ],
)
def test_errors_of_the_command_line(args: str, words: list[str]) -> None:
    done = call(*args.split())
    assert done.returncode != 0
    for word in words:
        assert word in done.stdout + done.stderr
    assert "goal" not in done.stdout, "no table"


def test_only_of_what_there_is_not() -> None:
    # No test has this word in its name, this one neither.
    done = call("test", "--only", "z" * 9)
    assert done.returncode != 0 and "clippy" in done.stdout and "0 passed" in done.stdout


def test_frames_that_no_card_takes_are_warned_of(tmp_path: Path) -> None:
    for size, warns in (("60,16385", True), ("16384", False)):
        done = call("gen", "-o", tmp_path / "x.pcap", "--count", "5", "--size", size)
        assert done.returncode == 0 and ("warning: a card drops" in done.stderr) == warns


def test_pcap_that_is_nanosecond_and_big_endian(tmp_path: Path, make_design: DesignMaker) -> None:
    data = struct.pack(">IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for frame in FRAMES:
        data += struct.pack(">IIII", 0, 0, len(frame), len(frame)) + frame
    capture = tmp_path / "big.pcap"
    capture.write_bytes(data)
    run = run_design(make_design(FORWARD), [capture], tmp_path / "out", "soft")
    assert run.status == 0 and sorted(run.frames["port1"]) == sorted(FRAMES)
