# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Under the room contract the buffers of an exit never overflow, and no frame is dropped for which there was room:
proven by SymbiYosys (shell/formal/gather.sv).
"""

from __future__ import annotations

import pytest
from penstock.proof import prove


@pytest.mark.parametrize("task", ["prove", "drops", "cover", "cover_drops"])
def test_room(task: str) -> None:
    """prove, drops: from a reset, and by induction at all times. cover: buffer and descriptors fill to the last place,
    and a stuck exit drops a frame.
    """
    prove("shell/formal/gather.sby", task)
