// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//
// A model of OpenNIC's shell around the card's plugin: the clocks, a CMAC at each port, and the host's accesses to the
// BAR, which come over a
// Unix socket. `opennic_sim SOCKET [DRIFT]` serves one host after another; DRIFT, in ppm, makes the CMACs' clocks run
// fast or slow.
//
// A request is a letter, two words and, for F, bytes; all words are little-endian. The answer is a status (0 done, 1
// no such port, 2 the card
// broke) and a word; after status 2 so many bytes of text. Time goes on with requests only.
//   R offset 0          reads a word of box_322mhz's region
//   W offset value      writes one
//   T cycles 0          lets so many cycles of the card go by
//   F port length ...   a frame for a port, sent at line rate behind those before
//   G port 0            the number of frames that have left there; then each as its length and its bytes
//
// One edge:  the next clock that changes ─> inputs for the falling edge ─> eval ─> outputs before the rising edge ─>
// eval
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "Vplugin.h"
#include "verilated.h"

namespace {

constexpr int Ports = PENSTOCK_PORTS;
constexpr int Beat = 64;
constexpr int64_t WireOverhead = 24;   // preamble 8, FCS 4, gap 12
constexpr int64_t LinePsAByte = 80;    // of 100 Gb/s
constexpr uint64_t CardPs = 4000;
constexpr uint64_t AxilPs = 8000;
constexpr double CmacPs = 3103.03;     // 322.265625 MHz
constexpr uint64_t BarPs = 500'000;    // a word over PCIe and back
constexpr uint64_t AccessLimitPs = 1'000'000'000;

std::string failure;

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

struct Clock {
    double period;
    double next;
    bool high = false;
};

// A CMAC: sends frames to the card at line rate, and takes them at line rate; its own queue holds some beats.
struct Cmac {
    std::deque<std::vector<uint8_t>> to_card;
    size_t sent = 0;          // bytes of the first of them
    double free_at = 0;       // when the wire has brought the beat before
    std::vector<uint8_t> frame;
    bool inside = false;
    double drained_at = 0;    // when the wire has taken what the card gave
    std::deque<std::vector<uint8_t>> left;
    uint64_t bad = 0;
};

struct Shell {
    VerilatedContext context;
    Vplugin top{&context};
    Clock card{CardPs, 1000}, axil{AxilPs, 1700};
    Clock cmac[Ports];
    Cmac port[Ports];
    double now = 0;

    explicit Shell(double ppm) {
        // Verilator ends a model that looks for an argument of the simulation before it was told of any.
        const char* arguments[] = {"penstock"};
        context.commandArgs(1, arguments);
        for (int p = 0; p < Ports; p++) cmac[p] = {CmacPs * (1 - ppm * 1e-6), 300.0 + 700.0 * p};
        top.mod_rstn = 0;
        top.box_rstn = 0;
        top.card_lock = 0;
        run(100'000);
        top.card_lock = 1;
        top.mod_rstn = 0xFF;
        top.box_rstn = 1;
        run(200'000);
    }

    // Carries out the next edge of a clock.
    void edge() {
        Clock* next = &card;
        int which = -2;
        if (axil.next < next->next) next = &axil, which = -1;
        for (int p = 0; p < Ports; p++)
            if (cmac[p].next < next->next) next = &cmac[p], which = p;
        now = next->next;
        const bool rise = !next->high;
        // Inputs of a rising edge are sampled before it, and their effects are set at the falling edge.
        if (rise && which >= 0) take(which);
        next->high = rise;
        next->next += next->period / 2;
        if (which == -2) top.card_clk = rise;
        else if (which == -1) top.axil_aclk = rise;
        else set_bit(bytes_of(top.cmac_clk), which, rise);
        if (!rise && which >= 0) drive(which);
        top.eval();
    }

    void run(double ps) {
        for (const double end = now + ps; now < end && failure.empty();) edge();
    }

    void drive(int p) {
        Cmac& mac = port[p];
        const bool due = !mac.to_card.empty() && now >= mac.free_at;
        set_bit(bytes_of(top.s_axis_cmac_rx_tvalid), p, due);
        if (due) {
            const auto& frame = mac.to_card.front();
            const size_t count = std::min<size_t>(Beat, frame.size() - mac.sent);
            const bool last = mac.sent + count == frame.size();
            uint8_t* data = bytes_of(top.s_axis_cmac_rx_tdata) + p * Beat;
            std::memset(data, 0xA5, Beat);
            std::memcpy(data, &frame[mac.sent], count);
            const uint64_t keep = count == Beat ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
            std::memcpy(bytes_of(top.s_axis_cmac_rx_tkeep) + p * 8, &keep, 8);
            set_bit(bytes_of(top.s_axis_cmac_rx_tlast), p, last);
            set_bit(bytes_of(top.s_axis_cmac_rx_tuser_err), p, false);
        }
        // It holds four beats more than the wire has taken.
        set_bit(bytes_of(top.m_axis_cmac_tx_tready), p, mac.drained_at <= now + 4.0 * Beat * LinePsAByte);
    }

    void take(int p) {
        Cmac& mac = port[p];
        if (bit(bytes_of(top.s_axis_cmac_rx_tvalid), p)) {
            const auto& frame = mac.to_card.front();
            const size_t count = std::min<size_t>(Beat, frame.size() - mac.sent);
            mac.sent += count;
            const bool last = mac.sent == frame.size();
            mac.free_at = std::max(mac.free_at, now - Beat * LinePsAByte) +
                          static_cast<double>((count + (last ? WireOverhead : 0)) * LinePsAByte);
            if (last) {
                mac.to_card.pop_front();
                mac.sent = 0;
            }
        }
        const bool ready = bit(bytes_of(top.m_axis_cmac_tx_tready), p);
        if (!bit(bytes_of(top.m_axis_cmac_tx_tvalid), p)) {
            if (mac.inside && ready) fail("port " + std::to_string(p) + ": the CMAC underruns");
            return;
        }
        if (!ready) return;
        uint64_t keep;
        std::memcpy(&keep, bytes_of(top.m_axis_cmac_tx_tkeep) + p * 8, 8);
        const int count = __builtin_popcountll(keep);
        const bool last = bit(bytes_of(top.m_axis_cmac_tx_tlast), p);
        if (keep != (count == Beat ? ~uint64_t{0} : (uint64_t{1} << count) - 1) || count == 0 || (!last && count != Beat))
            fail("port " + std::to_string(p) + ": a tkeep with holes");
        const uint8_t* data = bytes_of(top.m_axis_cmac_tx_tdata) + p * Beat;
        mac.frame.insert(mac.frame.end(), data, data + count);
        mac.inside = !last;
        mac.drained_at =
            std::max(mac.drained_at, now) + static_cast<double>((count + (last ? WireOverhead : 0)) * LinePsAByte);
        if (last) {
            if (bit(bytes_of(top.m_axis_cmac_tx_tuser_err), p)) mac.bad++;
            else mac.left.push_back(std::move(mac.frame));
            mac.frame.clear();
        }
    }

    uint32_t access(bool write, uint32_t offset, uint32_t value) {
        run(BarPs);
        wait_fall();
        top.s_axil_awaddr = top.s_axil_araddr = 0x200000 | offset;
        top.s_axil_wdata = value;
        top.s_axil_awvalid = top.s_axil_wvalid = write;
        top.s_axil_arvalid = !write;
        top.s_axil_bready = top.s_axil_rready = 1;
        uint32_t result = ~0u;
        bool done = false;
        for (const double end = now + AccessLimitPs; !done && failure.empty();) {
            if (now > end) {
                fail("the plugin does not answer an access to its registers");
                break;
            }
            const bool address = top.s_axil_awvalid && top.s_axil_awready, data = top.s_axil_wvalid && top.s_axil_wready;
            const bool read = top.s_axil_arvalid && top.s_axil_arready;
            done = write ? top.s_axil_bvalid : top.s_axil_rvalid;
            if (done) result = top.s_axil_rdata;
            wait_fall();
            if (address) top.s_axil_awvalid = 0;
            if (data) top.s_axil_wvalid = 0;
            if (read) top.s_axil_arvalid = 0;
        }
        top.s_axil_bready = top.s_axil_rready = 0;
        return result;
    }

    // Through the next rising edge of the register clock to its falling edge.
    void wait_fall() {
        while (failure.empty() && !axil.high) edge();
        while (failure.empty() && axil.high) edge();
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

// Serves a host until it goes.
void serve(Shell& shell, int host) {
    for (;;) {
        uint8_t kind;
        uint32_t words[2];
        if (!take_all(host, &kind, 1) || !take_all(host, words, sizeof words)) return;
        std::vector<uint8_t> answer{0}, rest;
        uint32_t word = 0;
        const bool no_port = (kind == 'F' || kind == 'G') && words[0] >= static_cast<uint32_t>(Ports);
        std::vector<uint8_t> frame;
        if (kind == 'F') {
            frame.resize(words[1]);
            if (words[1] > 1 << 20 || !take_all(host, frame.data(), frame.size())) return;
        }
        if (no_port) answer[0] = 1;
        else if (kind == 'R') word = shell.access(false, words[0], 0);
        else if (kind == 'W') shell.access(true, words[0], words[1]);
        else if (kind == 'T') shell.run(static_cast<double>(words[0]) * CardPs);
        else if (kind == 'F') {
            if (!frame.empty()) shell.port[words[0]].to_card.push_back(std::move(frame));
        } else if (kind == 'G') {
            auto& left = shell.port[words[0]].left;
            word = static_cast<uint32_t>(left.size());
            for (const auto& one : left) {
                add_word(rest, static_cast<uint32_t>(one.size()));
                rest.insert(rest.end(), one.begin(), one.end());
            }
            left.clear();
        } else return;
        if (!failure.empty()) {
            answer[0] = 2;
            word = static_cast<uint32_t>(failure.size());
            rest.assign(failure.begin(), failure.end());
        }
        add_word(answer, word);
        answer.insert(answer.end(), rest.begin(), rest.end());
        if (!give_all(host, answer)) return;
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

int main(int count, char** words) {
    if (count < 2 || count > 3) {
        std::fprintf(stderr, "usage: opennic_sim SOCKET [DRIFT]\n");
        return 2;
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (std::strlen(words[1]) >= sizeof address.sun_path) {
        std::fprintf(stderr, "%s: a socket's path has less than %zu bytes\n", words[1], sizeof address.sun_path);
        return 2;
    }
    std::strcpy(address.sun_path, words[1]);
    Shell shell{count > 2 ? std::atof(words[2]) : 0.0};
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
        serve(shell, host);
        close(host);
    }
}
