# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Clients and servers that know nothing of the card: dig and dnsperf ask two dnsmasq, memccp and requests built from
memcached's documents three memcached, libcoap's client two of its servers. The servers share an address, and the card
chooses by name, key and path.
"""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from netns import LEFT, Net, Up, finish
from system import ROOT

DESIGN = (ROOT / "designs/l7-dns.toml").read_text().replace("../engines", str(ROOT / "engines"))
PROGRAMS = ROOT / "engines/l7/programs"

# Sends each request as a datagram to the service and prints the answer, in hexadecimal, or nothing after two seconds.
ASK = """
    import socket, sys
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(2)
    print("ready", flush=True)
    for request in sys.argv[1:]:
        sock.sendto(bytes.fromhex(request), ("10.0.0.2", 11211))
        try:
            print(sock.recv(65535).hex())
        except TimeoutError:
            print()
"""
# Sends requests to a server over TCP, on its own host, and prints the answer.
INSIDE = """
    import socket, sys
    print("ready", flush=True)
    with socket.create_connection(("127.0.0.1", 11212)) as link:
        link.sendall(bytes.fromhex(sys.argv[1]) + b"quit\\r\\n")
        answer = b""
        while more := link.recv(65535):
            answer += more
    print(answer.hex())
"""


@pytest.fixture
def net() -> Iterator[Net]:
    with Net() as made:
        yield made


def need(packages: Mapping[str, str]) -> None:
    for tool, package in packages.items():
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool} (Debian: apt-get install {package})")


def card(net: Net, folder: Path, program: Path, servers: int) -> Up:
    """A card with clients at port 0, and this many servers, named s1, s2, ... , behind the next ports."""
    options = []
    for port in range(1, servers + 1):
        net.server(f"s{port}", f"s{port}")
        options += ["--port", f"{port}=s{port}"]
    design = folder / "card.toml"
    design.write_text(re.sub("ports = .*", f"ports = {servers + 1}", re.sub('"[^"]*[.]l7"', f'"{program}"', DESIGN)))
    return Up(net, folder, design, *options, ports=1)


def rules(up: Up) -> dict[str, int]:
    """How many messages each rule got, if any."""
    found = re.findall(r"rule (\w+).*?messages (\d+)", up.ctl("l7", "rules"))
    return {name: int(count) for name, count in found if count != "0"}


def dig(net: Net, *words: str) -> str:
    """What dig prints; it asks once."""
    return finish(net.start(LEFT, "dig", "@10.0.0.2", "+tries=1", "+time=5", *words))


def test_dig_and_dnsperf_ask_the_server_of_the_zone(net: Net, tmp_path: Path) -> None:
    need({"dig": "bind9-dnsutils", "dnsperf": "dnsperf", "dnsmasq": "dnsmasq-base"})
    up = card(net, tmp_path, PROGRAMS / "names.l7", 2)
    logs = {}
    # Both know all names, with addresses of their own: the answer tells who gave it.
    for number in (1, 2):
        logs[number] = tmp_path / f"dnsmasq{number}.log"
        options = [f"--address=/example/192.0.2.{number}", f"--address=/example/2001:db8::{number}"]
        options += [f"--txt-record=text.shop.example,server {number}", f"--mx-host=shop.example,mail{number}.example,5"]
        options += [f"--ptr-record=9.2.0.192.in-addr.arpa,host{number}.example", "--no-resolv", "--no-hosts"]
        options += [
            "--conf-file=/dev/null",
            "--user=root",
            "--pid-file=",
            "--log-queries",
            f"--log-facility={logs[number]}",
        ]
        child = net.start(
            f"s{number}", "dnsmasq", "--keep-in-foreground", "--bind-interfaces", "--interface=r0", *options
        )
        for _ in range(100):
            if "10.0.0.2:53" in net.run(f"s{number}", "ss", "-uln"):
                break
            assert child.poll() is None, finish(child)
            net.run(f"s{number}", "sleep", "0.05")
    long = ".".join(["a" * 60] * 3)
    asked = {1: 0, 2: 0}
    for words, server, wanted in (
        (["www.example"], 1, "192.0.2.1"),
        (["shop.example"], 2, "192.0.2.2"),
        (["WwW.sHoP.eXaMpLe", "A"], 2, "192.0.2.2"),
        (["www.shop.example", "AAAA"], 2, "2001:db8::2"),
        (["workshop.example", "AAAA"], 1, "2001:db8::1"),
        (["intern.shop.example"], 1, "192.0.2.1"),
        (["db.intern.shop.example", "+noedns"], 1, "192.0.2.1"),
        (["text.shop.example", "TXT", "+bufsize=4096", "+dnssec"], 2, '"server 2"'),
        (["shop.example", "MX", "+nsid"], 2, "5 mail2.example."),
        (["-x", "192.0.2.9"], 1, "host1.example."),
        ([f"{long}.shop.example"], 2, "192.0.2.2"),
        (["host.of\\.dots.shop.example"], 2, "192.0.2.2"),
        (["a.shop.example.", "+subnet=198.51.100.0/24", "+padding=128"], 2, "192.0.2.2"),
    ):
        assert dig(net, "+short", *words).strip() == wanted, words
        asked[server] += 1
    child = net.start(LEFT, "dig", "@10.0.0.2", "+tries=1", "+time=1", "nobody.shop.example")
    out, _ = child.communicate(timeout=30)
    assert child.returncode == 9 and "no servers could be reached" in out
    assert "status: REFUSED" in dig(net, "host.elsewhere.test")
    asked[1] += 1
    counts = {number: len(re.findall(r" query\[", log.read_text())) for number, log in logs.items()}
    assert counts == asked
    assert rules(up) == {"shop": asked[2], "intern": 2, "nobody": 1, "default": asked[1] - 2}

    names = [f"host{number}.shop.example A\nhost{number}.intern.shop.example AAAA\n" for number in range(50)]
    (tmp_path / "names").write_text("".join(names))
    asks = net.start(LEFT, "dnsperf", "-s", "10.0.0.2", "-d", tmp_path / "names", "-n", "20", "-c", "4", "-q", "20")
    out = finish(asks)
    assert re.search(r"Queries completed:\s+2000 \(100.00%\)", out), out
    counts = {number: len(re.findall(r" query\[", log.read_text())) for number, log in logs.items()}
    assert counts == {number: count + 1000 for number, count in asked.items()}
    assert up.stop()["faults"] == []


def request(number: int, text: str) -> str:
    """A datagram as protocol.txt defines it: number of the request, number of the datagram, datagrams, 0."""
    return (struct.pack(">4H", number, 0, 1, 0) + text.encode()).hex()


def binary(opcode: int, key: bytes, extras: bytes = b"", value: bytes = b"") -> bytes:
    """A datagram with a request of the binary protocol."""
    body = extras + key + value
    header = struct.pack(">BBHBBHIIQ", 0x80, opcode, len(key), len(extras), 0, 0, len(body), 0, 0)
    return struct.pack(">4H", 1, 0, 1, 0) + header + body


def ask(net: Net, *texts: str) -> list[str]:
    """The answers of the service to requests of memcached, without their headers."""
    requests = [request(number, text) for number, text in enumerate(texts, 300)]
    lines = finish(net.python(LEFT, ASK, *requests)).split("\n")[: len(texts)]
    answers = [bytes.fromhex(line) for line in lines]
    for number, answer in enumerate(answers, 300):
        assert not answer or struct.unpack(">4H", answer[:8]) == (number, 0, 1, 0)
    return [answer[8:].decode() for answer in answers]


def test_memcached_by_key(net: Net, tmp_path: Path) -> None:
    need({"memcached": "memcached", "memccp": "libmemcached-tools"})
    up = card(net, tmp_path, PROGRAMS / "cache.l7", 3)
    for number in (1, 2, 3):
        words = ["-u", "root", "-U", "11211", "-p", "11212", "-t", "1", "-l", "10.0.0.2,127.0.0.1"]
        child = net.start(f"s{number}", "memcached", *words)
        for _ in range(100):
            if "10.0.0.2:11211" in net.run(f"s{number}", "ss", "-uln"):
                break
            assert child.poll() is None, finish(child)
            net.run(f"s{number}", "sleep", "0.05")
    # libmemcached's client sets the name of a file to its contents over UDP. It asks for no answer.
    for name, text in (("user:file", "of the first"), ("item:file", "of the second"), ("file", "of the third")):
        (tmp_path / name).write_text(text)
        finish(net.start(LEFT, "memccp", "--udp", "--servers=10.0.0.2:11211", tmp_path / name))
    keys = ["user:1", "user:2", "item:1", "page:1", "users"]
    assert ask(net, *(f"set {key} 0 0 {len(key)}\r\n{key}\r\n" for key in keys)) == ["STORED\r\n"] * 5
    assert ask(net, *(f"get {key}\r\n" for key in [*keys, "user:file", "item:file", "file"])) == [
        *(f"VALUE {key} 0 {len(key)}\r\n{key}\r\nEND\r\n" for key in keys),
        "VALUE user:file 0 12\r\nof the first\r\nEND\r\n",
        "VALUE item:file 0 13\r\nof the second\r\nEND\r\n",
        "VALUE file 0 12\r\nof the third\r\nEND\r\n",
    ]
    answers = ask(
        net,
        "set user:n 0 0 2\r\n41\r\n",
        "incr user:n 1\r\n",
        "append user:1 0 0 1\r\n!\r\n",
        "gets user:1\r\n",
        "delete item:1\r\n",
        "get item:1\r\n",
        "touch page:1 100\r\n",
        "version\r\n",
    )
    assert answers[:3] == ["STORED\r\n", "42\r\n", "STORED\r\n"]
    assert answers[3].startswith("VALUE user:1 0 7 ") and "user:1!" in answers[3]
    assert answers[4:7] == ["DELETED\r\n", "END\r\n", "TOUCHED\r\n"] and answers[7].startswith("VERSION ")
    # The binary protocol: set with flags and time, get with the key in the answer, and a request for nothing (no-op).
    requests = [
        binary(0x01, b"item:bin", bytes(8), b"in binary"),
        binary(0x0C, b"item:bin"),
        binary(0x0C, b"user:1"),
        binary(0x04, b"user:2"),
        binary(0x0A, b""),
    ]
    lines = finish(net.python(LEFT, ASK, *(one.hex() for one in requests))).split("\n")[: len(requests)]
    binary_answers = [bytes.fromhex(line)[8:] for line in lines]
    # Magic, opcode, status; behind the header of 24 bytes flags, key and value.
    assert [struct.unpack(">BB4xH", answer[:8]) for answer in binary_answers] == [
        (0x81, opcode, 0) for opcode in (0x01, 0x0C, 0x0C, 0x04, 0x0A)
    ]
    assert [answer[28:] for answer in binary_answers[1:3]] == [b"item:binin binary", b"user:1user:1!"]
    assert ask(net, "get item:bin\r\n", "get user:2\r\n") == ["VALUE item:bin 0 9\r\nin binary\r\nEND\r\n", "END\r\n"]
    # Each key is in its server, and in no other.
    everything = [*keys, "user:file", "item:file", "item:bin", "file", "user:n"]
    for number, wanted in (
        (1, {"user:1", "user:file", "user:n"}),
        (2, {"item:file", "item:bin"}),
        (3, {"page:1", "users", "file"}),
    ):
        text = "".join(f"get {key}\r\n" for key in everything).encode().hex()
        inside = bytes.fromhex(finish(net.python(f"s{number}", INSIDE, text)).strip()).decode()
        assert set(re.findall(r"VALUE (\S+)", inside)) == wanted
    assert up.stop()["faults"] == []


def coap(net: Net, host: str, method: str, path: str, *words: str) -> str:
    """The contents that libcoap's client prints; it prints errors elsewhere."""
    client = net.start(host, "coap-client-notls", "-B", "2", "-m", method, *words, f"coap://10.0.0.2/{path}")
    out, _ = client.communicate(timeout=30)
    return out.strip()


def test_coap_by_path(net: Net, tmp_path: Path) -> None:
    need({"coap-client-notls": "libcoap3-bin", "coap-server-notls": "libcoap3-bin"})
    up = card(net, tmp_path, PROGRAMS / "sensors.l7", 2)
    for number in (1, 2):
        child = net.start(f"s{number}", "coap-server-notls", "-A", "10.0.0.2", "-d", "100")
        for _ in range(100):
            if "10.0.0.2:5683" in net.run(f"s{number}", "ss", "-uln"):
                break
            assert child.poll() is None, finish(child)
            net.run(f"s{number}", "sleep", "0.05")
        # Each has its own image of the same name.
        assert coap(net, f"s{number}", "put", "firmware/pump", "-e", f"image {number}") == ""
    assert coap(net, LEFT, "get", "firmware/pump") == "image 2"
    assert coap(net, LEFT, "get", "firmware/pump?version=2", "-T", "8 bytes!") == "image 2"
    assert coap(net, LEFT, "put", "valley/gauge1/state", "-t", "50", "-e", '{"open": true}') == ""
    assert coap(net, LEFT, "get", "valley/gauge1/state") == '{"open": true}'
    assert coap(net, "s1", "get", "valley/gauge1/state") == '{"open": true}'
    assert coap(net, "s2", "get", "valley/gauge1/state") == ""
    # The card drops it, and the client waits in vain.
    assert coap(net, LEFT, "delete", "firmware/pump", "-N") == ""
    assert [coap(net, f"s{number}", "get", "firmware/pump") for number in (1, 2)] == ["image 1", "image 2"]
    counts = rules(up)
    assert counts == {"firmware": 2, "no_upload": 1, "default": 2}, counts
    assert up.stop()["faults"] == []
