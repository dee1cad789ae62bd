# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The forms of rules that open sets use most, on traffic whose answer follows from the words of Suricata's manual."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest
from ids_oracle import Packet
from ids_random import CLIENT, SERVER
from ids_soft import Soft, frame
from scapy.layers.dns import DNS, DNSQR
from test_messages import client_hello, exchange, play, rules_file

SECOND = 10**9
A, B = (CLIENT, 4000), (SERVER, 5000)

GET = (
    b"GET /a/b.php?x=1&Y=2 HTTP/1.1\r\nHost: Www.Example.test:8080\r\nUser-Agent: Mozilla/5.0 (X)\r\nAccept: */*\r\n"
    b"Cookie: sid=abc; t=1\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nid=7&name=me"
)

# Options of a rule, and whether it reports for GET.
REQUEST = [
    ('http.header; content:"User-Agent|3a 20|Moz"; fast_pattern; content:"Accept|3a 20|"; distance:0;', True),
    ('http.header; content:"Accept|3a 20|"; fast_pattern; content:"User-Agent|3a 20|Moz"; distance:0;', False),
    ('http.header; content:"Host|3a 20|"; content:"|0d 0a|User-Agent|3a|"; distance:21; within:13;', True),
    ('http.header; content:"Host|3a 20|"; content:"|0d 0a|User-Agent|3a|"; distance:22; within:13;', False),
    ('http.header; content:"sid=abc";', False),
    ('http.header; header_lowercase; content:"content-length|3a 20|12"; endswith;', False),
    ('http.header; header_lowercase; content:"content-length|3a 20|12|0d 0a|"; endswith;', True),
    ('http.header_names; content:"|0d 0a|Host|0d 0a|"; startswith; content:"|0d 0a 0d 0a|"; endswith;', True),
    ('http.header_names; to_lowercase; content:!"|0d 0a|referer|0d 0a|"; content:"|0d 0a|accept"; nocase;', True),
    ('http.header_names; to_lowercase; content:!"|0d 0a|accept|0d 0a|";', False),
    ('http.header_names; content:"|0d 0a|Cookie|0d 0a|";', True),
    ('http.start; content:"GET /a/b.php?"; startswith; content:"|0d 0a|Accept|3a 20|*/*|0d 0a|Cookie|3a|";', True),
    ('http.request_line; content:"GET "; startswith; content:" HTTP/1.1"; endswith; bsize:29;', True),
    ('http.request_line; content:"GET "; isdataat:261; content:!"|0a|"; depth:261;', False),
    ('http.cookie; content:"sid="; startswith; isdataat:!9,relative;', True),
    ('http.cookie; content:"sid="; startswith; isdataat:!8,relative;', False),
    ('http.content_type; content:"text/plain"; startswith; endswith;', True),
    ('http.content_type; bsize:=10; content:"text/plain";', True),
    ('http.content_type; bsize:10<>12; content:"text/plain";', False),
    ('http.content_len; byte_test:0,<,13,0,string,dec;', True),
    ('http.content_len; byte_test:0,>,12,0,string,dec;', False),
    ('http.content_len; byte_test:0,=,0x12,0,string,hex; byte_test:2,!=,0x13,0,string,hex;', True),
    ('urilen:16;', True),
    ('urilen:15<>17; http.method; content:"GET";', True),
    ('urilen:16<>20;', False),
    ('urilen:>16;', False),
    ('http.uri; bsize:16; content:"/A/"; startswith; nocase; content:"y=2"; nocase; endswith;', True),
    ('http.uri; content:"y=2"; endswith;', False),
    ('http.uri; content:".php?"; content:!"y"; within:1; content:"x="; distance:0;', True),
    ('http.uri; content:"x="; content:!"1"; within:1;', False),
    ('http.uri; content:"x="; content:!"Y"; distance:2;', False),
    ('http.uri; content:"x="; content:!"Y"; within:2;', True),
    ('http.uri; content:"/a/"; content:"php"; distance:2; within:3;', True),
    ('http.uri; content:"/a/"; content:"php"; distance:3;', False),
    (r'http.uri; content:"x="; pcre:"/^\d&Y/R";', True),
    (r'http.uri; content:"x="; pcre:"/^&Y/R";', False),
    (r'content:"x="; http_uri; pcre:"/^1&y/RUi";', True),
    (r'pcre:"/php\?x/U"; pcre:"/^Mozilla/V"; pcre:"/^GET$/M"; pcre:"/^sid=\w+\x3b/C"; pcre:"/^Host/Hm";', True),
    (r'pcre:"/^www\.example\.test$/W"; pcre:"/^Www\.Example\.test:8080$/Z"; pcre:"/name=me$/P";', True),
    (r'pcre:"/^www/Z";', False),
    ('http.uri; pcre:"/a.+b/G"; content:"php";', True),
    ('uricontent:"/a/"; uricontent:"b.php"; distance:0;', True),
    ('http.host; content:"www.example.test"; bsize:16;', True),
    ('http.host; dotprefix; content:".example.test"; endswith;', True),
    ('http.user_agent; content:"Mozilla"; isdataat:8,relative;', True),
    ('http.user_agent; content:"Mozilla"; isdataat:9,relative;', False),
    ('http.user_agent; isdataat:14;', True),
    ('http.user_agent; isdataat:15;', False),
    (('http.request_body; content:"id="; startswith; content:"&name="; distance:1; within:6; '
      'isdataat:!3,relative;'), True),
    ('http.referer; content:!"x";', False),
    ('http.referer; absent;', True),
    ('http.referer; absent:or_else; content:!"x";', True),
    ('http.user_agent; absent:or_else; content:!"Mozilla";', False),
    ('http.accept; content:"*/*"; bsize:3; http.method; content:"GET"; http.protocol; content:"HTTP/1.1";', True),
    ('flow:established,to_server; content:"|0d 0a 0d 0a|id=7"; http.uri; content:"b.php";', True),
]  # fmt: skip


def test_forms_about_requests(tmp_path: Path) -> None:
    rules = [f"alert http any any -> any any ({options} sid:{sid};)" for sid, (options, _) in enumerate(REQUEST, 1)]
    found, end, _ = play(tmp_path, rules, exchange((True, GET[:70]), (True, GET[70:])))
    reported = {sid for entry in found for sid in entry} | {a["alert"]["signature_id"] for a in end["alerts"]}
    wrong = [options for sid, (options, yes) in enumerate(REQUEST, 1) if (sid in reported) != yes]
    assert not wrong


PROGRAM = (b"MZ".ljust(60, b".") + (128).to_bytes(4, "little")).ljust(128, b".") + b"PE\0\0" + bytes(100) + b" and more"

# Options of a rule, and whether it reports for a response with PROGRAM in gzip and chunks.
RESPONSE = [
    ('http.stat_code; content:"200"; file.data; content:"MZ"; within:2;', True),
    ('file.data; content:"PE"; within:100;', False),
    ('file.data; content:"PE"; depth:130;', True),
    ('file.data; content:"PE"; depth:129;', False),
    (('file.data; content:"MZ"; within:2; byte_jump:4,58,relative,little; content:"PE|00 00|"; distance:-64; '
      'within:4;'), True),
    (('file.data; content:"MZ"; within:2; byte_jump:4,58,relative,little; content:"PE|00 00|"; distance:-63; '
      'within:4;'), False),
    ('file.data; content:"MZ"; byte_jump:4,58,relative,little,post_offset -64; content:"PE"; within:2;', True),
    ('file.data; content:"MZ"; byte_jump:4,60,little,from_beginning; content:"PE"; within:2;', True),
    (('file.data; content:"more"; isdataat:!1,relative; byte_jump:0,0,from_end,post_offset -4; content:"more"; '
      'within:4;'), True),
    ('file.data; content:"MZ"; byte_test:4,=,128,58,relative,little; byte_test:4,!&,127,58,relative,little;', True),
    ('file.data; content:"MZ"; byte_test:4,=,128,58,relative;', False),
    ('file.data; content:"MZ"; byte_extract:1,60,at; content:"PE"; offset:at; depth:2;', True),
    ('http.response_body; content:"MZ"; startswith; content:"and more"; distance:0; endswith;', True),
    ('http.header; content:"Content-Encoding|3a| gzip"; nocase; file_data; content:!"ELF"; content:"PE";', True),
    (('http.response_header; header_lowercase; content:"x-own|3a 20|"; startswith; content:"7"; distance:0; '
      'endswith;'), True),
]  # fmt: skip


def test_forms_about_bodies(tmp_path: Path) -> None:
    body = gzip.compress(PROGRAM)
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:9], body[9:])) + b"0\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX-Own: 7\r\nTransfer-Encoding: chunked\r\n\r\n"
    rules = [
        f"alert http any any -> any any (flow:to_client; {options} sid:{sid};)"
        for sid, (options, _) in enumerate(RESPONSE, 1)
    ]
    found, _, _ = play(tmp_path, rules, exchange((True, GET), (False, head + chunks[:40]), (False, chunks[40:])))
    reported = {sid for entry in found for sid in entry}
    wrong = [options for sid, (options, yes) in enumerate(RESPONSE, 1) if (sid in reported) != yes]
    assert not wrong


# A payload, and options of rules about it with whether they report.
NUMBERS = struct.pack(">4sHB", b"\xffSMB", 9, 3) + struct.pack("<HI", 0x1234, 7) + b"0012\xff 3a" + b"abcdefgh"
PAYLOAD = [
    (('content:"|ff|SMB"; depth:4; byte_test:2,=,9,0,relative; byte_test:1,&,1,2,relative; '
      'byte_test:1,!&,4,2,relative;'), True),
    ('content:"|ff|SMB"; byte_test:1,!&,2,2,relative;', False),
    ('content:"SMB"; byte_test:2,>,0x1233,3,relative,little; byte_test:2,<,0x1235,3,relative,little;', True),
    ('content:"SMB"; byte_test:2,=,0x1234,3,relative;', False),
    ('content:"SMB"; byte_test:4,=,12,9,relative,string,dec; byte_test:0,=,12,9,relative,string,dec;', True),
    ('content:"SMB"; byte_test:5,=,12,9,relative,string,dec;', True),
    ('content:"SMB"; byte_test:0,=,0x3aabcdef,14,relative,string,hex;', True),
    ('content:"SMB"; byte_test:3,=,0x3a,14,relative,string,hex;', True),
    ('content:"SMB"; byte_test:0,=,1,13,relative,string,dec;', False),
    ('byte_extract:1,6,size; byte_test:size,=,0x091203,5;', False),
    ('byte_extract:1,6,size; byte_test:size,=,0x000903,4; content:"abc";', True),
    ('content:"SMB"; byte_jump:1,2,relative; content:"|00 00 00|"; within:3;', True),
    ('content:"SMB"; byte_jump:1,2,relative,multiplier 2; content:"0012"; distance:0; within:4;', True),
    ('content:"SMB"; byte_jump:1,2,relative,align; content:"|00 00|0012"; within:6;', True),
    ('byte_jump:2,4; content:"0012"; within:4;', False),
    ('byte_jump:2,4; content:"12"; within:2;', True),
    ('content:"c"; isdataat:5,relative; content:"h"; endswith;', True),
    ('content:"c"; isdataat:6,relative;', False),
    ('isdataat:28; content:"abc";', True),
    ('isdataat:29; content:"abc";', False),
    ('dsize:29; content:"abc";', True),
    ('dsize:28<>30; content:"abc";', True),
    ('dsize:>28; dsize:<30; content:"h"; endswith;', True),
    ('dsize:!29; content:"abc";', False),
    ('content:"ABC"; nocase; offset:21; depth:3;', True),
    ('content:"abc"; offset:22;', False),
    ('content:"def"; content:"abc"; distance:-6; within:3;', True),
    ('content:"abc"; content:!"def"; distance:0; within:3;', False),
    ('content:"abc"; content:!"efg"; distance:0; within:3;', True),
    ('content:"abc"; content:!"zzz"; distance:-10;', True),
    (r'content:"abc"; pcre:"/^d[a-z]+h$/R"; pcre:!"/xyz/";', True),
    ('content:"SMB"; rawbytes; content:"a"; distance:0; tag:session,20,packets; target:dest_ip;', True),
]  # fmt: skip


@pytest.mark.parametrize("protocol", ["udp", "tcp-pkt", "tcp"])
def test_forms_about_payload(protocol: str, tmp_path: Path) -> None:
    rules = [
        f"alert {protocol} any any -> any any ({options} sid:{sid};)" for sid, (options, _) in enumerate(PAYLOAD, 1)
    ]
    if protocol == "udp":
        with Soft(rules_file(tmp_path, rules)) as soft:
            reported = set(soft.sids(frame(Packet("udp", A, B, NUMBERS, 0, ""))))
    else:
        found, _, _ = play(tmp_path, rules, exchange((True, NUMBERS), server=B))
        reported = set(found[0])
    wrong = [options for sid, (options, yes) in enumerate(PAYLOAD, 1) if (sid in reported) != yes]
    assert not wrong


def test_names_end_as_a_rule_says(tmp_path: Path) -> None:
    rules = [
        'alert dns any any -> any any (dns.query; dotprefix; content:".evil.test"; nocase; endswith; sid:1;)',
        'alert dns any any -> any any (dns.query; bsize:9; content:"evil.test"; nocase; sid:2;)',
        'alert dns any any -> any any (dns.query; content:"evil.test"; nocase; startswith; endswith; sid:3;)',
        'alert dns any any -> any any (dns.query; content:".evil.test"; fast_pattern; nocase; endswith; sid:4;)',
    ]
    for name, reported in [
        ("evil.test", [1, 2, 3]),
        ("EVIL.test", [1, 2, 3]),
        ("www.evil.test", [1, 4]),
        ("notevil.test", []),
        ("evil.test.other", []),
    ]:
        query = Packet("udp", A, (SERVER, 53), bytes(DNS(qd=DNSQR(qname=name))), 0, "")
        with Soft(rules_file(tmp_path, rules)) as soft:
            assert sorted(soft.sids(frame(query))) == reported, name
    rules = [
        (
            'alert tls any any -> any any (flow:established,to_server; tls.sni; dotprefix; content:".evil.test"; '
            "endswith; sid:1;)"
        ),
        (
            'alert tls any any -> any any (flow:established,to_server; tls.sni; bsize:9; content:"evil.test"; '
            "fast_pattern; sid:2;)"
        ),
        'alert tls any any -> any any (tls.sni; content:"evil.test"; startswith; endswith; sid:3;)',
    ]
    packets = exchange()
    packets.append(Packet("tcp", (CLIENT, 4000), (SERVER, 80), b"", 100, "A", 500))
    for name, reported in [("evil.test", [1, 2, 3]), ("www.evil.test", [1]), ("notevil.test", [])]:
        hello = Packet("tcp", (CLIENT, 4000), (SERVER, 80), client_hello(name), 100, "PA", 500)
        found, _, _ = play(tmp_path, rules, [*packets, hello])
        assert sorted(found[-1]) == reported, name


def test_bits_of_flows(tmp_path: Path) -> None:
    rules = [
        'alert tcp any any -> any any (content:"first"; flowbits:set,one; flowbits:noalert; sid:1;)',
        'alert tcp any any -> any any (content:"later"; flowbits:isset,none|one; sid:2;)',
        'alert tcp any any -> any any (content:"later"; flowbits:isset,one; flowbits:isnotset,two; sid:3;)',
        'alert tcp any any -> any any (content:"later"; flowbits:isset,none; sid:4;)',
        'alert tcp any any -> any any (content:"clear"; flowbits:isset,one; flowbits:unset,one; sid:5;)',
    ]
    parts = [b"later", b"first", b"later", b"clear", b"later"]
    assert play(tmp_path, rules, exchange(*[(True, part) for part in parts]))[0] == [[], [], [2, 3], [5], []]


def test_bits_of_addresses_expire(tmp_path: Path) -> None:
    rules = [
        'alert udp any any -> any any (content:"mark"; xbits:set,own,track ip_src,expire 10; sid:1;)',
        'alert udp any any -> any any (content:"look"; xbits:isset,own,track ip_src; sid:2;)',
        'alert udp any any -> any any (content:"look"; xbits:isset,own,track ip_dst; sid:3;)',
        'alert udp any any -> any any (content:"look"; xbits:isnotset,own,track ip_src; sid:4;)',
    ]
    with Soft(rules_file(tmp_path, rules)) as soft:

        def sids(word: bytes, time: int, back: bool = False) -> list[int]:
            ends = (B, A) if back else (A, B)
            return sorted(soft.sids(frame(Packet("udp", *ends, word, 0, "")), time * SECOND))

        assert [sids(b"look", 1), sids(b"mark", 2), sids(b"look", 11), sids(b"look", 11, True)] == [
            [4],
            [1],
            [2],
            [3, 4],
        ]
        assert sids(b"look", 13) == [4]


def test_thresholds_count(tmp_path: Path) -> None:
    """Seven matches in a period and two in the next one."""
    rules = [
        'alert udp any any -> any any (content:"word"; threshold:type limit,track by_src,count 2,seconds 60; sid:1;)',
        (
            'alert udp any any -> any any (content:"word"; '
            "threshold: type threshold, track by_dst, count 3, seconds 60; sid:2;)"
        ),
        'alert udp any any -> any any (content:"word"; threshold:type both, count 3, seconds 60, track by_src; sid:3;)',
        'alert udp any any -> any any (content:"word"; detection_filter:track by_src, count 5, seconds 60; sid:4;)',
    ]
    with Soft(rules_file(tmp_path, rules)) as soft:
        packet = frame(Packet("udp", A, B, b"word", 0, ""))
        found = [sorted(soft.sids(packet, time * SECOND)) for time in [1, 2, 3, 4, 5, 6, 7, 70, 71]]
    assert found[:7] == [[1], [1], [2, 3], [], [], [2, 4], [4]]
    assert found[7] == [1] and 1 in found[8] and 3 not in found[8] and 4 not in found[8]


def test_sizes_of_streams_and_directions(tmp_path: Path) -> None:
    rules = [
        'alert tcp any any -> any any (dsize:<600; stream_size:server,<,5; content:"hello"; startswith; sid:1;)',
        'alert tcp any any -> any any (flow:established,to_client; content:"hello"; sid:2;)',
        'alert tcp any any -> any any (flow:from_client; content:"hello"; sid:3;)',
        'alert tcp any [5000,6000:] -> any ![80,5001] (content:"hello"; sid:4;)',
    ]
    found, _, _ = play(tmp_path, rules, exchange((True, b"hello"), (False, b"hello"), (True, b"hello"), server=B))
    assert found == [[1, 3], [2, 4], [3]]


def test_protocols_that_are_known_by_their_first_bytes(tmp_path: Path) -> None:
    rules = [
        'alert smb any any -> any any (flow:established; content:"|fe|SMB"; offset:4; depth:4; content:"word"; sid:1;)',
        'alert smb any any -> any any (content:"later"; sid:2;)',
        'alert dcerpc any any -> any any (content:"later"; sid:3;)',
        'alert tcp any any -> any any (content:"later"; app-layer-protocol:!smb; sid:4;)',
        'alert snmp any any -> any any (content:"public"; sid:5;)',
        'alert tftp any any -> any 69 (content:"|00 01|"; startswith; content:"boot"; sid:6;)',
        'alert http any any -> any any (content:"later"; sid:7;)',
        'alert sip any any -> any any (content:"later"; sid:8;)',
    ]
    smb = b"\0\0\0\x20\xfeSMB word"
    for parts, reported in [
        ([smb, b"later"], [[1], [2]]),
        # The beginning comes in pieces, the answer first.
        ([smb[:5], smb[5:7], smb[7:] + b" later"], [[], [], [1, 2]]),
        ([b"\x05\x00\x0b\x03\x10\x00\x00\x00\x48\x00\x00\x00 a bind request", b"later"], [[], [3, 4]]),
        ([b"nothing that is known", b"later"], [[], [4]]),
        ([GET, b"later"], [[], [4, 7]]),
        # A proxy's greeting has the first bytes of dcerpc.
        ([b"\x05\x01\x00", b"\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50", b"later"], [[], [], [4]]),
        ([b"OPTIONS sip:a@b SIP/2.0", b"later"], [[], [4, 8]]),
        ([b"SUBSCRIBE ", b"sip:a@b SIP/2.0", b"later"], [[], [], [4, 8]]),
    ]:
        found, _, _ = play(tmp_path, rules, exchange(*[(True, part) for part in parts]))
        assert [sorted(entry) for entry in found] == reported, parts
    # The server's first bytes count for both directions.
    found, _, alerts = play(tmp_path, rules, exchange((False, smb), (True, b"some later bytes")))
    assert [sorted(entry) for entry in found] == [[1], [2]]
    assert [alert["app_proto"] for alert in alerts] == ["smb", "smb"]
    # The end decides, and so does a gap: what follows it is not the begin.
    found, end, _ = play(tmp_path, rules, exchange((True, b"later")))
    assert (found, [alert["alert"]["signature_id"] for alert in end["alerts"]]) == ([[]], [4])
    packets = exchange((True, b"lost"), (True, smb), (True, b"later"))
    found, end, _ = play(tmp_path, rules, packets[:2] + packets[3:])
    assert (found, [alert["alert"]["signature_id"] for alert in end["alerts"]]) == ([[], []], [4])
    get = b"\x30\x26\x02\x01\x01\x04\x06public\xa0\x19"
    with Soft(rules_file(tmp_path, rules)) as soft:
        for data, port, sids in [
            (get, 161, [5]),
            (get, 162, [5]),
            (get, 163, []),
            (b"\0\1boot\0", 69, [6]),
            (b"SIP/2.0 200 later", 53, [8]),
        ]:
            assert soft.sids(frame(Packet("udp", A, (SERVER, port), data, 0, ""))) == sids
        assert soft.sids(frame(Packet("udp", A, (SERVER, 69), b"\0\7boot\0", 0, ""))) == []


def test_the_payload_of_a_reset_is_no_part_of_the_stream(tmp_path: Path) -> None:
    rules = [
        'alert tcp any any -> any any (flow:only_stream; content:"denied"; sid:1;)',
        'alert tcp-pkt any any -> any any (flags:RA; content:"denied"; sid:2;)',
        'alert tcp any any -> any any (content:"denied"; sid:3;)',
        'alert tcp any any -> any any (content:"first denied"; sid:4;)',
    ]
    packets = exchange((True, b"first "), server=B)
    packets.append(Packet("tcp", A, B, b"denied", 106, "RA", 500))
    found, end, _ = play(tmp_path, rules, packets)
    assert [sorted(sids) for sids in found] == [[], [2, 3]] and end["alerts"] == []
