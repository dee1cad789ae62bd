// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The registers of the card (shell/regs/card.rdl). An access takes four cycles; an address without a register answers
// with `err`, and so does a write to one that can only be read. Streams of ports that the card does not have read as 0.
module card_regs
  import penstock_pkg::*, shell_pkg::*, regs_pkg::*;
#(
    parameter int unsigned Ports        = 2,
    parameter int unsigned Units        = 16,
    parameter int unsigned IngressDepth = 4096,
    parameter int unsigned Sources      = Ports + 2
) (
    input wire logic clk,
    input wire logic rst,
    cfg_if.snk       cfg,  // 12 address bits

    output time_t now,  // cycles since reset, modulo 2^32

    output logic [MaxUnits-1:0] unit_write_mask,
    output unit_t               unit_read,
    output logic [MaxPorts-1:0] port_enable,
    output policy_e             policy,
    output logic [MaxUnits-1:0] unit_enable,
    output logic [MaxUnits-1:0] unit_ingress,
    output logic [MaxUnits-1:0] unit_flush,       // for one cycle
    output cycles_t             exit_timeout,
    output cycles_t             unit_timeout,
    output logic                reta_we,
    output logic          [6:0] reta_addr,
    output unit_t               reta_wdata,
    input wire unit_t           reta_rdata,
    output unit_t               show_unit,
    input wire slot_t           show_free,
    input wire slot_t           show_total,
    input wire len_t            show_size,
    input wire logic [MaxUnits-1:0] units_idle,
    output logic                    range_we,     // for one cycle: the unit gets this range of host memory
    output unit_t                   range_unit,
    output host_range_t             range_data,
    input wire host_range_t         range_shown,  // of the unit `range_unit`

    input wire rx_event_t       rx_events[Sources],
    input wire dispatch_event_t dispatch_events[Sources],
    input wire tx_event_t       tx_events[Sources],
    input wire logic [3:0]      inline_oversize[MaxPorts],
    input wire host_event_t     host_events
);
  localparam logic [31:0] Magic = 32'h50454E53;
  localparam logic [31:0] Version = 32'h00010000;
  localparam int unsigned Streams = CARD_STREAM_COUNT;

  // Access: address and data are stable until ack. 1: read stages, 2: select, 3: answer
  logic [2:0] step_q;
  logic start, write;
  logic [31:0] addr;
  assign start = cfg.req && step_q == 0 && !cfg.ack;
  assign write = start && cfg.we;
  assign addr  = 32'(cfg.addr[11:0]);
  always_ff @(posedge clk) begin
    step_q <= {step_q[1:0], start};
    if (rst) step_q <= '0;
  end

  // Cycles since reset
  logic [63:0] cycles_q;
  logic [31:0] cycles_high_q;
  always_ff @(posedge clk) begin
    cycles_q <= cycles_q + 64'd1;
    if (rst) cycles_q <= '0;
  end
  assign now = cycles_q[31:0];

  // Host memory: the counters by their registers' offsets from MEMORY_DENIED
  localparam int unsigned HostCounters = 6;
  localparam int unsigned HostBase = CARD_MEMORY_DENIED;
  localparam int unsigned ReadBytes = (CARD_HOST_READ_BYTES - HostBase) / 4;
  localparam int unsigned WriteBytes = (CARD_HOST_WRITE_BYTES - HostBase) / 4;
  logic [15:0] host_step[HostCounters];
  logic [63:0] host_count;
  logic read_host;
  always_comb begin
    host_step = '{default: '0};
    host_step[0] = 16'(host_events.denied);
    host_step[(CARD_HOST_READS-HostBase)/4] = 16'(host_events.read);
    host_step[ReadBytes] = host_events.read ? host_events.bytes : '0;
    host_step[(CARD_HOST_WRITES-HostBase)/4] = 16'(host_events.write);
    host_step[WriteBytes] = host_events.write ? host_events.bytes : '0;
    host_step[(CARD_HOST_ERRORS-HostBase)/4] = 16'((host_events.read || host_events.write) && host_events.error);
  end
  assign read_host = start && !cfg.we && addr >= HostBase && addr < HostBase + 4 * HostCounters;
  wide_counters #(
      .Counters(HostCounters),
      .Bytes(HostCounters'(1) << ReadBytes | HostCounters'(1) << WriteBytes)
  ) i_host_counters (
      .clk,
      .rst,
      .step(host_step),
      .read(read_host),
      .index(3'((addr - HostBase) >> 2)),
      .value(host_count)
  );

  // Writes
  logic in_reta, in_streams, writable_q;
  assign in_reta = addr >= CARD_RETA && addr < CARD_RETA + 4 * CARD_RETA_COUNT;
  assign in_streams = addr >= CARD_STREAM_BASE && addr < CARD_STREAM_BASE + CARD_STREAM_STRIDE * Streams;
  assign reta_we = write && in_reta;
  assign reta_addr = cfg.addr[8:2];
  assign reta_wdata = cfg.wdata[4:0];
  always_ff @(posedge clk) begin
    unit_flush <= '0;
    range_we   <= 1'b0;
    if (start) writable_q <= in_reta;
    if (write)
      case (addr)
        CARD_UNIT_WRITE_MASK: begin
          unit_write_mask <= cfg.wdata;
          writable_q <= 1'b1;
        end
        CARD_UNIT_READ: begin
          unit_read <= cfg.wdata[4:0];
          writable_q <= 1'b1;
        end
        CARD_PORT_ENABLE: begin
          port_enable <= cfg.wdata[MaxPorts-1:0];
          writable_q <= 1'b1;
        end
        CARD_POLICY: begin
          policy <= policy_e'(cfg.wdata[1:0]);
          writable_q <= 1'b1;
        end
        CARD_UNIT_ENABLE: begin
          unit_enable <= cfg.wdata;
          writable_q <= 1'b1;
        end
        CARD_UNIT_INGRESS: begin
          unit_ingress <= cfg.wdata;
          writable_q <= 1'b1;
        end
        CARD_UNIT_FLUSH: begin
          unit_flush <= cfg.wdata;
          writable_q <= 1'b1;
        end
        CARD_EXIT_TIMEOUT: begin
          exit_timeout <= cfg.wdata[23:0];
          writable_q <= 1'b1;
        end
        CARD_UNIT_TIMEOUT: begin
          unit_timeout <= cfg.wdata[23:0];
          writable_q <= 1'b1;
        end
        CARD_SLOTS_UNIT: begin
          show_unit <= cfg.wdata[4:0];
          writable_q <= 1'b1;
        end
        CARD_MEMORY_UNIT: begin
          range_unit <= cfg.wdata[4:0];
          writable_q <= 1'b1;
        end
        CARD_MEMORY_BASE_L: begin
          range_data.base[31:0] <= cfg.wdata;
          writable_q <= 1'b1;
        end
        CARD_MEMORY_BASE_H: begin
          range_data.base[63:32] <= cfg.wdata;
          writable_q <= 1'b1;
        end
        CARD_MEMORY_LIMIT_L: begin
          range_data.limit[31:0] <= cfg.wdata;
          writable_q <= 1'b1;
        end
        CARD_MEMORY_LIMIT_H: begin
          range_data.limit[63:32] <= cfg.wdata;
          range_we <= 1'b1;
          writable_q <= 1'b1;
        end
        default: ;
      endcase
    if (rst) begin
      unit_write_mask <= '0;
      unit_read <= '0;
      port_enable <= '0;
      policy <= PolicyRoundRobin;
      unit_enable <= '0;
      unit_ingress <= '1;
      unit_flush <= '0;
      exit_timeout <= ExitTimeout;
      unit_timeout <= UnitTimeout;
      show_unit <= '0;
      range_unit <= '0;
      range_data <= NoRange;
      range_we <= 1'b0;
    end
  end

  // Reads
  logic [63:0] stream_count[Streams];
  logic [Streams-1:0] stream_known;
  logic [2:0] stream_d, stream_q;
  assign stream_d = 3'((addr - CARD_STREAM_BASE) >> $clog2(CARD_STREAM_STRIDE));
  for (genvar i = 0; i < Streams; i++) begin : gen_stream
    // Streams 0..3 are the ports, 4 the host, 5 the loopback: the last two sources
    localparam int unsigned Source = i < MaxPorts ? i : Ports + i - MaxPorts;
    if (i < MaxPorts && i >= Ports) begin : gen_absent
      assign stream_count[i] = '0;
      assign stream_known[i] = cfg.addr[5:0] <= CARD_STREAM_DROP_UNSENT[5:0];
    end else begin : gen_here
      stream_counters i_counters (
          .clk,
          .rst,
          .rx(rx_events[Source]),
          .dispatch(dispatch_events[Source]),
          .tx(tx_events[Source]),
          .inline_oversize(i < MaxPorts ? inline_oversize[i%MaxPorts] : 4'd0),
          .read(start && !cfg.we && in_streams && stream_d == 3'(i)),
          .offset(cfg.addr[5:0]),
          .count(stream_count[i]),
          .known(stream_known[i])
      );
    end
  end

  logic [31:0] single_q;
  logic single_known_q, reta_q, streams_q, host_q;
  logic [31:0] count_high_q;
  wire [63:0] count = streams_q ? stream_count[stream_q] : host_count;
  always_ff @(posedge clk) begin
    if (start) begin
      streams_q <= in_streams;
      stream_q <= stream_d;
      host_q <= read_host;
      reta_q <= in_reta;
      single_known_q <= 1'b1;
      case (addr)
        CARD_MAGIC: single_q <= Magic;
        CARD_VERSION: single_q <= Version;
        CARD_PORTS: single_q <= Ports;
        CARD_UNITS: single_q <= Units;
        CARD_MAX_FRAME: single_q <= MaxFrame;
        CARD_INGRESS_BYTES: single_q <= IngressDepth * PortBytes;
        CARD_CYCLES_L: begin
          single_q <= cycles_q[31:0];
          if (!cfg.we) cycles_high_q <= cycles_q[63:32];
        end
        CARD_CYCLES_H: single_q <= cycles_high_q;
        CARD_UNIT_WRITE_MASK: single_q <= unit_write_mask;
        CARD_UNIT_READ: single_q <= 32'(unit_read);
        CARD_PORT_ENABLE: single_q <= 32'(port_enable);
        CARD_POLICY: single_q <= 32'(policy);
        CARD_UNIT_ENABLE: single_q <= unit_enable;
        CARD_UNIT_INGRESS: single_q <= unit_ingress;
        CARD_EXIT_TIMEOUT: single_q <= 32'(exit_timeout);
        CARD_UNIT_TIMEOUT: single_q <= 32'(unit_timeout);
        CARD_SLOTS_UNIT: single_q <= 32'(show_unit);
        CARD_SLOTS_FREE: single_q <= 32'(show_free);
        CARD_SLOTS_TOTAL: single_q <= 32'(show_total);
        CARD_SLOTS_SIZE: single_q <= 32'(show_size);
        CARD_UNITS_IDLE: single_q <= units_idle;
        CARD_COUNT_H: single_q <= count_high_q;
        CARD_MEMORY_UNIT: single_q <= 32'(range_unit);
        CARD_MEMORY_BASE_L: single_q <= range_shown.base[31:0];
        CARD_MEMORY_BASE_H: single_q <= range_shown.base[63:32];
        CARD_MEMORY_LIMIT_L: single_q <= range_shown.limit[31:0];
        CARD_MEMORY_LIMIT_H: single_q <= range_shown.limit[63:32];
        default: begin
          single_q <= '0;
          single_known_q <= read_host;
        end
      endcase
    end
    if (step_q[1]) begin
      cfg.rdata <= streams_q || host_q ? count[31:0] : reta_q ? 32'(reta_rdata) : single_q;
      if (!cfg.we && (streams_q || host_q)) count_high_q <= count[63:32];
      cfg.err <= cfg.we ? !writable_q : !(streams_q ? stream_known[stream_q] : reta_q || single_known_q);
    end
    cfg.ack <= step_q[1] && !rst;
  end
endmodule

`default_nettype wire
