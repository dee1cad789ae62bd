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

  // ---- counters: those of all units by their registers' offsets from RX_FRAMES, then this engine's
  localparam int unsigned Own = 8;
  localparam int unsigned Counters = Own + 4;
  localparam int unsigned CountBase = UNIT_RX_FRAMES;
  localparam int unsigned OwnBase = XDP_HOST_ABORTED;
  localparam int unsigned RxBytes = (UNIT_RX_BYTES - CountBase) / 4;
  localparam int unsigned TxBytes = (UNIT_TX_BYTES - CountBase) / 4;
  logic [15:0] counted[Counters];
  logic [63:0] count;
  logic read_count, counts_q, waited_q;
  logic [31:0] count_high_q;

  always_comb begin
    counted = '{default: '0};
    counted[0] = 16'(rx_frame);
    counted[RxBytes] = rx_frame ? rx_bytes : '0;
    counted[(UNIT_RX_STALLS-CountBase)/4] = 16'(rx_stall);
    counted[(UNIT_TX_FRAMES-CountBase)/4] = 16'(tx_frame);
    counted[TxBytes] = tx_frame ? tx_bytes : '0;
    counted[(UNIT_TX_STALLS-CountBase)/4] = 16'(tx_stall);
    counted[(UNIT_BLOCKED-CountBase)/4] = 16'(dropped);
    counted[(UNIT_REFUSED-CountBase)/4] = 16'(refused);
    counted[Own] = 16'(aborted);
    counted[Own+(XDP_HOST_ROWS-OwnBase)/4] = 16'(issued);
    counted[Own+(XDP_HOST_WILD-OwnBase)/4] = 16'(wild);
    counted[Own+(XDP_HOST_STRAY-OwnBase)/4] = 16'(stray);
  end

  function automatic logic is_shared_count(logic [25:0] a);
    return a >= 26'(CountBase) && a <= 26'(UNIT_REFUSED);
  endfunction

  function automatic logic is_own_count(logic [25:0] a);
    return a >= 26'(OwnBase) && a <= 26'(XDP_HOST_STRAY);
  endfunction

  wire [3:0] count_index =
      is_own_count(cfg.addr) ? 4'(Own) + 4'((cfg.addr[7:0] - 8'(OwnBase)) >> 2) :
      4'((cfg.addr[7:0] - 8'(CountBase)) >> 2);
  wide_counters #(
      .Counters(Counters),
      .Bytes(Counters'(1) << RxBytes | Counters'(1) << TxBytes)
  ) i_counters (
      .clk,
      .rst,
      .step(counted),
      .read(read_count),
      .index(count_index),
      .value(count)
  );

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
  assign read_count = start && !cfg.we && (is_shared_count(cfg.addr) || is_own_count(cfg.addr));
  always_comb begin
    finish = 1'b1;
    fails = 1'b0;
    unique case (region_q)
      Registers: finish = !counts_q || waited_q;
      Maps: finish = map_done;
      RowMemory: fails = !we_q;
      default: fails = 1'b1;
    endcase
  end

  always_ff @(posedge clk) begin
    cfg.ack <= busy_q && finish;
    cfg.err <= fails;
    busy_q <= start || (busy_q && !finish);
    waited_q <= busy_q && !finish;
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
      counts_q <= read_count;
    end
    if (busy_q && counts_q && finish) count_high_q <= count[63:32];
    unique case (region_q)
      Registers: cfg.rdata <= counts_q ? count[31:0] : register;
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
      UNIT_COUNT_H[7:2]: register = count_high_q;
      default: register = 32'd0;
    endcase
  end
endmodule

`default_nettype wire
