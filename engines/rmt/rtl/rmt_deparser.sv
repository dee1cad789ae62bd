// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The exit of both lanes: the checksum that goes into the frame, the words that go back to where they came from, the
// frame's new head, the verdict, and the ports that get copies of it.
//
//   vector ─> row's memory ─┬─> checksum ──────────> UPDATE ─┬─> WRITE BACK ──────> edit
//                           │      3                         └─> PACK     ──────>      7 cycles, a frame a cycle
//                           └─> WHICH ─> COUNT ─> SUM ─> PLAN ───^ 2                   in each lane
//                               └ places, length    window ┘
//                                 which have waited since the parser
//                           ├─> halfword ─> GROUP ─> copies, if the program has groups and the halfword is not 0
//                           │       1         1
//                           └─> digest, if a bit of the row's mask is 1 in the vector
//                               1
//
// The head is made of the vector's words: those that the row names, in their order, if their headers are valid. The
// rest of the frame follows behind the last word of the head that the parser has extracted.
module rmt_deparser
  import penstock_pkg::*, rmt_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    output     logic  slot_out,
    input wire host_t host,
    output     word_t host_word,

    input wire ctl_t    [Lanes-1:0] ctl,     // two cycles ahead of the vector, as the slot is
    input wire vector_t [Lanes-1:0] vector,
    input wire insert_t [Lanes-1:0] insert,

    input wire logic    [Lanes-1:0]                came_valid,
    input wire window_t [Lanes-1:0]                came_window,
    input wire origin_t [Lanes-1:0][Extracted-1:0] came_place,
    input wire logic    [Lanes-1:0][15:0]          came_len,

    output digest_t [Lanes-1:0] digests,

    output logic  [Lanes-1:0] out_valid,
    output edit_t [Lanes-1:0] out
);
  localparam int unsigned ChecksumCycles = 3;
  localparam int unsigned Ahead = 2;
  localparam int unsigned Kept = 256;  // frames between parser and deparser, at least
  localparam int unsigned Group = 6;   // halfwords that are counted together
  localparam int unsigned Groups = HeadHalves / Group;

  logic [Lanes-1:0][6:0] addr;
  exit_row_t [Lanes-1:0] row;

  logic slot0;
  word_t exit_word, group_word;
  rmt_delay #(.Width(1), .Cycles(Ahead), .Reset(1'b1)) i_slot0 (.clk, .rst, .d(slot), .q(slot0));

  rmt_ram #(
      .Width($bits(exit_row_t)),
      .Depth(128)
  ) i_rows (
      .clk,
      .slot(slot0),
      .selected(host.memory == MemExit),
      .host,
      .host_word(exit_word),
      .addr,
      .data(row)
  );
  // ---- the groups' memory, two cycles behind the row's
  logic slot2;
  logic [Lanes-1:0][MulticastW+3:0] group_addr;
  copies_t [Lanes-1:0] copies;

  rmt_delay #(.Width(1), .Cycles(2), .Reset(1'b1)) i_slot2 (.clk, .rst, .d(slot0), .q(slot2));
  rmt_ram #(
      .Width($bits(copies_t)),
      .Depth(1 << (MulticastW + 4))
  ) i_groups (
      .clk,
      .slot(slot2),
      .selected(host.memory == MemGroup),
      .host,
      .host_word(group_word),
      .addr(group_addr),
      .data(copies)
  );
  assign host_word = exit_word | group_word;
  // A reader that waits for the access takes the word two cycles after it at the earliest.
  rmt_delay #(.Width(1), .Cycles(3), .Reset(1'b1)) i_slot (.clk, .rst, .d(slot2), .q(slot_out));

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
    ctl_t ctl0, ctl1, ctl4, ctl6;
    vector_t vector1_q, vector4, vector5_q;
    logic [15:0] sum, len1, len4;
    edge_row_t row4;
    logic take, take_place, loaded5_q;
    window_t window, window5_q, window6_q;
    origin_t [Extracted-1:0] place1, place4;
    origin_t [WindowWords-1:0] from5_q;  // vector word that a word of the window gets

    assign addr[l] = ctl0.bt;

    rmt_delay #(.Width($bits(ctl_t)), .Cycles(Ahead), .Reset(1'b1)) i_ctl0 (.clk, .rst, .d(ctl[l]), .q(ctl0));
    rmt_delay #(.Width($bits(ctl_t)), .Cycles(1), .Reset(1'b1)) i_ctl1 (.clk, .rst, .d(ctl0), .q(ctl1));
    rmt_delay #(.Width($bits(ctl_t)), .Cycles(ChecksumCycles), .Reset(1'b1)) i_ctl4 (.clk, .rst, .d(ctl1), .q(ctl4));
    rmt_delay #(.Width($bits(ctl_t)), .Cycles(2), .Reset(1'b1)) i_ctl6 (.clk, .rst, .d(ctl4), .q(ctl6));
    always_ff @(posedge clk) vector1_q <= inserted(insert[l], vector[l]);

    rmt_checksum i_checksum (
        .clk,
        .vector(vector1_q),
        .row(row[l].edges.checksum),
        .fits(),
        .sum
    );
    rmt_delay #(
        .Width($bits(vector_t) + $bits(edge_row_t) + Extracted * $bits(origin_t) + 16),
        .Cycles(ChecksumCycles)
    ) i_beside (
        .clk,
        .rst,
        .d({vector1_q, row[l].edges, place1, len1}),
        .q({vector4, row4, place4, len4})
    );

    // ---- the digest
    logic [DigestBits-1:0] sent1;

    assign sent1 = vector1_q[FlagsWord][31-:DigestBits] & row[l].digest.mask;
    always_ff @(posedge clk) begin
      digests[l] <= '{
          valid: ctl1.valid && ctl1.loaded && sent1 != '0 && !rst,
          sent: sent1,
          bt: ctl1.bt,
          word: {row[l].digest.word6, row[l].digest.word0},
          vector: vector1_q
      };
    end

    // ---- GROUP: the copies of the frame
    logic has_groups2_q, bank2_q, prunes2_q, prunes3_q, copied3_q, known3_q, copied6, some4, some6;
    logic [15:0] group2_q;
    logic [8:0] port2_q, port3_q;  // at which the frame came
    logic [2:0] queue2_q, queue3_q, queue6;
    word_t group_word1;
    copies_t copies3, copies4_q, copies6;
    logic copied4_q;
    logic [2:0] queue4_q;

    assign group_word1 = vector1_q[row[l].edges.checksum.group[5:1]];
    assign group_addr[l] = {queue2_q, bank2_q, group2_q[MulticastW-1:0]};
    always_ff @(posedge clk) begin
      has_groups2_q <= ctl1.loaded && row[l].edges.checksum.copies;
      group2_q      <= row[l].edges.checksum.group[0] ? group_word1[15:0] : group_word1[31:16];
      queue2_q      <= row[l].edges.checksum.queue_no;
      bank2_q       <= ctl1.bt[6];
      prunes2_q     <= row[l].edges.checksum.prunes;
      prunes3_q     <= prunes2_q;
      port2_q       <= vector1_q[InfoWord][24:16];
      port3_q       <= port2_q;
      copied3_q     <= has_groups2_q && group2_q != '0;
      known3_q      <= group2_q[15:MulticastW] == '0;
      queue3_q      <= queue2_q;
    end
    always_comb begin
      copies3 = copies[l];
      for (int unsigned n = 0; n < MaxCopies; n++)
        if (!known3_q || (prunes3_q && {copies3[n].controller, copies3[n].host} == '0 && 9'(copies3[n].port) == port3_q))
          copies3[n].valid = 1'b0;
    end
    always_ff @(posedge clk) begin
      copied4_q <= copied3_q;
      queue4_q  <= queue3_q;
      copies4_q <= copies3;
    end
    always_comb begin
      some4 = 1'b0;
      for (int unsigned n = 0; n < MaxCopies; n++) some4 |= copies4_q[n].valid;
    end
    rmt_delay #(
        .Width(5 + $bits(copies_t)),
        .Cycles(2)
    ) i_copies6 (
        .clk,
        .rst,
        .d({copied4_q, some4, queue4_q, copies4_q}),
        .q({copied6, some6, queue6, copies6})
    );

    // ---- the frame's places and its window have waited
    fifo_block #(
        .Width(Extracted * $bits(origin_t) + 16),
        .Depth(Kept)
    ) i_places (
        .clk,
        .rst,
        .push (came_valid[l]),
        .din  ({came_place[l], came_len[l]}),
        .valid(take_place),
        .pop  (ctl1.valid),
        .dout ({place1, len1})
    );
    fifo_block #(
        .Width($bits(window_t)),
        .Depth(Kept)
    ) i_came (
        .clk,
        .rst,
        .push (came_valid[l]),
        .din  (came_window[l]),
        .valid(take),
        .pop  (ctl4.valid),
        .dout (window)
    );

    // ---- WHICH: halfwords that are emitted, and halfwords of the window up to the end of each word of the head
    logic [HeadHalves-1:0] emitted_d, emitted2_q;
    logic [Extracted-1:0][6:0] end_d, end2_q;

    always_comb begin
      emitted_d = '0;
      end_d = '0;
      for (int unsigned w = 0; w < Extracted; w++) begin
        emit_t emit;
        logic emits;
        emit = row[l].emits[w/3].word[w%3];
        emits = ctl1.loaded && (emit.if_flag || emit.if_extracted) && (place1[w].valid || !emit.if_extracted) &&
            (!emit.if_flag || holds('{mode: 2'd1, index: emit.index}, {vector1_q[FlagsWord], vector1_q[HitWord]}));
        emitted_d[2*w] = emits && emit.upper;
        emitted_d[2*w+1] = emits && emit.lower;
        if (ctl1.loaded && place1[w].valid && (emit.upper || emit.lower))
          end_d[w] = {1'b0, place1[w].at, 1'b0} + (emit.lower ? 7'd2 : 7'd1);
      end
    end

    // ---- COUNT: within groups
    logic [HeadHalves-1:0] emitted3_q, emitted4_q, emitted5_q;
    logic [HeadHalves-1:0][2:0] inside_d, inside3_q;  // not emitted in front of it in its group
    logic [Groups-1:0][2:0] group_d, group3_q;
    logic [Extracted/3-1:0][6:0] end3_d, end3_q;

    always_comb begin
      for (int unsigned g = 0; g < Groups; g++) begin
        group_d[g] = '0;
        for (int unsigned n = 0; n < Group; n++) begin
          inside_d[Group*g+n] = group_d[g];
          group_d[g] = group_d[g] + 3'(!emitted2_q[Group*g+n]);
        end
      end
      for (int unsigned w = 0; w < Extracted / 3; w++) begin
        end3_d[w] = end2_q[3*w] > end2_q[3*w+1] ? end2_q[3*w] : end2_q[3*w+1];
        if (end2_q[3*w+2] > end3_d[w]) end3_d[w] = end2_q[3*w+2];
      end
    end

    // ---- SUM: over groups
    logic [HeadHalves-1:0][5:0] by_d, by4_q, by5_q;
    logic [5:0] holes_d, halves4_q, halves5_q, halves6_q;
    logic [6:0] end4_d, end4_q;

    always_comb begin
      holes_d = '0;
      for (int unsigned g = 0; g < Groups; g++) begin
        for (int unsigned n = 0; n < Group; n++) by_d[Group*g+n] = holes_d + 6'(inside3_q[Group*g+n]);
        holes_d = holes_d + 6'(group3_q[g]);
      end
      end4_d = 7'(PadBytes / 2);
      for (int unsigned w = 0; w < Extracted / 3; w++) if (end3_q[w] > end4_d) end4_d = end3_q[w];
    end

    // ---- PLAN: halfwords by which the rest of the frame moves to the front, and the new length
    logic signed [7:0] moves_d, moves5_q, moves6_q;
    logic [15:0] len5_q, len6_q;
    logic signed [17:0] len6_d;
    logic short6_q, long6_q;

    assign moves_d = 8'(end4_q) - 8'(PadBytes / 2) - 8'(halves4_q);
    assign len6_d = 18'(len5_q) - 18'(moves5_q) * 18'sd2;

    always_ff @(posedge clk) begin
      emitted2_q <= emitted_d;
      end2_q     <= end_d;
      emitted3_q <= emitted2_q;
      inside3_q  <= inside_d;
      group3_q   <= group_d;
      end3_q     <= end3_d;
      emitted4_q <= emitted3_q;
      by4_q      <= by_d;
      halves4_q  <= 6'(HeadHalves) - holes_d;
      end4_q     <= end4_d;
      emitted5_q <= emitted4_q;
      by5_q      <= by4_q;
      halves5_q  <= halves4_q;
      moves5_q   <= moves_d;
      len5_q     <= len4;
      halves6_q  <= halves5_q;
      moves6_q   <= moves5_q;
      len6_q     <= len6_d[15:0];
      short6_q   <= moves5_q > 8'sd0 && len6_d < $signed(18'(MinFrame));
      long6_q    <= len6_d > $signed(18'(MaxFrame));
    end

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
        if (place4[w].valid && row4.first[w]) from[place4[w].at] = {1'b1, 5'(w)};
    end

    always_ff @(posedge clk) begin
      loaded5_q <= ctl4.loaded;
      vector5_q <= updated;
      window5_q <= window;
      from5_q   <= from;
    end

    // ---- PACK
    logic [HeadHalves-1:0][15:0] halves_of, packed_halves;
    always_comb
      for (int unsigned h = 0; h < HeadHalves; h++)
        halves_of[h] = h % 2 == 0 ? vector5_q[h/2][31:16] : vector5_q[h/2][15:0];

    rmt_pack i_pack (
        .clk,
        .emitted(emitted5_q),
        .by(by5_q),
        .halves(halves_of),
        .packed_halves
    );

    // ---- WRITE BACK
    verdict_t verdict6_q, verdict_d;
    word_t mark6_q;
    edit_t edit_q;
    logic punts5_q, punts6_q, punted;
    copies_t copies_d;

    assign punted = punts6_q && !copied6 && verdict6_q.kind == VerdictHost;

    always_comb begin
      verdict_d = verdict6_q;
      copies_d = copies6;
      if (punted) begin
        copies_d = '0;
        copies_d[0].valid = 1'b1;
        copies_d[0].controller = 1'b1;
        copies_d[0].port = 8'(ctl6.bt[6]);
      end
      if (copied6 || punted) verdict_d = '0;
      if (copied6 && !some6) verdict_d.kind = VerdictDrop;
      if (verdict_d.kind != VerdictDrop && (short6_q || long6_q)) begin
        verdict_d = '0;
        verdict_d.kind = VerdictDrop;
        verdict_d.reason = long6_q ? ReasonOversize : ReasonBlocked;
      end
    end

    always_ff @(posedge clk) begin
      verdict6_q <= loaded5_q ? verdict_of(vector5_q[VerdictWord]) : '0;
      mark6_q    <= vector5_q[MarkWord];
      punts5_q   <= ctl4.loaded && row4.checksum.punts;
      punts6_q   <= punts5_q;
      for (int unsigned n = 0; n < WindowWords; n++)
        window6_q[n] <= loaded5_q && from5_q[n].valid ? vector5_q[from5_q[n].at] : window5_q[n];
      out_valid[l] <= ctl6.valid && !rst;
      edit_q <= '{
          verdict: verdict_d,
          copied: copied6 || punted,
          copies: copies_d,
          queue_no: queue6,
          marks: ctl6.loaded,
          mark: mark6_q,
          len: len6_q,
          skip: moves6_q[6:5],
          shift: moves6_q[4:0],
          halves: halves6_q,
          head: '0,
          window: window6_q
      };
    end

    always_comb begin
      out[l] = edit_q;
      out[l].head = packed_halves;
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk)
      if (!rst) begin
        assert (!ctl1.valid || take_place) else $error("%m: a vector without its places");
        assert (!ctl4.valid || take) else $error("%m: a vector without its window");
        assert (!ctl6.valid || (moves6_q >= -8'sd64 && moves6_q < 8'sd64)) else $error("%m: the frame moves too far");
      end
`endif
  end
endmodule

`default_nettype wire
