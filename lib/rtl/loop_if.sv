// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// How a unit gets a place for a frame in another unit, before it sends the frame over loopback.
//
// The unit holds `valid` and the fields of its request until `answer` rises, for one cycle; `valid` in the next cycle
// is another request. `granted` with the answer: the frame goes to `unit_id` and `slot`, and its metadata must have
// both when it is sent. Otherwise the dispatcher has dropped and counted the frame, and the unit forgets it.
interface loop_if
  import penstock_pkg::*;
();
  logic valid;
  port_t dst;         // PortLoopback: a unit of the dispatcher's choice, PortUnit + u: this one
  len_t len;
  logic [6:0] hash;   // the low bits of the frame's flow hash

  logic answer;
  logic granted;
  unit_t unit_id;
  slot_t slot;

  modport unit(output valid, dst, len, hash, input answer, granted, unit_id, slot);
  modport shell(input valid, dst, len, hash, output answer, granted, unit_id, slot);
endinterface

`default_nettype wire
