// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What the control socket asks about the inline chain.

use penstock_device::Device;
use penstock_device::flow::{self, FlowError};

use crate::protocol::{FlowAction, Reply};

/// Carries out a request about the chain.
pub(crate) fn answer(device: &mut impl Device, action: &FlowAction) -> Result<Reply, String> {
    let told = |error: FlowError| error.to_string();
    let chain = device.flow().map_err(told)?;
    let none = || "there is no context of this flow".to_owned();
    let done = match action {
        FlowAction::List => flow::elements(chain).map(Some),
        FlowAction::Dump { element } => flow::contexts(chain, element).map(Some),
        FlowAction::Get { element, key } => {
            let found = flow::context(chain, element, key).map_err(told)?;
            Ok(Some([found.ok_or_else(none)?].into_iter().collect()))
        }
        FlowAction::Insert { element, key, context } => flow::insert(chain, element, key, context).map(|()| None),
        FlowAction::Delete { element, key } => {
            let there = flow::delete(chain, element, key).map_err(told)?;
            there.then_some(Ok(None)).ok_or_else(none)?
        }
        FlowAction::Clear { element } => flow::clear(chain, element).map(|()| None),
        FlowAction::Set { element, registers } => flow::set_registers(chain, element, registers).map(|()| None),
        FlowAction::Events => flow::take_events(chain).map(Some),
        FlowAction::Tell { element, kinds } => flow::tell(chain, element, kinds).map(|()| None),
        // This comes compiled.
        FlowAction::Rows { .. } => Ok(None),
    };
    done.map(|flow| Reply { flow, ..Reply::default() }).map_err(told)
}
