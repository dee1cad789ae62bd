// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The host at the card's maps: it makes them, and asks them as a unit does, over a link like theirs.
//
//   cfg ─> registers, DATA ─> parts of a request ─> link ─> ... ─> answer ─> DATA
//
// One request at a time; DATA and COMMAND are not written while it is under way (SLVERR).
module map_host
  import map_pkg::*;
  import maps_pkg::*;
  import xdp_regs_pkg::*;
#(
    parameter int unsigned Banks = 16,
    parameter int unsigned Rows  = 16384
) (
    input wire logic clk,
    input wire logic rst,
    cfg_if.snk       cfg,  // 12 address bits

    output logic  link_valid,
    output flit_t link_flit,
    input  wire logic   link_room,
    input  wire logic   reply_valid,
    input  wire reply_t reply,

    output logic        define,
    output map_t        define_map,
    output descriptor_t define_as,
    input wire logic    defining,
    input wire logic    memory_failed,  // for one cycle
    output logic        seed_we,
    output logic [4:0]  seed_at,
    output logic [63:0] seed
);
  typedef enum logic [1:0] {
    Idle,
    Fill,    // a part from its two words
    Send,
    Answer
  } state_e;
  state_e state_q;

  // ---- access
  logic busy_q, served_q, we_q;
  logic [11:0] addr_q;
  logic [31:0] wdata_q, info_q, errors_q, register;
  logic [31:0] descriptor_q[5];
  wire start = cfg.req && !busy_q && !served_q;
  wire data_here = addr_q >= MAPS_HOST_DATA[11:0] && 32'(addr_q) < MAPS_HOST_DATA + 4 * MAPS_HOST_DATA_COUNT;
  wire write = busy_q && we_q;
  wire commands = write && addr_q == MAPS_HOST_COMMAND[11:0] && state_q == Idle;
  wire making = define || defining;
  wire makes = write && addr_q == MAPS_HOST_DEFINE[11:0] && !making;
  wire too_early = (data_here || addr_q == MAPS_HOST_COMMAND[11:0]) && state_q != Idle;
  wire fails = we_q && (too_early || (addr_q == MAPS_HOST_DEFINE[11:0] && making));

  // ---- DATA: words of 64 bits
  (* ram_style = "distributed" *) logic [31:0] low[64];
  (* ram_style = "distributed" *) logic [31:0] high[64];
  logic [5:0] word_q;  // next one that is sent, or comes
  wire data_write = write && data_here && state_q == Idle;
  wire answers = reply_valid && !reply.shape;
  wire [5:0] cfg_word = addr_q[8:3];
  wire [5:0] read_at = state_q == Idle || state_q == Answer ? cfg_word : word_q;
  always_ff @(posedge clk) begin
    if (answers) low[word_q] <= reply.value[31:0];
    else if (data_write && !addr_q[2]) low[cfg_word] <= wdata_q;
    if (answers) high[word_q] <= reply.value[63:32];
    else if (data_write && addr_q[2]) high[cfg_word] <= wdata_q;
  end
  wire [63:0] word = {high[read_at], low[read_at]};

  always_comb begin
    unique case (addr_q)
      MAPS_HOST_SHAPE[11:0]: register = {8'd0, 8'(Maps), 8'($clog2(Rows)), 8'($clog2(Banks))};
      MAPS_HOST_INFO[11:0]: register = info_q;
      MAPS_HOST_COMMAND[11:0]: register = {29'd0, errors_q != '0, making, state_q != Idle};
      MAPS_HOST_SEED_LOW[11:0]: register = seed[31:0];
      MAPS_HOST_SEED_HIGH[11:0]: register = seed[63:32];
      MAPS_HOST_MEMORY_ERRORS[11:0]: register = errors_q;
      default: register = '0;
    endcase
    for (int unsigned i = 0; i < 5; i++) if (32'(addr_q) == MAPS_HOST_DESCRIPTOR + 4 * i) register = descriptor_q[i];
    if (data_here) register = addr_q[2] ? word[63:32] : word[31:0];
  end

  always_ff @(posedge clk) begin
    if (start) begin
      addr_q <= cfg.addr;
      we_q <= cfg.we;
      wdata_q <= cfg.wdata;
    end
    cfg.rdata <= register;
    cfg.err <= fails;
    cfg.ack <= busy_q;
    busy_q <= start;
    served_q <= cfg.req && (served_q || busy_q);
    if (rst) begin
      busy_q <= 1'b0;
      served_q <= 1'b0;
      cfg.ack <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (write && addr_q == MAPS_HOST_INFO[11:0]) info_q <= wdata_q;
    if (write && addr_q == MAPS_HOST_SEED_LOW[11:0]) seed[31:0] <= wdata_q;
    if (write && addr_q == MAPS_HOST_SEED_HIGH[11:0]) seed[63:32] <= wdata_q;
    for (int unsigned i = 0; i < 5; i++)
    if (write && 32'(addr_q) == MAPS_HOST_DESCRIPTOR + 4 * i) descriptor_q[i] <= wdata_q;
    if (makes) define_map <= map_t'(wdata_q);
    seed_at <= wdata_q[4:0];
    seed_we <= write && addr_q == MAPS_HOST_SEED_AT[11:0];
    define <= makes;
    if (memory_failed && errors_q != '1) errors_q <= errors_q + 1'b1;
    if (rst) begin
      errors_q <= '0;
      seed_we <= 1'b0;
      define  <= 1'b0;
    end
  end
  assign define_as = {descriptor_q[4], descriptor_q[3], descriptor_q[2], descriptor_q[1], descriptor_q[0]};

  // ---- a request
  logic [31:0] command_q;
  logic [5:0] part_q;
  logic half_q;
  wire access_info_t access = info_q;
  wire op_e op = op_e'(command_q[2:0]);
  wire [5:0] last_answer = op == OpRows ? {access.atomic[0], access.count, 1'b1} : '0;

  always_ff @(posedge clk) begin
    link_valid <= 1'b0;
    unique case (state_q)
      Idle: begin
        word_q <= '0;
        part_q <= '0;
        half_q <= 1'b0;
        if (commands) begin
          command_q <= wdata_q;
          state_q <= Fill;
        end
      end
      Fill: begin
        half_q <= !half_q;
        word_q <= word_q + 1'b1;
        if (half_q) link_flit.data[15:8] <= word;
        else link_flit.data[7:0] <= word;
        if (half_q) state_q <= Send;
      end
      Send: begin
        link_flit.op <= op;
        link_flit.quiet <= 1'b0;
        link_flit.ctx <= command_q[19:16];
        link_flit.info <= info_q;
        link_flit.key_end <= part_q + 1'b1 == 6'(command_q[6:4]);
        link_flit.last <= part_q + 1'b1 == 6'(command_q[12:8]);
        if (link_room) begin
          link_valid <= 1'b1;
          part_q <= part_q + 1'b1;
          state_q <= Fill;
          if (part_q + 1'b1 == 6'(command_q[12:8])) begin
            word_q <= '0;
            state_q <= Answer;
          end
        end
      end
      default:
      if (answers) begin
        word_q <= word_q + 1'b1;
        if (word_q == last_answer) state_q <= Idle;
      end
    endcase
    if (rst) begin
      state_q <= Idle;
      link_valid <= 1'b0;
    end
  end
endmodule

`default_nettype wire
