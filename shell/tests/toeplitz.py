# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The flow hash in plain Python, bit by bit, and Microsoft's published verification values for it.

Source: Microsoft, "Verifying the RSS Hash Calculation" (Windows driver documentation).
"""

from __future__ import annotations

import ipaddress

KEY = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")

# destination, source, destination port, source port, hash of the addresses, hash with ports
VERIFICATION = [
    ("161.142.100.80", "66.9.149.187", 1766, 2794, 0x323E8FC2, 0x51CCC178),
    ("65.69.140.83", "199.92.111.2", 4739, 14230, 0xD718262A, 0xC626B0EA),
    ("12.22.207.184", "24.19.198.95", 38024, 12898, 0xD2D0A5DE, 0x5C2B394A),
    ("209.142.163.6", "38.27.205.30", 2217, 48228, 0x82989176, 0xAFC7327F),
    ("202.188.127.2", "153.39.163.191", 1303, 44251, 0x5D1809C5, 0x10E828A2),
    ("3ffe:2501:200:3::1", "3ffe:2501:200:1fff::7", 1766, 2794, 0x2CC18CD5, 0x40207D3D),
    ("ff02::1", "3ffe:501:8::260:97ff:fe40:efab", 4739, 14230, 0x0F0C461C, 0xDDE51BBF),
    ("fe80::200:f8ff:fe21:67cf", "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 38024, 44251, 0x4B61E985, 0x02D1FEEF),
]


def toeplitz(fields: bytes) -> int:
    """For each input bit that is 1, XOR in the 32 key bits that start at its place."""
    key = int.from_bytes(KEY, "big")
    result = 0
    for i in range(8 * len(fields)):
        if fields[i // 8] >> (7 - i % 8) & 1:
            result ^= key >> (8 * len(KEY) - 32 - i) & 0xFFFFFFFF
    return result


def flow_hash(frame: bytes) -> int:
    """docs/architecture.md, "Flow hash"."""
    head = frame[:64]
    at = 12
    for _ in range(2):
        if head[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
            at += 4
    ethertype, layer3 = head[at : at + 2], head[at + 2 :]
    if ethertype == b"\x08\x00" and len(layer3) >= 20 and layer3[0] >> 4 == 4 and layer3[0] & 15 >= 5:
        fields = layer3[12:20]
        fragment = int.from_bytes(layer3[6:8], "big") & 0x3FFF
        if layer3[0] & 15 == 5 and not fragment and layer3[9] in (6, 17) and len(layer3) >= 24:
            fields += layer3[20:24]
        return toeplitz(fields)
    if ethertype == b"\x86\xdd" and len(layer3) >= 40 and layer3[0] >> 4 == 6:
        fields = layer3[8:40]
        if layer3[6] in (6, 17) and len(layer3) >= 44:
            fields += layer3[40:44]
        return toeplitz(fields)
    return 0


def address(text: str) -> bytes:
    return ipaddress.ip_address(text).packed
