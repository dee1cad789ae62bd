// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The project of a card for a shell: what `penstock fpga init` writes, and the vendor's tool then builds.

mod corundum;
mod opennic;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use penstock_engine::Root;

use super::{Areas, Hardware, Shell, memory};
use crate::design::{Design, DesignError};
use crate::error::DeviceError;
use crate::file_list;

/// File lists of the card's sources around the shell's own, in the order in which a compiler has to see them.
const LISTS: [&str; 4] = ["lib/rtl/rtl.f", "engines/units.f", "engines/inline.f", "shell/rtl/rtl.f"];
const HEAD: &str = "Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0";
const HARDWARE: &str = "hardware.json";
const CONSTRAINTS: &str = "crossings.xdc";

/// Periods of the clocks, ns.
struct Clocks {
    card: f64,
    registers: f64,
    mac: f64,
    memory: f64,
}

/// Why a project cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// There is no such board.
    #[error("{shell} has no board `{name}`: give {boards}")]
    Board {
        /// The shell.
        shell: Shell,
        /// What was given.
        name: String,
        /// The shell's boards.
        boards: String,
    },
    /// The board has fewer ports.
    #[error(
        "the design {design} has {ports} ports, and the board {board} has {there}: take a board with more, or say `ports = {there}` in the design"
    )]
    Ports {
        /// Name of the design.
        design: String,
        /// Its ports.
        ports: u32,
        /// The board.
        board: String,
        /// MACs of the board.
        there: u32,
    },
    /// The board has too few resources.
    #[error("the design {design} is too large for {board}: {excess}")]
    TooLarge {
        /// Name of the design.
        design: String,
        /// The board.
        board: String,
        /// The missing resources, the largest part, and the parts to leave out.
        excess: String,
    },
    /// A part of the design needs what the shell does not have.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The folder holds something else.
    #[error("{}: the folder is there already and is no project of `penstock fpga init`: give another one", .0.display())]
    Occupied(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A source of the checkout cannot be used.
    #[error("{}: {problem}", path.display())]
    Source {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The design's programs cannot be compiled.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// How a crossing between two clocks is constrained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `sync_bits`: from its source register to its first one, with the skew of its bits.
    Bits,
    /// `reset_bridge`: to the asynchronous pins of its chain.
    Reset,
    /// `cross_word`: its word, which stands still.
    Word,
}

/// A crossing: where it is below the instance of shell_card, and the period of its source.
struct Crossing {
    path: String,
    kind: Kind,
    period_ns: f64,
}

/// All crossings of shell_card.
fn crossings(ports: u32, memories: u32, clocks: &Clocks) -> Vec<Crossing> {
    let Clocks { card, registers, mac, memory } = *clocks;
    let mut all = Vec::new();
    let mut add = |path: String, kind, period_ns| all.push(Crossing { path, kind, period_ns });
    // The resets of two sides a and b.
    let pair = |add: &mut dyn FnMut(String, Kind, f64), path: &str, a_ns: f64, b_ns: f64| {
        for (side, peer_ns) in [("i_a", b_ns), ("i_b", a_ns)] {
            add(format!("{path}/{side}/i_begun"), Kind::Reset, peer_ns);
            add(format!("{path}/{side}/i_peer_rst"), Kind::Bits, peer_ns);
            add(format!("{path}/{side}/i_peer_seen"), Kind::Bits, peer_ns);
        }
    };
    add("i_axil_rst".into(), Kind::Reset, registers);
    add("i_card_rst".into(), Kind::Reset, registers);
    pair(&mut add, "i_bar_resets", registers, card);
    for (word, there_ns, back_ns) in [("i_request", registers, card), ("i_answer", card, registers)] {
        add(format!("i_bar/{word}"), Kind::Word, there_ns);
        add(format!("i_bar/{word}/i_there/i_toggle"), Kind::Bits, there_ns);
        add(format!("i_bar/{word}/i_back/i_toggle"), Kind::Bits, back_ns);
    }
    // Behind the ports, the host's stream.
    for port in 0..=ports {
        let of = |name: &str| format!("gen_port[{port}].{name}");
        for side in ["rx", "tx"] {
            add(of(&format!("i_{side}_rst")), Kind::Reset, registers);
            pair(&mut add, &of(&format!("i_{side}_resets")), mac, card);
        }
        add(of("i_rx/i_fifo/i_published"), Kind::Bits, mac);
        add(of("i_rx/i_fifo/i_read"), Kind::Bits, card);
        add(of("i_tx/i_fifo/i_published"), Kind::Bits, card);
        add(of("i_tx/i_fifo/i_read"), Kind::Bits, mac);
        add(of("i_rx_lost/i_gray"), Kind::Bits, mac);
        add(of("i_tx_lost/i_gray"), Kind::Bits, card);
        add(of("i_up"), Kind::Bits, card);
    }
    for port in 0..memories {
        let of = |name: &str| format!("gen_memory.i_memory/gen_mem[{port}].i_port/{name}");
        add(of("i_mem_rst"), Kind::Reset, memory);
        pair(&mut add, &of("i_mem_resets"), memory, card);
        for (queue, from_ns, to_ns) in [
            ("i_aw", card, memory),
            ("i_w", card, memory),
            ("i_ar", card, memory),
            ("i_r", memory, card),
            ("i_b", memory, card),
        ] {
            add(of(&format!("i_cross/{queue}/i_published")), Kind::Bits, from_ns);
            add(of(&format!("i_cross/{queue}/i_read")), Kind::Bits, to_ns);
        }
    }
    all
}

/// The constraints of all crossings, for Vivado.
fn constraints(ports: u32, memories: u32, clocks: &Clocks) -> String {
    let mut text = format!(
        "# {HEAD}\n# Crossings of the card: each path from clock to clock, and no other, may take longer than a cycle allows.\n"
    );
    for Crossing { path, kind, period_ns } in crossings(ports, memories, clocks) {
        let glob = path.replace('[', "\\[").replace(']', "\\]");
        let cells = |name: &str| format!("[get_cells -hier -filter {{NAME =~ *i_shell_card/{glob}/{name}_reg*}}]");
        let _ = match kind {
            Kind::Bits => writeln!(
                text,
                "set_max_delay -datapath_only -from {from} -to {to} {period_ns:.3}\nset_bus_skew -from {from} -to {to} {period_ns:.3}",
                from = cells("src_q"),
                to = cells("first_q"),
            ),
            Kind::Reset => writeln!(
                text,
                "set_false_path -to [get_pins -hier -filter {{NAME =~ *i_shell_card/{glob}/chain_q_reg*/PRE}}]"
            ),
            Kind::Word => writeln!(
                text,
                "set_max_delay -datapath_only -from {} -to {} {period_ns:.3}",
                cells("word_q"),
                cells("data_q")
            ),
        };
    }
    text
}

/// A project while it is written.
struct Project<'a> {
    root: &'a Root,
    design: &'a Design,
    hardware: Hardware,
    board: &'a str,
    /// Ports of the board's memory that the card uses.
    memories: u32,
    folder: &'a Path,
}

impl Project<'_> {
    /// Writes a file of the project.
    fn put(&self, name: &str, text: &str) -> Result<(), ProjectError> {
        let path = self.folder.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        made.map_err(|source| ProjectError::File { path, source })
    }

    /// Copies the card's sources and those of the shell, lists or files, to where they are in the checkout below rtl/,
    /// so that two files of one name do not meet; gives their places in the project.
    fn put_sources(&self, of_shell: &[&str]) -> Result<Vec<String>, ProjectError> {
        let mut sources = file_list::Sources::default();
        let unreadable = |file_list::Unreadable { path, source }| ProjectError::File { path, source };
        LISTS.iter().chain(of_shell).try_for_each(|list| sources.add(&self.root.join(list))).map_err(unreadable)?;
        let top = fs::canonicalize(self.root.path()).unwrap_or_else(|_| self.root.path().to_path_buf());
        let mut names = Vec::new();
        for path in &sources.files {
            let text = fs::read_to_string(path).map_err(|source| ProjectError::File { path: path.clone(), source })?;
            let name = format!("rtl/{}", path.strip_prefix(&top).unwrap_or(path).display());
            self.put(&name, &text)?;
            names.push(name);
        }
        Ok(names)
    }

    /// The hash of the hardware, as a literal of SystemVerilog.
    fn hash(&self) -> String {
        let hash: String = self.hardware.hash().iter().map(|word| format!("{word:08x}")).collect();
        format!("128'h{hash}")
    }

    /// The design's name, for a comment of one line.
    fn name(&self) -> String {
        self.design.name.replace(['\n', '\r'], " ")
    }
}

/// A project that was written.
#[derive(Debug)]
pub struct Written {
    /// The commands that build it.
    pub commands: Vec<String>,
    /// The area of its blocks beside what the board has.
    pub areas: Areas,
}

/// Writes the project of a design into a folder.
///
/// # Errors
/// There is no such board, the design does not fit it or needs card memory that it does not have, or a file cannot be read or written.
pub fn write(root: &Root, design: &Design, shell: Shell, board: &str, folder: &Path) -> Result<Written, ProjectError> {
    let (boards, mark) = match shell {
        Shell::OpenNic => (&opennic::BOARDS, opennic::MARK),
        Shell::Corundum => (&corundum::BOARDS, corundum::MARK),
    };
    let (_, there) = *boards.iter().find(|(name, _)| *name == board).ok_or_else(|| ProjectError::Board {
        shell,
        name: board.to_owned(),
        boards: boards.map(|(name, _)| name).join(", "),
    })?;
    if design.ports > there {
        let (design, ports, board) = (design.name.clone(), design.ports, board.to_owned());
        return Err(ProjectError::Ports { design, ports, board, there });
    }
    if let Some(refusal) = memory::refused(design, shell, Some(board)) {
        return Err(refusal.into());
    }
    let memories = match shell {
        Shell::OpenNic => 0,
        Shell::Corundum => memory::ports(design, memory::of_board(board)),
    };
    let marks = [folder.join(HARDWARE), folder.join(mark)];
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty && !marks.iter().all(|mark| mark.exists()) {
        return Err(ProjectError::Occupied(folder.to_path_buf()));
    }
    let hardware = Hardware::of(root, design)?;
    let areas = Areas::of(root, design, &hardware, shell, board, memories)?;
    if let Some(excess) = areas.excess() {
        return Err(ProjectError::TooLarge { design: design.name.clone(), board: board.to_owned(), excess });
    }
    let project = Project { root, design, hardware, board, memories, folder };
    let commands = match shell {
        Shell::OpenNic => opennic::write(&project),
        Shell::Corundum => corundum::write(&project),
    }?;
    let mut parameters: serde_json::Map<String, serde_json::Value> =
        project.hardware.parameters().map(|(name, value)| (name.to_owned(), value.into())).collect();
    parameters.insert("Design".into(), project.hash().into());
    let text = serde_json::json!({ "design": design.name, "shell": shell.name(), "board": board, "memories": memories, "parameters": parameters });
    project.put(HARDWARE, &format!("{text:#}\n"))?;
    Ok(Written { commands, areas })
}
