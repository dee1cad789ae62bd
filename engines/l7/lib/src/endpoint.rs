// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Sends and receives messages, on as many threads as the program has.
//!
//! There is no thread of the library's own. Of the threads that wait in calls, one receives from the carrier and sends
//! packets again when it is time; the others wait until something has changed, and one of them goes on when the first
//! has what it waited for.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::net::{SocketAddr, SocketAddrV6};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::carrier::{Carrier, LONGEST, is_about_destination, passes};
use crate::error::Error;
use crate::header::{Flag, Header};
use crate::inbox::{Added, Inbox, Whole};
use crate::message::Message;
use crate::outbox::{Advance, Outbox, Settings, most_messages};
use crate::until::Until;

/// A thread looks this often whether its call was cancelled or the endpoint closed.
const LOOK: Duration = Duration::from_millis(50);
/// Calls that were given up whose numbers are remembered.
const REMEMBERED: usize = 1024;

/// A received message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Its source. With [`Received::id`] it is the handle of the message: [`Endpoint::answer`] takes both.
    pub from: SocketAddr,
    /// Its number.
    pub id: u32,
    /// Number of the message that it acknowledges; 0: none.
    pub acknowledges: u32,
    /// Whether it is a reply of [`Endpoint::reply`]. Nothing replies to it.
    pub quiet: bool,
    /// The message.
    pub message: Message,
}

/// The counters of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Whole messages that arrived, each once.
    pub received: u64,
    /// Datagrams that are none of QNP.
    pub noise: u64,
    /// Packets that contradict others of their message, or end a message with wrong fields.
    pub wrong: u64,
    /// Packets of messages that had been received.
    pub again: u64,
    /// Packets for which there was no room.
    pub full: u64,
    /// Unfinished messages that were given up.
    pub unfinished: u64,
    /// Acknowledgements of messages that were not sent to their source, or were acknowledged before.
    pub stray: u64,
    /// Messages that were acknowledged.
    pub acknowledged: u64,
    /// Packets that were sent again.
    pub repeated: u64,
    /// Messages that were given up because their time was over.
    pub late: u64,
    /// Errors of the carrier that concern one datagram.
    pub unsent: u64,
}

/// The outcome of a message that is no longer on its way.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Acknowledged,
    Late,
    Cancelled,
}

impl Outcome {
    fn result(self) -> Result<(), Error> {
        match self {
            Self::Acknowledged => Ok(()),
            Self::Late => Err(Error::Timeout),
            Self::Cancelled => Err(Error::Cancelled),
        }
    }
}

/// A caller that waits for the end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// Perhaps [`Endpoint::wait`], later.
    Later,
    /// A call that waits for the acknowledgement.
    Acknowledgement,
    /// A call that waits for the answer.
    Answer,
}

/// Posted messages that failed.
#[derive(Debug)]
struct Failed {
    outcomes: HashMap<u32, Outcome>,
    /// Oldest first.
    order: VecDeque<u32>,
    most: usize,
    /// The last number whose failure was forgotten: of this and older ones, nobody knows whether they failed.
    forgotten: Option<u32>,
}

impl Failed {
    fn new(most: usize) -> Self {
        Self { outcomes: HashMap::new(), order: VecDeque::new(), most, forgotten: None }
    }

    /// Whether the first number was given before the second one, or is the same.
    fn is_before(first: u32, second: u32) -> bool {
        second.wrapping_sub(first) < 1 << 31
    }

    fn add(&mut self, id: u32, outcome: Outcome) {
        if self.order.len() >= self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.outcomes.remove(&oldest);
            if self.forgotten.is_none_or(|last| Self::is_before(last, oldest)) {
                self.forgotten = Some(oldest);
            }
        }
        self.outcomes.insert(id, outcome);
        self.order.push_back(id);
    }

    /// The end of a message that is not on its way.
    fn result(&self, id: u32) -> Result<(), Error> {
        match self.outcomes.get(&id) {
            Some(outcome) => outcome.result(),
            None if self.forgotten.is_some_and(|last| Self::is_before(id, last)) => Err(Error::Unknown(id)),
            None => Ok(()),
        }
    }

    /// A number is given. The forgotten one ends to count before it would be among the newer ones.
    fn given(&mut self, id: u32) {
        self.forgotten = self.forgotten.filter(|last| id.wrapping_sub(*last) < 1 << 30);
    }
}

#[derive(Debug)]
struct State {
    inbox: Inbox,
    outbox: Outbox,
    /// Number of the next message; 0 is none.
    next: u32,
    /// Calls that wait for an answer: where the message went, and its answer.
    calls: HashMap<u32, (SocketAddr, Option<Whole>)>,
    /// Calls that were given up. Their answers are not for the program.
    given_up: VecDeque<u32>,
    /// Calls that wait for an acknowledgement, and the end of their messages.
    sends: HashMap<u32, Option<Outcome>>,
    failed: Failed,
    /// Whether a thread receives.
    receiving: bool,
    closed: bool,
    counts: Counts,
}

impl State {
    fn take_number(&mut self) -> u32 {
        let id = self.next;
        self.next = id.checked_add(1).unwrap_or(1);
        self.failed.given(id);
        id
    }

    /// A message is not on its way any more.
    fn ended(&mut self, id: u32, outcome: Outcome) {
        if let Some(slot) = self.sends.get_mut(&id) {
            *slot = Some(outcome);
        } else if !matches!(outcome, Outcome::Acknowledged) && !self.give_up_call(id) {
            self.failed.add(id, outcome);
        }
    }

    /// A call ends without an answer. One that comes from now on is not for the program. Returns whether there was such
    /// a call.
    fn give_up_call(&mut self, id: u32) -> bool {
        let was = self.calls.remove(&id).is_some();
        if was {
            if self.given_up.len() == REMEMBERED {
                self.given_up.pop_front();
            }
            self.given_up.push_back(id);
        }
        was
    }

    /// The end of a call, if it has one. With its answer the call is over: later packets are not for it.
    fn answered(&mut self, id: u32) -> Option<Result<Received, Error>> {
        match self.calls.get(&id) {
            None => Some(Err(Error::Timeout)),
            Some((_, None)) => None,
            Some((_, Some(_))) => self.calls.remove(&id).and_then(|(_, answer)| answer).map(|whole| received(&whole)),
        }
    }
}

/// One side of conversations. Any number of threads may use it at once.
#[derive(Debug)]
pub struct Endpoint<C> {
    carrier: C,
    settings: Settings,
    state: Mutex<State>,
    changed: Condvar,
    /// The thread that receives has it.
    buffer: Mutex<Vec<u8>>,
}

/// A number for a first message. It is random: if it were the same for all, receivers would take the first messages of
/// a program that was started again for those that they have had.
fn first_number() -> u32 {
    (RandomState::new().hash_one(0) as u32).max(1)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The address without what a socket adds to it: an IPv4 address stays one in a socket of IPv6.
fn plain(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V6(six) if six.ip().to_ipv4_mapped().is_none() => {
            SocketAddr::V6(SocketAddrV6::new(*six.ip(), six.port(), 0, six.scope_id()))
        }
        other => SocketAddr::new(other.ip().to_canonical(), other.port()),
    }
}

fn received(whole: &Whole) -> Result<Received, Error> {
    let Whole { from, application, of_type, id, acked, quiet, ref payload } = *whole;
    Ok(Received { from, id, acknowledges: acked, quiet, message: Message::decode(application, of_type, payload)? })
}

impl<C: Carrier> Endpoint<C> {
    /// An endpoint over a carrier. The numbers of its messages begin at random.
    pub fn new(carrier: C) -> Self {
        Self::with(carrier, Settings::default())
    }

    /// An endpoint with settings of its own.
    pub fn with(carrier: C, settings: Settings) -> Self {
        let state = State {
            inbox: Inbox::new(settings.limits),
            outbox: Outbox::new(settings),
            next: first_number(),
            calls: HashMap::new(),
            given_up: VecDeque::new(),
            sends: HashMap::new(),
            failed: Failed::new(most_messages(&settings)),
            receiving: false,
            closed: false,
            counts: Counts::default(),
        };
        let buffer = Mutex::new(vec![0; LONGEST]);
        Self { carrier, settings, state: Mutex::new(state), changed: Condvar::new(), buffer }
    }

    /// The carrier.
    pub fn carrier(&self) -> &C {
        &self.carrier
    }

    /// Begins to send a message and does not wait; gives its number, which [`Endpoint::wait`] and [`Endpoint::cancel`]
    /// take. The message is sent again while threads wait in calls, at the longest for [`Settings::deadline`].
    ///
    /// # Errors
    /// The message is too long, too many messages are on their way, the carrier fails, or the endpoint is closed.
    pub fn post(&self, to: SocketAddr, message: &Message) -> Result<u32, Error> {
        self.begin(to, message, 0, self.usual().end, Waits::Later)
    }

    /// Sends a message and waits for its acknowledgement, at most [`Settings::deadline`]; gives its number.
    ///
    /// # Errors
    /// As [`Endpoint::post`], or the time is over.
    pub fn send_msg(&self, to: SocketAddr, message: &Message) -> Result<u32, Error> {
        self.send_msg_until(to, message, &self.usual())
    }

    /// As [`Endpoint::send_msg`], with another end.
    ///
    /// # Errors
    /// As [`Endpoint::send_msg`], or the call was cancelled.
    pub fn send_msg_until(&self, to: SocketAddr, message: &Message, until: &Until) -> Result<u32, Error> {
        let id = self.begin(to, message, 0, until.end, Waits::Acknowledgement)?;
        let done = self.wait_sent(id, until);
        if done.is_err() {
            self.cancel(id);
        }
        lock(&self.state).sends.remove(&id);
        done.map(|()| id)
    }

    fn wait_sent(&self, id: u32, until: &Until) -> Result<(), Error> {
        self.drive(until, |state| state.sends.get(&id).copied().flatten().map(Outcome::result))
    }

    /// Sends a message and waits for the message that answers it, at most [`Settings::deadline`].
    /// [`Endpoint::recv_msg`] does not return this answer.
    ///
    /// # Errors
    /// As [`Endpoint::send_msg`].
    pub fn call(&self, to: SocketAddr, message: &Message) -> Result<Received, Error> {
        self.call_until(to, message, &self.usual())
    }

    /// As [`Endpoint::call`], with another end.
    ///
    /// # Errors
    /// As [`Endpoint::call`], or the call was cancelled.
    pub fn call_until(&self, to: SocketAddr, message: &Message, until: &Until) -> Result<Received, Error> {
        let id = self.begin(to, message, 0, until.end, Waits::Answer)?;
        let done = self.drive(until, |state| state.answered(id));
        if done.is_err() {
            self.cancel(id);
            // Its answer may have come meanwhile, which ends the message and not the call.
            lock(&self.state).give_up_call(id);
        }
        done
    }

    /// Waits until a message that [`Endpoint::post`] or [`Endpoint::answer`] has begun is acknowledged. The endpoint
    /// remembers as many failed messages as [`Settings::unsent`] has room for, one for each 256 bytes. If one was
    /// forgotten, nobody knows the end of it and of the messages before it: that is [`Error::Unknown`].
    ///
    /// # Errors
    /// The message was given up or cancelled, or is not known any more, the wait is over or cancelled, the carrier
    /// fails, or the endpoint is closed.
    pub fn wait(&self, id: u32, until: &Until) -> Result<(), Error> {
        self.drive(until, |state| {
            if state.outbox.contains(id) {
                return None;
            }
            Some(state.failed.result(id))
        })
    }

    /// Waits until no message is on its way: each is acknowledged, given up or cancelled.
    ///
    /// # Errors
    /// The wait is over or cancelled, the carrier fails, or the endpoint is closed.
    pub fn flush(&self, until: &Until) -> Result<(), Error> {
        self.drive(until, |state| (state.outbox.len() == 0).then_some(Ok(())))
    }

    /// Does not send a message again; returns whether it was on its way. It may have arrived.
    pub fn cancel(&self, id: u32) -> bool {
        let mut state = lock(&self.state);
        let Some(to) = state.outbox.remove(id) else { return false };
        state.ended(id, Outcome::Cancelled);
        self.begin_others(&mut state, to);
        self.changed.notify_all();
        true
    }

    /// A message has left the window: others to its destination may begin.
    fn begin_others(&self, state: &mut State, to: SocketAddr) {
        let mut advance = Advance::default();
        state.outbox.begin(to, Instant::now(), &mut advance);
        // These are messages of other calls: an error is none of this one.
        let _ = self.send(state, advance);
    }

    /// Begins to send a message that answers another one, and acknowledges it; gives its number. A server that answers
    /// all it receives leaves out messages that answer ([`Received::acknowledges`] is not 0): two such servers would
    /// otherwise answer each other without an end after one datagram with a forged source.
    ///
    /// # Errors
    /// As [`Endpoint::post`].
    pub fn answer(&self, received: &Received, message: &Message) -> Result<u32, Error> {
        self.begin(received.from, message, received.id, self.usual().end, Waits::Later)
    }

    /// Answers a message, and acknowledges it. The endpoint sends the reply again if the message comes again, and not
    /// by itself. The other side's call therefore ends even if this server receives the message and nothing else from
    /// it. A card that chooses a server by the fields of messages has this effect, because acknowledgements have no
    /// fields.
    ///
    /// A reply to a reply ([`Received::quiet`]) does nothing and succeeds: two servers that reply to all they receive
    /// would otherwise do so without an end after one datagram with a forged source. If the reply cannot be sent to
    /// this destination, that counts as its loss ([`Counts::unsent`]).
    ///
    /// The reply is kept as long as there is room ([`crate::Limits::each`]). Servers that reply to all messages have
    /// [`Settings::acknowledge`] off.
    ///
    /// # Errors
    /// The reply is too long, the carrier fails, or the endpoint is closed.
    pub fn reply(&self, received: &Received, message: &Message) -> Result<(), Error> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(Error::Closed);
        }
        if received.quiet {
            return Ok(());
        }
        let header = Header { id: state.take_number(), acked: received.id, quiet: true, ..Header::default() };
        let datagrams = message.packets(header)?;
        let Received { from, id, .. } = *received;
        let send = datagrams.iter().map(|datagram| (from, datagram.clone())).collect();
        let sent = self.send(&mut state, Advance { send, ..Advance::default() });
        state.inbox.keep_reply(from, received.message.application, id, datagrams);
        match sent {
            Err(error) if !is_about_destination(&error) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Acknowledges a message without an answer; without [`Settings::acknowledge`] alone.
    ///
    /// # Errors
    /// The carrier fails.
    pub fn acknowledge(&self, received: &Received) -> Result<(), Error> {
        let Message { application, of_type, .. } = received.message;
        let header =
            Header { application, of_type, acked: received.id, flag: Flag::Ack, count: 1, ..Header::default() };
        Ok(self.carrier.send(received.from, &header.encode())?)
    }

    /// Waits for the next whole message. Datagrams that are none of QNP and messages with wrong fields are counted and
    /// skipped. A message that comes again is acknowledged again and not returned twice.
    ///
    /// # Errors
    /// The carrier fails, or the endpoint is closed.
    pub fn recv_msg(&self) -> Result<Received, Error> {
        self.recv_msg_until(&Until::forever())
    }

    /// As [`Endpoint::recv_msg`], with an end.
    ///
    /// # Errors
    /// As [`Endpoint::recv_msg`], or the time is over, or the call was cancelled.
    pub fn recv_msg_until(&self, until: &Until) -> Result<Received, Error> {
        self.drive(until, |state| state.inbox.take().map(|whole| received(&whole)))
    }

    /// Messages without an acknowledgement.
    pub fn unacknowledged(&self) -> usize {
        lock(&self.state).outbox.len()
    }

    /// What was counted.
    pub fn counts(&self) -> Counts {
        let state = lock(&self.state);
        Counts { unfinished: state.inbox.given_up(), ..state.counts }
    }

    /// Ends all calls within 50 ms, and all later ones at once, with [`Error::Closed`]. Messages are not sent again.
    pub fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.outbox.clear();
        self.changed.notify_all();
    }

    fn usual(&self) -> Until {
        Until::within(self.settings.deadline)
    }

    fn begin(
        &self,
        to: SocketAddr,
        message: &Message,
        acked: u32,
        end: Option<Instant>,
        waits: Waits,
    ) -> Result<u32, Error> {
        let to = plain(to);
        let mut state = lock(&self.state);
        if state.closed {
            return Err(Error::Closed);
        }
        let id = state.take_number();
        let datagrams = message.datagrams(id, acked)?;
        let now = Instant::now();
        if !state.outbox.add(id, to, datagrams, now, end) {
            return Err(Error::Full);
        }
        let mut advance = Advance::default();
        state.outbox.begin(to, now, &mut advance);
        match waits {
            Waits::Later => {}
            Waits::Acknowledgement => {
                state.sends.insert(id, None);
            }
            Waits::Answer => {
                state.calls.insert(id, (to, None));
                state.outbox.expect_answer(id);
            }
        }
        if let Err(error) = self.send(&mut state, advance) {
            state.outbox.remove(id);
            state.sends.remove(&id);
            state.calls.remove(&id);
            self.begin_others(&mut state, to);
            return Err(error.into());
        }
        Ok(id)
    }

    /// Sends datagrams. Errors that concern one datagram count as its loss.
    fn send(&self, state: &mut State, advance: Advance) -> std::io::Result<()> {
        state.counts.repeated += advance.repeated;
        let mut failed = Ok(());
        for (to, datagram) in advance.send {
            if let Err(error) = self.carrier.send(to, &datagram) {
                state.counts.unsent += 1;
                if !passes(&error) {
                    failed = Err(error);
                }
            }
        }
        failed
    }

    /// Waits until `ready` returns something. Meanwhile the thread receives, or another one does.
    fn drive<T>(
        &self,
        until: &Until,
        mut ready: impl FnMut(&mut State) -> Option<Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut state = lock(&self.state);
        // A call without time looks once whether something has arrived.
        let mut looked = false;
        loop {
            // First: a closed endpoint has forgotten its messages, and they are not acknowledged.
            if state.closed {
                return Err(Error::Closed);
            }
            if let Some(done) = ready(&mut state) {
                return done;
            }
            if until.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let now = Instant::now();
            if self.advance(&mut state, now) {
                self.changed.notify_all();
                continue;
            }
            if until.end.is_some_and(|end| end <= now) && (looked || state.receiving) {
                return Err(Error::Timeout);
            }
            looked = true;
            let look = now + LOOK;
            let wake = [until.end, state.outbox.next()].into_iter().flatten().fold(look, Instant::min);
            let wait = wake.saturating_duration_since(now);
            if state.receiving {
                state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            state.receiving = true;
            drop(state);
            let mut buffer = lock(&self.buffer);
            let got = self.carrier.receive(&mut buffer, wait);
            state = lock(&self.state);
            state.receiving = false;
            match got {
                Ok(None) => {}
                Ok(Some((length, from))) => self.process(&mut state, plain(from), &buffer[..length]),
                Err(error) if passes(&error) => state.counts.unsent += 1,
                Err(error) => {
                    self.changed.notify_all();
                    return Err(error.into());
                }
            }
            self.changed.notify_all();
        }
    }

    /// Sends packets again that are due; returns whether messages were given up.
    fn advance(&self, state: &mut State, now: Instant) -> bool {
        let mut advance = state.outbox.advance(now);
        let late = std::mem::take(&mut advance.late);
        for id in &late {
            state.counts.late += 1;
            state.ended(*id, Outcome::Late);
        }
        // Repetitions also belong to calls of other threads, so this call does not return their errors.
        let _ = self.send(state, advance);
        !late.is_empty()
    }

    /// `answer`: the packet has the answer to a call.
    fn acknowledged(&self, state: &mut State, now: Instant, from: SocketAddr, header: &Header, answer: bool) {
        if !state.outbox.acknowledge(now, from, header.acked, header.arrived, answer) {
            state.counts.stray += 1;
        } else if !state.outbox.contains(header.acked) {
            state.counts.acknowledged += 1;
            state.ended(header.acked, Outcome::Acknowledged);
            self.begin_others(state, from);
        }
    }

    fn process(&self, state: &mut State, from: SocketAddr, datagram: &[u8]) {
        // Nothing can be sent to port 0.
        let Some((header, payload)) = Header::decode(datagram).ok().filter(|_| from.port() != 0) else {
            state.counts.noise += 1;
            return;
        };
        let now = Instant::now();
        if header.flag == Flag::Ack {
            self.acknowledged(state, now, from, &header, false);
            return;
        }
        let call = state.calls.get(&header.acked).is_some_and(|(to, answer)| *to == from && answer.is_none());
        let nobodys = header.acked != 0 && state.given_up.contains(&header.acked);
        let added = state.inbox.add(now, from, &header, payload, call || nobodys);
        // A part of an answer does not end its call: the other packets may be lost. Nor does a message with a number
        // that was here before: the call does not get it.
        if header.acked != 0 && matches!(added, Added::Kept | Added::Asked(_) | Added::Again) {
            let answer = call && matches!(added, Added::Asked(_));
            self.acknowledged(state, now, from, &header, answer);
        }
        let arrived = match added {
            Added::Waits(arrived) => arrived,
            Added::Again => {
                state.counts.again += 1;
                if let Some(reply) = state.inbox.reply(from, header.application, header.id) {
                    // Once for all packets of the message
                    if header.number == 0 {
                        let send = reply.iter().map(|datagram| (from, datagram.clone())).collect::<Vec<_>>();
                        let repeated = send.len() as u64;
                        let _ = self.send(state, Advance { send, repeated, ..Advance::default() });
                    }
                    return;
                }
                0
            }
            Added::Kept | Added::Asked(_) => {
                state.counts.received += 1;
                if let (Added::Asked(whole), Some((_, answer))) = (added, state.calls.get_mut(&header.acked)) {
                    *answer = Some(whole);
                } else if !self.settings.acknowledge && !nobodys {
                    return;
                }
                0
            }
            Added::Wrong => {
                state.counts.wrong += 1;
                return;
            }
            Added::Full => {
                state.counts.full += 1;
                return;
            }
        };
        if header.quiet {
            return;
        }
        let Header { application, of_type, id: acked, .. } = header;
        let ack = Header { application, of_type, acked, flag: Flag::Ack, count: 1, arrived, ..Header::default() };
        if self.carrier.send(from, &ack.encode()).is_err() {
            state.counts.unsent += 1;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn numbers_begin_again_with_1() {
        let endpoint = Endpoint::new(UdpSocket::bind("127.0.0.1:0").unwrap());
        lock(&endpoint.state).next = u32::MAX;
        let to = endpoint.carrier().local_addr().unwrap();
        let ids = [(); 2].map(|()| endpoint.post(to, &Message::new(1, 1)).unwrap());
        assert_eq!(ids, [u32::MAX, 1]);
    }

    /// A carrier that takes all datagrams and never brings one.
    struct Hole;

    impl Carrier for Hole {
        fn send(&self, _: SocketAddr, _: &[u8]) -> std::io::Result<()> {
            Ok(())
        }

        fn receive(&self, _: &mut [u8], _: Duration) -> std::io::Result<Option<(usize, SocketAddr)>> {
            Ok(None)
        }
    }

    fn message() -> Message {
        Message::new(1, 1)
    }

    fn to() -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], 7))
    }

    fn now() -> Until {
        Until::within(Duration::ZERO)
    }

    /// A packet that answers a message.
    fn answer(id: u32, acked: u32) -> Vec<u8> {
        message().datagrams(id, acked).unwrap().remove(0)
    }

    #[test]
    fn a_failure_is_known_as_long_as_is_promised() {
        // Room for 99 messages of 279 bytes, and 109 failures.
        let endpoint = Endpoint::with(Hole, Settings { unsent: 27_700, ..Settings::default() });
        let first = endpoint.post(to(), &message()).unwrap();
        assert!(endpoint.cancel(first));
        let ids: Vec<u32> = (0..109)
            .map(|_| {
                let id = endpoint.post(to(), &message()).unwrap();
                assert!(endpoint.cancel(id));
                id
            })
            .collect();
        // Twice: a wait does not make a success of a failure.
        for id in ids.iter().chain(&ids) {
            assert!(matches!(endpoint.wait(*id, &now()), Err(Error::Cancelled)));
        }
        for id in [first, first.wrapping_sub(1)] {
            assert!(matches!(endpoint.wait(id, &now()), Err(Error::Unknown(other)) if other == id));
        }
        // Those after it that are not among the failures are acknowledged.
        let id = endpoint.post(to(), &message()).unwrap();
        endpoint.process(&mut lock(&endpoint.state), to(), &answer(1, id));
        endpoint.wait(id, &now()).unwrap();
    }

    /// A full outbox that expires at once fails with an error for each of its messages.
    #[test]
    fn all_messages_may_fail() {
        let endpoint =
            Endpoint::with(Hole, Settings { unsent: 2 << 20, deadline: Duration::ZERO, ..Settings::default() });
        let ids: Vec<u32> = std::iter::from_fn(|| endpoint.post(to(), &message()).ok()).collect();
        assert!(ids.len() > 5000);
        endpoint.flush(&Until::forever()).unwrap();
        assert!(ids.iter().all(|id| matches!(endpoint.wait(*id, &now()), Err(Error::Timeout))));
    }

    #[test]
    fn a_call_that_sends_knows_its_own_failure() {
        let endpoint = Endpoint::with(Hole, Settings { unsent: 1000, ..Settings::default() });
        let id = endpoint.begin(to(), &message(), 0, None, Waits::Acknowledgement).unwrap();
        assert!(endpoint.cancel(id));
        for _ in 0..3000 {
            let other = endpoint.post(to(), &message()).unwrap();
            endpoint.cancel(other);
        }
        assert!(matches!(endpoint.wait_sent(id, &now()), Err(Error::Cancelled)));
        // The slots go with their calls.
        assert!(endpoint.send_msg_until(to(), &message(), &now()).is_err());
        assert_eq!(lock(&endpoint.state).sends.len(), 1);
    }

    /// A second message that names the call is for the program, also before the call's thread goes on.
    #[test]
    fn an_answer_ends_its_call_at_once() {
        let endpoint = Endpoint::new(Hole);
        let id = endpoint.begin(to(), &message(), 0, None, Waits::Answer).unwrap();
        let mut state = lock(&endpoint.state);
        endpoint.process(&mut state, to(), &answer(1, id));
        assert_eq!(state.answered(id).unwrap().unwrap().id, 1);
        endpoint.process(&mut state, to(), &answer(2, id));
        assert_eq!(state.inbox.take().map(|whole| whole.id), Some(2));
    }

    /// An answer that comes when the call's time is over is not for the program, also before the call's thread goes on.
    #[test]
    fn an_answer_after_the_end_is_nobodys() {
        let endpoint = Endpoint::new(Hole);
        let end = Instant::now();
        let id = endpoint.begin(to(), &message(), 0, Some(end), Waits::Answer).unwrap();
        let mut state = lock(&endpoint.state);
        assert!(endpoint.advance(&mut state, end));
        endpoint.process(&mut state, to(), &answer(1, id));
        assert_eq!((state.inbox.take(), state.counts.received), (None, 1));
        assert!(matches!(state.answered(id), Some(Err(Error::Timeout))));
    }
}
