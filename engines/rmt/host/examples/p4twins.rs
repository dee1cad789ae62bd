// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs programs for tests, each on a native block and, by its driver, on memories of rows that stand for a card.
//!
//! Each line of input is a list of commands, each line of output the list of their answers; a refusal is `{"error": …}`.
//!
//! - `{"begin": {"stages": 12, "tenants": ["t1"]}}`: new blocks, whose tenants have the numbers from 1 on
//! - `{"soft": ASK}`, `{"card": ASK}`: a request to the service `rmt` of the native block or of the rows
//! - `{"frames": [[tenant, port, time in ns, hex], …]}`: a list of [verdict, hex] for each frame on the native block
//! - `{"rows": null}`: `[memory, stage, row, [word, …]]` of all rows that the driver has written since the last time
//! - `{"put": [[memory, stage, row, [word, …]], …]}`: changes rows, as frames do
//! - `{"records": [hex, …]}`: records of the card for its driver
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

use penstock_engine::window::INLINE_WINDOW;
use penstock_engine::{Bus, CardError, CardShape, Driver, Engine as _, Native, Request, Tenant, regs};
use penstock_rmt::Block;
use penstock_rmt_compiler::backend::Pipeline;
use penstock_rmt_host::{NAME, RMT, RmtImage};
use penstock_unit::{Block as AnyBlock, Entering, Unit, Verdict};
use serde_json::{Value as Json, json};

const DEPTHS: u32 = 8;
const WAYS: u32 = 4;
const LEVELS: u32 = 3;
/// Log2 of buckets, registers and leaves, lanes; and of ternary rows, counters and meters.
const SIZES: u32 = 10 | 12 << 8 | 12 << 16 | 2 << 24;
const MORE: u32 = 7 | 10 << 8 | 10 << 16;

/// A card whose only block is native code.
struct Soft(Box<dyn AnyBlock>);

impl Bus for Soft {
    fn read(&mut self, _: u32) -> Result<u32, CardError> {
        Ok(0)
    }

    fn write(&mut self, _: u32, _: u32) -> Result<(), CardError> {
        Ok(())
    }

    fn pass(&mut self, _: u64) -> Result<(), CardError> {
        Ok(())
    }

    fn native(&mut self) -> Option<&mut dyn Native> {
        Some(self)
    }
}

impl Native for Soft {
    fn unit(&mut self, _: u32) -> Option<&mut dyn Unit> {
        None
    }

    fn block(&mut self, _: usize) -> Option<&mut dyn AnyBlock> {
        Some(self.0.as_mut())
    }

    fn set_block(&mut self, _: usize, to: Box<dyn AnyBlock>) {
        self.0 = to;
    }
}

/// A card whose only block is rows that keep what was written.
struct Rows {
    pipeline: Pipeline,
    select: u32,
    staged: [u32; 32],
    rows: BTreeMap<u32, [u32; 32]>,
    changed: BTreeSet<u32>,
    records: VecDeque<Vec<u8>>,
}

/// Registers of the first block's records, with their level and what removes one.
const RECORDS: u32 = INLINE_WINDOW + regs::INLINE_RECORDS_BASE;
const RECORDS_LEVEL: u32 = RECORDS + regs::INLINE_RECORDS_LEVEL;
const RECORDS_POP: u32 = RECORDS + regs::INLINE_RECORDS_POP;

impl Bus for Rows {
    fn read(&mut self, address: u32) -> Result<u32, CardError> {
        Ok(match address {
            RECORDS_LEVEL => return Ok(self.records.len() as u32),
            RECORDS..RECORDS_LEVEL => {
                let bytes = &self.records[0][(address - RECORDS) as usize..][..4];
                return Ok(bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte)));
            }
            _ => match address & 0xFF_FFFF {
                0x0 => self.pipeline.stages as u32 | DEPTHS << 8 | WAYS << 16 | LEVELS << 24,
                0x4 => SIZES,
                0x10 => MORE,
                0x20 => u32::from(self.pipeline.ternary) | u32::from(self.pipeline.prefixes) << 16,
                0x24 => self.pipeline.meters.into(),
                0x14 | 0x18 | 0x1C | 0x28 => 0,
                at => self.rows.get(&self.select).map_or(0, |row| row[(at as usize - 0x100) / 4]),
            },
        })
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
        match address & 0xFF_FFFF {
            _ if address == RECORDS_POP => drop(self.records.pop_front()),
            0x8 => self.select = value,
            0xC => {
                self.rows.insert(self.select, self.staged);
                self.changed.insert(self.select);
            }
            at => self.staged[(at as usize - 0x100) / 4] = value,
        }
        Ok(())
    }

    fn pass(&mut self, _: u64) -> Result<(), CardError> {
        Ok(())
    }

    fn native(&mut self) -> Option<&mut dyn Native> {
        None
    }
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

struct Twins {
    soft: Soft,
    soft_driver: Box<dyn Driver>,
    card: Rows,
    card_driver: Box<dyn Driver>,
}

impl Twins {
    fn begin(stages: u64, names: &[Json]) -> Self {
        let tenant = |(at, name): (usize, &Json)| Tenant {
            name: name.as_str().unwrap().to_owned(),
            number: at as u8 + 1,
            vlan: at as u16 + 1,
            ports: 0,
        };
        let tenants: Vec<Tenant> = names.iter().enumerate().map(tenant).collect();
        let shape = CardShape { ports: 2, units: 0, parts: vec![(0, String::new(), 0..0)], tenants };
        let part = RMT.card(None).unwrap();
        let pipeline = Pipeline::new(stages as usize);
        let image = Arc::new(RmtImage { tenants: Vec::new(), pipeline });
        let mut soft = Soft(Box::new(Block::default()));
        let mut card = Rows {
            pipeline,
            select: 0,
            staged: [0; 32],
            rows: BTreeMap::new(),
            changed: BTreeSet::new(),
            records: VecDeque::new(),
        };
        let mut soft_driver = RMT.driver(&shape, part.as_ref());
        soft_driver.load_block(&mut soft, 0, image.as_ref()).unwrap();
        let mut card_driver = RMT.driver(&shape, part.as_ref());
        card_driver.load_block(&mut card, 0, image.as_ref()).unwrap();
        Self { soft, soft_driver, card, card_driver }
    }

    fn frame(&mut self, frame: &Json) -> Json {
        let number = |at: usize| frame[at].as_u64().unwrap();
        let mut bytes = unhex(frame[3].as_str().unwrap());
        let mut made = Vec::new();
        self.soft.0.set_time(number(2));
        let entering = Entering { port: number(1) as u8, hash: 0, tenant: number(0) as u8 };
        let verdict = self.soft.0.carry(&mut bytes, &mut 0, entering, &mut made);
        let all = made.into_iter().map(|made| (made.verdict, made.frame)).chain([(verdict, bytes)]);
        let show = |(verdict, bytes): (Verdict, Vec<u8>)| {
            let verdict = match verdict {
                Verdict::Onward => "onward".to_owned(),
                Verdict::Port(port) => format!("port {port}"),
                Verdict::Host => "host".to_owned(),
                Verdict::Drop | Verdict::Absorb => return None,
                other => format!("{other:?}"),
            };
            Some(json!([verdict, bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()]))
        };
        json!(all.filter_map(show).collect::<Vec<_>>())
    }

    fn carry_out(&mut self, command: &Json) -> Json {
        let (name, value) = command.as_object().unwrap().iter().next().unwrap();
        let request = || Request { service: NAME.to_owned(), ask: value.clone() };
        let result = match name.as_str() {
            "soft" => self.soft_driver.call(&mut self.soft, &request()),
            "card" => self.card_driver.call(&mut self.card, &request()),
            "frames" => return value.as_array().unwrap().iter().map(|frame| self.frame(frame)).collect(),
            "rows" => {
                let changed = std::mem::take(&mut self.card.changed);
                let row = |at: u32| json!([at >> 24, at >> 16 & 0xFF, at & 0xFFFF, self.card.rows[&at]]);
                return changed.into_iter().map(row).collect();
            }
            "records" => {
                let bytes = |record: &Json| unhex(record.as_str().unwrap());
                self.card.records.extend(value.as_array().unwrap().iter().map(bytes));
                return Json::Null;
            }
            _ => {
                for row in value.as_array().unwrap() {
                    let number = |json: &Json| json.as_u64().unwrap() as u32;
                    let words = self.card.rows.entry(number(&row[0]) << 24 | number(&row[1]) << 16 | number(&row[2]));
                    let words = words.or_insert([0; 32]);
                    row[3].as_array().unwrap().iter().zip(words).for_each(|(word, to)| *to = number(word));
                }
                return Json::Null;
            }
        };
        result.unwrap_or_else(|error| json!({"error": error.to_string()}))
    }
}

fn main() {
    let mut twins = Twins::begin(1, &[]);
    for line in std::io::stdin().lock().lines() {
        let commands: Vec<Json> = serde_json::from_str(&line.unwrap()).unwrap();
        let mut answers = Vec::new();
        for command in &commands {
            answers.push(match command.get("begin") {
                Some(begin) => {
                    twins = Twins::begin(begin["stages"].as_u64().unwrap(), begin["tenants"].as_array().unwrap());
                    Json::Null
                }
                None => twins.carry_out(command),
            });
        }
        println!("{}", json!(answers));
        std::io::stdout().flush().unwrap();
    }
}
