// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The core: a row a cycle, each of another context (engines/xdp/core.md).
//
//   SEL    FETCH   ROW      READ       EXEC        MEM         TURN         WRITE
//   contexts ─> row_memory ─> operands ─> lane_alu ───────────────────────> registers
//      ^                       decode     adjust                            ^
//      │                       base    ─> packet_memory, stack ─> lane_load ┘
//      └── next row, waits, ends <──────────────── guards         stores
//
// Nothing stalls: an operation that cannot proceed in MEM (bytes that have not arrived, a store while frames are
// starved) is tried again at the context's next turn.
module xdp_core
  import xdp_pkg::*;
  import xdp_isa_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned StoreLanes = Lanes == 1 ? 1 : 2  // the lowest lanes, which can store
) (
    input wire logic       clk,
    input wire logic       rst,
    input wire logic [4:0] unit_id,

    // Rows
    input wire word_t now,  // time of the programs, ns
    input wire logic bank,  // in which frames that start now find their program
    input wire logic row_we,
    input wire logic row_write_bank,
    input wire row_t row_write_row,
    input wire logic [$clog2(Lanes+1)-1:0] row_write_part,
    input wire word_t row_write_data,

    // Frames
    input  wire logic                start,
    input  wire ctx_t                start_ctx,
    input  wire packet_t             start_packet,
    output logic      [Contexts-1:0] idle,
    output logic                     issued,        // a row
    input  wire logic                a_whole,       // the frame in a_buffer has arrived wholly,
    input  wire logic [12:0]         a_arrived,     // else up to this place
    output logic                     done,          // a context has ended
    output ctx_t                     done_ctx,
    output packet_t                  done_packet,
    output verdict_e                 done_verdict,

    // Packet memory
    output buffer_t                 a_buffer,
    output offset_t                  a_place,
    input  wire window_t            a_window,
    output logic                    store,
    output buffer_t                 store_buffer,
    output offset_t                  store_place,
    output logic [Window-1:0]       store_be,
    output logic [Window-1:0][7:0]  store_data,
    input  wire logic               starved,  // no two stores running: frames wait

    // Requests outside
    output logic       request,
    output request_t   request_data,
    input  wire logic    answer,
    input  wire answer_t answer_data,
    output logic         answer_taken,
    // the turn for an answer is over: `around` of request_data has the result of a look,
    output logic       looked,
    output logic       looked_here,  // if the packet's bytes have arrived; else it has to be asked for again
    input  wire logic  accepted,
    input  wire ctx_t  accepted_ctx,
    output logic       stray         // a store outside of the packet was left out
);
  localparam int unsigned Ports = 2 * Lanes + 1;

  // ---- SEL, FETCH
  logic fetch_valid, fetch_answer, fetch_bank;
  ctx_t fetch_ctx, row_ctx_q;
  row_t fetch_row;
  packet_t read_packet;
  logic mem_valid, mem_hold, mem_waits, mem_ends, mem_jumps, mem_may_jump, mem_adjusts, mem_redirects;
  logic [7:0] mem_target;
  ctx_t mem_ctx;
  row_t mem_next;
  extent_t mem_extent;

  xdp_contexts contexts (
      .clk,
      .rst,
      .start,
      .start_ctx,
      .start_packet,
      .bank,
      .idle,
      .answer,
      .answer_ctx(answer_data.ctx),
      .answer_taken,
      .fetch_valid,
      .fetch_answer,
      .fetch_ctx,
      .fetch_bank,
      .fetch_row,
      .row_ctx(row_ctx_q),
      .row_packet(read_packet),
      .mem_valid,
      .mem_ctx,
      .mem_next,
      .mem_hold,
      .mem_waits,
      .mem_ends,
      .mem_jumps,
      .mem_may_jump,
      .mem_adjusts,
      .mem_extent,
      .mem_redirects,
      .mem_target,
      .accepted,
      .accepted_ctx
  );

  logic issues, turn_jumps_q;

  // ---- contents of each stage
  typedef struct packed {
    logic valid;   // a row
    logic answer;  // an answer from outside
    ctx_t ctx;
    row_t row;
  } stage_t;

  stage_t row_q, read_q, exec_q, mem_q, turn_q, write_q;
  always_ff @(posedge clk) begin
    row_q <= '{valid: fetch_valid, answer: fetch_answer, ctx: fetch_ctx, row: fetch_row};
    read_q <= row_q;
    exec_q <= read_q;
    mem_q <= exec_q;
    turn_q <= mem_q;
    write_q <= turn_q;
    if (rst) begin
      {row_q.valid, read_q.valid, exec_q.valid, mem_q.valid, turn_q.valid, write_q.valid} <= '0;
      {row_q.answer, read_q.answer, exec_q.answer, mem_q.answer, turn_q.answer, write_q.answer} <= '0;
    end
  end
  assign row_ctx_q = row_q.ctx;

  // An answer's value goes down beside its turn: FETCH to WRITE.
  answer_t answers_q[7];
  always_ff @(posedge clk) begin
    answers_q[0] <= answer_data;
    for (int unsigned i = 1; i < 7; i++) answers_q[i] <= answers_q[i-1];
  end
  wire answer_t read_answer = answers_q[2];
  wire answer_t mem_answer = answers_q[4];
  wire answer_t turn_answer = answers_q[5];
  wire answer_t write_answer = answers_q[6];

  logic [64*Lanes+31:0] row_word;
  xdp_row_memory #(
      .Lanes(Lanes)
  ) rows (
      .clk,
      .bank(fetch_bank),
      .row(fetch_row),
      .word(row_word),
      .we(row_we),
      .write_bank(row_write_bank),
      .write_row(row_write_row),
      .write_part(row_write_part),
      .write_data(row_write_data)
  );

  // ---- READ
  wire control_word_t control = row_word[31:0];
  lane_word_t lanes[Lanes];
  logic [5:0] names[Ports];
  logic [6:0] sources[Ports];
  word_t registers_out[Ports], values[Ports];
  logic [Lanes-1:0] write;
  logic [4:0] write_reg[Lanes];
  word_t write_value[Lanes];

  for (genvar l = 0; l < Lanes; l++) begin : gen_words
    assign lanes[l] = row_word[32+64*l+:64];
    assign sources[2*l] = lanes[l].a;
    assign sources[2*l+1] = lanes[l].b;
  end
  assign sources[2*Lanes] = control.base;
  for (genvar p = 0; p < Ports; p++) begin : gen_names
    assign names[p] = sources[p][5:0];
  end

  xdp_registers #(
      .Lanes(Lanes),
      .Ports(Ports)
  ) bank_registers (
      .clk,
      .read_ctx(read_q.ctx),
      .read_name(names),
      .read_value(registers_out),
      .write_ctx(write_q.ctx),
      .write,
      .write_reg,
      .write_value
  );

  // Random numbers from a Galois register of 32 bits that turns with each cycle
  logic [31:0] random_q;
  always_ff @(posedge clk) begin
    random_q <= {1'b0, random_q[31:1]} ^ (random_q[0] ? 32'hEDB88320 : 32'd0);
    if (rst) random_q <= {27'h1, unit_id};
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_operand
    xdp_operands i_operands (
        .source(sources[p]),
        .held(registers_out[p]),
        .packet(read_packet),
        .now,
        .random(random_q),
        .cpu({unit_id, read_q.ctx}),
        .value(values[p])
    );
  end

  // The place of the bytes of a window access
  typedef struct packed {
    logic [5:0] first;
    logic [3:0] count;
    logic is_signed;
    logic swap;
  } access_t;

  function automatic access_t access_of(lane_word_t word, logic of_store);
    logic [31:0] bits;
    bits = of_store ? {20'd0, word.b, word.dst} : word.imm;
    return '{
        first: bits[BYTES_FIRST_AT+:BYTES_FIRST_BITS],
        count: bits[BYTES_COUNT_AT+:BYTES_COUNT_BITS],
        is_signed: bits[BYTES_SIGNED_AT] && !of_store,
        swap: bits[BYTES_SWAP_AT]
    };
  endfunction

  logic over;
  xdp_row_limit i_limit (
      .clk,
      .rst,
      .start,
      .start_ctx,
      .row_ctx(row_ctx_q),
      .over,
      .exec_ctx(exec_q.ctx),
      .row(issues),
      .mem_ctx
  );

  // ---- READ -> EXEC
  typedef struct packed {
    op_t op;
    guard_t guard;
    logic [4:0] dst;
    logic [31:0] imm;
    target_t target;
    access_t access;
    word_t a;
    word_t b;
  } lane_exec_t;

  op_t ops[Lanes];
  lane_exec_t exec_lane_q[Lanes];
  control_word_t exec_control_q;
  offset_t exec_base_q;
  packet_t exec_packet_q;

  // A request's load or store of a context's own memories is carried out by lane 0, in the answer's turn. A context
  // that exceeds its row limit exits in the same way.
  op_t answer_op, last_op;
  access_t answer_access;
  always_comb begin
    last_op = '0;
    last_op.ending = EndJump;
    answer_op = '0;
    {answer_op.loads, answer_op.writes} = {2{read_answer.loads}};
    answer_op.stores = read_answer.stores;
    answer_op.on_stack = read_answer.place.on_stack;
    answer_access = '{
        first: read_answer.place.on_stack ? 6'(read_answer.place.at[2:0]) : 6'd0,
        count: read_answer.count,
        is_signed: read_answer.is_signed,
        swap: read_answer.swap
    };
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_read
    wire lane_word_t word = lanes[l];
    wire [11:0] target = word.i ? {word.b, word.dst} : word.imm[11:0];
    xdp_decode i_decode (
        .number(word.op),
        .op(ops[l])
    );
    always_ff @(posedge clk) begin
      exec_lane_q[l].op <= read_q.valid ? ops[l] : '0;
      exec_lane_q[l].guard <= read_q.valid ? word.guard : '0;
      exec_lane_q[l].dst <= word.dst;
      exec_lane_q[l].imm <= word.imm;
      exec_lane_q[l].target <= target;
      exec_lane_q[l].access <= access_of(word, ops[l].stores);
      exec_lane_q[l].a <= ops[l].stores && word.i ? {{32{word.imm[31]}}, word.imm} : values[2*l];
      exec_lane_q[l].b <= word.i ? {{32{word.imm[31]}}, word.imm} : values[2*l+1];
      if (over && read_q.valid) begin
        exec_lane_q[l].op <= l == 0 ? last_op : '0;
        exec_lane_q[l].guard <= '0;
        exec_lane_q[l].target <= '{exits: 1'b1, row: row_t'(XdpAborted)};
      end
      if (l == 0 && read_q.answer) begin
        exec_lane_q[l].op <= answer_op;
        exec_lane_q[l].access <= answer_access;
        exec_lane_q[l].a <= read_answer.value;
      end
    end
  end

  always_ff @(posedge clk) begin
    exec_control_q <= control;
    exec_base_q <= values[2*Lanes][11:0];
    if (read_q.answer) begin
      exec_control_q <= '{word: read_answer.place.at[8:3], default: '0};
      exec_base_q <= read_answer.place.at;
    end
    exec_packet_q <= read_packet;
  end

  // ---- EXEC
  assign a_buffer = exec_packet_q.at;
  assign a_place = exec_base_q + {exec_control_q.off, 3'd0};

  window_t stack_window;
  logic [Window-1:0] stack_be;
  logic [Window-1:0][7:0] stack_data;
  xdp_stack i_stack (
      .clk,
      .clear(start),
      .clear_ctx(start_ctx),
      .forget(turn_jumps_q),
      .ctx(exec_q.ctx),
      .word(exec_control_q.word),
      .window(stack_window),
      .be(stack_be),
      .data(stack_data)
  );

  // One lane at most moves the packet.
  logic [31:0] adjust_by;
  adjust_e adjust_what;
  always_comb begin
    adjust_by = '0;
    adjust_what = AdjustHead;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (exec_lane_q[l].op.adjusts) begin
        adjust_by |= exec_lane_q[l].a[31:0];
        adjust_what = exec_lane_q[l].op.adjust;
      end
    end
  end

  extent_t moved;
  word_t adjust_result, turn_adjust_q, write_adjust_q;
  xdp_adjust i_adjust (
      .clk,
      .what(adjust_what),
      .by(adjust_by),
      .extent(exec_packet_q.extent),
      .moved,
      .result(adjust_result)
  );

  // ---- EXEC -> MEM
  typedef struct packed {
    op_t op;
    guard_t guard;
    logic [4:0] dst;
    target_t target;
    verdict_e verdict;  // of an exit with a register
    logic [7:0] target_if;  // of a redirection
    logic [5:0] at;     // first byte of its access, in the memory's row
    access_t access;
  } lane_mem_t;

  lane_mem_t mem_lane_q[Lanes];
  logic [Lanes-1:0] raw_outcome, outcome, acts, takes;
  word_t alu_result[Lanes];
  offset_t mem_place_q;
  packet_t mem_packet_q;
  logic exec_reaches, mem_reaches_q;
  logic exec_stores, mem_stores_q, mem_yields_q;  // a row stores to the packet; it leaves the cycle to a frame

  always_comb begin
    exec_reaches = 1'b0;
    for (int unsigned l = 0; l < Lanes; l++)
      exec_reaches |= (exec_lane_q[l].op.loads || exec_lane_q[l].op.stores) && !exec_lane_q[l].op.on_stack;
    exec_reaches |= exec_lane_q[0].op.requests && exec_lane_q[0].imm[REQUEST_KEY_PACKET_AT];
    exec_stores = 1'b0;
    for (int unsigned l = 0; l < StoreLanes; l++)
      exec_stores |= exec_lane_q[l].op.stores && !exec_lane_q[l].op.on_stack;
  end

  always_ff @(posedge clk) begin
    mem_place_q <= a_place;
    mem_packet_q <= exec_packet_q;
    mem_reaches_q <= exec_reaches;
    mem_stores_q <= exec_stores;
    mem_yields_q <= exec_stores && starved && mem_stores_q && !mem_yields_q;
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_exec
    wire lane_exec_t x = exec_lane_q[l];
    wire [5:0] origin = x.op.on_stack ? {exec_control_q.word[2:0], 3'd0} : a_place[5:0];

    xdp_lane_alu #(
        .Mul(l == Lanes - 1)
    ) alu (
        .clk,
        .op(x.op),
        .a(x.a),
        .b(x.b),
        .imm(x.imm),
        .outcome(raw_outcome[l]),
        .result(alu_result[l])
    );

    always_ff @(posedge clk) begin
      mem_lane_q[l].op <= x.op;
      mem_lane_q[l].guard <= x.guard;
      mem_lane_q[l].dst <= x.dst;
      mem_lane_q[l].target <= x.target;
      mem_lane_q[l].verdict <= x.a[31:0] > 32'(XdpRedirect) ? XdpAborted : verdict_e'(x.a[2:0]);
      mem_lane_q[l].target_if <= x.a[31:8] == 0 ? x.a[7:0] : '0;
      mem_lane_q[l].at <= origin + x.access.first;
      mem_lane_q[l].access <= x.access;
    end

    assign outcome[l] = raw_outcome[l] && mem_lane_q[l].op.compares;
  end

  // ---- MEM: what acts, and where the context goes on
  logic here;  // the bytes that the row reaches have arrived, and it need not yield
  logic [12:0] window_room_q;  // up to here a window has arrived; the headroom before a frame is longer than a window
  logic whole_q;
  always_ff @(posedge clk) begin
    whole_q <= a_whole;
    window_room_q <= a_arrived - 13'(Window);
  end
  assign here = !mem_yields_q && (whole_q || {1'b0, mem_place_q} <= window_room_q);

  wire [7:0] outcomes = 8'(outcome);
  wire hold = mem_reaches_q && !here;
  assign issues = mem_q.valid && !hold;
  assign mem_valid = mem_q.valid || mem_q.answer;
  wire goes = mem_valid && !hold;
  target_t target;
  verdict_e verdict;
  logic taken;

  always_comb begin
    target = '0;
    verdict = XdpAborted;
    taken = 1'b0;
    mem_adjusts = 1'b0;
    mem_redirects = 1'b0;
    mem_target = '0;
    for (int l = Lanes - 1; l >= 0; l--) begin
      acts[l] = goes && (!mem_lane_q[l].guard.on || outcomes[mem_lane_q[l].guard.lane] == mem_lane_q[l].guard.want);
      unique case (mem_lane_q[l].op.ending)
        EndBranch: takes[l] = acts[l] && outcome[l];
        EndJump, EndExit: takes[l] = acts[l];
        default: takes[l] = 1'b0;
      endcase
      if (takes[l]) begin
        taken = 1'b1;
        target = mem_lane_q[l].target;
        verdict = mem_lane_q[l].target.row[2:0] > XdpRedirect ? XdpAborted : verdict_e'(mem_lane_q[l].target.row[2:0]);
        if (mem_lane_q[l].op.ending == EndExit) begin
          target.exits = 1'b1;
          verdict = mem_lane_q[l].verdict;
        end
      end
      mem_adjusts |= acts[l] && mem_lane_q[l].op.adjusts;
      if (acts[l] && mem_lane_q[l].op.redirects) begin
        mem_redirects = 1'b1;
        mem_target = mem_lane_q[l].target_if;
      end
    end
  end

  wire requests = acts[0] && mem_lane_q[0].op.requests;
  assign mem_ctx = mem_q.ctx;
  assign mem_next = mem_q.answer ? mem_answer.value[10:0] : taken ? target.row : mem_q.row + 1'b1;
  assign mem_jumps = mem_q.answer && mem_answer.jumps && mem_may_jump;
  assign mem_hold = mem_q.answer ? !mem_jumps : hold;
  assign mem_ends = taken && target.exits;
  assign mem_waits = requests || (mem_q.answer && (mem_answer.looks || hold));
  assign mem_extent = moved;

  always_ff @(posedge clk) begin
    done <= mem_ends;
    done_ctx <= mem_q.ctx;
    done_packet <= mem_packet_q;
    if (mem_adjusts) done_packet.extent <= moved;
    if (mem_redirects) done_packet.target <= mem_target;
    done_verdict <= verdict;
    issued <= issues;
    turn_jumps_q <= mem_jumps;
    if (rst) {done, issued, turn_jumps_q} <= '0;
  end

  // ---- MEM -> TURN: stores
  typedef struct packed {
    op_t op;
    logic writes;
    logic [4:0] dst;
    access_t access;
  } lane_turn_t;

  lane_turn_t turn_lane_q[Lanes];
  packet_t turn_packet_q;

  logic [7:0][7:0] lane_bytes[StoreLanes];
  logic [Window-1:0] lane_packet_be[StoreLanes], lane_stack_be[StoreLanes];
  logic [5:0] lane_first[StoreLanes];
  logic [3:0] lane_count[StoreLanes];
  offset_t turn_place_q;

  for (genvar l = 0; l < StoreLanes; l++) begin : gen_store
    xdp_lane_store i_store (
        .clk,
        .value(exec_lane_q[l].a),
        .count(exec_lane_q[l].access.count),
        .swap(exec_lane_q[l].access.swap),
        .packet(acts[l] && mem_lane_q[l].op.stores && !mem_lane_q[l].op.on_stack),
        .stack(acts[l] && mem_lane_q[l].op.stores && mem_lane_q[l].op.on_stack),
        .at(mem_lane_q[l].at),
        .bytes(lane_bytes[l]),
        .packet_be(lane_packet_be[l]),
        .stack_be(lane_stack_be[l])
    );
    assign lane_first[l] = mem_lane_q[l].access.first;
    assign lane_count[l] = mem_lane_q[l].access.count;
  end

  always_ff @(posedge clk) turn_place_q <= mem_place_q;

  xdp_store_guard #(
      .StoreLanes(StoreLanes)
  ) guard (
      .clk,
      .rst,
      .mem_place(mem_place_q),
      .mem_first(lane_first),
      .mem_count(lane_count),
      .turn_buffer(turn_packet_q.at),
      .turn_place(turn_place_q),
      .turn_extent(turn_packet_q.extent),
      .turn_be(lane_packet_be),
      .turn_bytes(lane_bytes),
      .store,
      .store_buffer,
      .store_place,
      .store_be,
      .store_data,
      .stray
  );

  always_comb begin
    stack_be = '0;
    stack_data = '0;
    for (int unsigned l = 0; l < StoreLanes; l++) begin
      stack_be |= lane_stack_be[l];
      for (int unsigned b = 0; b < Window; b++) if (lane_stack_be[l][b]) stack_data[b] |= lane_bytes[l][b%8];
    end
  end

  // ---- TURN, WRITE
  logic [Lanes-1:0] write_q_writes, write_q_loads, write_q_adjusts, write_q_redirects;

  always_ff @(posedge clk) begin
    turn_adjust_q <= adjust_result;
    write_adjust_q <= turn_adjust_q;
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_write
    word_t loaded;
    logic [4:0] dst_q;

    always_ff @(posedge clk) begin
      turn_lane_q[l] <= '{
          op: mem_lane_q[l].op,
          writes: acts[l] && mem_lane_q[l].op.writes,
          dst: mem_lane_q[l].dst,
          access: mem_lane_q[l].access
      };
      write_q_writes[l] <= turn_lane_q[l].writes;
      write_q_loads[l] <= turn_lane_q[l].op.loads;
      write_q_adjusts[l] <= turn_lane_q[l].op.adjusts;
      write_q_redirects[l] <= turn_lane_q[l].op.redirects;
      dst_q <= turn_lane_q[l].dst;
    end

    xdp_lane_load i_load (
        .clk,
        .at(mem_lane_q[l].at),
        .packet(a_window),
        .stack(stack_window),
        .from_stack(turn_lane_q[l].op.on_stack),
        .count(turn_lane_q[l].access.count),
        .is_signed(turn_lane_q[l].access.is_signed),
        .swap(turn_lane_q[l].access.swap),
        .value(loaded)
    );

    word_t value;
    always_comb begin
      if (write_q_loads[l]) value = loaded;
      else if (write_q_adjusts[l]) value = write_adjust_q;
      else if (write_q_redirects[l]) value = word_t'(XdpRedirect);
      else value = alu_result[l];
    end
    if (l == 0) begin : gen_answers
      assign write[l] = write_q_writes[l] ||
        (write_q.answer && !write_answer.jumps && !write_answer.silent && !write_answer.looks);
      assign write_reg[l] = write_q.answer ? write_answer.dst : dst_q;
      assign write_value[l] = write_q.answer && !write_q_loads[l] ? write_answer.value : value;
    end else begin : gen_own
      assign write[l] = write_q_writes[l];
      assign write_reg[l] = dst_q;
      assign write_value[l] = value;
    end
  end

  // ---- requests: lane 0, with the arguments that lanes 1 and 2, modulo their number, have brought
  typedef struct packed {
    word_t first;
    word_t second;
  } pair_t;

  pair_t pairs[1:2];
  for (genvar k = 1; k <= 2; k++) begin : gen_pair
    localparam int unsigned Lane = k % Lanes;
    (* ram_style = "distributed" *) pair_t mem[Contexts];
    pair_t brought_q;
    always_ff @(posedge clk) begin
      brought_q <= {exec_lane_q[Lane].a, exec_lane_q[Lane].b};
      if (acts[Lane] && mem_lane_q[Lane].op.argues && mem_lane_q[Lane].dst == k) mem[mem_q.ctx] <= brought_q;
    end
    assign pairs[k] = mem[turn_q.ctx];
  end

  logic [31:0] mem_what_q, turn_what_q;
  logic [2:0] mem_word_q, turn_word_q;
  pair_t mem_pair_q, turn_pair_q;
  logic turn_requests_q, turn_ended_q, turn_here_q;

  always_ff @(posedge clk) begin
    mem_what_q <= exec_lane_q[0].imm;
    turn_what_q <= mem_what_q;
    mem_word_q <= exec_control_q.word[2:0];
    turn_word_q <= mem_word_q;
    mem_pair_q <= {exec_lane_q[0].a, exec_lane_q[0].b};
    turn_pair_q <= mem_pair_q;
    turn_packet_q <= mem_packet_q;
    turn_ended_q <= mem_ends;
    turn_requests_q <= requests && !rst;
    turn_here_q <= here;
  end

  // The place of a key, or of the bytes of a look, in the memory's row
  wire turn_packet = turn_q.answer ? !turn_answer.place.on_stack : turn_what_q[REQUEST_KEY_PACKET_AT];
  wire [4:0] key_first = turn_what_q[REQUEST_KEY_FIRST_AT+:REQUEST_KEY_FIRST_BITS];
  assign looked = turn_q.answer && (turn_answer.looks || turn_answer.loads || turn_answer.stores);
  assign looked_here = turn_here_q || !turn_packet;

  assign request = turn_requests_q;
  assign request_data = '{
      ctx: turn_q.ctx,
      silent: turn_what_q[REQUEST_SILENT_AT] || turn_ended_q,
      ends: turn_ended_q,
      what: turn_what_q,
      dst: turn_lane_q[0].dst,
      arg0: turn_pair_q.first,
      arg1: turn_pair_q.second,
      arg2: pairs[1].first,
      arg3: pairs[1].second,
      arg4: pairs[2].first,
      at: (turn_packet ? turn_place_q[5:0] : {turn_word_q, 3'd0}) + 6'(key_first),
      around: turn_packet ? a_window : stack_window,
      packet: turn_packet_q
  };
endmodule

`default_nettype wire
