# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Rules that ask for sets of values and change them, and rules about flows without a known protocol."""

from __future__ import annotations

import base64
from pathlib import Path

from ids_oracle import Packet
from ids_random import CLIENT, SERVER
from ids_soft import Soft, frame
from scapy.layers.dns import DNS, DNSQR
from test_messages import exchange, play, rules_file

A = (CLIENT, 4000)


def query(name: str, target: str = SERVER) -> bytes:
    return frame(Packet("udp", A, (target, 53), bytes(DNS(qd=DNSQR(qname=name))), 0, ""))


def words(path: Path) -> list[str]:
    return [base64.b64decode(line).decode() for line in path.read_text().split()]


def test_a_value_is_new_once(tmp_path: Path) -> None:
    """Both rules share a set. A rule whose other conditions fail adds nothing."""
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "seen").write_text(base64.b64encode(b"old.test").decode() + "\n")
    rules = [
        "alert dns any any -> any any (dns.query; to_lowercase; dataset:set,names,type string,state seen; sid:1;)",
        'alert http any any -> any any (http.host; dataset:set,names; http.uri; content:"/a"; sid:2;)',
    ]
    with Soft(rules_file(tmp_path, rules), options=[f"datasets={kept}"]) as soft:
        names = ["new.test", "NEW.test", "new.test", "old.test"]
        assert [soft.sids(query(name)) for name in names] == [[1], [], [], []]
        for port, path, reported in [(8001, "/b", []), (8002, "/a", [2]), (8003, "/a/b", [])]:
            request = f"GET {path} HTTP/1.1\r\nHost: web.test\r\n\r\n".encode()
            packets = exchange((True, request), server=(SERVER, port))
            assert [soft.sids(frame(packet)) for packet in packets][-1] == reported
        soft.reload(rules_file(tmp_path, rules[:1]))
        assert soft.sids(query("web.test")) == []
        soft.finish()
    assert sorted(words(kept / "seen")) == ["new.test", "old.test", "web.test"]


def test_bytes_behind_messages_decide_about_values(tmp_path: Path) -> None:
    """Conditions on the packet or on the stream of a message; those of rule 2 hold with a later segment."""
    kept = tmp_path / "kept"
    kept.mkdir()
    rules = [
        "alert dns any any -> any any"
        ' (dns.query; dataset:set,names,type string,save names; pkt_data; content:"yes"; sid:1;)',
        (
            "alert http any any -> any any (http.host; dataset:set,hosts,type string,save hosts; pkt_data; "
            'content:"end"; sid:2;)'
        ),
    ]
    requests = [
        f"GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode() for path, host in [("a", "a.test"), ("b", "b.test")]
    ]
    with Soft(rules_file(tmp_path, rules), options=[f"datasets={kept}"]) as soft:
        assert [soft.sids(query(name)) for name in ["no.test", "yes.test", "yes.test"]] == [[], [1], []]
        packets = exchange((True, requests[0]), (True, b"the "), (True, b"end"), server=(SERVER, 8001))
        packets += exchange((True, requests[1]), (True, b"more"), server=(SERVER, 8002))
        found = [sid for packet in packets for sid in soft.sids(frame(packet))]
        assert found == [2]
        soft.finish()
    assert (words(kept / "names"), words(kept / "hosts")) == (["yes.test"], ["a.test"])


def test_sets_that_other_rules_lack_are_written(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    rules = ["alert dns any any -> any any (dns.query; dataset:set,names,type string,save names; sid:1;)"]
    with Soft(rules_file(tmp_path, rules), options=[f"datasets={kept}"]) as soft:
        assert soft.sids(query("a.test")) == [1]
        soft.reload(rules_file(tmp_path, ["alert udp any any -> any any (sid:2;)"]))
        assert words(kept / "names") == ["a.test"]
        assert soft.finish()["stats"]["detect"]["missed_values"] == 0


def test_values_are_removed_and_rated(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / "servers").write_text(f"{SERVER}\n192.0.2.7\n")
    (tmp_path / "rated").write_text(f"{CLIENT},7\n192.0.2.9,300\n")
    rules = [
        "alert udp any any -> any 53 (ip.dst; dataset:isset,servers,type ipv4,load servers,save left; sid:1;)",
        'alert udp any any -> any any (content:"gone"; ip.dst; dataset:unset,servers; sid:2;)',
        "alert ip any any -> any any (ip.src; datarep:hosts,>,5,type ip,load rated; sid:3;)",
        "alert ip any any -> any any (ip.src; datarep:hosts,>,7; sid:4;)",
        "alert ip any any -> any any (ip.dst; dataset:isnotset,servers; sid:5;)",
    ]
    with Soft(rules_file(tmp_path, rules), options=[f"datasets={kept}"]) as soft:
        assert sorted(soft.sids(query("a.test"))) == [1, 3]
        assert {2, 3} <= set(soft.sids(query("gone.test")))
        assert sorted(soft.sids(query("a.test"))) == [3, 5]
        assert {2, 3} <= set(soft.sids(query("gone.test", "192.0.2.7")))
        assert soft.finish()["stats"]["detect"]["unsaved"] == 0
    assert (kept / "left").read_text() == ""


def test_pieces_of_a_buffer_are_values(tmp_path: Path) -> None:
    rules = [
        r'alert http any any -> any any (http.uri; pcrexform:"[?&]([a-z]+)="; dataset:set,keys,type string; sid:1;)',
        'alert http any any -> any any (http.uri; pcrexform:"v=([^&]+)"; from_base64; content:"secret"; sid:2;)',
    ]
    data = b"".join(f"GET {uri} HTTP/1.1\r\nHost: a\r\n\r\n".encode() for uri in ["/?ab=1", "/x?ab=2", "/?v=c2VjcmV0"])
    found, _, _ = play(tmp_path, rules, exchange(*[(True, part) for part in data.split(b"GET")[1:]]))
    assert not any(found)
    parts = [(True, b"GET" + part) for part in data.split(b"GET")[1:]]
    found, _, _ = play(tmp_path, rules, exchange(*parts))
    assert [sorted(sids) for sids in found] == [[1], [], [1, 2]]


def test_flows_may_have_no_known_protocol(tmp_path: Path) -> None:
    rules = [
        'alert tcp any any -> any any (app-layer-protocol:failed; content:"list"; sid:1;)',
        'alert tcp any any -> any any (app-layer-protocol:!failed; content:"list"; sid:2;)',
        'alert tcp any any -> any any (app-layer-protocol:failed; content:"GE"; startswith; sid:3;)',
    ]
    for first, reported in [(b"nothing that is known list", {1}), (b"GET /list HTTP/1.1\r\nHost: a\r\n\r\n", {2})]:
        found, end, _ = play(tmp_path, rules, exchange((True, first[:2]), (True, first[2:]), server=(SERVER, 9000)))
        sids = {sid for entry in found for sid in entry} | {a["alert"]["signature_id"] for a in end["alerts"]}
        assert sids == reported, first
