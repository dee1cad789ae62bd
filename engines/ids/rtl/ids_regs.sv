// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The registers of a block (engines/ids/regs/ids.rdl). An access takes three cycles; a write to a bitmap waits until
// the memory is free, 20 cycles at most. An address without a register answers with `err`, and so does a write to one
// that can only be read and a write of an entry while frames are searched in the bank that is not in use.
module ids_regs
  import penstock_pkg::*, ids_pkg::*, ids_regs_pkg::*;
#(
    parameter int unsigned Ports       = 2,
    parameter int unsigned EntriesLog2 = 11,
    parameter int unsigned SetsLog2    = 8,
    parameter int unsigned RowsLog2    = 12,
    parameter int unsigned Filters     = 1
) (
    input wire logic clk,
    input wire logic rst,

    cfg_if.snk cfg,  // 24 address bits

    output logic        ips,
    output logic        late_drops,
    output logic        follow,
    output logic        bank,
    output logic        enable,
    output logic [ 6:0] tell,
    output tunnel_t [Tunnels-1:0] tunnels,
    output logic [31:0] timeout,
    output logic [15:0] age,
    input  wire logic   other_bank_busy,
    output logic        clear_flows,
    input  wire logic   flows_ready,

    output logic                       map_write,
    output logic        [ 2:0]         map_select,
    output logic        [15:0]         map_index,
    output logic        [ 1:0]         map_value,
    input  wire logic   [Filters-1:0]  map_done,

    output logic                   entry_write,
    output logic [       Ways-1:0] entry_way,
    output logic [EntriesLog2-1:0] entry_index,
    output entry_t                 entry,

    input  wire logic        record_valid,
    input  wire logic [30:0] record,
    output logic             record_pop,

    output logic [Ports-1:0] verdict,
    output logic [15:0]      verdict_ticket,
    output logic             verdict_drop,
    output logic             mark_valid,
    input  wire logic        mark_ready,
    output mark_t            mark,

    output logic [   Ports-1:0] log_read,
    output logic [RowsLog2-1:0] log_row,
    input wire logic [DataW-1:0] log_data[Ports],
    input wire row_t             log_head[Ports],

    input wire logic             taken,
    input wire logic             evicted,
    input wire logic             fetched,
    input wire logic [      4:0] memory_errors,
    input wire logic [Ports-1:0] lost,
    input wire logic [Ports-1:0] late,
    input wire logic [Ports-1:0] decided,
    input wire logic [Ports-1:0] told,
    input wire logic [Ports-1:0] found,
    input wire logic [Ports-1:0] unchecked,
    input wire logic [Ports-1:0] searched
);
  // ---- counters: six of the block, five of each port
  localparam int unsigned Alone = 6;
  localparam int unsigned OfPort = 5;
  localparam int unsigned Counters = Alone + OfPort * Ports;
  localparam int unsigned IndexW = $clog2(Counters);
  logic [15:0] step[Counters];
  logic [63:0] count;
  always_comb begin
    step = '{default: '0};
    step[0] = 16'($countones(lost));
    step[1] = 16'(evicted);
    step[2] = 16'(taken);
    step[3] = 16'($countones(late));
    step[4] = 16'(fetched);
    step[5] = 16'(memory_errors);
    for (int unsigned p = 0; p < Ports; p++) begin
      step[Alone+OfPort*p] = 16'(decided[p]);
      step[Alone+OfPort*p+1] = 16'(told[p]);
      step[Alone+OfPort*p+2] = 16'(found[p]);
      step[Alone+OfPort*p+3] = 16'(unchecked[p]);
      step[Alone+OfPort*p+4] = 16'(searched[p]);
    end
  end

  // ---- clear
  logic clear_maps_q, clear_bank_q;
  logic [15:0] clear_map_q;
  logic [EntriesLog2-1:0] clear_entry_q;

  // ---- access: 1 decode, 2 wait for what takes time, 3 answer
  typedef enum logic [2:0] {
    Idle,
    Map,
    Free,
    Log,
    Count,
    Select,
    Answer
  } state_e;
  state_e state_q;

  logic [4:0] control_q;
  logic [31:0] key_l_q, key_h_q, data_q;
  logic [17:0] place_q;
  logic [1:0] port_q;
  logic [3:0] word_q;
  logic err_q, write_entry_q, counts_q;
  logic [31:0] count_high_q;
  logic [Filters-1:0] done_q;
  id_t id_q;
  logic [3:0] length_q;
  logic [15:0] index_q;
  logic [1:0] map_q, value_q;

  assign ips = control_q[0];
  assign late_drops = control_q[1];
  assign follow = control_q[2];
  assign bank = control_q[3];
  assign enable = control_q[4];

  wire [31:0] addr = 32'(cfg.addr);
  wire [1:0] addr_port = addr[3:2];
  wire start = state_q == Idle && cfg.req && !cfg.ack;
  wire in_log = addr[23];
  wire port_there = 32'(addr_port) < Ports;

  // The counter at an address, if one is read there.
  logic counts;
  logic [IndexW-1:0] counter;
  always_comb begin
    counts = !cfg.we;
    case (addr)
      IDS_BLOCK_LOST_RECORDS: counter = IndexW'(0);
      IDS_BLOCK_EVICTED: counter = IndexW'(1);
      IDS_BLOCK_FLOWS: counter = IndexW'(2);
      IDS_BLOCK_LATE: counter = IndexW'(3);
      IDS_BLOCK_FETCHED: counter = IndexW'(4);
      IDS_BLOCK_MEMORY_ERRORS: counter = IndexW'(5);
      default: begin
        counts  = !cfg.we && port_there;
        counter = IndexW'(Alone + OfPort * 32'(addr_port));
        case ({addr[31:4], 4'b0})
          IDS_BLOCK_FRAMES: ;
          IDS_BLOCK_TOLD: counter += IndexW'(1);
          IDS_BLOCK_STRINGS: counter += IndexW'(2);
          IDS_BLOCK_UNCHECKED: counter += IndexW'(3);
          IDS_BLOCK_SEARCHED: counter += IndexW'(4);
          default: begin
            counts  = 1'b0;
            counter = '0;
          end
        endcase
      end
    endcase
  end
  wide_counters #(
      .Counters(Counters),
      .StepW(5)
  ) i_counters (
      .clk,
      .rst,
      .step(step),
      .read(start && counts),
      .index(counter),
      .value(count)
  );

  // Bitmaps and flow lines are cleared while no frame is searched, a bank while no frame is searched in it.
  wire can_clear = cfg.we && !clear_maps_q && !clear_bank_q && !((cfg.wdata[0] || cfg.wdata[2]) && enable) &&
      !(cfg.wdata[1] && other_bank_busy);

  // A bitmap is written in all filters; a clear walks through all entries.
  assign map_write = (state_q == Map || clear_maps_q) && done_q != '1;
  assign map_select = clear_maps_q ? 3'b111 : 3'b001 << map_q;
  assign map_index = clear_maps_q ? clear_map_q : index_q;
  assign map_value = clear_maps_q ? 2'b0 : value_q;
  wire map_all_done = (map_done | done_q) == '1;

  assign entry_write = write_entry_q || clear_bank_q;
  assign entry_way = clear_bank_q ? '1 : Ways'(1) << place_q[17:16];
  assign entry_index = clear_bank_q ? clear_entry_q : EntriesLog2'(place_q);
  assign entry = clear_bank_q ? '0 : '{id: id_q, length: length_q, a: key_l_q, b: key_h_q};

  assign cfg.ack = state_q == Answer;
  assign cfg.err = err_q;
  assign cfg.rdata = data_q;

  always_ff @(posedge clk) begin
    record_pop <= 1'b0;
    verdict <= '0;
    write_entry_q <= 1'b0;
    clear_flows <= 1'b0;
    log_read <= '0;
    done_q <= map_write && !map_all_done ? done_q | map_done : '0;

    if (clear_maps_q && map_all_done) begin
      clear_map_q <= clear_map_q + 1'b1;
      if (clear_map_q == '1) clear_maps_q <= 1'b0;
    end
    if (clear_bank_q) begin
      clear_entry_q <= clear_entry_q + 1'b1;
      if (clear_entry_q == '1) clear_bank_q <= 1'b0;
    end

    case (state_q)
      Idle:
      if (start) begin
        state_q <= Select;
        err_q   <= cfg.we;
        data_q  <= '0;
        port_q  <= addr[22:21];
        word_q  <= addr[5:2];
        counts_q <= counts;
        if (counts) begin
          state_q <= Count;
        end else if (in_log) begin
          err_q <= cfg.we || 32'(addr[22:21]) >= Ports || (addr[20:6] >> RowsLog2) != '0;
          log_row <= RowsLog2'(addr[20:6]);
          for (int unsigned p = 0; p < Ports; p++) log_read[p] <= 32'(addr[22:21]) == p;
          state_q <= Log;
        end else begin
          case (addr)
            IDS_BLOCK_SHAPE: data_q <= {3'b0, 5'(RowsLog2), 3'b0, 5'(SetsLog2), 3'b0, 5'(EntriesLog2), 4'b0, 4'(Ports)};
            IDS_BLOCK_CONTROL: begin
              data_q <= 32'(control_q);
              err_q  <= 1'b0;
              if (cfg.we) control_q <= cfg.wdata[4:0];
            end
            IDS_BLOCK_STATUS: data_q <=
                32'({other_bank_busy, clear_maps_q || clear_bank_q || clear_flows || !flows_ready});
            IDS_BLOCK_TELL: begin
              data_q <= 32'(tell);
              err_q  <= 1'b0;
              if (cfg.we) tell <= cfg.wdata[6:0];
            end
            IDS_BLOCK_TIMEOUT: begin
              data_q <= timeout;
              err_q  <= 1'b0;
              if (cfg.we) timeout <= cfg.wdata;
            end
            IDS_BLOCK_AGE: begin
              data_q <= 32'(age);
              err_q  <= 1'b0;
              if (cfg.we) age <= cfg.wdata[15:0];
            end
            IDS_BLOCK_CLEAR: begin
              err_q <= !can_clear;
              if (can_clear) {clear_flows, clear_bank_q, clear_maps_q} <= cfg.wdata[2:0];
            end
            IDS_BLOCK_BITMAP: begin
              err_q   <= !cfg.we || clear_maps_q || cfg.wdata[17:16] == 2'd3;
              index_q <= cfg.wdata[15:0];
              map_q   <= cfg.wdata[17:16];
              value_q <= cfg.wdata[21:20];
              if (cfg.we && !clear_maps_q && cfg.wdata[17:16] != 2'd3) state_q <= Map;
            end
            IDS_BLOCK_KEY_L: begin
              data_q <= key_l_q;
              err_q  <= 1'b0;
              if (cfg.we) key_l_q <= cfg.wdata;
            end
            IDS_BLOCK_KEY_H: begin
              data_q <= key_h_q;
              err_q  <= 1'b0;
              if (cfg.we) key_h_q <= cfg.wdata;
            end
            IDS_BLOCK_ENTRY: begin
              id_q <= cfg.wdata[15:0];
              length_q <= cfg.wdata[19:16];
              err_q <= !cfg.we || clear_bank_q || other_bank_busy;
              write_entry_q <= cfg.we && !clear_bank_q && !other_bank_busy;
            end
            IDS_BLOCK_PLACE: begin
              data_q <= 32'(place_q);
              err_q  <= 1'b0;
              if (cfg.we) place_q <= cfg.wdata[17:0];
            end
            IDS_BLOCK_RECORD: begin
              data_q <= {record_valid, record_valid ? record : 31'b0};
              err_q <= 1'b0;
              record_pop <= cfg.we;
            end
            IDS_BLOCK_VERDICT: begin
              err_q <= !cfg.we || 32'(cfg.wdata[17:16]) >= Ports;
              verdict_ticket <= cfg.wdata[15:0];
              verdict_drop <= cfg.wdata[31];
              for (int unsigned p = 0; p < Ports; p++) verdict[p] <= cfg.we && 32'(cfg.wdata[17:16]) == p;
            end
            IDS_BLOCK_RELEASE, IDS_BLOCK_FOLLOW: begin
              err_q <= !cfg.we;
              mark.line.number <= {cfg.wdata[31:27], cfg.wdata[15:0]};
              mark.line.gen <= cfg.wdata[24:20];
              mark.direction <= cfg.wdata[16];
              mark.port <= cfg.wdata[26:25];
              mark.follow <= addr == IDS_BLOCK_FOLLOW;
              mark_valid <= cfg.we;
              if (cfg.we) state_q <= Free;
            end
            IDS_BLOCK_SEEN: begin
              data_q <= mark.place;
              err_q  <= 1'b0;
              if (cfg.we) mark.place <= cfg.wdata;
            end
            IDS_BLOCK_COUNT_H: data_q <= count_high_q;
            default: begin
              err_q <= 1'b1;
              if (addr[23:5] == IDS_BLOCK_TUNNEL[23:5]) begin
                data_q <= 32'(tunnels[addr[4:2]]);
                err_q  <= 1'b0;
                if (cfg.we) tunnels[addr[4:2]] <= cfg.wdata[17:0];
              end else
              if ({addr[31:4], 4'b0} == IDS_BLOCK_LOG_HEAD && port_there && !cfg.we) begin
                for (int unsigned p = 0; p < Ports; p++) if (32'(addr_port) == p) data_q <= log_head[p];
                err_q <= 1'b0;
              end
            end
          endcase
        end
      end
      Map: if (map_all_done) state_q <= Select;
      Free:
      if (mark_ready) begin
        mark_valid <= 1'b0;
        state_q <= Select;
      end
      Log, Count: state_q <= Select;
      Select: begin
        if (counts_q) {count_high_q, data_q} <= count;
        if (in_log)
          for (int unsigned p = 0; p < Ports; p++)
            if (32'(port_q) == p) data_q <= log_data[p][32*word_q+:32];
        state_q <= Answer;
      end
      default: state_q <= Idle;
    endcase

    if (rst) begin
      state_q <= Idle;
      control_q <= '0;
      tell <= '0;
      tunnels <= '0;
      timeout <= 32'd1_000_000;
      age <= 16'd1117;
      clear_maps_q <= 1'b0;
      clear_bank_q <= 1'b0;
      clear_flows <= 1'b0;
      clear_map_q <= '0;
      clear_entry_q <= '0;
      mark_valid <= 1'b0;
      write_entry_q <= 1'b0;
      verdict <= '0;
      record_pop <= 1'b0;
      done_q <= '0;
    end
  end
endmodule

`default_nettype wire
