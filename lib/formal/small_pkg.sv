// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// The part of the library's package that frame_stages.sv needs, with beats of four bits.
package penstock_pkg;
  localparam int unsigned DataW = 4;

  typedef logic [3:0] frame_meta_t;

  typedef struct packed {
    frame_meta_t      meta;
    logic             last;
    logic [DataW-1:0] data;
  } beat_t;
endpackage
