// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock-qnp` for C. The header include/penstock_qnp.h tells what the functions do and what callers must keep to.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::net::{SocketAddr, UdpSocket};
use std::ptr;
use std::time::Duration;

use penstock_qnp::{Endpoint, Error, Message, Received, Settings, Until};

const TIMEOUT: c_int = -1;
const CLOSED: c_int = -2;
const FAULT: c_int = -3;
const FOREVER: u32 = u32::MAX;

thread_local! {
    static FAILED: RefCell<CString> = RefCell::default();
}

/// An endpoint of C.
pub struct QnpEndpoint(Endpoint<UdpSocket>);

/// A message of C, and its source if it was received.
pub struct QnpMessage {
    message: Message,
    received: Option<Received>,
}

impl QnpMessage {
    fn boxed(message: Message, received: Option<Received>) -> *mut Self {
        Box::into_raw(Box::new(Self { message, received }))
    }
}

fn fault(text: String) -> c_int {
    FAILED.set(CString::new(text.replace('\0', " ")).unwrap_or_default());
    FAULT
}

fn result(result: Result<(), Error>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => {
            let code = match error {
                Error::Timeout => TIMEOUT,
                Error::Closed => CLOSED,
                _ => FAULT,
            };
            fault(error.to_string());
            code
        }
    }
}

fn until(timeout_ms: u32) -> Until {
    if timeout_ms == FOREVER { Until::forever() } else { Until::within(Duration::from_millis(timeout_ms.into())) }
}

/// Reads an address.
///
/// # Safety
/// `text` is a string of C.
unsafe fn address(text: *const c_char) -> Result<SocketAddr, c_int> {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    text.parse().map_err(|_| fault(format!("`{text}` is no address with a port, such as 10.0.0.2:7000")))
}

/// The bytes of a value.
///
/// # Safety
/// `value` points to so many bytes, or there are none.
unsafe fn bytes(value: *const c_void, count: usize) -> Vec<u8> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(value.cast::<u8>(), count) }.to_vec()
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn qnp_error() -> *const c_char {
    FAILED.with_borrow(|text| text.as_ptr())
}

/// See the header.
///
/// # Safety
/// `address` is a string of C, and `endpoint` a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_open(at: *const c_char, acknowledge: c_int, endpoint: *mut *mut QnpEndpoint) -> c_int {
    // SAFETY: the caller's promise.
    let at = match unsafe { address(at) } {
        Ok(at) => at,
        Err(code) => return code,
    };
    match UdpSocket::bind(at) {
        Ok(socket) => {
            let settings = Settings { acknowledge: acknowledge != 0, ..Settings::default() };
            let made = Box::into_raw(Box::new(QnpEndpoint(Endpoint::with(socket, settings))));
            // SAFETY: the caller's promise.
            unsafe { *endpoint = made };
            0
        }
        Err(error) => fault(format!("{at}: {error}")),
    }
}

/// See the header.
///
/// # Safety
/// `endpoint` is one that was opened and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_close(endpoint: *mut QnpEndpoint) {
    // SAFETY: the caller's promise.
    unsafe { &*endpoint }.0.close();
}

/// See the header.
///
/// # Safety
/// `endpoint` is one that was opened and not freed and that no thread uses, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_free(endpoint: *mut QnpEndpoint) {
    if !endpoint.is_null() {
        // SAFETY: the caller's promise; qnp_open made it with a box.
        drop(unsafe { Box::from_raw(endpoint) });
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn qnp_message_new(application: u8, of_type: u8) -> *mut QnpMessage {
    QnpMessage::boxed(Message::new(application, of_type), None)
}

/// See the header.
///
/// # Safety
/// `message` is one of this library that was not freed, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_message_free(message: *mut QnpMessage) {
    if !message.is_null() {
        // SAFETY: the caller's promise; all messages are made with a box.
        drop(unsafe { Box::from_raw(message) });
    }
}

/// See the header.
///
/// # Safety
/// `message` is one of this library that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_message_type(message: *const QnpMessage) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { &*message }.message.of_type
}

/// See the header.
///
/// # Safety
/// `message` is one of this library that was not freed, and `value` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_dispatch(message: *mut QnpMessage, number: u8, value: *const c_void, count: usize) {
    // SAFETY: the caller's promise.
    let (message, value) = unsafe { (&mut (*message).message, bytes(value, count)) };
    *message = std::mem::take(message).dispatch(number, value);
}

/// See the header.
///
/// # Safety
/// `message` is one of this library that was not freed, and `value` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_field(message: *mut QnpMessage, number: u8, value: *const c_void, count: usize) {
    // SAFETY: the caller's promise.
    let (message, value) = unsafe { (&mut (*message).message, bytes(value, count)) };
    *message = std::mem::take(message).field(number, value);
}

/// See the header.
///
/// # Safety
/// `message` is one of this library that was not freed, and `count` a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_get(message: *const QnpMessage, number: u8, count: *mut usize) -> *const c_void {
    // SAFETY: the caller's promise.
    let (value, count) = unsafe { ((*message).message.get(number), &mut *count) };
    *count = value.map_or(0, <[u8]>::len);
    value.map_or(ptr::null(), |value| value.as_ptr().cast())
}

/// See the header.
///
/// # Safety
/// The pointers are those of this library, and `to` is a string of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_send(
    endpoint: *const QnpEndpoint,
    to: *const c_char,
    message: *const QnpMessage,
    timeout_ms: u32,
) -> c_int {
    // SAFETY: the caller's promise.
    let (endpoint, to, message) = unsafe { (&(*endpoint).0, address(to), &(*message).message) };
    match to {
        Ok(to) => result(endpoint.send_msg_until(to, message, &until(timeout_ms)).map(|_| ())),
        Err(code) => code,
    }
}

/// See the header.
///
/// # Safety
/// The pointers are those of this library, `to` is a string of C, and `answer` a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_call(
    endpoint: *const QnpEndpoint,
    to: *const c_char,
    message: *const QnpMessage,
    timeout_ms: u32,
    answer: *mut *mut QnpMessage,
) -> c_int {
    // SAFETY: the caller's promise.
    let (endpoint, to, message) = unsafe { (&(*endpoint).0, address(to), &(*message).message) };
    let to = match to {
        Ok(to) => to,
        Err(code) => return code,
    };
    let called = endpoint.call_until(to, message, &until(timeout_ms));
    // SAFETY: the caller's promise.
    unsafe { give(called, answer) }
}

/// See the header.
///
/// # Safety
/// `endpoint` is one of this library, and `received` a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_recv(
    endpoint: *const QnpEndpoint,
    timeout_ms: u32,
    received: *mut *mut QnpMessage,
) -> c_int {
    // SAFETY: the caller's promise.
    let came = unsafe { &(*endpoint).0 }.recv_msg_until(&until(timeout_ms));
    // SAFETY: the caller's promise.
    unsafe { give(came, received) }
}

/// Hands a received message over.
///
/// # Safety
/// `place` is a place for a pointer.
unsafe fn give(received: Result<Received, Error>, place: *mut *mut QnpMessage) -> c_int {
    result(received.map(|received| {
        let made = QnpMessage::boxed(received.message.clone(), Some(received));
        // SAFETY: the caller's promise.
        unsafe { *place = made };
    }))
}

/// See the header.
///
/// # Safety
/// The pointers are those of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qnp_reply(
    endpoint: *const QnpEndpoint,
    received: *const QnpMessage,
    reply: *const QnpMessage,
) -> c_int {
    // SAFETY: the caller's promise.
    let (endpoint, received, reply) = unsafe { (&(*endpoint).0, &(*received).received, &(*reply).message) };
    match received {
        Some(received) => result(endpoint.reply(received, reply)),
        None => fault("a reply is to a message that qnp_recv returned".to_owned()),
    }
}
