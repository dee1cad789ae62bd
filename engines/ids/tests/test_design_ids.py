# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The ids block in a card, on both targets: alerts, drops and records, against brute force in plain Python and the
rules of the demo.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from ids_messages import WORDS, Condition, MessageRule
from ids_messages import request as any_request
from ids_messages import response as any_response
from ids_oracle import Oracle, Packet, read
from ids_random import CLIENT, SERVER, rule_text, traffic
from ids_soft import frame
from scapy.layers.inet import GRE, ICMP, IP, TCP, UDP, fragment
from scapy.layers.l2 import Ether
from scapy.layers.vxlan import VXLAN
from system import ROOT, TARGETS, Run, assert_twins, call, run_design, write_capture

DESIGN = ROOT / "designs/ids.toml"
BLOCKING = ROOT / "designs/ids-ips.toml"
A, B = (CLIENT, 4000), (SERVER, 80)


def records(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Alerts and counters of a file of EVE records."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["event_type"] for line in lines] == ["alert"] * (len(lines) - 1) + ["stats"]
    return lines[:-1], lines[-1]["stats"]


def play(
    packets: list[Packet], rules: list[str], folder: Path, target: str, design: Path = DESIGN
) -> tuple[Run, list[dict[str, Any]], dict[str, Any]]:
    """Sends packets through a card: of each connection, both directions enter at one port."""
    folder.mkdir(parents=True, exist_ok=True)
    capture = write_capture(folder / "in.pcap", [frame(packet) for packet in packets])
    (folder / "my.rules").write_text("\n".join(rules) + "\n", encoding="latin-1")
    options: list[str | Path] = ["--rules", folder / "my.rules", "--eve", folder / "eve.json"]
    run = run_design(design, [capture], folder / f"out_{target}", target, *options)
    assert run.status == 0, run.stderr
    return run, *records(folder / "eve.json")


def session() -> list[Packet]:
    return [
        Packet("tcp", A, B, b"", 99, "S"),
        Packet("tcp", B, A, b"", 499, "SA", 100),
        Packet("tcp", A, B, b"", 100, "A", 500),
        Packet("tcp", A, B, b"GET /forbi", 100, "PA", 500),
        Packet("tcp", B, A, b"200", 500, "PA", 110),
        Packet("tcp", A, B, b"dden HTTP/1.0", 110, "PA", 503),
        Packet("tcp", B, A, b"later answer", 503, "PA", 123),
        Packet("tcp", A, B, b"later request", 123, "PA", 515),
        Packet("tcp", B, A, b"nothing to find", 515, "PA", 136),
        Packet("udp", A, B, b"forbidden datagram", 0, ""),
        Packet("udp", A, B, b"harmless datagram", 0, ""),
    ]


RULES = [
    'drop tcp any any -> any 80 (msg:"word"; flow:established,to_server; content:"GET "; startswith; '
    'content:"Forbidden"; nocase; '
    "distance:0; classtype:policy-violation; metadata:key value; rev:3; sid:1;)",
    'drop udp any any -> any any (msg:"datagram"; content:"forbidden"; priority:2; sid:2;)',
    'alert tcp any any -> any any (msg:"answer"; flow:to_client; content:"later answer"; sid:3;)',
]


# The card behind its shell is a model of its own.
@pytest.mark.parametrize("target", [*TARGETS, pytest.param("fpga", marks=pytest.mark.long)])
def test_alerts_are_eve_records(target: str, tmp_path: Path) -> None:
    run, alerts, stats = play(session(), RULES, tmp_path, target)
    assert len(run.frames["port1"]) == 11
    word, answer, datagram = alerts
    assert word == {
        "timestamp": "1970-01-01T00:00:00.000005+0000",
        "flow_id": word["flow_id"],
        "event_type": "alert",
        "src_ip": CLIENT,
        "src_port": 4000,
        "dest_ip": SERVER,
        "dest_port": 80,
        "proto": "TCP",
        "direction": "to_server",
        "alert": {
            "action": "allowed",
            "gid": 1,
            "signature_id": 1,
            "rev": 3,
            "signature": "word",
            "category": "Potential Corporate Privacy Violation",
            "severity": 1,
            "metadata": {"key": ["value"]},
        },
    }
    assert (answer["src_ip"], answer["src_port"], answer["direction"]) == (SERVER, 80, "to_client")
    assert answer["flow_id"] == word["flow_id"] != datagram["flow_id"]
    assert (datagram["proto"], datagram["alert"]["severity"]) == ("UDP", 2)
    assert stats["detect"]["alert"] == 3
    [block] = run.result["counters"]["inline"]["blocks"]
    assert block["frames"] == 11 and "detect" in json.dumps(block)


@pytest.mark.parametrize("target", TARGETS)
def test_rules_drop_packets_and_flows(target: str, tmp_path: Path) -> None:
    run, alerts, stats = play(session(), RULES, tmp_path, target, BLOCKING)
    # From the match on, nothing of the flow passes; of the datagrams one does.
    assert len(run.frames["port1"]) == 6
    assert run.result["drops"]["blocked"] == 5
    assert [(alert["alert"]["signature_id"], alert["alert"]["action"]) for alert in alerts] == [
        (1, "blocked"),
        (2, "blocked"),
    ]
    assert stats["ips"]["blocked"] == 5


@pytest.mark.parametrize("seed", range(3))
def test_targets_report_what_brute_force_does(seed: int, tmp_path: Path) -> None:
    random = Random(1000 + seed)
    rules = [rule_text(random, sid) for sid in range(1, 61)]
    parsed = [read(rule) for rule in rules]
    packets = traffic(random, parsed, 10)
    oracle = Oracle(parsed)
    expected = sorted(
        (number, sid, packet.source[1], packet.target[1])
        for number, packet in enumerate(packets)
        for sid in oracle.packet(packet)
    )
    runs = []
    for target in TARGETS:
        run, alerts, _ = play(packets, rules, tmp_path / target, target)
        micro = [int(alert["timestamp"][20:26]) for alert in alerts]
        found = sorted(
            (time, alert["alert"]["signature_id"], alert["src_port"], alert["dest_port"])
            for time, alert in zip(micro, alerts, strict=True)
        )
        assert found == expected, target
        runs.append(run)
    assert_twins(*runs)


MESSAGES = [
    'alert http any any -> any any (http.uri; content:"/evil/x"; sid:1;)',
    'alert http any any -> any any (flow:to_client; file_data; content:"payload-of-mine"; sid:2;)',
    'alert dns any any -> any any (dns.query; content:"badname"; sid:3;)',
    'alert http any any -> any any (http.user_agent; content:"bad-bot"; sid:4;)',
]


@pytest.mark.parametrize("target", TARGETS)
def test_messages_are_found(target: str, tmp_path: Path) -> None:
    """The URI is encoded, the body comes in chunks: neither string stands in a frame."""
    request = b"GET /e%76il//x HTTP/1.1\r\nUser-Agent: a bad-bot\r\n\r\n"
    response = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\npayload-\r\n7\r\nof-mine\r\n0\r\n\r\n"
    query = b"\0\1\1\0\0\1\0\0\0\0\0\0\3www\7BadName\4test\0\0\1\0\1".replace(b"BadName", b"badname")
    packets = [
        *session()[:3],
        Packet("tcp", A, B, request[:20], 100, "PA", 500),
        Packet("tcp", A, B, request[20:], 120, "PA", 500),
        Packet("tcp", B, A, response[:60], 500, "PA", 100 + len(request)),
        Packet("tcp", B, A, response[60:], 560, "PA", 100 + len(request)),
        Packet("udp", A, (SERVER, 53), query, 0, ""),
    ]
    _, alerts, stats = play(packets, MESSAGES, tmp_path, target)
    assert [(alert["timestamp"][20:26], alert["alert"]["signature_id"]) for alert in alerts] == [
        ("000004", 1),
        ("000004", 4),
        ("000006", 2),
        ("000007", 3),
    ]
    assert alerts[0]["http"]["url"] == "/e%76il//x" and alerts[3]["dns"]["rrname"] == "www.badname.test"
    assert stats["app_layer"]["http_requests"] == 1


@pytest.mark.parametrize("target", TARGETS)
def test_responses_without_a_string_stay_on_the_card(target: str, tmp_path: Path) -> None:
    """The host reads the encoded response and the one with the string, and finds the bytes before them in the log."""
    body = gzip.compress(
        b"the payload-of-mine in words that do not stand in the stream" + bytes(Random(1).randbytes(200))
    )
    encoded = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    plain = b"HTTP/1.1 200 OK\r\nContent-Length: 800\r\n\r\n" + b"." * 800
    last = b"HTTP/1.1 200 OK\r\nContent-Length: 415\r\n\r\n" + b"." * 400 + b"payload-of-mine"
    responses = (plain, plain, encoded, plain, last)
    packets, at = session()[:3], 500
    for response in responses:
        for begin in range(0, len(response), 100):
            piece = response[begin : begin + 100]
            packets.append(Packet("tcp", B, A, piece, at, "PA", 100))
            at += len(piece)
    run, alerts, _ = play(packets, MESSAGES, tmp_path, target)
    counts = [-(-len(response) // 100) for response in responses]
    ends = [2 + sum(counts[: number + 1]) for number in (2, 4)]
    assert [(int(alert["timestamp"][20:26]), alert["alert"]["signature_id"]) for alert in alerts] == [
        (end, 2) for end in ends
    ]
    if target == "rtl":
        [block] = run.result["counters"]["inline"]["blocks"]
        card = block["own"]["card"]
        # The SYN of both ends, the encoded response, the last frame; one more each whose string begins in it
        assert card["told"] <= 2 + counts[2] + 2, card
        assert card["gone"] == 0 and card["history"] >= sum(counts[:2])


@pytest.mark.parametrize("target", TARGETS)
def test_keyed_messages_match_as_their_fields_say(target: str, tmp_path: Path) -> None:
    """Each message that a rule may match has a key or a header that says it is encoded. The host lets go of a direction
    behind such a message, and misses none of the later ones: cut anywhere, in chunks, compressed, with folded headers.
    """
    random = Random(7)
    words = [word for word in WORDS if word.isalnum()]
    rules, sid = [], 0
    for to_server, keywords in (
        (True, ["http.user_agent", "http.request_body", "http.uri.raw"]),
        (False, ["http.server", "http.response_body", "http.stat_code", "http.stat_msg"]),
    ):
        for keyword in keywords:
            for word in [*words, "bad-bot", "Apache", "404", "Found"]:
                more = random.choice(["", "", f'file_data; content:"{random.choice(words)}"; '])
                part, sid = f'content:"{word}"; ', sid + 1
                conditions = [Condition(keyword, "", steps(part))]
                if more:
                    conditions.append(Condition("file_data", "", steps(more.partition("; ")[2])))
                way = "to_server" if to_server else "to_client"
                text = f"alert http any any -> any any (flow:{way}; {keyword}; {part}{more}sid:{sid};)"
                rules.append((text, MessageRule(to_server, conditions, sid)))
    packets, wanted = [], set()
    for number in range(12):
        client, at = (CLIENT, 5000 + number), {True: 100, False: 500}
        packets += [Packet("tcp", client, B, b"", 99, "S"), Packet("tcp", B, client, b"", 499, "SA", 100)]
        for _ in range(6):
            # Half of the messages have no string of a rule.
            dull = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + b"." * 900
            message = (any_request if random.random() < 0.3 else any_response)(random)
            for to_server, sent in [(False, dull)] * random.randint(0, 2) + [(message.to_server, message.sent)]:
                begin = 0
                while begin < len(sent):
                    piece = sent[begin : begin + random.choice([1, 7, 40, 300])]
                    ends = (client, B) if to_server else (B, client)
                    packets.append(Packet("tcp", *ends, piece, at[to_server], "PA", at[not to_server]))
                    at[to_server] += len(piece)
                    begin += len(piece)
            wanted |= {(client[1], parsed.sid) for _, parsed in rules if parsed.matches(message)}
    run, alerts, _ = play(packets, [text for text, _ in rules], tmp_path, target)
    ports = [alert["src_port"] if alert["src_port"] != 80 else alert["dest_port"] for alert in alerts]
    assert {(port, alert["alert"]["signature_id"]) for port, alert in zip(ports, alerts, strict=True)} == wanted
    assert len(wanted) > 60
    if target == "rtl":
        [block] = run.result["counters"]["inline"]["blocks"]
        card = block["own"]["card"]
        assert card["gone"] == 0 and card["history"] > 0 and card["told"] < len(packets) * 3 // 4, card


def steps(part: str) -> list[Any]:
    """The conditions of a part of a rule as the evaluator has them."""
    return read(f"alert tcp any any -> any any ({part})").steps


@pytest.mark.parametrize("target", TARGETS)
def test_datagrams_of_tunnels_are_told(target: str, tmp_path: Path) -> None:
    """Of datagrams the host looks at those to and from ports of tunnels, and at those with a string."""
    packets = [
        Packet("udp", A, B, b"harmless", 0, ""),
        Packet("udp", A, (SERVER, 4789), b"\0harmless", 0, ""),
        Packet("udp", (CLIENT, 4789), B, b"harmless", 0, ""),
        Packet("udp", A, (SERVER, 6081), b"harmless", 0, ""),
        Packet("udp", (CLIENT, 3544), B, b"harmless", 0, ""),
        Packet("udp", A, (SERVER, 3544), b"harmless", 0, ""),
        Packet("udp", A, B, b"forbidden", 0, ""),
    ]
    rule = 'alert udp any any -> any any (content:"forbidden"; sid:1;)'
    run, alerts, _ = play(packets, [rule], tmp_path, target)
    assert len(alerts) == 1
    if target == "rtl":
        [block] = run.result["counters"]["inline"]["blocks"]
        card = block["own"]["card"]
        assert (card["told"], card["told_class"], card["told_string"]) == (5, 4, 1)


@pytest.mark.parametrize("target", TARGETS)
def test_protocols_are_known_by_their_first_bytes(target: str, tmp_path: Path) -> None:
    """The bytes that name the protocol come before the frame that the card tells the host."""
    rules = [
        'alert smb any any -> any any (content:"word of mine"; sid:1;)',
        'alert rfb any any -> any any (content:"word of mine"; sid:2;)',
    ]
    begin = b"\0\0\0\x20\xfeSMB and more"
    packets = [*session()[:3], Packet("tcp", A, B, begin[:6], 100, "PA", 500)]
    packets += [Packet("tcp", A, B, begin[6:], 106, "PA", 500)]
    packets += [Packet("tcp", A, B, b"a word of mine", 100 + len(begin), "PA", 500)]
    _, alerts, _ = play(packets, rules, tmp_path, target)
    assert [(alert["alert"]["signature_id"], alert["app_proto"]) for alert in alerts] == [(1, "smb")]
    # The server's first bytes name the protocol, in a frame that has no string of a rule.
    rules = [
        'alert pop3 any any -> any any (content:"word of mine"; sid:1;)',
        'alert tcp any any -> any any (content:"other word"; app-layer-protocol:!pop3; sid:2;)',
    ]
    packets = [*session()[:3], Packet("tcp", B, A, b"+OK ready", 500, "PA", 100)]
    packets += [Packet("tcp", A, B, b"a word of mine and other words", 100, "PA", 509)]
    _, alerts, _ = play(packets, rules, tmp_path / "server", target)
    assert [(alert["alert"]["signature_id"], alert["app_proto"]) for alert in alerts] == [(1, "pop3")]


@pytest.mark.parametrize("target", TARGETS)
def test_packets_in_others_are_found(target: str, tmp_path: Path) -> None:
    """A string that segments part: in a tunnel, in fragments, and around a segment with a wrong checksum."""
    rules = ['alert tcp any any -> any any (content:"secret word"; sid:1;)']
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")

    def segment(port: int, at: int, text: bytes, **more: int) -> Any:
        return (
            IP(src=CLIENT, dst=SERVER) / TCP(sport=port, dport=80, seq=at, flags="PA" if text else "S", **more) / text
        )

    frames: list[Any] = []
    tunnels = [IP() / GRE(), IP() / UDP(sport=9, dport=4789) / VXLAN() / ether, IP()]
    for port, before in enumerate(tunnels, 1):
        frames += [ether / before / segment(port, *part) for part in ((99, b""), (100, b"secret"), (106, b" word"))]
    frames += [ether / segment(11, 99, b""), ether / segment(11, 100, b"secret")]
    frames += [ether / piece for piece in fragment(segment(11, 106, b" word" + bytes(40)), fragsize=24)]
    # The card tells the segment behind the one that it has not seen, and with it those before.
    frames += [ether / segment(11, 151, b"more"), ether / segment(12, 99, b""), ether / segment(12, 100, b"secret")]
    frames += [ether / segment(12, 106, b"chaff", chksum=0x1234), ether / segment(12, 106, b" word")]
    capture = write_capture(tmp_path / "in.pcap", [bytes(data) for data in frames])
    (tmp_path / "my.rules").write_text(rules[0] + "\n")
    options: list[str | Path] = ["--rules", tmp_path / "my.rules", "--eve", tmp_path / "eve.json"]
    run = run_design(DESIGN, [capture], tmp_path / "out", target, *options)
    assert run.status == 0, run.stderr
    alerts, stats = records(tmp_path / "eve.json")
    assert [alert["src_port"] for alert in alerts] == [1, 2, 3, 11, 12]
    assert (stats["defrag"]["reassembled"], stats["tcp"]["invalid_checksum"]) == (1, 1)


@pytest.mark.parametrize("target", TARGETS)
def test_strings_are_found_where_the_card_does_not_search(target: str, tmp_path: Path) -> None:
    """The card searches TCP and UDP, so the host gets all other packets that a rule with a string can match."""
    rules = [
        'alert icmp any any -> any any (content:"hidden"; sid:1;)',
        'alert ip any any -> any any (content:"other"; sid:2;)',
    ]
    ends = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src=CLIENT, dst=SERVER)
    echo = ends / ICMP(type=8)
    frames = [
        echo / b"hidden",
        echo / b"harmless",
        ends.copy() / b"some other",
        echo / b"an other",
        ends / UDP() / b"hidden",
    ]
    frames[2][IP].proto = 132
    capture = write_capture(tmp_path / "in.pcap", [bytes(data) for data in frames])
    for wanted, used in [([(0, 1)], rules[:1]), ([(2, 2), (3, 2)], rules[1:]), ([(0, 1), (2, 2), (3, 2)], rules)]:
        (tmp_path / "my.rules").write_text("\n".join(used) + "\n")
        options: list[str | Path] = ["--rules", tmp_path / "my.rules", "--eve", tmp_path / "eve.json"]
        run = run_design(DESIGN, [capture], tmp_path / f"out{len(wanted)}", target, *options)
        assert run.status == 0, run.stderr
        alerts, _ = records(tmp_path / "eve.json")
        found = [(int(alert["timestamp"][20:26]), alert["alert"]["signature_id"]) for alert in alerts]
        assert sorted(found) == wanted


@pytest.mark.parametrize("target", TARGETS)
def test_events_sets_and_files_of_forms_are_found(target: str, tmp_path: Path) -> None:
    """The card tells the host all that these rules need, also frames that cannot be decoded."""
    rules = [
        'alert http any any -> any any (flow:to_server; fileext:"php"; file.data; content:"<?php"; sid:1;)',
        "alert dns any any -> any any (dns.query; dataset:set,names,type string,save names.out; sid:2;)",
        "alert pkthdr any any -> any any (decode-event:tcp.pkt_too_small; sid:3;)",
        "alert tcp any any -> any any (stream-event:pkt_retransmission; sid:4;)",
        'alert tcp any any -> any any (flow:only_stream; content:"denied"; sid:5;)',
        'alert tcp-pkt any any -> any any (flags:RA; content:"denied"; sid:6;)',
        "alert icmp any any -> any any (decode-event:icmpv4.unknown_code; sid:7;)",
        "alert http any any -> any any (app-layer-event:http.missing_host_header; flowbits:set,odd; sid:8;)",
    ]
    part = b'--x\r\nContent-Disposition: form-data; filename="a.php"\r\n\r\n<?php\r\n--x--\r\n'
    head = b"POST / HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: %d\r\n\r\n" % len(part)
    query = Packet("udp", A, (SERVER, 53), b"\0\7\1\0\0\1\0\0\0\0\0\0\4some\4test\0\0\1\0\1", 0, "")
    begin = session()[:3]
    data = Packet("tcp", A, B, head + part[:30], 100, "PA", 500)
    rest = Packet("tcp", A, B, part[30:], 100 + len(data.payload), "PA", 500)
    reset = Packet("tcp", A, B, b"denied", rest.sequence + len(rest.payload), "RA", 500)
    small = IP(src=CLIENT, dst=SERVER, proto=6) / b"half a header"
    echo = IP(src=CLIENT, dst=SERVER, proto=1) / b"\x08\x05\0\0\0\0\0\0"
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    frames = [frame(packet) for packet in [*begin, data, data, rest, reset, query, query]]
    frames += [bytes(ether / small).ljust(60, b"\0"), bytes(ether / echo).ljust(60, b"\0")]
    capture = write_capture(tmp_path / "in.pcap", frames)
    (tmp_path / "my.rules").write_text("\n".join(rules) + "\n")
    (tmp_path / "kept").mkdir()
    design = tmp_path / "ids.toml"
    text = DESIGN.read_text().replace('"../', f'"{DESIGN.resolve().parent.parent}/')
    design.write_text(text.replace("ids.mode", 'ids.datasets = "kept"\nids.mode'))
    options: list[str | Path] = ["--rules", tmp_path / "my.rules", "--eve", tmp_path / "eve.json"]
    run = run_design(design, [capture], tmp_path / "out", target, *options)
    assert run.status == 0, run.stderr
    alerts, _ = records(tmp_path / "eve.json")
    found = [(int(alert["timestamp"][20:26]), alert["alert"]["signature_id"]) for alert in alerts]
    assert sorted(found) == [(3, 8), (4, 4), (5, 1), (6, 6), (7, 2), (9, 3), (10, 7)]
    assert next(alert for alert in alerts if alert["alert"]["signature_id"] == 1)["metadata"] == {"flowbits": ["odd"]}
    assert (tmp_path / "kept/names.out").read_text() == "c29tZS50ZXN0\n"


def test_compile_names_what_does_not_load(tmp_path: Path) -> None:
    rules = tmp_path / "my.rules"
    rules.write_text(
        'alert tcp any any -> any any (content:"rare-word-of-mine"; sid:1;)\n'
        'alert nosuch any any -> any any (content:"x"; sid:2;)\n'
        'alert udp any any -> any any (content:"ab"; sid:3;)\n'
    )
    done = call("compile", "ids", rules)
    assert done.returncode == 1
    assert f"{rules}:2: the protocol `nosuch` is not supported" in done.stderr and "--skip-unsupported" in done.stderr
    about = tmp_path / "about.json"
    done = call("compile", "ids", rules, "--skip-unsupported", "--explain", "--json", about)
    assert done.returncode == 0, done.stderr
    assert "left out: " in done.stdout and "all its contents are shorter than 3 bytes" in done.stdout
    told = json.loads(about.read_text())
    assert [(rule["sid"], rule["key"] is None) for rule in told["rules"]] == [(1, False), (3, True)]
    assert told["rules"][0]["key"] in "rare-word-of-mine"
    assert told["skipped"][0]["keyword"] == "nosuch" and told["every_frame_of"] == ["UDP"]


def test_faults_of_settings_name_the_way_out(tmp_path: Path) -> None:
    rules = tmp_path / "my.rules"
    capture = write_capture(tmp_path / "in.pcap", [frame(packet) for packet in session()])
    for text, words in [
        (
            'alert tcp any any -> any any (content:"abc"; sid:1;)\nalert tcp any any -> any any (sid:1;)',
            ":2: sid 1 is also",
        ),
        ('alert tcp $NOWHERE any -> any any (content:"abc"; sid:1;)', "variables.NOWHERE"),
        ("alert tcp any any -> any any (sid:1", "no `)` at their end"),
    ]:
        rules.write_text(text + "\n")
        run = run_design(DESIGN, [capture], tmp_path / "out", "soft", "--rules", rules)
        assert run.status == 1 and words in run.stderr, run.stderr
    run = run_design(DESIGN, [capture], tmp_path / "out", "soft", "--rules", tmp_path / "none.rules")
    assert run.status == 1 and "give a file of rules" in run.stderr
    run = run_design(DESIGN, [capture], tmp_path / "out", "soft", "--eve", tmp_path / "none/eve.json")
    assert run.status == 1 and "--eve FILE" in run.stderr
