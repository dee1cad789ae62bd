// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//
// A model of OpenNIC's shell around the card's plugin in box_322mhz (shell.h): the card's clock, that of the registers,
// and one for each CMAC. The host's frames go over the shell's own streams of port 0. At those of other ports the host
// offers a frame all the time, which the plugin must drop, and must not send one. The model fails if the plugin does not
// report the end of a reset.
#include "shell.h"

namespace {

constexpr int ResetPatience = 50;  // cycles of the registers' clock within which the plugin leaves its reset

struct OpenNic {
    Vplugin top;
    AxiLite axil{top.s_axil_awaddr,  top.s_axil_wdata,   top.s_axil_araddr,  top.s_axil_rdata,   top.s_axil_awvalid,
                 top.s_axil_awready, top.s_axil_wvalid,  top.s_axil_wready,  top.s_axil_bvalid,  top.s_axil_bready,
                 top.s_axil_arvalid, top.s_axil_arready, top.s_axil_rvalid,  top.s_axil_rready};
    static constexpr uint32_t Base = 0x200000;  // of box_322mhz
    static constexpr int HostIn = Clock::Rx, HostOut = Clock::Tx;  // clocks of port 0 that move the host's frames
    static constexpr bool HostWaits = false;                      // its stream from the card has no ready
    static constexpr int Others = ((1 << Ports) - 1) & ~1;
    int since_reset = 0;  // cycles of the registers' clock

    explicit OpenNic(VerilatedContext* context) : top(context) {}

    static std::vector<Clock> clocks(double mac_ps) {
        std::vector<Clock> all{{Clock::Card, 0, CardPs, 1000}, {Clock::Registers, 0, 8000, 1700}};
        for (int p = 0; p < Ports; p++) all.push_back({Clock::Rx | Clock::Tx, p, mac_ps, 300.0 + 700.0 * p});
        return all;
    }

    void set_clock(const Clock& clock, bool high) {
        if (clock.roles & Clock::Card) top.card_clk = high;
        else if (clock.roles & Clock::Registers) top.axil_aclk = high;
        else set_bit(bytes_of(top.cmac_clk), clock.port, high);
    }

    void turn_memory() {}  // there is none

    void reset(bool on) {
        top.mod_rstn = on ? 0 : 0xFF;
        top.box_rstn = !on;
        if (!on) top.card_lock = 1;
        since_reset = 0;
        top.s_axis_adap_tx_322mhz_tvalid = Others;
    }

    void before_rise(const Clock& clock) {
        if (!(clock.roles & Clock::Registers) || !top.box_rstn || ++since_reset < ResetPatience) return;
        if (top.mod_rst_done != 0xFF || !top.box_rst_done) fail("the plugin does not leave its reset");
        if ((top.s_axis_adap_tx_322mhz_tready & Others) != Others) fail("the plugin holds up the host's frames");
        if (top.m_axis_adap_rx_322mhz_tvalid & Others) fail("the plugin sends a frame to another interface of the host");
        since_reset = ResetPatience;
    }
    void after_fall(const Clock&) {}

    void set_rx(int p, bool valid, const Beat& beat) {
        if (p == Ports)
            set(top.s_axis_adap_tx_322mhz_tvalid, top.s_axis_adap_tx_322mhz_tdata, top.s_axis_adap_tx_322mhz_tkeep,
                top.s_axis_adap_tx_322mhz_tlast, top.s_axis_adap_tx_322mhz_tuser_err, 0, valid, beat);
        else
            set(top.s_axis_cmac_rx_tvalid, top.s_axis_cmac_rx_tdata, top.s_axis_cmac_rx_tkeep,
                top.s_axis_cmac_rx_tlast, top.s_axis_cmac_rx_tuser_err, p, valid, beat);
    }

    // Whether the card takes the beat that is shown.
    bool rx_ready(int p) { return p < Ports || bit(bytes_of(top.s_axis_adap_tx_322mhz_tready), 0); }

    void set_tx_ready(int p, bool ready) {
        if (p < Ports) set_bit(bytes_of(top.m_axis_cmac_tx_tready), p, ready);
    }

    // The beat that the card shows; whether there is one.
    bool tx(int p, Beat& beat) {
        if (p == Ports)
            return get(top.m_axis_adap_rx_322mhz_tvalid, top.m_axis_adap_rx_322mhz_tdata,
                       top.m_axis_adap_rx_322mhz_tkeep, top.m_axis_adap_rx_322mhz_tlast,
                       top.m_axis_adap_rx_322mhz_tuser_err, 0, beat);
        return get(top.m_axis_cmac_tx_tvalid, top.m_axis_cmac_tx_tdata, top.m_axis_cmac_tx_tkeep,
                   top.m_axis_cmac_tx_tlast, top.m_axis_cmac_tx_tuser_err, p, beat);
    }

    // A beat at place p of a stream's signals.
    template <class Bit, class Data, class Keep>
    static void set(Bit& tvalid, Data& tdata, Keep& tkeep, Bit& tlast, Bit& tuser, int p, bool valid, const Beat& beat) {
        set_bit(bytes_of(tvalid), p, valid);
        if (!valid) return;
        std::memcpy(bytes_of(tdata) + p * BeatBytes, beat.data, BeatBytes);
        std::memcpy(bytes_of(tkeep) + p * 8, &beat.keep, 8);
        set_bit(bytes_of(tlast), p, beat.last);
        set_bit(bytes_of(tuser), p, beat.bad);
    }

    template <class Bit, class Data, class Keep>
    static bool get(Bit& tvalid, Data& tdata, Keep& tkeep, Bit& tlast, Bit& tuser, int p, Beat& beat) {
        if (!bit(bytes_of(tvalid), p)) return false;
        std::memcpy(beat.data, bytes_of(tdata) + p * BeatBytes, BeatBytes);
        std::memcpy(&beat.keep, bytes_of(tkeep) + p * 8, 8);
        beat.last = bit(bytes_of(tlast), p);
        beat.bad = bit(bytes_of(tuser), p);
        return true;
    }
};

}  // namespace

int main(int count, char** words) { return serve_shell<OpenNic>(count, words); }
