// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A stream of frames inside the card. `meta` is valid with the first beat of a frame and undefined with the others.
// Contract (frame_check.sv checks it in every simulation): while `valid && !ready` nothing changes; a frame has exactly
// beats_of(meta.len) beats, or one where it is folded (tail_t in penstock_pkg.sv); `last` marks the final one.
interface frame_if
  import penstock_pkg::*;
();
  logic              valid;
  logic              ready;
  logic [DataW-1:0]  data;
  logic              last;
  frame_meta_t       meta;

  modport src(output valid, data, last, meta, input ready);
  modport snk(input valid, data, last, meta, output ready);
  modport mon(input valid, data, last, meta, ready);
endinterface

`default_nettype wire
