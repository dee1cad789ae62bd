// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Opens a design on the target of that name.

use penstock_engine::Root;

use crate::design::Design;
use crate::device::Device;
use crate::error::DeviceError;
use crate::fpga::{FpgaDevice, Place};
use crate::progress::Progress;
use crate::rtl::RtlDevice;
use crate::soft::SoftDevice;
use crate::target::Target;

/// Opens a design on a target; on `fpga`, on a simulated card of its own ([`FpgaDevice::open`] takes others). On `rtl`
/// and on a simulated card the first time builds the model, which `progress` shows.
pub fn open(
    root: &Root,
    design: &Design,
    target: Target,
    progress: &mut dyn FnMut(Progress),
) -> Result<Box<dyn Device>, DeviceError> {
    Ok(match target {
        Target::Soft => Box::new(SoftDevice::open(design)?),
        Target::Rtl => Box::new(RtlDevice::open(root, design, None, progress)?),
        Target::Fpga => Box::new(FpgaDevice::open(root, design, &Place::default(), progress)?),
    })
}
