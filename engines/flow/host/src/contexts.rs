// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Elements, contexts and events by names, as the service `flow` has them.

use penstock_flow::{Context, Deadline, EventKind, HostError, Slice};
use penstock_flow_compiler::program::{Element, Register, Timeout};
use penstock_headers::Field;
use serde_json::{Map, Value as Json};

use crate::answers::{ContextAbout, ElementAbout, EventAbout, Hard, Idle, SliceAbout};
use crate::elements::Elements;
use crate::error::FlowError;

/// All elements, in their order.
///
/// # Errors
/// The card refuses.
pub fn list(elements: &mut dyn Elements) -> Result<Vec<ElementAbout>, FlowError> {
    let program = elements.program().clone();
    let about = |(number, element): (usize, &Element)| {
        let key = element.key.as_ref();
        Ok(ElementAbout {
            name: element.name.clone(),
            key: key.map(|key| key.fields.iter().map(|field| field.name().to_owned()).collect()),
            biflow: key.is_some_and(|key| !key.pairs.is_empty()),
            states: element.states.clone(),
            flow: element.registers.iter().map(|register| register.name.clone()).collect(),
            registers: registers(&element.globals, &elements.globals(number)?),
            contexts: elements.count(number)?,
            of: key.and(element.capacity),
        })
    };
    program.elements.iter().enumerate().map(about).collect()
}

/// A slice of the contexts of an element ([`Elements::slice`]).
///
/// # Errors
/// There is no such element, or its contexts move too fast to be listed.
pub fn dump(elements: &mut dyn Elements, element: &str, from: usize) -> Result<SliceAbout, FlowError> {
    let (number, element) = find(elements, element)?;
    let (Slice { contexts, next }, now) = (elements.slice(number, from)?, elements.time()?);
    Ok(SliceAbout { contexts: contexts.iter().map(|context| described(&element, context, now)).collect(), next })
}

/// The context of a flow, if it has one.
///
/// # Errors
/// There is no such element, or the key is not one of it.
pub fn get(elements: &mut dyn Elements, element: &str, key: &Json) -> Result<Option<ContextAbout>, FlowError> {
    let (number, element) = find(elements, element)?;
    let (found, now) = (elements.context(number, &key_of(&element, key)?)?, elements.time()?);
    Ok(found.map(|context| described(&element, &context, now)))
}

/// Adds a context, or replaces the one of the same flow. `context` is the name of a state, or an object with any of
/// `state`, `registers`, `for` and `idle`. Parts that are not given are those of a flow without a context; a deadline
/// that is not given does not exist.
///
/// # Errors
/// There is no such element, the context is not one of it, or the table has no place for it.
pub fn insert(elements: &mut dyn Elements, element: &str, key: &Json, context: &Json) -> Result<(), FlowError> {
    let (number, element) = find(elements, element)?;
    let (element, now) = (&element, elements.time()?);
    let mut made = Context { key: key_of(element, key)?, state: 0, registers: [0; 4], hard: None, idle: None };
    made.registers.iter_mut().zip(&element.registers).for_each(|(to, from)| *to = from.initial);
    match context {
        Json::Null => {}
        Json::String(name) => made.state = state_of(element, name)?,
        Json::Object(parts) => {
            for (name, value) in parts {
                match (name.as_str(), value) {
                    // A context as it was read has its key.
                    ("key", _) => {}
                    ("state", Json::String(name)) => made.state = state_of(element, name)?,
                    ("registers", values) => {
                        for (at, value) in numbered(&element.registers, values)? {
                            made.registers[at] = value;
                        }
                    }
                    ("for", time) => made.hard = Some(time_of(element, time, now)?.0),
                    ("idle", time) => made.idle = Some(time_of(element, time, now)?),
                    _ => return Err(FlowError::ContextPart { name: name.clone(), value: value.clone() }),
                }
            }
        }
        other => return Err(FlowError::Context(other.clone())),
    }
    elements.insert(number, &made)
}

/// Removes the context of a flow; false if the flow has no context.
///
/// # Errors
/// There is no such element, or the key is not one of it.
pub fn delete(elements: &mut dyn Elements, element: &str, key: &Json) -> Result<bool, FlowError> {
    let (number, element) = find(elements, element)?;
    elements.remove(number, &key_of(&element, key)?)
}

/// Removes all contexts of an element.
///
/// # Errors
/// There is no such element.
pub fn clear(elements: &mut dyn Elements, element: &str) -> Result<(), FlowError> {
    let (number, _) = find(elements, element)?;
    elements.clear(number)
}

/// Sets registers of an element, from an object of numbers by name. Frames keep the other registers as they are.
///
/// # Errors
/// There is no such element or register.
pub fn set(elements: &mut dyn Elements, element: &str, values: &Json) -> Result<(), FlowError> {
    let (number, element) = find(elements, element)?;
    numbered(&element.globals, values)?.into_iter().try_for_each(|(at, to)| elements.set_global(number, at, to))
}

/// Keeps only events of these kinds of an element from now on. A load keeps all kinds again.
///
/// # Errors
/// There is no such element or kind.
pub fn tell(elements: &mut dyn Elements, element: &str, kinds: &[String]) -> Result<(), FlowError> {
    let (number, _) = find(elements, element)?;
    let known = |name: &String| {
        let found = EventKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| FlowError::Kind { name: name.clone() })
    };
    let kinds = kinds.iter().map(known).collect::<Result<Vec<_>, _>>()?;
    elements.tell(number, &kinds)
}

/// Takes the events that wait, oldest first.
///
/// # Errors
/// The card refuses.
pub fn events(elements: &mut dyn Elements) -> Result<Vec<EventAbout>, FlowError> {
    let mut all = Vec::new();
    while let Some(event) = elements.event()? {
        let element = &elements.program().elements[event.element];
        all.push(EventAbout {
            kind: event.kind.name().to_owned(),
            element: element.name.clone(),
            time: event.time,
            key: key(element, &event.key),
            state: state(element, event.state),
            registers: registers(&element.registers, &event.registers),
        });
    }
    Ok(all)
}

/// The element of this name, and its number.
pub(crate) fn find(elements: &dyn Elements, name: &str) -> Result<(usize, Element), FlowError> {
    let all = &elements.program().elements;
    let there = || all.iter().map(|element| element.name.clone()).collect();
    let found = all.iter().enumerate().find(|(_, element)| element.name == name);
    let (number, element) = found.ok_or_else(|| FlowError::NoElement { name: name.to_owned(), there: there() })?;
    Ok((number, element.clone()))
}

fn described(element: &Element, context: &Context, now: u64) -> ContextAbout {
    let left = |deadline: &Deadline| deadline.at.saturating_sub(now);
    let then = |deadline: &Deadline| deadline.then.map(|then| state(element, then));
    ContextAbout {
        key: key(element, &context.key),
        state: state(element, context.state),
        registers: registers(&element.registers, &context.registers),
        hard: context.hard.as_ref().map(|hard| Hard { us: left(hard), then: then(hard) }),
        idle: context.idle.as_ref().map(|(idle, us)| Idle { us: *us, left: left(idle), then: then(idle) }),
    }
}

/// The name of a state, or the number of a state that the program does not have.
fn state(element: &Element, number: u8) -> Json {
    element.states.get(usize::from(number)).map_or_else(|| number.into(), |name| name.as_str().into())
}

fn key(element: &Element, values: &[u128]) -> Map<String, Json> {
    let fields = element.key.iter().flat_map(|key| &key.fields);
    fields.zip(values).map(|(field, value)| (field.name().to_owned(), shown(*field, *value))).collect()
}

fn registers(names: &[Register], values: &[u32]) -> Map<String, Json> {
    names.iter().zip(values).map(|(register, value)| (register.name.clone(), (*value).into())).collect()
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

/// The values of a key: an object by the names of its fields, a list in their order, or the value of a single field.
fn key_of(element: &Element, key: &Json) -> Result<Vec<u128>, FlowError> {
    let none = || HostError::NoContexts { element: element.name.clone() };
    let fields = &element.key.as_ref().ok_or_else(none)?.fields;
    let wrong = || FlowError::Key {
        key: key.clone(),
        element: element.name.clone(),
        fields: fields.iter().map(|field| field.name()).collect(),
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
    let wrong =
        || FlowError::State { element: element.name.clone(), name: name.to_owned(), there: element.states.clone() };
    found.map(|state| state as u8).ok_or_else(wrong)
}

/// Numbers of registers and their new values, from an object of numbers by name.
fn numbered(names: &[Register], values: &Json) -> Result<Vec<(usize, u32)>, FlowError> {
    let wrong = || FlowError::Registers {
        values: values.clone(),
        there: names.iter().map(|register| register.name.clone()).collect(),
    };
    let one = |(name, value): (&String, &Json)| {
        let at = names.iter().position(|register| register.name == *name)?;
        Some((at, u32::try_from(value.as_u64()?).ok()?))
    };
    values.as_object().and_then(|values| values.iter().map(one).collect()).ok_or_else(wrong)
}

/// A time from JSON: the deadline, and its length in µs.
fn time_of(element: &Element, time: &Json, now: u64) -> Result<(Deadline, u32), FlowError> {
    let wrong = || FlowError::Time(time.clone());
    let micros = time["us"].as_u64().and_then(|micros| u32::try_from(micros).ok());
    let micros = micros.filter(|micros| *micros <= Timeout::LONGEST).ok_or_else(wrong)?;
    let then = match &time["then"] {
        Json::Null => None,
        Json::String(name) => Some(state_of(element, name)?),
        _ => return Err(wrong()),
    };
    Ok((Deadline { at: now + u64::from(micros), then }, micros))
}

#[cfg(test)]
mod tests {
    use penstock_flow::{Block, Chain, Options};
    use penstock_unit::Block as _;
    use serde_json::json;

    use super::*;
    use crate::image::FlowImage;

    const MS: u64 = 1_000_000;

    /// A native block, one second after its start.
    fn block() -> Block {
        let text = "element both { key biflow(ip.src, ip.dst, ip.proto) states ONE, TWO flow count = 7, last
            global all = 3 table 50 in ONE { ip => goto TWO } in TWO { ip => count = count + all } }
            element mac { key eth.src eth.src == 0 => keep } element plain { ip => drop }";
        let program = penstock_flow_compiler::compile("", text).unwrap().program;
        let image = FlowImage { path: "".into(), program, contexts: 100 };
        let mut block = Block::new(Chain::new(&image.sized(""), &Options::default()));
        block.set_time(1000 * MS);
        block
    }

    fn json_of(answer: impl serde::Serialize) -> Json {
        serde_json::to_value(answer).unwrap()
    }

    #[test]
    fn contexts_are_read_as_they_were_written() {
        let mut block = block();
        let key = json!({"ip.proto": 6, "ip.dst": "10.0.0.1", "ip.src": "10.0.0.2"});
        assert_eq!(get(&mut block, "both", &key), Ok(None));
        let written = json!({"state": "TWO", "registers": {"last": 9}, "for": {"us": 5, "then": "ONE"},
            "idle": {"us": 4_000_000_000u32}});
        insert(&mut block, "both", &key, &written).unwrap();
        let whole = json!({
            // Both directions have one key: the smaller address comes first.
            "key": {"ip.src": "10.0.0.1", "ip.dst": "10.0.0.2", "ip.proto": 6},
            "state": "TWO", "registers": {"count": 7, "last": 9},
            "for": {"us": 5, "then": "ONE"}, "idle": {"us": 4_000_000_000u32, "left": 4_000_000_000u32},
        });
        assert_eq!(json_of(dump(&mut block, "both", 0).unwrap()), json!({"contexts": [whole]}));
        let as_list = json!(["10.0.0.1", "10.0.0.2", "0x6"]);
        assert_eq!(json_of(get(&mut block, "both", &as_list).unwrap()), whole);
        // A context that was read can be written again.
        assert_eq!(delete(&mut block, "both", &key), Ok(true));
        assert_eq!(delete(&mut block, "both", &key), Ok(false));
        insert(&mut block, "both", &whole["key"], &whole).unwrap();
        assert_eq!(json_of(dump(&mut block, "both", 0).unwrap()), json!({"contexts": [whole]}));
        // Its deadline has passed, and the walker has reached its place.
        block.set_time(1000 * MS + 5000);
        block.set_time(2000 * MS);
        assert_eq!(get(&mut block, "both", &key).unwrap().unwrap().state, "ONE");
        assert_eq!(events(&mut block).unwrap()[0].kind, "expired");
        clear(&mut block, "both").unwrap();
        assert_eq!(dump(&mut block, "both", 0), Ok(SliceAbout::default()));
        insert(&mut block, "both", &key, &json!("TWO")).unwrap();
        insert(&mut block, "mac", &json!("02:00:00:00:00:0a"), &Json::Null).unwrap();
        let key = &dump(&mut block, "mac", 0).unwrap().contexts[0].key;
        assert_eq!(json_of(key), json!({"eth.src": "02:00:00:00:00:0a"}));
        set(&mut block, "both", &json!({"all": u32::MAX})).unwrap();
        let all = list(&mut block).unwrap();
        let sizes: Vec<_> = all.iter().map(|one| (one.contexts, one.of)).collect();
        assert_eq!(sizes, [(1, Some(50)), (1, Some(100)), (0, None)]);
        assert_eq!(json_of(&all[0].registers), json!({"all": u32::MAX}));
        assert_eq!((all[0].biflow, &all[2].key), (true, &None));
    }

    #[test]
    fn a_full_table_gives_back_expired_contexts_when_time_settles() {
        let text = "element one { key eth.type table 2 else => keep }";
        let program = penstock_flow_compiler::compile("", text).unwrap().program;
        let mut block = Block::new(Chain::new(&program, &Options::default()));
        for key in [1, 2] {
            insert(&mut block, "one", &json!(key), &json!({"for": {"us": key}})).unwrap();
        }
        block.settle_time(3 * MS / 1000);
        assert_eq!(list(&mut block).unwrap()[0].contexts, 0);
    }

    #[test]
    fn wrong_values_are_refused() {
        let mut block = block();
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
            let text = insert(&mut block, element, key, &context).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
        assert_eq!(list(&mut block).unwrap()[0].contexts, 0);
        let text = tell(&mut block, "both", &["newer".to_owned()]).unwrap_err().to_string();
        assert!(text.contains("`newer`; there are: expired, evicted, new, full, notified"), "{text}");
    }
}
