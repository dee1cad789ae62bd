// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The stream of a controller: it asks to be primary there, and is told who is.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio_stream::Stream;
use tonic::{Code, Status, Streaming};

use crate::arbiter::{self, Answers};
use crate::proto::p4::v1::{
    DigestListAckError, MasterArbitrationUpdate, PacketOutError, StreamError, StreamMessageRequest,
    StreamMessageResponse, StreamOtherError, stream_error, stream_message_request::Update, stream_message_response,
};
use crate::refusal::Refusal;
use crate::server::Serving;

/// What a controller is sent.
pub struct Told(pub UnboundedReceiver<Result<StreamMessageResponse, Status>>);

impl Stream for Told {
    type Item = Result<StreamMessageResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

/// Takes a controller's messages until it goes away. An error ends its stream.
pub async fn listen(
    serving: Arc<Serving>,
    stream: u64,
    mut messages: Streaming<StreamMessageRequest>,
    answers: Answers,
) {
    let mut device = None;
    while let Ok(Some(message)) = messages.message().await {
        let done = match message.update {
            Some(Update::Arbitration(update)) => arbitrate(&serving, stream, &mut device, &update, &answers),
            Some(other) => {
                // The stream goes on.
                let _ = answers.send(Ok(refused(other)));
                Ok(())
            }
            None => Err(Refusal::argument("the message is empty")),
        };
        if let Err(refusal) = done {
            let _ = answers.send(Err(refusal.into()));
            break;
        }
    }
    if let Some(device) = device {
        serving.controllers().entry(device).or_default().arbiter.leave(device, stream);
    }
}

fn arbitrate(
    serving: &Serving,
    stream: u64,
    device: &mut Option<u64>,
    update: &MasterArbitrationUpdate,
    answers: &Answers,
) -> Result<(), Refusal> {
    if update.role.as_ref().is_some_and(|role| !role.name.is_empty()) {
        return Err(Refusal::unsupported("roles are not there yet: be primary for the whole device"));
    }
    if device.is_some_and(|device| device != update.device_id) {
        return Err(Refusal::argument("a stream is for one device: open another one"));
    }
    serving.switch().loaded(update.device_id)?;
    let mut devices = serving.controllers();
    let of_device = devices.entry(update.device_id).or_default();
    of_device.arbiter.enter(update.device_id, stream, arbiter::number(update.election_id), answers)?;
    *device = Some(update.device_id);
    Ok(())
}

/// The answer to a message that nothing can be done with.
fn refused(message: Update) -> StreamMessageResponse {
    let (text, details) = match message {
        Update::Packet(packet) => {
            let details = stream_error::Details::PacketOut(PacketOutError { packet_out: Some(packet) });
            ("packet out is not there yet", details)
        }
        Update::DigestAck(ack) => {
            let details = stream_error::Details::DigestListAck(DigestListAckError { digest_list_ack: Some(ack) });
            ("digests are not there yet", details)
        }
        Update::Other(other) => {
            ("this message is not known", stream_error::Details::Other(StreamOtherError { other: Some(other) }))
        }
        // The caller takes it.
        Update::Arbitration(_) => return StreamMessageResponse::default(),
    };
    let error = StreamError {
        canonical_code: Code::Unimplemented as i32,
        message: text.to_owned(),
        details: Some(details),
        ..StreamError::default()
    };
    StreamMessageResponse { update: Some(stream_message_response::Update::Error(error)) }
}
