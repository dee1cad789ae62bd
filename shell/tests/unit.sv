// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A unit for the tests of the shell: keeps each frame for a number of cycles, then sends it, in order, to its given
// destination. A frame that waits for a place over loopback blocks later ones.
//
// Configuration, word offsets: 0 cycles to hold a frame; 4 slots to declare; 8 bytes of a slot; C mode: 0 to the
// neighbour port (port ^ 1; port 0 if it is the only one), 1 to the destination in the frame's first byte, 2 drop; 10 a
// write declares the slots; 14 frames received; 18 number of this unit. Others: error.
module unit
  import penstock_pkg::*;
#(
    parameter int          Engine = 0,
    parameter logic [31:0] Param = 0
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire unit_t unit_id,
    input wire card_t card,
    input wire logic  rx_valid,
    input wire beat_t rx,
    output logic      rx_room,
    frame_if.src      tx,
    loop_if.unit      loop,
    broadcast_if.unit bc,
    output slot_msg_t slots,
    map_if.unit       maps,
    cfg_if.snk        cfg
);
  assign maps.valid = 1'b0;
  assign maps.flit  = '0;

  localparam int unsigned Depth = 4096;  // beats
  typedef struct packed {
    frame_meta_t meta;
    time_t since;
  } held_t;

  logic [15:0] hold_q;
  slot_t count_q;
  len_t size_q;
  logic [1:0] mode_q;
  logic declare_q;
  logic [31:0] frames_q;

  logic [DataW-1:0] beats[Depth];
  held_t frames[MaxSlots];
  logic [12:0] wr_q, rd_q;
  logic [5:0] frame_wr_q, frame_rd_q;
  time_t now_q;

  // In
  logic first_q;
  slot_t held_q;
  assign rx_room = 1'b1;
  assign bc.out_valid = 1'b0;
  assign bc.out = '0;
  always_ff @(posedge clk) begin
    now_q <= now_q + 1;
    if (rx_valid) begin
      first_q <= rx.last;
      beats[wr_q[11:0]] <= rx.data;
      wr_q <= wr_q + 1'b1;
      if (rx.last) begin
        frames[frame_wr_q[4:0]] <= '{meta: rx.meta, since: now_q};
        frame_wr_q <= frame_wr_q + 1'b1;
        frames_q <= frames_q + 1;
      end
    end
    if (rst) begin
      now_q <= '0;
      first_q <= 1'b1;
      wr_q <= '0;
      frame_wr_q <= '0;
      frames_q <= '0;
    end
  end

  // Out
  held_t head;
  logic due, drop, step, busy_q, over_loopback, held, asks_q, placed_q, refused_q;
  unit_t place_unit_q;
  slot_t place_slot_q;
  logic [10:0] left_q;
  port_t dst;
  assign head = frames[frame_rd_q[4:0]];
  assign over_loopback = mode_q != 2'd2 && (dst == PortLoopback || (dst >= PortUnit && dst < PortUnit + 8'(MaxUnits)));
  assign held = frame_wr_q != frame_rd_q && now_q - head.since >= 32'(hold_q);
  assign due = held && (!over_loopback || placed_q || refused_q);
  assign drop = mode_q == 2'd2 || (over_loopback && refused_q);
  assign dst = mode_q == 2'd1 ? beats[rd_q[11:0]][7:0] : card.port_count == 3'd1 && head.meta.src == 0 ? 8'h00 : head.meta.src ^ 8'h01;
  assign step = !tx.valid || tx.ready;
  assign held_q = slot_t'(frame_wr_q - frame_rd_q);
  assign loop.valid = asks_q;
  assign loop.dst = dst;
  assign loop.len = head.meta.len;
  assign loop.hash = head.meta.hash[6:0];
  always_ff @(posedge clk) begin
    if (loop.answer) begin
      asks_q <= 1'b0;
      placed_q <= loop.granted;
      refused_q <= !loop.granted;
      place_unit_q <= loop.unit_id;
      place_slot_q <= loop.slot;
    end else if (step && !busy_q && due) begin
      placed_q  <= 1'b0;
      refused_q <= 1'b0;
    end else if (held && !busy_q && over_loopback && !placed_q && !refused_q) asks_q <= 1'b1;
    if (rst) begin
      asks_q <= 1'b0;
      placed_q <= 1'b0;
      refused_q <= 1'b0;
    end
  end
  always_ff @(posedge clk) begin
    slots.free_valid <= 1'b0;
    if (step) begin
      tx.valid <= 1'b0;
      if (busy_q || (due && !drop)) begin
        tx.valid <= 1'b1;
        tx.data <= beats[rd_q[11:0]];
        rd_q <= rd_q + 1'b1;
        tx.last <= busy_q ? left_q == 1 : beats_of(head.meta.len) == 1;
        left_q <= (busy_q ? left_q : beats_of(head.meta.len)) - 1'b1;
        busy_q <= busy_q ? left_q != 1 : beats_of(head.meta.len) != 1;
        tx.meta <= head.meta;
        tx.meta.dst <= busy_q ? tx.meta.dst : dst;
        if (!busy_q && over_loopback) begin
          tx.meta.unit_id <= place_unit_q;
          tx.meta.slot <= place_slot_q;
        end
      end
      if (busy_q ? left_q == 1 : (due && (drop || beats_of(head.meta.len) == 1))) begin
        slots.free_valid <= 1'b1;
        slots.free_slot <= head.meta.slot;
        frame_rd_q <= frame_rd_q + 1'b1;
        if (drop && !busy_q) rd_q <= rd_q + 13'(beats_of(head.meta.len));
      end
    end
    if (rst) begin
      tx.valid <= 1'b0;
      busy_q <= 1'b0;
      rd_q <= '0;
      frame_rd_q <= '0;
      slots.free_valid <= 1'b0;
    end
  end

  assign slots.setup_valid = declare_q;
  assign slots.setup_count = count_q;
  assign slots.setup_size  = size_q;

  // Configuration
  always_ff @(posedge clk) begin
    cfg.ack   <= cfg.req && !cfg.ack;
    cfg.err   <= 1'b0;
    cfg.rdata <= '0;
    declare_q <= 1'b0;
    if (cfg.req && !cfg.ack)
      case (cfg.addr)
        26'h00: if (cfg.we) hold_q <= cfg.wdata[15:0]; else cfg.rdata <= 32'(hold_q);
        26'h04: if (cfg.we) count_q <= cfg.wdata[5:0]; else cfg.rdata <= 32'(count_q);
        26'h08: if (cfg.we) size_q <= cfg.wdata[15:0]; else cfg.rdata <= 32'(size_q);
        26'h0C: if (cfg.we) mode_q <= cfg.wdata[1:0]; else cfg.rdata <= 32'(mode_q);
        26'h10: declare_q <= cfg.we;
        26'h14: cfg.rdata <= frames_q;
        26'h18: cfg.rdata <= 32'(unit_id);
        default: cfg.err <= 1'b1;
      endcase
    if (rst) begin
      cfg.ack <= 1'b0;
      hold_q <= '0;
      count_q <= 6'd16;
      size_q <= len_t'(MaxFrame);
      mode_q <= '0;
      declare_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (held_q <= slot_t'(MaxSlots)) else $error("%m: more frames than slots");
      assert (13'(wr_q - rd_q) <= 13'(Depth)) else $error("%m: out of memory");
      if (rx_valid && first_q) begin
        assert (rx.meta.unit_id == unit_id) else $error("%m: frame of unit %0d", rx.meta.unit_id);
        assert (rx.meta.slot != 0 && rx.meta.slot <= count_q) else $error("%m: slot %0d", rx.meta.slot);
        assert (rx.meta.len <= size_q) else $error("%m: frame of %0d bytes is longer than a slot", rx.meta.len);
      end
    end
`endif
endmodule

`default_nettype wire
