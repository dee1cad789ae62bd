// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//
// The clock loop around the card's Verilator model: MACs, a host queue, an AXI4-Lite master and the host's memory,
// behind a C interface that device/src/rtl/model.rs loads. Times are cycles since reset fell.
//
// One cycle:  drive inputs ─> clk = 0, eval (inputs settle) ─> sample handshakes ─> clk = 1, eval (registers step)
//
// With PENSTOCK_UNITS the units are instances of separate models, one for each kind (split/), and this file carries
// their wires. Threads may share card and units in both evaluations of a cycle.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "Vcard.h"
#ifdef PENSTOCK_UNITS
#include "crew.h"
#include "unit_model.h"
#endif
#include "verilated.h"
#ifdef PENSTOCK_WAVE
#include "verilated_fst_c.h"
#endif

namespace {

constexpr int BeatBytes = 64;         // of the host's streams and of its memory
constexpr int PortBytes = 128;        // of an Ethernet port's
constexpr int Ports = PENSTOCK_PORTS;
constexpr int Host = Ports;         // the stream after the Ethernet ports
constexpr int Streams = Ports + 1;
constexpr int64_t WireOverhead = 24;  // bytes a frame costs on the wire beside its own: preamble 8, FCS 4, gap 12
constexpr int Fraction = 20;          // a byte of credit is 1 << Fraction
constexpr int64_t Byte = int64_t{1} << Fraction;
constexpr int64_t Burst = PortBytes * Byte;      // credit a stream may save up while it waits for the other side
// cycles from one beat of a frame to the next at a port: 64 bytes arrive a cycle
constexpr uint64_t PortPause = 2;
constexpr uint64_t HostMemoryBytes = uint64_t{1} << 30;  // beyond, the host refuses
constexpr uint64_t PageBytes = 4096;
constexpr uint64_t AccessTimeout = 100000;       // cycles after which a register access counts as hung

// The byte image of a port of the model: little-endian, whatever integer or array type Verilator chose.
template <class Signal>
uint8_t* bytes_of(Signal& signal) {
    return reinterpret_cast<uint8_t*>(&signal);
}

bool bit(const uint8_t* image, int index) { return (image[index >> 3] >> (index & 7)) & 1; }

void set_bit(uint8_t* image, int index, bool value) {
    const uint8_t mask = static_cast<uint8_t>(1u << (index & 7));
    image[index >> 3] = static_cast<uint8_t>(value ? image[index >> 3] | mask : image[index >> 3] & ~mask);
}

// The place for faults of the model that runs on this thread, for example an assertion. The first one counts.
thread_local std::string* failure_sink = nullptr;

void fail(const std::string& text) {
    if (failure_sink && failure_sink->empty()) *failure_sink = text;
}

}  // namespace

void vl_stop(const char* file, int line, const char* scope) {
    fail(std::string(file) + ":" + std::to_string(line) + ": stopped in " + (scope ? scope : ""));
}
void vl_finish(const char* file, int line, const char* scope) { vl_stop(file, line, scope); }
void vl_fatal(const char* file, int line, const char*, const char* text) {
    fail(std::string(file) + ":" + std::to_string(line) + ": " + text);
}

extern "C" {

// A frame to send. Streams 0..Ports-1 are Ethernet, Ports is the host.
struct Frame {
    uint64_t earliest;  // cycle before which it does not start
    uint64_t offset;    // of its first byte in the buffer that comes with it
    uint32_t length;    // bytes, at least 1
    uint8_t stream;
    uint8_t damaged;    // the MAC says so with the last beat
    uint16_t reserved;
};

// A frame that entered: the next of its stream, in order.
struct Entry {
    uint64_t cycle;  // of its first beat
    uint32_t stream;
    uint32_t reserved;
};

// A frame that left.
struct Exit {
    uint64_t first;      // cycle of its first beat
    uint64_t last;       // cycle of its last beat
    uint64_t offset;     // of its first byte in the exit buffer
    uint32_t length;     // bytes
    uint32_t timestamp;  // cycle, modulo 2^32, in which its first beat entered the card
    uint8_t stream;      // where it left
    uint8_t source;      // where it entered: the port byte
    uint16_t reserved;
    uint32_t mark;       // what the inline blocks left; 0 of a frame that left at an Ethernet port
};

// A frame's first beat at a place between the blocks of the card (trace/card_trace.sv).
struct Hop {
    uint64_t cycle;
    uint32_t timestamp;  // cycle, modulo 2^32, in which its first beat entered the card
    uint8_t place;
    uint8_t index;       // which source, unit or exit
    uint8_t source;      // where it entered: the port byte
    uint8_t unit;        // whose slot
    uint8_t slot;
    uint8_t reserved[7];
};

// How fast a stream moves.
struct Pace {
    uint64_t wire;          // bytes a cycle inside a frame, 2^20 is one; 0 is as fast as the bus goes
    uint64_t rate;          // bytes a cycle on average: what is less than the wire becomes gaps between frames
    uint32_t honour_pause;  // 1: no frame starts while the card raises rx_pause
    uint32_t repeat;        // 1: the queued frames are sent again and again
};

enum StepResult : uint32_t { OutOfCycles = 0, Idle = 1, Failed = 2 };

}  // extern "C"

namespace {

// The place where the model that runs on this thread records passing frames, if enabled, and its cycle.
thread_local std::vector<Hop>* hop_sink = nullptr;
thread_local const uint64_t* hop_cycle = nullptr;

}  // namespace

// card_trace.sv calls it.
extern "C" void penstock_hop(char place, char index, char source, char unit, char slot, int timestamp) {
    if (!hop_sink) return;
    const auto byte = [](char value) { return static_cast<uint8_t>(value); };
    hop_sink->push_back({*hop_cycle, static_cast<uint32_t>(timestamp), byte(place), byte(index), byte(source), byte(unit), byte(slot), {}});
}

namespace {

// Properties of a stream.
int beat_bytes(int s) { return s == Host ? BeatBytes : PortBytes; }

// The number of bytes in a beat's `keep`.
struct Keep {
    uint64_t word[PortBytes / 64];

    static Keep of(uint32_t count) {
        Keep keep{};
        for (uint32_t i = 0; i < PortBytes / 64 && count > 64 * i; i++)
            keep.word[i] = count >= 64 * (i + 1) ? ~uint64_t{0} : (uint64_t{1} << (count - 64 * i)) - 1;
        return keep;
    }

    int count() const { return __builtin_popcountll(word[0]) + __builtin_popcountll(word[1]); }
    bool operator==(const Keep&) const = default;
};

// The wire that brings a stream's frames: a beat is there when its last byte is. `due` are the bytes from the beat
// before to there.
struct Arrival {
    static constexpr int64_t Idle = std::numeric_limits<int64_t>::max();
    int64_t rate = 0;
    int64_t arrived = Idle;  // since the beat before

    // The first beat after a pause is there at once: its bytes arrived meanwhile. While the bus is slower than the
    // wire, beats wait for it.
    void tick(int64_t due) { arrived = arrived == Idle ? due * Byte : std::min(arrived + rate, due * Byte + Burst); }
    bool ready(int64_t due) const { return rate == 0 || arrived >= due * Byte; }
    void take(int64_t due) {
        if (rate) arrived -= due * Byte;
    }
    void rest() { arrived = Idle; }
};

struct Credit {
    int64_t rate = 0;
    int64_t saved = 0;

    void tick() {
        if (rate) saved = std::min(saved + rate, Burst);
    }
    bool ready() const { return saved >= 0; }
    void spend(int64_t bytes) {
        if (rate) saved -= bytes * Byte;
    }
};

// Sends frames into one stream of the card.
struct Source {
    std::vector<Frame> frames;
    size_t next = 0;  // frame that is being sent, or the next one
    uint32_t sent = 0;  // bytes of it that the card has
    bool offered = false;
    bool honour_pause = false;
    bool repeat = false;
    Arrival wire;  // of the next beat
    Credit share;  // for the next frame, at the stream's rate

    bool done() const { return next == frames.size(); }
};

// Takes frames from one stream of the card.
struct Sink {
    bool inside = false;
    uint64_t moved = 0;  // cycle of the last beat
    Exit frame{};
    std::vector<uint8_t> bytes;
    Credit credit;
};

// A port of the card to a memory, by the names of its signals.
struct AxiPort {
    CData &awready, &wready, &arready, &bvalid, &bresp, &rvalid, &rresp, &rlast;
    VlWide<BeatBytes / 4>& rdata;
    const CData &awvalid, &awlen, &awsize, &awburst, &wvalid, &wlast, &bready, &arvalid, &arlen, &arsize, &arburst, &rready;
    const QData &awaddr, &araddr, &wstrb;
    VlWide<BeatBytes / 4>& wdata;
};
#define AXI_PORT(top, at)                                                                                                                  \
    AxiPort {                                                                                                                              \
        top.at##_awready, top.at##_wready, top.at##_arready, top.at##_bvalid, top.at##_bresp, top.at##_rvalid, top.at##_rresp,             \
            top.at##_rlast, top.at##_rdata, top.at##_awvalid, top.at##_awlen, top.at##_awsize, top.at##_awburst, top.at##_wvalid,          \
            top.at##_wlast, top.at##_bready, top.at##_arvalid, top.at##_arlen, top.at##_arsize, top.at##_arburst, top.at##_rready,         \
            top.at##_awaddr, top.at##_araddr, top.at##_wstrb, top.at##_wdata                                                               \
    }

// The host's memory, sparse, and zeros at first. Executes bursts in order, each after its own delay.
class Memory {
public:
    explicit Memory(AxiPort port) : axi(port) {
        axi.awready = axi.wready = axi.arready = 1;
    }

    // Reads `size` bytes from `address` on; false if they extend beyond the end.
    bool read(uint64_t address, uint8_t* bytes, size_t size) const {
        if (address > HostMemoryBytes || size > HostMemoryBytes - address) return false;
        for (size_t done = 0; done < size;) {
            const uint64_t offset = (address + done) % PageBytes;
            const size_t count = std::min<size_t>(size - done, PageBytes - offset);
            const auto page = pages.find((address + done) / PageBytes);
            if (page == pages.end()) std::memset(bytes + done, 0, count);
            else std::memcpy(bytes + done, page->second.data() + offset, count);
            done += count;
        }
        return true;
    }

    bool write(uint64_t address, const uint8_t* bytes, size_t size) {
        if (address > HostMemoryBytes || size > HostMemoryBytes - address) return false;
        for (size_t done = 0; done < size;) {
            const uint64_t offset = (address + done) % PageBytes;
            const size_t count = std::min<size_t>(size - done, PageBytes - offset);
            auto [page, is_new] = pages.try_emplace((address + done) / PageBytes);
            if (is_new) page->second.fill(0);
            std::memcpy(page->second.data() + offset, bytes + done, count);
            done += count;
        }
        return true;
    }

    // Offers answers to the card.
    void drive(uint64_t cycle) {
        axi.bvalid = !written.empty() && written.front().due <= cycle;
        if (axi.bvalid) axi.bresp = written.front().refused ? DecErr : Okay;
        axi.rvalid = !reads.empty() && reads.front().due <= cycle;
        if (axi.rvalid) {
            const Burst& burst = reads.front();
            axi.rresp = read(burst.address, bytes_of(axi.rdata), BeatBytes) ? Okay : DecErr;
            axi.rlast = burst.beats == 1;
        }
    }

    // Records the transfers of the coming edge, and returns whether anything is in flight.
    bool sample(uint64_t cycle) {
        if (axi.bvalid && axi.bready) written.pop_front();
        if (axi.rvalid && axi.rready) {
            reads.front().address += BeatBytes;
            if (--reads.front().beats == 0) reads.pop_front();
        }
        if (axi.arvalid) reads.push_back(burst(axi.araddr, axi.arlen, axi.arsize, axi.arburst, cycle));
        if (axi.awvalid) writes.push_back(burst(axi.awaddr, axi.awlen, axi.awsize, axi.awburst, cycle));
        if (axi.wvalid) {
            Beat beat{{}, axi.wstrb, axi.wlast != 0};
            std::memcpy(beat.data, bytes_of(axi.wdata), BeatBytes);
            beats.push_back(beat);
        }
        while (!writes.empty() && !beats.empty()) store(cycle);
        return !(written.empty() && reads.empty() && writes.empty() && beats.empty());
    }

private:
    static constexpr uint8_t Okay = 0;
    static constexpr uint8_t DecErr = 3;

    struct Burst {
        uint64_t due;
        uint64_t address;
        uint32_t beats;
        bool refused;
    };
    struct Beat {
        uint8_t data[BeatBytes];
        uint64_t strobes;
        bool last;
    };

    Burst burst(uint64_t address, uint32_t len, uint32_t size, uint32_t type, uint64_t cycle) {
        const uint64_t last = address + BeatBytes * (uint64_t{len} + 1) - 1;
        if (address % BeatBytes || size != 6 || type != 1) fail("card_top: m_axi starts a burst that is not of whole beats");
        if (address / PageBytes != last / PageBytes) fail("card_top: m_axi starts a burst that leaves its page");
        return {cycle + latency(), address, len + 1, false};
    }

    // Carries out one beat of the oldest write.
    void store(uint64_t cycle) {
        Burst& burst = writes.front();
        const Beat beat = beats.front();
        beats.pop_front();
        if (beat.last != (burst.beats == 1)) fail("card_top: m_axi_wlast is not on the last beat of its burst");
        uint8_t bytes[BeatBytes];
        if (!read(burst.address, bytes, BeatBytes)) burst.refused = true;
        for (int i = 0; i < BeatBytes; i++)
            if (beat.strobes >> i & 1) bytes[i] = beat.data[i];
        write(burst.address, bytes, BeatBytes);
        burst.address += BeatBytes;
        if (--burst.beats == 0) {
            burst.due = cycle + latency();
            written.push_back(burst);
            writes.pop_front();
        }
    }

    // Cycles until an answer, in the order of those behind PCIe. Always the same sequence.
    uint64_t latency() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        return 64 + random % 128;
    }

    AxiPort axi;
    std::unordered_map<uint64_t, std::array<uint8_t, PageBytes>> pages;
    std::deque<Burst> reads;
    std::deque<Burst> writes;
    std::deque<Beat> beats;
    std::deque<Burst> written;
    uint64_t random = 0x9E3779B97F4A7C15;
};

#ifdef PENSTOCK_UNITS
// What a thread does in a phase.
struct Share {
    std::vector<uint32_t> order;  // of units: its own, then the others
    std::string failure;
    bool listens = false;  // the model's messages on this thread come here
};
// The time that the card takes to evaluate, in units.
constexpr uint32_t CardInUnits = 3;
#endif

struct Card {
    VerilatedContext context;
    Vcard top{&context};
#ifdef PENSTOCK_UNITS
    std::vector<std::unique_ptr<UnitModel>> units;
    std::vector<Share> shares;  // of the threads
    std::atomic<uint32_t> claimed{0};  // units that a thread has taken in this phase
    std::unique_ptr<Crew> crew;  // last: its threads use all of these
#endif
    std::string failure;
    uint64_t cycle = 0;
    uint64_t last_move = 0;
    bool keep_bytes = true;

    Memory host_memory{AXI_PORT(top, m_axi)};
    std::vector<uint8_t> input;
    std::vector<uint8_t> output;
    std::vector<Entry> entries;
    std::vector<Exit> exits;
    std::vector<Hop> hops;
    bool keep_hops = false;
    Source source[Streams];
    Sink sink[Streams];

#ifdef PENSTOCK_WAVE
    VerilatedFstC wave;
    uint64_t wave_from = 0;
    uint64_t wave_until = 0;
    std::string wave_path;
#endif

    Card() {
        // Verilator ends a model that looks for an argument of the simulation before it was told of any.
        const char* arguments[] = {"penstock"};
        context.commandArgs(1, arguments);
        listen();
#ifdef PENSTOCK_UNITS
        for (int u = 0; u < PENSTOCK_UNITS; u++) {
            units.emplace_back(make_unit[u](&context, ("unit" + std::to_string(u)).c_str()));
            units.back()->unit_id = static_cast<uint8_t>(u);
            units.back()->card = PENSTOCK_PORTS << 6 | PENSTOCK_UNITS;
        }
#endif
#ifdef PENSTOCK_WAVE
        context.traceEverOn(true);
        top.trace(&wave, 99);
#endif
        top.rst = 1;
        top.host_tx_tready = 1;
        for (int i = 0; i < 16; i++) clock();
        top.rst = 0;
        cycle = 0;
    }

    ~Card() {
        listen();
#ifdef PENSTOCK_UNITS
        crew.reset();
        for (auto& unit : units) unit->final();
#endif
        top.final();
        failure_sink = nullptr;
        hop_sink = nullptr;
    }

    // Offers the next beat of stream `s` where its pace allows, and its readiness to take one.
    void drive(int s) {
        Source& in = source[s];
        in.share.tick();
        if (!in.offered) {
            const int64_t due = in.done() ? PortBytes + WireOverhead : due_bytes(s, in.frames[in.next], in.sent);
            in.wire.tick(due);
            if (in.wire.ready(due)) {
                if (in.sent || may_start(s)) offer(s, in.frames[in.next], in.sent);
                else in.wire.rest();
            }
        }
        Sink& out = sink[s];
        out.credit.tick();
        if (s == Host) top.host_tx_tready = out.credit.ready();
        else set_bit(bytes_of(top.tx_tready), s, out.credit.ready());
    }

    bool may_start(int s) {
        const Source& in = source[s];
        const bool paused = in.honour_pause && s != Host && bit(bytes_of(top.rx_pause), s);
        return !in.done() && !paused && in.share.ready() && cycle >= in.frames[in.next].earliest;
    }

    // Bytes of the beat after the first `sent` of a frame.
    static uint32_t next_bytes(int s, const Frame& frame, uint32_t sent) {
        return std::min<uint32_t>(beat_bytes(s), frame.length - sent);
    }

    // Those that the wire brings for it.
    static int64_t due_bytes(int s, const Frame& frame, uint32_t sent) {
        return next_bytes(s, frame, sent) + (sent == 0 ? WireOverhead : 0);
    }

    void offer(int s, const Frame& frame, uint32_t sent) {
        const uint32_t count = next_bytes(s, frame, sent);
        const bool last = sent + count == frame.length;
        const Keep keep = Keep::of(count);
        uint8_t* data = s == Host ? bytes_of(top.host_rx_tdata) : bytes_of(top.rx_tdata) + s * PortBytes;
        std::memcpy(data, &input[frame.offset + sent], count);
        std::memset(data + count, 0, beat_bytes(s) - count);
        if (s == Host) {
            top.host_rx_tkeep = keep.word[0];
            top.host_rx_tlast = last;
            top.host_rx_tuser = last && frame.damaged;
            top.host_rx_tvalid = 1;
        } else {
            std::memcpy(bytes_of(top.rx_tkeep) + s * sizeof keep, &keep, sizeof keep);
            set_bit(bytes_of(top.rx_tlast), s, last);
            set_bit(bytes_of(top.rx_tuser), s, last && frame.damaged);
            set_bit(bytes_of(top.rx_tvalid), s, true);
        }
        source[s].offered = true;
    }

    // Takes note of the beats that the coming edge moves on stream `s`.
    void sample(int s) {
        Source& in = source[s];
        if (in.offered && (s != Host || top.host_rx_tready)) {
            const Frame& frame = in.frames[in.next];
            const uint32_t count = next_bytes(s, frame, in.sent);
            in.wire.take(due_bytes(s, frame, in.sent));
            if (in.sent == 0) {
                entries.push_back({cycle, static_cast<uint32_t>(s), 0});
                in.share.spend(frame.length + WireOverhead);
            }
            in.sent += count;
            if (in.sent == frame.length) {
                in.sent = 0;
                in.next++;
                if (in.repeat && in.done()) in.next = 0;
            }
            in.offered = false;
            last_move = cycle;
        }
        const bool valid = s == Host ? top.host_tx_tvalid : bit(bytes_of(top.tx_tvalid), s);
        const bool ready = s == Host ? top.host_tx_tready : bit(bytes_of(top.tx_tready), s);
        if (valid && ready) take(s);
        else if (ready && s != Host && sink[s].inside && cycle >= sink[s].moved + PortPause)
            fail("card_top: tx" + std::to_string(s) + " paused inside a frame: a MAC would underrun");
    }

    void take(int s) {
        Sink& out = sink[s];
        Keep keep{};
        if (s == Host) keep.word[0] = top.host_tx_tkeep;
        else std::memcpy(&keep, bytes_of(top.tx_tkeep) + s * sizeof keep, sizeof keep);
        const bool last = s == Host ? top.host_tx_tlast : bit(bytes_of(top.tx_tlast), s);
        const int count = keep.count();
        if (keep != Keep::of(count) || count == 0 || (!last && count != beat_bytes(s)))
            fail("card_top: tx" + std::to_string(s) + " has a tkeep with holes");
        if (!out.inside) {
            out.frame = Exit{};
            out.frame.first = cycle;
            out.frame.stream = static_cast<uint8_t>(s);
            if (s == Host) {
                out.frame.source = top.host_tx_src;
                out.frame.timestamp = top.host_tx_timestamp;
                out.frame.mark = top.host_tx_mark;
            } else {
                out.frame.source = bytes_of(top.tx_src)[s];
                std::memcpy(&out.frame.timestamp, bytes_of(top.tx_timestamp) + s * 4, 4);
            }
            out.bytes.clear();
            out.inside = true;
        }
        if (keep_bytes) {
            const uint8_t* data = s == Host ? bytes_of(top.host_tx_tdata) : bytes_of(top.tx_tdata) + s * PortBytes;
            out.bytes.insert(out.bytes.end(), data, data + count);
        }
        out.moved = cycle;
        out.frame.length += static_cast<uint32_t>(count);
        out.credit.spend(count);
        if (last) {
            out.credit.spend(WireOverhead);
            out.frame.last = cycle;
            out.frame.offset = output.size();
            output.insert(output.end(), out.bytes.begin(), out.bytes.end());
            exits.push_back(out.frame);
            out.inside = false;
        }
        last_move = cycle;
    }

    // Ends the offers that the last edge took. Data stays: a changed bus costs simulation time.
    void withdraw() {
        for (int s = 0; s < Ports; s++)
            if (!source[s].offered) set_bit(bytes_of(top.rx_tvalid), s, false);
        if (!source[Host].offered) top.host_rx_tvalid = 0;
    }

    void settle() {
        top.clk = 0;
#ifdef PENSTOCK_UNITS
        for (auto& unit : units) {
            unit->clk = 0;
            unit->rst = top.rst;
        }
        // Both sides of the wires have registers, so that one pass settles them; a combinational path needs more
        // passes.
        carry();
        for (int pass = 0; pass == 0 || carry(); pass++) {
            if (pass == 8) return fail("the wires between card and units do not settle");
            eval();
        }
#else
        top.eval();
#endif
#ifdef PENSTOCK_WAVE
        if (wave.isOpen()) wave.dump(2 * cycle);
#endif
    }

#ifdef PENSTOCK_UNITS
    // Carries the wires between card and units; whether one of them has changed.
    bool carry() {
        bool changed = false;
        const auto copy = [&](auto& to, const auto& from) {
            if (std::memcmp(&to, &from, sizeof to) == 0) return;
            to = from;
            changed = true;
        };
        for (int u = 0; u < PENSTOCK_UNITS; u++) {
            copy(top.from_unit[u], units[u]->from_unit);
            copy(units[u]->to_unit, top.to_unit[u]);
        }
        return changed;
    }

    // Evaluates card and units, which do not see each other meanwhile.
    void eval() {
        if (!crew) {
            top.eval();
            for (auto& unit : units) unit->eval();
            return;
        }
        claimed.store(0, std::memory_order_relaxed);
        crew->run();
        for (const Share& share : shares)
            if (!share.failure.empty()) fail(share.failure);
    }

    // What thread t evaluates: its units, and then those that the others have not come to.
    void eval_share(unsigned t) {
        Share& share = shares[t];
        if (t == 0) top.eval();
        else if (!share.listens) {
            Verilated::threadContextp(&context);
            failure_sink = &share.failure;
            share.listens = true;
        }
        for (const uint32_t u : share.order) {
            const uint32_t mine = uint32_t{1} << u;
            if ((claimed.load(std::memory_order_relaxed) & mine) == 0 && (claimed.fetch_or(mine, std::memory_order_relaxed) & mine) == 0)
                units[u]->eval();
        }
    }
#endif

    // Shares card and units among this many threads. Each begins with the same units in each phase, whose state is then
    // in its processor's cache. The first has the card and fewer units.
    void use_threads(uint32_t threads) {
#ifdef PENSTOCK_UNITS
        crew.reset();
        if (threads <= 1) return;
        const uint32_t total = CardInUnits + PENSTOCK_UNITS;
        const auto begin = [&](uint32_t t) { return std::max(total * t / threads, CardInUnits) - CardInUnits; };
        shares = std::vector<Share>(threads);
        for (uint32_t t = 0; t < threads; t++) {
            for (uint32_t u = begin(t); u < begin(t + 1); u++) shares[t].order.push_back(u);
            for (uint32_t u = PENSTOCK_UNITS; u-- > 0;)
                if (u < begin(t) || u >= begin(t + 1)) shares[t].order.push_back(u);
        }
        crew = std::make_unique<Crew>(threads, [this](unsigned t) { eval_share(t); });
#else
        (void)threads;
#endif
    }

    void edge() {
        top.clk = 1;
#ifdef PENSTOCK_UNITS
        for (auto& unit : units) unit->clk = 1;
        eval();
#else
        top.eval();
#endif
#ifdef PENSTOCK_WAVE
        if (wave.isOpen()) wave.dump(2 * cycle + 1);
#endif
        cycle++;
    }

    void clock() {
        settle();
        edge();
    }

    // One cycle with traffic. `between` sees the settled values before the edge.
    template <class Between>
    void traffic_cycle(Between between) {
#ifdef PENSTOCK_WAVE
        if (!wave_path.empty() && cycle == wave_from) wave.open(wave_path.c_str());
        if (wave.isOpen() && cycle == wave_until) wave.close();
#endif
        withdraw();
        for (int s = 0; s < Streams; s++) drive(s);
        host_memory.drive(cycle);
        settle();
        for (int s = 0; s < Streams; s++) sample(s);
        if (host_memory.sample(cycle)) last_move = cycle;
        between();
        edge();
    }

    bool all_sent() const {
        return std::all_of(source, source + Streams, [](const Source& in) { return in.done(); });
    }

    // Directs the model's messages on this thread to this card, and Verilator's per-thread state as well: its
    // destructors look there.
    void listen() {
        Verilated::threadContextp(&context);
        failure_sink = &failure;
        hop_sink = keep_hops ? &hops : nullptr;
        hop_cycle = &cycle;
    }

    StepResult step(uint64_t cycles, uint64_t idle) {
        listen();
        for (const uint64_t end = cycle + cycles; cycle < end;) {
            traffic_cycle([] {});
            if (!failure.empty()) return Failed;
            if (cycle - last_move > idle && all_sent()) return Idle;
        }
        return OutOfCycles;
    }

    // One AXI4-Lite write; traffic goes on meanwhile. Returns the response, or 4 if there was none.
    uint32_t write(uint32_t address, uint32_t value) {
        listen();
        top.s_axil_awaddr = address;
        top.s_axil_awvalid = 1;
        top.s_axil_wdata = value;
        top.s_axil_wstrb = 0xF;
        top.s_axil_wvalid = 1;
        top.s_axil_bready = 1;
        uint32_t response = 4;
        bool done = false;
        for (const uint64_t end = cycle + AccessTimeout; cycle < end && !done && failure.empty();) {
            bool address_taken = false, data_taken = false;
            traffic_cycle([&] {
                address_taken = top.s_axil_awvalid && top.s_axil_awready;
                data_taken = top.s_axil_wvalid && top.s_axil_wready;
                done = top.s_axil_bvalid;
                if (done) response = top.s_axil_bresp;
            });
            if (address_taken) top.s_axil_awvalid = 0;
            if (data_taken) top.s_axil_wvalid = 0;
        }
        top.s_axil_awvalid = top.s_axil_wvalid = top.s_axil_bready = 0;
        return response;
    }

    // One AXI4-Lite read; traffic goes on meanwhile. Returns the response, or 4 if there was none.
    uint32_t read(uint32_t address, uint32_t* value) {
        listen();
        top.s_axil_araddr = address;
        top.s_axil_arvalid = 1;
        top.s_axil_rready = 1;
        uint32_t response = 4;
        bool done = false;
        for (const uint64_t end = cycle + AccessTimeout; cycle < end && !done && failure.empty();) {
            bool address_taken = false;
            traffic_cycle([&] {
                address_taken = top.s_axil_arvalid && top.s_axil_arready;
                done = top.s_axil_rvalid;
                if (done) {
                    response = top.s_axil_rresp;
                    *value = top.s_axil_rdata;
                }
            });
            if (address_taken) top.s_axil_arvalid = 0;
        }
        top.s_axil_arvalid = top.s_axil_rready = 0;
        return response;
    }
};

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// Builds the model and takes it through reset.
EXPORT Card* penstock_open() { return new Card; }

EXPORT void penstock_close(Card* card) { delete card; }

EXPORT uint64_t penstock_cycle(const Card* card) { return card->cycle; }

// The model's fault; empty if there was no fault.
EXPORT const char* penstock_failure(const Card* card) { return card->failure.c_str(); }

// Sets the rate of the frames that enter at a stream. Frames that leave always have the rate of `transmit`.
EXPORT void penstock_pace(Card* card, uint32_t stream, const Pace* receive, const Pace* transmit) {
    Source& in = card->source[stream];
    in.wire = Arrival{static_cast<int64_t>(receive->wire)};
    in.share = Credit{static_cast<int64_t>(receive->rate), 0};
    in.honour_pause = receive->honour_pause;
    in.repeat = receive->repeat;
    card->sink[stream].credit = Credit{static_cast<int64_t>(transmit->wire), 0};
}

// Shares the model's work among this many threads.
EXPORT void penstock_threads(Card* card, uint32_t threads) { card->use_threads(threads); }

// Whether the bytes of frames that leave are kept, or only their records.
EXPORT void penstock_keep_bytes(Card* card, uint32_t keep) { card->keep_bytes = keep; }

// Forgets the frames that have been sent or still wait, except those half way in, and queues `count` new ones.
EXPORT void penstock_queue(Card* card, const Frame* frames, size_t count, const uint8_t* bytes, size_t size) {
    std::vector<uint8_t> kept;
    for (Source& in : card->source) {
        std::vector<Frame> rest;
        if (in.sent || in.offered) {
            Frame frame = in.frames[in.next];
            const auto* first = &card->input[frame.offset];
            frame.offset = kept.size();
            kept.insert(kept.end(), first, first + frame.length);
            rest.push_back(frame);
        }
        in.frames = std::move(rest);
        in.next = 0;
    }
    const size_t base = kept.size();
    kept.insert(kept.end(), bytes, bytes + size);
    card->input = std::move(kept);
    for (size_t i = 0; i < count; i++) {
        Frame frame = frames[i];
        frame.offset += base;
        card->source[frame.stream].frames.push_back(frame);
    }
}

// Queues `count` frames behind those that wait. Forgets the frames that have been sent, and their bytes.
EXPORT void penstock_add(Card* card, const Frame* frames, size_t count, const uint8_t* bytes, size_t size) {
    size_t used = card->input.size();
    for (Source& in : card->source) {
        in.frames.erase(in.frames.begin(), in.frames.begin() + static_cast<ptrdiff_t>(in.next));
        in.next = 0;
        if (!in.frames.empty()) used = std::min<size_t>(used, in.frames.front().offset);
    }
    card->input.erase(card->input.begin(), card->input.begin() + static_cast<ptrdiff_t>(used));
    for (Source& in : card->source)
        for (Frame& frame : in.frames) frame.offset -= used;
    const size_t base = card->input.size();
    card->input.insert(card->input.end(), bytes, bytes + size);
    for (size_t i = 0; i < count; i++) {
        Frame frame = frames[i];
        frame.offset += base;
        card->source[frame.stream].frames.push_back(frame);
    }
}

// Runs for at most `cycles`; ends early when all is sent and no beat has moved for `idle` cycles.
EXPORT uint32_t penstock_step(Card* card, uint64_t cycles, uint64_t idle) { return card->step(cycles, idle); }

EXPORT uint32_t penstock_write(Card* card, uint32_t address, uint32_t value) { return card->write(address, value); }

EXPORT uint32_t penstock_read(Card* card, uint32_t address, uint32_t* value) { return card->read(address, value); }

// Reads bytes of the host's memory; 0 if the address is beyond its end.
EXPORT uint32_t penstock_host_read(const Card* card, uint64_t address, uint8_t* bytes, size_t size) {
    return card->host_memory.read(address, bytes, size);
}

EXPORT uint32_t penstock_host_write(Card* card, uint64_t address, const uint8_t* bytes, size_t size) {
    return card->host_memory.write(address, bytes, size);
}

// Frames that entered since the last penstock_clear.
EXPORT size_t penstock_entries(const Card* card, const Entry** entries) {
    *entries = card->entries.data();
    return card->entries.size();
}

// Frames that left since the last penstock_clear, and their bytes.
EXPORT size_t penstock_exits(const Card* card, const Exit** exits, const uint8_t** bytes, size_t* size) {
    *exits = card->exits.data();
    *bytes = card->output.data();
    *size = card->output.size();
    return card->exits.size();
}

// Whether to record passing frames.
EXPORT void penstock_keep_hops(Card* card, uint32_t keep) { card->keep_hops = keep; }

// The hops recorded since the last penstock_clear.
EXPORT size_t penstock_hops(const Card* card, const Hop** hops) {
    *hops = card->hops.data();
    return card->hops.size();
}

EXPORT void penstock_clear(Card* card) {
    card->hops.clear();
    card->entries.clear();
    card->exits.clear();
    card->output.clear();
}

#ifdef PENSTOCK_WAVE
// Records `cycles` cycles, `from` ones from now on, into an FST file.
EXPORT void penstock_wave(Card* card, const char* path, uint64_t from, uint64_t cycles) {
    card->wave_path = path;
    card->wave_from = card->cycle + from;
    card->wave_until = card->wave_from + cycles;
}
#endif
