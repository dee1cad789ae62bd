// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Which controller may change a device: the one with the highest election id.

use tokio::sync::mpsc::UnboundedSender;
use tonic::{Code, Status};

use crate::proto::google::rpc;
use crate::proto::p4::v1::{MasterArbitrationUpdate, Role, StreamMessageResponse, Uint128, stream_message_response};
use crate::refusal::{Reason, Refusal};

/// The messages of a stream to a controller.
pub(crate) type Answers = UnboundedSender<Result<StreamMessageResponse, Status>>;

/// A controller with a stream.
struct Controller {
    /// Number of its stream.
    stream: u64,
    /// Its election id; 0 takes no part in the election.
    election: u128,
    answers: Answers,
}

/// The controllers of one role on one device.
#[derive(Default)]
pub(crate) struct Arbiter {
    /// The role's name; empty for the default role.
    role: String,
    controllers: Vec<Controller>,
    /// The highest election id that any controller had.
    highest: u128,
}

impl Arbiter {
    /// For controllers of this role.
    pub(crate) fn of(role: &str) -> Self {
        Self { role: role.to_owned(), ..Self::default() }
    }

    /// Sends something to the primary controller, if there is one.
    pub(crate) fn send(&self, response: &StreamMessageResponse) {
        if let Some(primary) = self.primary() {
            // A stream that has ended is about to leave.
            let _ = primary.answers.send(Ok(response.clone()));
        }
    }

    /// Whether the stream is that of the primary controller.
    pub(crate) fn is_primary(&self, stream: u64) -> bool {
        self.primary().is_some_and(|one| one.stream == stream)
    }

    /// Whether there is a primary controller.
    pub(crate) fn has_primary(&self) -> bool {
        self.primary().is_some()
    }

    /// Takes a controller's election id, and tells who is primary.
    ///
    /// # Errors
    /// Another controller has this id.
    pub(crate) fn enter(&mut self, device: u64, stream: u64, election: u128, answers: &Answers) -> Result<(), Refusal> {
        if election != 0 && self.controllers.iter().any(|one| one.election == election && one.stream != stream) {
            return Err(Refusal::argument(format!("election id {election} is used by another controller")));
        }
        let before = self.primary().map(|one| one.stream);
        self.controllers.retain(|one| one.stream != stream);
        self.controllers.push(Controller { stream, election, answers: answers.clone() });
        self.highest = self.highest.max(election);
        if self.primary().map(|one| one.stream) != before || before == Some(stream) {
            self.tell(device, |_| true);
        } else {
            self.tell(device, |one| one.stream == stream);
        }
        Ok(())
    }

    /// Forgets a controller whose stream has ended.
    pub(crate) fn leave(&mut self, device: u64, stream: u64) {
        let was_primary = self.primary().is_some_and(|one| one.stream == stream);
        self.controllers.retain(|one| one.stream != stream);
        if was_primary {
            self.tell(device, |_| true);
        }
    }

    /// Checks that a request comes from the primary controller.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn check(&self, election: Option<Uint128>) -> Result<(), Refusal> {
        match self.primary() {
            Some(primary) if primary.election == number(election) => Ok(()),
            Some(_) => Err(Refusal::new(Reason::Denied, "another controller is primary")),
            None => Err(Refusal::new(Reason::Denied, "no controller is primary: open a stream and ask to be it")),
        }
    }

    /// The controller with the highest id that ever was. When it has gone, the others must ask again with an id as high.
    fn primary(&self) -> Option<&Controller> {
        self.controllers.iter().find(|one| one.election == self.highest && self.highest != 0)
    }

    fn tell(&self, device: u64, whom: impl Fn(&Controller) -> bool) {
        let primary = self.primary();
        for one in self.controllers.iter().filter(|one| whom(one)) {
            let (code, message) = match primary {
                Some(primary) if primary.stream == one.stream => (Code::Ok, "you are primary"),
                Some(_) => (Code::AlreadyExists, "another controller is primary"),
                None => (Code::NotFound, "no controller is primary"),
            };
            let update = MasterArbitrationUpdate {
                device_id: device,
                role: (!self.role.is_empty()).then(|| Role { name: self.role.clone(), ..Role::default() }),
                election_id: Some(Uint128 { high: (self.highest >> 64) as u64, low: self.highest as u64 }),
                status: Some(rpc::Status { code: code as i32, message: message.to_owned(), details: Vec::new() }),
            };
            let update = Some(stream_message_response::Update::Arbitration(update));
            // A stream that has ended is about to leave.
            let _ = one.answers.send(Ok(StreamMessageResponse { update }));
        }
    }
}

/// An election id as a number; 0 if it is not given.
pub(crate) fn number(election: Option<Uint128>) -> u128 {
    election.map_or(0, |Uint128 { high, low }| u128::from(high) << 64 | u128::from(low))
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::{self, UnboundedReceiver};

    use super::*;

    type Told = UnboundedReceiver<Result<StreamMessageResponse, Status>>;

    /// Codes and election ids that a controller was told.
    fn told(told: &mut Told) -> Vec<(Code, u128)> {
        let mut all = Vec::new();
        while let Ok(message) = told.try_recv() {
            let Some(stream_message_response::Update::Arbitration(update)) = message.unwrap().update else { panic!() };
            all.push((Code::from_i32(update.status.unwrap().code), number(update.election_id)));
        }
        all
    }

    fn id(low: u64) -> Option<Uint128> {
        Some(Uint128 { high: 0, low })
    }

    #[test]
    fn the_highest_id_is_primary() {
        let mut arbiter = Arbiter::default();
        let (first, mut told_first) = mpsc::unbounded_channel();
        let (second, mut told_second) = mpsc::unbounded_channel();
        assert_eq!(arbiter.check(id(10)).unwrap_err().reason, Reason::Denied);
        arbiter.enter(1, 1, 10, &first).unwrap();
        assert_eq!(told(&mut told_first), [(Code::Ok, 10)]);
        arbiter.enter(1, 2, 5, &second).unwrap();
        assert_eq!((told(&mut told_first), told(&mut told_second)), (vec![], vec![(Code::AlreadyExists, 10)]));
        assert!(arbiter.check(id(10)).is_ok() && arbiter.check(id(5)).is_err() && arbiter.check(None).is_err());
        let error = arbiter.enter(1, 2, 10, &second).unwrap_err();
        assert_eq!(error.message, "election id 10 is used by another controller");
        arbiter.enter(1, 2, 11, &second).unwrap();
        assert_eq!(told(&mut told_first), [(Code::AlreadyExists, 11)]);
        assert_eq!(told(&mut told_second), [(Code::Ok, 11)]);
        // No other controller steps in by itself.
        arbiter.leave(1, 2);
        assert_eq!(told(&mut told_first), [(Code::NotFound, 11)]);
        assert!(arbiter.check(id(10)).is_err());
        arbiter.enter(1, 1, 11, &first).unwrap();
        assert_eq!(told(&mut told_first), [(Code::Ok, 11)]);
    }

    #[test]
    fn id_0_takes_no_part() {
        let mut arbiter = Arbiter::default();
        let (answers, mut answered) = mpsc::unbounded_channel();
        arbiter.enter(1, 1, 0, &answers).unwrap();
        arbiter.enter(1, 2, 0, &answers).unwrap();
        assert_eq!(told(&mut answered), [(Code::NotFound, 0), (Code::NotFound, 0)]);
        assert!(arbiter.check(None).is_err());
    }
}
