// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `GET /metrics`: an HTTP server beside the card, for Prometheus.
//!
//! It asks the card at most once in [`FRESH`], so the number of its clients does not matter to the card.

use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper::body::Bytes;

use crate::http::{Asked, Asker, Server, Told};
use crate::metrics::metrics;
use crate::protocol::Request;

/// Time in which a client must send its request and take the answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time in which the card must answer.
const CARD: Duration = Duration::from_secs(3);
/// Age up to which the same text is given again.
const FRESH: Duration = Duration::from_millis(500);

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The last text, and when it was made.
struct Source {
    card: Asker,
    last: Option<(Instant, Bytes)>,
}

impl Source {
    fn text(&mut self) -> Result<Bytes, String> {
        if let Some((when, text)) = &self.last
            && when.elapsed() < FRESH
        {
            return Ok(text.clone());
        }
        let text = Bytes::from(self.ask()?);
        self.last = Some((Instant::now(), text.clone()));
        Ok(text)
    }

    fn ask(&mut self) -> Result<String, String> {
        let status = self.card.ask(&Request::Status).map_err(|error| error.to_string())?.status;
        let counters = self.card.ask(&Request::Counters).map_err(|error| error.to_string())?.counters;
        let (Some(status), Some(counters)) = (status, counters) else { return Err("no counters".to_owned()) };
        metrics(status, counters).map_err(|error| error.to_string())
    }
}

/// Serves the metrics of the card at a control socket, from a thread of its own, as long as the process lives.
///
/// # Errors
/// The thread cannot be started.
pub fn serve(listener: TcpListener, socket: &Path) -> io::Result<()> {
    let source = Mutex::new(Source { card: Asker::new(socket, CARD), last: None });
    let tell = move |asked: &Asked| match asked.path.as_str() {
        "/metrics" => match source.lock().unwrap_or_else(PoisonError::into_inner).text() {
            Ok(text) => Told::ok(OPEN_METRICS, text),
            Err(why) => Told::plain(503, &why),
        },
        "/" => Told::plain(200, "Penstock: metrics are at /metrics"),
        _ => Told::plain(404, "metrics are at /metrics"),
    };
    Server { name: "metrics", posts: false, patience: PATIENCE, tell: Arc::new(tell) }.start(listener)
}
