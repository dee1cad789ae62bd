// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Makes of a port's bodies and edits the frames that leave.
//
//   edits ──> queue (Depth) ─────────────────┐
//                                            v
//   bodies ─> queue's output ─> B ─> A ─> CHOOSE ─> SHIFT ─┬─> out      2 cycles
//                      C             │               ^     ├─> kept, if copies are to leave instead
//                                    v               │     ├─> kept, if clones are to leave beside it
//                                  kept, for clones  │     └─> packet, of a copy that goes to the controller
//                                  as it came        └──── copies, clones
//           three beats, of which 80 bytes leave, behind the new head
//
// Multicast copies and clones have memories of their own, so a frame may have both. A frame of which clones are kept as
// it came gives up a beat a cycle, and begins when no beat is in CHOOSE's register that is kept for clones.
//
// A copy enters SHIFT when no frame waits in CHOOSE's register, and then leaves whole. A frame therefore waits for the
// rest of one copy at most, of 64 beats, and no copy begins while a frame waits. A frame that is kept waits like any
// other until it is in SHIFT, and for nobody from there on.
//
// Three beats of the body are in view: A, B and C. A beat that leaves needs two of them, and a third one for the tail
// of a folded frame. A frame that came in n beats and leaves in m takes max(n, m) cycles, a dropped one n at most. A
// beat in A or B has left the delay queue, and its frame's edit may wait, so the queue of edits has room for two more
// frames than there are beats in the delay queue.
module rmt_out
  import penstock_pkg::*, rmt_pkg::*;
#(
    parameter int unsigned Depth = 512,
    parameter int unsigned Number = 0,  // of the block, from the ports on
    localparam int unsigned BodyW = $bits(frame_meta_t) + $bits(verdict_t) + 1 + $bits(tail_t) + DataW
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic  edit_valid,
    input wire edit_t edit_in,

    input  wire logic             body_valid,
    output logic                  body_pop,
    input  wire logic [BodyW-1:0] body,

    frame_if.src         out,
    output tail_t        out_tail,
    output verdict_t     out_verdict,
    output packet_t      packet,
    output block_event_t report,
    output logic         waits,      // a frame waits whose clones have not all left
    output logic         lost_clones
);
  localparam int unsigned BeatHalves = BeatBytes / 2;
  localparam int unsigned TailHalves = TailBytes / 2;
  localparam int unsigned OutHalves = BeatHalves + TailHalves;

  typedef logic [15:0] half_t;  // in the order of the wire: the first byte is [7:0]

  // A beat of a body
  typedef struct packed {
    frame_meta_t             meta;
    verdict_t                verdict;
    logic                    last;
    tail_t                   tail;
    half_t [BeatHalves-1:0]  data;
  } beat_t;

  edit_t edit;
  logic edited, finish;

  fifo_block #(
      .Width ($bits(edit_t)),
      .Depth (Depth),
      .Bypass(1'b1)
  ) i_edits (
      .clk,
      .rst,
      .push (edit_valid),
      .din  (edit_in),
      .valid(edited),
      .pop  (finish),
      .dout (edit)
  );

  // ---- A, B, C
  beat_t a_q, b_q, c;
  logic a_valid_q, b_valid_q;
  logic [1:0] at_q;    // A's number in its frame, 2 at most
  logic [1:0] take;    // beats that are not needed any more
  logic [1:0] kept;

  assign c = beat_t'(body);
  assign kept = 2'(a_valid_q) + 2'(b_valid_q) - take;
  assign body_pop = body_valid && kept < 2'd2;

  always_ff @(posedge clk) begin
    if (take == 2'd1) a_q <= b_valid_q ? b_q : c;
    if (take == 2'd2 || !a_valid_q) a_q <= c;
    if (body_pop) b_q <= c;
    a_valid_q <= kept != 2'd0 || body_pop;
    b_valid_q <= kept == 2'd2 || (kept == 2'd1 && body_pop);
    if (rst) {a_valid_q, b_valid_q} <= '0;
  end

  // ---- the window's bytes are those of the frame's first two beats
  half_t [BeatHalves-1:0] first, second, data_a, data_b;
  half_t [TailHalves-1:0] tail_a, tail_b, tail_c;

  function automatic half_t swapped(logic [15:0] half);
    return {half[7:0], half[15:8]};
  endfunction

  always_comb begin
    for (int unsigned h = 0; h < BeatHalves; h++) begin
      first[h] = swapped((h + 1) % 2 == 0 ? edit.window[(h+1)/2][31:16] : edit.window[(h+1)/2][15:0]);
      if (h < BeatHalves - 1)
        second[h] = swapped(
            (h + 1) % 2 == 0 ? edit.window[(h+1+BeatHalves)/2][31:16] : edit.window[(h+1+BeatHalves)/2][15:0]);
    end
    // The last two bytes of the second beat are not in the window.
    second[BeatHalves-1] = at_q == 2'd0 ? b_q.data[BeatHalves-1] : a_q.data[BeatHalves-1];
    data_a = at_q == 2'd0 ? first : at_q == 2'd1 ? second : a_q.data;
    data_b = at_q == 2'd0 ? second : b_q.data;
    tail_a = data_a[TailHalves-1:0];
    tail_b = data_b[TailHalves-1:0];
    tail_c = c.data[TailHalves-1:0];
  end

  // ---- CHOOSE
  logic signed [1:0] skip_q, skip;  // beats by which A is behind (1) or ahead of (-1, -2) the beat that leaves
  logic [8:0] number_q, number;     // of the beat that leaves
  logic [8:0] beats;
  logic begins_q, drains_q, drop, folded, final_beat, ready1, ready2, skips, emits, passes, enough, holds_a;
  logic raw;        // clones are kept of the frame as it came
  logic holds_raw;  // which waits for a frame ahead of it
  frame_meta_t meta_q, meta;
  verdict_t verdict_q;

  assign skip = begins_q ? edit.skip : skip_q;
  assign number = begins_q ? '0 : number_q;
  assign drop = edit.verdict.kind == VerdictDrop;
  assign folded = is_folded(edit.len);
  assign beats = folded ? 9'd1 : 9'(beats_of(edit.len));
  assign final_beat = number + 9'd1 == beats;
  assign meta = begins_q ? a_q.meta : meta_q;
  assign raw = edit.cloned && edit.clones_raw;
  assign holds_raw = raw && valid1_q && cloned1_q;

  always_comb begin
    // A's successors are there if the beat needs them.
    enough = 1'b1;
    if (skip >= 2'sd0 && !a_q.last) enough = b_valid_q && (!folded || skip != 2'sd0 || b_q.last || body_valid);
    skips = skip == 2'sd1 && !a_q.last;
    emits = a_valid_q && edited && !drop && !drains_q && enough && ready1 && !skips && !holds_raw;
    // A drop is reported when at most one frame ahead of it is left, which waits at `out`. It waits for that whatever its
    // `skip` says.
    passes = a_valid_q && edited && !holds_raw && (drop ? ready1 : drains_q || (enough && skips));
    // A stays if the next beat also needs it: the frame became longer and A is ahead of the beat that leaves, or A is
    // the only beat of a folded frame, whose tail leaves in a beat of its own.
    holds_a = emits && !final_beat && (skip < 2'sd0 || (skip == 2'sd0 && a_q.last));
    take = '0;
    finish = 1'b0;
    if (passes || (emits && !holds_a)) begin
      take = 2'd1;
      if (!(passes && !drop && !drains_q) && !(emits && !final_beat)) begin
        finish = a_q.last;
        if (!a_q.last && b_valid_q && b_q.last && !raw) begin
          take = 2'd2;
          finish = 1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk) begin
    if (emits || passes) begin
      begins_q <= finish;
      skip_q   <= skip;
      if (holds_a) skip_q <= skip + 2'sd1;
      if (passes) skip_q <= '0;
      number_q <= number + 9'(emits);
      drains_q <= !finish && (drains_q || (emits && final_beat));
      if (begins_q) begin
        meta_q    <= a_q.meta;
        verdict_q <= a_q.verdict;
      end
    end
    if (finish) at_q <= '0;
    else if (take != 2'd0 && at_q != 2'd2) at_q <= at_q + 2'd1;
    if (rst) begin
      begins_q <= 1'b1;
      drains_q <= 1'b0;
      at_q     <= '0;
    end
  end

  // ---- the registers behind CHOOSE
  logic copy_pop;
  logic copying_q;  // a copy has begun to leave, and not ended; a clone is a copy, too
  logic within_q;   // a frame has
  logic [2:0] lost_q;  // frames that are to be reported
  half_t [2*BeatHalves+TailHalves-1:0] choice_d, choice_q;
  half_t [OutHalves-1:0] head_d, head_q;
  logic [OutHalves-1:0] in_head_d, in_head_q;
  logic [4:0] shift_q;
  logic valid1_q, first1_q, last1_q, folded1_q, copied1_q, cloned1_q;
  copies_t copies1_q, clones1_q;
  logic [2:0] queue1_q;
  logic [8:0] beats1_q;
  frame_meta_t meta1_q;
  verdict_t verdict1_q;

  always_comb begin
    case (skip)
      2'sd0:   choice_d = {tail_c, data_b, data_a};
      2'sd1:   choice_d = {{(BeatHalves + TailHalves) {16'd0}}, second};  // a folded frame's tail
      -2'sd1:  choice_d = {tail_b, data_a, {BeatHalves{16'd0}}};
      default: choice_d = {tail_a, {(2 * BeatHalves) {16'd0}}};
    endcase
    for (int unsigned h = 0; h < OutHalves; h++) begin
      head_d[h] = '0;
      if (number == 9'd0) head_d[h] = swapped(edit.head[h]);
      if (number == 9'd1 && h + BeatHalves < HeadHalves) head_d[h] = swapped(edit.head[h+BeatHalves]);
      in_head_d[h] = (number == 9'd0 && h < 32'(edit.halves)) || (number == 9'd1 && h + BeatHalves < 32'(edit.halves));
    end
  end

  assign ready2 = !out.valid || out.ready;
  assign ready1 = !valid1_q || (ready2 && !copying_q);

  always_ff @(posedge clk) begin
    if (emits) begin
      choice_q  <= choice_d;
      head_q    <= head_d;
      in_head_q <= in_head_d;
      shift_q   <= edit.shift;
      first1_q  <= number == '0;
      last1_q   <= final_beat;
      copied1_q <= edit.copied;
      copies1_q <= edit.copies;
      cloned1_q <= edit.cloned && !edit.clones_raw;
      clones1_q <= edit.clones;
      queue1_q  <= edit.queue_no;
      beats1_q  <= beats;
      folded1_q <= folded;
      meta1_q   <= meta;
      meta1_q.len <= edit.len;
      if (edit.marks) meta1_q.mark <= edit.mark;
      verdict1_q <= edit.verdict.kind != VerdictOnward ? edit.verdict : begins_q ? a_q.verdict : verdict_q;
    end
    valid1_q <= emits || (valid1_q && !ready1);
    report <= '{
        made: copy_pop && !copying_q && !copy_punted,
        absorbed: done,
        dropped: (drop && finish) || lost_q != '0,
        reason: drop && finish ? edit.verdict.reason : ReasonRefused
    };
    lost_q <= lost_q + 3'(lost) - 3'(lost_q != '0 && !(drop && finish));
    if (rst) begin
      valid1_q <= 1'b0;
      report   <= '0;
      lost_q   <= '0;
    end
  end

  // ---- SHIFT
  half_t [2*BeatHalves+TailHalves-1:0] moved;
  half_t [OutHalves-1:0] sent;
  logic valid2_q, new2_q, first2_q, copied2_q, cloned2_q, punted2_q, bank2_q;
  time_t cycle_q;
  copies_t copies2_q, clones2_q;
  logic [2:0] queue2_q;
  logic [8:0] beats2_q;

  always_comb begin
    moved = choice_q >> {shift_q, 4'd0};
    for (int unsigned h = 0; h < OutHalves; h++) sent[h] = in_head_q[h] ? head_q[h] : moved[h];
  end

  always_ff @(posedge clk) begin
    new2_q <= ready2 && valid1_q && !copying_q;
    if (ready2) begin
      out.data    <= sent[BeatHalves-1:0];
      out.last    <= last1_q;
      out.meta    <= meta1_q;
      out_tail    <= '{valid: folded1_q, data: sent[OutHalves-1:BeatHalves]};
      out_verdict <= verdict1_q;
      valid2_q    <= valid1_q && !copying_q;
      first2_q    <= first1_q;
      copied2_q   <= copied1_q;
      punted2_q   <= 1'b0;
      bank2_q     <= copy_bank;
      cloned2_q   <= cloned1_q;
      copies2_q   <= copies1_q;
      clones2_q   <= clones1_q;
      queue2_q    <= queue1_q;
      beats2_q    <= beats1_q;
      if (valid1_q && !copying_q) within_q <= !last1_q;
      if (copy_pop) begin
        out.data    <= copy.data;
        out.last    <= copy.last;
        out.meta    <= copy.meta;
        out_tail    <= copy.tail;
        out_verdict <= copy_verdict;
        valid2_q    <= 1'b1;
        copied2_q   <= 1'b0;
        punted2_q   <= copy_punted;
        copying_q   <= !copy.last;
      end
      // A frame that the block has made begins to leave.
      if (copy_pop || meta1_q.src == PortBlock + port_t'(Number)) out.meta.timestamp <= cycle_q;
    end
    cycle_q <= cycle_q + 1'b1;
    if (rst) begin
      {valid2_q, new2_q, within_q, copying_q} <= '0;
      cycle_q <= '0;
    end
  end
  assign out.valid = valid2_q && !copied2_q && !punted2_q;
  assign packet = '{
      valid: valid2_q && punted2_q,
      bank: bank2_q,
      last: out.last,
      meta: out.meta,
      tail: out_tail,
      data: out.data
  };

  // ---- copies: [0] of groups, [1] clones
  kept_t copy, raw_q, whole, clone;
  kept_t [1:0] copy_of;
  verdict_t copy_verdict;
  verdict_t [1:0] verdict_of;
  logic [1:0] copy_valid, punted_of, bank_of;
  logic copy_punted, copy_bank, lost, done, from, from_q, raw_valid_q, raw_first_q;
  logic [8:0] raw_beats_q;

  // The two take turns, a copy each.
  assign from = copying_q ? from_q : copy_valid[1] && (!from_q || !copy_valid[0]);
  assign copy = copy_of[from];
  assign copy_verdict = verdict_of[from];
  assign copy_punted = punted_of[from];
  assign copy_bank = bank_of[from];
  assign copy_pop = copy_valid[from] && ready2 && (copying_q || (!valid1_q && !within_q));

  always_ff @(posedge clk) begin
    if (copy_pop) from_q <= from;
    raw_valid_q <= raw && take != '0;
    raw_first_q <= at_q == '0;
    raw_beats_q <= is_folded(meta.len) ? 9'd1 : 9'(beats_of(meta.len));
    raw_q <= '{
        copies: edit.clones,
        queue_no: edit.queue_no,
        meta: meta,
        last: a_q.last,
        tail: a_q.tail,
        data: a_q.data
    };
    if (rst) {from_q, raw_valid_q} <= '0;
  end

  assign whole = '{
      copies: copies2_q,
      queue_no: queue2_q,
      meta: out.meta,
      last: out.last,
      tail: out_tail,
      data: out.data
  };

  rmt_copies #(
      .Number(Number)
  ) i_copies (
      .clk,
      .rst,
      .keep(new2_q && copied2_q),
      .kept(whole),
      .first(first2_q),
      .beats(beats2_q),
      .copy_valid(copy_valid[0]),
      .copy_pop(copy_pop && !from),
      .copy(copy_of[0]),
      .copy_verdict(verdict_of[0]),
      .copy_punted(punted_of[0]),
      .copy_bank(bank_of[0]),
      .waits(),
      .lost,
      .done
  );

  always_comb begin
    clone = whole;
    clone.copies = clones2_q;
    if (raw_valid_q) clone = raw_q;
  end

  rmt_copies #(
      .Number(Number)
  ) i_clones (
      .clk,
      .rst,
      .keep(raw_valid_q || (new2_q && cloned2_q)),
      .kept(clone),
      .first(raw_valid_q ? raw_first_q : first2_q),
      .beats(raw_valid_q ? raw_beats_q : beats2_q),
      .copy_valid(copy_valid[1]),
      .copy_pop(copy_pop && from),
      .copy(copy_of[1]),
      .copy_verdict(verdict_of[1]),
      .copy_punted(punted_of[1]),
      .copy_bank(bank_of[1]),
      .waits,
      .lost(lost_clones),
      .done()
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!emits || final_beat || skip < 2'sd0 || !a_q.last || (holds_a && is_folded(a_q.meta.len)))
      else $error("%m: a frame is longer than its body");
      assert (!finish || a_q.last || (b_valid_q && b_q.last)) else $error("%m: an edit ends within its frame");
      assert (!(drop && finish) || ready1) else $error("%m: a drop is reported ahead of a frame that came before it");
      assert (!raw_valid_q || !(new2_q && cloned2_q)) else $error("%m: two frames are kept for clones at once");
      assert (!raw || take != 2'd2) else $error("%m: a beat is taken that clones need");
      assert (take <= 2'(a_valid_q) + 2'(b_valid_q)) else $error("%m: beats are taken that are not there");
    end
`endif
endmodule

`default_nettype wire
