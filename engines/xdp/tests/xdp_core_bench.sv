// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The core with its packet memory, whose port B the bench has when no store needs it.
module xdp_core_bench
  import xdp_pkg::*;
#(
    parameter int unsigned Lanes = 4
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic [4:0] unit_id,

    input wire logic bank,
    input wire logic row_we,
    input wire logic row_write_bank,
    input wire row_t row_write_row,
    input wire logic [3:0] row_write_part,
    input wire word_t row_write_data,

    input  wire logic                start,
    input  wire ctx_t                start_ctx,
    input  wire buffer_t             start_buffer,
    input  wire offset_t              start_meta,
    input  wire offset_t              start_start,
    input  wire offset_t              start_finish,
    input  wire logic [7:0]          start_ifindex,
    output logic      [Contexts-1:0] idle,
    output buffer_t                  a_buffer,
    input  wire logic                a_whole,
    input  wire logic [12:0]         a_arrived,
    output logic                     done,
    output ctx_t                     done_ctx,
    output offset_t                   done_meta,
    output offset_t                   done_start,
    output offset_t                   done_finish,
    output logic [2:0]               done_verdict,
    output logic [7:0]               done_target,

    output logic        request,
    output ctx_t        request_ctx,
    output logic        request_silent,
    output logic        request_ends,
    output logic [31:0] request_what,
    output logic [4:0]  request_dst,
    output word_t       request_args[5],
    output logic [5:0]  request_at,
    output logic [511:0] request_around,
    input  wire logic   answer,
    input  wire ctx_t   answer_ctx,
    input  wire logic [4:0] answer_dst,
    input  wire logic   answer_jumps,
    input  wire word_t  answer_value,
    output logic        answer_taken,
    input  wire logic   accepted,
    input  wire ctx_t   accepted_ctx,

    output logic                     store,
    input  wire buffer_t             io_buffer,
    input  wire offset_t              io_place,
    input  wire logic                io_write,
    input  wire logic [511:0]        io_wdata,
    output logic [511:0]             io_rdata
);
  buffer_t store_buffer;
  offset_t a_place, store_place;
  window_t a_window, b_window;
  logic [Window-1:0] store_be;
  logic [Window-1:0][7:0] store_data;
  request_t request_data;
  packet_t done_packet;

  xdp_packet_memory packets (
      .clk,
      .a_buffer,
      .a_place,
      .a_window,
      .b_buffer(store ? store_buffer : io_buffer),
      .b_place(store ? store_place : io_place),
      .b_be(store ? store_be : {Window{io_write}}),
      .b_data(store ? store_data : io_wdata),
      .b_window
  );
  assign io_rdata = b_window;

  xdp_core #(
      .Lanes(Lanes)
  ) dut (
      .clk,
      .rst,
      .unit_id,
      .now('0),
      .bank,
      .row_we,
      .row_write_bank,
      .row_write_row,
      .row_write_part(row_write_part[$clog2(Lanes+1)-1:0]),
      .row_write_data,
      .start,
      .start_ctx,
      .start_packet('{
          at: start_buffer,
          extent: '{grown: 1'b0, meta: start_meta, start: start_start, finish: start_finish},
          ifindex: start_ifindex,
          egress: 8'd0,
          target: 8'd0
      }),
      .idle,
      .issued(),
      .a_whole,
      .a_arrived,
      .done,
      .done_ctx,
      .done_packet,
      .done_verdict,
      .a_buffer,
      .a_place,
      .a_window,
      .store,
      .store_buffer,
      .store_place,
      .store_be,
      .store_data,
      .starved(1'b0),
      .request,
      .request_data,
      .answer,
      .answer_data('{ctx: answer_ctx, dst: answer_dst, jumps: answer_jumps, value: answer_value, default: '0}),
      .answer_taken,
      .looked(),
      .looked_here(),
      .accepted,
      .accepted_ctx,
      .stray()
  );

  assign done_meta = done_packet.extent.meta;
  assign done_start = done_packet.extent.start;
  assign done_target = done_packet.target;
  assign done_finish = done_packet.extent.finish;
  assign request_ctx = request_data.ctx;
  assign request_silent = request_data.silent;
  assign request_ends = request_data.ends;
  assign request_what = request_data.what;
  assign request_dst = request_data.dst;
  assign request_args = '{request_data.arg0, request_data.arg1, request_data.arg2,
                           request_data.arg3, request_data.arg4};
  assign request_at = request_data.at;
  assign request_around = request_data.around;
endmodule

`default_nettype wire
