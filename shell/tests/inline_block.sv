// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An inline block for the tests of the shell: block n obeys byte 6 + 2n of a frame, with byte 7 + 2n as value.
//   0 nothing; 1 to port `value`; 2 to the host's queue `value`; 3 to unit `value`; 4 to the key `value`; 5 drop, for reason `value`;
//   6 the mark becomes `value`; 7 the value becomes the mark's low byte; 8 the frame is absorbed; 9 a frame of one beat has a copy made behind it;
//   A bytes 48 to 55 become the card's time; B the value becomes the frame's tenant; C a record goes to the host, if there
//   is room, with the value as reason and bytes 0 to 39 of the frame
//
// Configuration, byte addresses: 0 it takes beats in so many of 256 cycles; 4 Param, low word; 8 Param, high word; C
// Number; 10 write: the address of the block's memory, in beats; 14 write: the word is written there, 16 times; 18
// write: the beat there is read; 1C read: its first word; 20 read: the last answer, bits 1:0, and how many have come;
// 24 write: it takes so many records from the host; 28 read: the mark of the last one it has taken; 2C write: the channel
// of memory that 14 and 18 use. Others: error.
module inline_block
  import penstock_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Number = 0,
    parameter int          Engine = 0,
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

    cfg_if.snk cfg,
    axi_if.mgr mem[MemoryChannels],

    record_if.src to_host,
    record_if.snk from_host
);
  typedef struct packed {
    frame_meta_t      meta;
    verdict_t         verdict;
    tail_t            tail;
    logic             last;
    logic [DataW-1:0] data;
  } beat_all_t;

  logic [8:0] share_q;
  logic [7:0] dice_q;
  logic [Ports-1:0] busy_of;
  wire open = 9'(dice_q) < share_q;
  assign busy = busy_of != '0;
  assign crowded = '0;

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    logic first_q, takes, ends, ends_q, copies, copies_q, push, room;
    logic [7:0] op, value;
    beat_all_t in, copy_q, head;
    logic [7:0] inside_q;

    assign op = frames[p].data[8*(6+2*Number)+:8];
    assign value = frames[p].data[8*(7+2*Number)+:8];
    assign takes = frames[p].valid && frames[p].ready;
    assign copies = takes && first_q && frames[p].last && op == 8'h9;
    assign frames[p].ready = room && open && !copies_q;

    always_comb begin
      in = '{meta: frames[p].meta, verdict: verdicts[p], tail: tails[p], last: frames[p].last, data: frames[p].data};
      ends = first_q ? 1'b0 : ends_q;
      if (first_q)
        case (op)
          8'h1: begin
            in.verdict.kind   = VerdictPort;
            in.verdict.target = value;
          end
          8'h2: begin
            in.verdict.kind   = VerdictHost;
            in.verdict.target = value;
          end
          8'h3: begin
            in.verdict.kind   = VerdictUnit;
            in.verdict.target = value;
          end
          8'h4: begin
            in.verdict.kind = VerdictDispatch;
            in.verdict.word = {24'hABCDEF, value};
          end
          8'h5, 8'h8: ends = 1'b1;
          8'h6: in.meta.mark = 32'(value);
          8'h7: in.data[8*(7+2*Number)+:8] = frames[p].meta.mark[7:0];
          8'hA: in.data[8*48+:64] = now;
          8'hB: in.data[8*(7+2*Number)+:8] = 8'(frames[p].meta.tenant);
          default: ;
        endcase
    end

    assign push = (takes && !ends) || copies_q;

    always_ff @(posedge clk) begin
      events[p] <= '0;
      events[p].made <= copies_q && !rst;
      events[p].absorbed <= takes && first_q && op == 8'h8 && !rst;
      events[p].dropped <= takes && first_q && op == 8'h5 && !rst;
      events[p].reason <= reason_e'(value[1:0]);
      copies_q <= copies;
      if (takes) begin
        first_q <= frames[p].last;
        ends_q  <= ends;
      end
      copy_q <= in;
      copy_q.meta.src <= PortBlock + port_t'(Number);
      inside_q <=
          inside_q + 8'(takes && first_q && !ends) + 8'(copies) - 8'(out[p].valid && out[p].ready && out[p].last);
      if (rst) begin
        first_q  <= 1'b1;
        copies_q <= 1'b0;
        inside_q <= '0;
      end
    end
    assign busy_of[p] = inside_q != '0 || !first_q;

    fifo_dist #(
        .Width($bits(beat_all_t)),
        .Room (4)
    ) i_queue (
        .clk,
        .rst,
        .push,
        .din  (copies_q ? copy_q : in),
        .ready(room),
        .valid(out[p].valid),
        .pop  (out[p].ready),
        .dout (head),
        .level()
    );
    assign out[p].data = head.data;
    assign out[p].last = head.last;
    assign out[p].meta = head.meta;
    assign out_tails[p] = head.tail;
    assign out_verdicts[p] = head.verdict;
  end

  // Records: of two ports in one cycle one has room.
  logic [Ports-1:0] records;
  record_t record[Ports];
  for (genvar p = 0; p < Ports; p++) begin : gen_records
    assign records[p] = gen_port[p].takes && gen_port[p].first_q && gen_port[p].op == 8'hC;
    assign record[p] = '{
            own: frames[p].data[319:0],
            hash: frames[p].meta.hash,
            mark: frames[p].meta.mark,
            at: now,
            unused: '0,
            queue_id: frames[p].meta.len,
            port: port_t'(p),
            tenant: 8'(frames[p].meta.tenant),
            reason: gen_port[p].value,
            block: 8'hFF
        };
  end
  logic record_valid_q;
  record_t record_q;
  assign to_host.valid = record_valid_q;
  assign to_host.data = record_q;
  logic [31:0] takes_q, mark_q;
  assign from_host.ready = takes_q != '0;
  always_ff @(posedge clk) begin
    if (to_host.ready) record_valid_q <= 1'b0;
    for (int p = 0; p < Ports; p++)
      if (records[p] && (!record_valid_q || to_host.ready)) begin
        record_valid_q <= 1'b1;
        record_q <= record[p];
      end
    if (rst) record_valid_q <= 1'b0;
  end

  // Memory: a write or a read at a time, in one of the channels
  logic [31:0] at_q, read_q, word_q;
  logic [29:0] answers_q;
  logic [1:0] resp_q;
  logic [$clog2(MemoryChannels)-1:0] channel_q;
  logic writes_q, reads_q;  // begin in this cycle
  logic [MemoryChannels-1:0] answered, read;
  logic [MemoryChannels-1:0][1:0] resps;
  logic [MemoryChannels-1:0][31:0] words;

  for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_channel
    logic chosen;
    assign chosen = channel_q == $bits(channel_q)'(c);
    assign mem[c].awid = 6'(Number);
    assign mem[c].arid = 6'(40 + Number);
    assign mem[c].awaddr = 40'(at_q) << 6;
    assign mem[c].araddr = 40'(at_q) << 6;
    assign mem[c].awlen = '0;
    assign mem[c].arlen = '0;
    assign mem[c].wdata = {16{word_q}};
    assign mem[c].wstrb = '1;
    assign mem[c].wlast = 1'b1;
    assign mem[c].rready = 1'b1;
    assign mem[c].bready = 1'b1;
    assign answered[c] = mem[c].rvalid || mem[c].bvalid;
    assign read[c] = mem[c].rvalid;
    assign resps[c] = mem[c].rvalid ? mem[c].rresp : mem[c].bresp;
    assign words[c] = mem[c].rdata[31:0];
    always_ff @(posedge clk) begin
      if (mem[c].awready) mem[c].awvalid <= 1'b0;
      if (mem[c].wready) mem[c].wvalid <= 1'b0;
      if (mem[c].arready) mem[c].arvalid <= 1'b0;
      if (writes_q && chosen) {mem[c].awvalid, mem[c].wvalid} <= '1;
      if (reads_q && chosen) mem[c].arvalid <= 1'b1;
      if (rst) {mem[c].awvalid, mem[c].wvalid, mem[c].arvalid} <= '0;
    end
  end

  always_ff @(posedge clk) begin
    writes_q <= 1'b0;
    reads_q  <= 1'b0;
    // An answer of another channel than the chosen one counts too.
    for (int c = 0; c < int'(MemoryChannels); c++)
      if (answered[c]) begin
        resp_q <= resps[c];
        answers_q <= answers_q + 1'b1;
        if (read[c]) read_q <= words[c];
      end
    if (from_host.valid && from_host.ready) begin
      takes_q <= takes_q - 1'b1;
      mark_q  <= from_host.data.mark;
    end
    dice_q <= {dice_q[6:0], dice_q[7] ^ dice_q[5] ^ dice_q[4] ^ dice_q[3]};
    cfg.ack <= cfg.req && !cfg.ack;
    cfg.err <= 1'b0;
    cfg.rdata <= '0;
    if (cfg.req && !cfg.ack)
      case (cfg.addr)
        24'h0: if (cfg.we) share_q <= cfg.wdata[8:0]; else cfg.rdata <= 32'(share_q);
        24'h4: cfg.rdata <= Param[31:0];
        24'h8: cfg.rdata <= Param[63:32];
        24'hC: cfg.rdata <= Number;
        24'h10: at_q <= cfg.wdata;
        24'h14: begin
          word_q   <= cfg.wdata;
          writes_q <= 1'b1;
        end
        24'h18: reads_q <= 1'b1;
        24'h1C: cfg.rdata <= read_q;
        24'h20: cfg.rdata <= {answers_q, resp_q};
        24'h24: takes_q <= cfg.wdata;
        24'h28: cfg.rdata <= mark_q;
        24'h2C: channel_q <= $bits(channel_q)'(cfg.wdata);
        default: cfg.err <= 1'b1;
      endcase
    if (rst) begin
      dice_q  <= 8'(1 + Number);
      share_q <= 9'd256;
      answers_q <= '0;
      channel_q <= '0;
      takes_q <= '0;
      cfg.ack <= 1'b0;
    end
  end
endmodule

`default_nettype wire
