// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The accelerators of a unit. `Accel` is the mask that firmware and host read in register ACCEL: bit k stands for kind
// k, whose registers are page k of the accelerator region, 256 bytes, and whose tables are window k of the table space,
// 1 MiB.
//
//   addr ─> page ─┬─> kind ─┐                kinds ─> first of them ‖ request ─> port B of packet memory
//                 ├─> kind ─┴─> rdata, hold                         ‖ owner ‖ owner ‖ ─> whose row it is
//                 └─> nobody: an error, reads give 0 at once
//
// Reads of packet memory leave in the order in which they are taken, one a cycle; of kinds that ask in the same cycle
// the lowest is first. A row is back three cycles after its request at the earliest.
//
// Only the low bits of the page decide which accelerator holds the core, and none of them do if only one kind is there,
// because these bits are on the core's critical path. A read of an unused page may therefore wait for an accelerator,
// which never takes long.
module accel #(
    parameter int unsigned Accel = 0
) (
    input wire logic clk,
    input wire logic rst,
    accel_if.accel   bus
);
  localparam int unsigned Kinds = 5;
  localparam bit Alone = (Accel & (Accel - 1)) == 0;

  typedef logic [Kinds-1:0] kinds_t;

  kinds_t page, reads, rd_valid, error, window_q, ld_rvalid, pm_en, pm_first;
  logic [Kinds-1:0][31:0] rdata, ld_rdata;
  logic [Kinds-1:0][13:0] pm_row;
  logic pm_room;
  kinds_t asks_q;      // who made the request to packet memory
  kinds_t owner_q[2];  // and to whom the rows come back, one cycle and two after it

  for (genvar k = 0; k < Kinds; k++) begin : gen_kind
    if ((Accel >> k) % 2 == 1) begin : gen_there
      accel_if kind ();

      assign page[k]       = bus.addr[21:8] == 14'(k);
      assign reads[k]      = bus.rd_en && (Alone || bus.addr[11:8] == 4'(k));
      assign kind.addr     = 22'(bus.addr[7:0]);
      assign kind.wr_en    = bus.wr_en && page[k];
      assign kind.rd_en    = reads[k];
      assign kind.wdata    = bus.wdata;
      assign rdata[k]      = page[k] ? kind.rdata : '0;
      assign rd_valid[k]   = kind.rd_valid;
      assign error[k]      = kind.error;

      assign kind.ld_wr    = bus.ld_wr && bus.ld_addr[23:20] == 4'(k);
      assign kind.ld_rd    = bus.ld_rd && bus.ld_addr[23:20] == 4'(k);
      assign kind.ld_addr  = 24'(bus.ld_addr[19:0]);
      assign kind.ld_wdata = bus.ld_wdata;
      assign ld_rdata[k]   = window_q[k] ? kind.ld_rdata : '0;
      assign ld_rvalid[k]  = kind.ld_rvalid;

      always_ff @(posedge clk) if (bus.ld_rd) window_q[k] <= bus.ld_addr[23:20] == 4'(k);

      assign pm_en[k]       = kind.pm_en;
      assign pm_row[k]      = kind.pm_row;
      assign kind.pm_ready  = pm_room && pm_first[k];
      assign kind.pm_rdata  = bus.pm_rdata;
      assign kind.pm_rvalid = bus.pm_rvalid && owner_q[1][k];

      case (k)
        0: begin : gen_ip_prefix
          ip_prefix i_ip_prefix (.clk, .rst, .bus(kind));
        end
        1: begin : gen_flow_hash
          toeplitz i_toeplitz (.clk, .rst, .bus(kind));
        end
        2: begin : gen_checksum
          checksum i_checksum (.clk, .rst, .bus(kind));
        end
        3: begin : gen_crc32
          crc32 i_crc32 (.clk, .rst, .bus(kind));
        end
        default: begin : gen_string_match
          string_match i_string_match (.clk, .rst, .bus(kind));
        end
      endcase
    end else begin : gen_absent
      assign page[k]      = 1'b0;
      assign reads[k]     = 1'b0;
      assign rdata[k]     = '0;
      assign rd_valid[k]  = 1'b0;
      assign error[k]     = 1'b0;
      assign window_q[k]  = 1'b0;
      assign ld_rdata[k]  = '0;
      assign ld_rvalid[k] = 1'b0;
      assign pm_en[k]     = 1'b0;
      assign pm_row[k]    = '0;
    end
  end
  if (Accel >> Kinds != 0) begin : gen_unknown
    $error("%m: there are %0d kinds of accelerators, and the mask is %b", Kinds, Accel);
  end

  // --- Registers and tables -----------------------------------------------------------------------------------------

  logic nobody_ld_q;

  always_comb begin
    bus.rdata    = '0;
    bus.ld_rdata = '0;
    for (int unsigned k = 0; k < Kinds; k++) begin
      bus.rdata |= rdata[k];
      bus.ld_rdata |= ld_rdata[k];
    end
  end
  assign bus.rd_valid  = rd_valid != 0 || (bus.rd_en && reads == 0);
  assign bus.error     = error != 0 || ((bus.rd_en || bus.wr_en) && page == 0);
  assign bus.ld_rvalid = ld_rvalid != 0 || nobody_ld_q;

  always_ff @(posedge clk) nobody_ld_q <= bus.ld_rd && (Accel >> bus.ld_addr[23:20]) % 2 == 0 && !rst;

  // --- Packet memory ------------------------------------------------------------------------------------------------

  assign pm_first = pm_en & -pm_en;
  assign pm_room  = !bus.pm_en || bus.pm_ready;

  always_ff @(posedge clk) begin
    if (pm_room) begin
      bus.pm_en  <= pm_en != 0;
      bus.pm_row <= '0;
      for (int unsigned k = 0; k < Kinds; k++) if (pm_first[k]) bus.pm_row <= pm_row[k];
      asks_q <= pm_first;
    end
    owner_q[0] <= asks_q;
    owner_q[1] <= owner_q[0];
    if (rst) bus.pm_en <= 1'b0;
  end
endmodule

`default_nettype wire
