// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Longest prefix match (docs/architecture.md, longest prefix table): a search tree of three levels over up to 8,192
// interval starts. Each level counts the keys of one node that are not above the address.
//
//   cycle 0                  cycle 1                 cycle 2                       cycle 3
//   ADDR written ─>        ‖ 31 compares ─>        ‖ leaf node and classes       ‖ CLASS, PASS_MASK
//   16 compares ─> inner   ‖ leaf row              ‖ (block RAM) ─>              ‖ may be read
//   node (distributed RAM) ‖                       ‖ 15 compares                 ‖
//
// CLASS and PASS_MASK answer two cycles after the address register: a read in cycle 1 holds the core for two cycles, a
// read in cycle 3 not at all. A write to ADDR is always accepted; a write before the answer restarts the search.
//
// Key 0 of an inner or leaf node is the key that led to it and is not compared again. An address below all keys gets
// count 0 in cycles 1 and 2, whatever the node, so only its class has to come from elsewhere. The memories store the
// nodes in the order of the Gray code, which takes half as many compares a bit as binary.
//
// The host writes a word a cycle at any time; look-ups meanwhile answer in time, but with any class. Its reads use the
// block RAM in a cycle in which no look-up does; firmware cannot take all of them, because it has at most 16,384 stores
// in a row.
module ip_prefix (
    input wire logic clk,
    input wire logic rst,
    accel_if.accel   bus
);
  localparam int unsigned Roots = 16;  // few: in their cycle an inner node is read, too
  localparam int unsigned Inner = 32;  // keys of an inner node
  localparam int unsigned Fan = 16;  // of a leaf node
  localparam int unsigned Rows = Roots * Inner;  // leaf nodes
  localparam int unsigned ClassW = 4;
  localparam int unsigned Planes = ClassW + 1;  // bits of a class, and "is not 0"

  typedef logic [Fan-1:1] above_t;  // bit k: key k is not above the address; ones from bit 1 on
  // per plane and interval: whether the bit differs from the interval before
  typedef logic [Planes-1:0][Fan-1:0] planes_t;

  function automatic above_t compare(logic [Fan-1:1][31:0] keys, logic [31:0] address);
    for (int unsigned k = 1; k < Fan; k++) compare[k] = address >= keys[k];
  endfunction

  // Those that the host has chosen are; of the others none is when nothing is looked up. Said at the top of the carry
  // chain, where it takes no time.
  function automatic logic [Inner-1:1] compare_inner(logic [Inner-1:1][31:0] keys, logic [31:0] address, logic there,
                                                     logic [Inner-1:1] chosen);
    for (int unsigned k = 1; k < Inner; k++) compare_inner[k] = {chosen[k], there, address} >= {2'b01, keys[k]};
  endfunction

  function automatic logic [4:0] gray(logic [4:0] n);
    return n ^ (n >> 1);
  endfunction

  // Number of ones, which stand together from bit 1 on, in Gray code: from k - 1 to k it changes in the lowest one of
  // k.
  function automatic logic [4:0] gray_count(logic [Inner-1:1] ge);
    gray_count = '0;
    for (int unsigned k = 1; k < Inner; k++) if (ge[k]) gray_count ^= 5'(k & -k);
  endfunction

  // An interval's bit is the parity of the differences up to it: cheaper after the compares than a selector.
  function automatic planes_t steps_of(logic under, logic [ClassW-1:0] below, logic [Fan-1:0][7:0] classes);
    logic [Planes-1:0] bits, last;
    last = '0;
    for (int unsigned k = 0; k < Fan; k++) begin
      bits[ClassW-1:0] = (k == 0 && under) ? below : classes[k][ClassW-1:0];
      bits[ClassW]     = bits[ClassW-1:0] != 0;
      for (int unsigned p = 0; p < Planes; p++) steps_of[p][k] = bits[p] ^ last[p];
      last = bits;
    end
  endfunction

  // --- Tables -------------------------------------------------------------------------------------------------------

  logic [Roots-1:0][31:0] root_keys_q;
  (* ram_style = "distributed" *) logic [Inner-1:1][31:0] inner_mem[Roots];
  (* ram_style = "block" *) logic [Fan-1:0][31:0] leaf_mem[Rows];
  // A byte for each class of four bits: block RAM is written in bytes.
  (* ram_style = "block" *) logic [Fan-1:0][7:0] class_mem[Rows];
  logic [ClassW-1:0] below_q;

  // An empty table: no address has a class.
  initial begin
    root_keys_q = '1;
    below_q     = '0;
    for (int unsigned i = 0; i < Roots; i++) inner_mem[i] = '1;
    for (int unsigned i = 0; i < Rows; i++) begin
      leaf_mem[i]  = '1;
      class_mem[i] = '0;
    end
  end

  // --- Host ---------------------------------------------------------------------------------------------------------

  logic ld_wr_q, ld_rd_q, peek_q, pick_q, ld_rvalid_q;
  logic [23:2] ld_addr_q;
  logic [31:0] ld_wdata_q, ld_rdata_q;
  logic ld_key, ld_class, ld_below;
  logic [4:0] ld_inner;
  logic [3:0] ld_root, ld_lane;
  logic [8:0] ld_row;

  assign ld_key   = ld_addr_q[23:15] == 9'd0;
  assign ld_class = ld_addr_q[23:15] == 9'd1;
  assign ld_below = ld_addr_q == 22'h4000;
  assign ld_root  = ld_addr_q[14:11];
  assign ld_inner = ld_addr_q[10:6];
  assign ld_lane  = ld_addr_q[5:2];
  assign ld_row   = {4'(gray(5'(ld_root))), gray(ld_inner)};

  always_ff @(posedge clk) begin
    if (bus.ld_wr || bus.ld_rd) begin
      ld_addr_q  <= bus.ld_addr[23:2];
      ld_wdata_q <= bus.ld_wdata;
    end
    if (ld_wr_q) begin
      if (ld_key) begin
        leaf_mem[ld_row][ld_lane] <= ld_wdata_q;
        if (ld_lane == 0 && ld_inner != 0) inner_mem[4'(gray(5'(ld_root)))][ld_inner] <= ld_wdata_q;
      end
      if (ld_class) class_mem[ld_row][ld_lane] <= 8'(ld_wdata_q[ClassW-1:0]);
      if (ld_below) below_q <= ld_wdata_q[ClassW-1:0];
    end
  end

  // Root keys are registers: which of them is written is decided a cycle before it is.
  logic [Roots-1:0] root_we_q;
  logic [31:0] root_wdata_q;

  always_ff @(posedge clk) begin
    root_wdata_q <= ld_wdata_q;
    for (int unsigned k = 0; k < Roots; k++) begin
      root_we_q[k] <= ld_wr_q && ld_key && ld_inner == 0 && ld_lane == 0 && ld_root == 4'(k);
      if (root_we_q[k]) root_keys_q[k] <= root_wdata_q;
    end
  end

  // --- Look-up ------------------------------------------------------------------------------------------------------

  logic start;
  logic inner_q, leaf_q;  // cycles 1 and 2 of a look-up
  logic [31:0] address, address_q;
  logic under_q;  // the address is below all keys
  logic [3:0] root_q;
  logic [Inner-1:1][31:0] node_q;
  logic [8:0] row;
  logic [Fan-1:0][31:0] keys_q;
  logic [Fan-1:0][7:0] classes_q;
  above_t ge_q;
  planes_t steps_q;
  logic [Planes-1:0] answer;

  assign address = {bus.wdata[7:0], bus.wdata[15:8], bus.wdata[23:16], bus.wdata[31:24]};
  assign start   = bus.wr_en && bus.addr[7:2] == 6'(rpu_regs_pkg::IP_PREFIX_ADDR >> 2);

  // The host's row uses the path of a lookup to the memories, as keys that are not above. Only the count of the
  // compares is behind them.
  logic [Inner-1:1] chosen_q;
  wire [23:2] ld_addr = bus.ld_wr || bus.ld_rd ? bus.ld_addr[23:2] : ld_addr_q;

  always_ff @(posedge clk) for (int unsigned k = 1; k < Inner; k++) chosen_q[k] <= !start && 5'(k) <= ld_addr[10:6];

  assign row = {inner_q ? root_q : ld_row[8:5], gray_count(compare_inner(node_q, address_q, inner_q, chosen_q))};

  always_ff @(posedge clk) begin
    if (start) begin
      automatic logic [3:0] root = 4'(gray_count((Inner - 1)'(compare(root_keys_q[Roots-1:1], address))));
      address_q <= address;
      under_q   <= address < root_keys_q[0];
      root_q    <= root;
      node_q    <= inner_mem[root];
    end
    if (inner_q || ld_rd_q) begin
      keys_q    <= leaf_mem[row];
      classes_q <= class_mem[row];
    end
    if (leaf_q) begin
      ge_q    <= compare(keys_q[Fan-1:1], address_q);
      steps_q <= steps_of(under_q, below_q, classes_q);
    end
    // Firmware may read the answer before it has asked.
    if (rst) steps_q <= '0;
  end

  always_ff @(posedge clk) begin
    inner_q <= start;
    leaf_q  <= inner_q;
    if (rst) begin
      inner_q <= 1'b0;
      leaf_q  <= 1'b0;
    end
  end

  always_comb begin
    for (int unsigned p = 0; p < Planes; p++) answer[p] = ^(steps_q[p] & {ge_q, 1'b1});
    bus.rdata = '0;
    if (bus.addr[7:2] == 6'(rpu_regs_pkg::IP_PREFIX_CLASS >> 2)) bus.rdata = 32'(answer[ClassW-1:0]);
    if (bus.addr[7:2] == 6'(rpu_regs_pkg::IP_PREFIX_PASS_MASK >> 2)) bus.rdata = {16'hFFFF, {16{!answer[ClassW]}}};
  end
  assign bus.rd_valid = bus.rd_en && !inner_q && !leaf_q;

  // --- Host reads ---------------------------------------------------------------------------------------------------

  // One of sixteen words, in two steps: block RAM leaves no time for more.
  logic [3:0][31:0] key_of_four_q;
  logic [3:0][ClassW-1:0] class_of_four_q;

  always_ff @(posedge clk) begin
    if (peek_q) begin
      for (int unsigned i = 0; i < 4; i++) begin
        key_of_four_q[i]   <= keys_q[{2'(i), ld_lane[1:0]}];
        class_of_four_q[i] <= classes_q[{2'(i), ld_lane[1:0]}][ClassW-1:0];
      end
    end
    if (pick_q) begin
      ld_rdata_q <= '0;
      if (ld_key) ld_rdata_q <= key_of_four_q[ld_lane[3:2]];
      if (ld_class) ld_rdata_q <= 32'(class_of_four_q[ld_lane[3:2]]);
      if (ld_below) ld_rdata_q <= 32'(below_q);
    end
    ld_wr_q     <= bus.ld_wr;
    ld_rd_q     <= bus.ld_rd || (ld_rd_q && inner_q);
    peek_q      <= ld_rd_q && !inner_q;
    pick_q      <= peek_q;
    ld_rvalid_q <= pick_q;
    if (rst) begin
      ld_wr_q     <= 1'b0;
      ld_rd_q     <= 1'b0;
      peek_q      <= 1'b0;
      pick_q      <= 1'b0;
      ld_rvalid_q <= 1'b0;
    end
  end
  assign bus.ld_rdata  = ld_rdata_q;
  assign bus.ld_rvalid = ld_rvalid_q;

  assign bus.error  = 1'b0;
  assign bus.pm_en  = 1'b0;
  assign bus.pm_row = '0;

  wire unused = &{1'b0, bus.addr, bus.ld_addr[1:0], bus.pm_ready, bus.pm_rdata, bus.pm_rvalid};

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!bus.ld_rd || !(ld_rd_q || peek_q || pick_q))
      else $error("%m: a host read before the last one was answered");
`endif
endmodule

`default_nettype wire
