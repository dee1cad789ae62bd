// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A thread that owns something which must stay on it, and does one job after the other with it.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::CardError;

/// Time between two checks whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(50);
/// As much as a main thread has: models of large cards need more than the 2 MiB of other threads.
const STACK_BYTES: usize = 8 << 20;

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// The thread, and the way to it. Dropped, it waits until the thread has ended, after the job that it is at, and what
/// it owns with it.
pub(crate) struct Worker<S> {
    /// None only while it is dropped.
    jobs: Option<Sender<Job<S>>>,
    thread: Option<JoinHandle<()>>,
    stop: Stop,
}

/// Whether a long job is to end itself.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the thread if it is to end: for jobs that take long, to be called now and then.
    pub(crate) fn heed(&self) {
        if self.0.load(Ordering::Relaxed) {
            // Unwinds without a message, because the caller requested it.
            panic::resume_unwind(Box::new("stopped"));
        }
    }
}

impl<S: 'static> Worker<S> {
    /// Starts a thread that owns the value of `make`, and waits for it.
    pub(crate) fn start<E: Send + 'static>(
        py: Python<'_>,
        make: impl FnOnce(Stop) -> Result<S, E> + Send + 'static,
    ) -> PyResult<Result<Self, E>> {
        let (jobs, queue) = mpsc::channel::<Job<S>>();
        let (done, made) = mpsc::channel();
        let stop = Stop::default();
        let heard = stop.clone();
        let work = move || match make(heard) {
            Ok(mut state) => {
                // After Ctrl-C no thread waits for the answer; the same holds below.
                let _ = done.send(Ok(()));
                queue.into_iter().for_each(|job| job(&mut state));
            }
            Err(error) => {
                let _ = done.send(Err(error));
            }
        };
        let thread = thread::Builder::new().name("penstock".to_string()).stack_size(STACK_BYTES).spawn(work)?;
        let worker = Self { jobs: Some(jobs), thread: Some(thread), stop };
        Ok(worker.wait(py, made)?.map(|()| worker))
    }

    /// Has the thread do a job and waits for its answer, while other Python threads run. Ctrl-C ends the thread.
    pub(crate) fn call<R: Send + 'static>(
        &self,
        py: Python<'_>,
        job: impl FnOnce(&mut S) -> R + Send + 'static,
    ) -> PyResult<R> {
        let answer = self.give(job).ok_or_else(gone)?;
        self.wait(py, answer)
    }

    /// As [`Worker::call`], for threads that are not Python's. None if the thread has ended. The caller holds the worker
    /// no longer than it takes to give the job, so that whoever drops the worker waits for its end.
    pub(crate) fn call_apart<R: Send + 'static>(
        worker: &Weak<Self>,
        job: impl FnOnce(&mut S) -> R + Send + 'static,
    ) -> Option<R> {
        let answer = worker.upgrade()?.give(job)?;
        answer.recv().ok()
    }

    /// Has the thread do a job; the receiver of its answer. None if the thread has ended.
    fn give<R: Send + 'static>(&self, job: impl FnOnce(&mut S) -> R + Send + 'static) -> Option<Receiver<R>> {
        let (done, answer) = mpsc::channel();
        let job: Job<S> = Box::new(move |state| {
            let _ = done.send(job(state));
        });
        self.jobs.as_ref()?.send(job).ok()?;
        Some(answer)
    }

    fn wait<R: Send>(&self, py: Python<'_>, mut answer: Receiver<R>) -> PyResult<R> {
        loop {
            let result;
            (answer, result) = py.detach(move || {
                let result = answer.recv_timeout(LOOK);
                (answer, result)
            });
            match result {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {
                    py.check_signals().inspect_err(|_| self.stop.0.store(true, Ordering::Relaxed))?;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            }
        }
    }
}

impl<S> Drop for Worker<S> {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has reported this to its last caller.
            let _ = thread.join();
        }
    }
}

fn gone() -> PyErr {
    CardError::new_err("the device was interrupted or has failed; open it anew")
}
