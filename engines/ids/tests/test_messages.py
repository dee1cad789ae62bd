# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Rules about messages of HTTP, DNS and TLS on the native engine: against messages whose fields are known, against
parsers of others (Python's http.client, Scapy), and from the documented semantics of each keyword.
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import io
import json
import ssl
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest
from ids_messages import request, response, rule
from ids_oracle import Packet
from ids_random import CLIENT, SERVER
from ids_soft import Soft, frame
from penstock.cargo import example
from scapy.layers.dns import DNS, DNSQR, DNSRR

A, B = (CLIENT, 4000), (SERVER, 80)


def rules_file(folder: Path, rules: list[str]) -> Path:
    path = folder / "test.rules"
    path.write_text("\n".join(rules) + "\n", encoding="latin-1")
    return path


def handshake(port: int = 4000) -> list[Packet]:
    client = (CLIENT, port)
    return [
        Packet("tcp", client, B, b"", 99, "S"),
        Packet("tcp", B, client, b"", 499, "SA", 100),
        Packet("tcp", client, B, b"", 100, "A", 500),
    ]


def segments(random: Random, data: bytes, source: tuple[str, int], target: tuple[str, int], first: int) -> list[Packet]:
    """Segments of a stream, of which some come late and some twice."""
    out, at = [], 0
    while at < len(data):
        size = random.choice([1, 2, 7, 60, 500])
        packet = Packet("tcp", source, target, data[at : at + size], first + at, "PA")
        out += [packet] * random.choice([1, 1, 1, 1, 2])
        at += size
    order = sorted(range(len(out)), key=lambda place: place + random.choice([0, 0, 0, 2.5]))
    return [out[place] for place in order]


def sids(answer: dict[str, Any]) -> list[int]:
    return [alert["alert"]["signature_id"] for alert in answer["alerts"]]


def exchange(*parts: tuple[bool, bytes], server: tuple[str, int] = B) -> list[Packet]:
    """A connection in which each part is one segment: whether it goes to the server, and its bytes."""
    packets, at = [], {True: 100, False: 500}
    for to_server, data in parts:
        ends = (A, server) if to_server else (server, A)
        packets.append(Packet("tcp", *ends, data, at[to_server], "PA"))
        at[to_server] += len(data)
    begin = [Packet("tcp", A, server, b"", 99, "S"), Packet("tcp", server, A, b"", 499, "SA", 100)]
    return begin + packets


def play(folder: Path, rules: list[str], packets: list[Packet]) -> tuple[list[list[int]], dict[str, Any], list[dict]]:
    """The sids of each packet behind the two of the handshake, the end of the run, and all alerts."""
    with Soft(rules_file(folder, rules)) as soft:
        answers = [soft.frame(frame(packet), number) for number, packet in enumerate(packets)]
        end = soft.finish()
    return [sids(answer) for answer in answers][2:], end, [alert for answer in answers for alert in answer["alerts"]]


@pytest.mark.parametrize("seed", range(8))
def test_rules_about_http_match_as_the_fields_say(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    flows = []
    for _ in range(12):
        count = random.randint(1, 4)
        flows.append([[request(random) for _ in range(count)], [response(random) for _ in range(count)]])
    everything = [message for flow in flows for side in flow for message in side]
    rules = [rule(random, sid, everything) for sid in range(1, 121)]
    alerts = 0
    with Soft(rules_file(tmp_path, [text for text, _ in rules])) as soft:
        for number, (requests, responses) in enumerate(flows):
            client = (CLIENT, 5000 + number)
            packets = handshake(5000 + number)
            packets += segments(random, b"".join(message.sent for message in requests), client, B, 100)
            packets += segments(random, b"".join(message.sent for message in responses), B, client, 500)
            found = {sid for packet in packets for sid in soft.sids(frame(packet))}
            wanted = {
                parsed.sid for _, parsed in rules if any(parsed.matches(message) for message in requests + responses)
            }
            assert found == wanted, [text for text, parsed in rules if parsed.sid in found ^ wanted]
            alerts += len(found)
        end = soft.finish()
    assert end["alerts"] == [] and end["stats"]["detect"]["app"]["malformed"] == 0
    assert alerts > 150


class Parser:
    """The messages of the parser; see lib/app/examples/messages.rs."""

    def __init__(self) -> None:
        command = [example("messages")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, *directions: tuple[str, bytes]) -> list[list[tuple[str, bytes]]]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("|".join(f"{kind} {data.hex()}" for kind, data in directions) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return [[(name, bytes.fromhex(value)) for name, value in message] for message in answer]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


class Socket:
    def __init__(self, data: bytes) -> None:
        self.file = io.BytesIO(data)

    def makefile(self, *_: Any) -> io.BytesIO:
        return self.file


def test_responses_are_those_of_http_client(parser: Parser) -> None:
    random = Random(3)
    for _ in range(100):
        message = response(random)
        theirs = http.client.HTTPResponse(Socket(message.sent))  # type: ignore[arg-type]
        theirs.begin()
        body = theirs.read()
        coding = (theirs.getheader("content-encoding") or "").strip().lower()
        if coding == "gzip":
            body = gzip.decompress(body)
        ours = dict(parser.read(("response", message.sent))[0])
        assert ours["StatusCode"] == b"%d" % theirs.status and ours["StatusMessage"] == theirs.reason.encode()
        names = [name.encode() for name in theirs.headers]
        assert ours.get("HeaderNames", b"\r\n\r\n") == b"\r\n" + b"".join(name + b"\r\n" for name in names) + b"\r\n"
        if coding != "deflate":
            assert ours.get("Body", b"") == body


def values(message: list[tuple[str, bytes]], field: str) -> list[bytes]:
    return [value for name, value in message if name == field]


def test_names_are_those_of_scapy(parser: Parser) -> None:
    random = Random(4)
    for number in range(200):
        names = [
            ".".join(random.choices(["a", "mail", "Example", "x" * 63, "com"], k=random.randint(1, 4))) for _ in "ab"
        ]
        question = DNSQR(qname=names[0], qtype=random.choice([1, 16, 28]))
        dns = DNS(id=number, qr=0, qd=question)
        if random.random() < 0.5:
            answers = DNSRR(rrname=names[1], type="A", rdata="1.2.3.4") / DNSRR(rrname=names[0], type="TXT", rdata="t")
            dns = DNS(
                id=number, qr=1, qd=question, an=[answers[DNSRR], answers[DNSRR].payload], rcode=random.choice([0, 3])
            )
        data = bytes(dns)
        theirs = DNS(data)
        [message] = parser.read(("dns", len(data).to_bytes(2, "big") + data))
        assert values(message, "QuestionName") == [entry.qname.rstrip(b".") for entry in theirs.qd]
        assert values(message, "AnswerName") == [entry.rrname.rstrip(b".") for entry in theirs.an or []]
        assert values(message, "Query") == ([] if theirs.qr else values(message, "QuestionName"))
        assert values(message, "ResponseCode") == ([theirs.rcode.to_bytes(4, "big")] if theirs.qr else [])


def vector(width: int, data: bytes) -> bytes:
    return len(data).to_bytes(width, "big") + data


def client_hello(name: str) -> bytes:
    """A hello with GREASE (RFC 8701), written from RFC 8446."""
    extensions = [
        (0, vector(2, b"\0" + vector(2, name.encode()))),
        (10, vector(2, bytes.fromhex("1a1a001d0017"))),
        (11, vector(1, b"\0")),
    ]
    parts = b"".join(kind.to_bytes(2, "big") + vector(2, data) for kind, data in extensions)
    body = (
        b"\x03\x03"
        + bytes(32)
        + vector(1, b"")
        + vector(2, bytes.fromhex("0a0a1301c02f"))
        + vector(1, b"\0")
        + vector(2, parts)
    )
    return b"\x16\x03\x01" + vector(2, b"\x01" + vector(3, body))


def short(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:12]


def test_hellos_have_names_and_fingerprints(parser: Parser) -> None:
    # The definition of JA3: decimal numbers without those of GREASE.
    text = b"771,4865-49199,0-10-11,29-23,0"
    [message] = parser.read(("request", client_hello("www.Example.test")))
    assert dict(message) == {
        "ServerName": b"www.Example.test",
        "TlsVersion": b"1.2",
        "Ja3String": text,
        "Ja3Hash": hashlib.md5(text).hexdigest().encode(),
        "Ja4": "_".join(["t12d020300", short(b"1301,c02f"), short(b"000a,000b")]).encode(),
        "RandomTime": bytes(4),
        "RandomBytes": bytes(28),
        "Random": bytes(32),
    }


def test_hellos_of_openssl(parser: Parser) -> None:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    out = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="www.example.test").do_handshake()
    [message] = parser.read(("request", out.read()))
    assert values(message, "Alpn") == [b"h2", b"http/1.1"]
    assert dict(message)["ServerName"] == b"www.example.test" and dict(message)["TlsVersion"] == b"1.3"


def one(text: str) -> str:
    return f"alert http any any -> any any ({text} sid:1;)"


GET = b"GET /a%2fb/../c?d HTTP/1.1\r\nHost: Evil.test:80\r\nUser-Agent: bot\r\nCookie: id=7\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nServer: box\r\nSet-Cookie: k=v\r\nContent-Length: 5\r\n\r\nhello"
POST = b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nuser=mallet"


@pytest.mark.parametrize(
    ("options", "to_server", "yes", "no"),
    [
        ('http.uri; content:"/a/c"; startswith;', True, GET, POST),
        ('http.uri; content:"/a/c?d"; bsize:6;', True, GET, POST),
        ("urilen:6;", True, GET, POST),
        ("urilen:>9,raw;", True, GET, POST),
        ('content:"/a/c"; http_uri;', True, GET, POST),
        ('pcre:"/^\\/a\\/c/U";', True, GET, POST),
        ('content:"%2f"; http_raw_uri;', True, GET, POST),
        ('content:"Host"; http_header; content:"bot"; http_header; distance:0;', True, GET, POST),
        ('http.header; content:!"Cookie"; content:"User-Agent|3a 20|bot|0d 0a|";', True, GET, POST),
        ('http.header.raw; content:"Cookie";', True, GET, POST),
        ('http.header_names; content:"|0d 0a|Host|0d 0a|User-Agent|0d 0a|"; startswith;', True, GET, POST),
        ('http.request_header; content:"Cookie|3a 20|id=7"; endswith;', True, GET, POST),
        ('http.host; content:"evil.test"; bsize:9;', True, GET, POST),
        ('http.host.raw; content:"Evil.test:80";', True, GET, POST),
        ('http.host; dotprefix; content:".evil.test"; endswith;', True, GET, POST),
        ('http.method; content:"POST"; http.request_body; content:"mallet"; endswith;', True, POST, GET),
        ('http.method; content:"GET"; pkt_data; content:"/a%2f";', True, GET, POST),
        ('file_data; content:"hello"; within:5;', False, OK, OK.replace(b"hello", b"hullo")),
        ('http.stat_code; content:"200"; http.stat_msg; content:"OK";', False, OK, OK.replace(b"200", b"404")),
        ('http.cookie; content:"k=v";', False, OK, OK.replace(b"k=v", b"x=y")),
        ('http.server; content:"box";', False, OK, OK.replace(b"box", b"bag")),
        ('http.response_line; content:"HTTP/1.1 200 OK"; bsize:15;', False, OK, OK.replace(b"OK", b"Ok")),
        ('http.start; content:"GET /a%2fb"; startswith; content:"|0d 0a 0d 0a|"; endswith;', True, GET, POST),
        (f'http.user_agent; to_md5; content:"|{hashlib.md5(b"bot").hexdigest()}|"; bsize:16;', True, GET, POST),
    ],
)
def test_keywords_of_http(options: str, to_server: bool, yes: bytes, no: bytes, tmp_path: Path) -> None:
    found, _, _ = play(tmp_path, [one(options)], exchange((to_server, yes)))
    assert found == [[1]], options
    found, _, _ = play(tmp_path, [one(options)], exchange((to_server, no)))
    assert found == [[]], options


def test_alerts_come_with_the_packet_that_completes_the_field(tmp_path: Path) -> None:
    rules = [
        'alert http any any -> any any (http.uri; content:"/a/c"; sid:1;)',
        'alert http any any -> any any (http.host; content:"evil"; sid:2;)',
        'alert http any any -> any any (http.uri; content:"/p"; http.request_body; content:"mallet"; sid:3;)',
        'alert http any any -> any any (content:"mallet"; sid:4;)',
        'alert tcp any any -> any any (content:"mallet"; app-layer-protocol:tls; sid:5;)',
        'alert http any any -> any any (http.method; content:"POST"; pkt_data; content:"later"; sid:6;)',
    ]
    parts = [GET[:27], GET[27:50], GET[50:] + POST[:30], POST[30:-3], POST[-3:], b"later"]
    assert play(tmp_path, rules, exchange(*[(True, part) for part in parts]))[0] == [[], [1], [2], [], [3, 4], [6]]


def test_pipelines_gaps_and_ends(tmp_path: Path) -> None:
    rules = [
        'alert http any any -> any any (http.uri; content:"/p"; sid:1;)',
        'alert http any any -> any any (http.request_body; content:"part"; sid:2;)',
        'alert http any any -> any any (http.user_agent; content:"half"; sid:3;)',
    ]
    # The end of a request and the beginning of what follows are lost.
    half = b"POST /x HTTP/1.1\r\nUser-Agent: half\r\nContent-Length: 100\r\n\r\npart"
    lost = Packet("tcp", A, B, b"rest of something\r\n" + POST, 5000, "PA")
    found, end, _ = play(tmp_path, rules, [*exchange((True, half[:34])), lost])
    assert found == [[], []] and sorted(sids(end)) == [1, 3]
    found, end, _ = play(tmp_path, rules, exchange((True, half)))
    assert found == [[3]] and sids(end) == [2]


def test_head_and_interim_responses_have_no_body(tmp_path: Path) -> None:
    rules = ['alert http any any -> any any (http.stat_code; content:"404"; sid:1;)']
    head = GET.replace(b"GET", b"HEAD")
    long = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"
    missing = b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
    packets = exchange((True, head + GET), (False, b"HTTP/1.1 100 Continue\r\n\r\n" + long), (False, missing))
    assert play(tmp_path, rules, packets)[0] == [[], [], [1]]


def test_dns(tmp_path: Path) -> None:
    rules = [
        (
            'alert dns any any -> any any (dns.query; content:"evil"; nocase; dns.query; content:".test"; endswith; '
            "sid:1;)"
        ),
        'alert dns any any -> any any (dns.query; dotprefix; content:".evil.test"; endswith; bsize:>9; sid:2;)',
        "alert dns any any -> any any (dns.rcode:3; sid:3;)",
        'alert udp any any -> any 53 (dns.rrtype:16; dns.opcode:0; content:"|04|Evil"; sid:4;)',
        'alert dns any any -> any any (dns.answers.rrname; content:"alias"; sid:5;)',
        'alert dns any any -> any any (msg:"any"; flow:to_client; sid:6;)',
        "alert udp any any -> any any (app-layer-protocol:!dns; sid:7;)",
    ]
    server = (SERVER, 53)
    query = bytes(DNS(id=7, qd=DNSQR(qname="www.Evil.test", qtype="TXT")))
    answer = bytes(DNS(id=7, qr=1, rcode=3, qd=DNSQR(qname="a.test"), an=[DNSRR(rrname="alias.test", rdata="1.2.3.4")]))
    packets = [
        Packet("udp", A, server, query, 0, ""),
        Packet("udp", server, A, answer, 0, ""),
        Packet("udp", A, (SERVER, 54), query, 0, ""),
    ]
    with Soft(rules_file(tmp_path, rules)) as soft:
        answers = [soft.frame(frame(packet)) for packet in packets]
    assert [sorted(sids(entry)) for entry in answers] == [[1, 4], [3, 5, 6], [7]]
    shown = answers[0]["alerts"][0]
    assert (shown["app_proto"], shown["dns"]["rrname"], shown["dns"]["rrtype"]) == ("dns", "www.Evil.test", "TXT")
    assert answers[1]["alerts"][0]["dns"]["answers"] == [
        {"rrname": "alias.test", "rrtype": "A", "ttl": 0, "rdata": "1.2.3.4"}
    ]
    # Over TCP, in pieces.
    framed = len(query).to_bytes(2, "big") + query
    packets = exchange((True, framed[:5]), (True, framed[5:]), server=server)
    assert play(tmp_path, rules[:2], packets)[0] == [[], [1]]


def test_tls(tmp_path: Path) -> None:
    text = b"771,4865-49199,0-10-11,29-23,0"
    rules = [
        'alert tls any any -> any any (tls.sni; content:"evil.test"; nocase; isdataat:!1,relative; sid:1;)',
        f'alert tls any any -> any any (ja3.hash; content:"{hashlib.md5(text).hexdigest()}"; sid:2;)',
        "alert tls any any -> any any (tls.version:1.2; flow:to_server; sid:3;)",
        'alert tls any any -> any any (tls.sni; content:"other"; sid:4;)',
        'alert http any any -> any any (content:"evil"; nocase; sid:5;)',
    ]
    hello = client_hello("www.Evil.test")
    # In two records, so that the name is torn apart.
    payload = hello[5:]
    cut = payload.index(b"Evil") + 2
    torn = b"".join(b"\x16\x03\x01" + len(part).to_bytes(2, "big") + part for part in (payload[:cut], payload[cut:]))
    for sent in (hello, torn):
        found, _, alerts = play(tmp_path, rules, exchange((True, sent[:20]), (True, sent[20:])))
        assert found == [[], [1, 2, 3]]
        assert alerts[0]["tls"]["sni"] == "www.Evil.test" and alerts[0]["app_proto"] == "tls"


def test_parts_of_a_form_are_files(tmp_path: Path) -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="%b"%b\r\nContent-Type: a/b\r\n\r\n%b\r\n'
    shell, picture = b"<?php\n\nsystem();", b"\x89PNG\r\n\x1a\n"
    body = b"".join([
        part % (b"field", b"", b"plain"),
        part % (b"up", b'; filename="a.php"', shell),
        part % (b"up", b'; filename="b.png"', picture),
        b"--x--\r\n",
    ])  # fmt: skip
    rules = [
        'alert http any any -> any any (flow:to_server; fileext:"php"; file.data; content:"<?php"; startswith; sid:1;)',
        'alert http any any -> any any (flow:to_server; file.data; content:"PNG|0d 0a 1a 0a|"; endswith; sid:2;)',
        'alert http any any -> any any (flow:to_server; file.data; content:"php"; content:"PNG"; sid:3;)',
        'alert http any any -> any any (flow:to_server; file.data; content:"plain"; sid:4;)',
        'alert http any any -> any any (http.request_body; content:"plain"; content:"PNG"; sid:5;)',
        f"alert http any any -> any any (flow:to_server; filesize:{len(picture)}; sid:6;)",
        "alert http any any -> any any (flow:to_server; filesha256:hash; sid:7;)",
        'alert http any any -> any any (flow:to_server; filename:"upload"; sid:8;)',
        'alert http any any -> any any (flow:to_server; file.data; content:"php"; file.data; content:"PNG"; sid:9;)',
    ]
    (tmp_path / "hash").write_text(hashlib.sha256(shell).hexdigest() + "\n")
    head = b"POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    head += b"Content-Length: %d\r\n\r\n" % len(body)
    for cut in (40, len(head), len(head) + 150):
        data = head + body
        found, _, _ = play(tmp_path, rules, exchange((True, data[:cut]), (True, data[cut:])))
        assert [sorted(sids) for sids in found] == [[], [1, 2, 5, 6, 7, 9]]


def test_certificates_of_both_ends_and_states_of_tls(tmp_path: Path) -> None:
    """Each end shows a certificate; the fingerprint in a rule may have letters of both cases."""

    def message(kind: int, data: bytes) -> bytes:
        return vector(2, bytes([kind]) + vector(3, data)).join([b"\x16\x03\x03", b""])

    def chain(certificate: bytes) -> bytes:
        return message(11, vector(3, vector(3, certificate)))

    mine, theirs = b"certificate of the client", b"certificate of the server"
    prints = [":".join(f"{byte:02x}" for byte in hashlib.sha1(data).digest()) for data in (mine, theirs)]
    rules = [
        f'alert tls any any -> any any (tls.cert_fingerprint; content:"{prints[0]}"; sid:1;)',
        f'alert tls any any -> any any (tls.fingerprint:"{prints[1].upper()}"; sid:2;)',
        f'alert tls any any -> any any (flow:to_client; tls.cert_fingerprint; content:"{prints[0]}"; sid:3;)',
        'alert tls any any -> any any (flow:to_server; tls.certs; content:"of the client"; sid:4;)',
        "alert tls any any -> any any (ssl_state:client_hello; sid:5;)",
        "alert tls any any -> any any (ssl_state:server_hello; flow:to_client; sid:6;)",
    ]
    server_hello = message(2, b"\x03\x03" + bytes(32) + vector(1, b"") + b"\xc0\x2f\0")
    parts = [
        (True, client_hello("a.test")),
        (False, server_hello),
        (False, chain(theirs)),
        (True, chain(mine)),
        (True, message(16, b"key")),
    ]
    found, _, alerts = play(tmp_path, rules, exchange(*parts))
    assert [sorted(sids) for sids in found] == [[5], [6], [2], [1, 4], []]
    assert alerts[-1]["tls"]["client"] == {"fingerprint": prints[0]} and alerts[2]["tls"]["fingerprint"] == prints[1]
    # A client without a certificate.
    found, _, _ = play(tmp_path, rules, exchange(parts[0], parts[1], parts[2], parts[4]))
    assert [sorted(sids) for sids in found] == [[5], [6], [2], []]


def test_memory_of_rules(tmp_path: Path) -> None:
    rules = [
        'alert tcp any any -> any any (content:"try"; flowint:tries,+,1; noalert; sid:1;)',
        'alert tcp any any -> any any (content:"try"; flowint:tries,>=,3; sid:2;)',
        'alert tcp any any -> any any (content:"mark"; xbits:set,seen,track ip_src,expire 5; noalert; sid:3;)',
        'alert udp any any -> any any (content:"after"; xbits:isset,seen,track ip_src; sid:4;)',
        'alert tcp any any -> any any (content:"far"; stream_size:client,>,10; sid:5;)',
        'alert http any any -> any any (http.uri; content:"/login"; flowbits:set,login; noalert; sid:6;)',
        'alert http any any -> any any (http.uri; content:"/admin"; flowbits:isset,login; sid:7;)',
    ]
    second = 10**9
    packets = exchange(*[(True, data) for data in (b"try", b"try far", b"try far", b"mark")])[2:]
    datagram = Packet("udp", A, B, b"after", 0, "")
    web = exchange(
        (True, b"GET /admin HTTP/1.1\r\n\r\n"),
        (True, b"GET /login HTTP/1.1\r\n\r\n"),
        (True, b"GET /admin HTTP/1.1\r\n\r\n"),
    )[2:]
    with Soft(rules_file(tmp_path, rules)) as soft:
        assert [soft.sids(frame(packet)) for packet in packets] == [[], [], [2, 5], []]
        times = [1, 4, 6]
        assert [soft.sids(frame(datagram), time * second) for time in times] == [[4], [4], []]
        for packet in web:
            packet.source = (CLIENT, 4001)
        assert [soft.sids(frame(packet), 7 * second) for packet in web] == [[], [], [7]]


def test_a_negated_expression_does_not_hide_behind_its_limits(tmp_path: Path) -> None:
    rules = ['alert tcp any any -> any any (content:"attack"; pcre:!"/(a+)+[bc]/R"; sid:1;)']
    packets = exchange((True, b"attack" + b"a" * 1000))
    found, end, _ = play(tmp_path, rules, packets)
    assert found == [[1]] and end["stats"]["detect"]["limited_negated"] > 0


def test_cost_of_a_direction_is_bounded_and_nothing_is_missed(tmp_path: Path) -> None:
    """Hundreds of rules that wait, and segments of one byte behind a long history: evaluation waits, and then finds
    everything.
    """
    rules = [
        f'alert tcp any any -> any any (content:"begin-{sid:03d}"; content:"end-{sid:03d}"; distance:0; sid:{sid};)'
        for sid in range(1, 400)
    ]
    begin = " ".join(f"begin-{sid:03d}" for sid in range(1, 400)).encode().ljust(60_000, b".")
    ends = b" ".join(f"end-{sid:03d}".encode() for sid in range(1, 400, 5))
    packets, at = exchange(), 100
    pieces = [begin[at : at + 1400] for at in range(0, len(begin), 1400)] + [bytes([byte]) for byte in ends]
    for piece in pieces:
        packets.append(Packet("tcp", A, B, piece, at, "PA"))
        at += len(piece)
    found, end, _ = play(tmp_path, rules, packets)
    assert {sid for entry in found for sid in entry} | set(sids(end)) == set(range(1, 400, 5))
    detect = end["stats"]["detect"]
    assert detect["deferred"] > 0 and detect["unarmed"] == 0
    # Without a bound, each of the last segments costs an evaluation of each rule.
    assert detect["evaluated"] < 399 * len(pieces) / 2
