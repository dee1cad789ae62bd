# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Writes ring.json: the server of each place in a service's ring, by Maglev's rule (Eisenbud et al., NSDI 2016, section
3.4), so that adding or removing a server changes few places of the others.

Usage: python designs/balancer/ring.py
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

FOLDER = Path(__file__).parent
# Places of a service's ring, as the program has them.
PLACES = 1021
# Services by number, and the numbers of their servers.
SERVICES = {0: [0, 1, 2, 3], 1: [4, 5]}


def ring(addresses: dict[int, str]) -> list[int]:
    """The server of each place: servers take turns, each with the next place of a sequence of its own that is still
    free.
    """
    places: list[int | None] = [None] * PLACES
    wishes = {}
    for server, address in addresses.items():
        digest = hashlib.sha256(address.encode()).digest()
        first, step = int.from_bytes(digest[:8], "big") % PLACES, int.from_bytes(digest[8:16], "big") % (PLACES - 1) + 1
        wishes[server] = iter([(first + n * step) % PLACES for n in range(PLACES)])
    taken = 0
    while True:
        for server, wish in wishes.items():
            place = next(place for place in wish if places[place] is None)
            places[place] = server
            taken += 1
            if taken == PLACES:
                return [server for server in places if server is not None]


def main() -> None:
    servers = {number: value["address"] for number, value in json.loads((FOLDER / "servers.json").read_text())}
    entries = []
    for service, members in SERVICES.items():
        for place, server in enumerate(ring({number: servers[number] for number in members})):
            entries.append([service * PLACES + place, server])
    (FOLDER / "ring.json").write_text(json.dumps(entries).replace("], ", "],\n") + "\n")


if __name__ == "__main__":
    main()
