// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// The state that goes from depth to depth of the parser.
package rmt_parse_pkg;
  import rmt_pkg::*;

  typedef struct packed {
    ctl_t        ctl;
    info_t       info;
    logic        done;
    logic [2:0]  error;
    logic [15:0] flags;
  } parse_t;

  // The actions of the last row that are not done yet. Places are in words of the window.
  typedef struct packed {
    goto_t       next;
    error_e      misfit;   // the fixed part does not fit
    logic [5:0]  offset;   // of the fixed part, up to 32
    logic [6:0]  fixed;    // behind the fixed part
    logic [8:0]  ends;     // behind the variable part
    logic        extra;    // there is a variable part
    logic [7:0]  words;    // of the variable part
    logic        vextract;
    logic [4:0]  vmax;
    logic [4:0]  vdst;
    logic [4:0]  count;
    logic [4:0]  dst;
    logic [15:0] flags;
  } late_t;

endpackage
