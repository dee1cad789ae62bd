# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""What test_p4runtime_control.py has p4runtime-shell do on control.p4. It runs in the shell's environment:
`shell_control.py ADDRESS EXCHANGE [card]`, with EXCHANGE as finsy_control.py has it. With `card` it leaves out what a
card in hardware does not have, and what card_control.p4 does not have either."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import p4runtime_sh.shell as sh
from p4runtime_sh.p4runtime import P4RuntimeWriteException

REST = bytes(range(20))


def frame(op: int, key: int = 0, flow: int = 0) -> bytes:
    return bytes([op, key, flow, 0]) + REST


def main(address: str, exchange: str, where: str = "") -> dict[str, Any]:
    def frames(*frames: bytes) -> list[str]:
        command = [*json.loads(exchange), *(one.hex() for one in frames)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [line.removesuffix(REST.hex()) for line in done.stdout.split()]

    said: dict[str, Any] = {}
    sh.setup(device_id=1, grpc_addr=address, election_id=(1, 0), verbose=False)
    entry = sh.TableEntry("In.known")(action="In.answer")
    entry.match["hdr.op.key"] = "1"
    entry.action["value"] = "0x11"
    entry.insert()
    said["entry"] = frames(frame(3, 1))
    said["counter"] = [one.packet_count for one in sh.DirectCounterEntry("In.hits").read()]
    try:
        entry.insert()
    except P4RuntimeWriteException as error:
        said["twice"] = str(error)
    entry.delete()
    said["gone"] = frames(frame(3, 1))
    meter = sh.MeterEntry("In.police")
    meter.index = 0
    meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 1, 1, 2
    meter.modify()
    said["meter"] = frames(*[frame(4)] * 3)
    group = sh.MulticastGroupEntry(5)
    group.add(0, 1).add(0, 2)
    group.insert()
    said["group"] = frames(frame(8, 5))
    said["groups"] = [
        [(copy.egress_port, copy.instance) for copy in one.replicas] for one in sh.MulticastGroupEntry(5).read()
    ]
    session = sh.CloneSessionEntry(6)
    session.add(0)
    session.insert()
    said["clone"] = frames(frame(9, 6))
    if where != "card":
        member = sh.ActionProfileMember("In.choices")(member_id=1, action="In.answer")
        member.action["value"] = "0x33"
        member.insert()
        sh.ActionProfileGroup("In.choices")(group_id=2).add(1, 1).insert()
        by_group = sh.TableEntry("In.by_group")
        by_group.match["hdr.op.key"] = "7"
        by_group.group_id = 2
        by_group.insert()
        said["choice"] = frames(frame(7, 7))
    packets = sh.PacketIn()
    frames(frame(1, 9))
    (packet,) = packets.sniff(timeout=3)
    said["packet in"] = [packet.packet.payload.hex(), [one.value.hex() for one in packet.packet.metadata]]
    out = sh.PacketOut(frame(0, 6))
    out.metadata["port"] = "0"
    out.send()
    time.sleep(2)
    said["packet out"] = frames()
    digest = sh.DigestEntry("learn_t")
    digest.ack_timeout_ns = 10**9
    digest.insert()
    lists = sh.DigestList()
    frames(frame(2, 4))
    (learned,) = lists.sniff(timeout=3)
    said["digest"] = [one.bitstring.hex() for one in learned.digest.data[0].struct.members]
    return said


if __name__ == "__main__":
    try:
        print(json.dumps(main(*sys.argv[1:])), flush=True)
    finally:
        # Its threads would wait for ever.
        sh.teardown()
