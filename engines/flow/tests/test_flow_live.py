# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The inline chain between real interfaces: kernels' TCP through a NAT, port knocking as docs/flow.md shows it, and
`ctl flow`.
"""

from __future__ import annotations

import json
import re
import socket
import time
from pathlib import Path

from netns import LEFT, RIGHT, Net, Up, finish
from system import ROOT
from test_xdp import CAPTURE

# Sends each client its apparent address, and then echoes its bytes until it ends.
ECHO = """
    import socketserver, sys
    class Echo(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.sendall(f"{self.client_address[0]} {self.client_address[1]}\\n".encode())
            while data := self.request.recv(65536):
                self.request.sendall(data)
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    # All who come at once find room: one whose handshake ends at a full queue under SYN cookies waits for ever for the
    # first line.
    socketserver.ThreadingTCPServer.request_queue_size = 64
    server = socketserver.ThreadingTCPServer((sys.argv[1], int(sys.argv[2])), Echo)
    server.daemon_threads = True
    print("ready", flush=True)
    server.serve_forever()
"""

# Sends bytes over several connections at once, and prints for each the address that the server saw and whether all
# bytes returned.
CLIENTS = """
    import concurrent.futures, random, socket, sys, threading
    print("ready", flush=True)
    address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    def talk(number):
        data = random.Random(number).randbytes(200_000)
        with socket.create_connection((address, port), timeout=30) as sock:
            file = sock.makefile("rb")
            seen = file.readline().decode().strip()
            sender = threading.Thread(target=sock.sendall, args=(data,))
            sender.start()
            same = file.read(len(data)) == data
            sender.join()
            # In one piece: threads write side by side.
            sys.stdout.write(f"{sock.getsockname()[1]} {seen} {same}\\n")
            sys.stdout.flush()
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        list(pool.map(talk, range(count)))
"""

# Counts connections that succeed, one after the other to ports of an address, each within a number of seconds.
CONNECT = """
    import socket, sys
    print("ready", flush=True)
    address, seconds, well = sys.argv[1], float(sys.argv[2]), 0
    for port in map(int, sys.argv[3:]):
        try:
            socket.create_connection((address, port), timeout=seconds).close()
            well += 1
        except TimeoutError:
            pass
    print(well)
"""


def connects(net: Net, place: str, address: str, *ports: int, seconds: float = 1) -> int:
    return int(finish(net.python(place, CONNECT, address, str(seconds), *map(str, ports))))


def flow(up: Up, *words: str) -> list[dict]:
    return json.loads(up.ctl("--json", "flow", *words))


def contexts(up: Up, element: str) -> list[dict]:
    return json.loads(up.ctl("--json", "flow", "dump", element))["contexts"]


def test_tcp_through_a_nat(net: Net, tmp_path: Path) -> None:
    """The server outside sees the public address and a separate port for each connection; every byte returns."""
    net.run(LEFT, "ip", "route", "add", "203.0.113.1/32", "dev", "l0")
    net.run(LEFT, "ip", "neigh", "replace", "203.0.113.1", "lladdr", net.ether(RIGHT, "r0"), "dev", "l0")
    up = Up(net, tmp_path, ROOT / "designs/nat.toml")
    net.python(LEFT, ECHO, "10.0.0.1", "8000")
    clients = net.python(RIGHT, CLIENTS, "10.0.0.1", "8000", "20")
    lines = [line.split() for line in finish(clients).splitlines()]
    assert len(lines) == 20 and all(address == "203.0.113.1" and same == "True" for _, address, _, same in lines)
    ports = {int(inside): int(outside) for inside, _, outside, _ in lines}
    assert sorted(ports.values()) == list(range(1024, 1044))
    # The card's tables agree with the ends.
    assigned = {context["key"]["l4.sport"]: context["registers"]["public"] for context in contexts(up, "assign")}
    assert assigned == ports
    for context in contexts(up, "translate"):
        registers = context["registers"]
        assert (
            context["key"] == {"meta0": ports[registers["inside_port"]], "ip.proto": 6} and context["state"] == "TAKEN"
        )
        assert registers["outside_port"] == 8000 and registers["inside"] == 10 << 24 | 2
        assert 250_000_000 < context["for"]["us"] <= 301_000_000
    counters = json.loads(up.ctl("counters"))
    inline = counters["inline"]
    assert (
        inline["blocks"][0]["frames"] == sum(port["rx_frames"] for port in counters["ports"]) and inline["refused"] == 0
    )
    # No host that was not spoken to gets in.
    before = up.status()["drops"].get("blocked", 0)
    assert connects(net, LEFT, "203.0.113.1", 1024) == 0
    assert up.status()["drops"]["blocked"] > before
    listed = up.ctl("flow", "list")
    assert listed.startswith(
        "assign: key ip.src, ip.dst, l4.proto, l4.sport, l4.dport; 20 of 63569 contexts; next_port 1044\n"
    )
    # The next flow gets the given port.
    up.ctl("flow", "set", "assign", "next_port=40000")
    (line,) = finish(net.python(RIGHT, CLIENTS, "10.0.0.1", "8000", "1")).splitlines()
    assert line.split()[1:] == ["203.0.113.1", "40000", "True"]
    up.stop()


def test_tcp_through_tracking(net: Net, tmp_path: Path) -> None:
    """The sequence numbers of kernels' connections are right from SYN to FIN, and no frame of them is lost; no
    connection from outside succeeds.
    """
    up = Up(net, tmp_path, ROOT / "designs/tcp.toml")
    net.python(LEFT, ECHO, "10.0.0.1", "8000")
    net.python(RIGHT, ECHO, "10.0.0.2", "8000")
    lines = [line.split() for line in finish(net.python(RIGHT, CLIENTS, "10.0.0.1", "8000", "20")).splitlines()]
    assert len(lines) == 20 and all(inside == seen and same == "True" for inside, _, seen, same in lines)
    assert up.status()["drops"].get("blocked", 0) == 0
    # The card counts the frames that the ends sent: a SYN, the bytes, a FIN. Servers finish a little after their
    # clients.
    deadline = time.monotonic() + 10
    while {context["state"] for context in contexts(up, "tracking.windows")} != {"DONE"}:
        assert time.monotonic() < deadline
    ends = {context["key"]["l4.dport"]: context["registers"] for context in contexts(up, "tracking.windows")}
    begins = {context["key"]["l4.dport"]: context["registers"] for context in contexts(up, "tracking.handshake")}
    assert set(ends) == set(begins) == {int(inside) for inside, _, _, _ in lines}
    for port in ends:
        assert (ends[port]["inside_end"] - begins[port]["first"]) % 2**32 == 1 + 200_000 + 1
        told = len(f"10.0.0.2 {port}\n")
        assert (ends[port]["outside_end"] - begins[port]["outside_next"]) % 2**32 == told + 200_000 + 1
    assert connects(net, LEFT, "10.0.0.2", 8000) == 0
    assert up.status()["drops"]["blocked"] > 0
    up.stop()


def guide() -> dict[str, str]:
    """The files of docs/flow.md, by name."""
    text = (ROOT / "docs/flow.md").read_text()
    found = re.findall(r"^```\w+\n# (\S+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return {Path(name).name: body for name, body in found}


def test_knocking(net: Net, tmp_path: Path) -> None:
    """The commands of docs/flow.md, with the same program and the same card."""
    files = guide()
    for name in ("knock.efsm", "knock.toml"):
        (tmp_path / name).write_text(files[name].replace("../engines", str(ROOT / "engines")))
    up = Up(net, tmp_path, tmp_path / "knock.toml")
    net.python(RIGHT, ECHO, "10.0.0.2", "22")

    def is_open() -> bool:
        return connects(net, LEFT, "10.0.0.2", 22) == 1

    def knock(*doors: int) -> None:
        assert connects(net, LEFT, "10.0.0.2", *doors, seconds=0.1) == 0

    assert not is_open()
    knock(5123, 7345, 6234)
    assert not is_open() and contexts(up, "knock") == []
    knock(5123, 6234, 7345)
    assert is_open()
    text = up.ctl("flow", "dump", "knock")
    assert re.fullmatch(r"ip\.src 10\.0\.0\.1: OPEN, for 35\d\d\.\d{3} s\n", text), text
    assert re.fullmatch(r"gate: no contexts\nknock: key ip\.src; 1 of 1000 contexts\n", up.ctl("flow", "list"))
    events = [(event["kind"], event["state"]) for event in flow(up, "events")]
    # The first host's way to nowhere, then the one that opened.
    assert events == [("new", "ONE"), ("new", "ONE"), ("notified", "OPEN")] and flow(up, "events") == []
    up.ctl("flow", "delete", "knock", "10.0.0.1")
    assert "no context of this flow" in up.refusal("flow", "delete", "knock", "10.0.0.1")
    assert not is_open()
    up.ctl("flow", "insert", "knock", "10.0.0.1", '{"state": "OPEN", "for": {"us": 60000000}}')
    assert is_open()
    (context,) = flow(up, "get", "knock", "10.0.0.1")
    assert context["state"] == "OPEN" and 50_000_000 < context["for"]["us"] < 60_000_000
    # Rows change while the door is open: it now leads to another port.
    (tmp_path / "other.efsm").write_text(files["knock.efsm"].replace("tcp.dport == 22 ", "tcp.dport == 23 "))
    up.ctl("prog", "swap", tmp_path / "other.efsm")
    assert not is_open() and flow(up, "get", "knock", "10.0.0.1")[0]["state"] == "OPEN"
    up.ctl("prog", "swap", tmp_path / "knock.efsm")
    assert is_open()
    (tmp_path / "other.efsm").write_text(
        files["knock.efsm"].replace("states CLOSED", "states SHUT").replace("in CLOSED", "in SHUT")
    )
    assert "element knock has other states" in up.refusal("prog", "swap", tmp_path / "other.efsm")
    (tmp_path / "other.efsm").write_text("element knock { tcp.dprt == 1 => drop }")
    assert "other.efsm:1:17: " in up.refusal("prog", "swap", tmp_path / "other.efsm")
    assert "it has no name, so leave the name out" in up.refusal("prog", "swap", f"two={tmp_path / 'knock.efsm'}")
    assert "between two frames: `ctl prog swap`" in up.refusal("reload", tmp_path / "knock.efsm")
    assert "there is no element `lock`; there are: gate, knock" in up.refusal("flow", "dump", "lock")
    assert is_open()
    up.ctl("flow", "clear", "knock")
    assert not is_open() and up.ctl("flow", "dump", "knock") == ""
    up.stop()


def test_nobody_knows_where_contexts_lie(net: Net, tmp_path: Path) -> None:
    """Otherwise an attacker could choose flows that collide: the same contexts have a different order in each card."""
    orders = []
    for _ in range(2):
        up = Up(net, tmp_path, ROOT / "designs/nat.toml")
        for host in range(12):
            up.ctl("flow", "insert", "assign", f'["10.0.0.{host}", "10.1.0.1", 6, 1024, 80]')
        orders.append([context["key"]["ip.src"] for context in contexts(up, "assign")])
        up.stop()
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])


# Sends argv[2] frames to the interface argv[1], 20,000 a second, each of another station; if argv[3] is given, all of
# that station.
STATIONS = """
    import socket, sys, time
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((sys.argv[1], 0))
    print("ready", flush=True)
    begin, count = time.monotonic(), int(sys.argv[2])
    for number in range(count):
        while time.monotonic() < begin + number / 20_000:
            time.sleep(0.0005)
        station = int(sys.argv[3]) if len(sys.argv) > 3 else number
        sock.send(bytes.fromhex("02ffffffffff") + station.to_bytes(6, "big") + bytes([0x88, 0xB5]) + bytes(46))
    print(count)
"""
SEEN = """
element seen {
  key eth.src
  states NEW, SEEN
  flow count
  table 100000
  in NEW { else => count = 1, goto SEEN }
  in SEEN { else => count = count + 1 }
}
"""


def test_contexts_are_listed_while_frames_pass(net: Net, tmp_path: Path) -> None:
    """Each answer of the card is small, and no frame is lost."""
    (tmp_path / "seen.efsm").write_text(SEEN)
    design = guide()["knock.toml"].replace("../engines", str(ROOT / "engines")).replace("knock.efsm", "seen.efsm")
    (tmp_path / "seen.toml").write_text(design)
    up = Up(net, tmp_path, tmp_path / "seen.toml", driver="packet")
    stations = 60_000
    assert int(finish(net.python(LEFT, STATIONS, "l0", str(stations)))) == stations
    deadline = time.monotonic() + 20
    while flow(up, "list")[0]["contexts"] < stations:
        assert time.monotonic() < deadline, up.ctl("flow", "list")

    receiver = net.python(RIGHT, CAPTURE, "r0", "3")
    sender = net.python(LEFT, STATIONS, "l0", "20000", "7")
    text = up.ctl("flow", "dump", "seen")
    listed = sorted(re.findall(r"^eth\.src ([0-9a-f:]+): SEEN, count \d+$", text, flags=re.MULTILINE))
    assert listed == [f"00:00:00:00:{number >> 8:02x}:{number & 255:02x}" for number in range(stations)]
    sent = int(finish(sender))
    assert len(finish(receiver).split()) == sent
    counts = {context["key"]["eth.src"]: context["registers"]["count"] for context in contexts(up, "seen")}
    assert len(counts) == stations and counts.pop("00:00:00:00:00:07") == 1 + sent and set(counts.values()) == {1}
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(next((tmp_path / "run/penstock").glob("*.sock"))))
        lines, place, slices = client.makefile("rw"), 0, []
        while place is not None:
            asked = {"do": "call", "service": "flow", "ask": {"dump": {"element": "seen", "from": place}}}
            lines.write(json.dumps(asked) + "\n")
            lines.flush()
            slices.append(json.loads(lines.readline())["ok"]["answer"])
            place = slices[-1].get("next")
    # A slice ends at 1,024 contexts; contexts that others displaced past its last place come with it.
    numbers = [len(one["contexts"]) for one in slices]
    assert sum(numbers) == stations and max(numbers) <= 1_124
    up.stop()


def test_a_card_without_a_chain(net: Net, tmp_path: Path) -> None:
    up = Up(net, tmp_path, ROOT / "designs/one-unit.toml")
    assert "this design has none" in up.refusal("flow", "list") and "the design has none" in up.refusal(
        "prog", "swap", "x.efsm"
    )
    up.stop()
