// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An engine's side of a card at work.

use std::any::Any;

use penstock_unit::Log;
use serde_json::Value as Json;

use crate::bus::Bus;
use crate::counters::UnitCounters;
use crate::error::EngineError;
use crate::image::Image;
use crate::service::Request;

/// Names of tables of a program that was swapped in, and whether each kept its contents.
pub type Kept = Vec<(String, bool)>;

/// Units that a driver is to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadUnits {
    /// Index of their group in the design.
    pub group: usize,
    /// The units, a bit each. They are in reset, and UNIT_WRITE_MASK names them.
    pub units: u32,
    /// Other units of the group already run the image and go on: tables that units share stay unchanged.
    pub join: bool,
    /// The units have given up all frames, so variables that the program keeps may be taken over.
    pub keep: bool,
    /// The dispatcher sends all frames of a flow to the same unit.
    pub by_flow: bool,
}

/// All parts of an engine on one card. Groups of units and inline blocks are named by their indices in the design.
///
/// Methods with a default are for engines that have the feature.
pub trait Driver: Any {
    /// Prepares the card, once, after its reset and before the first load.
    ///
    /// # Errors
    /// The card refuses.
    fn begin(&mut self, _bus: &mut dyn Bus) -> Result<(), EngineError> {
        Ok(())
    }

    /// Checks images before any part of the card changes; `images` are those of all parts of the engine, by part. Where
    /// `native`, the card is native code.
    ///
    /// # Errors
    /// The card cannot run them together.
    fn check(&self, _images: &[(usize, &dyn Image)], _native: bool) -> Result<(), EngineError> {
        Ok(())
    }

    /// Gives units a program.
    ///
    /// # Errors
    /// The card refuses, or the engine has no units.
    fn load_units(&mut self, bus: &mut dyn Bus, load: LoadUnits, image: &dyn Image) -> Result<(), EngineError>;

    /// Gives an inline block a program while no frame enters it; no state of the program before is left.
    ///
    /// # Errors
    /// The card refuses, or the engine has no blocks.
    fn load_block(&mut self, bus: &mut dyn Bus, block: usize, image: &dyn Image) -> Result<(), EngineError>;

    /// Fills tables of the card once all parts have their programs.
    ///
    /// # Errors
    /// The card refuses.
    fn loaded(&mut self, _bus: &mut dyn Bus, _images: &[(usize, &dyn Image)]) -> Result<(), EngineError> {
        Ok(())
    }

    /// Gives a part another program between two frames: no frame is lost or waits. Returns the fate of its tables. If
    /// the swap fails, the old program goes on.
    ///
    /// # Errors
    /// If the engine cannot do this, or the new program does not fit beside the running one.
    fn swap(&mut self, bus: &mut dyn Bus, part: usize, image: &dyn Image) -> Result<Kept, EngineError>;

    /// Fills the tables of a part again, from an image whose program the part already runs. A frame that is looked up
    /// meanwhile sees the old table on `soft`, and on a card in hardware perhaps a part of each.
    ///
    /// # Errors
    /// The engine fills tables with the program alone.
    fn refill(&mut self, _bus: &mut dyn Bus, _part: usize, _image: &dyn Image) -> Result<(), EngineError> {
        Err(EngineError::unsupported("tables of this engine are filled when their program is loaded: load it again"))
    }

    /// The place of an address in a unit's program: function, file and line.
    fn locate(&self, _unit: u32, _pc: u32) -> Option<String> {
        None
    }

    /// Why a unit's program went no further than `pc`, when the program ended by itself.
    ///
    /// # Errors
    /// The card refuses.
    fn ending(&self, _bus: &mut dyn Bus, _unit: u32, _pc: u32) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// The place at which a unit waits for a frame, if its program does; `pc` is the unit's present instruction.
    ///
    /// # Errors
    /// The card refuses.
    fn waits_at(&self, _bus: &mut dyn Bus, _unit: u32, _pc: u32) -> Result<Option<u32>, EngineError> {
        Ok(None)
    }

    /// The meaning of a unit's error flags: a sentence for each flag, without the unit's number.
    ///
    /// # Errors
    /// The card refuses.
    fn explain(&self, _bus: &mut dyn Bus, _unit: u32, _flags: u32) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }

    /// The most likely cause of all other faults if a unit has these error flags. The device reports it first, and
    /// once.
    ///
    /// # Errors
    /// The card refuses.
    fn cause(&self, _bus: &mut dyn Bus, _unit: u32, _flags: u32) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// The work of a unit's program so far, modulo 2^32, if the unit counts it. While the number grows, the program
    /// works on a frame, even if no frame moves.
    ///
    /// # Errors
    /// The card refuses.
    fn steps(&mut self, _bus: &mut dyn Bus, _unit: u32) -> Result<u32, EngineError> {
        Ok(0)
    }

    /// Adds the counters that units of this engine have in their own registers.
    ///
    /// # Errors
    /// The card refuses.
    fn count(&mut self, _bus: &mut dyn Bus, _unit: u32, _counters: &mut UnitCounters) -> Result<(), EngineError> {
        Ok(())
    }

    /// The counters of an inline block, as JSON that only the engine interprets.
    ///
    /// # Errors
    /// The card refuses.
    fn count_block(&mut self, _bus: &mut dyn Bus, _block: usize) -> Result<Json, EngineError> {
        Ok(Json::Null)
    }

    /// Takes the lines that programs have printed.
    ///
    /// # Errors
    /// The card refuses.
    fn take_log(&mut self, _bus: &mut dyn Bus) -> Result<Log, EngineError> {
        Ok(Log::default())
    }

    /// Takes the records that blocks have for the driver, and answers them ([`crate::records`]). The device calls this
    /// again and again while frames run, on every target. True: there was something, so frames may move again.
    ///
    /// # Errors
    /// The card refuses.
    fn serve(&mut self, _bus: &mut dyn Bus) -> Result<bool, EngineError> {
        Ok(false)
    }

    /// Sets the time that programs of a card in hardware see, in ns, before the next frame enters. A clock that was
    /// never set follows the card's cycles.
    ///
    /// # Errors
    /// The card refuses.
    fn set_time(&mut self, _bus: &mut dyn Bus, _ns: u64) -> Result<(), EngineError> {
        Ok(())
    }

    /// Ends a run: every frame that entered has left. Programs report here all that they have not reported yet.
    ///
    /// # Errors
    /// A report cannot be written.
    fn end_run(&mut self, _bus: &mut dyn Bus) -> Result<(), EngineError> {
        Ok(())
    }

    /// Lets the clock follow the card's cycles again.
    ///
    /// # Errors
    /// The card refuses.
    fn release_time(&mut self, _bus: &mut dyn Bus) -> Result<(), EngineError> {
        Ok(())
    }

    /// Sets a secret number: from the next load on, places in native tables depend on it, so that nobody outside can
    /// choose keys that collide.
    fn set_seed(&mut self, _seed: u64) {}

    /// Sets when the card's time was 0, in ns since 1970 UTC, from the next load on. Without a call the card's time
    /// counts from 1970 itself, as times in captures do.
    fn set_epoch(&mut self, _ns: u64) {}

    /// Carries out a request of one of the engine's services.
    ///
    /// # Errors
    /// The request is not understood or not possible; then nothing has changed.
    fn call(&mut self, bus: &mut dyn Bus, request: &Request) -> Result<Json, EngineError>;
}
