// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Sizes and rows of the machine (engines/rmt/machine.md). A row's word i is bits [32*i+31:32*i].
package rmt_pkg;
  import penstock_pkg::verdict_t, penstock_pkg::frame_meta_t, penstock_pkg::tail_t, penstock_pkg::len_t,
      penstock_pkg::DataW;

  localparam int unsigned Lanes = 2;

  typedef logic [31:0] word_t;

  // ---- the frame as the machine sees it
  localparam int unsigned WindowWords = 32;  // two bytes of 0, then the first bytes of the frame
  localparam int unsigned PadBytes = 2;
  localparam int unsigned WindowBytes = 4 * WindowWords - PadBytes;
  localparam int unsigned VectorWords = 32;
  localparam int unsigned Extracted = 27;    // vector words that the parser fills
  localparam int unsigned MarkWord = 27;
  localparam int unsigned InfoWord = 28;
  localparam int unsigned VerdictWord = 29;
  localparam int unsigned HitWord = 30;
  localparam int unsigned FlagsWord = 31;
  localparam int unsigned ChecksumErrorBit = 19;

  typedef word_t [WindowWords-1:0] window_t;  // network order: byte 0 of the frame is bits [15:8] of word 0
  typedef word_t [VectorWords-1:0] vector_t;

  typedef logic [6:0] bt_t;  // {bank, tenant}

  // The identity of a frame on its way; it never changes after the entry.
  typedef struct packed {
    logic valid;     // there is a frame in this slot
    logic loaded;    // its tenant has a program
    logic stateful;  // which may use registers
    bt_t  bt;
  } ctl_t;

  // Window word from which a vector word was extracted
  typedef struct packed {
    logic       valid;
    logic [4:0] at;
  } origin_t;

  typedef struct packed {
    logic [15:0] len;         // bytes
    logic [5:0]  tenant;
    logic        controller;  // the frame is a controller's
    word_t       mark;
  } info_t;

  localparam logic [8:0] PortController = 9'd510;  // of a frame from or to a controller, and of one to the host

  // ---- TENANT
  typedef struct packed {
    logic stateful;
    logic bank;
    logic loaded;
  } tenant_row_t;

  // ---- PARSER
  localparam int unsigned Depths = 8;
  localparam int unsigned Cases = 4;

  // A state of the next depth, or, from 8 on, the end with an error; 8: accept
  typedef logic [3:0] goto_t;

  typedef enum logic [2:0] {
    ErrorNone    = 3'd0,
    ErrorShort   = 3'd1,  // PacketTooShort
    ErrorHeader  = 3'd4,  // HeaderTooShort
    ErrorTimeout = 3'd5,  // ParserTimeout
    ErrorWindow  = 3'd7   // the header reaches past the window
  } error_e;

  typedef struct packed {
    word_t [Cases-1:0] value;
    word_t [Cases-1:0] mask;
    logic [1:0] unused3;
    logic [Cases-1:0] valid;
    goto_t [Cases-1:0] next;
    goto_t otherwise;
    logic [5:0] kword;
    logic [7:0] unused2;
    logic [7:0] need;
    logic [15:0] flags;
    logic [4:0] unused1;
    goto_t under;
    logic [5:0] least;
    logic [5:0] vmask;
    logic [4:0] vshift;
    logic [5:0] vword;
    logic [3:0] unused0;
    logic vextract;
    logic doubled;
    logic [4:0] vmax;
    logic [4:0] vdst;
    logic has_var;
    logic [4:0] advance;
    logic [4:0] count;
    logic [4:0] dst;
  } state_row_t;

  // ---- the pipeline
  localparam int unsigned MaxStages = 12;

  // `Param` of a block. Bit s of a mask: stage s has this.
  typedef struct packed {
    logic [15:0]          unused;
    logic [3:0]           ternary_w;  // log2 of the rows of a stage with ternary tables
    logic [MaxStages-1:0] meters;
    logic [MaxStages-1:0] prefixes;
    logic [MaxStages-1:0] ternary;
    logic [7:0]           stages;
  } pipeline_t;

  // ---- predicates and checksums
  typedef struct packed {
    logic [1:0] mode;
    logic [5:0] index;
  } predicate_t;

  typedef struct packed {
    logic [5:0] session;    // of EXIT: halfword that holds the number of a clone session
    logic       punts;      // of EXIT: frames to the host go to the controller
    logic       prunes;     // of EXIT: no copy goes to the port at which the frame came
    logic [2:0] queue_no;  // of EXIT: for frames of which copies are made
    logic [5:0] group;  // of EXIT: halfword that holds the number of a group
    logic copies;       // of EXIT: the program has groups
    logic [5:0] half;   // that holds the checksum
    predicate_t predicate;
    logic [63:0] covers;
  } checksum_row_t;

  typedef struct packed {
    checksum_row_t checksum;
    word_t first;  // verdict word in CHECK, words that are written back in EXIT
  } edge_row_t;

  // ---- EXIT
  localparam int unsigned HeadHalves = 2 * Extracted;
  localparam int unsigned WindowHalves = 2 * WindowWords;

  // Whether a word of the vector belongs to the frame's new head
  typedef struct packed {
    logic lower;         // its halves that are of the head
    logic upper;
    logic if_flag;       // they are emitted if bit `index` of {v31, v30} is 1,
    logic if_extracted;  // if the parser has extracted the word, or if both is so; without any of the two, never
    logic [5:0] index;
  } emit_t;

  typedef struct packed {
    logic [1:0] unused;
    emit_t [2:0] word;
  } emit_word_t;

  // A record for the host: the words of the vector that it has
  localparam int unsigned DigestWords = 10;
  localparam int unsigned DigestBits = 12;  // of FLAGS from bit 20 on: which digests the program has sent

  typedef struct packed {
    logic [DigestBits-1:0] mask;  // of the bits that ask for a record
    logic [3:0][4:0] word6;       // words 6 to 9
    logic clones_raw;             // clones are the frame as it came, else as it leaves
    logic clones;                 // the program clones frames
    logic [5:0][4:0] word0;       // words 0 to 5
  } digest_row_t;

  typedef struct packed {
    digest_row_t digest;
    emit_word_t [(Extracted+2)/3-1:0] emits;
    edge_row_t edges;
  } exit_row_t;

  // A frame of which the host gets a record
  typedef struct packed {
    logic                        valid;
    logic [DigestBits-1:0]       sent;
    bt_t                         bt;
    logic [DigestWords-1:0][4:0] word;
    vector_t                     vector;
  } digest_t;

  // ---- GROUP
  localparam int unsigned Queues = 8;
  localparam int unsigned QueueBeats = 64;
  localparam int unsigned MulticastW = 6;  // log2 of a program's groups
  localparam int unsigned MaxCopies = 8;  // of a group

  typedef struct packed {
    logic       valid;
    logic [4:0] unused;
    logic       controller;  // it goes to the controller of the bank that `port` is, else
    logic       host;        // to the host, else
    logic [7:0] port;        // to this Ethernet port
  } copy_t;

  typedef copy_t [MaxCopies-1:0] copies_t;

  // Whose copies are asked for
  typedef struct packed {
    logic        valid;     // the program has groups
    logic [15:0] number;    // of the frame's group, 0 for none
    logic [2:0]  queue_no;
    logic        bank;
    logic        prunes;    // no copy goes to the port
    logic [8:0]  port;      // at which the frame came
  } ask_t;

  // The answer
  typedef struct packed {
    logic       asked;  // the frame has a group
    logic       some;   // that has copies
    logic [2:0] queue_no;
    copies_t    copies;
  } group_t;

  // A beat of a frame of which copies are made
  typedef struct packed {
    copies_t          copies;
    logic [2:0]       queue_no;
    frame_meta_t      meta;
    logic             last;
    tail_t            tail;
    logic [DataW-1:0] data;
  } kept_t;

  // A beat of a frame that goes to the controller
  typedef struct packed {
    logic             valid;
    logic             bank;  // of the program
    logic             last;
    frame_meta_t      meta;
    tail_t            tail;
    logic [DataW-1:0] data;
  } packet_t;

  // ---- records of frames to and from controllers: a piece of a frame each (machine.md)
  localparam logic [7:0] ReasonPacket = 8'd2;
  localparam int unsigned PieceBytes = 32;
  localparam int unsigned PieceW = 8 * PieceBytes;

  // The engine's own part of such a record
  typedef struct packed {
    logic [47:0]       unused;
    len_t              len;    // of the frame
    logic [PieceW-1:0] data;
  } piece_t;

  // A frame's new head, and where the rest of the frame follows it: byte x of the frame that leaves is byte
  // x + 64 * skip + 2 * shift of the frame that came, unless x is in the head.
  typedef struct packed {
    verdict_t verdict;  // VerdictOnward: as the frame came
    logic     copied;   // copies of the frame leave instead of it
    copies_t  copies;
    logic     cloned;      // clones leave beside it,
    logic     clones_raw;  // which are the frame as it came, else as it leaves
    copies_t  clones;
    logic [2:0] queue_no;
    logic     marks;    // the frame gets `mark`
    word_t    mark;
    logic [15:0] len;
    logic signed [1:0] skip;
    logic [4:0] shift;
    logic [5:0] halves;  // of the head
    logic [HeadHalves-1:0][15:0] head;
    window_t window;
  } edit_t;

  // ---- KEY
  localparam int unsigned KeyWords = 4;
  localparam int unsigned Params = 4;

  typedef logic [2:0] action_t;
  typedef word_t [KeyWords-1:0] key_t;
  typedef word_t [Params-1:0] params_t;

  typedef enum logic [1:0] {
    TableNone    = 2'd0,
    TableExact   = 2'd1,
    TableLpm     = 2'd2,
    TableTernary = 2'd3
  } table_e;

  typedef struct packed {
    params_t params;
    key_t mask;
    word_t gate_value;
    word_t gate_mask;
    logic [2:0] unused1;
    logic [4:0] size;
    logic [15:0] base;
    logic [2:0] unused2;
    logic [4:0] key3;
    logic [3:0] unused0;
    logic [2:0][4:0] key;
    logic [4:0] gate;
    action_t otherwise;
    action_t miss;
    logic [1:0] kind;
  } key_row_t;

  // The search of a stage
  typedef struct packed {
    logic        open;       // the gate
    logic [1:0]  kind;
    action_t     miss;
    action_t     otherwise;
    params_t     params;     // of a miss
  } search_t;

  // The part of a search tree that a key of a prefix table may reach, and the key
  typedef struct packed {
    word_t       key;
    logic [15:0] base;       // first leaf
    logic [4:0]  size;       // log2 of the leaves
  } walk_t;

  // CRCs of a stage's key, which units can take
  typedef struct packed {
    logic [15:0] crc16;
    word_t       crc32;
  } hash_t;

  // Its result
  typedef struct packed {
    logic    hit;
    action_t action;
    params_t params;
  } found_t;

  // ---- exact
  localparam int unsigned Ways = 4;
  localparam int unsigned BucketW = 10;

  typedef struct packed {
    params_t params;
    key_t key;
    logic [21:0] unused;
    action_t action;
    logic [5:0] tenant;
    logic valid;
  } entry_t;

  // ---- longest prefix
  localparam int unsigned Levels = 3;
  localparam int unsigned BranchW = 4;
  localparam int unsigned Branches = 1 << BranchW;
  localparam int unsigned LeafW = BranchW * Levels;

  typedef word_t [Branches-1:1] node_t;  // first key of each branch but branch 0

  typedef struct packed {
    params_t params;
    logic [21:0] unused;
    action_t action;
    logic [5:0] tenant;
    logic hit;
  } leaf_t;

  // ---- ternary

  typedef struct packed {
    key_t mask;
    key_t value;
    logic [23:0] unused;
    logic [6:0] bt;
    logic valid;
  } ternary_t;

  typedef struct packed {
    params_t params;
    logic [28:0] unused;
    action_t action;
  } target_t;

  // ---- ACTION
  localparam int unsigned Units = 8;

  // Operand A of a unit: any word of the vector
  typedef struct packed {
    logic [4:0] width;  // - 1
    logic [4:0] rotation;
    logic [4:0] source;
  } first_t;

  // Operand B, and the operands of registers, meters and counters: one of 16 words
  localparam int unsigned Seconds = 16;
  localparam int unsigned SecondHash = 1;     // CRC-32 of the key, then CRC-16
  localparam int unsigned SecondInfo = 3;     // word InfoWord
  localparam int unsigned SecondParam = 4;
  localparam int unsigned SecondVector = 8;   // words from FirstSecond on
  localparam int unsigned FirstSecond = 19;

  typedef word_t [Seconds-1:0] seconds_t;

  typedef struct packed {
    logic [4:0] width;     // - 1
    logic [1:0] rotation;  // bytes
    logic [3:0] source;
  } second_t;

  typedef enum logic [3:0] {
    OpNone = 4'd0,
    OpA    = 4'd1,
    OpB    = 4'd2,
    OpAnd  = 4'd3,
    OpOr   = 4'd4,
    OpXor  = 4'd5,
    OpAdd  = 4'd6,
    OpSub  = 4'd7,
    OpFrom = 4'd8,  // B - A
    OpEq   = 4'd10,
    OpNe   = 4'd11,
    OpLt   = 4'd12,
    OpGe   = 4'd13,
    OpGt   = 4'd14,
    OpLe   = 4'd15
  } op_e;

  typedef struct packed {
    word_t immediate;
    logic [4:0] unused2;
    second_t b;
    logic unused1;
    first_t a;
    logic [4:0] unused0;
    logic [5:0] if_index;
    logic [1:0] if_mode;
    logic [4:0] width;              // - 1
    logic [4:0] low;
    logic [4:0] dst;
    logic [3:0] op;
  } unit_row_t;

  // Units that write a word of the vector: three of eight, and all for the words of verdict and bits
  function automatic logic [Units-1:0] writers_of(int unsigned word);
    if (word == InfoWord) return '0;
    if (word >= VerdictWord) return '1;
    writers_of = '0;
    writers_of[word % Units] = 1'b1;
    writers_of[(word + 3) % Units] = 1'b1;
    writers_of[(word + 5) % Units] = 1'b1;
  endfunction

  typedef enum logic [3:0] {
    RegNone  = 4'd0,
    RegRead  = 4'd1,
    RegWrite = 4'd2,
    RegAdd   = 4'd3,
    RegSub   = 4'd4,
    RegAnd   = 4'd5,
    RegOr    = 4'd6,
    RegXor   = 4'd7,
    RegMax   = 4'd8,
    RegMin   = 4'd9,
    RegMeter = 4'd10  // the color that a meter gives the frame
  } reg_op_e;

  typedef struct packed {
    logic [15:0] length;  // of the array
    logic [15:0] offset;  // of the array in the segment
    logic [3:0] unused2;
    logic one;  // bit 0 of the operand is the other one
    second_t x;
    logic [4:0] unused1;
    second_t index;
    logic [2:0] unused0;
    logic writes;
    logic is_new;
    logic [5:0] if_index;
    logic [1:0] if_mode;
    logic [4:0] width;  // - 1
    logic [4:0] low;
    logic [4:0] dst;
    logic [3:0] op;
  } register_row_t;

  typedef struct packed {
    logic [15:0] length;  // of the array
    logic [15:0] offset;  // of the array in the segment
    logic [6:0] unused2;
    logic [5:0] if_index;
    logic [1:0] if_mode;
    logic counts;
    logic [4:0] unused1;
    second_t index;
  } count_row_t;

  typedef struct packed {
    count_row_t count;
    register_row_t access;
    unit_row_t [Units-1:0] alus;
  } action_row_t;

  localparam int unsigned RegisterW = 12;
  localparam int unsigned CounterW = 10;
  localparam int unsigned MeterW = 10;

  typedef struct packed {
    logic [15:0] size;
    logic [15:0] base;
  } segment_t;

  typedef struct packed {
    segment_t meters;
    segment_t counters;
    segment_t registers;
  } segment_row_t;

  // A register operation of a lane's frame, or a meter's
  typedef struct packed {
    logic        valid;
    logic [3:0]  op;
    logic        is_new;  // the result is the new value
    word_t       index;
    word_t       x;
    logic [15:0] offset;
    logic [15:0] length;
    segment_t    segment;
  } access_t;

  // ---- METER
  localparam int unsigned FractionW = 16;  // times of meters are in ns / 2^16,
  localparam int unsigned MomentW = 72;    // modulo 2^72
  localparam int unsigned MantissaW = 26;
  localparam int unsigned TokensW = 15;

  typedef logic [MomentW-1:0] moment_t;
  typedef logic [1:0] color_t;  // 0 green, 1 yellow, 2 red

  typedef struct packed {
    logic                 still;     // time does not fill the bucket
    logic [4:0]           exponent;
    logic [MantissaW-1:0] mantissa;  // mantissa << exponent: the time in which the bucket gets a token
  } pace_t;

  // A cell: [0] is the committed bucket, [1] the peak one. A mantissa of 0 in [0]: every frame is green.
  typedef struct packed {
    logic [1:0][63:0] depth;  // the time in which a bucket fills
    pace_t [1:0]      pace;
  } meter_row_t;

  // A register's result, which belongs into the vector that is beside it
  typedef struct packed {
    logic       valid;
    logic [4:0] dst;
    logic [4:0] low;
    word_t      mask;   // bits of the word that it takes
    word_t      value;  // its bit 0 becomes bit `low`
  } insert_t;

  // A lane's frame is counted
  typedef struct packed {
    logic        valid;
    word_t       index;
    logic [15:0] offset;
    logic [15:0] length;
    segment_t    segment;
    logic [15:0] bytes;
  } count_t;

  // The value of a counter
  typedef struct packed {
    logic [63:0] bytes;
    logic [63:0] packets;
  } counter_t;

  // ---- the host
  localparam int unsigned RowWords = 32;  // room for the words of any row

  typedef enum logic [7:0] {
    MemTenant   = 8'd0,
    MemCheck    = 8'd1,
    MemExit     = 8'd2,
    MemParser   = 8'd3,
    MemKey      = 8'd4,
    MemAction   = 8'd5,
    MemSegment  = 8'd6,
    MemRegister = 8'd7,
    MemWay      = 8'd8,   // to 11
    MemLeaf     = 8'd12,
    MemTernary  = 8'd13,
    MemTarget   = 8'd14,
    MemCounter  = 8'd15,
    MemLpm      = 8'd16,  // to 18
    MemGroup    = 8'd19,
    MemMeter    = 8'd20,
    MemClone    = 8'd21
  } memory_e;

  // An access, as it stands while its slot travels down the lanes
  typedef struct packed {
    logic        we;
    logic [7:0]  memory;
    logic [7:0]  stage;  // or depth
    logic [15:0] row;
    logic [4:0]  word;   // that is read
    word_t [RowWords-1:0] data;
  } host_t;

  // ---- functions
  // `bits`: {v31, v30}
  function automatic logic holds(predicate_t p, logic [63:0] bits);
    case (p.mode)
      2'd0: return 1'b1;
      2'd1: return bits[p.index];
      2'd2: return !bits[p.index];
      default: return 1'b0;
    endcase
  endfunction

  // Halfword `h`; the even one of a word is the higher
  function automatic logic [15:0] half_of(vector_t v, logic [5:0] h);
    return h[0] ? v[h[5:1]][15:0] : v[h[5:1]][31:16];
  endfunction

  // Bits `low` to `high`
  function automatic word_t bits_of(logic [4:0] low, logic [4:0] high);
    for (int unsigned n = 0; n < 32; n++) bits_of[n] = low <= 5'(n) && 5'(n) <= high;
  endfunction

  // Ones from bit `low` on, `width` + 1 of them; those beyond bit 31 are lost
  function automatic word_t ones(logic [4:0] low, logic [4:0] width);
    return bits_of(low, last_of(low, width));
  endfunction

  // The last of the bits from `low` on, `width` + 1 of them
  function automatic logic [4:0] last_of(logic [4:0] low, logic [4:0] width);
    logic [5:0] last;
    last = 6'(low) + 6'(width);
    return last[5] ? 5'd31 : last[4:0];
  endfunction

  function automatic word_t inserted_word(insert_t i, word_t word);
    return (word & ~i.mask) | ((i.value << i.low) & i.mask);
  endfunction

  function automatic vector_t inserted(insert_t i, vector_t v);
    for (int unsigned w = 0; w < VectorWords; w++)
      inserted[w] = i.valid && i.dst == 5'(w) ? inserted_word(i, v[w]) : v[w];
  endfunction

  // The words that operand B and the others of its form see
  function automatic seconds_t seconds_of(vector_t vector, params_t params, hash_t hash);
    seconds_of = '0;
    seconds_of[SecondHash] = hash.crc32;
    seconds_of[SecondHash+1] = word_t'(hash.crc16);
    seconds_of[SecondInfo] = vector[InfoWord];
    seconds_of[SecondParam+:Params] = params;
    seconds_of[Seconds-1:SecondVector] = vector[FirstSecond+:Seconds-SecondVector];
  endfunction

  function automatic word_t first_of(word_t source, first_t o);
    return word_t'({source, source} >> o.rotation) & ones('0, o.width);
  endfunction

  function automatic word_t second_of(word_t source, second_t o);
    return word_t'({source, source} >> {o.rotation, 3'd0}) & ones('0, o.width);
  endfunction

  // CRCs over 16 bytes, the highest first. Each bit is the parity of some bits of the key: row n of the taps has those
  // of bit n.
  typedef logic [63:0][$bits(key_t)-1:0] taps_t;

  // CRC-64/ECMA-182

  function automatic taps_t taps_of_crc64();
    taps_t taps;
    for (int unsigned w = 0; w < KeyWords; w++)
      for (int unsigned b = 0; b < 32; b++) begin
        // The CRC of a key that has this bit alone
        logic [63:0] crc;
        crc = 64'h42F0E1EBA9EA3693;
        for (int unsigned n = 32 * w + 31 - b; n < $bits(key_t) - 1; n++)
          crc = (crc << 1) ^ (crc[63] ? 64'h42F0E1EBA9EA3693 : 64'd0);
        for (int unsigned n = 0; n < 64; n++) taps[n][32*w+b] = crc[n];
      end
    return taps;
  endfunction

  localparam taps_t Crc64Taps = taps_of_crc64();

  function automatic logic [63:0] crc64(key_t key);
    logic [63:0] crc;
    for (int unsigned n = 0; n < 64; n++) crc[n] = ^(key & Crc64Taps[n]);
    return crc;
  endfunction

  // A reflected CRC from 0 on
  function automatic taps_t taps_of_reflected(word_t polynomial);
    taps_t taps;
    taps = '0;
    for (int unsigned w = 0; w < KeyWords; w++)
      for (int unsigned b = 0; b < 32; b++) begin
        word_t crc;
        crc = 32'd1 << b[2:0];  // the key's byte that has this bit alone, and the bytes behind it
        for (int unsigned n = 0; n < 8 * (4 * (KeyWords - 1 - w) + b / 8 + 1); n++)
          crc = (crc >> 1) ^ (crc[0] ? polynomial : 32'd0);
        for (int unsigned n = 0; n < 32; n++) taps[n][32*w+b] = crc[n];
      end
    return taps;
  endfunction

  localparam taps_t Crc32Taps = taps_of_reflected(32'hEDB88320);
  localparam taps_t Crc16Taps = taps_of_reflected(32'h0000A001);

  function automatic hash_t hash_of(key_t key);
    hash_t hash;
    for (int unsigned n = 0; n < 32; n++) hash.crc32[n] = ^(key & Crc32Taps[n]);
    for (int unsigned n = 0; n < 16; n++) hash.crc16[n] = ^(key & Crc16Taps[n]);
    return hash;
  endfunction

endpackage
