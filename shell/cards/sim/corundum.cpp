// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//
// A model of Corundum's shell around the card's application block (shell.h): the core's clock, two of each MAC, and one
// of each DDR4 controller, whose channel is a model of DRAM (corundum_shell.sv). The host's frames go through the NIC's
// port 0. At each other port the NIC sends frames of its own all the time. The model fails if a frame of the NIC is not
// completed, if another port of the NIC receives a frame, or if the block begins a transfer of its own.
#include "shell.h"

namespace {

constexpr int TagBits = 16, TxUserBits = TagBits + 1, RxUserBits = 97;
constexpr double DdrPs = 3333;  // of DDR4-2400: 300 MHz
constexpr int NicGap = 100;     // cycles from a frame of the NIC to the next one
constexpr int NicBeats = 3;     // of a frame
constexpr int NicPatience = 50;  // cycles within which a beat is taken and a frame completed

constexpr int AllMemories = (1 << std::max(Memories, 1)) - 1;

// The NIC at a port.
struct Nic {
    int wait = NicGap;      // cycles until the next frame
    int beat = 0;           // of the frame
    int waited = 0;         // cycles since a beat was taken
    bool open = false;      // a frame has been sent and is not completed
    uint16_t tag = 0x5A00;  // of this frame or the next one
};

struct Corundum {
    Vplugin top;
    AxiLite axil{top.s_axil_app_ctrl_awaddr,  top.s_axil_app_ctrl_wdata,   top.s_axil_app_ctrl_araddr,
                 top.s_axil_app_ctrl_rdata,   top.s_axil_app_ctrl_awvalid, top.s_axil_app_ctrl_awready,
                 top.s_axil_app_ctrl_wvalid,  top.s_axil_app_ctrl_wready,  top.s_axil_app_ctrl_bvalid,
                 top.s_axil_app_ctrl_bready,  top.s_axil_app_ctrl_arvalid, top.s_axil_app_ctrl_arready,
                 top.s_axil_app_ctrl_rvalid,  top.s_axil_app_ctrl_rready};
    static constexpr uint32_t Base = 0;  // the application has a BAR of its own
    static constexpr int HostIn = Clock::Tx, HostOut = Clock::Rx;  // clocks of port 0 that move the host's frames
    static constexpr bool HostWaits = true;                       // its stream from the card has a ready
    Nic nic[Ports];
    uint16_t host_tag = 0;                 // of the host's present frame
    int host_waits = 0, host_waited = 0;   // completions that it waits for, and cycles since the last one
    unsigned host_turn = 0;

    explicit Corundum(VerilatedContext* context) : top(context) { top.ddr_calibrates = AllMemories; }

    // The last memory loses its calibration, or has it again.
    void turn_memory() {
        top.ddr_calibrates ^= AllMemories ^ AllMemories >> 1;
    }

    static std::vector<Clock> clocks(double mac_ps) {
        std::vector<Clock> all{{Clock::Card | Clock::Registers, 0, CardPs, 1000}};
        for (int p = 0; p < Ports; p++) {
            all.push_back({Clock::Rx, p, mac_ps * (1 + 20e-6), 300.0 + 700.0 * p});
            all.push_back({Clock::Tx, p, mac_ps, 500.0 + 700.0 * p});
        }
        for (int c = 0; c < Memories; c++) all.push_back({Clock::Memory, c, DdrPs * (1 + 50e-6 * c), 400.0 + 900.0 * c});
        return all;
    }

    void set_clock(const Clock& clock, bool high) {
        if (clock.roles & Clock::Card) top.clk = high;
        else if (clock.roles & Clock::Memory) set_bit(bytes_of(top.ddr_clk), clock.port, high);
        else if (clock.roles & Clock::Rx) set_bit(bytes_of(top.direct_rx_clk), clock.port, high);
        else set_bit(bytes_of(top.direct_tx_clk), clock.port, high);
    }

    void reset(bool on) {
        top.rst = on;
        top.direct_rx_rst = top.direct_tx_rst = on ? (1 << Ports) - 1 : 0;
        top.ddr_rst = on ? AllMemories : 0;
        if (on) std::fill(nic, nic + Ports, Nic{});
        host_waits = host_waited = 0;
    }

    void before_rise(const Clock& clock) {
        const int p = clock.port;
        if (clock.roles & Clock::Card && (top.m_axil_ctrl_awvalid || top.m_axil_ctrl_arvalid ||
                                          top.m_axis_ctrl_dma_read_desc_valid || top.m_axis_ctrl_dma_write_desc_valid ||
                                          top.m_axis_data_dma_read_desc_valid || top.m_axis_data_dma_write_desc_valid ||
                                          top.m_axi_hbm_awvalid || top.m_axi_hbm_arvalid || top.m_axis_stat_tvalid))
            fail("the block begins a transfer of its own");
        if (clock.roles & Clock::Rx && p > 0 && bit(bytes_of(top.m_axis_direct_rx_tvalid), p))
            fail("port " + std::to_string(p) + ": the NIC receives a frame");
        if (clock.roles & Clock::Tx && !bit(bytes_of(top.direct_tx_rst), p)) p > 0 ? serve_nic(p) : complete_host();
    }

    // A completion of the host's oldest frame, whose tag is the number of its last beat's frame.
    void complete_host() {
        if (bit(bytes_of(top.s_axis_direct_tx_tvalid), 0) && bit(bytes_of(top.s_axis_direct_tx_tready), 0) &&
            bit(bytes_of(top.s_axis_direct_tx_tlast), 0)) {
            host_waits++;
            host_tag++;
        }
        if (!bit(bytes_of(top.m_axis_direct_tx_cpl_valid), 0) || !bit(bytes_of(top.m_axis_direct_tx_cpl_ready), 0)) {
            if (host_waits > 0 && ++host_waited == NicPatience) fail("a frame of the host is not completed");
            return;
        }
        uint16_t tag;
        std::memcpy(&tag, bytes_of(top.m_axis_direct_tx_cpl_tag), 2);
        if (host_waits-- == 0 || tag != static_cast<uint16_t>(host_tag - host_waits - 1))
            fail("a completion of a frame that the host has not sent");
        host_waited = 0;
    }

    // What moves between the NIC and the block with a rising edge.
    void serve_nic(int p) {
        Nic& at = nic[p];
        const std::string port = "port " + std::to_string(p);
        if (bit(bytes_of(top.m_axis_direct_tx_cpl_valid), p) && bit(bytes_of(top.m_axis_direct_tx_cpl_ready), p)) {
            uint16_t tag;
            std::memcpy(&tag, bytes_of(top.m_axis_direct_tx_cpl_tag) + p * 2, 2);
            if (!at.open || tag != at.tag) fail(port + ": a completion of a frame that the NIC has not sent");
            at = {.tag = static_cast<uint16_t>(at.tag + 1)};
        } else if (at.wait > 0) {
            at.wait--;
        } else if (!at.open && bit(bytes_of(top.s_axis_direct_tx_tvalid), p) &&
                   bit(bytes_of(top.s_axis_direct_tx_tready), p)) {
            at.open = ++at.beat == NicBeats;
            at.waited = 0;
        } else if (++at.waited == NicPatience) {
            fail(port + ": a frame of the NIC is not taken, or not completed");
        }
    }

    void after_fall(const Clock& clock) {
        if (!(clock.roles & Clock::Tx)) return;
        const int p = clock.port;
        // A completion waits for a cycle or two now and then.
        if (p == 0) return set_bit(bytes_of(top.m_axis_direct_tx_cpl_ready), 0, ++host_turn % 3 == 0);
        const Nic& at = nic[p];
        set_bit(bytes_of(top.s_axis_direct_tx_tvalid), p, !at.open && at.wait == 0);
        set_bit(bytes_of(top.s_axis_direct_tx_tlast), p, at.beat == NicBeats - 1);
        for (int i = 0; i < TagBits; i++)
            set_bit(bytes_of(top.s_axis_direct_tx_tuser), p * TxUserBits + 1 + i, at.tag >> i & 1);
        std::memset(bytes_of(top.s_axis_direct_tx_tdata) + p * BeatBytes, 0xEE, BeatBytes);
        // Three cycles late
        set_bit(bytes_of(top.m_axis_direct_tx_cpl_ready), p, at.waited >= 3);
    }

    void set_rx(int p, bool valid, const Beat& beat) {
        if (p == Ports) {
            set_bit(bytes_of(top.s_axis_direct_tx_tvalid), 0, valid);
            if (!valid) return;
            std::memcpy(bytes_of(top.s_axis_direct_tx_tdata), beat.data, BeatBytes);
            std::memcpy(bytes_of(top.s_axis_direct_tx_tkeep), &beat.keep, 8);
            set_bit(bytes_of(top.s_axis_direct_tx_tlast), 0, beat.last);
            set_bit(bytes_of(top.s_axis_direct_tx_tuser), 0, beat.bad);
            for (int i = 0; i < TagBits; i++)
                set_bit(bytes_of(top.s_axis_direct_tx_tuser), 1 + i, host_tag >> i & 1);
            return;
        }
        set_bit(bytes_of(top.s_axis_direct_rx_tvalid), p, valid);
        if (!valid) return;
        std::memcpy(bytes_of(top.s_axis_direct_rx_tdata) + p * BeatBytes, beat.data, BeatBytes);
        std::memcpy(bytes_of(top.s_axis_direct_rx_tkeep) + p * 8, &beat.keep, 8);
        set_bit(bytes_of(top.s_axis_direct_rx_tlast), p, beat.last);
        // A time stamp follows.
        for (int i = 1; i < RxUserBits; i++) set_bit(bytes_of(top.s_axis_direct_rx_tuser), p * RxUserBits + i, true);
        set_bit(bytes_of(top.s_axis_direct_rx_tuser), p * RxUserBits, beat.bad);
    }

    // Whether the card takes the beat that is shown.
    bool rx_ready(int p) { return p < Ports || bit(bytes_of(top.s_axis_direct_tx_tready), 0); }

    void set_tx_ready(int p, bool ready) {
        if (p < Ports) set_bit(bytes_of(top.m_axis_direct_tx_tready), p, ready);
        else set_bit(bytes_of(top.m_axis_direct_rx_tready), 0, ready);
    }

    // The beat that the card shows; whether there is one.
    bool tx(int p, Beat& beat) {
        if (p == Ports) {
            if (!bit(bytes_of(top.m_axis_direct_rx_tvalid), 0)) return false;
            std::memcpy(beat.data, bytes_of(top.m_axis_direct_rx_tdata), BeatBytes);
            std::memcpy(&beat.keep, bytes_of(top.m_axis_direct_rx_tkeep), 8);
            beat.last = bit(bytes_of(top.m_axis_direct_rx_tlast), 0);
            beat.bad = bit(bytes_of(top.m_axis_direct_rx_tuser), 0);
            return true;
        }
        if (!bit(bytes_of(top.m_axis_direct_tx_tvalid), p)) return false;
        std::memcpy(beat.data, bytes_of(top.m_axis_direct_tx_tdata) + p * BeatBytes, BeatBytes);
        std::memcpy(&beat.keep, bytes_of(top.m_axis_direct_tx_tkeep) + p * 8, 8);
        beat.last = bit(bytes_of(top.m_axis_direct_tx_tlast), p);
        beat.bad = bit(bytes_of(top.m_axis_direct_tx_tuser), p * TxUserBits);
        return true;
    }
};

}  // namespace

int main(int count, char** words) { return serve_shell<Corundum>(count, words); }
