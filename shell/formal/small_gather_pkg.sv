// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// The part of the packages of library and shell that frame_gather.sv needs: frames of up to three beats, and senders
// that have one register instead of six.
package penstock_pkg;
  localparam int unsigned BeatBytes = 1;
  localparam int unsigned DataW = 8 * BeatBytes;
  localparam int unsigned MaxFrame = 3 * BeatBytes;
  localparam int unsigned TailW = 1;

  typedef logic [3:0] len_t;

  typedef struct packed {
    len_t len;
  } frame_meta_t;

  typedef struct packed {
    logic valid;
    logic [TailW-1:0] data;
  } tail_t;

  typedef struct packed {
    frame_meta_t      meta;
    logic             last;
    logic [DataW-1:0] data;
  } beat_t;

  function automatic logic is_folded(len_t len);
    return 1'b0;
  endfunction
endpackage

package shell_pkg;
  localparam int unsigned ExitSender = 1;

  function automatic int unsigned room_of(int unsigned sender, int unsigned stages);
    return sender + 2 * stages + 1;
  endfunction
endpackage
