// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The gRPC server.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{io, mem};

use tokio::sync::{mpsc, watch};
use tokio::{select, task, time};
use tokio_stream::Iter;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

use crate::arbiter::Arbiter;
use crate::digest::Digests;
use crate::object;
use crate::pipeline::{self, Saved};
use crate::proto::p4::v1::p4_runtime_server::{P4Runtime, P4RuntimeServer};
use crate::proto::p4::v1::{
    CapabilitiesRequest, CapabilitiesResponse, GetForwardingPipelineConfigRequest, GetForwardingPipelineConfigResponse,
    ReadRequest, ReadResponse, SetForwardingPipelineConfigRequest, SetForwardingPipelineConfigResponse,
    StreamMessageRequest, WriteRequest, WriteResponse,
};
use crate::read;
use crate::refusal::{self, Reason, Refusal};
use crate::stream::{self, Told};
use crate::switch::{Loaded, Switch};
use crate::write;

/// The version of the P4Runtime API whose messages the server knows.
const VERSION: &str = "1.5.0";
/// Bytes of the longest request: a batch of some 100,000 entries.
const MAX_MESSAGE: usize = 16 << 20;
/// Entities of one message of an answer.
const ENTITIES: usize = 1024;
/// Time that requests have to end when the server closes.
const GRACE: Duration = Duration::from_secs(1);
/// Time between two questions whether a controller is still there, so that one whose machine is gone loses its stream.
const ASK_AFTER: Duration = Duration::from_secs(10);
/// Time that it has to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The server's state of a device.
#[derive(Default)]
pub(crate) struct Device {
    /// Its controllers, by the name of their role.
    pub roles: BTreeMap<String, Arbiter>,
    /// Messages for them.
    pub digests: Digests,
    /// A program that waits for its commit.
    saved: Option<Saved>,
    /// The ports of replicas are read in the form in which they were last written: as numbers.
    old_ports: bool,
}

impl Device {
    /// The controllers of a role.
    pub(crate) fn arbiter(&mut self, role: &str) -> &mut Arbiter {
        self.roles.entry(role.to_owned()).or_insert_with(|| Arbiter::of(role))
    }
}

/// A server at work.
pub(crate) struct Serving {
    switch: Arc<dyn Switch>,
    devices: Mutex<BTreeMap<u64, Device>>,
    streams: AtomicU64,
    closing: Closing,
}

/// Serves a card to P4Runtime controllers, on a thread of its own, until the handle is dropped.
///
/// # Errors
/// The system refuses the socket or the thread.
pub fn serve(switch: Arc<dyn Switch>, listener: TcpListener) -> io::Result<Handle> {
    listener.set_nonblocking(true)?;
    let (open, closing) = watch::channel(());
    let closing = Closing(closing);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let serving = Serving { switch, devices: Mutex::default(), streams: AtomicU64::new(0), closing };
    let serving = Arc::new(serving);
    let work = move || {
        // Every error is one connection's.
        let _ = runtime.block_on(carry(serving, listener));
        runtime.shutdown_background();
    };
    let thread = thread::Builder::new().name("p4runtime".to_owned()).spawn(work)?;
    Ok(Handle { open, thread: Some(thread) })
}

/// Keeps a server at work. Dropped, it ends the streams of controllers, and waits until the server's port is free.
#[derive(Debug)]
pub struct Handle {
    /// Its end stops the server.
    open: watch::Sender<()>,
    /// None only while the handle is dropped.
    thread: Option<JoinHandle<()>>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        drop(mem::replace(&mut self.open, watch::channel(()).0));
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked serves no more either.
            let _ = thread.join();
        }
    }
}

/// Says when the server closes.
#[derive(Clone)]
pub(crate) struct Closing(watch::Receiver<()>);

impl Closing {
    /// Waits until the server closes.
    pub(crate) async fn wait(mut self) {
        // Nothing is ever sent: the other end goes away with the handle.
        while self.0.changed().await.is_ok() {}
    }
}

async fn carry(serving: Arc<Serving>, listener: TcpListener) -> Result<(), Box<dyn std::error::Error>> {
    let closing = serving.closing.clone();
    let incoming = TcpIncoming::from(tokio::net::TcpListener::from_std(listener)?).with_nodelay(Some(true));
    task::spawn(stream::tell(Arc::downgrade(&serving)));
    let service = P4RuntimeServer::new(Service(serving)).max_decoding_message_size(MAX_MESSAGE);
    let server = tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(ASK_AFTER))
        .http2_keepalive_timeout(Some(ANSWER_WITHIN))
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, closing.clone().wait());
    let late = async {
        closing.wait().await;
        time::sleep(GRACE).await;
    };
    select! {
        done = server => done?,
        () = late => {}
    }
    Ok(())
}

impl Serving {
    /// The card.
    pub(crate) fn switch(&self) -> &dyn Switch {
        &*self.switch
    }

    /// The state of the devices.
    pub(crate) fn controllers(&self) -> MutexGuard<'_, BTreeMap<u64, Device>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says when the server closes.
    pub(crate) fn closing(&self) -> Closing {
        self.closing.clone()
    }

    /// The program of a device.
    pub(crate) fn loaded(&self, device: u64) -> Result<Arc<Loaded>, Refusal> {
        let none = || Refusal::new(Reason::Precondition, format!("no forwarding pipeline config is set on {device}"));
        self.switch.loaded(device)?.ok_or_else(none)
    }

    fn check(&self, device: u64, role: &str, election: Option<crate::proto::p4::v1::Uint128>) -> Result<(), Refusal> {
        let mut devices = self.controllers();
        let known = devices.get_mut(&device).and_then(|device| device.roles.get(role));
        known.map_or_else(|| Arbiter::of(role).check(election), |arbiter| arbiter.check(election))
    }

    fn set(&self, request: &SetForwardingPipelineConfigRequest) -> Result<(), Refusal> {
        let device = request.device_id;
        self.check(device, &request.role, request.election_id)?;
        let saved = self.controllers().entry(device).or_default().saved.clone();
        let saved = pipeline::set(self.switch(), request, saved)?;
        self.controllers().entry(device).or_default().saved = saved;
        Ok(())
    }

    fn write_all(&self, request: &WriteRequest) -> Result<Vec<Result<(), Refusal>>, Refusal> {
        self.check(request.device_id, &request.role, request.election_id)?;
        let loaded = self.loaded(request.device_id)?;
        let entities = request.updates.iter().filter_map(|update| update.entity.as_ref());
        if let Some(old_ports) = entities.filter_map(object::has_old_ports).next_back() {
            self.controllers().entry(request.device_id).or_default().old_ports = old_ports;
        }
        write::write(self.switch(), &loaded.program, request)
    }

    fn read_all(&self, request: &ReadRequest) -> Result<Vec<ReadResponse>, Refusal> {
        let loaded = self.loaded(request.device_id)?;
        let mut found = Vec::new();
        for asked in &request.entities {
            found.extend(read::read(self.switch(), request.device_id, &loaded.program, asked)?);
        }
        if self.controllers().get(&request.device_id).is_some_and(|device| device.old_ports) {
            found.iter_mut().for_each(object::set_old_ports);
        }
        Ok(found.chunks(ENTITIES).map(|entities| ReadResponse { entities: entities.to_vec() }).collect())
    }
}

/// Does something that waits for the card, beside the connections.
async fn blocking<T: Send + 'static>(
    serving: &Arc<Serving>,
    work: impl FnOnce(&Serving) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Status> {
    let serving = serving.clone();
    let done = task::spawn_blocking(move || work(&serving)).await;
    Ok(done.map_err(|error| Status::internal(error.to_string()))??)
}

/// The service. It holds the server's state by a reference of its own, which tasks share.
struct Service(Arc<Serving>);

#[tonic::async_trait]
impl P4Runtime for Service {
    type ReadStream = Iter<std::vec::IntoIter<Result<ReadResponse, Status>>>;
    type StreamChannelStream = Told;

    async fn write(&self, request: Request<WriteRequest>) -> Result<Response<WriteResponse>, Status> {
        let request = request.into_inner();
        let results = blocking(&self.0, move |serving| serving.write_all(&request)).await?;
        match results.iter().all(Result::is_ok) {
            true => Ok(Response::new(WriteResponse {})),
            false => Err(refusal::batch(&results)),
        }
    }

    async fn read(&self, request: Request<ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let request = request.into_inner();
        let found = blocking(&self.0, move |serving| serving.read_all(&request)).await?;
        Ok(Response::new(tokio_stream::iter(found.into_iter().map(Ok).collect::<Vec<_>>())))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<SetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        blocking(&self.0, move |serving| serving.set(&request)).await?;
        Ok(Response::new(SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<GetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        let kind = request.response_type();
        let loaded = blocking(&self.0, move |serving| serving.loaded(request.device_id)).await?;
        let config = Some(pipeline::get(&loaded, kind));
        Ok(Response::new(GetForwardingPipelineConfigResponse { config }))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<StreamMessageRequest>>,
    ) -> Result<Response<Told>, Status> {
        let (answers, answered) = mpsc::unbounded_channel();
        let stream = self.0.streams.fetch_add(1, Ordering::Relaxed);
        task::spawn(stream::listen(self.0.clone(), stream, request.into_inner(), answers));
        Ok(Response::new(Told(answered)))
    }

    async fn capabilities(&self, _: Request<CapabilitiesRequest>) -> Result<Response<CapabilitiesResponse>, Status> {
        let p4runtime_api_version = VERSION.to_owned();
        Ok(Response::new(CapabilitiesResponse { p4runtime_api_version, experimental: None }))
    }
}
