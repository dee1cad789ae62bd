// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A small HTTP server beside the card. Its clients are bounded in number, in the size of their requests and in time,
//! and it asks the card over the control socket as every other client does.

use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST};
use hyper::header::{HeaderName, X_CONTENT_TYPE_OPTIONS};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;

use crate::control::{Client, ControlError};
use crate::protocol::{self, Reply};

/// Clients that are served at the same time. Others wait in the system's queue.
const CLIENTS: usize = 16;
/// Time in which a client must send the head of its request.
const HEAD: Duration = Duration::from_secs(3);
/// Bytes of the head of a request.
const HEAD_BYTES: usize = 8192;
/// Bytes of a request's body.
const BODY_BYTES: usize = 1 << 16;
/// Pause after a connection that could not be taken.
const REFUSED: Duration = Duration::from_millis(20);

/// A request of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// POST, not GET or HEAD.
    pub post: bool,
    /// The path, for example `/metrics`.
    pub path: String,
    /// The name or address of the server that the client meant, with its port.
    pub host: String,
    /// The token behind `Authorization: Bearer`.
    pub token: Option<String>,
    /// The body.
    pub body: Bytes,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Its status, for example 200.
    pub status: u16,
    /// Media type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: Bytes,
    /// The sources from which a page may load (`Content-Security-Policy`).
    pub policy: Option<&'static str>,
}

impl Told {
    /// An answer that went well.
    pub fn ok(kind: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: 200, kind, body: body.into(), policy: None }
    }

    /// A sentence as plain text, with a status.
    pub fn plain(status: u16, sentence: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: format!("{sentence}\n").into(), policy: None }
    }
}

/// Answers a request. It may block.
pub type Teller = dyn Fn(&Asked) -> Told + Send + Sync;

/// A server.
pub struct Server {
    /// Name of its thread.
    pub name: &'static str,
    /// Whether it takes POST beside GET and HEAD.
    pub posts: bool,
    /// Time in which a client must send its request and take the answer.
    pub patience: Duration,
    /// What it tells.
    pub tell: Arc<Teller>,
}

impl Server {
    /// Serves from a thread of its own, as long as the process lives.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(self, listener: TcpListener) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(CLIENTS)
            .build()?;
        let server = Arc::new(self);
        thread::Builder::new().name(server.name.to_owned()).spawn(move || {
            runtime.block_on(async {
                if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                    accept(listener, server).await;
                }
            });
        })?;
        Ok(())
    }
}

async fn accept(listener: tokio::net::TcpListener, server: Arc<Server>) {
    let places = Arc::new(Semaphore::new(CLIENTS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Most likely out of descriptors: the error would return at once.
            tokio::time::sleep(REFUSED).await;
            continue;
        };
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let patience = server.patience;
            let service = service_fn(move |request| answer(request, Arc::clone(&server)));
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES).keep_alive(false);
            // A client that breaks off, or is too slow, gets no answer.
            let _ = tokio::time::timeout(patience, http.serve_connection(TokioIo::new(stream), service)).await;
            drop(place);
        });
    }
}

async fn answer(request: Request<Incoming>, server: Arc<Server>) -> Result<Response<Full<Bytes>>, hyper::http::Error> {
    let post = request.method() == Method::POST;
    if !(request.method() == Method::GET || request.method() == Method::HEAD || (post && server.posts)) {
        let allowed = if server.posts { "GET, HEAD, POST" } else { "GET, HEAD" };
        let refused = Response::builder().status(StatusCode::METHOD_NOT_ALLOWED).header(ALLOW, allowed);
        return refused.body(Full::default());
    }
    let text = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let asked = Asked {
        post,
        path: request.uri().path().to_owned(),
        host: text(HOST).unwrap_or_default(),
        token: text(AUTHORIZATION).and_then(|value| Some(value.strip_prefix("Bearer ")?.to_owned())),
        body: Bytes::new(),
    };
    let told = match Limited::new(request.into_body(), BODY_BYTES).collect().await {
        Ok(body) => {
            let asked = Asked { body: body.to_bytes(), ..asked };
            // The card can take its time, and other clients do not wait for that.
            let told = tokio::task::spawn_blocking(move || (server.tell)(&asked)).await;
            told.unwrap_or_else(|_| Told::plain(500, "the server has no answer"))
        }
        Err(_) => Told::plain(413, &format!("the body is cut short, or has more than {BODY_BYTES} bytes")),
    };
    let mut response = Response::builder()
        .status(told.status)
        .header(CONTENT_TYPE, told.kind)
        .header(CACHE_CONTROL, "no-store")
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff");
    if let Some(policy) = told.policy {
        response = response.header(CONTENT_SECURITY_POLICY, policy);
    }
    response.body(told.body.into())
}

/// Asks the card at a control socket, over a connection that is made anew after an error.
pub struct Asker {
    socket: PathBuf,
    /// Time that the card has for an answer.
    patience: Duration,
    client: Option<Client>,
}

impl Asker {
    /// Makes it; the first question connects.
    pub fn new(socket: &Path, patience: Duration) -> Self {
        Self { socket: socket.to_owned(), patience, client: None }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// The card cannot be reached, refuses, or is too slow.
    pub fn ask(&mut self, request: &protocol::Request) -> Result<Reply, ControlError> {
        let client = match &mut self.client {
            Some(client) => client,
            none => {
                let client = Client::connect(&self.socket)?;
                let slow = |source| ControlError::Io { path: self.socket.clone(), source };
                client.set_timeout(self.patience).map_err(slow)?;
                none.insert(client)
            }
        };
        let reply = client.ask(request);
        if !matches!(reply, Ok(_) | Err(ControlError::Refused(_))) {
            self.client = None;
        }
        reply
    }
}
