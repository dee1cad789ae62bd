# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Messages of HTTP whose fields are known before they are encoded, random rules about them, and which of these match:
from engines/ids/language.md alone. Nothing here parses a message.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, field
from random import Random

from ids_oracle import read, tries

WORDS = ["alpha", "Bravo", "char lie", "delta.php", "echo%", "Fox=trot", "golf", "hotel", "india", "juliet"]
AGENTS = ["Mozilla/5.0 (X11)", "curl/8.1", "bad-bot 1.0", "Wget"]

Fields = dict[str, list[bytes]]


@dataclass
class Message:
    """A message as it is sent, and the fields that rules see."""

    to_server: bool
    sent: bytes
    fields: Fields = field(default_factory=dict)


def encoded_path(random: Random, segments: list[str]) -> bytes:
    """A path that is normalized to these segments."""
    out = b""
    for segment in segments:
        out += random.choice([b"/", b"/", b"//", b"/./", b"\\", b"/x/../", b"/%2e/", b"%2f"])
        for byte in segment.encode():
            quote = byte in b" %?#/\\" or random.random() < 0.15
            out += (b"%%%02x" % byte if random.random() < 0.5 else b"%%%02X" % byte) if quote else bytes([byte])
    return out


def body_of(random: Random, plain: bytes) -> tuple[bytes, list[tuple[str, str]]]:
    """A body as it is sent, and the headers that say how."""
    headers = []
    sent = plain
    match random.randrange(4):
        case 1:
            sent, headers = gzip.compress(sent), [("Content-Encoding", "gzip")]
        case 2:
            sent, headers = zlib.compress(sent), [("content-encoding", "deflate")]
        case 3:
            raw = zlib.compressobj(wbits=-15)
            sent, headers = raw.compress(sent) + raw.flush(), [("Content-Encoding", "deflate")]
    if random.random() < 0.5:
        headers.append(("Content-Length", str(len(sent))))
        return sent, headers
    headers.append((random.choice(["Transfer-Encoding", "transfer-encoding"]), "chunked"))
    out, at = b"", 0
    while at < len(sent):
        size = random.choice([1, 3, 17, 200])
        piece = sent[at : at + size]
        out += b"%x%s\r\n%s\r\n" % (len(piece), random.choice([b"", b";name=value"]), piece)
        at += size
    return out + b"0\r\n" + random.choice([b"", b"Trailer: ignored\r\n"]) + b"\r\n", headers


def head(random: Random, line: bytes, headers: list[tuple[str, str]], fields: Fields, cookie: str) -> bytes:
    """First line and headers as they are sent; puts the fields of the headers."""
    raw = b""
    for name, value in headers:
        spaces = random.choice([" ", " ", "", "  \t"])
        # A value may go on in the next line, where it has a space.
        sent = value.replace(" ", "\r\n  ", 1) if random.random() < 0.2 else value
        # http.client takes no space behind this value.
        end = "" if name.lower() == "transfer-encoding" else random.choice(["", " "])
        raw += f"{name}:{spaces}{sent}{end}\r\n".encode()
    plain = [f"{name}: {value}".encode() for name, value in headers]
    shown = [f"{name}: {value}\r\n".encode() for name, value in headers if name.lower() != cookie]
    fields["http.header"] = [b"".join(shown)]
    fields["http.header.raw"] = [raw + b"\r\n"]
    fields["http.header_names"] = [b"\r\n" + b"".join(name.encode() + b"\r\n" for name, _ in headers) + b"\r\n"]
    fields["http.start"] = [line + b"\r\n" + b"".join(header + b"\r\n" for header in plain) + b"\r\n"]
    fields["http.request_header" if cookie == "cookie" else "http.response_header"] = plain
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value)
    for name, keyword in [
        ("user-agent", "http.user_agent"),
        ("content-type", "http.content_type"),
        (cookie, "http.cookie"),
        ("server", "http.server"),
    ]:
        if name in values:
            fields[keyword] = [", ".join(values[name]).encode()]
    if cookie == "cookie" and "host" in values:
        name = values["host"][0]
        fields["http.host.raw"] = [name.encode()]
        fields["http.host"] = [name.lower().partition(":")[0].encode()]
    return line + b"\r\n" + raw + b"\r\n"


def text(random: Random) -> bytes:
    return " ".join(random.choices(WORDS, k=random.randint(0, 30))).encode()


def request(random: Random) -> Message:
    segments = random.choices(WORDS, k=random.randint(1, 3))
    query = random.choice(["", "?q=%41//b", "?" + random.choice(["india", "golf"])]).encode()
    raw = encoded_path(random, segments) + query
    uri = b"".join(b"/" + segment.encode() for segment in segments) + query
    plain = text(random) if random.random() < 0.5 else b""
    method = b"POST" if plain else random.choice([b"GET", b"OPTIONS", b"BREW"])
    line = method + b" " + raw + b" HTTP/1.1"
    fields: Fields = {
        "http.method": [method],
        "http.uri.raw": [raw],
        "http.uri": [uri],
        "http.request_line": [line],
        "http.protocol": [b"HTTP/1.1"],
    }
    body, extra = body_of(random, plain) if plain else (b"", [])
    headers = [("Host", random.choice(["Site.Test", "site.test:8080", "www.Other.test"]))]
    headers += [("User-Agent", random.choice(AGENTS)), ("Content-Type", "text/plain")][: random.randint(0, 2)]
    headers += [("Cookie", f"id={random.choice(WORDS)}") for _ in range(random.choice([0, 0, 1, 2]))]
    headers += extra
    random.shuffle(headers)
    sent = head(random, line, headers, fields, "cookie") + body
    if plain:
        fields["http.request_body"] = fields["file_data"] = [plain]
    return Message(True, sent, fields)


def response(random: Random) -> Message:
    code, reason = random.choice([(b"200", b"OK"), (b"404", b"Not Found"), (b"500", b"")])
    line = (b"HTTP/1.1 " + code + b" " + reason).strip()
    plain = text(random)
    body, extra = body_of(random, plain)
    fields: Fields = {
        "http.stat_code": [code],
        "http.stat_msg": [reason],
        "http.response_line": [line],
        "http.protocol": [b"HTTP/1.1"],
    }
    headers = [("Server", random.choice(["nginx", "Apache/2.4 (Unix)"])), ("Set-Cookie", "a=" + random.choice(WORDS))]
    headers = headers[: random.randint(0, 2)] + extra
    sent = head(random, line, headers, fields, "set-cookie") + body
    if plain:
        fields["http.response_body"] = fields["file_data"] = [plain]
    return Message(False, sent, fields)


REQUEST = [
    "http.method",
    "http.uri",
    "http.uri.raw",
    "http.request_line",
    "http.user_agent",
    "http.host",
    "http.request_body",
]
RESPONSE = ["http.stat_code", "http.stat_msg", "http.response_line", "http.server", "http.response_body"]
BOTH = [
    "http.header",
    "http.header.raw",
    "http.header_names",
    "http.start",
    "http.cookie",
    "file_data",
    "http.protocol",
]
MANY = ["http.request_header", "http.response_header"]


@dataclass
class Condition:
    """A rule's condition on one field."""

    keyword: str
    transform: str
    steps: list
    size: tuple[str, int] | None = None

    def holds(self, fields: Fields) -> bool:
        return any(self.one(data) for data in fields.get(self.keyword, []))

    def one(self, data: bytes) -> bool:
        match self.transform:
            case "to_lowercase":
                data = data.lower()
            case "strip_whitespace":
                data = b"".join(data.split())
            case "to_uppercase":
                data = data.upper()
        if self.size:
            sign, number = self.size
            if not {"<": len(data) < number, ">": len(data) > number, "": len(data) == number}[sign]:
                return False
        return tries(self.steps, data, 0, 0, -1)


@dataclass
class MessageRule:
    to_server: bool
    conditions: list[Condition]
    sid: int

    def matches(self, message: Message) -> bool:
        return message.to_server == self.to_server and all(
            condition.holds(message.fields) for condition in self.conditions
        )


def written(data: bytes) -> str:
    """Bytes as a content writes them."""
    return "".join(chr(byte) if chr(byte).isalnum() else f"|{byte:02x}|" for byte in data)


def rule(random: Random, sid: int, messages: list[Message]) -> tuple[str, MessageRule]:
    """A rule that is made of pieces of a message, so that it often matches: its text, and the same as Python."""
    like = random.choice(messages)
    names = (REQUEST if like.to_server else RESPONSE) + BOTH + MANY[not like.to_server :][:1]
    options, conditions = f"flow:{'to_server' if like.to_server else 'to_client'}; ", []
    for keyword in random.sample(names, random.choice([1, 1, 2, 3])):
        data = random.choice(like.fields.get(keyword, [b"nothing"])) or b"nothing"
        transform = random.choice(["", "", "", "to_lowercase", "to_uppercase", "strip_whitespace"])
        if keyword == "http.host":
            transform = ""
        part = f"{keyword}; " + (f"{transform}; " if transform else "")
        for number in range(random.choice([1, 1, 2])):
            at = random.randrange(len(data))
            piece = data[at : at + random.randint(1, 9)]
            if transform == "to_lowercase":
                piece = piece.lower()
            negated = random.random() < 0.15
            part += f'content:{"!" if negated else ""}"{written(piece)}"; '
            part += "nocase; " if random.random() < 0.2 else ""
            where = [
                "",
                "",
                "startswith; ",
                "endswith; ",
                f"depth:{len(piece) + at}; ",
                f"offset:{random.randint(0, 5)}; ",
            ]
            if number:
                where = ["", f"distance:{random.randint(-20, 5)}; ", f"within:{len(piece) + random.randint(0, 30)}; "]
            part += random.choice(where)
        size = None
        if random.random() < 0.15:
            size = (random.choice(["<", ">", ""]), random.choice([len(data), len(data), 5, 100]))
            part += f"bsize:{size[0]}{size[1]}; "
        options += part
        steps = read(f"alert tcp any any -> any any ({without(part)})").steps
        conditions.append(Condition(keyword, transform, steps, size))
    parsed = MessageRule(like.to_server, conditions, sid)
    return f"alert http any any -> any any ({options}sid:{sid};)", parsed


def without(part: str) -> str:
    """The options of a part that the evaluator of payload knows."""
    known = ("content", "nocase", "startswith", "endswith", "depth", "offset", "distance", "within")
    return "".join(f"{word}; " for word in part.split("; ") if word.partition(":")[0] in known)
