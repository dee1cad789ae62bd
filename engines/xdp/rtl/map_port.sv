// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A unit's end of its link with the card's maps: makes parts of requests (map_if.sv), and fetches keys and values where
// the program's pointers lead.
//
//   request ─> Idle ─┬─> an access: one part ─────────────────────────────────┐
//                    └─> Check ─> [Look ─> Wait] ─> Parts of the key, the value ┴─> link
//
// A lookup whose key of 16 bytes is in its row's window takes 3 cycles here. A look reads the other bytes: a turn of
// the core for each 48 bytes, 10 cycles. Requests leave in the order of arrival; the maps also answer requests that
// fail here (OpSay), so all answers take the same path.
module map_port
  import xdp_pkg::*;
  import xdp_isa_pkg::*;
  import map_pkg::*;
  import map_pkg::ctx_t;  // xdp_pkg has a name for it, too
(
    input wire logic clk,
    input wire logic rst,
    input wire penstock_pkg::unit_t unit_id,

    input  wire logic     valid,  // a request for the card's maps
    input  wire request_t next,
    output logic          taken,
    output logic          wild,   // for one cycle: no such map, or a pointer to where no bytes can be read

    output logic    look,         // until it is taken
    output ctx_t    look_ctx,
    output word_t   look_at,
    input  wire logic    look_taken,
    input  wire logic    looked,
    input  wire ctx_t    looked_ctx,
    input  wire logic    looked_here,
    input  wire window_t looked_window,

    map_if.unit maps
);
  typedef enum logic [2:0] {
    Idle,
    Check,
    Look,
    Wait,   // for what it finds
    Parts,
    Single
  } state_e;

  localparam int unsigned LookParts = 3;    // what a look finds from any byte on
  localparam int unsigned WindowParts = 4;

  state_e state_q;
  request_t now_q;
  window_t window_q;
  logic [5:0] at_q;
  logic [2:0] parts_q;     // left in the window
  logic [8:0] left_q;      // bytes of the key, or of the value
  logic value_q;           // it is the value's turn
  word_t pointer_q;        // to what is behind the window

  // ---- what maps there are
  typedef struct packed {
    logic [8:0] value_bytes;
    logic [6:0] key_bytes;
  } sizes_t;
  (* ram_style = "distributed" *) sizes_t sizes[Maps];
  logic [Maps-1:0] made_q;
  wire shape_t shape = maps.reply.value;
  wire told = maps.reply_valid && maps.reply.shape;
  wire [7:0] kind = now_q.what[REQUEST_KIND_AT+:REQUEST_KIND_BITS];
  // By number, or by a pointer to it: a bit above the number's 16.
  wire by_pointer = next.what[REQUEST_POINTER_AT];
  wire [15:0] number = by_pointer ? next.arg3[15:0] : 16'(next.what[REQUEST_NUMBER_AT+:REQUEST_NUMBER_BITS]);
  sizes_t of_q;
  map_t number_q;
  logic known_q;
  always_ff @(posedge clk) begin
    if (told) sizes[shape.map] <= '{value_bytes: shape.value_bytes, key_bytes: shape.key_bytes};
    if (state_q == Idle) begin
      number_q <= map_t'(number);
      of_q <= sizes[map_t'(number)];
      known_q <= made_q[map_t'(number)] && number[15:6] == '0 && (!by_pointer || next.arg3[16]);
    end
  end
  always_ff @(posedge clk) begin
    if (told) made_q[shape.map] <= shape.key_bytes != '0;
    if (rst) made_q <= '0;
  end

  // ---- an access
  wire [7:0] next_kind = next.what[REQUEST_KIND_AT+:REQUEST_KIND_BITS];
  wire next_accesses = 32'(next_kind) <= KIND_ATOMIC;
  wire [3:0] count = now_q.what[REQUEST_COUNT_AT+:REQUEST_COUNT_BITS];
  wire access_info_t access = '{
      atomic: now_q.what[REQUEST_ATOMIC_AT+:REQUEST_ATOMIC_BITS],
      count: count,
      address: now_q.arg0[24:0]
  };
  logic [7:0][7:0] turned;
  always_comb begin
    turned = now_q.arg1;
    if (now_q.what[REQUEST_SWAP_AT] && 32'(kind) == KIND_STORE)
      for (int unsigned i = 0; i < 8; i++) turned[i] = now_q.arg1[8*3'(count-4'd1-4'(i))+:8];
  end

  // ---- an operation on a map
  op_e op;
  always_comb begin
    unique case (32'(kind))
      KIND_LOAD: op = OpLoad;
      KIND_STORE: op = OpStore;
      KIND_ATOMIC: op = OpAtomic;
      KIND_LOOKUP: op = OpLookup;
      KIND_UPDATE: op = OpUpdate;
      default: op = OpDelete;
    endcase
  end
  wire [7:0] key_end = 8'(of_q.key_bytes) + 8'(now_q.what[REQUEST_KEY_FIRST_AT+:REQUEST_KEY_FIRST_BITS]);
  wire in_window = (now_q.what[REQUEST_KEY_STACK_AT] && key_end <= 8'd64) ||
      (now_q.what[REQUEST_KEY_PACKET_AT] && key_end <= 8'd56);
  wire pointers = (in_window || in_own(now_q.arg0)) && (op != OpUpdate || in_own(now_q.arg1));
  // Its context has ended: nothing of it can be looked at.
  wire ended = now_q.ends && (!in_window || op == OpUpdate);
  wire bad_flags = op == OpUpdate && now_q.arg2 > 64'd2;
  logic [7:0] error;
  always_comb begin
    error = '0;
    if (op != OpLookup && (!known_q || bad_flags || (op == OpUpdate && of_q.value_bytes == '0))) error = -8'sd22;
    else if (op != OpLookup && (!pointers || ended)) error = -8'sd14;
  end
  wire fails = !known_q || bad_flags || !pointers || ended || (op == OpUpdate && of_q.value_bytes == '0);

  wire map_info_t operation = '{
      unused: '0,
      unit: unit_id,
      probe: 1'b0,
      probes: '0,
      length: '0,
      flags: op == OpUpdate ? now_q.arg2[1:0] : 2'd0,
      map: number_q
  };

  // ---- a part: 16 bytes of the window from any one on
  logic [2:0][63:0] near;
  logic [23:0][7:0] bytes;
  data_t part;
  always_comb begin
    for (int unsigned g = 0; g < 3; g++) near[g] = window_q[3'(at_q[5:3]+3'(g))];
    bytes = near;
    for (int unsigned b = 0; b < FlitBytes; b++) part[b] = 9'(b) < left_q ? bytes[5'(b)+5'(at_q[2:0])] : 8'd0;
  end
  wire section_ends = left_q <= 9'(FlitBytes);
  wire last = section_ends && (value_q || op != OpUpdate);

  assign taken = state_q == Idle && valid;
  assign look = state_q == Look;
  assign look_ctx = now_q.ctx;
  assign look_at = pointer_q;

  always_ff @(posedge clk) begin
    maps.valid <= 1'b0;
    maps.flit.op <= op;
    maps.flit.quiet <= now_q.silent && (32'(kind) <= KIND_ATOMIC || now_q.ends);
    maps.flit.ctx <= now_q.ctx;
    wild <= 1'b0;
    unique case (state_q)
      Idle: begin
        now_q <= next;
        window_q <= next.around;
        at_q <= next.at;
        value_q <= 1'b0;
        if (valid) state_q <= next_accesses ? Single : Check;
      end
      Check: begin
        left_q <= 9'(of_q.key_bytes);
        parts_q <= 3'(WindowParts);
        pointer_q <= now_q.arg0;
        maps.flit.info <= 32'(error);
        maps.flit.key_end <= 1'b1;
        maps.flit.last <= 1'b1;
        if (!fails) begin
          state_q <= in_window ? Parts : Look;
        end else if (maps.room) begin
          maps.flit.op <= OpSay;
          maps.valid <= 1'b1;
          wild <= !known_q || !pointers || ended;
          state_q <= Idle;
        end
      end
      Look: begin
        parts_q <= 3'(LookParts);
        at_q <= pointer_q[5:0];
        if (look_taken) state_q <= Wait;
      end
      Wait: begin
        window_q <= looked_window;
        if (looked && looked_ctx == now_q.ctx) begin
          state_q <= looked_here ? Parts : Look;
          if (looked_here) pointer_q <= pointer_q + 64'(LookParts * FlitBytes);
        end
      end
      Parts: begin
        maps.flit.info <= operation;
        maps.flit.key_end <= section_ends && !value_q;
        maps.flit.last <= last;
        maps.flit.data <= part;
        if (maps.room) begin
          maps.valid <= 1'b1;
          at_q <= at_q + 6'(FlitBytes);
          left_q <= left_q - 9'(FlitBytes);
          parts_q <= parts_q - 1'b1;
          if (last) begin
            state_q <= Idle;
          end else if (section_ends) begin
            value_q <= 1'b1;
            left_q <= of_q.value_bytes;
            pointer_q <= now_q.arg1;
            state_q <= Look;
          end else if (parts_q == 3'd1) begin
            state_q <= Look;
          end
        end
      end
      default: begin
        maps.flit.info <= access;
        maps.flit.key_end <= 1'b1;
        maps.flit.last <= 1'b1;
        maps.flit.data <= {now_q.arg2, turned};
        if (maps.room) begin
          maps.valid <= 1'b1;
          state_q <= Idle;
        end
      end
    endcase
    if (rst) begin
      state_q <= Idle;
      maps.valid <= 1'b0;
      wild <= 1'b0;
    end
  end
endmodule

`default_nettype wire
