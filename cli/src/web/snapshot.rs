// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The state of a card for its page.

use penstock_engine::View;
use penstock_live::ControlError;
use penstock_live::http::Asker;
use penstock_live::protocol::{ProgramAbout, Request, Status};
use penstock_registry::engines;
use serde::Serialize;

use crate::cmd::service;
use crate::report::{RunData, card_drawing};
use crate::show::grouped;
use crate::status::own_lines;

/// Lines of an engine's view that the page shows.
const LINES: usize = 200;

/// Everything on the page.
#[derive(Debug, Serialize)]
pub(super) struct Snapshot {
    #[serde(flatten)]
    status: Status,
    /// The drawing of the card, with its counters.
    drawing: String,
    /// Inline blocks.
    blocks: Vec<Block>,
    /// The program of each group of units and each block.
    loaded: Vec<ProgramAbout>,
    /// Answers of services to requests without effect.
    views: Vec<Shown>,
    /// Whether the card has a token, so the page can act.
    acts: bool,
}

#[derive(Debug, Serialize)]
struct Block {
    name: String,
    engine: String,
    frames: u64,
    made: u64,
    absorbed: u64,
    blocked: u64,
    /// Its engine's own counters, a line each.
    own: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Shown {
    title: &'static str,
    text: String,
}

impl Snapshot {
    /// Asks the card.
    pub(super) fn ask(card: &mut Asker, acts: bool) -> Result<Self, ControlError> {
        let missing = |what: &str| ControlError::Answer(format!("no {what} in it"));
        let status = card.ask(&Request::Status)?.status.ok_or_else(|| missing("status"))?;
        let counters = card.ask(&Request::Counters)?.counters.ok_or_else(|| missing("counters"))?;
        let loaded = card.ask(&Request::Programs)?.programs.unwrap_or_default();
        let drawing = card_drawing(&RunData::live(&status, &counters));
        let block = |block: penstock_device::BlockCounters| Block {
            own: own_lines(&block),
            name: block.name,
            engine: block.engine,
            frames: block.frames,
            made: block.made,
            absorbed: block.absorbed,
            blocked: block.blocked,
        };
        let blocks = counters.inline.map_or_else(Vec::new, |inline| inline.blocks.into_iter().map(block).collect());
        let views = views(card, &loaded)?;
        Ok(Self { status, drawing, blocks, loaded, views, acts })
    }
}

/// Asks the services of the card's engines for their views.
fn views(card: &mut Asker, loaded: &[ProgramAbout]) -> Result<Vec<Shown>, ControlError> {
    let mut all = Vec::new();
    for engine in engines().iter().filter(|engine| loaded.iter().any(|about| about.engine == engine.name())) {
        for service in engine.services() {
            for View { title, words } in service.views {
                let words: Vec<String> = [service.name].iter().chain(*words).map(|word| (*word).to_owned()).collect();
                let mut lost = None;
                let answer = service::call(&words, |request| {
                    card.ask(request).map(|reply| reply.answer.unwrap_or_default()).inspect_err(|error| {
                        // One that is refused has nothing to show: the program has no maps, or no routes.
                        if !matches!(error, ControlError::Refused(_)) {
                            lost = Some(error.to_string());
                        }
                    })
                });
                if let Some(why) = lost {
                    return Err(ControlError::Answer(why));
                }
                if let Some(text) = answer.ok().filter(|text| !text.trim().is_empty()) {
                    all.push(Shown { title, text: first_lines(&text) });
                }
            }
        }
    }
    Ok(all)
}

fn first_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut shown = lines.iter().take(LINES).copied().collect::<Vec<_>>().join("\n");
    if lines.len() > LINES {
        shown += &format!("\nand {} more", grouped((lines.len() - LINES) as u64));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_views_are_cut() {
        let text: String = (0..250).map(|line| format!("line {line}\n")).collect();
        let shown = first_lines(&text);
        assert_eq!(shown.lines().count(), LINES + 1);
        assert!(shown.ends_with("line 199\nand 50 more"), "{shown}");
        assert_eq!(first_lines("a\nb\n"), "a\nb");
    }

    /// The words of each view are a request of its service.
    #[test]
    fn views_are_requests() {
        let mut count = 0;
        for service in engines().iter().flat_map(|engine| engine.services()) {
            for view in service.views {
                let words: Vec<String> = [service.name].iter().chain(view.words).map(|&word| word.to_owned()).collect();
                let asked = service::call(&words, |request| {
                    assert!(matches!(request, Request::Call(call) if call.service == service.name));
                    count += 1;
                    Ok(serde_json::Value::Null)
                });
                assert!(asked.is_ok(), "{words:?}: {asked:?}");
            }
        }
        assert!(count > 5);
    }
}
