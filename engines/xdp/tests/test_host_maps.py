# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Maps that the host fills and reads: the programs' actions and the final maps equal plain
Python's, on both targets.
"""

from __future__ import annotations

import ipaddress
import json
import random
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from netns import LEFT, Net, Up, finish
from system import ROOT, TARGETS, DesignMaker, call, run_design, write_capture
from test_xdp import CAPTURE, SEND

PROGRAM = Path(__file__).parent / "firmware" / "maps.c"
CONSTANT = 0xC0FFEE
NO_ROUTE = 0xFFFFFFFF
FLOWS = [(bytes([10, n % 3, n, 1]), 2000 + n) for n in range(7)]


# Sends the frame argv[3] to the interface argv[1] argv[2] times, 10,000 a second.
PACED = """
    import socket, sys, time
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((sys.argv[1], 0))
    print("ready", flush=True)
    begin = time.monotonic()
    for number in range(int(sys.argv[2])):
        while time.monotonic() < begin + number / 10_000:
            time.sleep(0.0005)
        sock.send(bytes.fromhex(sys.argv[3]))
    print(number + 1)
"""


def frame_of(first: int, address: bytes, port: int, size: int) -> bytes:
    return bytes([first]) + bytes(13) + address + struct.pack("!H", port) + bytes(size - 20)


def frames_of(seed: int, count: int) -> list[bytes]:
    rng = random.Random(seed)
    return [frame_of(rng.randrange(256), *rng.choice(FLOWS), rng.randrange(60, 200)) for _ in range(count)]


def flow_of(frame: bytes) -> tuple[int, int, int]:
    """Address, port and kind, as a little-endian machine reads them."""
    return (*struct.unpack("<IH", frame[14:20]), frame[0] & 3)


def longest(routes: dict[str, int], address: bytes) -> int:
    networks = [(ipaddress.ip_network(text), mark) for text, mark in routes.items()]
    inside = [(network.prefixlen, mark) for network, mark in networks if ipaddress.ip_address(address) in network]
    return max(inside)[1] if inside else NO_ROUTE


def by_key(folder: Path, name: str) -> dict[str, Any]:
    """The entries of a file, keys as JSON."""
    entries = json.loads((folder / f"{name}.json").read_text())
    found = {json.dumps(entry["key"]): entry["value"] for entry in entries}
    assert len(found) == len(entries)
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_maps_are_filled_before_and_written_behind(target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    rng = random.Random(11)
    frames = frames_of(11, 300)
    routes = {"10.0.0.0/8": 1, "10.1.0.0/16": 2, "10.2.2.0/24": 3}
    limits = {n: (rng.randrange(1 << 32), [rng.randrange(-32768, 32768) for _ in range(3)]) for n in (0, 3, 7)}
    table = [rng.randrange(256) for _ in range(300)]
    known = struct.unpack("<I", FLOWS[0][0])[0]

    def route(text: str) -> dict[str, object]:
        network = ipaddress.IPv4Network(text)
        return {"length": network.prefixlen, "address": list(network.network_address.packed)}

    files = {
        "routes": [{"key": route(text), "value": mark} for text, mark in routes.items()],
        # Keys of an object are text, and the members of a union are written one by one.
        "limits": {str(n): {"rate": rate, "slack": slack} for n, (rate, slack) in limits.items()},
        "flows": [
            [{"address": "10.0.0.1", "port": known_port(), "kind": 2, "always_7": 7}, {"frames": 100, "bytes": 7}],
            ["0x0102030405060708", "ff " * 16],
        ],
        ".data": [[0, {"total": 5, "table": table}]],
        ".bss": {"0x0": {"step": 40_000}},
    }
    options: list[str | Path] = []
    for name, content in files.items():
        path = tmp_path / f"{name.strip('.')}.json"
        path.write_text(json.dumps(content))
        options += ["--table", f"{name}={path}"]
    dump = tmp_path / "dump"
    capture = write_capture(tmp_path / "in.pcap", frames)
    design = make_design(PROGRAM, units=2, engine="xdp", policy="round-robin")
    run = run_design(design, [capture], tmp_path / "out", target, *options, "--dump", f"map={dump}")
    assert run.status == 0, run.stderr

    expected = []
    for frame in frames:
        rate = limits.get(frame[0] % 8, (0, []))[0]
        marks = (longest(routes, frame[14:18]), rate, CONSTANT, 40_000 + table[frame[0]])
        expected.append(frame[:20] + struct.pack("<4I", *marks) + frame[36:])
    assert Counter(run.frames["port0"]) == Counter(expected)

    kept = ["counts", "flows", "limits", "recent", "routes", "unused"]
    names = sorted(f"{name}.json" for name in ["globals.bss", "globals.data", "globals.rodata", *kept])
    assert sorted(path.name for path in dump.glob("*.json")) == names
    assert (dump / "maps.txt").read_text().splitlines() == names
    seen = {flow: [0, 0, f"{flow[2]:02x}020304"] for flow in map(flow_of, frames)}
    if (known, known_port(), 2) in seen:
        seen[known, known_port(), 2] = [100, 7, "00000000"]
    for frame in frames:
        seen[flow_of(frame)][0] += 1
        seen[flow_of(frame)][1] += len(frame)
    flows = by_key(dump, "flows")
    odd = flows.pop(json.dumps({"address": 0x04030201, "port": 0x0605, "kind": 3, "rest": 1, "always_7": 8}))
    assert odd == {"frames": (1 << 64) - 1, "bytes": (1 << 32) - 1, "tag": [255] * 4}
    assert flows == {
        json.dumps({"address": address, "port": port, "kind": kind, "rest": 0, "always_7": 7}): {
            "frames": count,
            "bytes": size,
            "tag": list(bytes.fromhex(tag)),
        }
        for (address, port, kind), (count, size, tag) in seen.items()
    }
    assert by_key(dump, "recent") == {str(address): port for address, port, _ in seen}
    assert by_key(dump, "routes") == {json.dumps(route(text)): mark for text, mark in routes.items()}
    of_limits = by_key(dump, "limits")
    assert list(of_limits) == [str(n) for n in range(8)]
    for n in range(8):
        rate, slack = limits.get(n, (0, [0, 0, 0]))
        assert of_limits[str(n)] == {"rate|parts": "0x" + struct.pack("<I", rate).hex(), "slack": slack}
    counts = by_key(dump, "counts")
    assert {len(values) for values in counts.values()} == {32}
    assert {int(kind): sum(values) for kind, values in counts.items()} == Counter(frame[0] & 3 for frame in frames)
    assert by_key(dump, "globals.data") == {"0": {"total": 5 + len(frames), "table": table}}
    assert by_key(dump, "globals.bss") == {"0": {"step": 40_000}}
    assert by_key(dump, "globals.rodata") == {"0": {"mark": CONSTANT}}
    # Written data reads back the same.
    again = tmp_path / "again"
    options = [word for name in ("flows", "routes", "counts") for word in ("--table", f"{name}={dump / name}.json")]
    none = write_capture(tmp_path / "none.pcap", [bytes(13)])
    assert run_design(design, [none], tmp_path / "out", target, *options, "--dump", f"map={again}").status == 0
    for name in ("flows", "routes", "counts"):
        assert by_key(again, name) == by_key(dump, name)


def test_a_dump_shows_what_is_there_now(tmp_path: Path, make_design: DesignMaker) -> None:
    """Files of an earlier program's maps are removed, other files stay."""
    folder = tmp_path / "maps"
    folder.mkdir()
    (folder / "mine.json").write_text("mine")
    none = write_capture(tmp_path / "none.pcap", [bytes(13)])
    shown = []
    for program in (PROGRAM, ROOT / "engines/xdp/programs/redirect_map.c"):
        design = make_design(program, units=1, engine="xdp")
        assert run_design(design, [none], tmp_path / "out", "soft", "--dump", f"map={folder}").status == 0
        shown.append({path.name for path in folder.iterdir()} - {"maps.txt", "mine.json"})
        # A modified list cannot lead out of the folder.
        (tmp_path / "out.json").touch()
        with (folder / "maps.txt").open("a") as listed:
            listed.write("../out.json\nmine.txt\n.\n\n")
    first, second = shown
    assert "flows.json" in first and "ports.json" in second and not first & second
    assert (folder / "mine.json").read_text() == "mine" and (tmp_path / "out.json").exists()


def known_port() -> int:
    """The first flow's port, as a little-endian machine reads it."""
    return int.from_bytes(FLOWS[0][1].to_bytes(2, "big"), "little")


@pytest.mark.parametrize(
    ("words", "content", "told"),
    [
        ("flow", "[]", "does not have; it has .rodata, .data, "),
        ("flows", "[[1, 2], [3]]", "[3] is no entry; a list has entries [KEY, VALUE]"),
        ("flows", "7", "neither a list nor an object"),
        ("flows", "[[1, 2]", "EOF while parsing a list"),
        ("flows", '[["0x0102030405060708", {}], [1, {}]]', "entry 2: key of flows: a number is given for struct flow"),
        ("flows", '[[{"adress": 1}, {}]]', "struct flow has no field `adress`; it has address, port, kind"),
        ("flows", '[[{"kind": 4}, {}]]', "kind: 4 does not fit into __u8, which takes 0 to 3"),
        ("flows", '[[{}, {"tag": [1, 2, 3]}]]', "tag: __u8[4] has 4 elements, and these are 3"),
        ("limits", '{"8": {}}', "limits has 8 entries, the last is number 7"),
        ("limits", '{"1": 1e9}', "is no whole number"),
        (".rodata", '{"0": {}}', ".rodata holds constants"),
        (
            "counts",
            "[[0, [1, 2]]]",
            (
                "a value of counts is a list of 16, one for each processor (unit · 16 + context), or a single one for "
                "all; this list has 2"
            ),
        ),
        ("counts", '[[0, [1, "x"]]]', "a list is given for __u64"),
        ("recent", '{"10.0.0.256": 1}', "`10.0.0.256` is no __be32"),
    ],
)
def test_what_is_wrong_with_entries(
    words: str, content: str, told: str, make_design: DesignMaker, tmp_path: Path
) -> None:
    path = tmp_path / "entries.json"
    path.write_text(content)
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)])
    design = make_design(PROGRAM, units=1, engine="xdp")
    run = run_design(design, [capture], tmp_path / "out", "soft", "--table", f"{words}={path}")
    assert run.status == 1 and run.stderr.startswith("error: ") and told in run.stderr, run.stderr


def test_a_map_needs_a_file(make_design: DesignMaker, tmp_path: Path) -> None:
    design = make_design(PROGRAM, units=1, engine="xdp")
    for words, told in (("flows", "is no table: write TABLE=FILE"), ("flows=none.json", "none.json: No such file")):
        done = call("run", design, "--in", "x.pcap", "--out", tmp_path / "out", "--table", words)
        assert done.returncode != 0 and (told in done.stderr or "x.pcap" in done.stderr), done.stderr


def test_maps_of_a_card_that_is_up(make_design: DesignMaker, net: Net, tmp_path: Path) -> None:
    """Maps are listed, read, filled and emptied while the card works; wrong input gets an error and changes nothing."""
    up = Up(net, tmp_path, make_design(PROGRAM, units=2, engine="xdp"), driver="packet")

    def sent(count: int) -> None:
        receiver = net.python(LEFT, CAPTURE, "l0", "1")
        address, port = FLOWS[0]
        finish(net.python(LEFT, SEND, "l0", str(count), frame_of(2, address, port, 60).hex()))
        frames = [bytes.fromhex(line) for line in finish(receiver).split()]
        assert len(frames) == count
        assert {frame[20:24] for frame in frames} == {struct.pack("<I", route)}

    route = NO_ROUTE
    sent(3)
    listed = up.ctl("map", "list")
    assert "flows    hash          struct flow (8 B)    struct seen (16 B)" in listed and ", constants" in listed
    about = json.loads(up.ctl("map", "list", "--json"))["maps"]
    assert {entry["name"]: entry["kind"] for entry in about}["counts"] == "percpu_array"
    key = f'{{"address": "10.0.0.1", "port": {known_port()}, "kind": 2, "always_7": 7}}'
    address = int.from_bytes(FLOWS[0][0], "little")
    shown = f'{{"address":{address},"port":{known_port()},"kind":2,"rest":0,"always_7":7}}'
    assert up.ctl("map", "get", "flows", key) == f'{shown}: {{"frames":3,"bytes":180,"tag":[2,2,3,4]}}\n'
    assert up.ctl("map", "dump", "flows") == up.ctl("map", "get", "flows", key)
    assert up.ctl("map", "get", "counts", "2").startswith("2: cpu ")
    assert up.ctl("map", "dump", "counts").splitlines()[0] == "0: all 0"
    assert '"total":1003' in up.ctl("map", "get", ".data", "0")

    up.ctl("map", "set", "routes", '{"length": 8, "address": [10, 0, 0, 0]}', "77")
    route = 77
    sent(2)
    up.ctl("map", "set", "routes", "18 00 00 00 0a 00 00 00", "0x4e", "noexist")
    route = 78
    sent(2)
    up.ctl("map", "delete", "routes", "0x080000000a000000")
    assert up.ctl("map", "dump", "routes") == '{"length":24,"address":[10,0,0,0]}: 78\n'
    entries = json.loads(up.ctl("map", "dump", "routes", "--json"))["entries"]
    assert entries == [{"key": {"length": 24, "address": [10, 0, 0, 0]}, "value": 78}]
    up.ctl("map", "set", "limits", "1", '{"rate": 5, "slack": [-1, 0, 1]}', "exist")
    assert up.ctl("map", "get", "limits", "1") == '1: {"rate|parts":"0x05000000","slack":[-1,0,1]}\n'
    up.ctl("map", "set", "unused", "1", "02:03:04:05:06:07")
    assert up.ctl("map", "get", "unused", "0x1").count('"0x020304050607"') == 32

    before = up.ctl("map", "dump", "routes") + up.ctl("map", "dump", "limits") + up.ctl("map", "dump", ".rodata")
    for words, told in (
        (("get", "flow", "1"), "there is no map `flow`; there are: .rodata, .data, "),
        (("get", "flows", "1"), "`1` is no struct flow: write its fields"),
        (("get", "flows", "{"), "is no JSON"),
        (("get", "flows", "0x01020304050607"), "struct flow has 8 bytes, and these are 7"),
        (("get", "limits", "8"), "limits has no such entry"),
        (("get", "limits", "-1"), "-1 does not fit into __u32, which takes 0 to 4294967295"),
        (("get", "limits", "[" * 200 + "]" * 200), "recursion limit"),
        (("set", "limits", "8", "{}"), "limits has 8 entries, the last is number 7"),
        (("set", "limits", "1", "{}", "noexist"), "limits has such an entry already"),
        (("set", "limits", "1", '{"rate": null}'), "null is no key and no value"),
        (("set", "limits", "1", "{}", "never"), "invalid value 'never'"),
        (("set", "routes", '{"length": 33}', "1"), "routes, an lpm_trie, refuses that"),
        (("set", "routes", '{"length": 9}', "1", "exist"), "routes has no such entry"),
        (("set", ".rodata", "0", '{"mark": 1}'), "holds constants"),
        (("delete", "limits", "1"), "limits, an array, refuses that"),
        (("delete", "routes", '{"length": 9}'), "routes has no such entry"),
    ):
        done = up.call("ctl", "map", *words)
        assert done.returncode != 0 and told in done.stderr, f"{words}: {done.stderr}"
    assert before == up.ctl("map", "dump", "routes") + up.ctl("map", "dump", "limits") + up.ctl(
        "map", "dump", ".rodata"
    )
    sent(2)
    assert up.stop()["faults"] == []


BIG = """
#include <bpf.h>
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __type(key, __u32); __type(value, __u64); __uint(max_entries, 400000); } big
    SEC(".maps");
SEC("xdp") int back(struct xdp_md *context) {
  __u32 zero = 0;
  __u64 *count = bpf_map_lookup_elem(&big, &zero);
  if (count) __sync_fetch_and_add(count, 1);
  return XDP_TX;
}
"""


def test_a_large_map_is_dumped_while_frames_pass(make_design: DesignMaker, net: Net, tmp_path: Path) -> None:
    """Its slices take little time and memory of the card, and no frame is lost."""
    program = tmp_path / "big.c"
    program.write_text(BIG)
    up = Up(net, tmp_path, make_design(program, units=1, engine="xdp"), driver="packet")

    def memory() -> int:
        status = Path(f"/proc/{up.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) // 1024

    before = memory()
    receiver = net.python(LEFT, CAPTURE, "l0", "3")
    sender = net.python(LEFT, PACED, "l0", "20000", frame_of(2, *FLOWS[0], 60).hex())
    text = up.ctl("map", "dump", "big")
    assert [int(line.split(":")[0]) for line in text.splitlines()] == list(range(400_000))
    sent = int(finish(sender))
    assert len(finish(receiver).split()) == sent == 20_000
    assert up.ctl("map", "get", "big", "0") == f"0: {sent}\n"
    entries = json.loads(up.ctl("map", "dump", "big", "--json"))["entries"]
    assert (len(entries), entries[0]["value"], entries[-1]["key"]) == (400_000, sent, 399_999)
    assert memory() - before < 40, f"{before} MiB, then {memory()}"


def test_a_large_map_is_filled_while_frames_pass(make_design: DesignMaker, net: Net, tmp_path: Path) -> None:
    """The pieces take little memory of the card, and no frame is lost. If the last piece is wrong, none is set."""
    program = tmp_path / "big.c"
    program.write_text(BIG)
    up = Up(net, tmp_path, make_design(program, units=1, engine="xdp"), driver="packet")

    def memory() -> int:
        status = Path(f"/proc/{up.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) // 1024

    entries: list[list[int | str]] = [[key, 3 * key + 1] for key in range(1, 400_000)]
    (tmp_path / "big.json").write_text(json.dumps(entries))
    (tmp_path / "wrong.json").write_text(json.dumps([*entries, [400_000, "many"]]))
    told = up.refusal("map", "fill", "big", tmp_path / "wrong.json")
    assert "wrong.json: entry 400000: " in told and "many" in told, told
    assert up.ctl("map", "get", "big", "1") == "1: 0\n"
    before = memory()
    receiver = net.python(LEFT, CAPTURE, "l0", "3")
    sender = net.python(LEFT, PACED, "l0", "20000", frame_of(2, *FLOWS[0], 60).hex())
    answer = json.loads(up.ctl("--json", "map", "fill", "big", tmp_path / "big.json"))
    assert answer == {"changed": len(entries)}
    sent = int(finish(sender))
    assert len(finish(receiver).split()) == sent == 20_000
    # Values are pages of the card's memory, 3 MiB of them.
    assert memory() - before < 20, f"{before} MiB, then {memory()}"
    found = json.loads(up.ctl("map", "dump", "big", "--json"))["entries"]
    assert [[entry["key"], entry["value"]] for entry in found] == [[0, sent], *entries]


def test_a_program_is_swapped_between_two_frames(make_design: DesignMaker, net: Net, tmp_path: Path) -> None:
    """Frames flow meanwhile, and none is missing, neither at the exits nor in the counts of maps."""
    design = make_design(PROGRAM, units=2, engine="xdp", policy="round-robin")
    up = Up(net, tmp_path, design, driver="packet")
    listed = up.ctl("prog", "list")
    assert listed.startswith(f"units 0..1 (xdp): maps of {PROGRAM}; tables: .rodata, .data, ") and "flows" in listed
    text = PROGRAM.read_text()
    other = tmp_path / "other.c"
    other.write_text(text.replace("int maps(", "int other(").replace("XDP_TX", "XDP_PASS + 1"))
    receiver = net.python(LEFT, CAPTURE, "l0", "2")
    address, port = FLOWS[0]
    sender = net.python(LEFT, SEND, "l0", "4000", frame_of(2, address, port, 60).hex())
    for program in (other, PROGRAM, other, other):
        said = up.ctl("prog", "swap", program)
        assert said.startswith("tables kept: .data, ") and said.endswith("; begun anew: none\n"), said
    sent = int(finish(sender))
    assert len(finish(receiver).split()) == sent == 4000
    assert f"other of {other}" in up.ctl("prog", "list")
    entry = json.loads(up.ctl("--json", "map", "dump", "flows"))["entries"]
    assert [one["value"]["frames"] for one in entry] == [sent]
    assert f'"total":{1000 + sent}' in up.ctl("map", "get", ".data", "0")

    other.write_text(text.replace("max_entries, 32)", "max_entries, 33)"))
    assert up.ctl("prog", "swap").endswith("; begun anew: flows\n")
    assert up.ctl("map", "dump", "flows") == ""

    # The loaded program waits, with its text at load time.
    other.write_text(text.replace("max_entries, 32)", "max_entries, 34)"))
    loaded = up.ctl("prog", "load", other)
    assert loaded.startswith(f"waits for `prog swap`: units 0..1 (xdp): maps of {other}; tables: .rodata, ")
    other.write_text("int broken")
    assert up.ctl("prog", "list").endswith(loaded) and "33 entries" in up.ctl("map", "list")
    for action in ("load", "swap"):
        assert "other.c:1:11: error" in up.refusal("prog", action, other)
    assert up.ctl("prog", "list").endswith(loaded)
    assert up.ctl("prog", "swap").endswith("; begun anew: flows\n")
    assert "34 entries" in up.ctl("map", "list") and "waits" not in up.ctl("prog", "list")
    assert up.call("prog", "list").stdout == up.ctl("prog", "list")
    for words, told in (
        ((other,), "other.c:1:11: error"),
        ((tmp_path / "none.c",), "none.c"),
        ((f"first={other}",), "there is no group of units `first`"),
    ):
        assert told in up.refusal("prog", "swap", *words)
    assert f'"total":{1000 + sent}' in up.ctl("map", "get", ".data", "0")
    end = up.stop()
    assert end["drops"] == {} and end["faults"] == []


def test_one_of_two_groups_is_swapped(net: Net, tmp_path: Path) -> None:
    """The swap takes the only program that waits, or the one that is named. The other group's program does not matter,
    and maps that the design names may be missing.
    """
    for name in ("one", "two"):
        (tmp_path / f"{name}.c").write_text(counting(name))
    groups = "".join(
        f'[[units]]\nname = "{name}"\nengine = "xdp"\ncount = 1\nprogram = "{name}.c"\n'
        f"[units.xdp.entries]\n{name} = 5\n[units.xdp.constants]\nlimit_{name} = 3\n[units.xdp.maps]\n"
        f'{name} = "begin.json"\n'
        for name in ("one", "two")
    )
    (tmp_path / "begin.json").write_text("[[1, 7]]")
    design = tmp_path / "two_groups.toml"
    design.write_text('[card]\nname = "two_groups"\nports = 2\n' + groups)
    up = Up(net, tmp_path, design, driver="packet")
    # If the program were compiled again now, it would fail.
    (tmp_path / "one.c").write_text("int broken")
    other = tmp_path / "other.c"
    other.write_text(counting("other"))
    loaded = up.ctl("prog", "load", f"two={other}")
    for told in (
        "[units.xdp.entries] names the map two",
        "[units.xdp.constants] names the constant limit_two",
        "[units.xdp.maps] names the map two",
    ):
        assert f"two_groups.toml: {told}, which {other} does not have; it has " in loaded
    assert (
        loaded.count("; left out\n") == 3
        and "\nwaits for `prog swap`: two: units 1..1 (xdp): other_frames of " in loaded
    )
    assert up.ctl("prog", "swap").endswith("; begun anew: other\n")
    listed = up.ctl("prog", "list")
    assert "waits" not in listed and "one: units 0..0 (xdp): one_frames of " in listed
    assert "two: units 1..1 (xdp): other_frames of " in listed

    # The name is ambiguous; a design with two groups needs a name even if no program waits.
    assert "say whose it is: NAME=" in up.refusal("prog", "swap")
    up.ctl("prog", "load", f"two={tmp_path / 'two.c'}")
    (tmp_path / "one.c").write_text(counting("one"))
    up.ctl("prog", "load", f"one={tmp_path / 'one.c'}")
    assert "say whose it is: NAME=" in up.refusal("prog", "swap")
    up.ctl("prog", "swap", "one=")
    listed = up.ctl("prog", "list")
    assert listed.count("waits") == 1 and "waits for `prog swap`: two: " in listed
    assert "there is no group of units `three`" in up.refusal("prog", "swap", "three=")
    assert "write FILE, GROUP=FILE, or GROUP=" in up.call("ctl", "prog", "swap", "").stderr
    up.ctl("prog", "swap")
    listed = up.ctl("prog", "list")
    assert "waits" not in listed and "two: units 1..1 (xdp): two_frames of " in listed
    assert json.loads(up.ctl("--json", "map", "dump", "two"))["entries"] == [{"key": 1, "value": 7}]
    assert "give a C source or an object, for example engines/xdp/" in up.refusal(
        "prog", "load", f"two={tmp_path / 'no.c'}"
    )
    assert up.stop()["faults"] == []


def counting(name: str) -> str:
    """A program, its map and its constant."""
    return f"""#include <packet.h>
const volatile __u32 limit_{name} = 1;
struct {{
  __uint(type, BPF_MAP_TYPE_HASH);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 4);
}} {name} SEC(".maps");

SEC("xdp") int {name}_frames(struct xdp_md *ctx) {{
  __u32 key = limit_{name};
  __u64 *count = bpf_map_lookup_elem(&{name}, &key);
  if (count) *count += 1;
  return XDP_TX;
}}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_program_in_place_of_the_design_s(target: str, tmp_path: Path) -> None:
    """It may lack what the design names for its own program; the design's own program may not."""
    for name in ("own", "other"):
        (tmp_path / f"{name}.c").write_text(counting(name))
    design = tmp_path / "own.toml"
    head = '[card]\nname = "own"\nports = 2\n[[units]]\nengine = "xdp"\ncount = 1\nprogram = "own.c"\n'
    design.write_text(head + "[units.xdp.entries]\nown = 5\n[units.xdp.constants]\nlimit_own = 3\n")
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)] * 3)
    run = run_design(design, [capture], tmp_path / "out", target, "--program", tmp_path / "other.c")
    assert run.status == 0 and len(run.frames["port0"]) == 3, run.stderr
    for told in ("[units.xdp.entries] names the map own", "[units.xdp.constants] names the constant limit_own"):
        assert f"own.toml: {told}, which {tmp_path / 'other.c'} does not have; it has " in run.stderr
    design.write_text(head + "[units.xdp.entries]\nowns = 5\n")
    run = run_design(design, [capture], tmp_path / "out", target)
    assert (
        run.status != 0
        and "[units.xdp.entries] names the map owns, which " in run.stderr
        and "it has .rodata, own" in run.stderr
    )


def test_arrays_too_large_to_be_written_out_are_told_before(make_design: DesignMaker, tmp_path: Path) -> None:
    source = tmp_path / "large.c"
    source.write_text(counting("large").replace("TYPE_HASH", "TYPE_ARRAY"))
    design = make_design(source, units=1, engine="xdp")
    head = design.read_text()
    capture = write_capture(tmp_path / "in.pcap", [bytes(60)] * 3)
    design.write_text(head + "[units.xdp.entries]\nlarge = 4194305\n")
    run = run_design(design, [capture], tmp_path / "out", "soft", "--dump", f"map={tmp_path / 'maps'}")
    assert run.status != 0 and "large has 4194305 values, and a dump writes 4194304" in run.stderr
    assert run_design(design, [capture], tmp_path / "out", "soft").status == 0


def test_packet_units_are_not_swapped(make_design: DesignMaker, net: Net, tmp_path: Path) -> None:
    up = Up(net, tmp_path, ROOT / "designs/forward.toml", driver="packet")
    assert "units 0..15 (rpu): " in up.ctl("prog", "list") and "this design has none" in up.refusal("map", "list")
    assert "packet units start anew with another program: reload it" in up.refusal(
        "prog", "swap", ROOT / "engines/rpu/programs/forward.c"
    )
    assert "this design has none" in up.refusal("map", "dump", "flows")
    up.stop()
