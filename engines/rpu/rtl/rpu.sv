// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The packet unit: a RISC-V core with single-cycle memories, packet memory that it shares with accelerators, and the
// engines that move frames in and out. (Rosebud, section 4.1.)
//
//            ┌─> header copy ──> dmem <──┐                         ┌── imem
//   rx ─> rx_dma ─> pmem A <─ core_regs, data bus <──── core <─────┘
//                   pmem B <─ accelerators <─┘   └─> send ─> tx_dma ─> tx
//                                                     pmem A ─┘
//
// Beside them broadcast_port has a region of memory for the words of all units.
//
// Data bus, by region: data memory, broadcast region and registers answer in the first MEM cycle (RECV when a frame is
// there; a load right behind a store in the second, in data memory one of the same word), packet memory takes stores in
// the first and answers loads in the third, an accelerator when it is ready. With address bit 26 an access to data or
// packet memory finds the four bytes of each word in reverse order, a cycle later: a store is turned round in the first
// MEM cycle, a load in the one in which its word is there. Port A of packet memory serves the core first, then rx_dma,
// then tx_dma; port B the host, then the accelerators, which only read.
//
// The core never stalls frames for long: a store that would deny port A to a row for a second cycle in a row waits one
// cycle in MEM, and so does a store to data memory that would deny it to a header copy. Frames therefore have at least
// every other cycle of both memories, whatever the program does.
module rpu
  import penstock_pkg::*;
  import rpu_pkg::*;
#(
    parameter int unsigned Accel = 1,            // accelerators, a bit each: accel.sv
    parameter int unsigned PmemBytes = 1 << 20
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire unit_t unit_id,
    input wire card_t card,
    input wire logic  rx_valid,
    input wire beat_t rx,
    output logic      rx_room,
    frame_if.src      tx,
    loop_if.unit      loop,
    broadcast_if.unit bc,
    output slot_msg_t slots,
    cfg_if.snk        cfg
);
  localparam int unsigned RowW = $clog2(PmemBytes / BeatBytes);

  // A reset lasts until all frames of the old program have left: otherwise their slots would return to the next one.
  logic core_reset, tx_empty;
  logic core_rst_q;
  always_ff @(posedge clk) core_rst_q <= rst || core_reset || (core_rst_q && !tx_empty);

  logic [63:0] timer_q, ns;
  always_ff @(posedge clk) timer_q <= rst ? 64'd0 : timer_q + 64'd1;

  // ---- core and its data bus
  logic dbus_req, dbus_we, dbus_wait, dbus_retry, irq, irq_ready, irq_active;
  logic halt, halt_ebreak, halt_load, resume, step, pc_we, quiet, data_we;
  core_pkg::halted_e halted;
  logic [31:0] host_wdata;
  logic [15:2] imem_addr;
  logic [31:0] imem_rdata, dbus_addr, dbus_wdata, pc;
  logic [3:0][31:0] dbus_rdata;
  logic [3:0] dbus_be;

  rpu_core core (
      .clk,
      .rst(core_rst_q),
      .hart_id(unit_id),
      .imem_addr,
      .imem_rdata,
      .dbus_req,
      .dbus_we,
      .dbus_be,
      .dbus_addr,
      .dbus_wdata,
      .dbus_wait,
      .dbus_rdata,
      .dbus_retry,
      .irq,
      .irq_ready,
      .irq_active,
      .pc_o(pc),
      .halt,
      .halt_ebreak,
      .halt_load,
      .resume,
      .step,
      .pc_we,
      .pc_wdata(host_wdata[15:2]),
      .halted,
      .quiet
  );

  wire issue = dbus_req && !dbus_wait;

  // The request in MEM, by region.
  logic m_dmem_q, m_bc_q, m_regs_q, m_accel_q, m_pmem_q, m_wild_q, m_we_q;
  logic [15:2] m_pc_q;  // of its instruction
  logic m_read_q;    // it reads an accelerator: of its own, because that may hold the core
  // a load of packet memory waits for its word, or a store for a cycle in which a frame has its memory
  logic port_hold;
  logic [1:0] load_step_q;  // the load has been in MEM for so many cycles
  logic pmem_denied, dmem_denied;  // in this cycle the core has the port that a frame wants
  logic replay_q;    // a load of data memory reads again
  logic m_swap_q;    // still to be turned round
  logic turns;       // is turned round in this cycle
  logic m_turned_q;  // a load that has been: its word is in `swapped_q`
  logic dmem_store;  // writes data memory in this cycle
  logic [3:0] m_be_q;
  logic [31:0] m_addr_q, m_wdata_q;
  logic [127:0] m_line_q;
  early_t m_early_q;

  wire ex_window = dbus_addr[31:8] == 24'h008080;
  wire ex_bc = dbus_addr[31:13] == 19'h00403;
  wire ex_swap = dbus_addr[26];
  wire ex_dmem = ({dbus_addr[31:27], dbus_addr[25:15]} == 16'h0100 && dbus_addr[14:13] != 2'd3) || ex_window;
  // a separate comparator: shared with the other regions, it would be too late for `early`
  (* keep *) wire ex_regs = dbus_addr[31:9] == 23'd3;
  wire ex_accel = dbus_addr[31:22] == 10'd1;
  wire ex_pmem = {dbus_addr[31:27], dbus_addr[25:20]} == 11'h010 && 32'(dbus_addr[19:0]) < PmemBytes;

  // A store that is to be turned round leaves a cycle free anyhow.
  wire ex_yields = dbus_we && !ex_swap && ((ex_pmem && pmem_denied) || (ex_dmem && dmem_denied));

  always_ff @(posedge clk) begin
    if (!dbus_wait) begin
      dmem_store <= dbus_req && ex_dmem && dbus_we && !ex_swap && !dmem_denied;
      m_swap_q   <= dbus_req && (ex_dmem || ex_pmem) && ex_swap;
      m_turned_q <= 1'b0;
      m_dmem_q  <= dbus_req && ex_dmem;
      m_bc_q    <= dbus_req && ex_bc;
      m_regs_q  <= dbus_req && ex_regs;
      m_accel_q <= dbus_req && ex_accel;
      m_read_q  <= dbus_req && ex_accel && !dbus_we;
      m_pmem_q  <= dbus_req && ex_pmem;
      port_hold <= dbus_req && ((ex_pmem && !dbus_we) || ex_yields);
      m_wild_q  <= dbus_req && !ex_dmem && !ex_bc && !ex_regs && !ex_accel && !ex_pmem;
      m_early_q <= dbus_req && ex_regs ? early_of(dbus_we, dbus_addr[8:2]) : '0;
    end else begin
      if (load_step_q == 2'd1 || m_we_q) port_hold <= 1'b0;
      if (port_hold) dmem_store <= m_dmem_q;
      if (turns) begin
        dmem_store <= m_dmem_q && m_we_q;
        m_swap_q   <= 1'b0;
        m_turned_q <= !m_we_q;
      end
    end
    if (core_rst_q) begin
      dmem_store <= 1'b0;
      m_swap_q   <= 1'b0;
      m_turned_q <= 1'b0;
      m_dmem_q  <= 1'b0;
      m_bc_q    <= 1'b0;
      m_regs_q  <= 1'b0;
      m_accel_q <= 1'b0;
      m_read_q  <= 1'b0;
      m_pmem_q  <= 1'b0;
      port_hold <= 1'b0;
      m_wild_q  <= 1'b0;
      m_early_q <= '0;
    end
  end

  // The request's valid bit arrives late, and without a request they mean nothing.
  always_ff @(posedge clk) begin
    if (!dbus_wait) begin
      m_we_q <= dbus_we;
      m_be_q <= dbus_be;
      m_addr_q <= dbus_addr;
      m_pc_q <= pc[15:2];
      m_line_q <= 128'd1 << dbus_addr[8:2];
      m_wdata_q <= dbus_wdata;
    end else if (turns) begin
      m_be_q <= {<<{m_be_q}};
      m_wdata_q <= {<<8{m_wdata_q}};
    end
  end

  logic dmem_hold, regs_hold, accel_hold, bc_hold;
  logic [31:0] bc_rdata, pmem_word;
  logic [1:0][31:0] dmem_rdata, regs_rdata;
  logic [2:0][31:0] swapped_q;  // what `turns` has turned round, in parts: a memory's output is late

  assign turns = m_swap_q && (m_we_q || (m_dmem_q ? !replay_q : load_step_q == 2'd2));

  accel_if accel_bus ();

  always_ff @(posedge clk) begin
    swapped_q[2] <= {<<8{dmem_rdata[1]}};
    swapped_q[1] <= {<<8{dmem_rdata[0]}};
    swapped_q[0] <= {<<8{pmem_word}};
    if (m_dmem_q) swapped_q[0] <= '0;
    else swapped_q[2:1] <= '0;
  end

  assign dbus_wait = dmem_hold || regs_hold || accel_hold || port_hold || bc_hold || m_swap_q;
  assign dbus_rdata = {
    regs_rdata & {2{{32{m_regs_q}}}},
    (dmem_rdata[1] | dmem_rdata[0]) & {32{m_dmem_q && !m_turned_q}},
    (bc_rdata & {32{m_bc_q}}) | (accel_bus.rdata & {32{m_accel_q}}) |
        (pmem_word & {32{m_pmem_q && !m_turned_q}}) |
        ((swapped_q[2] | swapped_q[1] | swapped_q[0]) & {32{m_turned_q}})
  };

  logic [31:0] error_addr_q;
  always_ff @(posedge clk) if (m_wild_q) error_addr_q <= m_addr_q;

  // ---- host
  logic host_imem_en, host_dmem_en, host_pmem_en, host_bc_en, host_bc_ready, host_we, poke, evict;
  logic [19:2] host_addr;
  logic [7:0] host_lane;
  logic [31:0] host_imem_rdata, host_bc_rdata, debug_data;
  logic [255:0] wide_rdata;
  logic [1:0][DataW-1:0] pmem_rdata;
  logic [63:0] debug_in, debug_out;
  logic ready_to_evict, refused, generated, blocked, done, rx_stall, tx_sent, tx_free;
  logic [15:0] errors;
  error_pcs_t error_pcs;
  logic [31:0] active, held_cycles;
  slot_index_t done_slot, tx_free_slot;
  len_t done_len;

  host_window #(
      .PmemBytes(PmemBytes),
      .Accel(Accel)
  ) host_window (
      .clk,
      .rst,
      .unit_id,
      .cfg,
      .imem_en(host_imem_en),
      .dmem_en(host_dmem_en),
      .pmem_en(host_pmem_en),
      .bc_en(host_bc_en),
      .bc_ready(host_bc_ready),
      .we(host_we),
      .addr(host_addr),
      .lane(host_lane),
      .wdata(host_wdata),
      .imem_rdata(host_imem_rdata),
      .dmem_rdata(wide_rdata),
      .pmem_rdata(pmem_rdata[1]),
      .bc_rdata(host_bc_rdata),
      .ld_wr(accel_bus.ld_wr),
      .ld_rd(accel_bus.ld_rd),
      .ld_addr(accel_bus.ld_addr),
      .ld_rdata(accel_bus.ld_rdata),
      .ld_rvalid(accel_bus.ld_rvalid),
      .core_reset,
      .poke,
      .evict,
      .debug_in,
      .ns,
      .halt,
      .halt_ebreak,
      .halt_load,
      .resume,
      .step,
      .pc_we,
      .data_we,
      .halted,
      .data(debug_data),
      .irq_active,
      .ready_to_evict,
      .errors,
      .error_addr(error_addr_q),
      .error_pcs,
      .pc,
      .active,
      .held_cycles,
      .debug_out,
      .rx_frame(done),
      .rx_bytes(done_len),
      .rx_stall,
      .tx_frame(tx_sent),
      .tx_bytes(tx.meta.len),
      .tx_stall(tx.valid && !tx.ready),
      .blocked,
      .refused,
      .generated
  );

  // ---- instruction and data memory
  imem #(
      .Bytes(ImemBytes)
  ) imem (
      .clk,
      .fetch_addr(imem_addr),
      .fetch_data(imem_rdata),
      .host_en(host_imem_en),
      .host_we,
      .host_addr(host_addr[15:2]),
      .host_wdata,
      .host_rdata(host_imem_rdata)
  );

  logic head_valid;
  logic [31:0] head_be;
  header_row_t head_row;
  logic [255:0] head_data;
  logic [14:8] window;  // page of the header window: out of registers, it is there before the sum that is the address

  // A load reads in EX; a store writes in MEM, out of registers, through the port that header copies and the host use.
  // A load that follows a store of the same word at once was too early, and reads again.
  wire [14:2] ex_word = {dbus_addr[15] ? window : dbus_addr[14:8], dbus_addr[7:2]};
  wire [31:0] one_word = host_dmem_en ? host_wdata : m_wdata_q;
  logic [14:2] m_word_q;
  logic [7:0] m_lane_q;  // its word in the row
  logic [31:0] host_be, store_be;

  assign dmem_hold = (dmem_store && host_dmem_en) || replay_q;

  always_ff @(posedge clk) begin
    if (!dbus_wait) begin
      m_word_q <= ex_word;
      m_lane_q <= 8'd1 << ex_word[4:2];
    end
    replay_q <= issue && !dbus_we && ex_dmem && dmem_store && ex_word == m_word_q && !core_rst_q;
  end

  always_comb begin
    for (int unsigned w = 0; w < 8; w++) begin
      host_be[w*4+:4]  = {4{host_lane[w]}};
      store_be[w*4+:4] = m_be_q & {4{m_lane_q[w]}};
    end
  end

  dmem #(
      .Bytes(DmemBytes)
  ) dmem (
      .clk,
      .core_addr(replay_q ? m_word_q : ex_word),
      .core_rdata(dmem_rdata),
      .wide_en(host_dmem_en || dmem_store || head_valid),
      .wide_we(!host_dmem_en || host_we),
      .wide_be(host_dmem_en ? host_be : dmem_store ? store_be : head_be),
      .wide_row(host_dmem_en ? host_addr[14:5] : dmem_store ? m_word_q[14:5] : head_row),
      .wide_wdata(host_dmem_en || dmem_store ? {8{one_word}} : head_data),
      .wide_rdata
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst)
      assert (!(m_dmem_q && !m_we_q && dbus_wait && !replay_q && !turns))
      else $error("%m: data memory does not keep the word of a load that waits");
`endif

  // ---- broadcast
  logic bc_listen, bc_next, bc_head_valid, bc_head_load;
  logic [12:2] bc_mask, bc_value, bc_head;
  logic [7:0] bc_waiting;
  logic [3:0] bc_leaving;

  broadcast_port broadcast_port (
      .clk,
      .rst,
      .unit_id,
      .bc,
      .load(issue && ex_bc && !dbus_we),
      .addr(dbus_addr[12:2]),
      .rdata(bc_rdata),
      .store(m_bc_q && m_we_q),
      .stored('{addr: m_addr_q[12:2], be: m_be_q, data: m_wdata_q}),
      .hold(bc_hold),
      .host_en(host_bc_en),
      .host_we,
      .host_addr(host_addr[12:2]),
      .host_wdata,
      .host_rdata(host_bc_rdata),
      .host_ready(host_bc_ready),
      .listen(bc_listen),
      .mask(bc_mask),
      .value(bc_value),
      .next(bc_next),
      .head_valid(bc_head_valid),
      .head(bc_head),
      .head_load(bc_head_load),
      .waiting(bc_waiting),
      .leaving(bc_leaving)
  );

  // ---- packet memory, port A: core, then rx_dma, then tx_dma
  logic rx_row_valid, tx_row_valid;
  logic [13:0] rx_row, tx_row;
  logic [DataW-1:0] rx_row_data;
  logic [BeatBytes-1:0] rx_row_be;
  // in the first cycle of an access in MEM that has nothing to turn; a register, because much hangs on it
  logic core_takes_a_q;
  always_ff @(posedge clk)
    core_takes_a_q <= ((issue && ex_pmem && !(dbus_we && (ex_swap || pmem_denied))) ||
        ((turns || port_hold) && m_pmem_q && m_we_q)) && !core_rst_q;
  assign pmem_denied = core_takes_a_q && (rx_row_valid || tx_row_valid);
  assign dmem_denied = dmem_store && head_valid;

`ifndef SYNTHESIS
  logic [1:0] pmem_denied_q;
  logic dmem_denied_q;
  always_ff @(posedge clk) begin
    pmem_denied_q <= {pmem_denied_q[0], pmem_denied};
    dmem_denied_q <= dmem_denied && !host_dmem_en;
    // A store and the next load, then no access for two cycles
    if (!rst) assert (!(pmem_denied && pmem_denied_q == 2'b11))
      else $error("%m: the core keeps packet memory from frames");
    if (!rst) assert (!(dmem_denied && dmem_denied_q)) else $error("%m: the core keeps data memory from header copies");
  end
`endif

  assign pmem_word = pmem_rdata[0][m_addr_q[5:2]*32+:32];

  always_ff @(posedge clk) begin
    if (port_hold) load_step_q <= load_step_q + 2'd1;
    else if (!turns) load_step_q <= 2'd0;
    if (core_rst_q) load_step_q <= 2'd0;
  end

  // ---- packet memory, port B: host, then the accelerators
  logic [1:0] reads_q;

  assign accel_bus.pm_ready = !host_pmem_en;
  assign accel_bus.pm_rdata = pmem_rdata[1];
  assign accel_bus.pm_rvalid = reads_q[1];

  always_ff @(posedge clk) begin
    reads_q <= {reads_q[0], accel_bus.pm_en && accel_bus.pm_ready};
    if (rst) reads_q <= '0;
  end

  pmem #(
      .Bytes(PmemBytes)
  ) pmem (
      .clk,
      .we({host_pmem_en && host_we, core_takes_a_q ? m_we_q : rx_row_valid}),
      .be({
        64'hF << {host_addr[5:2], 2'b0},
        core_takes_a_q ? 64'(m_be_q) << {m_addr_q[5:2], 2'b0} : rx_row_be
      }),
      .row({
        host_pmem_en ? host_addr[RowW+5:6] : accel_bus.pm_row[RowW-1:0],
        core_takes_a_q ? m_addr_q[RowW+5:6] : rx_row_valid ? rx_row[RowW-1:0] : tx_row[RowW-1:0]
      }),
      .wdata({
        {16{host_wdata}},
        core_takes_a_q ? {16{m_wdata_q}} : rx_row_data
      }),
      .rdata(pmem_rdata)
  );

  // ---- accelerators: they keep running while the core is in reset, so that the host can load their tables
  logic accel_error_q;

  assign accel_bus.addr = m_addr_q[21:0];
  assign accel_bus.wr_en = m_accel_q && m_we_q;
  assign accel_bus.rd_en = m_read_q;
  assign accel_bus.wdata = m_wdata_q;
  assign accel_bus.ld_wdata = host_wdata;
  assign accel_hold = accel_bus.rd_en && !accel_bus.rd_valid;

  always_ff @(posedge clk) accel_error_q <= !core_rst_q && accel_bus.error;

  accel #(
      .Accel(Accel)
  ) accel (
      .clk,
      .rst,  // not core_rst_q: the host loads tables while it holds the core
      .bus(accel_bus)
  );

  // ---- frames
  logic info_we, place_we, header_we, send;
  slot_index_t info_slot, rx_slot, place_slot, head_slot, taken_slot, send_slot, tx_slot, loop_slot;
  slot_info_t info_data;
  half_t place_data, rx_place, head_place, taken_place, send_place;
  header_row_t rx_header, taken_header;
  logic rx_copies;
  len_t head_len, setup_size;
  port_t head_src, tx_src;
  header_row_t head_header;
  logic head_copies;
  logic [31:0] taken_hash, tx_hash;
  logic [6:0] loop_hash;
  time_t taken_timestamp, tx_timestamp;
  send_t send_data;
  logic setup_valid;
  logic extra_busy, unread, was_read, was_read_error, wrote, wrote_error;
  slot_index_t was_read_tag, wrote_tag;
  logic [63:0] mem_addr;
  host_read_t mem_read;
  slot_t setup_count;

  slot_table slot_table (
      .clk,
      .rst(core_rst_q),
      .place_we,
      .header_we,
      .place_slot,
      .place_data,
      .info_we,
      .info_slot,
      .info_data,
      .rx_slot,
      .rx_place,
      .rx_header,
      .rx_copies,
      .head_slot,
      .head_place,
      .head_len,
      .head_src,
      .head_header,
      .head_copies,
      .taken_slot,
      .taken_place,
      .taken_header,
      .taken_hash,
      .taken_timestamp,
      .send_slot,
      .send_place,
      .tx_slot,
      .tx_src,
      .tx_timestamp,
      .tx_hash,
      .loop_slot,
      .loop_hash
  );

  rx_dma rx_dma (
      .clk,
      .rst,
      .rx_valid,
      .rx,
      .rx_room,
      .stall(rx_stall),
      .info_we,
      .info_slot,
      .info_data,
      .table_slot(rx_slot),
      .table_place(rx_place),
      .table_header(rx_header),
      .table_copies(rx_copies),
      .row_valid(rx_row_valid),
      .row_ready(!core_takes_a_q),
      .row_addr(rx_row),
      .row_be(rx_row_be),
      .head_valid,
      .head_ready(!host_dmem_en && !dmem_store),
      .head_be,
      .head_row,
      .head_data,
      .row_data(rx_row_data),
      .done,
      .done_slot,
      .done_len,
      .was_read,
      .was_read_tag,
      .was_read_error,
      .wrote,
      .wrote_tag,
      .wrote_error
  );

  tx_dma tx_dma (
      .clk,
      .rst,
      .unit_id,
      .send,
      .send_data,
      .loop,
      .loop_table_slot(loop_slot),
      .loop_table_hash(loop_hash),
      .extra_busy,
      .unread,
      .mem_addr,
      .mem_read,
      .now(timer_q[31:0]),
      .table_slot(tx_slot),
      .table_src(tx_src),
      .table_timestamp(tx_timestamp),
      .table_hash(tx_hash),
      .row_valid(tx_row_valid),  // port A reads for it whenever nobody writes or loads
      .row_ready(!core_takes_a_q && !rx_row_valid),
      .row_addr(tx_row),
      .row_data(pmem_rdata[0]),
      .tx,
      .empty(tx_empty),
      .sent(tx_sent),
      .free(tx_free),
      .free_slot(tx_free_slot),
      .blocked
  );

  core_regs #(
      .PmemBytes(PmemBytes),
      .Accel(Accel)
  ) core_regs (
      .clk,
      .rst(core_rst_q),
      .unit_id,
      .card,
      .timer(timer_q),
      .ns,
      .rd(m_regs_q && !m_we_q),
      .wr(m_regs_q && m_we_q),
      .line(m_line_q),
      .early(m_early_q),
      .addr(m_addr_q[8:2]),
      .wdata(m_wdata_q),
      .be(m_be_q),
      .rdata(regs_rdata),
      .hold(regs_hold),
      .retry(dbus_retry),
      .irq,
      .irq_ready,
      .wild(m_wild_q),
      .pc(m_pc_q),
      .accel_error(accel_error_q),
      .bc_listen,
      .bc_mask,
      .bc_value,
      .bc_next,
      .bc_head_valid,
      .bc_head,
      .bc_head_load,
      .bc_waiting,
      .bc_leaving,
      .poke,
      .evict,
      .done,
      .done_slot,
      .was_read,
      .was_read_tag,
      .was_read_error,
      .wrote,
      .wrote_tag,
      .wrote_error,
      .place_we,
      .header_we,
      .place_slot,
      .place_data,
      .head_slot,
      .head_place,
      .head_len,
      .head_src,
      .head_header,
      .head_copies,
      .taken_slot,
      .taken_place,
      .taken_header,
      .taken_hash,
      .taken_timestamp,
      .window,
      .send_slot,
      .send_place,
      .send,
      .send_data,
      .extra_busy,
      .unread,
      .mem_addr,
      .mem_read,
      .free(tx_free),
      .free_slot(tx_free_slot),
      .setup_valid,
      .setup_count,
      .setup_size,
      .debug_in,
      .debug_out,
      .ready_to_evict,
      .active,
      .held_cycles,
      .errors,
      .error_pcs,
      .quiet(quiet || halt_ebreak),
      .data_we,
      .data_wdata(host_wdata),
      .data(debug_data),
      .refused,
      .generated
  );

  assign slots = '{
      free_valid: tx_free,
      free_slot: slot_t'(tx_free_slot) + 6'd1,
      setup_valid: setup_valid,
      setup_count: setup_count,
      setup_size: setup_size
  };
endmodule

`default_nettype wire
