# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The output of `penstock compile xdp` for programs: rows that a capture takes, features that cards in RTL lack, the
longest way.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from penstock import Device, regs
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from system import ROOT, DesignMaker, call, run_design, write_capture

PROGRAMS = ROOT / "engines" / "xdp" / "programs"


def compiled(
    source: Path, folder: Path, *options: str | Path
) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    """The report, and the output."""
    report = folder / "report.json"
    done = call("compile", "xdp", source, "--json", report, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(report.read_text()), done


def program(folder: Path, text: str) -> Path:
    source = folder / "program.c"
    source.write_text(f'#include <packet.h>\n{text}\nchar _license[] SEC("license") = "GPL";\n')
    return source


def udp(number: int) -> bytes:
    """A frame of its own flow, with its number as length."""
    header = bytes(range(12)) + b"\x08\x00\x45\x00" + (60 - 14).to_bytes(2, "big") + bytes(4) + b"\x40\x11" + bytes(2)
    return (header + bytes([10, 0, 0, number]) + b"\xc0\x00\x02\x01" + b"\x10\x01\x00\x35" + bytes(200))[: 60 + number]


@pytest.mark.parametrize("name", ["xdp1", "xdp2", "simple_firewall"])
def test_a_capture_takes_as_many_rows_as_on_the_card(name: str, make_design: DesignMaker, tmp_path: Path) -> None:
    frames = [udp(number) for number in range(100)]
    source, capture = PROGRAMS / f"{name}.c", write_capture(tmp_path / "in.pcap", frames)
    report, done = compiled(source, tmp_path, "--capture", capture)
    (about,) = report["programs"]
    with Device.open(make_design(source, units=1, engine="xdp"), "rtl") as card:
        before = card.units[0].read(regs.XDP_HOST_ROWS)
        card.send(frames)
        card.run()
        rows = card.units[0].read(regs.XDP_HOST_ROWS) - before
    assert about["frames"] == 100 and about["executed_rows"] == rows / 100
    assert f"  {rows} rows carried out for 100 frames\n" in done.stdout


def test_frames_of_a_capture_find_what_those_before_have_left(tmp_path: Path) -> None:
    """The first three take some rows, all others take others."""
    source = program(
        tmp_path,
        """__u64 seen;
        SEC("xdp") int counted(struct xdp_md *ctx) {
          if (seen >= 3) return XDP_DROP;
          seen += 1;
          __u64 sum = seen;
        #pragma clang loop unroll(disable)
          for (int i = 0; i < 20; i++) sum = sum * 3 + (sum >> 7);
          return sum & 1 ? XDP_PASS : XDP_TX;
        }""",
    )
    totals = []
    for count in range(1, 6):
        capture = write_capture(tmp_path / "in.pcap", [bytes(60)] * count)
        report, _ = compiled(source, tmp_path, "--capture", capture)
        totals.append(report["programs"][0]["executed_rows"] * count)
    steps = [round(after - before) for before, after in zip([0.0, *totals], totals, strict=False)]
    assert steps[0] == steps[1] == steps[2] > 20 > steps[3] == steps[4] > 0, steps


def test_a_map_gets_a_size(make_design: DesignMaker, tmp_path: Path) -> None:
    """As from bpf_map__set_max_entries(): the object has no size."""
    source = program(
        tmp_path,
        """struct {
          __uint(type, BPF_MAP_TYPE_ARRAY);
          __type(key, __u32);
          __type(value, __u64);
        } seen SEC(".maps");
        SEC("xdp") int count(struct xdp_md *ctx) {
          __u32 key = ctx->rx_queue_index;
          __u64 *value = bpf_map_lookup_elem(&seen, &key);
          if (!value) return XDP_DROP;
          *value += 1;
          return XDP_PASS;
        }""",
    )
    done = call("compile", "xdp", source)
    assert done.returncode == 1 and "map seen: it has no entries; give it max_entries" in done.stderr
    report, _ = compiled(source, tmp_path, "--entries", "seen=5")
    assert [entry["entries"] for entry in report["maps"]] == [5]
    done = call("compile", "xdp", source, "--entries", "sen=5")
    assert done.returncode == 1 and "it has no map sen; it has seen" in done.stderr
    for words, told in (
        (["seen=0"], "a map has 1 to 4294967295 entries"),
        (["seen=-1"], "a map has 1 to 4294967295 entries"),
        (["seen=4294967296"], "a map has 1 to 4294967295 entries"),
        (["=3"], "write MAP=N"),
        (["seen=few"], "write MAP=N"),
        (["seen=3", "seen=3"], "seen is there twice"),
    ):
        done = call("compile", "xdp", source, *(word for given in words for word in ("--entries", given)))
        assert done.returncode != 0 and told in done.stderr, done.stderr
    design = make_design(source, units=1, engine="xdp")
    design.write_text(design.read_text() + "[units.xdp.entries]\nseen = 3\n")
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)] * 4)
    run = run_design(design, [capture], tmp_path / "out", "soft", "--dump", f"map={tmp_path / 'after'}")
    assert run.status == 0, run.stderr
    entries = json.loads((tmp_path / "after/seen.json").read_text())
    assert len(entries) == 3 and sum(entry["value"] for entry in entries) == 4


def test_tcp_has_the_bits_of_linux(make_design: DesignMaker, tmp_path: Path) -> None:
    """Each bit of the header by its name in <linux/tcp.h>, against Scapy's."""
    names = ["fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "doff", "res1"]
    stores = "".join(f"to[{at}] = tcp->{name};" for at, name in enumerate(names))
    source = program(
        tmp_path,
        """SEC("xdp") int bits(struct xdp_md *ctx) {
          struct tcphdr *tcp = frame_start(ctx) + 34;
          __u8 *to = (void *)(tcp + 1);
          if ((void *)(to + 11) > frame_end(ctx)) return XDP_DROP;
          to[10] = !!(tcp->flags & bpf_htons(2));"""
        + stores
        + "return XDP_TX; }",
    )
    sent = [(1 << bit, 5, 0) for bit in range(8)] + [(0xA5, 10, 3), (0x5A, 15, 7), (0, 6, 4)]
    with Device.open(make_design(source, units=1, engine="xdp")) as card:
        for flags, words, reserved in sent:
            tcp = TCP(flags=flags, dataofs=words, reserved=reserved)
            card.send(bytes(Ether() / IP() / tcp / Raw(bytes(40))))
        left = [frame.data[54:65] for frame in card.run().frames]
    expected = [[flags >> bit & 1 for bit in range(8)] + [words, 2 * reserved] for flags, words, reserved in sent]
    assert sorted(left) == sorted(bytes([*fields, fields[1]]) for fields in expected)


def test_what_is_said_of_each_program(tmp_path: Path) -> None:
    """The paper's IPC: instructions of the program to rows (hXDP, Table 3)."""
    source = program(tmp_path, 'SEC("xdp") int pass(struct xdp_md *ctx) { return XDP_PASS; }')
    report, _ = compiled(source, tmp_path, "--lanes", "2")
    (about,) = report["programs"]
    assert about["name"] == "pass" and about["slots"] == 2 and about["rows"] == 1 and about["ipc"] == 2.0
    assert about["helpers"] == about["maps"] == about["does_not_fit"] == [] and about["executed_rows"] is None
    # Features that exist only in the card are named, without a figure.
    printing = ROOT / "engines" / "xdp" / "tests" / "firmware" / "printed.c"
    capture = write_capture(tmp_path / "in.pcap", [bytes(100)])
    report, done = compiled(printing, tmp_path, "--capture", capture)
    assert "printed: a frame sends a record or a line to the host: " in done.stderr
    assert report["programs"][0]["executed_rows"] is None
    empty = write_capture(tmp_path / "in.pcap", [])
    assert compiled(source, tmp_path, "--capture", empty)[0]["programs"][0]["executed_rows"] is None


MAP = (
    "{ __uint(type, BPF_MAP_TYPE_%s); __uint(key_size, 4); __uint(value_size, 4); __uint(max_entries, %d); "
    '} map SEC(".maps");\n'
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "struct " + MAP % ("PERCPU_ARRAY", 16384) + 'SEC("xdp") int p(struct xdp_md *ctx) { __u32 key = 1; '
            "return bpf_map_lookup_elem(&map, &key) ? 1 : 2; }",
            # Eight bytes each, of sixteen contexts.
            f"it uses the map map: it takes {16384 * 8 * 16} bytes for the contexts of a unit, 65536 are left",
        ),
        (
            "struct " + MAP % ("HASH", 1_000_000) + 'SEC("xdp") int p(struct xdp_md *ctx) { __u32 key = 1; '
            "return bpf_map_lookup_elem(&map, &key) ? 1 : 2; }",
            "it uses the map map: it takes ",
        ),
        (
            "struct "
            + MAP % ("DEVMAP", 4)
            + 'SEC("xdp") int p(struct xdp_md *ctx) { return bpf_redirect_map(&map, 0, 8); }',
            "it calls bpf_redirect_map() for copies to several ports (BPF_F_BROADCAST)",
        ),
    ],
    ids=["percpu", "large", "copies"],
)
def test_what_does_not_fit_is_said_before_a_card_is_loaded(text: str, told: str, tmp_path: Path) -> None:
    report, done = compiled(program(tmp_path, text), tmp_path, "--explain")
    (what,) = report["programs"][0]["does_not_fit"]
    assert told in what and f"  it does not fit a card in RTL: {what}\n" in done.stdout
    assert ("map map" in told) == (report["maps"][0]["does_not_fit"] is not None)
    report, done = compiled(PROGRAMS / "xdp2.c", tmp_path, "--explain")
    assert report["programs"][0]["does_not_fit"] == [] and "  it fits a card in RTL\n" in done.stdout
    assert "2048 B of memory for each context\n" in done.stdout


@pytest.mark.parametrize("rounds", [1_000, 40_000])
def test_the_longest_way(rounds: int, tmp_path: Path) -> None:
    """A loop that always has all its rounds is one way, and the only one that is checked."""
    loop = """SEC("xdp") int loop(struct xdp_md *ctx) {
          __u64 sum = ctx->ingress_ifindex;
          %s
        #pragma clang loop unroll(disable)
          for (int i = 0; i < %d; i++) sum = sum * 3 + (sum >> 7);
          return sum & 1 ? XDP_PASS : XDP_TX;
        }"""
    straight, done = compiled(program(tmp_path, loop % ("", rounds)), tmp_path, "--explain")
    (about,) = straight["programs"]
    # After the loop a way leads to each of the verdicts, or none does.
    assert rounds * 4 <= about["longest"] <= about["visited"] <= about["longest"] + 4
    stopped = "  in RTL a frame that takes more than 65536 rows is stopped and counted as aborted"
    assert (stopped in done.stdout) == (rounds > 16_000)
    # The search also follows a shorter way beside it, which changes nothing.
    branched, _ = compiled(program(tmp_path, loop % ("if (sum == 7) return XDP_DROP;", rounds)), tmp_path)
    assert about["longest"] <= branched["programs"][0]["longest"] <= about["longest"] + 4
