// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The inline chain of a card by names: what its blocks run, and its contexts, registers and events as JSON, as the control socket, the
//! command line and Python have them.
//!
//! A context is `{"key": {"ip.src": "192.0.2.1"}, "state": "OPEN", "registers": {"count": 3}, "for": {"us": 59000000}, "idle": {"us": 300000000,
//! "left": 299000000, "then": "CLOSED"}}`: addresses are text, other fields and registers numbers; `for` says how long it has still, `idle` how long
//! it may be idle and what is left of that, and both to which state it then goes, if to one.

use std::fmt;
use std::path::PathBuf;

use penstock_flow_compiler::limits::{ELEMENTS, GLOBALS};
use penstock_flow_compiler::program::{Element, Program, Register, Verdict};
use penstock_headers::Field;
use penstock_shell::Inline;
use penstock_shell::flow::{Chain, Context, Deadline, EventKind, HostError, Options};
use serde_json::{Map, Value as Json, json};

pub use crate::chain::FlowChain;
use crate::design::{self, Design};
use crate::device::DeviceError;
use crate::files;
use crate::image::ImageError;
use crate::outcome::{ElementCounters, InlineCounters, RowCounter};

/// What an inline block is loaded with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowImage {
    /// The block's name, empty when it is the only one and has none.
    pub name: String,
    /// What it was read from.
    pub path: PathBuf,
    /// What it runs.
    pub program: Program,
    /// Contexts of each table whose size the program does not say.
    pub contexts: u32,
}

impl FlowImage {
    /// Compiles the program of a block, for a card of so many ports.
    ///
    /// # Errors
    /// All that is wrong with it, or its file cannot be read.
    pub fn of(block: &design::Inline, ports: u32) -> Result<Self, ImageError> {
        let text = files::read(&block.program, files::FLOW)?;
        let compiled = penstock_flow_compiler::compile(&block.program.display().to_string(), &text)?;
        compiled.check_ports(ports)?;
        let program = compiled.program;
        Ok(Self { name: block.name.clone(), path: block.program.clone(), program, contexts: block.contexts })
    }

    /// The programs of all blocks of a design.
    ///
    /// # Errors
    /// As [`FlowImage::of`], or all together have more elements than a chain.
    pub fn all_of(design: &Design) -> Result<Vec<Self>, ImageError> {
        let blocks: Vec<_> =
            design.inline.iter().map(|block| Self::of(block, design.ports)).collect::<Result<_, _>>()?;
        match too_many(&blocks) {
            Some(text) => Err(ImageError::Elements(text)),
            None => Ok(blocks),
        }
    }
}

/// Why the chain did not do what it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowError {
    /// There is none.
    NoChain,
    /// No element has this name; these there are.
    NoElement {
        /// The name.
        name: String,
        /// All names.
        there: Vec<String>,
    },
    /// No block has this name; these there are.
    NoBlock {
        /// The name.
        name: String,
        /// All names.
        there: Vec<String>,
    },
    /// Something that is given is not what an element has; a sentence.
    Given(String),
    /// The card did not answer as it should; a sentence.
    Card(String),
    /// The element refused.
    Host(HostError),
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChain => {
                write!(f, "the card has no inline chain; a design gets one by [[inline]] (docs/designs.md)")
            }
            Self::NoElement { name, there } => {
                write!(f, "there is no element `{name}`; there are: {}", there.join(", "))
            }
            Self::NoBlock { name, there } if there.iter().all(String::is_empty) => {
                write!(f, "there is no inline block `{name}`; the only one has no name, so leave it out")
            }
            Self::NoBlock { name, there } if name.is_empty() => {
                write!(f, "there are several inline blocks, so say which: {}", there.join(", "))
            }
            Self::NoBlock { name, there } => {
                write!(f, "there is no inline block `{name}`; there are: {}", there.join(", "))
            }
            Self::Given(text) | Self::Card(text) => write!(f, "{text}"),
            Self::Host(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for FlowError {}

impl From<DeviceError> for FlowError {
    fn from(error: DeviceError) -> Self {
        Self::Card(error.to_string())
    }
}

impl From<HostError> for FlowError {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

/// What is wrong with blocks that have more elements than a chain.
fn too_many(blocks: &[FlowImage]) -> Option<String> {
    let elements: usize = blocks.iter().map(|block| block.program.elements.len()).sum();
    if elements <= ELEMENTS {
        return None;
    }
    let each = blocks.iter().map(|block| format!("{} {}", block.name, block.program.elements.len()));
    let each = each.collect::<Vec<_>>().join(", ");
    Some(format!(
        "the inline blocks have {elements} elements ({each}), and a chain has up to {ELEMENTS}: make do with fewer"
    ))
}

/// All blocks as one program: elements in their order, those of several blocks as BLOCK.ELEMENT.
pub(crate) fn joined(blocks: &[FlowImage]) -> Program {
    let mut elements = Vec::new();
    for block in blocks {
        let first = elements.len();
        elements.extend(block.program.elements.iter().cloned().map(|mut element| {
            if blocks.len() > 1 {
                element.name = format!("{}.{}", block.name, element.name);
            }
            element.capacity = element.capacity.or(Some(block.contexts));
            for row in &mut element.rows {
                if let Verdict::Next(next) = &mut row.verdict {
                    *next += first;
                }
            }
            element
        }));
    }
    Program { elements }
}

/// Starts the chain of these blocks; none when there are none. Where contexts lie in their tables follows from `seed`.
pub(crate) fn start(blocks: &[FlowImage], seed: u64) -> Option<Inline> {
    let options = Options { seed, ..Options::default() };
    (!blocks.is_empty()).then(|| Inline::new(Chain::new(&joined(blocks), &options)))
}

/// Place of the block of that name among those of a design; the empty name is that of the only one.
pub fn find_block(blocks: &[design::Inline], name: &str) -> Result<usize, FlowError> {
    let there = || blocks.iter().map(|block| block.name.clone()).collect();
    match blocks.iter().position(|block| block.name == name) {
        _ if blocks.is_empty() => Err(FlowError::NoChain),
        None if name.is_empty() && blocks.len() == 1 => Ok(0),
        None => Err(FlowError::NoBlock { name: name.to_owned(), there: there() }),
        Some(at) => Ok(at),
    }
}

/// What a chain has counted.
pub(crate) fn counters(inline: &Inline) -> InlineCounters {
    let chain = inline.chain();
    let own = inline.counters();
    let element = |(number, element): (usize, &Element)| {
        let counters = chain.counters(number).cloned().unwrap_or_default();
        let row = |(row, frames): (&penstock_flow_compiler::program::Row, &u64)| RowCounter {
            line: row.span.line,
            frames: *frames,
        };
        ElementCounters {
            name: element.name.clone(),
            frames: counters.frames,
            keyless: counters.keyless,
            unmatched: counters.unmatched,
            unkept: counters.unkept,
            expired: counters.expired,
            evicted: counters.evicted,
            contexts: chain.count(number).unwrap_or_default() as u64,
            rows: element.rows.iter().zip(&counters.rows).map(row).collect(),
        }
    };
    InlineCounters {
        frames: own.frames,
        blocked: own.blocked,
        refused: own.refused,
        events_lost: chain.events_lost(),
        changes: chain.changes(),
        elements: chain.program().elements.iter().enumerate().map(element).collect(),
    }
}

/// Elements in their order: name, fields of the key, states, names of flow registers, registers of the element, contexts and how many fit.
pub fn elements(chain: &mut dyn FlowChain) -> Result<Json, FlowError> {
    let program = chain.program().clone();
    let mut all = Vec::new();
    for (number, element) in program.elements.iter().enumerate() {
        let globals = chain.globals(number)?;
        all.push(json!({
            "name": element.name,
            "key": element.key.as_ref().map(|key| key.fields.iter().map(|field| field.name()).collect::<Vec<_>>()),
            "biflow": element.key.as_ref().is_some_and(|key| !key.pairs.is_empty()),
            "states": element.states,
            "flow": element.registers.iter().map(|register| &register.name).collect::<Vec<_>>(),
            "registers": registers(&element.globals, &globals),
            "contexts": chain.count(number)?,
            "of": element.key.as_ref().and(element.capacity),
        }));
    }
    Ok(all.into())
}

/// The contexts of an element, in the order of its table.
pub fn contexts(chain: &mut dyn FlowChain, element: &str) -> Result<Json, FlowError> {
    let (number, element) = find(chain, element)?;
    let (all, now) = (chain.contexts(number)?, chain.time()?);
    Ok(all.iter().map(|context| described(&element, context, now)).collect())
}

/// The context of a flow, if there is one.
pub fn context(chain: &mut dyn FlowChain, element: &str, key: &Json) -> Result<Option<Json>, FlowError> {
    let (number, element) = find(chain, element)?;
    let (found, now) = (chain.context(number, &key_of(&element, key)?)?, chain.time()?);
    Ok(found.map(|context| described(&element, &context, now)))
}

/// Adds a context, or replaces that of the same flow. It is the name of a state, or an object with any of `state`, `registers`, `for` and `idle`: what
/// is not given is as of a flow without a context, and a time that is not given is none.
pub fn insert(chain: &mut dyn FlowChain, element: &str, key: &Json, context: &Json) -> Result<(), FlowError> {
    let (number, element) = find(chain, element)?;
    let (element, now) = (&element, chain.time()?);
    let mut made = Context { key: key_of(element, key)?, state: 0, registers: [0; 4], hard: None, idle: None };
    made.registers.iter_mut().zip(&element.registers).for_each(|(to, from)| *to = from.initial);
    match context {
        Json::Null => {}
        Json::String(name) => made.state = state_of(element, name)?,
        Json::Object(parts) => {
            for (name, value) in parts {
                match (name.as_str(), value) {
                    // As it is read.
                    ("key", _) => {}
                    ("state", Json::String(name)) => made.state = state_of(element, name)?,
                    ("registers", values) => fill(&element.registers, &mut made.registers, values)?,
                    ("for", time) => made.hard = Some(time_of(element, time, now)?.0),
                    ("idle", time) => made.idle = Some(time_of(element, time, now)?),
                    _ => {
                        let text =
                            format!("`{name}`: {value} is no part of a context; those are state, registers, for, idle");
                        return Err(FlowError::Given(text));
                    }
                }
            }
        }
        other => {
            let text = format!(
                "{other} is no context: give the name of a state, or an object with state, registers, for, idle"
            );
            return Err(FlowError::Given(text));
        }
    }
    chain.insert(number, &made)
}

/// Removes the context of a flow; whether there was one.
pub fn delete(chain: &mut dyn FlowChain, element: &str, key: &Json) -> Result<bool, FlowError> {
    let (number, element) = find(chain, element)?;
    chain.remove(number, &key_of(&element, key)?)
}

/// Removes all contexts of an element.
pub fn clear(chain: &mut dyn FlowChain, element: &str) -> Result<(), FlowError> {
    let (number, _) = find(chain, element)?;
    chain.clear(number)
}

/// Sets registers of an element: an object of numbers by name.
pub fn set_registers(chain: &mut dyn FlowChain, element: &str, values: &Json) -> Result<(), FlowError> {
    let (number, element) = find(chain, element)?;
    // Those that are not named are the frames'.
    numbered(&element.globals, values)?.into_iter().try_for_each(|(at, to)| chain.set_global(number, at, to))
}

/// Of an element's events only those of these kinds are kept from now on; after a load all are.
pub fn tell(chain: &mut dyn FlowChain, element: &str, kinds: &[String]) -> Result<(), FlowError> {
    let (number, _) = find(chain, element)?;
    let known = |name: &String| {
        let none = || {
            let known = EventKind::ALL.map(EventKind::name).join(", ");
            FlowError::Given(format!("there are no events of the kind `{name}`; there are: {known}"))
        };
        EventKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(none)
    };
    let kinds = kinds.iter().map(known).collect::<Result<Vec<_>, _>>()?;
    chain.tell(number, &kinds)
}

/// Takes the events that wait, the oldest first: kind, element, time in µs, and what the context is or was.
pub fn take_events(chain: &mut dyn FlowChain) -> Result<Json, FlowError> {
    let mut all = Vec::new();
    while let Some(event) = chain.event()? {
        let element = &chain.program().elements[event.element];
        all.push(json!({
            "kind": event.kind.name(),
            "element": element.name,
            "time": event.time,
            "key": key(element, &event.key),
            "state": state(element, event.state),
            "registers": registers(&element.registers, &event.registers),
        }));
    }
    Ok(all.into())
}

/// The element of that name, and its number.
fn find(chain: &dyn FlowChain, name: &str) -> Result<(usize, Element), FlowError> {
    let elements = &chain.program().elements;
    let there = || elements.iter().map(|element| element.name.clone()).collect();
    let found = elements.iter().enumerate().find(|(_, element)| element.name == name);
    let (number, element) = found.ok_or_else(|| FlowError::NoElement { name: name.to_owned(), there: there() })?;
    Ok((number, element.clone()))
}

fn described(element: &Element, context: &Context, now: u64) -> Json {
    let mut all = json!({
        "key": key(element, &context.key),
        "state": state(element, context.state),
        "registers": registers(&element.registers, &context.registers),
    });
    let put = |time: &mut Json, deadline: &Deadline| {
        if let Some(then) = deadline.then {
            time["then"] = state(element, then);
        }
    };
    if let Some(deadline) = &context.hard {
        let mut time = json!({"us": deadline.at.saturating_sub(now)});
        put(&mut time, deadline);
        all["for"] = time;
    }
    if let Some((deadline, period)) = &context.idle {
        let mut time = json!({"us": period, "left": deadline.at.saturating_sub(now)});
        put(&mut time, deadline);
        all["idle"] = time;
    }
    all
}

/// The name of a state; of one that the program does not have, its number.
fn state(element: &Element, number: u8) -> Json {
    element.states.get(usize::from(number)).map_or_else(|| number.into(), |name| name.as_str().into())
}

fn key(element: &Element, values: &[u128]) -> Json {
    let fields = element.key.iter().flat_map(|key| &key.fields);
    fields
        .zip(values)
        .map(|(field, value)| (field.name().to_owned(), shown(*field, *value)))
        .collect::<Map<_, _>>()
        .into()
}

fn registers(names: &[Register], values: &[u32]) -> Json {
    names
        .iter()
        .zip(values)
        .map(|(register, value)| (register.name.clone(), (*value).into()))
        .collect::<Map<_, _>>()
        .into()
}

/// A field as JSON: addresses as text.
fn shown(field: Field, value: u128) -> Json {
    match field {
        Field::IpSrc | Field::IpDst => std::net::Ipv4Addr::from_bits(value as u32).to_string().into(),
        Field::Ip6Src | Field::Ip6Dst => std::net::Ipv6Addr::from_bits(value).to_string().into(),
        Field::EthSrc | Field::EthDst => {
            let bytes = value.to_be_bytes();
            bytes[10..].iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":").into()
        }
        _ => (value as u64).into(),
    }
}

/// A field's value from JSON: a number, or text with a number or an address.
fn read(field: Field, value: &Json) -> Option<u128> {
    let text = match value {
        Json::Number(number) => return number.as_u64().map(u128::from),
        Json::String(text) => text.as_str(),
        _ => return None,
    };
    match field {
        Field::IpSrc | Field::IpDst => text.parse().ok().map(|address: std::net::Ipv4Addr| address.to_bits().into()),
        Field::Ip6Src | Field::Ip6Dst => text.parse().ok().map(std::net::Ipv6Addr::to_bits),
        Field::EthSrc | Field::EthDst => {
            let bytes: Vec<&str> = text.split(':').collect();
            let byte = |value: u128, byte: &&str| match byte.len() {
                1 | 2 => u8::from_str_radix(byte, 16).ok().map(|byte| value << 8 | u128::from(byte)),
                _ => None,
            };
            bytes.iter().try_fold(0, byte).filter(|_| bytes.len() == 6)
        }
        _ => match text.strip_prefix("0x") {
            Some(digits) => u128::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
    }
}

/// The values of a key: an object by the fields' names, a list in their order, or, of a key of one field, its value.
fn key_of(element: &Element, key: &Json) -> Result<Vec<u128>, FlowError> {
    let none = || HostError::NoContexts { element: element.name.clone() };
    let fields = &element.key.as_ref().ok_or_else(none)?.fields;
    let wrong = || {
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let text = format!("{key} is no key of element {}: that is {}", element.name, names.join(", "));
        FlowError::Given(format!("{text}; write {{\"{}\": ...}}", names.join("\": ..., \"")))
    };
    let values: Vec<&Json> = match key {
        Json::Object(parts) if parts.len() == fields.len() => {
            fields.iter().map(|field| parts.get(field.name())).collect::<Option<_>>().ok_or_else(wrong)?
        }
        Json::Array(values) if values.len() == fields.len() => values.iter().collect(),
        Json::Number(_) | Json::String(_) if fields.len() == 1 => vec![key],
        _ => return Err(wrong()),
    };
    let fits = |value: &u128, field: &Field| value.checked_shr(field.bits()).unwrap_or(0) == 0;
    let read = |(field, value): (&Field, &Json)| read(*field, value).filter(|value| fits(value, field));
    fields.iter().zip(values).map(read).collect::<Option<_>>().ok_or_else(wrong)
}

fn state_of(element: &Element, name: &str) -> Result<u8, FlowError> {
    let found = element.states.iter().position(|state| state == name);
    let wrong = || {
        let there = element.states.join(", ");
        FlowError::Given(format!("element {} has no state `{name}`; it has: {there}", element.name))
    };
    found.map(|state| state as u8).ok_or_else(wrong)
}

/// Registers from an object of numbers by name.
fn fill(names: &[Register], registers: &mut [u32], values: &Json) -> Result<(), FlowError> {
    numbered(names, values)?.into_iter().for_each(|(at, value)| registers[at] = value);
    Ok(())
}

/// Numbers of registers and what they are to be, from an object of numbers by name.
fn numbered(names: &[Register], values: &Json) -> Result<Vec<(usize, u32)>, FlowError> {
    let wrong = || {
        let there: Vec<&str> = names.iter().map(|register| register.name.as_str()).collect();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        FlowError::Given(format!("{values} are no registers: give numbers of 32 bits by name, of {there}"))
    };
    let one = |(name, value): (&String, &Json)| {
        let at = names.iter().position(|register| register.name == *name)?;
        Some((at, u32::try_from(value.as_u64()?).ok()?))
    };
    values.as_object().and_then(|values| values.iter().map(one).collect()).ok_or_else(wrong)
}

/// An element has no such register.
pub(crate) fn no_register(register: usize) -> FlowError {
    FlowError::Given(format!("there is no register {register}; elements have {GLOBALS}, counted from 0"))
}

/// A time from JSON: when it ends, and its length in µs.
fn time_of(element: &Element, time: &Json, now: u64) -> Result<(Deadline, u32), FlowError> {
    let wrong = || {
        let text = format!(
            "{time} is no time: write {{\"us\": 1000000}}, up to 4,000 s, and, to go to a state then, \"then\": STATE"
        );
        FlowError::Given(text)
    };
    let micros = time["us"].as_u64().and_then(|micros| u32::try_from(micros).ok());
    let micros =
        micros.filter(|micros| *micros <= penstock_flow_compiler::program::Timeout::LONGEST).ok_or_else(wrong)?;
    let then = match &time["then"] {
        Json::Null => None,
        Json::String(name) => Some(state_of(element, name)?),
        _ => return Err(wrong()),
    };
    Ok((Deadline { at: now + u64::from(micros), then }, micros))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn block(name: &str, text: &str) -> FlowImage {
        let program = penstock_flow_compiler::compile(name, text).unwrap().program;
        FlowImage { name: name.to_owned(), path: name.into(), program, contexts: 100 }
    }

    /// A chain of one block, one second after its start.
    fn inline() -> Inline {
        let text = "element both { key biflow(ip.src, ip.dst, ip.proto) states ONE, TWO flow count = 7, last global all = 3 table 50
            in ONE { ip => goto TWO } in TWO { ip => count = count + all } }
            element mac { key eth.src eth.src == 0 => keep } element plain { drop_all => drop }";
        let mut inline = start(&[block("", &text.replace("drop_all", "ip"))], 0).unwrap();
        inline.set_time(1_000_000);
        inline
    }

    #[test]
    fn contexts_are_read_as_they_were_written() {
        let mut inline = inline();
        let key = json!({"ip.proto": 6, "ip.dst": "10.0.0.1", "ip.src": "10.0.0.2"});
        assert_eq!(context(&mut inline, "both", &key), Ok(None));
        let written = json!({"state": "TWO", "registers": {"last": 9}, "for": {"us": 5, "then": "ONE"}, "idle": {"us": 4_000_000_000u32}});
        insert(&mut inline, "both", &key, &written).unwrap();
        let whole = json!({
            // Both directions have one key: the smaller address comes first.
            "key": {"ip.src": "10.0.0.1", "ip.dst": "10.0.0.2", "ip.proto": 6},
            "state": "TWO", "registers": {"count": 7, "last": 9},
            "for": {"us": 5, "then": "ONE"}, "idle": {"us": 4_000_000_000u32, "left": 4_000_000_000u32},
        });
        assert_eq!(contexts(&mut inline, "both"), Ok(json!([whole])));
        assert_eq!(context(&mut inline, "both", &json!(["10.0.0.1", "10.0.0.2", "0x6"])), Ok(Some(whole.clone())));
        // What was read can be written again.
        assert_eq!(delete(&mut inline, "both", &key), Ok(true));
        assert_eq!(delete(&mut inline, "both", &key), Ok(false));
        insert(&mut inline, "both", &whole["key"], &whole).unwrap();
        assert_eq!(contexts(&mut inline, "both"), Ok(json!([whole])));
        // Its time is over, and the walker has been there.
        inline.set_time(1_000_000 + 5);
        inline.set_time(2_000_000);
        assert_eq!(context(&mut inline, "both", &key).unwrap().unwrap()["state"], "ONE");
        assert_eq!(take_events(&mut inline).unwrap()[0]["kind"], "expired");
        clear(&mut inline, "both").unwrap();
        assert_eq!(contexts(&mut inline, "both"), Ok(json!([])));
        insert(&mut inline, "both", &key, &json!("TWO")).unwrap();
        insert(&mut inline, "mac", &json!("02:00:00:00:00:0a"), &Json::Null).unwrap();
        assert_eq!(contexts(&mut inline, "mac").unwrap()[0]["key"], json!({"eth.src": "02:00:00:00:00:0a"}));
        set_registers(&mut inline, "both", &json!({"all": 4_294_967_295u32})).unwrap();
        let list = elements(&mut inline).unwrap();
        let sizes: Vec<_> =
            list.as_array().unwrap().iter().map(|one| (one["contexts"].clone(), one["of"].clone())).collect();
        assert_eq!(sizes, [(1.into(), 50.into()), (1.into(), 100.into()), (0.into(), Json::Null)]);
        assert_eq!(
            (&list[0]["registers"], &list[0]["biflow"], &list[2]["key"]),
            (&json!({"all": 4_294_967_295u32}), &true.into(), &Json::Null)
        );
    }

    #[test]
    fn a_chain_has_no_more_elements_than_it_can_have() {
        let elements = |count| (0..count).map(|at| format!("element e{at} {{ ip => drop }}\n")).collect::<String>();
        let blocks = |counts: [usize; 2]| {
            ["one", "two"].iter().zip(counts).map(|(name, count)| block(name, &elements(count))).collect::<Vec<_>>()
        };
        assert_eq!(too_many(&blocks([8, 7])), None);
        assert_eq!(
            too_many(&blocks([8, 8])).unwrap(),
            "the inline blocks have 16 elements (one 8, two 8), and a chain has up to 15: make do with fewer"
        );
    }

    #[test]
    fn what_is_given_is_looked_at() {
        let mut inline = inline();
        let key = json!(["10.0.0.1", "10.0.0.2", 6]);
        for (element, key, context, words) in [
            ("bath", &key, json!(null), "there is no element `bath`; there are: both, mac, plain"),
            ("plain", &key, json!(null), "element plain has no key"),
            ("both", &json!(["10.0.0.1", 6]), json!(null), "no key of element both: that is ip.src, ip.dst, ip.proto"),
            ("both", &json!(["10.0.0.1", "10.0.0.256", 6]), json!(null), "is no key of element both"),
            ("both", &json!(["10.0.0.1", "10.0.0.2", 256]), json!(null), "is no key of element both"),
            ("both", &json!({"ip.src": 1, "ip.dst": 2, "proto": 6}), json!(null), "\"ip.proto\": ..."),
            ("mac", &json!("02:00:00:00:00"), json!(null), "is no key of element mac"),
            ("both", &key, json!("THREE"), "element both has no state `THREE`; it has: ONE, TWO"),
            ("both", &key, json!({"registers": {"all": 1}}), "of count, last"),
            ("both", &key, json!({"registers": {"last": -1}}), "numbers of 32 bits"),
            ("both", &key, json!({"for": {"us": 4_000_000_001u32}}), "up to 4,000 s"),
            ("both", &key, json!({"idle": 5}), "is no time"),
            ("both", &key, json!({"states": "ONE"}), "those are state, registers, for, idle"),
            ("both", &key, json!(7), "7 is no context"),
        ] {
            let text = insert(&mut inline, element, key, &context).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
        assert_eq!(elements(&mut inline).unwrap()[0]["contexts"], 0);
    }

    #[test]
    fn blocks_make_one_chain() {
        let first = block(
            "first",
            "element one { ip => next two } element skip { ip => drop } element two { ip => meta0 = 5 }",
        );
        let second = block(
            "second",
            "element one { key ip.src meta0 == 5 => keep, drop } element two { ip => next last } element skip { ip => drop }
            element last { ip => drop }",
        );
        let chain = joined(&[first.clone(), second]);
        let names: Vec<_> = chain.elements.iter().map(|element| (element.name.as_str(), element.capacity)).collect();
        let of_all = ["first.one", "first.skip", "first.two", "second.one", "second.two", "second.skip", "second.last"];
        assert_eq!(names, of_all.map(|name| (name, Some(100))));
        let verdicts: Vec<_> = chain.elements.iter().map(|element| element.rows[0].verdict).collect();
        assert_eq!(verdicts[..4], [Verdict::Next(2), Verdict::Drop, Verdict::Next(3), Verdict::Drop]);
        assert_eq!(verdicts[4..], [Verdict::Next(6), Verdict::Drop, Verdict::Drop]);
        assert_eq!(joined(&[first]).elements[0].name, "one");
        let of = |names: &[&str]| -> Vec<design::Inline> {
            let block = |name: &&str| design::Inline { name: name.to_string(), program: PathBuf::new(), contexts: 1 };
            names.iter().map(block).collect()
        };
        assert_eq!((find_block(&of(&["a", "b"]), "b"), find_block(&of(&["a"]), "")), (Ok(1), Ok(0)));
        for (names, name, words) in [
            (&[][..], "a", "no inline chain"),
            (&[""][..], "a", "the only one has no name"),
            (&["a", "b"][..], "", "say which: a, b"),
            (&["a", "b"][..], "c", "there are: a, b"),
        ] {
            let text = find_block(&of(names), name).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
    }
}
