// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The host's window into an xdp unit (cfg_if): registers (xdp.rdl), maps, row memory.
//
//   0x0000000 registers    0x1000000 maps    0x2000000 rows, written only: a bank each 256 KiB, a row each 128 bytes:
//                                            control word, nothing, lower and upper half of lane 0, of lane 1, ...
//
// The upper half of a lane writes both. Every access is answered: of maps when the program's request before it is
// through.
module xdp_window
  import penstock_pkg::*;
  import xdp_pkg::*;
  import regs_pkg::*, xdp_regs_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned MapBytes = 65536
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire unit_t unit_id,
    cfg_if.snk        cfg,

    output logic                            row_we,
    output logic                            row_bank,
    output row_t                            row,
    output logic [$clog2(Lanes+1)-1:0]      row_part,
    output word_t                           row_data,

    output logic                        map_ask,
    output logic                        map_we,
    output logic [$clog2(MapBytes)-1:2] map_addr,
    output logic [31:0]                 map_wdata,
    input  wire logic                   map_done,
    input  wire logic [31:0]            map_rdata,

    output logic reset,
    output logic bank,
    output logic by_flow,
    output logic [63:0] ns,  // time of the programs

    input wire logic [31:0] working,
    input wire logic [Buffers-1:0] used,

    // events to count
    input wire logic rx_frame,
    input wire len_t rx_bytes,
    input wire logic rx_stall,
    input wire logic tx_frame,
    input wire len_t tx_bytes,
    input wire logic tx_stall,
    input wire logic dropped,
    input wire logic refused,
    input wire logic aborted,
    input wire logic issued,
    input wire logic wild,
    input wire logic stray
);
  typedef enum logic [1:0] {
    Registers,
    Maps,
    RowMemory,
    Nothing
  } region_e;

  typedef logic [31:0] count_t;
  count_t rx_frames_q, rx_bytes_q, rx_stalls_q, tx_frames_q, tx_bytes_q, tx_stalls_q;
  count_t dropped_q, refused_q, aborted_q, rows_q, wild_q,
      stray_q;

  always_ff @(posedge clk) begin
    if (rx_frame) begin
      rx_frames_q <= rx_frames_q + 1;
      rx_bytes_q  <= rx_bytes_q + 32'(rx_bytes);
    end
    if (tx_frame) begin
      tx_frames_q <= tx_frames_q + 1;
      tx_bytes_q  <= tx_bytes_q + 32'(tx_bytes);
    end
    if (rx_stall) rx_stalls_q <= rx_stalls_q + 1;
    if (tx_stall) tx_stalls_q <= tx_stalls_q + 1;
    if (dropped) dropped_q <= dropped_q + 1;
    if (refused) refused_q <= refused_q + 1;
    if (aborted) aborted_q <= aborted_q + 1;
    if (issued) rows_q <= rows_q + 1;
    if (wild) wild_q <= wild_q + 1;
    if (stray) stray_q <= stray_q + 1;
    if (rst) begin
      rx_frames_q <= '0;
      rx_bytes_q  <= '0;
      rx_stalls_q <= '0;
      tx_frames_q <= '0;
      tx_bytes_q  <= '0;
      tx_stalls_q <= '0;
      dropped_q   <= '0;
      refused_q   <= '0;
      aborted_q   <= '0;
      rows_q      <= '0;
      wild_q      <= '0;
      stray_q     <= '0;
    end
  end

  // ---- access
  region_e region_q;
  logic busy_q, served_q, we_q;
  logic [25:0] addr_q;
  logic [31:0] wdata_q, low_q, register;

  function automatic region_e region_of(logic [25:0] a);
    if (a[25:8] == 0) return Registers;
    if (a[25:24] == 2'd1 && 32'(a[23:0]) < MapBytes) return Maps;
    if (a[25:19] == 7'h40) return RowMemory;
    return Nothing;
  endfunction

  // The register of that offset is meant.
  function automatic logic at(logic [7:2] addr, logic [31:0] offset);
    return addr == offset[7:2];
  endfunction

  wire start = cfg.req && !busy_q && !served_q;
  logic finish, fails;
  always_comb begin
    finish = 1'b1;
    fails = 1'b0;
    unique case (region_q)
      Registers: ;
      Maps: finish = map_done;
      RowMemory: fails = !we_q;
      default: fails = 1'b1;
    endcase
  end

  always_ff @(posedge clk) begin
    cfg.ack <= busy_q && finish;
    cfg.err <= fails;
    busy_q <= start || (busy_q && !finish);
    served_q <= cfg.req && (served_q || (busy_q && finish));
    map_ask <= (start && region_of(cfg.addr) == Maps) || (map_ask && !map_done);
    if (rst) begin
      busy_q <= 1'b0;
      served_q <= 1'b0;
      cfg.ack <= 1'b0;
      map_ask <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (start) begin
      addr_q <= cfg.addr;
      we_q <= cfg.we;
      wdata_q <= cfg.wdata;
      region_q <= region_of(cfg.addr);
    end
    unique case (region_q)
      Registers: cfg.rdata <= register;
      Maps: cfg.rdata <= map_rdata;
      default: cfg.rdata <= '0;
    endcase
  end

  assign map_we = we_q;
  assign map_addr = addr_q[$clog2(MapBytes)-1:2];
  assign map_wdata = wdata_q;

  // Word 0 of a row is its control word, words 2 + 2l and 3 + 2l are lane l's.
  wire row_write = busy_q && we_q && region_q == RowMemory;
  wire [4:0] word = addr_q[6:2];
  always_ff @(posedge clk) begin
    if (row_write) low_q <= wdata_q;
    row_we <= row_write && (word == 0 || (word[0] && 32'(word) < 2 * Lanes + 2)) && !rst;
    row_bank <= addr_q[18];
    row <= addr_q[17:7];
    row_part <= ($clog2(Lanes + 1))'(word[4:1]);
    row_data <= word == 0 ? word_t'(wdata_q) : {wdata_q, low_q};
  end

  // ---- registers
  wire write = busy_q && we_q && region_q == Registers;

  unit_clock i_clock (
      .clk,
      .rst,
      .set_high(write && at(addr_q[7:2], UNIT_TIME_H)),
      .set_low(write && at(addr_q[7:2], UNIT_TIME_L)),
      .run(write && at(addr_q[7:2], UNIT_TIME_RUN)),
      .wdata(wdata_q),
      .ns
  );
  logic [31:0] ns_high_q;
  always_ff @(posedge clk)
    if (busy_q && !we_q && region_q == Registers && at(addr_q[7:2], UNIT_TIME_L)) ns_high_q <= ns[63:32];

  always_ff @(posedge clk) begin
    if (write && at(addr_q[7:2], UNIT_RESET)) reset <= wdata_q[0];
    if (write && at(addr_q[7:2], XDP_HOST_BANK)) bank <= wdata_q[0];
    if (write && at(addr_q[7:2], XDP_HOST_BY_FLOW)) by_flow <= wdata_q[0];
    if (rst) begin
      reset <= 1'b1;
      bank <= 1'b0;
      by_flow <= 1'b0;
    end
  end

  always_comb begin
    unique case (addr_q[7:2])
      UNIT_RESET[7:2]: register = 32'(reset);
      XDP_HOST_BANK[7:2]: register = 32'(bank);
      XDP_HOST_BY_FLOW[7:2]: register = 32'(by_flow);
      XDP_HOST_WORKING[7:2]: register = working;
      UNIT_TIME_L[7:2]: register = ns[31:0];
      UNIT_TIME_H[7:2]: register = ns_high_q;
      UNIT_ENGINE[7:2]: register = 32'h0070_6478;
      UNIT_ID[7:2]: register = 32'(unit_id);
      UNIT_STATUS[7:2]: register = 32'(reset);
      XDP_HOST_SHAPE[7:2]: register = {16'(MapBytes / 1024), 8'(Contexts), 8'(Lanes)};
      UNIT_ACTIVE_SLOTS[7:2]: register = 32'(used);
      UNIT_RX_FRAMES[7:2]: register = rx_frames_q;
      UNIT_RX_BYTES[7:2]: register = rx_bytes_q;
      UNIT_RX_STALLS[7:2]: register = rx_stalls_q;
      UNIT_TX_FRAMES[7:2]: register = tx_frames_q;
      UNIT_TX_BYTES[7:2]: register = tx_bytes_q;
      UNIT_TX_STALLS[7:2]: register = tx_stalls_q;
      UNIT_BLOCKED[7:2]: register = dropped_q;
      UNIT_REFUSED[7:2]: register = refused_q;
      XDP_HOST_ABORTED[7:2]: register = aborted_q;
      XDP_HOST_ROWS[7:2]: register = rows_q;
      XDP_HOST_WILD[7:2]: register = wild_q;
      XDP_HOST_STRAY[7:2]: register = stray_q;
      default: register = 32'd0;
    endcase
  end
endmodule

`default_nettype wire
