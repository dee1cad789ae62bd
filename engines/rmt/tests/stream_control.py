# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Opens a stream at the server at an address, says "open" when it is primary, and then with which status the stream
ends. It runs in finsy's environment.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import grpc
from finsy.proto import p4r, p4r_grpc


def main(address: str) -> None:
    stays = threading.Event()

    def messages() -> Iterator[p4r.StreamMessageRequest]:
        election = p4r.Uint128(low=1)
        update = p4r.MasterArbitrationUpdate(device_id=1, election_id=election)
        yield p4r.StreamMessageRequest(arbitration=update)
        stays.wait()

    with grpc.insecure_channel(address) as channel:
        answers = p4r_grpc.P4RuntimeStub(channel).StreamChannel(messages())
        next(answers)
        print("open", flush=True)
        try:
            next(answers)
        except grpc.RpcError as error:
            print(error.code().name, error.details())
        stays.set()


if __name__ == "__main__":
    main(sys.argv[1])
