// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The stream of a controller: it asks to be primary there, and is told who is.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use penstock_rmt_compiler::ir::Program;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::{pin, select, task};
use tokio_stream::Stream;
use tonic::{Status, Streaming};

use crate::arbiter::{self, Answers, Arbiter};
use crate::digest::{self, Digests};
use crate::entry;
use crate::packet;
use crate::proto::p4::v1::{
    DigestList, DigestListAckError, IdleTimeoutNotification, MasterArbitrationUpdate, PacketOutError, StreamError,
    StreamMessageRequest, StreamMessageResponse, StreamOtherError, stream_error, stream_message_request::Update,
    stream_message_response,
};
use crate::refusal::{Reason, Refusal};
use crate::server::{Device, Serving};
use crate::switch::Streamed;

/// Time between two looks at what devices have for their controllers.
const POLL: Duration = Duration::from_millis(10);

/// A message to a controller.
pub(crate) struct Told(pub UnboundedReceiver<Result<StreamMessageResponse, Status>>);

impl Stream for Told {
    type Item = Result<StreamMessageResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

/// Takes a controller's messages until it goes away or the server closes. An error ends its stream.
pub(crate) async fn listen(
    serving: Arc<Serving>,
    stream: u64,
    mut messages: Streaming<StreamMessageRequest>,
    answers: Answers,
) {
    let mut at = None;
    let closing = serving.closing().wait();
    pin!(closing);
    loop {
        let message = select! {
            message = messages.message() => message,
            () = &mut closing => Err(Status::unavailable("the server closes")),
        };
        let message = match message {
            Ok(Some(message)) => message,
            Ok(None) => break,
            Err(status) => {
                // A controller that has gone away does not hear it.
                let _ = answers.send(Err(status));
                break;
            }
        };
        let done = match message.update {
            Some(Update::Arbitration(update)) => arbitrate(&serving, stream, &mut at, &update, &answers),
            Some(other) => {
                let (serving, at, asked) = (serving.clone(), at.clone(), other.clone());
                // It waits for the card.
                let done = task::spawn_blocking(move || take(&serving, stream, at.as_ref(), asked)).await;
                let done = done.unwrap_or_else(|error| Err(Refusal::new(Reason::Card, error.to_string())));
                if let Err(refusal) = done {
                    // The stream goes on.
                    let _ = answers.send(Ok(refused(other, refusal)));
                }
                Ok(())
            }
            None => Err(Refusal::argument("the message is empty")),
        };
        if let Err(refusal) = done {
            let _ = answers.send(Err(refusal.into()));
            break;
        }
    }
    if let Some(Place { device, role }) = at {
        serving.controllers().entry(device).or_default().arbiter(&role).leave(device, stream);
    }
}

/// Device and role of a stream.
#[derive(Clone)]
struct Place {
    device: u64,
    role: String,
}

fn arbitrate(
    serving: &Serving,
    stream: u64,
    at: &mut Option<Place>,
    update: &MasterArbitrationUpdate,
    answers: &Answers,
) -> Result<(), Refusal> {
    if update.role.as_ref().is_some_and(|role| role.config.is_some()) {
        return Err(Refusal::unsupported("every role reaches all of the device: leave its config out"));
    }
    let role = update.role.as_ref().map_or_else(String::new, |role| role.name.clone());
    if at.as_ref().is_some_and(|at| at.device != update.device_id || at.role != role) {
        return Err(Refusal::argument("a stream is for one device and one role: open another one"));
    }
    serving.switch().loaded(update.device_id)?;
    let mut devices = serving.controllers();
    let arbiter = devices.entry(update.device_id).or_default().arbiter(&role);
    arbiter.enter(update.device_id, stream, arbiter::number(update.election_id), answers)?;
    *at = Some(Place { device: update.device_id, role });
    Ok(())
}

/// Carries out a message of a controller.
fn take(serving: &Serving, stream: u64, at: Option<&Place>, message: Update) -> Result<(), Refusal> {
    let Some(Place { device, role }) = at else {
        return Err(Refusal::new(Reason::Precondition, "the first message of a stream is its arbitration"));
    };
    if !serving.controllers().entry(*device).or_default().arbiter(role).is_primary(stream) {
        return Err(Refusal::new(Reason::Denied, "only the primary controller sends this"));
    }
    match message {
        Update::Packet(packet) => {
            let loaded = serving.loaded(*device)?;
            serving.switch().send(*device, &packet::packet_out(&loaded.program, &packet)?)
        }
        Update::DigestAck(ack) => {
            let loaded = serving.loaded(*device)?;
            let found = loaded.program.digests.iter().position(|digest| digest.id == ack.digest_id);
            let digest =
                found.ok_or_else(|| Refusal::not_found(format!("the program has no digest {}", ack.digest_id)))?;
            serving.controllers().entry(*device).or_default().digests.acknowledge(digest, ack.list_id);
            Ok(())
        }
        Update::Other(_) => Err(Refusal::unsupported("this message is not known")),
        // The caller takes it.
        Update::Arbitration(_) => Ok(()),
    }
}

/// The answer to a message that was not carried out.
fn refused(message: Update, refusal: Refusal) -> StreamMessageResponse {
    let details = match message {
        Update::Packet(packet) => Some(stream_error::Details::PacketOut(PacketOutError { packet_out: Some(packet) })),
        Update::DigestAck(ack) => {
            Some(stream_error::Details::DigestListAck(DigestListAckError { digest_list_ack: Some(ack) }))
        }
        Update::Other(other) => Some(stream_error::Details::Other(StreamOtherError { other: Some(other) })),
        Update::Arbitration(_) => None,
    };
    let (canonical_code, message) = (refusal.reason.code() as i32, refusal.message);
    let error = StreamError { canonical_code, message, details, ..StreamError::default() };
    StreamMessageResponse { update: Some(stream_message_response::Update::Error(error)) }
}

/// Sends frames, lists and notices of the devices to their primary controllers, as long as the server is held.
pub(crate) async fn tell(serving: Weak<Serving>) {
    loop {
        tokio::time::sleep(POLL).await;
        let Some(serving) = serving.upgrade() else { return };
        // A card that does not answer says so to requests.
        let _ = task::spawn_blocking(move || tell_all(&serving)).await;
    }
}

fn tell_all(serving: &Serving) {
    let heard = |device: &Device| device.roles.values().any(Arbiter::has_primary);
    let devices: Vec<u64> = {
        let all = serving.controllers();
        all.iter().filter(|(_, device)| heard(device)).map(|(number, _)| *number).collect()
    };
    for device in devices {
        let Ok(loaded) = serving.loaded(device) else { continue };
        let Ok(streamed) = serving.switch().stream(device) else { continue };
        let mut all = serving.controllers();
        let of_device = all.entry(device).or_default();
        for message in messages(&loaded.program, &mut of_device.digests, streamed) {
            let response = StreamMessageResponse { update: Some(message) };
            of_device.roles.values().for_each(|arbiter| arbiter.send(&response));
        }
    }
}

/// The messages in which controllers get frames, lists and notices of a device.
fn messages(program: &Program, digests: &mut Digests, streamed: Streamed) -> Vec<stream_message_response::Update> {
    use stream_message_response::Update;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let timestamp = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
    let packets = streamed.packets.iter().filter_map(|frame| packet::packet_in(program, frame));
    let mut all: Vec<Update> = packets.map(Update::Packet).collect();
    digests.keep(&streamed.digests.iter().map(|(digest, ..)| *digest).collect::<Vec<_>>());
    for (digest, config, new) in streamed.digests {
        let Some(about) = program.digests.get(digest) else { continue };
        for (list_id, messages) in digests.take(digest, config, new, Instant::now()) {
            let data = messages.iter().map(|values| digest::data(values)).collect();
            all.push(Update::Digest(DigestList { digest_id: about.id, list_id, data, timestamp }));
        }
    }
    let idle = streamed.idle.iter().filter_map(|(at, one)| Some(entry::write(program, program.tables.get(*at)?, one)));
    let table_entry: Vec<_> = idle.collect();
    if !table_entry.is_empty() {
        all.push(Update::IdleTimeoutNotification(IdleTimeoutNotification { table_entry, timestamp }));
    }
    all
}
