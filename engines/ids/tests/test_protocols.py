# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Rules about SSH, SMTP and FTP, about files, and about more of TLS and DNS: against Python's email, hashlib, base64
and datetime, openssl's certificates and the definitions of HASSH and JA4.
"""

from __future__ import annotations

import datetime
import hashlib
import ssl
import subprocess
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from random import Random
from typing import Any

import pytest
from ids_oracle import Packet
from ids_soft import Soft, frame
from scapy.layers.dns import DNS, DNSQR, DNSRR, DNSRRMX, DNSRRSOA
from test_messages import A, B, Parser, client_hello, exchange, play, rules_file, sids, values, vector

SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


def pieces(random: Random, data: bytes) -> list[bytes]:
    """The bytes in random pieces."""
    cuts = sorted(random.choices(range(len(data) + 1), k=random.choice([0, 1, 5, 30])))
    parts = [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    return [part for part in parts if part]


# ---- SSH


def key_exchange(names: list[bytes]) -> bytes:
    """The packet that begins a key exchange (RFC 4253, section 7.1), with these lists."""
    lists = b"".join(len(name).to_bytes(4, "big") + name for name in names)
    payload = b"\x14" + bytes(range(16)) + lists + b"\0" + bytes(4)
    padding = 8 - (5 + len(payload)) % 8 + 4
    return (1 + len(payload) + padding).to_bytes(4, "big") + bytes([padding]) + payload + bytes(padding)


LISTS = [
    b"kex1,kex2", b"host-key", b"enc-to-server", b"enc-to-client", b"mac-to-server", b"mac-to-client",
    b"none", b"zlib", b"", b"",
]  # fmt: skip


def test_ssh(tmp_path: Path) -> None:
    client = b"kex1,kex2;enc-to-server;mac-to-server;none"
    server = b"kex1,kex2;enc-to-client;mac-to-client;zlib"
    rules = [
        'alert ssh any any -> any any (ssh.proto; content:"2.0"; bsize:3; flow:to_server; sid:1;)',
        'alert ssh any any -> any any (ssh.software; content:"OpenSSH_9.1"; bsize:11; flow:to_client; sid:2;)',
        f'alert ssh any any -> any any (ssh.hassh; content:"{hashlib.md5(client).hexdigest()}"; sid:3;)',
        'alert ssh any any -> any any (ssh.hassh.string; content:"enc-to-server|3b|mac-to-server"; sid:4;)',
        (f'alert ssh any any -> any any (ssh.hassh.server; content:"{hashlib.md5(server).hexdigest()}"; bsize:32; '
         'sid:5;)'),
        ('alert ssh any any -> any any (ssh.hassh.server.string; '
         f'content:"{server.decode().replace(";", "|3b|")}"; startswith; endswith; sid:6;)'),
        'alert tcp any any -> any any (app-layer-protocol:ssh; content:"kex1"; sid:7;)',
        'alert ssh any any -> any any (ssh.protoversion:2.0; flow:to_client; sid:8;)',
        'alert ssh any any -> any any (ssh.software; content:"dropbear"; sid:9;)',
        'alert ssh any any -> any any (ssh.hassh; content:"enc"; sid:10;)',
    ]  # fmt: skip
    packets = exchange(
        (False, b"SSH-2.0-OpenSSH_9.1 Debian-2\r\n"),
        (True, b"SSH-2.0-PuTTY_0.7"),
        (True, b"8\r\n" + key_exchange(LISTS)[:20]),
        (True, key_exchange(LISTS)[20:]),
        (False, key_exchange(LISTS)),
        (True, b"\0\0\0\x0c encrypted"),
    )
    found, end, alerts = play(tmp_path, rules, packets)
    assert [sorted(some) for some in found] == [[2, 8], [], [1], [3, 4, 7], [5, 6, 7], []]
    assert end["stats"]["detect"]["app"]["ssh_clients"] == end["stats"]["detect"]["app"]["ssh_servers"] == 1
    assert alerts[0]["app_proto"] == "ssh" and alerts[0]["ssh"]["server"]["software_version"] == "OpenSSH_9.1"


# ---- SMTP


def mail(random: Random) -> tuple[bytes, list[tuple[str, bytes]]]:
    """A mail that Python's email makes, and its attachments."""
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"], message["Subject"] = "a@example.test", "b@example.test", "mail"
    message.set_content("the text of the mail\n.a line with a dot\n")
    if random.random() < 0.5:
        message.add_alternative("<p>text</p>", subtype="html")
    files = []
    for number in range(random.randint(0, 4)):
        name = random.choice([f"file{number}.bin", f"a b;{number}.EXE", "long-" + "x" * 90 + f"{number}.pdf"])
        if random.random() < 0.6:
            data = random.randbytes(random.randint(1, 3000))
            message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
        else:
            # Quoted-printable, or as it stands.
            words = ["plain", "ünïcode", "=3D", ".", "trailing  "]
            text = "\n".join(" ".join(random.choices(words, k=random.randint(1, 30))) for _ in range(9)) + "\nend"
            encoding = random.choice(["quoted-printable", "8bit", "base64"])
            message.add_attachment(text, filename=name, cte=encoding)
        files.append(name)
    payload = message.as_bytes()
    contents = {part.get_filename(): part for part in message.iter_attachments()}
    attachments = []
    for name in files:
        part = contents[name]
        data = part.get_payload(decode=True)
        attachments.append((name, data.replace(b"\r\n", b"\n").rstrip(b"\n")))
    return payload, attachments


def stuffed(payload: bytes) -> bytes:
    """A mail as it is sent behind DATA (RFC 5321, section 4.5.2)."""
    lines = payload.removesuffix(b"\r\n").split(b"\r\n")
    return b"".join((b"." if line.startswith(b".") else b"") + line + b"\r\n" for line in lines) + b".\r\n"


@pytest.mark.parametrize("seed", range(8))
def test_attachments_are_those_of_python(seed: int, parser: Parser) -> None:
    random = Random(seed)
    for _ in range(20):
        payload, attachments = mail(random)
        sent = (
            b"EHLO me.test\r\nMAIL FROM:<a@example.test> SIZE=9\r\nrcpt to:<b@example.test>\r\nRCPT TO: <c@d.test>\r\n"
        )
        if random.random() < 0.5:
            sent += b"DATA\r\n" + stuffed(payload) + b"QUIT\r\n"
        else:
            middle = random.randrange(len(payload))
            for part, last in ((payload[:middle], b""), (payload[middle:], b" LAST")):
                sent += b"BDAT %d%s\r\n" % (len(part), last) + part
        [message] = parser.read(("request", sent))
        assert values(message, "Helo") == [b"me.test"] and values(message, "MailFrom") == [b"a@example.test"]
        assert values(message, "Recipient") == [b"b@example.test", b"c@d.test"]
        names = values(message, "FileName")
        assert [name.decode() for name in names] == [name for name, _ in attachments]
        found = [data.replace(b"\r\n", b"\n").rstrip(b"\n") for data in values(message, "File")]
        assert found == [data for _, data in attachments]
        assert values(message, "FileMd5") == [hashlib.md5(data).digest() for data in values(message, "File")]


REPLIES = [
    b"220 mx ESMTP\r\n",
    b"250-mx\r\n250 SIZE\r\n",
    b"250 ok\r\n",
    b"250 ok\r\n",
    b"354 go\r\n",
    b"250 queued\r\n",
]


def session(data: bytes, replies: list[bytes] = REPLIES) -> list[tuple[bool, bytes]]:
    lines = [
        b"EHLO client.test\r\n",
        b"MAIL FROM:<eve@evil.test>\r\n",
        b"RCPT TO:<bob@home.test>\r\n",
        b"DATA\r\n",
        data,
    ]
    parts = [(False, replies[0])]
    for line, reply in zip(lines, replies[1:], strict=True):
        parts += [(True, line), (False, reply)]
    return parts


MAIL_RULES = [
    'alert smtp any any -> any any (smtp.helo; content:"client.test"; bsize:11; sid:1;)',
    'alert smtp any any -> any any (smtp.mail_from; content:"@evil.test"; endswith; sid:2;)',
    'alert smtp any any -> any any (smtp.mail_from; content:"eve@"; smtp.rcpt_to; content:"bob@home.test"; sid:3;)',
    'alert smtp any any -> any any (smtp.rcpt_to; content:"bob"; file.data; content:"MZ|90 00|"; startswith; sid:4;)',
    'alert tcp any any -> any any (file.name; content:"virus"; fileext:"exe"; filesize:8; sid:5;)',
    'alert tcp any any -> any any (file.data; content:"not in the text"; sid:6;)',
    'alert smtp any any -> any any (content:"250 queued"; sid:7;)',
    'alert http any any -> any any (file.data; content:"MZ"; sid:8;)',
    'alert smtp any any -> any any (filename:"VIRUS"; filesize:>1KB; sid:9;)',
]


def attachment() -> bytes:
    message = EmailMessage(policy=SMTP)
    message.set_content("text, not in the text of a file")
    message.add_attachment(b"MZ\x90\0evil", maintype="application", subtype="x", filename="a-virus.EXE")
    return stuffed(message.as_bytes())


def test_smtp(tmp_path: Path) -> None:
    parts = session(attachment())
    found, end, alerts = play(tmp_path, MAIL_RULES, exchange(*parts))
    assert [sorted(some) for some in found] == [[], [1], [], [2], [], [], [], [], [], [3, 4, 5], [7]]
    assert end["stats"]["detect"]["app"]["smtp_mails"] == 1
    assert alerts[2]["smtp"] == {"helo": "client.test", "mail_from": "eve@evil.test", "rcpt_to": ["bob@home.test"]}
    # One direction alone, in small pieces.
    stream = b"".join(data for to_server, data in parts if to_server)
    found, _, _ = play(tmp_path, MAIL_RULES, exchange(*[(True, part) for part in pieces(Random(1), stream)]))
    assert sorted(sid for some in found for sid in some) == [1, 2, 3, 4, 5]


def test_commands_do_not_hide_in_a_mail_that_the_server_refuses(tmp_path: Path) -> None:
    """The server answers DATA with an error: what follows are commands. It may refuse a recipient and take the mail."""
    refused = [*REPLIES[:4], b"503 no\r\n", b"250 ok\r\n"]
    rules = ['alert smtp any any -> any any (smtp.mail_from; content:"second"; sid:1;)']
    again = b"MAIL FROM:<second@x>\r\n"
    found, _, _ = play(tmp_path, rules, exchange(*session(again, refused)))
    assert [1] in found
    found, _, _ = play(tmp_path, rules, exchange(*session(again)))
    assert [1] not in found
    one_refused = [*REPLIES[:3], b"550 nobody\r\n", b"354 go\r\n", b"250 ok\r\n"]
    found, _, _ = play(tmp_path, rules, exchange(*session(again, one_refused)))
    assert [1] not in found


def test_answers_of_a_pipeline_are_counted(tmp_path: Path) -> None:
    """The third answer is the one to DATA: the server takes the mail."""
    rules = ['alert smtp any any -> any any (smtp.mail_from; content:"second"; sid:1;)']
    lines = b"MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n"
    begin = [(False, REPLIES[0]), (True, b"EHLO a\r\n"), (False, b"250 ok\r\n"), (True, lines)]
    for answers, found in [(b"250 ok\r\n550 no\r\n354 go\r\n", []), (b"250 ok\r\n250 ok\r\n554 no\r\n", [1])]:
        packets = exchange(*begin, (False, answers), (True, b"MAIL FROM:<second@x>\r\n"))
        assert play(tmp_path, rules, packets)[0][-1] == found


def test_encryption_ends_smtp(tmp_path: Path) -> None:
    rules = ['alert smtp any any -> any any (smtp.mail_from; content:"a"; sid:1;)']
    parts = [(False, REPLIES[0]), (True, b"EHLO a\r\n"), (False, b"250 ok\r\n"), (True, b"STARTTLS\r\n")]
    for answer, found in [(b"220 go\r\n", []), (b"454 no\r\n", [1])]:
        packets = exchange(*parts, (False, answer), (True, b"MAIL FROM:<a>\r\n"))
        assert play(tmp_path, rules, packets)[0][-1] == found


# ---- FTP


def test_ftp(tmp_path: Path) -> None:
    rules = [
        (
            'alert ftp any any -> any any (ftp.command; content:"USER"; ftp.command_data; content:"anonymous"; '
            "bsize:9; sid:1;)"
        ),
        'alert ftp any any -> any any (ftp.reply; content:"Please specify"; startswith; sid:2;)',
        'alert ftp any any -> any any (ftp.completion_code; content:"230"; ftp.reply; content:"second line"; sid:3;)',
        "alert ftp any any -> any any (ftpbounce; sid:4;)",
        'alert tcp any any -> any any (app-layer-protocol:ftp; content:"PASV"; sid:5;)',
        (
            'alert ftp any any -> any any (ftp.command; content:"RETR"; startswith; ftp.command_data; '
            'content:"passwd"; endswith; sid:6;)'
        ),
        'alert ftp any any -> any any (ftp.command_data; content:"RETR"; sid:7;)',
    ]
    packets = exchange(
        (False, b"220 Welcome to this server\r\n"),
        (True, b"USER anonymous\r\n"),
        (False, b"331 Please specify the password.\r\n"),
        (True, b"PASS x\r\n"),
        (False, b"230-first line\r\n second line\r\n230 third\r\n"),
        (True, b"PORT 10,0,0,9,4,1\r\n"),
        (True, b"PORT 10,0,0,8,4,1\r\n"),
        (True, b"PASV\r\nRETR  /etc/"),
        (True, b"passwd\r\n"),
    )
    found, end, alerts = play(tmp_path, rules, packets)
    assert [sorted(some) for some in found] == [[], [1], [2], [], [3], [], [4], [5], [6]]
    assert end["stats"]["detect"]["app"]["ftp_commands"] == 6
    assert alerts[0]["ftp"] == {"command": "USER", "command_data": "anonymous"}
    assert alerts[2]["ftp"]["reply"] == ["first line", " second line", "third"]


def test_other_protocols_have_users_too(tmp_path: Path) -> None:
    """POP3: its server does not greet as that of FTP."""
    rules = ['alert tcp any any -> any any (content:"USER"; app-layer-protocol:!ftp; sid:1;)']
    packets = exchange((False, b"+OK POP3\r\n"), (True, b"USER me\r\n"))
    assert play(tmp_path, rules, packets)[0] == [[], [1]]


# ---- Files and trailers of HTTP


def test_files_of_http(tmp_path: Path) -> None:
    body = b"MZ" + bytes(range(200))
    lists = {name: getattr(hashlib, name)(body).hexdigest() for name in ("md5", "sha1", "sha256")}
    for name, text in lists.items():
        (tmp_path / f"{name}.list").write_text(f"# hashes\n{'0' * len(text)}\n{text}  file\n")
    (tmp_path / "other.list").write_text("0" * 32 + "\n")
    rules = [
        'alert http any any -> any any (file.name; content:"/dir/tool.exe"; bsize:13; sid:1;)',
        "alert http any any -> any any (filesize:202; sid:2;)",
        "alert http any any -> any any (filemd5:md5.list; sid:3;)",
        "alert http any any -> any any (filesha1:sha1.list; sid:4;)",
        "alert http any any -> any any (filesha256:sha256.list; sid:5;)",
        "alert http any any -> any any (filemd5:other.list; sid:6;)",
        "alert http any any -> any any (filemd5:!other.list; sid:7;)",
        'alert http any any -> any any (http.trailer; content:"X-Sum: abc|0d 0a|"; sid:8;)',
        'alert http any any -> any any (fileext:"EXE"; filesize:100<>1KB; sid:9;)',
        'alert http any any -> any any (file.name; content:"other"; sid:10;)',
    ]
    request = b"GET /x/../dir/%74ool.exe?x=/other HTTP/1.1\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"64\r\n" + body[:100] + b"\r\n66\r\n" + body[100:] + b"\r\n0\r\n"
    packets = exchange((True, request), (False, head + chunks), (False, b"X-Sum:abc\r\n\r\n"))
    assert [sorted(some) for some in play(tmp_path, rules, packets)[0]] == [[], [], [1, 2, 3, 4, 5, 7, 8, 9]]
    named = b'HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename="other.txt"\r\nContent-Length: 1\r\n\r\nx'
    assert play(tmp_path, rules, exchange((True, request), (False, named)))[0] == [[], [7, 10]]


def test_extensions_end_names(tmp_path: Path) -> None:
    rules = [
        'alert http any any -> any any (fileext:"exe"; sid:1;)',
        'alert http any any -> any any (fileext:!"exe"; sid:2;)',
    ]
    for name, found in [(b"a.exe", 1), (b"a.exe.txt", 2), (b"aexe", 2)]:
        packets = exchange(
            (True, b"GET /" + name + b" HTTP/1.1\r\n\r\n"), (False, b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        )
        assert play(tmp_path, rules, packets)[0] == [[], [found]]


# ---- TLS


def certificates(folder: Path, *options: str) -> bytes:
    """A certificate that openssl makes, as DER."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-subj", "/CN=site.test", "-outform", "DER"]
    command += ["-keyout", str(folder / "key"), "-out", str(folder / "cert"), *options]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "cert").read_bytes()


def server_hello(chain: list[bytes]) -> bytes:
    hello = b"\x03\x03" + bytes(range(32)) + vector(1, b"") + b"\xc0\x2f\0" + vector(2, b"")
    certificate = vector(3, b"".join(vector(3, one) for one in chain))
    messages = b"\x02" + vector(3, hello) + b"\x0b" + vector(3, certificate)
    return b"\x16\x03\x03" + vector(2, messages)


def test_certificates(tmp_path: Path) -> None:
    names = "subjectAltName=DNS:www.site.test,DNS:*.evil.test,IP:10.1.2.3,email:me@site.test"
    der = certificates(tmp_path, "-addext", names, "-days", "10")
    pem = ssl.DER_cert_to_PEM_cert(der)
    (tmp_path / "pem").write_text(pem)
    about = ssl._ssl._test_decode_cert(str(tmp_path / "pem"))  # type: ignore[attr-defined]
    begin, end = (int(ssl.cert_time_to_seconds(about[name])) for name in ("notBefore", "notAfter"))

    def day(seconds: int, time: bool = False) -> str:
        moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S" if time else "%Y-%m-%d")

    rules = [
        'alert tls any any -> any any (tls.subjectaltname; content:"*.evil.test"; sid:1;)',
        'alert tls any any -> any any (tls.subjectaltname; content:"10.1.2.3"; bsize:8; sid:2;)',
        "alert tls any any -> any any (tls.cert_chain_len:>1; sid:3;)",
        f"alert tls any any -> any any (tls_cert_notbefore:{day(begin, True)}; sid:4;)",
        f"alert tls any any -> any any (tls_cert_notafter:<{day(end)}; sid:5;)",
        f"alert tls any any -> any any (tls_cert_notafter:{day(end - 86400)}<>{day(end + 2 * 86400)}; sid:6;)",
        "alert tls any any -> any any (tls_cert_expired; sid:7;)",
        "alert tls any any -> any any (tls_cert_valid; sid:8;)",
        (
            'alert tls any any -> any any (tls.random; content:"|00 01 02 03 04|"; startswith; bsize:32; '
            "flow:to_client; sid:9;)"
        ),
        (
            'alert tls any any -> any any (tls.random_time; content:"|00 01 02 03|"; bsize:4; tls.random_bytes; '
            'content:"|04 05|"; startswith; sid:10;)'
        ),
        f"alert tls any any -> any any (tls_cert_notbefore:>{day(begin + 86400)}; sid:11;)",
        (
            'alert tls any any -> any any (tls.subjectaltname; content:"www"; startswith; tls.subjectaltname; '
            'content:"me@"; sid:12;)'
        ),
    ]
    for now, valid in [(end, 8), (end + 1, 7)]:
        with Soft(rules_file(tmp_path, rules)) as soft:
            packets = exchange((True, client_hello("site.test")), (False, server_hello([der, der])))
            found = [soft.sids(frame(packet), now * SECOND) for packet in packets][3]
        assert sorted(found) == sorted([1, 2, 3, 4, 6, 9, 10, 12, valid])


def grease(word: int) -> bool:
    return word & 0x0F0F == 0x0A0A and word >> 8 == word & 0xFF


def ja4(hello: bytes) -> str:
    """JA4 of a client hello in one record, from its published definition."""
    at = 9
    version, at = int.from_bytes(hello[at : at + 2], "big"), at + 34
    at += 1 + hello[at]

    def words(data: bytes) -> list[int]:
        return [word for at in range(0, len(data), 2) if not grease(word := int.from_bytes(data[at : at + 2], "big"))]

    size = int.from_bytes(hello[at : at + 2], "big")
    ciphers, at = words(hello[at + 2 : at + 2 + size]), at + 2 + size
    at += 1 + hello[at] + 2
    kinds, data = [], {}
    while at < len(hello):
        kind, size = int.from_bytes(hello[at : at + 2], "big"), int.from_bytes(hello[at + 2 : at + 4], "big")
        data[kind], at = hello[at + 4 : at + 4 + size], at + 4 + size
        kinds += [] if grease(kind) else [kind]
    if 43 in data:
        version = max(words(data[43][1:]))
    first = data[16][3 : 3 + data[16][2]].decode() if 16 in data else "00"
    begin = f"t{ {0x304: '13', 0x303: '12'}[version] }{'d' if 0 in data else 'i'}"
    begin += f"{len(ciphers):02}{len(kinds):02}{first[0]}{first[-1]}"
    extensions = ",".join(f"{kind:04x}" for kind in sorted(kinds) if kind not in (0, 16))
    algorithms = ",".join(f"{word:04x}" for word in words(data[13][2:])) if 13 in data else ""
    hashed = [
        hashlib.sha256(text.encode()).hexdigest()[:12]
        for text in (
            ",".join(f"{word:04x}" for word in sorted(ciphers)),
            extensions + ("_" + algorithms) * bool(algorithms),
        )
    ]
    return "_".join([begin, *hashed])


def hello_of_openssl(*protocols: str, name: str | None = "www.example.test") -> bytes:
    context = ssl.create_default_context()
    context.check_hostname = False
    if protocols:
        context.set_alpn_protocols(list(protocols))
    out = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    return out.read()


def test_ja4(parser: Parser, tmp_path: Path) -> None:
    hellos = [hello_of_openssl("h2", "http/1.1"), hello_of_openssl(name=None), client_hello("a.test")]
    for hello in hellos:
        [message] = parser.read(("request", hello))
        assert values(message, "Ja4") == [ja4(hello).encode()]
    rule = f'alert tls any any -> any any (ja4.hash; content:"{ja4(hellos[0])}"; sid:1;)'
    assert play(tmp_path, [rule], exchange((True, hellos[0])))[0] == [[1]]
    assert play(tmp_path, [rule], exchange((True, hellos[1])))[0] == [[]]


# ---- DNS


def test_all_names_of_dns(tmp_path: Path) -> None:
    rules = [
        'alert dns any any -> any any (dns.authorities.rrname; content:"zone.test"; bsize:9; sid:1;)',
        'alert dns any any -> any any (dns.additionals.rrname; content:"glue.test"; bsize:9; sid:2;)',
        (
            'alert dns any any -> any any (dns.response.rrname; content:"asked"; dns.response.rrname; content:"glue"; '
            "sid:3;)"
        ),
        'alert dns any any -> any any (dns.answers.rrname; content:"glue"; sid:4;)',
        'alert dns any any -> any any (dns.authorities.rrname; content:"glue"; sid:5;)',
        # Names in the data of records count as those of records do.
        'alert dns any any -> any any (dns.response.rrname; content:"ns.zone.test"; bsize:12; sid:6;)',
        'alert dns any any -> any any (dns.response.rrname; content:"mail.test"; bsize:9; sid:7;)',
        'alert dns any any -> any any (dns.response.rrname; content:"primary.test"; bsize:12; sid:8;)',
        'alert dns any any -> any any (dns.response.rrname; content:"admin.test"; sid:9;)',
        'alert dns any any -> any any (dns.response.rrname; content:"text.test"; sid:10;)',
    ]
    answer: Any = DNS(
        id=7,
        qr=1,
        qd=DNSQR(qname="asked.test"),
        an=[
            DNSRR(rrname="asked.test", rdata="1.2.3.4"),
            DNSRR(rrname="asked.test", rdata="1.2.3.6"),
            DNSRRMX(rrname="asked.test", preference=10, exchange="mail.test"),
            DNSRR(rrname="asked.test", type="TXT", rdata="text.test"),
        ],
        ns=[
            DNSRR(rrname="zone.test", type="NS", rdata="ns.zone.test"),
            DNSRRSOA(rrname="zone.test", mname="primary.test", rname="admin.test"),
        ],
        ar=[DNSRR(rrname="glue.test", rdata="1.2.3.5")],
    )
    server = (B[0], 53)
    with Soft(rules_file(tmp_path, rules)) as soft:
        soft.frame(frame(Packet("udp", A, server, bytes(DNS(qd=DNSQR(qname="asked.test"))), 0, "")))
        found = soft.frame(frame(Packet("udp", server, A, bytes(answer), 0, "")))
    assert sorted(sids(found)) == [1, 2, 3, 6, 7, 8]
    grouped = {"A": ["1.2.3.4", "1.2.3.6"], "MX": ["mail.test"], "TXT": ["text.test"]}
    assert found["alerts"][0]["dns"]["grouped"] == grouped
