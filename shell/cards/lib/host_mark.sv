// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Puts a header in front of each frame to the host: a shell's stream has only bytes, and the host wants to know the
// frame's mark, where it entered and when. The header is that of an Ethernet frame, so that the shell and a network
// interface of the host pass it on (docs/cards.md).
//
//   byte 0..4   02 50 4E 46 50: a local address, "PNFP" in it
//        5      version, 1
//        6      02: a local address
//        7      source of the frame
//        8..11  mark, big-endian
//        12,13  88 B5: EtherType for local experiments (IEEE 802)
//        14..17 time in cycles of the card when it entered, lower 32 bits, big-endian
//        18,19  0
//
//   rx ─> shifted by 20 bytes, the last ones kept ─> register ─> tx       a beat a cycle
//                                                       1
//
// If a frame's last beat has more than 44 bytes, the frame gets another beat, for which rx waits a cycle.
module host_mark
  import penstock_pkg::*;
(
    input wire logic        clk,
    input wire logic        rst,
    axis_if.snk             rx,
    input wire port_t       source,  // with a frame's first beat, as the two below
    input wire logic [31:0] mark,
    input wire time_t       timestamp,
    axis_if.src             tx
);
  localparam int unsigned Header = 20;
  localparam int unsigned Rest = BeatBytes - Header;  // bytes of a beat that go into the same beat

  if (rx.Bytes != BeatBytes || tx.Bytes != BeatBytes) begin : gen_width
    $error("host_mark: rx and tx must have %0d bytes", BeatBytes);
  end

  // Byte 0 in the lowest bits
  function automatic logic [31:0] swapped(logic [31:0] word);
    return {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction
  logic [8*Header-1:0] header;
  assign header = {16'h0, swapped(timestamp), 16'hB588, swapped(mark), source, 8'h02, 8'h01, 40'h50464E5002};

  logic first_q, extra_q, valid_q, last_q, free, take;
  logic [8*Header-1:0] kept_q;
  logic [Header-1:0] kept_keep_q;
  logic [8*BeatBytes-1:0] data_q;
  logic [BeatBytes-1:0] keep_q;
  assign free = !valid_q || tx.tready;
  assign rx.tready = free && !extra_q;
  assign take = rx.tvalid && rx.tready;
  always_ff @(posedge clk) begin
    if (free) begin
      valid_q <= rx.tvalid || extra_q;
      data_q <= extra_q ? (8 * BeatBytes)'(kept_q) : {rx.tdata[8*Rest-1:0], first_q ? header : kept_q};
      keep_q <= extra_q ? BeatBytes'(kept_keep_q) : {rx.tkeep[Rest-1:0], {Header{1'b1}}};
      last_q <= extra_q || (rx.tlast && !rx.tkeep[Rest]);
      extra_q <= take && rx.tlast && rx.tkeep[Rest];
    end
    if (take) begin
      first_q <= rx.tlast;
      kept_q <= rx.tdata[8*Rest+:8*Header];
      kept_keep_q <= rx.tkeep[Rest+:Header];
    end
    if (rst) begin
      first_q <= 1'b1;
      extra_q <= 1'b0;
      valid_q <= 1'b0;
    end
  end
  assign tx.tvalid = valid_q;
  assign tx.tdata  = data_q;
  assign tx.tkeep  = keep_q;
  assign tx.tlast  = last_q;
  assign tx.tuser  = 1'b0;
endmodule

`default_nettype wire
