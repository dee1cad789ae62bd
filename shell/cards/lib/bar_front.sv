// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The host's way in through a shell's AXI4-Lite, in the shell's clock: who the card is, and a window of its address
// space
// (shell/cards/regs/bar.rdl). One access at a time.
//
//   s_axil ─> access ─┬─> registers ──────────────────────────────────────────────> answer ─> s_axil
//                     └─> cross_word ─┆─> m_axil ─> the card ─> cross_word ─┆──────┘
//
// The answer is always OKAY: shells differ in how they report an error to PCIe, up to a machine check. A card that
// does not answer,
// because it is in reset or hangs, holds the host up for Timeout cycles at most, once; until its answer comes, further
// accesses count
// as unanswered at once.
module bar_front
  import bar_regs_pkg::*;
#(
    parameter int unsigned Streams = 3,  // of the MACs, and the host's
    parameter logic [31:0] Shell   = '0,
    parameter logic [31:0] Shape   = '0,
    parameter int unsigned Timeout = 8192
) (
    input wire logic clk,
    input wire logic own_rst,  // of the shell
    input wire logic rst,      // of the crossing to the card, from reset_pair
    input wire logic clear,

    input wire logic [127:0] design_hash,  // hash of the hardware; constant

    input  wire logic [31:0] s_axil_awaddr,  // 20 bits count
    input  wire logic        s_axil_awvalid,
    output logic             s_axil_awready,
    input  wire logic [31:0] s_axil_wdata,
    input  wire logic        s_axil_wvalid,
    output logic             s_axil_wready,
    output logic      [ 1:0] s_axil_bresp,
    output logic             s_axil_bvalid,
    input  wire logic        s_axil_bready,
    input  wire logic [31:0] s_axil_araddr,
    input  wire logic        s_axil_arvalid,
    output logic             s_axil_arready,
    output logic      [31:0] s_axil_rdata,
    output logic      [ 1:0] s_axil_rresp,
    output logic             s_axil_rvalid,
    input  wire logic        s_axil_rready,

    output logic                    card_reset,
    input  wire logic [Streams-1:0] port_up,
    input  wire logic [       31:0] rx_lost   [Streams],
    input  wire logic [       31:0] tx_lost   [Streams],

    input  wire logic        card_clk,
    input  wire logic        card_rst,      // of the crossing
    input  wire logic        card_clear,
    output logic      [31:0] m_axil_awaddr,
    output logic             m_axil_awvalid,
    input  wire logic        m_axil_awready,
    output logic      [31:0] m_axil_wdata,
    output logic      [ 3:0] m_axil_wstrb,
    output logic             m_axil_wvalid,
    input  wire logic        m_axil_wready,
    input  wire logic [ 1:0] m_axil_bresp,
    input  wire logic        m_axil_bvalid,
    output logic             m_axil_bready,
    output logic      [31:0] m_axil_araddr,
    output logic             m_axil_arvalid,
    input  wire logic        m_axil_arready,
    input  wire logic [31:0] m_axil_rdata,
    input  wire logic [ 1:0] m_axil_rresp,
    input  wire logic        m_axil_rvalid,
    output logic             m_axil_rready
);
  localparam logic [31:0] Magic = 32'h504E4650;
  localparam logic [31:0] Version = 32'h00020000;
  localparam logic [3:0] Registers = 4'h0;  // bits 19:16 of the address
  localparam logic [3:0] Window = 4'h1;
  localparam int unsigned ResetCycles = 256;

  typedef enum logic [2:0] {
    Idle,
    Decode,
    Ask,
    Await,
    Respond
  } state_e;
  state_e state_q;

  // The accesses that wait at each channel; the write goes first if the last access was a read.
  logic aw_full_q, w_full_q, ar_full_q, we_q;
  logic [19:0] aw_addr_q, ar_addr_q, addr_q;
  logic [31:0] w_data_q, data_q;
  assign s_axil_awready = !aw_full_q;
  assign s_axil_wready  = !w_full_q;
  assign s_axil_arready = !ar_full_q;
  wire take_write = state_q == Idle && aw_full_q && w_full_q && !(ar_full_q && we_q);
  wire take_read = state_q == Idle && ar_full_q && !take_write;
  always_ff @(posedge clk) begin
    if (s_axil_awready) aw_addr_q <= s_axil_awaddr[19:0];
    if (s_axil_wready) w_data_q <= s_axil_wdata;
    if (s_axil_arready) ar_addr_q <= s_axil_araddr[19:0];
    aw_full_q <= aw_full_q ? !take_write : s_axil_awvalid;
    w_full_q  <= w_full_q ? !take_write : s_axil_wvalid;
    ar_full_q <= ar_full_q ? !take_read : s_axil_arvalid;
    if (own_rst) {aw_full_q, w_full_q, ar_full_q} <= '0;
  end

  // Registers
  logic [15:0] page_q;
  logic [31:0] errors_q, timeouts_q, value;
  logic known, writable, answer_valid, answer_err, outstanding_q;
  logic [31:0] answer_data;
  always_comb begin
    value = '0;
    known = 1'b1;
    case ({
      16'd0, addr_q[15:0]
    })
      BAR_MAGIC: value = Magic;
      BAR_VERSION: value = Version;
      BAR_DESIGN: value = design_hash[127:96];
      BAR_DESIGN + 32'd4: value = design_hash[95:64];
      BAR_DESIGN + 32'd8: value = design_hash[63:32];
      BAR_DESIGN + 32'd12: value = design_hash[31:0];
      BAR_SHELL: value = Shell;
      BAR_SHAPE: value = Shape;
      BAR_PAGE: value = 32'(page_q);
      BAR_ERRORS: value = errors_q;
      BAR_TIMEOUTS: value = timeouts_q;
      BAR_STATUS: value = {16'd0, 8'(port_up), 7'd0, !rst};
      BAR_RESET: known = we_q;
      default: known = 1'b0;
    endcase
    for (int unsigned p = 0; p < Streams; p++) begin
      if (32'(addr_q[15:0]) == BAR_PORT_BASE + BAR_PORT_STRIDE * p + BAR_PORT_RX_LOST) {known, value} = {1'b1, rx_lost[p]};
      if (32'(addr_q[15:0]) == BAR_PORT_BASE + BAR_PORT_STRIDE * p + BAR_PORT_TX_LOST) {known, value} = {1'b1, tx_lost[p]};
    end
  end
  assign writable = 32'(addr_q[15:0]) == BAR_PAGE || 32'(addr_q[15:0]) == BAR_RESET;

  logic [$clog2(Timeout)-1:0] waited_q;
  logic [$clog2(ResetCycles):0] reset_left_q;
  logic refused, unanswered, ask, ask_ready;
  assign ask = state_q == Ask && ask_ready && !rst && !outstanding_q;
  assign unanswered = (state_q == Ask && (rst || outstanding_q)) ||
                      (state_q == Await && !answer_valid && (rst || waited_q == $bits(waited_q)'(Timeout - 1)));
  assign refused = (state_q == Decode && addr_q[19:16] != Window &&
                    (addr_q[19:16] != Registers || !known || (we_q && !writable))) ||
                   (state_q == Await && answer_valid && answer_err);
  always_ff @(posedge clk) begin
    case (state_q)
      Idle: begin
        waited_q <= '0;
        if (take_write) begin
          we_q <= 1'b1;
          addr_q <= aw_addr_q;
          data_q <= w_data_q;
          state_q <= Decode;
        end else if (take_read) begin
          we_q <= 1'b0;
          addr_q <= ar_addr_q;
          state_q <= Decode;
        end
      end
      Decode: begin
        s_axil_rdata <= refused ? '1 : value;
        if (we_q && !refused && addr_q[19:16] == Registers) begin
          if (32'(addr_q[15:0]) == BAR_PAGE) page_q <= data_q[15:0];
        end
        state_q <= addr_q[19:16] == Window ? Ask : Respond;
      end
      Ask: begin
        s_axil_rdata <= '1;
        if (unanswered) state_q <= Respond;
        else if (ask) state_q <= Await;
      end
      Await: begin
        waited_q <= waited_q + 1'b1;
        if (answer_valid && !answer_err) s_axil_rdata <= answer_data;
        if (answer_valid || unanswered) state_q <= Respond;
      end
      Respond: if (we_q ? s_axil_bready : s_axil_rready) state_q <= Idle;
      default: state_q <= Idle;
    endcase
    outstanding_q <= ask || (outstanding_q && !answer_valid);
    errors_q <= errors_q + 32'(refused || unanswered);
    timeouts_q <= timeouts_q + 32'(unanswered);
    if (state_q == Decode && we_q && !refused && addr_q == 20'(BAR_RESET) && data_q[0]) reset_left_q <= ($bits(reset_left_q))'(ResetCycles);
    else if (reset_left_q != 0) reset_left_q <= reset_left_q - 1'b1;
    card_reset <= reset_left_q != 0;
    if (rst) outstanding_q <= 1'b0;
    if (own_rst) begin
      state_q <= Idle;
      we_q <= 1'b0;
      page_q <= '0;
      errors_q <= '0;
      timeouts_q <= '0;
      reset_left_q <= '0;
      card_reset <= 1'b0;
      outstanding_q <= 1'b0;
    end
  end
  assign s_axil_bvalid = state_q == Respond && we_q;
  assign s_axil_rvalid = state_q == Respond && !we_q;
  assign s_axil_bresp  = 2'b00;
  assign s_axil_rresp  = 2'b00;

  // To the card and back
  typedef struct packed {
    logic we;
    logic [31:0] addr;
    logic [31:0] data;
  } request_t;
  typedef struct packed {
    logic err;
    logic [31:0] data;
  } answer_t;
  request_t request;
  answer_t answer;
  logic request_valid;
  cross_word #(
      .Width($bits(request_t))
  ) i_request (
      .src_clk(clk),
      .src_rst(rst),
      .src_clear(clear),
      .src_valid(ask),
      .src_ready(ask_ready),
      .src_data({we_q, page_q, addr_q[15:0], data_q}),
      .clk(card_clk),
      .rst(card_rst),
      .clear(card_clear),
      .valid(request_valid),
      .data(request)
  );

  logic aw_q, w_q, ar_q, done, answer_ready;
  assign m_axil_awaddr = request.addr;
  assign m_axil_araddr = request.addr;
  assign m_axil_wdata = request.data;
  assign m_axil_wstrb = '1;
  assign m_axil_awvalid = aw_q;
  assign m_axil_wvalid = w_q;
  assign m_axil_arvalid = ar_q;
  assign m_axil_bready = answer_ready;
  assign m_axil_rready = answer_ready;
  assign done = answer_ready && (m_axil_bvalid || m_axil_rvalid);
  assign answer.err = m_axil_bvalid ? m_axil_bresp[1] : m_axil_rresp[1];
  assign answer.data = m_axil_rdata;
  always_ff @(posedge card_clk) begin
    if (request_valid) {aw_q, w_q, ar_q} <= {request.we, request.we, !request.we};
    else {aw_q, w_q, ar_q} <= {aw_q && !m_axil_awready, w_q && !m_axil_wready, ar_q && !m_axil_arready};
    if (card_rst) {aw_q, w_q, ar_q} <= '0;
  end
  answer_t answered;
  cross_word #(
      .Width($bits(answer_t))
  ) i_answer (
      .src_clk(card_clk),
      .src_rst(card_rst),
      .src_clear(card_clear),
      .src_valid(done),
      .src_ready(answer_ready),
      .src_data(answer),
      .clk,
      .rst,
      .clear,
      .valid(answer_valid),
      .data(answered)
  );
  assign answer_err = answered.err;
  assign answer_data = answered.data;
endmodule

`default_nettype wire
