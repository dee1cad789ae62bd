// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The program of a device: set and got.

use crate::info;
use crate::proto::p4::config::v1::P4Info;
use crate::proto::p4::v1::forwarding_pipeline_config::Cookie;
use crate::proto::p4::v1::get_forwarding_pipeline_config_request::ResponseType;
use crate::proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use crate::proto::p4::v1::{ForwardingPipelineConfig, SetForwardingPipelineConfigRequest};
use crate::refusal::{Reason, Refusal};
use crate::switch::{Load, Loaded, Switch};

/// A program that was saved and waits for its commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Saved {
    source: String,
    cookie: u64,
}

/// Carries out a request; gives what is saved from now on.
pub(crate) fn set(
    switch: &dyn Switch,
    request: &SetForwardingPipelineConfigRequest,
    saved: Option<Saved>,
) -> Result<Option<Saved>, Refusal> {
    let device = request.device_id;
    match request.action() {
        Action::Unspecified => Err(Refusal::argument("the request has no action")),
        Action::Commit => {
            let saved = saved.ok_or_else(|| {
                Refusal::new(Reason::Precondition, "no program is saved: send VERIFY_AND_SAVE before COMMIT")
            })?;
            switch.load(device, &saved.source, saved.cookie, Load::Commit)?;
            Ok(None)
        }
        action => {
            let new = read(request.config.as_ref())?;
            let loaded = switch.load(device, &new.source, new.cookie, Load::Check)?;
            if let Some(theirs) = request.config.as_ref().and_then(|config| config.p4info.as_ref()) {
                compare(theirs, &info::of(&loaded.program))?;
            }
            match action {
                Action::VerifyAndCommit => {
                    switch.load(device, &new.source, new.cookie, Load::Commit)?;
                    Ok(None)
                }
                Action::ReconcileAndCommit => {
                    switch.load(device, &new.source, new.cookie, Load::Reconcile)?;
                    Ok(None)
                }
                Action::VerifyAndSave => Ok(Some(new)),
                _ => Ok(saved),
            }
        }
    }
}

fn read(config: Option<&ForwardingPipelineConfig>) -> Result<Saved, Refusal> {
    let config = config.ok_or_else(|| Refusal::argument("the request has no config"))?;
    if config.p4_device_config.is_empty() {
        return Err(Refusal::argument("p4_device_config is empty: it is the P4 source of the program"));
    }
    let source = String::from_utf8(config.p4_device_config.clone())
        .map_err(|_| Refusal::argument("p4_device_config is no text: it is the P4 source of the program"))?;
    Ok(Saved { source, cookie: config.cookie.map_or(0, |cookie| cookie.cookie) })
}

/// The program as a controller asks for it.
pub(crate) fn get(loaded: &Loaded, kind: ResponseType) -> ForwardingPipelineConfig {
    let with_info = matches!(kind, ResponseType::All | ResponseType::P4infoAndCookie);
    let with_source = matches!(kind, ResponseType::All | ResponseType::DeviceConfigAndCookie);
    ForwardingPipelineConfig {
        p4info: with_info.then(|| info::of(&loaded.program)),
        p4_device_config: if with_source { loaded.source.clone().into_bytes() } else { Vec::new() },
        cookie: Some(Cookie { cookie: loaded.cookie }),
    }
}

/// A program's outline for a controller: for each object its number, its name and its parts. Annotations and
/// documentation may differ.
type Outline = Vec<(&'static str, u32, String, Vec<(u32, i32)>)>;

fn outline(info: &P4Info) -> Outline {
    let preamble = |preamble: &Option<_>| {
        let preamble: &crate::proto::p4::config::v1::Preamble = preamble.as_ref()?;
        Some((preamble.id, preamble.name.clone()))
    };
    let mut all = Outline::new();
    let mut add = |kind, named: Option<(u32, String)>, parts: Vec<(u32, i32)>| {
        let (id, name) = named.unwrap_or_default();
        all.push((kind, id, name, parts));
    };
    for table in &info.tables {
        let fields = table.match_fields.iter().map(|field| (field.id, field.bitwidth));
        let mut actions: Vec<_> = table.action_refs.iter().map(|action| (action.id, 0)).collect();
        actions.sort_unstable();
        add("table", preamble(&table.preamble), fields.chain(actions).collect());
    }
    for action in &info.actions {
        let params = action.params.iter().map(|param| (param.id, param.bitwidth)).collect();
        add("action", preamble(&action.preamble), params);
    }
    for register in &info.registers {
        add("register", preamble(&register.preamble), vec![(0, register.size)]);
    }
    for counter in &info.counters {
        add("counter", preamble(&counter.preamble), vec![(0, counter.size as i32)]);
    }
    for counter in &info.direct_counters {
        add("direct counter", preamble(&counter.preamble), vec![(counter.direct_table_id, 0)]);
    }
    for profile in &info.action_profiles {
        add("action profile", preamble(&profile.preamble), vec![(0, profile.with_selector.into())]);
    }
    for meter in &info.meters {
        add("meter", preamble(&meter.preamble), vec![(0, meter.size as i32)]);
    }
    for meter in &info.direct_meters {
        add("direct meter", preamble(&meter.preamble), vec![(meter.direct_table_id, 0)]);
    }
    for header in &info.controller_packet_metadata {
        let fields = header.metadata.iter().map(|field| (field.id, field.bitwidth)).collect();
        add("controller header", preamble(&header.preamble), fields);
    }
    for set in &info.value_sets {
        let fields = set.r#match.iter().map(|field| (field.id, field.bitwidth)).collect();
        add("value set", preamble(&set.preamble), fields);
    }
    for digest in &info.digests {
        add("digest", preamble(&digest.preamble), Vec::new());
    }
    all.sort();
    all
}

fn compare(theirs: &P4Info, ours: &P4Info) -> Result<(), Refusal> {
    let (theirs, ours) = (outline(theirs), outline(ours));
    let lacks = |whose: &Outline, what: &Outline, text: &str| {
        let missing = what.iter().find(|one| !whose.contains(one));
        missing.map(|(kind, id, name, _)| format!("the P4Info does not fit the source: {text} {kind} {name} ({id})"))
    };
    let wrong = lacks(&ours, &theirs, "the source does not have such a");
    match wrong.or_else(|| lacks(&theirs, &ours, "the P4Info does not have the source's")) {
        Some(text) => Err(Refusal::argument(text)),
        None => Ok(()),
    }
}
