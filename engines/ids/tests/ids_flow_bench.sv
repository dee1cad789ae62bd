// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// ids_flow with flat ports, in front of models of card memory. A flow is a number, and so is a direction's state.
module ids_flow_bench
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Ports       = 2,
    parameter int unsigned SetsLog2    = 4,
    parameter int unsigned BucketsLog2 = 4
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [15:0] now,
    input wire logic        clear,
    output logic            ready,

    input  wire logic [Ports-1:0]       lookup_valid,
    output logic      [Ports-1:0]       lookup_ready,
    input  wire logic [Ports-1:0][31:0] lookup_flow,
    input  wire logic [Ports-1:0][31:0] lookup_hash,
    input  wire logic [Ports-1:0]       lookup_direction,

    output logic      [Ports-1:0]       answer_valid,
    input  wire logic [Ports-1:0]       answer_pop,
    output logic      [Ports-1:0][20:0] answer_number,
    output logic      [Ports-1:0][ 4:0] answer_gen,
    output logic      [Ports-1:0][15:0] answer_place,
    output logic      [Ports-1:0]       answer_aged,
    output logic      [Ports-1:0]       answer_open,
    output logic      [Ports-1:0]       answer_followed,
    output logic      [Ports-1:0][31:0] answer_next,

    input  wire logic [Ports-1:0]       update_valid,
    output logic      [Ports-1:0]       update_ready,
    input  wire logic [Ports-1:0][15:0] update_place,
    input  wire logic [Ports-1:0]       update_direction,
    input  wire logic [Ports-1:0]       update_followed,
    input  wire logic [Ports-1:0][31:0] update_next,

    input  wire logic        mark_valid,
    output logic             mark_ready,
    input  wire logic [20:0] mark_number,
    input  wire logic [ 4:0] mark_gen,
    input  wire logic        mark_direction,
    input  wire logic        mark_follow,
    input  wire logic [ 1:0] mark_port,
    input  wire logic [31:0] mark_place,

    output logic taken,
    output logic evicted,
    output logic fetched,
    output logic [4:0] failed,

    // Bursts of a channel that fail: of writes, no byte reaches memory; of reads, which of the two beats have an error
    input wire logic [MemoryChannels-1:0]       fail_write,
    input wire logic [MemoryChannels-1:0][ 1:0] fail_read,
    output logic     [MemoryChannels-1:0]       writes,
    output logic     [MemoryChannels-1:0]       reads,
    output logic     [MemoryChannels-1:0][20:0] write_line,
    output logic     [MemoryChannels-1:0][20:0] read_line
);
  request_t lookup[Ports];
  answer_t answer[Ports];
  update_t update[Ports];
  mark_t mark[Ports+1];
  logic [Ports:0] marks_valid, marks_ready;
  axi_if mem[MemoryChannels] ();
  axi_if behind[MemoryChannels] ();

  function automatic direction_t state_of(logic followed, logic [31:0] next);
    direction_t state;
    state = '0;
    state.open = 1'b1;
    state.followed = followed;
    state.next = next;
    state.prior = {next[23:0], next};
    state.logged = 1'b1;
    state.chain_port = next[1:0];
    state.chain = ~next;
    return state;
  endfunction

  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      lookup[p] = '0;
      lookup[p].hash = lookup_hash[p];
      lookup[p].direction = lookup_direction[p];
      lookup[p].key.addresses[1] = {lookup_flow[p], ~lookup_flow[p], 64'b0};
      lookup[p].key.ports[0] = lookup_flow[p][15:0];
      answer_number[p] = answer[p].line.number;
      answer_gen[p] = answer[p].line.gen;
      answer_place[p] = answer[p].place;
      answer_aged[p] = answer[p].aged;
      answer_open[p] = answer[p].state.open;
      answer_followed[p] = answer[p].state.followed;
      answer_next[p] = answer[p].state.next;
      update[p] = '{
          place: update_place[p],
          direction: update_direction[p],
          state: state_of(update_followed[p], update_next[p])
      };
    end
    for (int unsigned m = 0; m <= Ports; m++)
      mark[m] = '{
          line: '{number: mark_number, gen: mark_gen},
          direction: mark_direction,
          follow: mark_follow,
          port: mark_port,
          place: mark_place
      };
    marks_valid = '0;
    marks_valid[Ports] = mark_valid;
    mark_ready = marks_ready[Ports];
  end

  ids_flow #(
      .Ports(Ports),
      .SetsLog2(SetsLog2),
      .BucketsLog2(BucketsLog2)
  ) i_flow (
      .clk,
      .rst,
      .now,
      .age(16'd100),
      .clear,
      .ready,
      .lookup_valid,
      .lookup_ready,
      .lookup,
      .answer_valid,
      .answer_pop,
      .answer,
      .update_valid,
      .update_ready,
      .update,
      .mark_valid(marks_valid),
      .mark_ready(marks_ready),
      .mark,
      .mem(mem),
      .taken,
      .evicted,
      .fetched,
      .failed
  );

  for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_channel
    axi_memory #(
        .Bytes(64'd1 << 25)
    ) i_memory (
        .clk,
        .rst,
        .link(behind[c])
    );
    axi_check i_check (
        .clk,
        .rst,
        .link(mem[c])
    );

    // Bursts have one ID, so answers come in their order; the data of a write come before the next one's address.
    logic write_fails[$];
    logic [1:0] read_fails[$];
    logic failing_q, second_q;
    assign behind[c].awid = mem[c].awid;
    assign behind[c].awaddr = mem[c].awaddr;
    assign behind[c].awlen = mem[c].awlen;
    assign behind[c].awvalid = mem[c].awvalid;
    assign mem[c].awready = behind[c].awready;
    assign behind[c].wdata = mem[c].wdata;
    assign behind[c].wstrb = failing_q ? '0 : mem[c].wstrb;
    assign behind[c].wlast = mem[c].wlast;
    assign behind[c].wvalid = mem[c].wvalid;
    assign mem[c].wready = behind[c].wready;
    assign mem[c].bid = behind[c].bid;
    assign mem[c].bvalid = behind[c].bvalid;
    assign behind[c].bready = mem[c].bready;
    assign behind[c].arid = mem[c].arid;
    assign behind[c].araddr = mem[c].araddr;
    assign behind[c].arlen = mem[c].arlen;
    assign behind[c].arvalid = mem[c].arvalid;
    assign mem[c].arready = behind[c].arready;
    assign mem[c].rid = behind[c].rid;
    assign mem[c].rdata = behind[c].rdata;
    assign mem[c].rlast = behind[c].rlast;
    assign mem[c].rvalid = behind[c].rvalid;
    assign behind[c].rready = mem[c].rready;

    assign writes[c] = mem[c].awvalid && mem[c].awready;
    assign reads[c] = mem[c].arvalid && mem[c].arready;
    assign write_line[c] = {mem[c].awaddr[24:11], 3'(c), mem[c].awaddr[10:7]};
    assign read_line[c] = {mem[c].araddr[24:11], 3'(c), mem[c].araddr[10:7]};

    // The errors of the answer that comes next
    logic b_fails_q;
    logic [1:0] r_fails_q;
    assign mem[c].bresp = b_fails_q ? 2'b10 : 2'b00;
    assign mem[c].rresp = r_fails_q[second_q] ? 2'b10 : 2'b00;
    // verilog_lint: waive-start always-ff-non-blocking
    // verilator lint_off BLKSEQ
    always_ff @(posedge clk) begin
      if (writes[c]) begin
        write_fails.push_back(fail_write[c]);
        failing_q <= fail_write[c];
      end
      if (reads[c]) read_fails.push_back(fail_read[c]);
      if (mem[c].bvalid) void'(write_fails.pop_front());
      if (mem[c].rvalid && mem[c].rlast) void'(read_fails.pop_front());
      if (mem[c].rvalid) second_q <= !mem[c].rlast;
      b_fails_q <= write_fails.size() != 0 && write_fails[0];
      r_fails_q <= read_fails.size() != 0 ? read_fails[0] : '0;
      if (rst) begin
        write_fails.delete();
        read_fails.delete();
        second_q <= 1'b0;
      end
    end
    // verilator lint_on BLKSEQ
    // verilog_lint: waive-stop always-ff-non-blocking
  end

  always_ff @(posedge clk)
    if (!rst)
      for (int unsigned p = 0; p < Ports; p++)
        assert (!answer_valid[p] || !answer[p].state.open ||
                answer[p].state == state_of(answer[p].state.followed, answer[p].state.next))
          else $error("%m: a state with parts of another");
endmodule

`default_nettype wire
