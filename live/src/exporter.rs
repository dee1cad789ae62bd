// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `GET /metrics`: an HTTP server beside the card, for Prometheus.
//!
//! It asks the card over the control socket, at most once in [`FRESH`], so the number of its clients does not matter
//! to the card. Clients are bounded in number, in the size of their requests and in time.

use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;

use crate::control::Client;
use crate::metrics::metrics;
use crate::protocol;

/// Clients that are served at the same time. Others wait in the system's queue.
const CLIENTS: usize = 16;
/// Time in which a client must send its request and take the answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time in which a client must send the head of its request, and the card must answer.
const HEAD: Duration = Duration::from_secs(3);
/// Bytes of the head of a request.
const HEAD_BYTES: usize = 8192;
/// Age up to which the same text is given again.
const FRESH: Duration = Duration::from_millis(500);
/// Pause after a connection that could not be taken.
const REFUSED: Duration = Duration::from_millis(20);

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The last text, and when it was made.
struct Source {
    socket: PathBuf,
    client: Option<Client>,
    last: Option<(Instant, Bytes)>,
}

impl Source {
    fn text(&mut self) -> Result<Bytes, String> {
        if let Some((when, text)) = &self.last
            && when.elapsed() < FRESH
        {
            return Ok(text.clone());
        }
        let made = self.ask();
        if made.is_err() {
            // The next one begins with a connection of its own.
            self.client = None;
        }
        let text = Bytes::from(made?);
        self.last = Some((Instant::now(), text.clone()));
        Ok(text)
    }

    fn ask(&mut self) -> Result<String, String> {
        let client = match &mut self.client {
            Some(client) => client,
            none => {
                let client = Client::connect(&self.socket).map_err(|error| error.to_string())?;
                client.set_timeout(HEAD).map_err(|error| error.to_string())?;
                none.insert(client)
            }
        };
        let status = client.ask(&protocol::Request::Status).map_err(|error| error.to_string())?.status;
        let counters = client.ask(&protocol::Request::Counters).map_err(|error| error.to_string())?.counters;
        let (Some(status), Some(counters)) = (status, counters) else { return Err("no counters".to_owned()) };
        metrics(status, counters).map_err(|error| error.to_string())
    }
}

/// Serves the metrics of the card at a control socket, from a thread of its own, as long as the process lives.
///
/// # Errors
/// The thread cannot be started.
pub fn serve(listener: TcpListener, socket: &Path) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let source = Arc::new(Mutex::new(Source { socket: socket.to_path_buf(), client: None, last: None }));
    thread::Builder::new().name("metrics".to_owned()).spawn(move || {
        runtime.block_on(async {
            if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                accept(listener, source).await;
            }
        });
    })?;
    Ok(())
}

async fn accept(listener: tokio::net::TcpListener, source: Arc<Mutex<Source>>) {
    let places = Arc::new(Semaphore::new(CLIENTS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Most likely out of descriptors: the error would return at once.
            tokio::time::sleep(REFUSED).await;
            continue;
        };
        let source = Arc::clone(&source);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answer = answer(&request, &source);
                async move { answer }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES).keep_alive(false);
            // A client that breaks off, or is too slow, gets no answer.
            let _ = tokio::time::timeout(PATIENCE, server.serve_connection(TokioIo::new(stream), service)).await;
            drop(place);
        });
    }
}

fn answer(request: &Request<Incoming>, source: &Mutex<Source>) -> Result<Response<Full<Bytes>>, hyper::http::Error> {
    let plain = |status: StatusCode, text: String| {
        Response::builder().status(status).header(CONTENT_TYPE, "text/plain; charset=utf-8").body(text.into())
    };
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let refused = Response::builder().status(StatusCode::METHOD_NOT_ALLOWED).header(ALLOW, "GET, HEAD");
        return refused.body(Full::default());
    }
    match request.uri().path() {
        "/metrics" => match source.lock().unwrap_or_else(PoisonError::into_inner).text() {
            Ok(text) => Response::builder().header(CONTENT_TYPE, OPEN_METRICS).body(text.into()),
            Err(why) => plain(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
        },
        "/" => plain(StatusCode::OK, "Penstock: metrics are at /metrics\n".to_owned()),
        _ => plain(StatusCode::NOT_FOUND, "metrics are at /metrics\n".to_owned()),
    }
}
