// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Records between an inline block and its host driver. While `valid && !ready` nothing changes.
interface record_if
  import penstock_pkg::*;
();
  logic    valid;
  logic    ready;
  record_t data;

  modport src(output valid, data, input ready);
  modport snk(input valid, data, output ready);
  modport mon(input valid, data, ready);
endinterface

`default_nettype wire
