# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Takes the captures in designs/traffic: real programs that talk between two network namespaces.

Usage (root, Debian's iproute2 ethtool tcpdump nginx curl redis-server redis-tools dnsmasq-base bind9-dnsutils
libcoap3-bin):
    python tools/capture_demo.py [--out designs/traffic]

    namespace `outside`                               namespace `inside`
      curl, redis-cli, dig, coap-client                 nginx       192.0.2.80
      from 198.51.100.10 … .13, and from   ── veth ──   redis       192.0.2.79
      .66, which the demo's list blocks                 dnsmasq     192.0.2.53
                                                        coap-server 192.0.2.56

Each program gives two nanosecond captures, one per direction: PROGRAM.outside.pcap holds the frames for a card's port
0, PROGRAM.inside.pcap those for its port 1. Offloads are off, so every frame is as on a wire: at most 1,514 bytes,
checksums filled in. Addresses are from the documentation ranges of RFC 5737, contents are made here.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE, INSIDE = "penstock-outside", "penstock-inside"
CLIENTS = ["198.51.100.10", "198.51.100.11", "198.51.100.12", "198.51.100.13", "198.51.100.66"]
WEB, STORE, NAMES, SENSORS = "192.0.2.80", "192.0.2.79", "192.0.2.53", "192.0.2.56"
MACS = {OUTSIDE: "02:00:00:00:00:01", INSIDE: "02:00:00:00:00:02"}


def run(*command: str, check: bool = True, stdin: str | None = None) -> None:
    """Runs a command and shows its errors; a client that the scenario makes fail is run with check=False."""
    subprocess.run(command, check=check, input=stdin, text=True, stdout=subprocess.DEVNULL, timeout=60)


def within(namespace: str, *command: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, *command]


@contextlib.contextmanager
def namespaces() -> Iterator[None]:
    """The two hosts and the wire between them."""
    for name in (OUTSIDE, INSIDE):
        run("ip", "netns", "add", name)
    try:
        run("ip", "link", "add", "eth0", "netns", OUTSIDE, "type", "veth", "peer", "name", "eth0", "netns", INSIDE)
        for name in (OUTSIDE, INSIDE):
            run(*within(name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"), check=False)
            run(*within(name, "ip", "link", "set", "eth0", "address", MACS[name]))
            offloads = [word for feature in ("rx", "tx", "sg", "tso", "gso", "gro") for word in (feature, "off")]
            run(*within(name, "ethtool", "-K", "eth0", *offloads), check=False)
        for client in CLIENTS:
            run(*within(OUTSIDE, "ip", "address", "add", f"{client}/32", "dev", "eth0"))
        for server in (WEB, STORE, NAMES, SENSORS):
            run(*within(INSIDE, "ip", "address", "add", f"{server}/32", "dev", "eth0"))
        for name in (OUTSIDE, INSIDE):
            run(*within(name, "ip", "link", "set", "lo", "up"))
            run(*within(name, "ip", "link", "set", "eth0", "up"))
        be_client(CLIENTS[0])
        run(*within(INSIDE, "ip", "route", "add", "198.51.100.0/24", "dev", "eth0"))
        yield
    finally:
        for name in (OUTSIDE, INSIDE):
            run("ip", "netns", "delete", name)


def be_client(address: str) -> None:
    """Programs of the namespace `outside` use this source address from now on."""
    run(*within(OUTSIDE, "ip", "route", "replace", "192.0.2.0/24", "dev", "eth0", "src", address))


@contextlib.contextmanager
def started(*command: str) -> Iterator[None]:
    """A program that serves or records while the block runs."""
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.7)
        if program.poll() is not None:
            raise RuntimeError(f"{' '.join(command)}: ended with status {program.returncode} at once")
        yield
        time.sleep(0.5)
    finally:
        program.terminate()
        program.wait(timeout=20)


@contextlib.contextmanager
def recorded(out: Path, name: str) -> Iterator[None]:
    """Records both directions, as seen at the outside end of the wire."""

    def tcpdump(direction: str, side: str) -> list[str]:
        options = ["-Q", direction, *"-i eth0 -Z root -s 0 --immediate-mode --time-stamp-precision=nano".split()]
        return within(OUTSIDE, "tcpdump", *options, "-w", str(out / f"{name}.{side}.pcap"))

    with started(*tcpdump("out", "outside")), started(*tcpdump("in", "inside")):
        yield


def web(out: Path, scratch: Path) -> None:
    """nginx and curl: pages, kept connections, ranges, uploads, errors."""
    pages = scratch / "pages"
    pages.mkdir()
    words = "frame slot unit cluster port gate pipe river turbine flow beat cycle".split()
    items = "".join(f"<li>{words[i % 12]} {words[i * 7 % 11]} {i}</li>\n" for i in range(120))
    (pages / "index.html").write_text(f"<!doctype html><title>Valley waterworks</title><ul>\n{items}</ul>\n")
    (pages / "style.css").write_text(
        "".join(f".w{i} {{ margin: {i}px; color: #{i * 5153 % 4096:03x} }}\n" for i in range(80))
    )
    levels = [{"gauge": i, "level_cm": i * 37 % 211, "open": i % 3 == 0} for i in range(200)]
    (pages / "levels.json").write_text(json.dumps(levels))
    curves = "".join(f'<path d="M0 {i}Q{i * 3 % 97} {i * 5 % 89} 400 {i * 7 % 300}"/>\n' for i in range(500))
    (pages / "map.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" fill="none" stroke="#069">{curves}</svg>\n'
    )
    conf = scratch / "nginx.conf"
    conf.write_text(
        f"""daemon off; pid {scratch}/nginx.pid; error_log {scratch}/error.log; worker_processes 1;
        events {{ worker_connections 64; }}
        http {{ access_log off; default_type text/plain; types {{ text/html html; text/css css; image/svg+xml svg; }}
          server {{ listen {WEB}:80; root {pages}; location = /report {{ return 204; }} }} }}"""
    )
    site = f"http://{WEB}"
    curl = within(OUTSIDE, "curl", "-s", "--max-time", "10", "-o", "/dev/null")
    each_file = [f"{site}/{page}" for page in ("index.html", "style.css", "levels.json", "map.svg")]
    discard = ["-o", "/dev/null"] * (len(each_file) - 1)
    with started(*within(INSIDE, "nginx", "-p", str(scratch), "-c", str(conf))), recorded(out, "web"):
        for client in CLIENTS:
            be_client(client)
            run(*curl, *discard, *each_file)
            run(*curl, "-I", f"{site}/map.svg")
            run(*curl, "-r", "1000-4999", f"{site}/map.svg")
            run(*curl, f"{site}/nothing-here", check=False)
            run(*curl, "-X", "POST", "--data", json.dumps(levels[:90]), f"{site}/report")


def store(out: Path, scratch: Path) -> None:
    """redis and its command line: strings, counters, lists, hashes, a pipeline, large values."""
    conf = scratch / "redis.conf"
    # redis-cli asks for the manual of all commands first; that text is not ours to carry.
    conf.write_text(f'bind {STORE}\nprotected-mode no\nsave ""\ndir {scratch}\nrename-command COMMAND ""\n')
    server = ["redis-server", str(conf)]
    with started(*within(INSIDE, *server)), recorded(out, "store"):
        for number, client in enumerate(CLIENTS):
            be_client(client)
            lines = [f"SET gauge:{number}:{i} {i * 7919 % 1000}" for i in range(40)]
            lines += [f"GET gauge:{number}:{i}" for i in range(0, 40, 2)]
            lines += [f"INCRBY total {i}" for i in range(20)]
            lines += [f"RPUSH log:{number} opened-gate-{i}" for i in range(20)] + [f"LRANGE log:{number} 0 -1"]
            lines += [f"HSET unit:{number} cycles {i} frames {i * 3}" for i in range(10)] + [f"HGETALL unit:{number}"]
            lines += [f"SET text:{number} {'water-' * 900}", f"GET text:{number}", "NOSUCHCOMMAND", "DBSIZE"]
            run(*within(OUTSIDE, "redis-cli", "-h", STORE), stdin="\n".join(lines) + "\n")
            batch = "".join(f"SET batch:{number}:{i} {'x' * (i % 50 + 1)}\r\n" for i in range(200))
            run(*within(OUTSIDE, "redis-cli", "-h", STORE, "--pipe"), stdin=batch)


def names(out: Path, scratch: Path) -> None:
    """dnsmasq and dig: addresses, mail, text, names that do not exist, a query over TCP."""
    zone = [f"--host-record=gauge{i}.example.net,192.0.2.{100 + i},2001:db8::{i}" for i in range(40)]
    zone += ["--mx-host=example.net,mail.example.net,10", "--cname=www.example.net,gauge1.example.net"]
    zone += [f"--txt-record=note.example.net,{'level-' * 30}", "--local=/example.net/"]
    server = ["dnsmasq", "--keep-in-foreground", "--no-resolv", "--no-hosts", "--conf-file=/dev/null", "--user=root"]
    server += [f"--listen-address={NAMES}", "--bind-interfaces", f"--pid-file={scratch}/dnsmasq.pid", *zone]
    dig = within(OUTSIDE, "dig", f"@{NAMES}", "+tries=1", "+time=3")
    with started(*within(INSIDE, *server)), recorded(out, "names"):
        for number, client in enumerate(CLIENTS):
            be_client(client)
            queries = [(f"gauge{i}.example.net", kind) for i in range(number, 40, 5) for kind in ("A", "AAAA")]
            queries += [
                ("example.net", "MX"),
                ("note.example.net", "TXT"),
                ("www.example.net", "A"),
                ("absent.example.net", "A"),
            ]
            for name, kind in queries:
                run(*dig, name, kind)
            run(*dig, "+tcp", "note.example.net", "TXT")


def sensors(out: Path, scratch: Path) -> None:
    """libcoap's server and client: readings as text and JSON, firmware, discovery, absent resources, Non-confirmable
    requests.
    """
    server = ["coap-server-notls", "-A", SENSORS, "-d", "100"]
    coap = within(OUTSIDE, "coap-client-notls", "-B", "3", "-o", "/dev/null")
    text, json_format = "0", "50"
    with started(*within(INSIDE, *server)), recorded(out, "sensors"):
        for number, client in enumerate(CLIENTS):
            be_client(client)
            gauge = f"coap://{SENSORS}/valley/gauge{number}"
            for level in range(5):
                run(*coap, "-m", "put", "-t", text, "-e", str(level * 37 % 211), f"{gauge}/level")
            run(*coap, "-m", "put", "-N", "-t", json_format, "-e", json.dumps({"level_cm": 17}), f"{gauge}/level")
            run(*coap, "-m", "put", "-t", json_format, "-e", json.dumps({"open": True}), f"{gauge}/state")
            run(*coap, "-m", "get", f"{gauge}/level")
            run(*coap, "-m", "put", "-t", "42", "-e", "image" * 20, f"coap://{SENSORS}/firmware/pump{number}")
            run(*coap, "-m", "get", f"coap://{SENSORS}/firmware/pump{number}?version=2")
            run(*coap, "-m", "delete", f"coap://{SENSORS}/firmware/pump{number}")
            run(*coap, "-m", "get", "-T", f"token{number}", f"coap://{SENSORS}/.well-known/core")
            run(*coap, "-m", "get", f"coap://{SENSORS}/")
            run(*coap, "-m", "get", f"coap://{SENSORS}/absent/{'x' * 20}")


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--out", type=Path, default=ROOT / "designs" / "traffic", help="folder of the captures")
    out: Path = args.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for scenario in (web, store, names, sensors):
        with tempfile.TemporaryDirectory(prefix="penstock-") as scratch, namespaces():
            Path(scratch).chmod(0o755)
            scenario(out, Path(scratch))
    for capture in sorted(out.glob("*.pcap")):
        print(f"{capture.name}: {capture.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
