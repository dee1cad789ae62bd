// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//
// The model of one kind of unit, behind the interface that the clock loop has for all kinds. device/src/rtl/build.rs
// gives the compiler the names of the model, its header and the function.

#include <memory>

#include "unit_model.h"
#include PENSTOCK_UNIT_HEADER

namespace {

class Kind final : public UnitModel {
public:
    explicit Kind(std::unique_ptr<PENSTOCK_UNIT> top) : UnitModel(*top), top(std::move(top)) {}
    void eval() override { top->eval(); }
    void final() override { top->final(); }

private:
    const std::unique_ptr<PENSTOCK_UNIT> top;
};

}  // namespace

UnitModel* PENSTOCK_MAKE_UNIT(VerilatedContext* context, const char* name) {
    return new Kind(std::make_unique<PENSTOCK_UNIT>(context, name));
}
