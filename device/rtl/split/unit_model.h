// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//
// A unit's model as the clock loop knows it, whatever its kind.
#pragma once

#include "verilated.h"

class UnitModel {
public:
    using Bundle = VlWide<31>;  // 992 bits: split_pkg::BundleW

    // The ports of split/unit_top.sv
    CData& clk;
    CData& rst;
    CData& unit_id;
    SData& card;  // penstock_pkg::card_t
    Bundle& to_unit;
    Bundle& from_unit;

    virtual ~UnitModel() = default;
    virtual void eval() = 0;
    virtual void final() = 0;

protected:
    template <class Top>
    explicit UnitModel(Top& top)
        : clk(top.clk), rst(top.rst), unit_id(top.unit_id), card(top.card), to_unit(top.to_unit), from_unit(top.from_unit) {}
};

// Make the model of unit 0, 1, ...: device/src/rtl/build.rs defines the kind of each.
extern UnitModel* (*const make_unit[])(VerilatedContext* context, const char* name);
