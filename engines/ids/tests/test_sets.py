# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Whole sets of rules as users of Suricata have them: with its configuration, its classes, and rules of all kinds."""

from __future__ import annotations

import json
from pathlib import Path

from ids_oracle import Packet
from ids_soft import frame
from system import ROOT, call, run_design, write_capture

CONFIG = """%YAML 1.1
---
# Our network.
vars:
  address-groups:
    HOME_NET: "[10.0.0.0/8,fd00::/8]"  # both
    #HOME_NET: "any"
    EXTERNAL_NET: "!$HOME_NET"
    OWN_SERVERS: '$HOME_NET'

  port-groups:
    HTTP_PORTS: "[80,8080]"
    OWN_PORTS: 5000

outputs:
  - fast:
      enabled: yes
"""

CLASSES = "# ours\n\nconfig classification: own-class,What we look for,4\n"


def test_a_set_of_40000_lines_loads(tmp_path: Path) -> None:
    """Rules, rules that are switched off, comments, empty lines, and one rule of each kind that does not load."""
    lines = ["# a set"]
    for sid in range(1, 13_001):
        switched = "#" if sid % 4 == 0 else ""
        lines += [
            f'{switched}alert http $HOME_NET any -> $EXTERNAL_NET any (msg:"(a; b)"; flow:established,to_server; \\',
            f'    http.uri; content:"/own-{sid:05d}/"; fast_pattern; classtype:own-class; sid:{sid}; rev:1;)',
            "",
        ]
    # A comment ends with its line: the next line would be no rule.
    lines = [line for at, line in enumerate(lines) if not lines[at - 1].startswith("#alert")]
    lines += [
        'alert tcp !$OWN_SERVERS any -> any $OWN_PORTS (content:"behind"; sid:20001;)',
        'alert tcp any any -> any any (content:"behind"; rfb.name; sid:20002;)',
        'alert tcp any any -> any any (content:"behind"; depth:2; sid:20003;)',
        'alert tcp any any -> any any (content:"again"; sid:1;)',
        'alert tcp any any -> $ENIP_SERVER $FILE_DATA_PORTS (content:"behind"; sid:20004;)',
    ]
    rules = tmp_path / "set.rules"
    rules.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n")
    (tmp_path / "suricata.yaml").write_text(CONFIG)
    (tmp_path / "classification.config").write_text(CLASSES)
    about = tmp_path / "about.json"
    options = ["--config", tmp_path / "suricata.yaml", "--classification", tmp_path / "classification.config"]
    (tmp_path / "threshold.config").write_text("suppress gen_id 1, sig_id 20004\n")
    options += ["--thresholds", tmp_path / "threshold.config"]
    done = call("compile", "ids", rules, *options, "--skip-unsupported", "--json", about)
    assert done.returncode == 0, done.stderr
    told = json.loads(about.read_text())
    assert [rule["sid"] for rule in told["rules"]] == [sid for sid in range(1, 13_001) if sid % 4] + [20_001, 20_004]
    assert [entry["keyword"] for entry in told["skipped"]] == ["rfb.name", None, None]
    assert "depth is shorter than the content" in done.stdout and "sid 1 is also the number" in done.stdout
    assert "rules left out: 2 are wrong, 1 use what is not supported" in done.stdout
    # A variable that nobody sets is no reason to be without its rules.
    done = call("compile", "ids", rules, "--skip-unsupported")
    assert done.returncode == 1 and "there is no variable $OWN_SERVERS" in done.stderr
    # Without the file, `!` before a variable that is `any` leaves nothing.
    done = call("compile", "ids", rules, "--variable", "OWN_PORTS=5000", "--variable", "OWN_SERVERS=any")
    assert done.returncode == 1 and "give it a value of your own" in done.stderr


def test_a_design_names_the_files(tmp_path: Path) -> None:
    (tmp_path / "suricata.yaml").write_text(CONFIG)
    (tmp_path / "classification.config").write_text(CLASSES)
    design = (ROOT / "designs/ids.toml").read_text().replace('"../', f'"{ROOT}/')
    (tmp_path / "threshold.config").write_text("suppress gen_id 1, sig_id 2, track by_src, ip $HOME_NET\n")
    keys = 'ids.config = "suricata.yaml"\nids.classification = "classification.config"\n'
    keys += 'ids.thresholds = "threshold.config"\n'
    keys += 'ids.variables.OWN_PORTS = "6000"\n'
    (tmp_path / "ids.toml").write_text(design.replace("ids.mode", keys + "ids.mode"))
    (tmp_path / "my.rules").write_text(
        'alert udp $HOME_NET any -> $EXTERNAL_NET $OWN_PORTS (content:"word"; classtype:own-class; sid:1;)\n'
        'alert udp $HOME_NET any -> $EXTERNAL_NET $OWN_PORTS (content:"word"; sid:2;)\n'
    )
    packets = [
        Packet("udp", (source, 1), (target, port), b"word", 0, "")
        for source, target in [("10.1.1.1", "11.1.1.1"), ("11.1.1.1", "10.1.1.1"), ("10.1.1.1", "10.2.2.2")]
        for port in (5000, 6000)
    ]
    capture = write_capture(tmp_path / "in.pcap", [frame(packet) for packet in packets])
    options: list[str | Path] = ["--rules", tmp_path / "my.rules", "--eve", tmp_path / "eve.json"]
    run = run_design(tmp_path / "ids.toml", [capture], tmp_path / "out", "soft", *options)
    assert run.status == 0, run.stderr
    records = [json.loads(line) for line in (tmp_path / "eve.json").read_text().splitlines()]
    alerts = [record for record in records if record["event_type"] == "alert"]
    assert [(alert["src_ip"], alert["dest_ip"], alert["dest_port"]) for alert in alerts] == [
        ("10.1.1.1", "11.1.1.1", 6000)
    ]
    assert (alerts[0]["alert"]["category"], alerts[0]["alert"]["severity"]) == ("What we look for", 4)
    for name, text in [
        ("suricata.yaml", "vars:\n  port-groups:\n    A:\n"),
        ("classification.config", "own-class\n"),
        ("threshold.config", "suppress gen_id 1, sig_id x\n"),
    ]:
        before = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text)
        run = run_design(tmp_path / "ids.toml", [capture], tmp_path / "out", "soft", *options)
        assert run.status == 1 and name in run.stderr and "line " in run.stderr, run.stderr
        # The fault points at the key of this file.
        line = next(n for n, text in enumerate((tmp_path / "ids.toml").read_text().splitlines(), 1) if name in text)
        assert f"ids.toml:{line}:" in run.stderr, run.stderr
        (tmp_path / name).write_text(before)
