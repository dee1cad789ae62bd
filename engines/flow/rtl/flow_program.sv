// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The program of an element, twice: the running one, and the one that the host loads meanwhile.
//
//   word ─┬─> what rows do, 32 bits a cycle ──> memories, a bank each ──> choice of the row that fits, edit of the row that was taken
//         └─> shift register ── commit ──> registers ──> program
//
// Words arrive lowest first: for each row the words of its edits and of its choice, then those of program_t. These move
// through the whole shift register, so each costs a wire and no address. When all have arrived, the host may commit
// them, in a cycle without frames in flight.
module flow_program
  import flow_pkg::*;
  import edit_pkg::*;
(
    input wire logic clk,
    input wire logic rst,  // no row fits until a program was loaded

    input  wire logic  first,     // the next word is the first
    input  wire logic  shift,
    input  wire word_t word,
    output logic       complete,  // all words are there
    input  wire logic  commit,

    output program_t program_o,

    // without a register
    input  wire row_t choice_row,
    output choice_t   choice,
    input  wire row_t edit_row,
    output edit_t     edit
);
  // ---- where the next word goes
  logic [$clog2(LoadWords+1)-1:0] count_q;
  logic [$clog2(RowWords)-1:0] lane_q;  // of a row's words
  logic [$clog2(Rows):0] row_q;         // Rows: behind all rows
  wire of_rows = row_q != ($bits(row_q))'(Rows);
  assign complete = count_q == ($bits(count_q))'(LoadWords);

  always_ff @(posedge clk) begin
    if (shift && !complete) begin
      count_q <= count_q + 1'b1;
      if (of_rows) begin
        lane_q <= lane_q == ($bits(lane_q))'(RowWords - 1) ? '0 : lane_q + 1'b1;
        if (lane_q == ($bits(lane_q))'(RowWords - 1)) row_q <= row_q + 1'b1;
      end
    end
    if (rst || first || commit) {count_q, lane_q, row_q} <= '0;
  end

  // ---- what rows do
  logic bank_q;  // that runs
  always_ff @(posedge clk) begin
    if (commit) bank_q <= !bank_q;
    if (rst) bank_q <= 1'b0;
  end

  logic [32*EditWords-1:0] edit_words;
  logic [32*ChoiceWords-1:0] choice_words;
  for (genvar i = 0; i < RowWords; i++) begin : gen_lane
    (* ram_style = "distributed" *) word_t words[2*Rows];
    always_ff @(posedge clk)
      if (shift && of_rows && lane_q == ($bits(lane_q))'(i)) words[{!bank_q, row_q[$clog2(Rows)-1:0]}] <= word;
    if (i < EditWords) begin : gen_edit
      assign edit_words[32*i+:32] = words[{bank_q, edit_row}];
    end else begin : gen_choice
      assign choice_words[32*(i-EditWords)+:32] = words[{bank_q, choice_row}];
    end
  end
  assign edit = edit_t'(edit_words[$bits(edit_t)-1:0]);
  assign choice = choice_t'(choice_words[$bits(choice_t)-1:0]);

  // ---- all else
  logic [32*ProgramWords-1:0] words_q;
  program_t program_q;
  always_ff @(posedge clk) begin
    if (shift && !of_rows && !complete) words_q <= {word, words_q[32*ProgramWords-1:32]};
    if (commit) program_q <= program_t'(words_q[$bits(program_t)-1:0]);
    if (rst) for (int unsigned i = 0; i < Rows; i++) program_q.rows[i].used <= 1'b0;
  end
  assign program_o = program_q;

  wire unused = &{1'b0, words_q, edit_words, choice_words};

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) assert (!commit || complete) else $error("%m: half a program");
`endif
endmodule

`default_nettype wire
