// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock top`: a card that is up, on a screen that refreshes itself.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use penstock_device::UnitState;
use penstock_engine::say;
use penstock_live::protocol::{Request, Status};
use penstock_live::{Client, ControlError};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};
use ratatui::{DefaultTerminal, Frame};

use crate::cmd::ctl::{CtlError, Which};
use crate::status::{Look, More, drops};

/// Shows a live card: ports with their rates and drops, units, and faults.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Which card.
    #[command(flatten)]
    pub which: Which,
    /// Print it once as text, with the rates of one interval, and end.
    #[arg(long)]
    pub once: bool,
    /// Seconds between two reads of the card.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
    pub interval: f64,
}

/// Why there is nothing to see any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TopError {
    #[error(transparent)]
    Ctl(#[from] CtlError),
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error("the answer is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the terminal: {0}; `penstock top --once` needs none")]
    Terminal(#[from] io::Error),
}

/// Shows the card until `q`, Escape or Ctrl-C, or once.
pub(crate) fn run(args: &Args) -> Result<(), TopError> {
    let mut client = args.which.connect()?;
    let interval = Duration::from_secs_f64(args.interval);
    if args.once || args.which.json {
        let before = ask(&mut client)?;
        thread::sleep(interval);
        let now = ask(&mut client)?;
        if args.which.json {
            say!("{}", serde_json::to_string(&now)?);
        } else {
            say::text(&Look::since(&before, &now).text(&More::ask(&mut client)?));
        }
        return Ok(());
    }
    let mut terminal = ratatui::try_init()?;
    let shown = show(&mut terminal, &mut client, interval);
    ratatui::try_restore()?;
    shown
}

fn ask(client: &mut Client) -> Result<Status, ControlError> {
    client.ask(&Request::Status)?.status.ok_or_else(|| ControlError::Answer("no status".to_string()))
}

/// The screen's contents, and the part of the list that is visible.
struct View {
    before: Status,
    now: Status,
    more: More,
    /// First line and first column of the list of units, blocks and tables.
    scroll: (u16, u16),
    /// Lines of the list, and how many the screen has room for.
    lines: (u16, u16),
}

fn show(terminal: &mut DefaultTerminal, client: &mut Client, interval: Duration) -> Result<(), TopError> {
    let now = ask(client)?;
    let mut view = View { before: now.clone(), now, more: More::ask(client)?, scroll: (0, 0), lines: (0, 0) };
    loop {
        let due = Instant::now() + interval;
        terminal.draw(|frame| draw(frame, &mut view))?;
        while let Some(rest) = due.checked_duration_since(Instant::now()) {
            if !event::poll(rest)? {
                break;
            }
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press && is_end(key.code, key.modifiers) => return Ok(()),
                Event::Key(key) if key.kind == KeyEventKind::Press => {
                    view.scroll = scrolled(view.scroll, view.lines, key.code);
                    terminal.draw(|frame| draw(frame, &mut view))?;
                }
                Event::Resize(..) => {
                    terminal.draw(|frame| draw(frame, &mut view))?;
                }
                _ => {}
            }
        }
        view.before = std::mem::replace(&mut view.now, ask(client)?);
        view.more = More::ask(client)?;
    }
}

/// The place in a list of so many lines, on a screen with room for `room` of them, after a key.
fn scrolled((line, column): (u16, u16), (lines, room): (u16, u16), key: KeyCode) -> (u16, u16) {
    const STEP: u16 = 8;
    let last = lines.saturating_sub(room);
    let line = match key {
        KeyCode::Down | KeyCode::Char('j') => line + 1,
        KeyCode::Up | KeyCode::Char('k') => line.saturating_sub(1),
        KeyCode::PageDown | KeyCode::Char(' ') => line + room.max(1),
        KeyCode::PageUp => line.saturating_sub(room.max(1)),
        KeyCode::Home => 0,
        KeyCode::End => last,
        _ => line,
    };
    let column = match key {
        KeyCode::Right | KeyCode::Char('l') => column + STEP,
        KeyCode::Left | KeyCode::Char('h') => column.saturating_sub(STEP),
        _ => column,
    };
    (line.min(last), column.min(200))
}

fn is_end(code: KeyCode, modifiers: KeyModifiers) -> bool {
    let is_interrupt = code == KeyCode::Char('c') && modifiers.contains(KeyModifiers::CONTROL);
    is_interrupt || matches!(code, KeyCode::Char('q') | KeyCode::Esc)
}

fn draw(frame: &mut Frame<'_>, view: &mut View) {
    const HEAD: Style = Style::new().add_modifier(Modifier::BOLD);
    const BAD: Style = Style::new().fg(Color::Red);
    let View { before, now, more, scroll, lines: shown } = view;
    let look = Look::since(before, now);
    let rows = now.ports.len() as u16 + 3;
    let faults = now.faults.len().min(5) as u16 + 2;
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(rows),
        Constraint::Min(3),
        Constraint::Length(1),
        Constraint::Length(faults),
    ]);
    let [head, ports, list, all_drops, sentences] = areas.areas(frame.area());
    frame.render_widget(Paragraph::new(look.head()).style(HEAD), head);

    // Two columns are the frame around the table.
    let width = usize::from(frame.area().width.saturating_sub(2));
    let table = |lines: Vec<String>| {
        let mut lines: Vec<Line<'_>> = lines.into_iter().map(Line::from).collect();
        if let Some(first) = lines.first_mut() {
            *first = std::mem::take(first).style(HEAD);
        }
        lines
    };
    let of_ports = Paragraph::new(table(look.port_lines(width)));
    frame.render_widget(of_ports.block(Block::bordered().title("ports")), ports);

    let mut lines = table(look.unit_lines(width));
    for (line, unit) in lines.iter_mut().skip(1).zip(&now.units) {
        if unit.vitals.state == UnitState::Dead {
            *line = std::mem::take(line).style(BAD);
        }
    }
    let drop_lines = look.drop_lines();
    let gap = (!drop_lines.is_empty()).then(String::new);
    lines.extend(gap.into_iter().chain(drop_lines).chain(more.lines()).map(Line::from));
    *shown = (lines.len() as u16, list.height.saturating_sub(2));
    // The list may have become shorter, or the screen larger.
    *scroll = scrolled(*scroll, *shown, KeyCode::Null);
    let hidden = shown.0.saturating_sub(shown.1);
    let title = match hidden {
        0 => "units".to_owned(),
        _ => format!("units (lines {}-{} of {}; arrows scroll)", scroll.0 + 1, scroll.0 + shown.1, shown.0),
    };
    let of_units = Paragraph::new(lines).scroll(*scroll);
    frame.render_widget(of_units.block(Block::bordered().title(title)), list);

    frame.render_widget(Paragraph::new(format!("drops: {}   q ends", drops(&now.drops))), all_drops);
    let newest: Vec<&str> = now.faults.iter().rev().take(5).map(String::as_str).collect();
    let text = Paragraph::new(newest.join("\n")).style(BAD);
    frame.render_widget(text.block(Block::bordered().title("faults, the newest first")), sentences);
}

fn interval(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err(format!("`{text}` is no interval: give seconds between 0.1 and 3600")),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};

    use super::*;

    #[test]
    fn the_screen_has_ports_units_drops_and_faults() {
        let text = r#"{"design":"firewall","manifest":"","programs":["fw.c"],"driver":"AF_PACKET","process":1,"seconds":3.0,
            "ports":[{"port":"port0","interface":"veth0","link":"up","rx_frames":1234567,"rx_bytes":1,"tx_frames":0,"tx_bytes":0,
            "drops":{"runt":5}}],"units":[{"unit":9,"state":"dead","slots":32,"held":3,"at":"pc=0x1c (fw.c:7 (main))",
            "rx_frames":77,"tx_frames":1,"blocked":0,"refused":0,"generated":0,"errors":0}],"drops":{"lost":3},"faults":["unit 9 hangs"]}"#;
        let status: Status = serde_json::from_str(text).unwrap();
        let mut view = view(status);
        let screen = screen(&mut view, 120, 24);
        for words in
            ["firewall (fw.c)", "veth0", "1,234,567", "runt 5", "dead", "3/32", "fw.c:7", "lost 3", "unit 9 hangs"]
        {
            assert!(screen.contains(words), "{words}: {screen}");
        }
    }

    fn view(status: Status) -> View {
        View { before: status.clone(), now: status, more: More::default(), scroll: (0, 0), lines: (0, 0) }
    }

    fn screen(view: &mut View, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, view)).unwrap();
        terminal.backend().to_string()
    }

    /// All 32 units are seen on a screen of 24 lines, one page after the other, and the first one after that.
    #[test]
    fn the_list_scrolls() {
        let unit = |number: u32| {
            format!(
                r#"{{"unit":{number},"state":"running","slots":32,"held":3,"at":"pc=0x1c","rx_frames":7700{number:02},
                "tx_frames":1,"blocked":0,"refused":0,"generated":0,"errors":0}}"#
            )
        };
        let units = (0..32).map(unit).collect::<Vec<_>>().join(",");
        let text = format!(
            r#"{{"design":"many","manifest":"","programs":[],"driver":"wire","process":1,"seconds":3.0,"ports":[],
            "units":[{units}],"drops":{{}},"faults":[]}}"#
        );
        let mut view = view(serde_json::from_str(&text).unwrap());
        let mut seen = String::new();
        for _ in 0..5 {
            seen += &screen(&mut view, 80, 24);
            view.scroll = scrolled(view.scroll, view.lines, KeyCode::PageDown);
        }
        assert!((0..32).all(|unit| seen.contains(&format!("\n\"│{unit:<4}  running"))), "{seen}");
        assert!(seen.contains("of 33; arrows scroll)"), "{seen}");
        assert!(screen(&mut view, 80, 24).contains("│31 "));
        view.scroll = scrolled(view.scroll, view.lines, KeyCode::Home);
        assert!(screen(&mut view, 80, 24).contains("│0 "));
    }
}
