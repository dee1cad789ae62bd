// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The exit of both lanes: the checksum that goes into the frame, the words that go back to where they came from, and
// the verdict.
//
//   vector ─> row's memory ─> checksum ─> UPDATE ─> WRITE BACK ─> edit      6 cycles, a frame a cycle in each lane
//                             3           └ window, places, which have waited since the parser
module rmt_deparser
  import penstock_pkg::*, rmt_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    output     logic  slot_out,
    input wire host_t host,
    output     word_t host_word,

    input wire ctl_t    [Lanes-1:0] ctl,
    input wire vector_t [Lanes-1:0] vector,

    input wire logic    [Lanes-1:0]                came_valid,
    input wire window_t [Lanes-1:0]                came_window,
    input wire origin_t  [Lanes-1:0][Extracted-1:0] came_place,

    output logic     [Lanes-1:0] out_valid,
    output verdict_t [Lanes-1:0] out_verdict,  // VerdictOnward: as the frame came
    output logic     [Lanes-1:0] out_marks,    // the frame gets `out_mark`
    output word_t    [Lanes-1:0] out_mark,
    output window_t  [Lanes-1:0] out_window
);
  localparam int unsigned ChecksumCycles = 3;
  localparam int unsigned Kept = 256;  // frames between parser and deparser, at least

  logic [Lanes-1:0][6:0] addr;
  edge_row_t [Lanes-1:0] row;

  rmt_ram #(
      .Width($bits(edge_row_t)),
      .Depth(128)
  ) i_rows (
      .clk,
      .slot,
      .selected(host.memory == MemExit),
      .host,
      .host_word,
      .addr,
      .data(row)
  );
  // A reader that waits for the access takes the word two cycles after it at the earliest.
  rmt_delay #(.Width(1), .Cycles(3), .Reset(1'b1)) i_slot (.clk, .rst, .d(slot), .q(slot_out));

  function automatic verdict_t verdict_of(word_t v);
    verdict_t verdict;
    verdict = '0;
    case (v[17:16])
      2'd0: verdict.kind = VerdictOnward;
      2'd1: begin
        verdict.kind = VerdictDrop;
        verdict.reason = v[8:0] == 9'd511 ? ReasonBlocked : ReasonRefused;
        if (v[8:0] == 9'd510) verdict.kind = VerdictHost;
        if (!v[8]) begin
          verdict.kind = VerdictPort;
          verdict.target = v[7:0];
        end
      end
      2'd2: verdict.kind = VerdictHost;
      default: verdict.kind = VerdictDrop;
    endcase
    return verdict;
  endfunction

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    ctl_t ctl1, ctl4;
    vector_t vector1_q, vector4, vector5_q;
    logic [15:0] sum;
    edge_row_t row4;
    logic take, valid5_q, loaded5_q;
    window_t window, window5_q;
    origin_t [Extracted-1:0] place;
    origin_t [WindowWords-1:0] from5_q;  // vector word that a word of the window gets

    assign addr[l] = ctl[l].bt;

    rmt_delay #(.Width($bits(ctl_t)), .Cycles(1), .Reset(1'b1)) i_ctl1 (.clk, .rst, .d(ctl[l]), .q(ctl1));
    rmt_delay #(.Width($bits(ctl_t)), .Cycles(ChecksumCycles), .Reset(1'b1)) i_ctl4 (.clk, .rst, .d(ctl1), .q(ctl4));
    always_ff @(posedge clk) vector1_q <= vector[l];

    rmt_checksum i_checksum (
        .clk,
        .vector(vector1_q),
        .row(row[l].checksum),
        .sum
    );
    rmt_delay #(
        .Width($bits(vector_t) + $bits(edge_row_t)),
        .Cycles(ChecksumCycles)
    ) i_beside (
        .clk,
        .rst,
        .d({vector1_q, row[l]}),
        .q({vector4, row4})
    );

    // ---- the frame's window has waited
    fifo_block #(
        .Width($bits(window_t) + Extracted * $bits(origin_t)),
        .Depth(Kept)
    ) i_came (
        .clk,
        .rst,
        .push (came_valid[l]),
        .din  ({came_window[l], came_place[l]}),
        .valid(take),
        .pop  (ctl4.valid),
        .dout ({window, place})
    );

    // ---- UPDATE
    vector_t updated;
    origin_t [WindowWords-1:0] from;

    always_comb begin
      updated = vector4;
      if (holds(row4.checksum.predicate, {vector4[FlagsWord], vector4[HitWord]})) begin
        if (row4.checksum.half[0]) updated[row4.checksum.half[5:1]][15:0] = sum;
        else updated[row4.checksum.half[5:1]][31:16] = sum;
      end
      from = '0;
      for (int unsigned w = 0; w < Extracted; w++)
        if (place[w].valid && row4.first[w]) from[place[w].at] = {1'b1, 5'(w)};
    end

    always_ff @(posedge clk) begin
      valid5_q  <= ctl4.valid && !rst;
      loaded5_q <= ctl4.loaded;
      vector5_q <= updated;
      window5_q <= window;
      from5_q   <= from;
    end

    // ---- WRITE BACK
    always_ff @(posedge clk) begin
      out_valid[l]   <= valid5_q && !rst;
      out_verdict[l] <= loaded5_q ? verdict_of(vector5_q[VerdictWord]) : '0;
      out_marks[l]   <= loaded5_q;
      out_mark[l]    <= vector5_q[MarkWord];
      for (int unsigned n = 0; n < WindowWords; n++)
        out_window[l][n] <= loaded5_q && from5_q[n].valid ? vector5_q[from5_q[n].at] : window5_q[n];
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk) if (!rst) assert (!ctl4.valid || take) else $error("%m: a vector without its window");
`endif
  end
endmodule

`default_nettype wire
