// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Counters of a live card as OpenMetrics, the text format that Prometheus collects.

use std::collections::BTreeMap;
use std::fmt::Error;

use penstock_device::{Counters, Drops, UnitState};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use serde_json::Value as Json;

use crate::protocol::{PortStatus, Status};
use crate::wire::Link;

/// Numbers among an engine's own counters that become metrics at most.
const OWN: usize = 4096;

/// Labels of a sample: names and values.
type Labels<'a> = Vec<(&'static str, &'a str)>;

/// The state of a card at one time.
#[derive(Debug)]
struct Card {
    status: Status,
    counters: Counters,
}

/// The text.
///
/// # Errors
/// None that is known: a string takes any text.
pub(crate) fn metrics(status: Status, counters: Counters) -> Result<String, Error> {
    let mut registry = Registry::with_prefix("penstock");
    registry.register_collector(Box::new(Card { status, counters }));
    let mut text = String::new();
    text::encode(&mut text, &registry)?;
    Ok(text)
}

impl Collector for Card {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut to = Encoder(&mut encoder);
        self.card(&mut to)?;
        self.ports(&mut to)?;
        self.units(&mut to)?;
        self.host_memory(&mut to)?;
        self.blocks(&mut to)
    }
}

impl Card {
    fn card(&self, to: &mut Encoder<'_, '_>) -> Result<(), Error> {
        let Status { design, driver, seconds, drops, faults, .. } = &self.status;
        let about = vec![("design", design.as_str()), ("driver", driver), ("version", env!("CARGO_PKG_VERSION"))];
        to.family("card", "The card that is up", MetricType::Info, vec![(about, Value::None)])?;
        let one = |value| vec![(Vec::new(), value)];
        to.family("up_seconds", "Time since the card is up", MetricType::Gauge, one(Value::Float(*seconds)))?;
        let reasons = Drops::default().list().map(|(reason, _)| reason);
        let of_reason = |reason: &'static str| (vec![("reason", reason)], Value::count(drops.get(reason)));
        let help = "Frames that did not leave, by reason (docs/architecture.md, Drop reasons)";
        to.family("drops", help, MetricType::Counter, reasons.map(of_reason))?;
        let faults = Value::Int(faults.len() as i64);
        to.family("faults", "Faults that `ctl status` shows, 100 at most", MetricType::Gauge, one(faults))
    }

    fn ports(&self, to: &mut Encoder<'_, '_>) -> Result<(), Error> {
        let ports = &self.status.ports;
        let of = |value: fn(&PortStatus) -> u64| {
            ports.iter().map(move |port| (vec![("port", port.port.as_str())], Value::Count(value(port))))
        };
        let counter = MetricType::Counter;
        to.family("port_receive_frames", "Frames that entered whole", counter, of(|port| port.rx_frames))?;
        to.family("port_receive_bytes", "Their bytes, without FCS", counter, of(|port| port.rx_bytes))?;
        to.family("port_transmit_frames", "Frames that left", counter, of(|port| port.tx_frames))?;
        to.family("port_transmit_bytes", "Their bytes, without FCS", counter, of(|port| port.tx_bytes))?;
        let reasons = ["runt", "oversize", "overflow", "damaged", "disabled", "policy", "unsent"];
        let drops = ports.iter().flat_map(|port| {
            let labels = |reason| vec![("port", port.port.as_str()), ("reason", reason)];
            reasons.map(|reason| (labels(reason), Value::count(port.drops.get(reason))))
        });
        to.family("port_drops", "Frames dropped at the port, by reason", counter, drops)?;
        let up = ports.iter().filter_map(|port| {
            let labels = vec![("port", port.port.as_str()), ("interface", port.interface.as_deref()?)];
            Some((labels, Value::Int((port.link == Some(Link::Up)).into())))
        });
        to.family("port_link_up", "Whether the interface of the port is up", MetricType::Gauge, up)?;
        let loopback = &self.counters.loopback;
        let one = |count| vec![(Vec::new(), Value::Count(count))];
        to.family("loopback_frames", "Frames from unit to unit", counter, one(loopback.rx_frames))?;
        to.family("loopback_bytes", "Their bytes", counter, one(loopback.rx_bytes))
    }

    fn units(&self, to: &mut Encoder<'_, '_>) -> Result<(), Error> {
        let numbers: Vec<String> = self.status.units.iter().map(|unit| unit.unit.to_string()).collect();
        let labels = |index: usize| {
            let group = self.status.units.get(index).map_or("", |unit| unit.group.as_str());
            vec![("unit", numbers.get(index).map_or("", String::as_str)), ("group", group)]
        };
        let all = || self.counters.units.iter().enumerate();
        let of = |value: fn(&penstock_device::UnitCounters) -> u64| {
            all().map(move |(index, unit)| (labels(index), Value::Count(value(unit)))).collect::<Vec<_>>()
        };
        let counter = MetricType::Counter;
        to.family("unit_receive_frames", "Frames received", counter, of(|unit| unit.rx_frames))?;
        to.family("unit_receive_bytes", "Their bytes", counter, of(|unit| unit.rx_bytes))?;
        to.family("unit_transmit_frames", "Frames sent", counter, of(|unit| unit.tx_frames))?;
        to.family("unit_transmit_bytes", "Their bytes", counter, of(|unit| unit.tx_bytes))?;
        to.family("unit_generated_frames", "Frames that its program made", counter, of(|unit| unit.generated))?;
        to.family("unit_wild_requests", "Requests that led nowhere", counter, of(|unit| unit.wild))?;
        let drops = all().flat_map(|(index, unit)| {
            let reasons = [("blocked", unit.blocked), ("refused", unit.refused), ("aborted", unit.aborted)];
            reasons.map(|(reason, count)| {
                let mut labels = labels(index);
                labels.push(("reason", reason));
                (labels, Value::Count(count))
            })
        });
        to.family("unit_drops", "Frames dropped by the unit, by reason", counter, drops)?;
        let statuses = || self.status.units.iter().enumerate();
        let held = statuses().map(|(index, unit)| (labels(index), Value::Int(unit.vitals.held as i64)));
        to.family("unit_held_slots", "Slots in use", MetricType::Gauge, held)?;
        let slots = statuses().map(|(index, unit)| (labels(index), Value::Int(unit.vitals.slots as i64)));
        to.family("unit_slots", "Slots that its program declared", MetricType::Gauge, slots)?;
        let running = statuses()
            .map(|(index, unit)| (labels(index), Value::Int((unit.vitals.state == UnitState::Running).into())));
        to.family("unit_running", "Whether the unit takes frames", MetricType::Gauge, running)
    }

    fn host_memory(&self, to: &mut Encoder<'_, '_>) -> Result<(), Error> {
        let memory = &self.counters.host_memory;
        let kinds =
            [("read", memory.reads), ("write", memory.writes), ("error", memory.errors), ("denied", memory.denied)];
        let requests = kinds.map(|(kind, count)| (vec![("kind", kind)], Value::Count(count)));
        to.family("host_memory_requests", "Requests of units to host memory", MetricType::Counter, requests)?;
        let kinds = [("read", memory.read_bytes), ("write", memory.write_bytes)];
        let bytes = kinds.map(|(kind, count)| (vec![("kind", kind)], Value::Count(count)));
        to.family("host_memory_bytes", "Their bytes", MetricType::Counter, bytes)
    }

    fn blocks(&self, to: &mut Encoder<'_, '_>) -> Result<(), Error> {
        let Some(inline) = &self.counters.inline else { return Ok(()) };
        let one = vec![(Vec::new(), Value::Count(inline.refused))];
        let help = "Frames that inline blocks sent to ports or units that the card does not have";
        to.family("inline_refused_frames", help, MetricType::Counter, one)?;
        let labels = |block: usize| {
            let block = &inline.blocks[block];
            vec![("block", block.name.as_str()), ("engine", block.engine.as_str())]
        };
        let of = |value: fn(&penstock_device::BlockCounters) -> u64| {
            let all = inline.blocks.iter().enumerate();
            all.map(move |(index, block)| (labels(index), Value::Count(value(block)))).collect::<Vec<_>>()
        };
        let counter = MetricType::Counter;
        to.family("block_frames", "Frames that entered the inline block", counter, of(|block| block.frames))?;
        to.family("block_made_frames", "Frames that it made", counter, of(|block| block.made))?;
        to.family("block_absorbed_frames", "Frames that ended in it, as meant", counter, of(|block| block.absorbed))?;
        to.family("block_blocked_frames", "Frames that its program dropped", counter, of(|block| block.blocked))?;
        let own: Vec<BTreeMap<String, f64>> = inline.blocks.iter().map(|block| numbers(&block.own)).collect();
        let values = own.iter().enumerate().flat_map(|(index, own)| {
            own.iter().map(move |(name, value)| {
                let mut labels = labels(index);
                labels.push(("counter", name));
                (labels, Value::Float(*value))
            })
        });
        to.family("block_own", "The engine's own counters, rows among them", MetricType::Gauge, values)
    }
}

/// All numbers in an engine's own counters, by their places: `elements.nat.rows.3`.
fn numbers(own: &Json) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    collect(own, String::new(), &mut found);
    found
}

fn collect(value: &Json, at: String, found: &mut BTreeMap<String, f64>) {
    let inner = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match value {
        Json::Number(number) if found.len() < OWN => {
            found.extend(number.as_f64().map(|number| (at, number)));
        }
        Json::Object(fields) => fields.iter().for_each(|(name, value)| collect(value, inner(name), found)),
        // A list of things with names, such as elements: the name is better than the place.
        Json::Array(items) => items.iter().enumerate().for_each(|(index, item)| {
            let name = item["name"].as_str().map_or_else(|| index.to_string(), str::to_owned);
            collect(item, inner(&name), found);
        }),
        _ => {}
    }
}

/// The value of a sample.
enum Value {
    None,
    Count(u64),
    Int(i64),
    Float(f64),
}

impl Value {
    fn count(count: Option<&u64>) -> Self {
        Self::Count(count.copied().unwrap_or_default())
    }
}

struct Encoder<'e, 'a>(&'e mut DescriptorEncoder<'a>);

impl Encoder<'_, '_> {
    /// Writes a metric with its samples.
    fn family<'l>(
        &mut self,
        name: &str,
        help: &str,
        kind: MetricType,
        samples: impl IntoIterator<Item = (Labels<'l>, Value)>,
    ) -> Result<(), Error> {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return Ok(());
        }
        let mut metric = self.0.encode_descriptor(name, help, None, kind)?;
        for (labels, value) in samples {
            match value {
                Value::None => metric.encode_info(&labels)?,
                Value::Count(count) => encode_counter(&mut metric, &labels, count)?,
                Value::Int(number) if labels.is_empty() => metric.encode_gauge(&number)?,
                Value::Int(number) => metric.encode_family(&labels)?.encode_gauge(&number)?,
                Value::Float(number) if labels.is_empty() => metric.encode_gauge(&number)?,
                Value::Float(number) => metric.encode_family(&labels)?.encode_gauge(&number)?,
            }
        }
        Ok(())
    }
}

fn encode_counter(
    metric: &mut prometheus_client::encoding::MetricEncoder<'_>,
    labels: &Labels<'_>,
    count: u64,
) -> Result<(), Error> {
    type None = [(&'static str, &'static str); 0];
    match labels.is_empty() {
        true => metric.encode_counter::<None, u64, u64>(&count, Option::None),
        false => metric.encode_family(labels)?.encode_counter::<None, u64, u64>(&count, Option::None),
    }
}
