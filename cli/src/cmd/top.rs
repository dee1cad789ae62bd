// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock top`: a card that is up, on a screen that refreshes itself.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use penstock_engine::say;
use penstock_live::protocol::{Request, Status};
use penstock_live::{Client, ControlError};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::{Block, Paragraph, Row, Table};
use ratatui::{DefaultTerminal, Frame};

use crate::cmd::ctl::{CtlError, Which};
use crate::status::{Look, PORT_HEADS, UNIT_HEADS, drops};

/// Shows a live card: ports with their rates and drops, units, and faults.
#[derive(Debug, ClapArgs)]
pub struct Args {
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
pub enum TopError {
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
pub fn run(args: &Args) -> Result<(), TopError> {
    let mut client = args.which.connect()?;
    let interval = Duration::from_secs_f64(args.interval);
    if args.once || args.which.json {
        let before = ask(&mut client)?;
        thread::sleep(interval);
        let now = ask(&mut client)?;
        if args.which.json {
            say!("{}", serde_json::to_string(&now)?);
        } else {
            say::text(&Look::since(&before, &now).text());
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

fn show(terminal: &mut DefaultTerminal, client: &mut Client, interval: Duration) -> Result<(), TopError> {
    let mut before = ask(client)?;
    let mut now = before.clone();
    loop {
        let due = Instant::now() + interval;
        terminal.draw(|frame| draw(frame, &Look::since(&before, &now), &now))?;
        while let Some(rest) = due.checked_duration_since(Instant::now()) {
            if !event::poll(rest)? {
                break;
            }
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press && is_end(key.code, key.modifiers) => return Ok(()),
                Event::Resize(..) => {
                    terminal.draw(|frame| draw(frame, &Look::since(&before, &now), &now))?;
                }
                _ => {}
            }
        }
        before = std::mem::replace(&mut now, ask(client)?);
    }
}

fn is_end(code: KeyCode, modifiers: KeyModifiers) -> bool {
    let is_interrupt = code == KeyCode::Char('c') && modifiers.contains(KeyModifiers::CONTROL);
    is_interrupt || matches!(code, KeyCode::Char('q') | KeyCode::Esc)
}

fn draw(frame: &mut Frame<'_>, look: &Look<'_>, now: &Status) {
    const HEAD: Style = Style::new().add_modifier(Modifier::BOLD);
    const BAD: Style = Style::new().fg(Color::Red);
    let rows = now.ports.len() as u16 + 3;
    let faults = now.faults.len().min(5) as u16 + 2;
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(rows),
        Constraint::Min(3),
        Constraint::Length(1),
        Constraint::Length(faults),
    ]);
    let [head, ports, units, all_drops, sentences] = areas.areas(frame.area());
    frame.render_widget(Paragraph::new(look.head()).style(HEAD), head);

    let widths = [6, 16, 16, 8, 9, 16, 8, 9].map(Constraint::Length).into_iter().chain([Constraint::Min(10)]);
    let table = Table::new(look.ports().into_iter().map(Row::new), widths);
    frame.render_widget(table.header(Row::new(PORT_HEADS).style(HEAD)).block(Block::bordered().title("ports")), ports);

    let widths = [12, 8, 6, 16, 16, 12, 12, 8].map(Constraint::Length).into_iter().chain([Constraint::Min(20)]);
    let row = |cells: [String; 9]| {
        let style = if cells[1] == "dead" { BAD } else { Style::new() };
        Row::new(cells).style(style)
    };
    let table = Table::new(look.units().into_iter().map(row), widths);
    frame.render_widget(table.header(Row::new(UNIT_HEADS).style(HEAD)).block(Block::bordered().title("units")), units);

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
#[allow(clippy::unwrap_used)]
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
        let mut terminal = Terminal::new(TestBackend::new(120, 24)).unwrap();
        terminal.draw(|frame| draw(frame, &Look::since_start(&status), &status)).unwrap();
        let screen = terminal.backend().to_string();
        for words in
            ["firewall (fw.c)", "veth0", "1,234,567", "runt 5", "dead", "3/32", "fw.c:7", "lost 3", "unit 9 hangs"]
        {
            assert!(screen.contains(words), "{words}: {screen}");
        }
    }
}
