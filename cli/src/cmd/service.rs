// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Services of engines as subcommands of `penstock ctl`.

use std::collections::VecDeque;

use clap::{ArgMatches, ColorChoice, Command, FromArgMatches};
use penstock_device::Request;
use penstock_engine::{Service, next_slice, say};
use penstock_live::{ControlError, protocol};
use penstock_registry::engines;
use serde_json::Value as Json;

use crate::cmd::ctl::{CtlError, Which};

/// All services of all engines.
fn services() -> impl Iterator<Item = &'static Service> {
    engines().iter().flat_map(|engine| engine.services())
}

/// Adds them to the command.
pub(crate) fn add(ctl: Command) -> Command {
    services().fold(ctl, |ctl, service| ctl.subcommand((service.command)()))
}

/// The service that the arguments of `ctl` name, and its own arguments.
fn named(ctl: &ArgMatches) -> Option<(&'static Service, &ArgMatches)> {
    let (name, arguments) = ctl.subcommand()?;
    Some((services().find(|service| service.name == name)?, arguments))
}

/// Whether the arguments of `ctl` name a service.
pub(crate) fn is_meant(ctl: &ArgMatches) -> bool {
    named(ctl).is_some()
}

/// Asks the service of a card that is up, and prints the answer.
pub(crate) fn run(ctl: &ArgMatches) -> Result<(), CtlError> {
    let Some((service, arguments)) = named(ctl) else { return Ok(()) };
    let which = Which::from_arg_matches(ctl)?;
    let json = arguments.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or(which.json);
    let mut asks = VecDeque::from((service.ask)(arguments).map_err(CtlError::Arguments)?);
    let (mut client, mut joined) = (which.connect()?, Joined::default());
    while let Some(ask) = asks.pop_front() {
        let request = protocol::Request::Call(Request { service: service.name.to_owned(), ask: ask.clone() });
        let answer = client.ask(&request)?.answer.unwrap_or_default();
        let next = next_slice(&ask, &answer);
        // The last request has the answer. Each slice of a long one is printed when it comes.
        match json {
            _ if !asks.is_empty() => {}
            true => say::text(&joined.add(answer, next.is_none())?),
            false => say::text(&(service.show)(&ask, &answer)),
        }
        if let Some(next) = next {
            asks.push_front(next);
        }
    }
    Ok(())
}

/// The slices of an answer as one JSON text: an object whose list has the elements of all slices.
#[derive(Default)]
struct Joined {
    /// There was a slice, and there was an element.
    has_begun: bool,
    has_elements: bool,
}

impl Joined {
    /// The text of the next slice.
    fn add(&mut self, answer: Json, is_last: bool) -> Result<String, serde_json::Error> {
        let list = answer.as_object().and_then(|parts| parts.iter().find(|(_, value)| value.is_array()));
        let (Some((list, elements)), false) = (list, is_last && !self.has_begun) else {
            return Ok(serde_json::to_string(&answer)? + "\n");
        };
        let mut text = String::new();
        if !self.has_begun {
            let others = answer.as_object().into_iter().flatten().filter(|(name, _)| *name != list && *name != "next");
            text.push('{');
            for (name, value) in others {
                text += &format!("{}:{},", serde_json::to_string(name)?, serde_json::to_string(value)?);
            }
            text += &format!("{}:[", serde_json::to_string(list)?);
        }
        self.has_begun = true;
        for element in elements.as_array().into_iter().flatten() {
            if self.has_elements {
                text.push(',');
            }
            self.has_elements = true;
            text += &serde_json::to_string(element)?;
        }
        Ok(text + if is_last { "]}\n" } else { "" })
    }
}

/// Asks a service in the words of the command line, of which the first is its name. Returns the answer for people, or
/// why there is none.
pub(crate) fn call(
    words: &[String],
    mut ask: impl FnMut(&protocol::Request) -> Result<Json, ControlError>,
) -> Result<String, String> {
    let ctl = add(Command::new("ctl").no_binary_name(true).subcommand_required(true).color(ColorChoice::Never));
    let matches = ctl.try_get_matches_from(words).map_err(|error| error.to_string())?;
    let (service, arguments) = named(&matches).ok_or("no service has this name")?;
    let mut text = String::new();
    for asked in (service.ask)(arguments)? {
        let request = protocol::Request::Call(Request { service: service.name.to_owned(), ask: asked.clone() });
        let answer = ask(&request).map_err(|error| error.to_string())?;
        let more = next_slice(&asked, &answer).map_or("", |_| "... (`penstock ctl` prints all)\n");
        text = (service.show)(&asked, &answer) + more;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn slices_are_one_text() {
        let slice = |entries: Json, next: Json| json!({"map": {"name": "a"}, "entries": entries, "next": next});
        let mut joined = Joined::default();
        let texts = [
            joined.add(slice(json!([]), json!(7)), false),
            joined.add(slice(json!([[1], [2]]), json!(9)), false),
            joined.add(slice(json!([]), json!(11)), false),
            joined.add(json!({"map": {"name": "a"}, "entries": [{"b": 3}]}), true),
        ];
        let text: String = texts.map(Result::unwrap).concat();
        assert_eq!(text, "{\"map\":{\"name\":\"a\"},\"entries\":[[1],[2],{\"b\":3}]}\n");
        assert_eq!(Joined::default().add(json!({"entries": [1]}), true).unwrap(), "{\"entries\":[1]}\n");
        assert_eq!(Joined::default().add(Json::Null, true).unwrap(), "null\n");
    }
}
