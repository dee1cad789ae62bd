// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The shipped XDP programs, modelled on those of the hXDP paper (OSDI 2020), and the paper's figures for them.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use penstock_bench::{BenchError, Lab, PORTS};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Design, ForGroup, Image, Override, Root};
use penstock_xdp_host::maps::{Entry, Map};
use penstock_xdp_host::{GroupSettings, Lanes, XdpImage, XdpProgram};
use penstock_xdp_maps::{MapId, Maps, Store};

/// A program, and what the paper and the goals say of it.
pub(crate) struct Program {
    pub name: &'static str,
    /// Rows before code motion at 1, 2, 3 and 8 lanes (Figure 8), where they are given.
    paper_by_lanes: Option<[f64; 4]>,
    /// Rows at 4 lanes in the end (Table 3).
    paper_rows: Option<f64>,
    goal_rows: f64,
}

impl Program {
    /// Rows of the paper at each number of lanes: final rows at 4, rows before code motion at the others.
    pub(crate) fn paper_rows(&self, lanes: usize) -> Option<f64> {
        let index = match lanes {
            1 => 0,
            2 => 1,
            3 => 2,
            8 => 3,
            _ => return self.paper_rows,
        };
        self.paper_by_lanes.map(|rows| rows[index])
    }

    /// Rows aimed at.
    pub(crate) fn goal_rows(&self, lanes: usize) -> Option<f64> {
        (lanes == 4).then_some(self.goal_rows)
    }

    /// Its source.
    pub(crate) fn source(&self, root: &Root) -> PathBuf {
        root.join("engines/xdp/programs").join(self.name).with_extension("c")
    }
}

/// All programs for which the paper has rows. load_balancer does the work of the paper's Katran, in its smallest form.
pub(crate) const PROGRAMS: [Program; 9] = [
    program("xdp1", Some([48.0, 37.0, 36.0, 36.0]), Some(36.0), 24.0),
    program("xdp2", Some([64.0, 46.0, 43.0, 41.0]), Some(43.0), 30.0),
    program("xdp_adjust_tail", Some([83.0, 52.0, 46.0, 43.0]), Some(43.0), 40.0),
    program("router_ipv4", Some([92.0, 61.0, 55.0, 51.0]), Some(50.0), 46.0),
    program("rxq_info", Some([73.0, 50.0, 48.0, 45.0]), Some(46.0), 30.0),
    program("tx_ip_tunnel", Some([221.0, 134.0, 111.0, 93.0]), Some(100.0), 90.0),
    program("redirect_map", None, None, 14.0),
    program("simple_firewall", Some([50.0, 33.0, 28.0, 26.0]), Some(27.0), 24.0),
    program("load_balancer", Some([205.0, 128.0, 110.0, 102.0]), Some(102.0), 88.0),
];

const fn program(
    name: &'static str,
    paper_by_lanes: Option<[f64; 4]>,
    paper_rows: Option<f64>,
    goal_rows: f64,
) -> Program {
    Program { name, paper_by_lanes, paper_rows, goal_rows }
}

/// The design of a program, with its maps and constants.
pub(crate) fn manifest(root: &Root, program: &str) -> PathBuf {
    root.join("engines/xdp/bench/cards").join(program).with_extension("toml")
}

/// A card of this many units that run a program.
pub(crate) fn card(lab: &Lab, program: &str, units: u32) -> Result<RtlDevice, BenchError> {
    let change = Override { units: vec![ForGroup::only(units)], ..Override::default() };
    lab.in_turn(&manifest(lab.root, program), change)
}

/// The initial contents of maps.
type Contents = Vec<(Map, Vec<Entry>)>;

/// The program of its design's only group of units, for the given number of lanes or that of the design, and the
/// initial contents of its maps.
pub(crate) fn loaded(
    root: &Root,
    name: &'static str,
    lanes: Option<Lanes>,
) -> Result<(Arc<XdpProgram>, Contents), BenchError> {
    let mut design = Design::read(&manifest(root, name))?;
    for group in &mut design.groups {
        if let Some(settings) = (&*group.part as &dyn Any).downcast_ref::<GroupSettings>() {
            group.part = Arc::new(GroupSettings { lanes: lanes.unwrap_or(settings.lanes), ..settings.clone() });
        }
    }
    let image = Image::of(root, &design)?;
    match &image.groups[..] {
        [group] => match (&*group.image as &dyn Any).downcast_ref::<XdpImage>() {
            Some(XdpImage { program: penstock_xdp_host::Program::Object(program), maps, .. }) => {
                Ok((Arc::clone(program), maps.clone()))
            }
            _ => Err(BenchError::Wrong(name, "its design has no XDP program".into())),
        },
        _ => Err(BenchError::Wrong(name, "its design has several groups".into())),
    }
}

/// Fills maps of native code, found by their names.
pub(crate) fn fill(
    name: &'static str,
    maps: &mut Maps,
    contents: &Contents,
    id_of: impl Fn(&str) -> Option<MapId>,
) -> Result<(), BenchError> {
    for (map, entries) in contents {
        let id = id_of(&map.name).ok_or_else(|| BenchError::Wrong(name, format!("it has no map {}", map.name)))?;
        for (key, value) in entries {
            let set = maps.set(id, key, value, Store::Any);
            set.map_err(|error| BenchError::Wrong(name, format!("{}: {error}", map.name)))?;
        }
    }
    Ok(())
}

/// How many ports frames of a program's bench enter at. Two tell ports apart: traffic of both would be that of another
/// program.
pub(crate) fn ports(program: &str) -> u32 {
    if matches!(program, "rxq_info" | "simple_firewall") { 1 } else { PORTS }
}
