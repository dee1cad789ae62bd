// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//
// A model of a shell around the card: clocks, a MAC at each port, and the host's accesses to the BAR, which come over a
// Unix socket. `SHELL_sim SOCKET [DRIFT]` serves one host after another; a second one meanwhile is sent away.
// `SHELL_sim - [DRIFT]` serves the host at its standard input, and ends with it. DRIFT, in ppm, makes the MACs' clocks
// and their cables fast or slow. At SIGUSR1 the shell resets the card. At SIGUSR2 the last of
// the board's memories loses its calibration, and at the next one has it again.
//
// A request is a letter, two words and, for F and B, bytes; all words are little-endian. The answer is a status (0 done, 1
// no such port, 2 the card broke, 3 another host drives it), a word and the cycles of 4 ns so far, in two words; after
// status 2 so many bytes of text. Time goes on with requests only.
//   R offset 0          reads a word of the card's region in the BAR
//   W offset value      writes one
//   T cycles quiet      lets so many cycles of the card go by; with `quiet`, ends earlier when all frames have entered
//                       and nothing has moved at the MACs for so many cycles, and the word is 1
//   L port ps           from now on a byte at the cable of the port takes so long, preamble, gap and FCS included
//   F port length ...   a frame for a port, sent at that rate behind those before
//   B port length ...   the same, and the MAC marks it as bad
//   X 0 0               forgets the frames that have not begun to enter
//   E port 0            the number of frames that have entered there; then the cycle in which each began, two words
//   G port 0            the number of frames that have left there; then each as its length, the cycles of its first and
//                       its last beat, and its bytes
// The host's stream is the port behind the others, as fast as these; it waits where the card is not ready. Frames to the
// host begin with the header of host_mark.sv.
//
// The units are instances of separate models (device/rtl/split), whose wires this file carries as device/rtl/driver.cpp
// does.
//
// One edge:  the next clock that changes ─> inputs for the falling edge ─> eval ─> outputs before the rising edge ─>
// eval
//
// The class Pins of a shell has the parts that differ: clocks, names of signals, and the shell's own traffic.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "Vplugin.h"
#include "unit_model.h"
#include "verilated.h"

// Hash of the card's hardware, in the order of the registers DESIGN: device/src/rtl/build.rs defines it.
extern const uint32_t card_design[4];

namespace {

constexpr int Ports = PENSTOCK_PORTS;
constexpr int Memories = PENSTOCK_MEMORIES;  // of the card, on the board
constexpr int Streams = Ports + 1;  // of the MACs, and the host's
constexpr int BeatBytes = 64;
constexpr int64_t WireOverhead = 24;   // preamble 8, FCS 4, gap 12
constexpr uint32_t LinePsAByte = 80;   // of 100 Gb/s
constexpr uint64_t CardPs = 4000;
constexpr double MacPs = 3103.03;      // 322.265625 MHz
constexpr uint64_t BarPs = 16'000;     // from one access to the next: PCIe takes longer, which would show nothing
constexpr uint64_t AccessLimitPs = 1'000'000'000;
constexpr uint64_t ResetPs = 100'000;

std::string failure;
volatile sig_atomic_t reset_asked = 0, turn_asked = 0;

void fail(const std::string& text) {
    if (failure.empty()) failure = text;
}

template <class Signal>
uint8_t* bytes_of(Signal& signal) {
    return reinterpret_cast<uint8_t*>(&signal);
}

void set_bit(uint8_t* image, int index, bool value) {
    const uint8_t mask = static_cast<uint8_t>(1u << (index & 7));
    image[index >> 3] = static_cast<uint8_t>(value ? image[index >> 3] | mask : image[index >> 3] & ~mask);
}

bool bit(const uint8_t* image, int index) { return (image[index >> 3] >> (index & 7)) & 1; }

// A clock, and what runs on it.
struct Clock {
    enum Role { Card = 1, Registers = 2, Rx = 4, Tx = 8, Memory = 16 };
    int roles;
    int port;  // of Rx and Tx; of Memory its number
    double period;
    double next;
    bool high = false;
};

// A cycle's bytes of a MAC's stream.
struct Beat {
    uint8_t data[BeatBytes];
    uint64_t keep;
    bool last, bad;
};

// The signals of an AXI4-Lite interface.
struct AxiLite {
    IData &awaddr, &wdata, &araddr, &rdata;
    CData &awvalid, &awready, &wvalid, &wready, &bvalid, &bready, &arvalid, &arready, &rvalid, &rready;
};

// A frame for the card; the MAC may mark it as bad.
struct Frame {
    std::vector<uint8_t> bytes;
    bool bad;
};

// A frame that has left, and the cycles of its first and last beat.
struct Left {
    uint64_t first, last;
    std::vector<uint8_t> bytes;
};

// A MAC: sends frames to the card at line rate, and takes them at line rate; its own queue holds some beats.
struct Mac {
    std::deque<Frame> to_card;
    bool shown = false;       // a beat of the first of them
    size_t sent = 0;          // bytes of it
    double ps_a_byte = 0;
    double free_at = 0;       // when the wire has brought the beat before
    double began_at = 0;      // when the frame that enters began
    // Cycles in which frames began to. They name the frames, so of two short ones in a cycle the second has the next.
    std::vector<uint64_t> entered;
    uint64_t last_entry = 0;
    std::vector<uint8_t> frame;
    bool inside = false;
    bool ready = false;
    double drained_at = 0;    // when the wire has taken what the card gave
    uint64_t first = 0;       // cycle of the first beat of `frame`
    std::vector<Left> left;

    size_t count() const { return std::min<size_t>(BeatBytes, to_card.front().bytes.size() - sent); }
    bool last() const { return sent + count() == to_card.front().bytes.size(); }
};

template <class Pins>
struct Shell {
    VerilatedContext context;
    Pins pins{&context};
    std::vector<Clock> clocks;
    Mac port[Streams];
    std::vector<std::unique_ptr<UnitModel>> units;
    double now = 0;
    double moved_at = 0;  // when a beat has moved at a MAC
    const double period;   // of the MACs' clocks and cables, as a part of what they should have
    const double line_ps = LinePsAByte * period;

    explicit Shell(double ppm) : period(1 - ppm * 1e-6) {
        clocks = Pins::clocks(MacPs * period);
        for (Mac& mac : port) mac.ps_a_byte = line_ps;
        // Verilator ends a model that looks for an argument of the simulation before it was told of any.
        const char* arguments[] = {"penstock"};
        context.commandArgs(1, arguments);
        Verilated::threadContextp(&context);
        for (int u = 0; u < PENSTOCK_UNITS; u++) {
            units.emplace_back(make_unit[u](&context, ("unit" + std::to_string(u)).c_str()));
            units.back()->unit_id = static_cast<uint8_t>(u);
            units.back()->card = PENSTOCK_PORTS << 6 | PENSTOCK_UNITS;
        }
        // Word 0 has the first four bytes of the hash, and Verilator's the last four.
        for (int i = 0; i < 4; i++) pins.top.design_hash[3 - i] = card_design[i];
        reset();
    }

    uint64_t cycle() const { return static_cast<uint64_t>(now / CardPs); }

    // The shell's reset of the card.
    void reset() {
        pins.reset(true);
        run(ResetPs);
        pins.reset(false);
        run(2 * ResetPs);
    }

    // Carries out the next edge of a clock.
    void edge() {
        Clock& clock = *std::min_element(clocks.begin(), clocks.end(),
                                         [](const Clock& a, const Clock& b) { return a.next < b.next; });
        now = clock.next;
        const bool rise = !clock.high;
        // Inputs of a rising edge are sampled before it, and their effects are set at the falling edge.
        if (rise) {
            pins.before_rise(clock);
            for (int p = 0; p < Streams; p++) {
                if (moves(clock, p, Clock::Rx, Pins::HostIn)) enter(p);
                if (moves(clock, p, Clock::Tx, Pins::HostOut)) leave(p);
            }
        }
        clock.high = rise;
        clock.next += clock.period / 2;
        pins.set_clock(clock, rise);
        if (!rise) {
            pins.after_fall(clock);
            for (int p = 0; p < Streams; p++) {
                if (moves(clock, p, Clock::Rx, Pins::HostIn)) show(p);
                if (!moves(clock, p, Clock::Tx, Pins::HostOut)) continue;
                // It holds four beats more than the wire has taken. OpenNIC's host has no ready.
                Mac& mac = port[p];
                mac.ready = mac.drained_at <= now + 4 * BeatBytes * line_ps || (p == Ports && !Pins::HostWaits);
                pins.set_tx_ready(p, mac.ready);
            }
        }
        if (clock.roles & Clock::Card) card_edge(rise);
        else pins.top.eval();
    }

    // Whether a clock moves a stream: that of a MAC by its role, the host's by a role of port 0.
    static bool moves(const Clock& clock, int p, int of_mac, int of_host) {
        return p < Ports ? (clock.roles & of_mac) && clock.port == p : (clock.roles & of_host) && clock.port == 0;
    }

    // The card's clock, and that of its units.
    void card_edge(bool rise) {
        if (rise) {
            pins.top.eval();
            for (auto& unit : units) {
                unit->clk = 1;
                unit->eval();
            }
            return;
        }
        for (int u = 0; u < PENSTOCK_UNITS; u++) {
            pins.top.from_unit[u] = units[u]->from_unit;
            units[u]->clk = 0;
            units[u]->rst = pins.top.unit_rst;
        }
        for (int pass = 0; pass == 0 || !settled(); pass++) {
            if (pass == 8) return fail("the wires between card and units do not settle");
            pins.top.eval();
            for (int u = 0; u < PENSTOCK_UNITS; u++) {
                units[u]->to_unit = pins.top.to_unit[u];
                units[u]->eval();
            }
        }
    }

    // Whether the card has the units' present outputs; if not, passes them on.
    bool settled() {
        bool same = true;
        for (int u = 0; u < PENSTOCK_UNITS; u++) {
            if (std::memcmp(&pins.top.from_unit[u], &units[u]->from_unit, sizeof units[u]->from_unit) == 0) continue;
            pins.top.from_unit[u] = units[u]->from_unit;
            same = false;
        }
        return same;
    }

    // From now on a byte at the cable of a port takes so many ps of the cable's own clock.
    void pace(uint32_t p, uint32_t ps) { port[p].ps_a_byte = std::max(ps, LinePsAByte) * period; }

    void run(double ps) {
        for (const double end = now + ps; now < end && failure.empty();) edge();
    }

    // The same, until all frames have entered and nothing has moved for `quiet` ps; whether that came first.
    bool run_until_quiet(double ps, double quiet) {
        const auto sent = [this] {
            return std::all_of(port, port + Streams, [](const Mac& mac) { return mac.to_card.empty(); });
        };
        for (const double end = now + ps; now < end && failure.empty();) {
            edge();
            if (now - moved_at > quiet && sent()) return true;
        }
        return false;
    }

    // Shows the next beat of a frame to the card.
    void show(int p) {
        Mac& mac = port[p];
        mac.shown = !mac.to_card.empty() && now >= mac.free_at;
        Beat beat{};
        if (mac.shown) {
            const size_t count = mac.count();
            std::memset(beat.data, 0xA5, BeatBytes);
            std::memcpy(beat.data, &mac.to_card.front().bytes[mac.sent], count);
            beat.keep = count == BeatBytes ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
            beat.last = mac.last();
            beat.bad = beat.last && mac.to_card.front().bad;
        }
        pins.set_rx(p, mac.shown, beat);
    }

    // A beat that was shown enters.
    void enter(int p) {
        Mac& mac = port[p];
        if (!mac.shown || !pins.rx_ready(p)) return;
        mac.shown = false;
        const size_t size = mac.to_card.front().bytes.size(), count = mac.count();
        // A beat waits for an edge of the clock, and for the beat before if both came between two edges.
        const double line = std::max(mac.free_at, now - 2 * BeatBytes * line_ps);
        if (mac.sent == 0) {
            mac.last_entry = std::max(cycle(), mac.last_entry + 1);
            mac.entered.push_back(mac.last_entry);
            mac.began_at = line;
        }
        mac.sent += count;
        moved_at = now;
        mac.free_at = line + static_cast<double>(count) * line_ps;
        if (mac.sent < size) return;
        // Within a frame bytes come at line rate; a slower cable adds a gap behind it.
        mac.free_at = std::max(mac.free_at + static_cast<double>(WireOverhead) * line_ps,
                               mac.began_at + static_cast<double>(size + WireOverhead) * mac.ps_a_byte);
        mac.to_card.pop_front();
        mac.sent = 0;
    }

    // Takes a beat from the card.
    void leave(int p) {
        Mac& mac = port[p];
        Beat beat;
        if (!pins.tx(p, beat)) {
            if (mac.inside && mac.ready && p < Ports) fail("port " + std::to_string(p) + ": the MAC underruns");
            return;
        }
        if (!mac.ready) return;
        const int count = __builtin_popcountll(beat.keep);
        if (beat.keep != (count == BeatBytes ? ~uint64_t{0} : (uint64_t{1} << count) - 1) || count == 0 ||
            (!beat.last && count != BeatBytes))
            fail("port " + std::to_string(p) + ": a tkeep with holes");
        if (!mac.inside) mac.first = cycle();
        moved_at = now;
        mac.frame.insert(mac.frame.end(), beat.data, beat.data + count);
        mac.inside = !beat.last;
        mac.drained_at =
            std::max(mac.drained_at, now) + static_cast<double>(count + (beat.last ? WireOverhead : 0)) * line_ps;
        if (beat.last) {
            // A frame that the card marks bad ends on the cable.
            if (!beat.bad) mac.left.push_back({mac.first, cycle(), mac.frame});
            mac.frame.clear();
        }
    }

    uint32_t access(bool write, uint32_t offset, uint32_t value) {
        run(BarPs);
        wait_fall();
        AxiLite& axil = pins.axil;
        axil.awaddr = axil.araddr = Pins::Base | offset;
        axil.wdata = value;
        axil.awvalid = axil.wvalid = write;
        axil.arvalid = !write;
        axil.bready = axil.rready = 1;
        uint32_t result = ~0u;
        bool done = false;
        for (const double end = now + AccessLimitPs; !done && failure.empty();) {
            if (now > end) {
                fail("the card does not answer an access to its registers");
                break;
            }
            const bool address = axil.awvalid && axil.awready, data = axil.wvalid && axil.wready;
            const bool read = axil.arvalid && axil.arready;
            done = write ? axil.bvalid : axil.rvalid;
            if (done) result = axil.rdata;
            wait_fall();
            if (address) axil.awvalid = 0;
            if (data) axil.wvalid = 0;
            if (read) axil.arvalid = 0;
        }
        axil.bready = axil.rready = 0;
        return result;
    }

    // Through the next rising edge of the register clock to its falling edge.
    void wait_fall() {
        const Clock& clock = *std::find_if(clocks.begin(), clocks.end(),
                                           [](const Clock& one) { return one.roles & Clock::Registers; });
        while (failure.empty() && !clock.high) edge();
        while (failure.empty() && clock.high) edge();
    }
};

bool take_all(int socket, void* to, size_t size) {
    auto* bytes = static_cast<uint8_t*>(to);
    while (size > 0) {
        const ssize_t count = read(socket, bytes, size);
        if (count <= 0) return false;
        bytes += count;
        size -= static_cast<size_t>(count);
    }
    return true;
}

bool give_all(int socket, const std::vector<uint8_t>& bytes) {
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t count = send(socket, &bytes[done], bytes.size() - done, MSG_NOSIGNAL);
        if (count <= 0) return false;
        done += static_cast<size_t>(count);
    }
    return true;
}

void add_word(std::vector<uint8_t>& to, uint32_t word) {
    for (int i = 0; i < 4; i++) to.push_back(static_cast<uint8_t>(word >> 8 * i));
}

void add_cycle(std::vector<uint8_t>& to, uint64_t cycle) {
    add_word(to, static_cast<uint32_t>(cycle));
    add_word(to, static_cast<uint32_t>(cycle >> 32));
}

std::vector<uint8_t> head(uint8_t status, uint32_t word, uint64_t cycle) {
    std::vector<uint8_t> answer{status};
    add_word(answer, word);
    add_cycle(answer, cycle);
    return answer;
}

// Waits for the host's next request; sends other hosts away meanwhile. A listener below 0 is none.
bool await(int host, int listener) {
    for (;;) {
        pollfd both[2] = {{host, POLLIN, 0}, {listener, POLLIN, 0}};
        if (poll(both, 2, -1) < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        // A host that has gone makes room for the next, which may have come by now.
        uint8_t peeked;
        if (recv(host, &peeked, 1, MSG_PEEK | MSG_DONTWAIT) == 0) return false;
        if (both[1].revents) {
            const int other = accept(listener, nullptr, nullptr);
            if (other >= 0) {
                give_all(other, head(3, 0, 0));
                close(other);
            }
        }
        if (both[0].revents) return true;
    }
}

// Serves a host until it goes.
template <class Pins>
void serve(Shell<Pins>& shell, int host, int listener) {
    for (;;) {
        uint8_t kind;
        uint32_t words[2];
        if (!await(host, listener) || !take_all(host, &kind, 1) || !take_all(host, words, sizeof words)) return;
        if (reset_asked) {
            reset_asked = 0;
            shell.reset();
        }
        if (turn_asked) {
            turn_asked = 0;
            shell.pins.turn_memory();
            shell.run(ResetPs);
        }
        uint8_t status = 0;
        std::vector<uint8_t> rest, frame;
        uint32_t word = 0;
        if (kind == 'F' || kind == 'B') {
            frame.resize(words[1]);
            if (words[1] > 1 << 20 || !take_all(host, frame.data(), frame.size())) return;
        }
        if (std::strchr("LFBEG", kind) && words[0] >= static_cast<uint32_t>(Streams)) status = 1;
        else if (kind == 'R') word = shell.access(false, words[0], 0);
        else if (kind == 'W') shell.access(true, words[0], words[1]);
        else if (kind == 'T' && words[1] == 0) shell.run(static_cast<double>(words[0]) * CardPs);
        else if (kind == 'T') {
            const auto ps = [](uint32_t cycles) { return static_cast<double>(cycles) * CardPs; };
            word = shell.run_until_quiet(ps(words[0]), ps(words[1]));
        } else if (kind == 'L') shell.pace(words[0], words[1]);
        else if (kind == 'F' || kind == 'B') {
            if (!frame.empty()) shell.port[words[0]].to_card.push_back({std::move(frame), kind == 'B'});
        } else if (kind == 'X') {
            for (Mac& mac : shell.port) mac.to_card.resize(std::min<size_t>(mac.to_card.size(), mac.sent > 0 || mac.shown));
        } else if (kind == 'E') {
            auto& entered = shell.port[words[0]].entered;
            word = static_cast<uint32_t>(entered.size());
            for (const uint64_t cycle : entered) add_cycle(rest, cycle);
            entered.clear();
        } else if (kind == 'G') {
            auto& left = shell.port[words[0]].left;
            word = static_cast<uint32_t>(left.size());
            for (const Left& one : left) {
                add_word(rest, static_cast<uint32_t>(one.bytes.size()));
                add_cycle(rest, one.first);
                add_cycle(rest, one.last);
                rest.insert(rest.end(), one.bytes.begin(), one.bytes.end());
            }
            left.clear();
        } else return;
        if (!failure.empty()) {
            status = 2;
            word = static_cast<uint32_t>(failure.size());
            rest.assign(failure.begin(), failure.end());
        }
        std::vector<uint8_t> answer = head(status, word, shell.cycle());
        answer.insert(answer.end(), rest.begin(), rest.end());
        if (!give_all(host, answer)) return;
    }
}

template <class Pins>
int serve_shell(int count, char** words) {
    if (count < 2 || count > 3) {
        std::fprintf(stderr, "usage: %s SOCKET|- [DRIFT]\n", words[0]);
        return 2;
    }
    signal(SIGUSR1, [](int) { reset_asked = 1; });
    signal(SIGUSR2, [](int) { turn_asked = 1; });
    const double drift = count > 2 ? std::atof(words[2]) : 0.0;
    if (std::strcmp(words[1], "-") == 0) {
        Shell<Pins> shell{drift};
        serve(shell, STDIN_FILENO, -1);
        return 0;
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (std::strlen(words[1]) >= sizeof address.sun_path) {
        std::fprintf(stderr, "%s: a socket's path has less than %zu bytes\n", words[1], sizeof address.sun_path);
        return 2;
    }
    std::strcpy(address.sun_path, words[1]);
    Shell<Pins> shell{drift};
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink(words[1]);
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener, 1) != 0) {
        std::perror(words[1]);
        return 1;
    }
    std::printf("ready\n");
    std::fflush(stdout);
    for (;;) {
        const int host = accept(listener, nullptr, nullptr);
        if (host < 0) return 1;
        serve(shell, host, listener);
        close(host);
    }
}

}  // namespace

void vl_stop(const char* file, int line, const char* scope) {
    fail(std::string(file) + ":" + std::to_string(line) + ": stopped in " + (scope ? scope : ""));
}
void vl_finish(const char* file, int line, const char* scope) { vl_stop(file, line, scope); }
void vl_fatal(const char* file, int line, const char*, const char* text) {
    fail(std::string(file) + ":" + std::to_string(line) + ": " + text);
}
