// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The host's way in: AXI4-Lite to the card's registers and to the unit window, one access at a time.
//
//   AXI4-Lite ─> a register a channel ─> request ─┬─> card registers
//                                                 ├─> units: a write to all of UNIT_WRITE_MASK, a read to UNIT_READ
//                                                 ├─> maps of the card, where it has them
//                                                 ├─> inline chain, where the card has one
//                                                 └─> windows of its blocks
//
// Each channel is ready while its register is empty, so no path leads from a valid to a ready (AXI4, A3.2.1), and
// address and data of a write may come in any order. If a write and a read wait, they are served in turns.
//
// SLVERR: nothing is mapped there, a unit says so, no unit is addressed (an empty mask, a unit that the card does not
// have), or the write strobes do not cover the word.
module cfg_front
  import penstock_pkg::*;
#(
    parameter int unsigned Units = 16,
    parameter bit HasMaps = 1'b0,
    parameter int unsigned Blocks = 0  // of the inline chain
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [31:0] awaddr,
    input  wire logic        awvalid,
    output logic             awready,
    input  wire logic [31:0] wdata,
    input  wire logic [ 3:0] wstrb,
    input  wire logic        wvalid,
    output logic             wready,
    output logic      [ 1:0] bresp,
    output logic             bvalid,
    input  wire logic        bready,
    input  wire logic [31:0] araddr,
    input  wire logic        arvalid,
    output logic             arready,
    output logic      [31:0] rdata,
    output logic      [ 1:0] rresp,
    output logic             rvalid,
    input  wire logic        rready,

    input wire logic [MaxUnits-1:0] write_mask,
    input wire unit_t               read_unit,

    cfg_if.src card,         // 12 address bits
    cfg_if.src unit_cfg[Units], // 26 address bits
    cfg_if.src maps,            // 12 address bits
    cfg_if.src chain,           // 12 address bits
    cfg_if.src blocks           // 24 address bits, and above them the block
);
  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;
  localparam logic [5:0] UnitWindow = 6'b010000;  // bits 31:26 of 0x40000000
  localparam logic [19:0] MapsWindow = 20'h44000;  // bits 31:12
  localparam logic [19:0] ChainWindow = 20'h44001;  // bits 31:12
  localparam logic [7:0] BlockWindow = 8'h45;  // bits 31:24, of the first

  typedef enum logic [2:0] {
    Idle,
    Decode,
    Card,
    Unit,
    Other,
    Respond
  } state_e;
  state_e state_q;

  logic we_q, err_q, strobes_q;
  logic [31:0] addr_q, data_q;

  // Units that have not answered yet
  logic [Units-1:0] waiting_q, ack, ack_err;
  logic [31:0] unit_rdata[Units];
  logic card_req_q, maps_req_q, chain_req_q, blocks_req_q;
  for (genvar u = 0; u < Units; u++) begin : gen_unit
    assign unit_cfg[u].req = waiting_q[u];
    assign unit_cfg[u].we = we_q;
    assign unit_cfg[u].addr = addr_q[25:0];
    assign unit_cfg[u].wdata = data_q;
    assign ack[u] = waiting_q[u] && unit_cfg[u].ack;
    assign ack_err[u] = ack[u] && unit_cfg[u].err;
    assign unit_rdata[u] = unit_cfg[u].rdata;
  end
  assign maps.req = maps_req_q;
  assign maps.we = we_q;
  assign maps.addr = addr_q[11:0];
  assign maps.wdata = data_q;
  assign chain.req = chain_req_q;
  assign chain.we = we_q;
  assign chain.addr = addr_q[11:0];
  assign chain.wdata = data_q;
  localparam logic [7:0] BlocksPresent = 8'((1 << Blocks) - 1);
  wire [7:0] block = addr_q[31:24] - BlockWindow;
  assign blocks.req = blocks_req_q;
  assign blocks.we = we_q;
  assign blocks.addr = {block[2:0], addr_q[23:0]};
  assign blocks.wdata = data_q;
  assign card.req = card_req_q;
  assign card.we = we_q;
  assign card.addr = addr_q[11:0];
  assign card.wdata = data_q;

  // Answer of the one unit that was read, a cycle later
  logic [31:0] answer, answer_q;
  always_comb begin
    answer = '0;
    for (int unsigned u = 0; u < Units; u++) if (ack[u]) answer |= unit_rdata[u];
  end
  logic [Units-1:0] ack_q;
  always_ff @(posedge clk) begin
    ack_q <= ack;
    if (ack != 0) begin
      answer_q <= answer;
    end
  end

  logic [Units-1:0] targets;
  always_comb begin
    targets = '0;
    for (int unsigned u = 0; u < Units; u++) targets[u] = we_q ? write_mask[u] : 32'(read_unit) == u;
  end

  // The requests that wait at each channel. The write goes first if the last access was a read.
  logic aw_full_q, w_full_q, ar_full_q, w_strobes_q;
  logic [31:0] aw_addr_q, w_data_q, ar_addr_q;
  assign awready = !aw_full_q;
  assign wready  = !w_full_q;
  assign arready = !ar_full_q;
  wire take_write = state_q == Idle && aw_full_q && w_full_q && !(ar_full_q && we_q);
  wire take_read = state_q == Idle && ar_full_q && !take_write;
  always_ff @(posedge clk) begin
    if (awready) aw_addr_q <= awaddr;
    if (wready) {w_strobes_q, w_data_q} <= {&wstrb, wdata};
    if (arready) ar_addr_q <= araddr;
    aw_full_q <= aw_full_q ? !take_write : awvalid;
    w_full_q  <= w_full_q ? !take_write : wvalid;
    ar_full_q <= ar_full_q ? !take_read : arvalid;
    if (rst) {aw_full_q, w_full_q, ar_full_q} <= '0;
  end

  always_ff @(posedge clk) begin
    case (state_q)
      Idle: begin
        err_q <= 1'b0;
        if (take_write) begin
          we_q <= 1'b1;
          addr_q <= aw_addr_q;
          data_q <= w_data_q;
          strobes_q <= w_strobes_q;
          state_q <= Decode;
        end else if (take_read) begin
          we_q <= 1'b0;
          addr_q <= ar_addr_q;
          strobes_q <= 1'b1;
          state_q <= Decode;
        end
      end
      Decode: begin
        rdata <= '0;
        if (!strobes_q || addr_q[1:0] != 0) begin
          err_q   <= 1'b1;
          state_q <= Respond;
        end else if (addr_q[31:12] == 0) begin
          card_req_q <= 1'b1;
          state_q <= Card;
        end else if (addr_q[31:26] == UnitWindow && targets != 0) begin
          waiting_q <= targets;
          state_q   <= Unit;
        end else if (HasMaps && addr_q[31:12] == MapsWindow) begin
          maps_req_q <= 1'b1;
          state_q <= Other;
        end else if (Blocks != 0 && addr_q[31:12] == ChainWindow) begin
          chain_req_q <= 1'b1;
          state_q <= Other;
        end else if (block[7:3] == 0 && BlocksPresent[block[2:0]]) begin
          blocks_req_q <= 1'b1;
          state_q <= Other;
        end else begin
          err_q   <= 1'b1;
          state_q <= Respond;
        end
      end
      Card:
      if (card.ack) begin
        card_req_q <= 1'b0;
        err_q <= card.err;
        rdata <= card.rdata;
        state_q <= Respond;
      end
      Other:
      if (maps.ack || chain.ack || blocks.ack) begin
        maps_req_q <= 1'b0;
        chain_req_q <= 1'b0;
        blocks_req_q <= 1'b0;
        err_q <= maps_req_q ? maps.err : chain_req_q ? chain.err : blocks.err;
        rdata <= maps_req_q ? maps.rdata : chain_req_q ? chain.rdata : blocks.rdata;
        state_q <= Respond;
      end
      Unit: begin
        waiting_q <= waiting_q & ~ack;
        if (ack_err != 0) err_q <= 1'b1;
        if (waiting_q == 0) begin
          if (ack_q != 0) rdata <= answer_q;
          state_q <= Respond;
        end
      end
      Respond: if (we_q ? bready : rready) state_q <= Idle;
      default: state_q <= Idle;
    endcase
    if (rst) begin
      state_q <= Idle;
      we_q <= 1'b0;
      card_req_q <= 1'b0;
      maps_req_q <= 1'b0;
      chain_req_q <= 1'b0;
      blocks_req_q <= 1'b0;
      waiting_q <= '0;
    end
  end

  assign bvalid = state_q == Respond && we_q;
  assign rvalid = state_q == Respond && !we_q;
  assign bresp  = err_q ? SlvErr : Okay;
  assign rresp  = err_q ? SlvErr : Okay;

  axil_check i_check (.*);
endmodule

`default_nettype wire
