# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A live card that is watched: captures, metrics for Prometheus, systemd, and clients that mean harm."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest
from built import COMMAND_LINE
from netns import CARD, LEFT, Net, Up, finish
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from scapy.layers.l2 import Ether
from scapy.utils import PcapNgReader, rdpcap
from system import ROOT, DesignMaker

FORWARD = ROOT / "engines/rpu/programs/forward.c"
BLOCK = '\n[[inline]]\nengine = "flow"\nprogram = "{}"\n'

# Sends frames from l0: argv[1] times one of 100 bytes with the UDP ports 1000 to port argv[2], a pause of argv[3] s
# after each hundred.
SEND = """
    import socket, struct, sys, time
    print("ready", flush=True)
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind(("l0", 0))
    count, port, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    head = bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]) + b"\\x08\\x00"
    ip = bytes([0x45, 0, 0, 86, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7])
    for number in range(count):
        udp = struct.pack(">HHHH", 1000, port, 66, 0) + struct.pack(">I", number) + bytes(54)
        sock.send(head + ip + udp)
        if number % 100 == 99:
            time.sleep(pause)
    """


def send(net: Net, count: int, port: int = 80, pause: float = 0.01) -> None:
    finish(net.python(LEFT, SEND, str(count), str(port), str(pause)))


def numbers(frames: list[bytes]) -> list[int]:
    return [struct.unpack_from(">I", frame, 42)[0] for frame in frames]


def start_capture(up: Up, net: Net, *words: str | Path) -> subprocess.Popen[bytes]:
    """Starts `ctl capture` and waits until the card copies frames: the head of the file is written then."""
    command = [*net.command(CARD, shutil.which("env") or "env"), *(f"{name}={value}" for name, value in up.env.items())]
    before = set(up.folder.glob("*.pcapng"))
    child = subprocess.Popen([*command, COMMAND_LINE, "ctl", "capture", *map(str, words)], stderr=subprocess.PIPE)
    end = time.monotonic() + 20
    while not any(path.stat().st_size for path in set(up.folder.glob("*.pcapng")) - before):
        assert time.monotonic() < end and child.poll() is None, child.stderr and child.stderr.read()
        time.sleep(0.02)
    return child


@pytest.mark.parametrize("driver", ["packet", "xdp"])
def test_a_capture_of_both_ways(driver: str, net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """Frames go in at port 0 and out at port 1; scapy reads both captures, and the card misses none."""
    up = Up(net, tmp_path, make_design(FORWARD, units=2, policy="round-robin"), driver=driver)
    files = {port: tmp_path / f"at{port}.pcapng" for port in (0, 1)}
    captures = {}
    for port, file in files.items():
        captures[port] = start_capture(
            up, net, str(port), "-w", file, "-c", "500", "--way", "in" if port == 0 else "out"
        )
    before = time.time()
    send(net, 500)
    for port, child in captures.items():
        _, err = child.communicate(timeout=20)
        assert child.returncode == 0 and err == b"500 frames captured, 0 missed\n", err
        packets = rdpcap(str(files[port]))
        frames = [bytes(packet) for packet in packets]
        assert all(frame[:12] == bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]) and len(frame) == 100 for frame in frames)
        assert sorted(numbers(frames)) == list(range(500))
        times = [float(packet.time) for packet in packets]
        assert times == sorted(times) and before - 1 < times[0] < times[-1] < time.time() + 1
    with PcapNgReader(str(files[1])) as reader:
        assert next(iter(reader)) is not None
    up.stop()


def test_filters_limits_and_pipes(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    up = Up(net, tmp_path, make_design(FORWARD, units=1))
    file = tmp_path / "some.pcapng"
    child = start_capture(
        up, net, "0", "-w", file, "-s", "60", "udp", "dst", "port", "53", "and", "src", "net", "192.0.2.0/24"
    )
    send(net, 30, port=53)
    send(net, 30, port=80)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=20)
    assert child.returncode == 0 and err == b"30 frames captured, 0 missed\n", err
    packets = rdpcap(str(file))
    assert [len(packet) for packet in packets] == [60] * 30 and {packet.wirelen for packet in packets} == {100}
    assert all(packet[Ether].dport == 53 for packet in packets)
    # Standard output, for a time.
    command = [COMMAND_LINE, "ctl", "capture", "1", "-w", "-", "--for", "0.3"]
    done = subprocess.run(command, env={**os.environ, **up.env}, capture_output=True, timeout=20, check=True)
    assert done.stderr == b"0 frames captured, 0 missed\n" and done.stdout[:4] == b"\n\r\r\n"
    for words, refused in (
        (("7", "-w", "-"), "there is no port7: the card has ports 0..1 and host"),
        (("eth0", "-w", "-"), "`eth0` is no port"),
        (("0", "-w", "-", "host", "nowhere"), "`host` takes an address, not `nowhere`"),
        (("0", "-w", "/proc/none"), "/proc/none"),
    ):
        assert refused in up.refusal("capture", *words)
    up.stop()


def test_wireshark(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """tshark finds the ports of the card, and captures at one of them with a direction and a filter."""
    if shutil.which("tshark") is None:
        pytest.skip("needs tshark (Debian: apt-get install tshark)")
    up = Up(net, tmp_path, make_design(FORWARD, units=1))
    folder = tmp_path / "extcap"
    done = up.call("extcap", "--install", folder)
    assert done.returncode == 0 and (folder / "penstock").stat().st_mode & 0o777 == 0o755, done
    folders = subprocess.run(["tshark", "-G", "folders"], capture_output=True, text=True, check=True).stdout
    theirs = next(line.split()[-1] for line in folders.splitlines() if line.startswith("Extcap path"))

    def tshark(*words: str) -> subprocess.Popen[str]:
        # As root it takes no other folder; the mount is seen by this command alone.
        mounted = net.command(CARD, "sh", "-c", f'mount --bind {folder} {theirs} && exec "$@"', "sh", "tshark", *words)
        env = {**os.environ, **up.env}
        return subprocess.Popen(mounted, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    listed, _ = tshark("-D").communicate(timeout=60)
    found = {words[1]: " ".join(words[2:]) for words in map(str.split, listed.splitlines()) if "penstock" in words[1]}
    assert found == {
        "penstock-test-port0": "(Penstock test: port0, p0)",
        "penstock-test-port1": "(Penstock test: port1, p1)",
        "penstock-test-host": "(Penstock test: host)",
    }
    fields = ["-T", "fields", "-e", "frame.len", "-e", "udp.dstport"]
    only = ["-o", "extcap.penstock_test_port1.way:out"]
    child = tshark("-i", "penstock-test-port1", "-f", "udp dst port 53", "-c", "40", *only, *fields)
    end = time.monotonic() + 30
    while child.poll() is None:
        send(net, 20, port=80)
        send(net, 20, port=53)
        assert time.monotonic() < end
    out, err = child.communicate()
    assert child.returncode == 0 and out.split("\n")[:-1] == ["100\t53"] * 40, err
    for words, refused in (
        ((), "--install FOLDER"),
        (("--extcap-interface", "none", "--capture", "--fifo", str(tmp_path / "f")), "there is no interface `none`"),
    ):
        done = up.call("extcap", *words)
        assert done.returncode != 0 and refused in done.stderr, done
    faulty = up.call("extcap", "--extcap-interface", "any", "--extcap-capture-filter", "host nowhere")
    assert "`host` takes an address" in faulty.stdout, faulty
    assert up.call("extcap", "--extcap-interface", "any", "--extcap-capture-filter", "udp").stdout == ""
    up.stop()


def scraped(net: Net, address: str, path: str = "/metrics", method: str = "GET") -> tuple[int, str, str]:
    """Status, type and body of an answer, asked for in the card's namespace."""
    ask = f"""
        import json, sys, urllib.error, urllib.request
        print("ready", flush=True)
        request = urllib.request.Request("http://{address}{path}", method="{method}")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                print(json.dumps([answer.status, answer.headers["Content-Type"], answer.read().decode()]))
        except urllib.error.HTTPError as error:
            print(json.dumps([error.code, error.headers["Content-Type"], error.read().decode()]))
        """
    status, kind, body = json.loads(finish(net.python(CARD, ask)))
    return status, kind, body


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(text)
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for family in families for one in family.samples}


def test_metrics(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """All that Prometheus's own parser finds: ports, units, drops by reason, and the counters of a block."""
    design = make_design(FORWARD, units=2, policy="round-robin")
    program = ROOT / "engines/flow/programs/heavy_hitter.efsm"
    program = program if program.exists() else sorted((ROOT / "engines/flow/programs").glob("*.efsm"))[0]
    text = design.read_text() + BLOCK.format(program)
    # The parser must get the name back as it is.
    name = 'we "love"\\\\cards'
    lines = [
        f"name = '{name}'" if line.startswith("name = ") and number < 4 else line
        for number, line in enumerate(text.splitlines())
    ]
    design.write_text("\n".join(lines) + "\n")
    up = Up(net, tmp_path, design, "--metrics", "127.0.0.1:0")
    address = (
        next(line for line in up.head.splitlines() if line.startswith("metrics at "))
        .split()[-1]
        .removeprefix("http://")
        .removesuffix("/metrics")
    )
    send(net, 200)
    time.sleep(0.7)
    status, kind, body = scraped(net, address)
    assert status == 200 and kind.startswith("application/openmetrics-text") and body.endswith("# EOF\n")
    found = samples(body)
    port0, port1 = (("port", "port0"),), (("port", "port1"),)
    assert found["penstock_port_receive_frames_total", port0] == 200
    assert found["penstock_port_receive_bytes_total", port0] == 20_000
    units = [found["penstock_unit_receive_frames_total", (("group", ""), ("unit", str(unit)))] for unit in range(2)]
    left = found["penstock_port_transmit_frames_total", port1]
    counters = json.loads(up.ctl("--json", "counters"))["counters"]
    assert units == [unit["rx_frames"] for unit in counters["units"]] and left == counters["ports"][1]["tx_frames"]
    assert found["penstock_port_link_up", (("interface", "p0"), ("port", "port0"))] == 1
    assert found["penstock_port_drops_total", (("port", "port0"), ("reason", "runt"))] == 0
    blocks = [key for key in found if key[0] == "penstock_block_frames_total"]
    assert [found[key] for key in blocks] == [200]
    assert any(key[0] == "penstock_block_own" and dict(key[1])["counter"] for key in found)
    about = next(dict(labels) for metric, labels in found if metric == "penstock_card_info")
    assert about["design"] == name and about["version"]
    assert found["penstock_up_seconds", ()] > 0
    assert scraped(net, address, "/")[0] == 200 and scraped(net, address, "/other")[0] == 404
    assert scraped(net, address, method="POST")[0] == 405
    # A port that is not free is an error before the card takes frames.
    refused = up.call("up", design, "--port", "0=nothing", "--metrics", "nowhere:1")
    assert refused.returncode != 0
    up.stop()


def test_clients_that_mean_harm(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """Half requests, readers that do not read and floods, at both sockets: frames go on, and so do other clients."""
    up = Up(net, tmp_path, make_design(FORWARD, units=2, policy="round-robin"), "--metrics", "127.0.0.1:9560")
    path = str(next((tmp_path / "run/penstock").glob("*.sock")))
    # Forty half requests over HTTP, and one that never ends.
    half = """
        import socket, sys, time
        print("ready", flush=True)
        sockets = [socket.create_connection(("127.0.0.1", 9560)) for _ in range(40)]
        for number, one in enumerate(sockets):
            one.sendall(b"GET /metrics HTTP/1.1\\r\\nX: " if number else b"GET /" + b"a" * 100000)
        time.sleep(30)
        """
    net.python(CARD, half)
    # A hundred clients of the control socket with half a request each, and captures that nobody reads.
    halves = [socket.socket(socket.AF_UNIX) for _ in range(90)]
    for one in halves:
        one.connect(path)
        one.sendall(b'{"do":"stat')
    lazy = []
    for _ in range(16):
        one = socket.socket(socket.AF_UNIX)
        one.connect(path)
        one.sendall(b'{"do":"capture","port":"0"}\n')
        assert one.recv(10) == b'{"ok":{}}\n'[:10]
        lazy.append(one)
    more = socket.socket(socket.AF_UNIX)
    more.connect(path)
    more.sendall(b'{"do":"capture","port":"0"}\n')
    assert b"16 captures are under way" in more.recv(4096)
    # Requests without a pause.
    flood = [socket.socket(socket.AF_UNIX) for _ in range(4)]
    for one in flood:
        one.connect(path)
        one.setblocking(False)
    sent = 0
    end = time.monotonic() + 2
    sender = net.python(LEFT, SEND, "20000", "80", "0.01")
    while time.monotonic() < end:
        for one in flood:
            try:
                sent += one.send(b'{"do":"status"}\n' * 50)
            except BlockingIOError:
                pass
    finish(sender)
    assert sent > 10_000
    # Too many clients are refused, and told so.
    crowd = [socket.socket(socket.AF_UNIX) for _ in range(60)]
    answers = []
    for one in crowd:
        one.connect(path)
        one.settimeout(0.2)
        try:
            answers.append(one.recv(4096))
        except TimeoutError:
            answers.append(b"")
    assert any(b"128 clients are connected already" in answer for answer in answers)
    for one in (*crowd, *halves, *flood, more):
        one.close()
    time.sleep(0.5)
    status = up.status()
    assert status["ports"][0]["rx_frames"] == 20_000 and status["ports"][1]["tx_frames"] == 20_000, status
    assert status["drops"] == {} and status["faults"] == []
    for one in lazy:
        one.close()
    # The first forty have ended by now.
    end = time.monotonic() + 20
    while True:
        try:
            assert scraped(net, "127.0.0.1:9560")[0] == 200
            break
        except AssertionError:
            assert time.monotonic() < end
            time.sleep(1)
    up.stop()


def test_systemd_hears_of_it(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """A real notify socket gets READY when frames flow, signs of life while they do, and STOPPING at the end."""
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(str(tmp_path / "notify"))
    notify.settimeout(20)
    os.environ |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "400000"}
    try:
        up = Up(net, tmp_path, make_design(FORWARD, units=1))
    finally:
        del os.environ["NOTIFY_SOCKET"], os.environ["WATCHDOG_USEC"]
    first = notify.recv(4096).decode()
    assert "READY=1" in first.splitlines() and "STATUS=" in first
    signs = [notify.recv(4096) for _ in range(3)]
    assert all(sign == b"WATCHDOG=1" for sign in map(bytes.strip, signs)), signs
    # A card that is stopped gives none.
    up.process.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    notify.setblocking(False)
    left = 0
    while True:
        try:
            notify.recv(4096)
            left += 1
        except BlockingIOError:
            break
    time.sleep(0.6)
    with pytest.raises(BlockingIOError):
        notify.recv(4096)
    assert left <= 4
    notify.settimeout(20)
    up.process.send_signal(signal.SIGCONT)
    up.process.send_signal(signal.SIGTERM)
    up.process.communicate(timeout=20)
    messages = []
    while b"STOPPING=1" not in messages:
        messages.append(notify.recv(4096).strip())
    assert up.process.returncode == 0


def test_a_card_in_the_background(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """The command ends when frames flow, or with the reason why none will."""
    design = make_design(FORWARD, units=1)
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "PENSTOCK_ROOT": str(ROOT)}

    def up(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = net.command(CARD, COMMAND_LINE, "up", design, *words, "--daemon")
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)

    done = up("--port", "0=p0", "--port", "1=p1")
    assert done.returncode == 0 and done.stdout.startswith("test is up in the background: process "), done
    process = int(done.stdout.split("process ")[1].split(";")[0])
    log = Path(done.stdout.split("log in ")[1].strip())
    try:
        send(net, 50)
        time.sleep(0.3)
        asked = subprocess.run(
            [COMMAND_LINE, "ctl", "--json", "status"], env=env, capture_output=True, text=True, check=True
        )
        status = json.loads(asked.stdout)["status"]
        assert status["process"] == process and status["ports"][0]["rx_frames"] == 50
        # It has a session of its own: the end of the terminal does not reach it.
        assert os.getsid(process) == process
        assert not list((tmp_path / "penstock").glob("*.notify"))
        again = up("--port", "0=p2", "--port", "1=p3")
        assert again.returncode != 0 and "is up already" in again.stderr, again
    finally:
        os.kill(process, signal.SIGTERM)
    end = time.monotonic() + 20
    while Path(f"/proc/{process}").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert "test is up: port0 = p0" in log.read_text()
    assert up("--port", "0=nothing").stderr.count("there is no interface `nothing`") == 1
    # A log of one's own
    for words in (["--log", tmp_path / "own.log"], [f"--log={tmp_path}/own.log"]):
        done = up("--port", "0=p0", "--port", "1=p1", *words)
        assert done.returncode == 0, done
        os.kill(process := int(done.stdout.split("process ")[1].split(";")[0]), signal.SIGTERM)
        while Path(f"/proc/{process}").exists():
            assert time.monotonic() < end + 40
            time.sleep(0.05)
    assert (tmp_path / "own.log").read_text().count("test is up: port0 = p0") == 2


def test_a_log_for_collectors(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """Each line is JSON: a start, a change, a change that was refused, a fault, and the end."""
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "PENSTOCK_ROOT": str(ROOT)}
    command = net.command(CARD, COMMAND_LINE, "up", make_design(FORWARD, units=2), "--log-format", "json")
    with subprocess.Popen(
        [*command, "--port", "0=p0", "--port", "1=p1"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as up:
        assert up.stderr is not None and up.stdout is not None
        lines = []
        while not lines or "control socket" not in lines[-1]["message"]:
            lines.append(json.loads(up.stderr.readline()))
        for words in (["disable", "1"], ["disable", "7"], ["status"]):
            subprocess.run([COMMAND_LINE, "ctl", *words], env=env, capture_output=True, check=False)
        net.run(CARD, "ip", "link", "set", "p1", "down")
        while lines[-1]["level"] != "WARN":
            lines.append(json.loads(up.stderr.readline()))
        up.send_signal(signal.SIGTERM)
        lines += [json.loads(line) for line in up.stderr]
        assert up.wait(20) == 0 and up.stdout.read() == ""
    times = [datetime.datetime.fromisoformat(line["timestamp"]) for line in lines]
    now = datetime.datetime.now(datetime.UTC)
    assert times == sorted(times) and now - times[0] < datetime.timedelta(minutes=2)
    assert lines[0]["message"].startswith("test is up: port0 = p0") and lines[0]["level"] == "INFO"
    done, refused = (line for line in lines if "request" in line)
    assert json.loads(done["request"]) == {"do": "disable", "unit": 1}
    assert done["message"] == "changed" and refused["message"] == "not changed"
    assert json.loads(refused["request"]) == {"do": "disable", "unit": 7}
    assert "there is no unit 7" in refused["why"]
    assert any(line["level"] == "WARN" and line["message"].startswith("port1 (p1) is down") for line in lines)


def test_the_unit_file() -> None:
    """systemd's own checker finds nothing wrong but the place of the program, which is not here."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze (Debian: apt-get install systemd)")
    unit = ROOT / "packaging/penstock@.service"
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if "penstock" in line and "/opt/penstock" not in line]
    assert not lines, done.stderr
