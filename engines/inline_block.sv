// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An inline block of the card: selects the engine by its number (engines/engines.toml).
//
// The contract of a block:
//
// - Streams. For each port a stream in and one out (lib/rtl/frame_if.sv), frames folded as at the port, with the tail
//   beside each beat and the verdict beside the first one. The whole frame passes; a block that decides by a frame's
//   end stores the frame. A frame leaves on its port's stream.
// - Verdict (verdict_t in lib/rtl/penstock_pkg.sv). A block that decides nothing leaves the verdict that came. A
//   block that drops a frame sends nothing of it and reports `dropped` with the reason; no frame leaves with
//   VerdictDrop. No frame leaves that is longer than MaxFrame: the block drops it.
// - Metadata. A block may set `mark`, and `len` when it changes the frame's length. All else leaves as it came.
// - Made frames have the source PortBlock + Number, and the tenant and hash of the frame that caused them; their
//   timestamp is the cycle in which they begin to leave. The block reports `made` for each, and `absorbed` for each
//   frame that it takes and neither sends nor drops.
// - Order. Frames of equal (source, hash) leave in the order in which they came (lib/rtl/order_check.sv).
// - Back-pressure. A block may hold its input. A port that is held at its output holds no other port.
// - `busy` is up while a frame is in the block, at the latest from the cycle after its first beat was taken, and
//   until the block has reported everything. While it is down, frames in + made = frames out + dropped + absorbed
//   (lib/rtl/block_check.sv).
// - `crowded`: the block has no room for a frame that it makes for this port, and frames for another destination may
//   hold the port up. While it is up, the dispatcher drops the port's frames for units that are slow and full
//   (dispatcher.sv).
// - `cfg`: a window of 16 MiB. A block answers every access in bounded time; an address without a register answers
//   with `err`.
// - `mem`: an engine with `memory = true` in engines/engines.toml has these ports to its own ranges of the card's memory,
//   32 MiB from address 0 on in each of MemoryChannels channels (lib/rtl/axi_if.sv; IDs of 6 bits, addresses of 40). No
//   other block reaches the ranges. A burst beyond gets SLVERR and is counted. The memory is DRAM: unwritten bytes are
//   undefined, an answer takes 150 ns or more, and all blocks of the card together have 50 million random accesses a
//   second in each channel. A block has room for the answers that it asks for, and goes on with other frames while it
//   waits.
// - Records: an engine with `records = true` has the ports `to_host` and `from_host`, records of 64 bytes between the
//   block and its host driver (record_t in lib/rtl/penstock_pkg.sv). 512 wait for the host, which takes about 100
//   cycles for one; when they are full `to_host` is not ready, and the block decides whether it waits, or drops the
//   record and counts it. A record from the host waits until the block takes it.
// - `now`: the card's time in ns. It goes on by 4 in each cycle, unless the host holds or sets it.
module inline_block
  import penstock_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Number = 0,  // of the block, from the ports on
    parameter int          Engine = 2,
    // Only the engine interprets it. Flow: elements [7:0], log2 of the places of a table [15:8]
    parameter logic [63:0] Param  = '0
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [63:0] now,

    frame_if.snk         frames  [Ports],
    input wire tail_t    tails   [Ports],
    input wire verdict_t verdicts[Ports],

    frame_if.src     out         [Ports],
    output tail_t    out_tails   [Ports],
    output verdict_t out_verdicts[Ports],

    output block_event_t events[Ports],
    output logic [Ports-1:0] crowded,
    output logic         busy,

    cfg_if.snk cfg,  // 24 address bits
    axi_if.mgr mem[MemoryChannels],  // if `memory` is true for the engine

    record_if.src to_host,   // if `records` is true for the engine
    record_if.snk from_host
);
  // Written by tools/registry.py from engines/engines.toml.
  if (Engine == 2) begin : gen_flow
    flow_block #(
        .Ports(Ports),
        .Number(Number),
        .Param(Param)
    ) i_flow (
        .*
    );
    for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_no_memory
      axi_idle i_idle (.link(mem[c]));
    end
    record_idle i_no_records (.*);
  end
  if (Engine == 3) begin : gen_rmt
    rmt_block #(
        .Ports(Ports),
        .Number(Number),
        .Param(Param)
    ) i_rmt (
        .*
    );
    for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_no_memory
      axi_idle i_idle (.link(mem[c]));
    end
  end
  if (Engine == 4) begin : gen_ids
    ids_block #(
        .Ports(Ports),
        .Number(Number),
        .Param(Param)
    ) i_ids (
        .*
    );
    record_idle i_no_records (.*);
  end
  if (Engine == 5) begin : gen_l7
    l7_block #(
        .Ports(Ports),
        .Number(Number),
        .Param(Param)
    ) i_l7 (
        .*
    );
    record_idle i_no_records (.*);
  end
  if (Engine != 2 && Engine != 3 && Engine != 4 && Engine != 5) begin : gen_unknown
    $error("block: no engine of this kind has the number %0d: see engines/engines.toml", Engine);
  end
endmodule

`default_nettype wire
