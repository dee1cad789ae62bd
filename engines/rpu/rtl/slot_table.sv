// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The unit's record of each slot, in distributed RAM: the place of its frame in packet memory, the place of its header
// copy in data memory, and the metadata of the frame in it. Writes take effect in the next cycle, reads are
// combinational. The firmware writes places (UPDATE_SLOT), the receive engine writes metadata. After a reset no slot
// has a header copy.
module slot_table
  import penstock_pkg::*;
  import rpu_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic        place_we,   // place_data is the place of the frame
    input wire logic        header_we,  // place_data is the place of the header copy, as an offset in data memory
    input wire slot_index_t place_slot,
    input wire half_t       place_data,

    input wire logic        info_we,
    input wire slot_index_t info_slot,
    input wire slot_info_t  info_data,

    // receive engine: place of the frame that arrives, and of its header copy
    input  wire slot_index_t rx_slot,
    output half_t            rx_place,
    output header_row_t      rx_header,
    output logic             rx_copies,  // there is a place for the header copy
    // frame at the head of the receive queue
    input  wire slot_index_t head_slot,
    output half_t            head_place,
    output len_t             head_len,
    output port_t            head_src,
    output header_row_t      head_header,
    output logic             head_copies,
    // frame that the firmware took last
    input  wire slot_index_t taken_slot,
    output half_t            taken_place,
    output header_row_t      taken_header,
    output logic [31:0]      taken_hash,
    output time_t            taken_timestamp,
    // frame that the firmware sends
    input  wire slot_index_t send_slot,
    output half_t            send_place,
    // frame that the transmit engine starts
    input  wire slot_index_t tx_slot,
    output port_t            tx_src,
    output time_t            tx_timestamp,
    output logic [31:0]      tx_hash,
    // frame for which it asks a place in another unit
    input  wire slot_index_t loop_slot,
    output logic [6:0]       loop_hash
);
  (* ram_style = "distributed" *) half_t       place[MaxSlots];
  (* ram_style = "distributed" *) header_row_t header[MaxSlots];
  (* ram_style = "distributed" *) slot_info_t  info[MaxSlots];

  always_ff @(posedge clk) begin
    if (place_we) place[place_slot] <= place_data;
    if (header_we) header[place_slot] <= place_data[13:4];
    if (info_we) info[info_slot] <= info_data;
  end

  logic [MaxSlots-1:0] copies_q;

  always_ff @(posedge clk) begin
    if (header_we) copies_q[place_slot] <= 1'b1;
    if (rst) copies_q <= '0;
  end

  assign rx_place = place[rx_slot];
  assign rx_header = header[rx_slot];
  assign rx_copies = copies_q[rx_slot];
  assign head_place = place[head_slot];
  assign head_len = info[head_slot].len;
  assign head_src = info[head_slot].src;
  assign head_header = header[head_slot];
  assign head_copies = copies_q[head_slot];
  assign taken_place = place[taken_slot];
  assign taken_header = header[taken_slot];
  assign taken_hash = info[taken_slot].hash;
  assign taken_timestamp = info[taken_slot].timestamp;
  assign send_place = place[send_slot];
  assign tx_src = info[tx_slot].src;
  assign tx_timestamp = info[tx_slot].timestamp;
  assign tx_hash = info[tx_slot].hash;
  assign loop_hash = info[loop_slot].hash[6:0];
endmodule

`default_nettype wire
