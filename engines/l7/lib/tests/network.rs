// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Endpoints over a network that loses, duplicates and reorders, and beside strangers.
#![allow(clippy::unwrap_used)]

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use penstock_qnp::{
    Cancel, Carrier, Endpoint, Error, Faults, Flag, Header, Impaired, Limits, Message, Settings, Until,
};

type Datagrams = VecDeque<(SocketAddr, Vec<u8>)>;

/// A network in memory.
#[derive(Debug, Default)]
struct Wire {
    queues: Mutex<HashMap<SocketAddr, Datagrams>>,
    came: Condvar,
}

/// An address of it.
#[derive(Debug)]
struct Port {
    wire: Arc<Wire>,
    address: SocketAddr,
}

impl Carrier for Port {
    fn send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        self.wire.queues.lock().unwrap().entry(to).or_default().push_back((self.address, datagram.to_vec()));
        self.wire.came.notify_all();
        Ok(())
    }

    fn receive(&self, buffer: &mut [u8], within: Duration) -> io::Result<Option<(usize, SocketAddr)>> {
        let queues = self.wire.queues.lock().unwrap();
        let empty = |queues: &mut HashMap<SocketAddr, Datagrams>| queues.entry(self.address).or_default().is_empty();
        let (mut queues, _) = self.wire.came.wait_timeout_while(queues, within, empty).unwrap();
        let Some((from, datagram)) = queues.entry(self.address).or_default().pop_front() else { return Ok(None) };
        buffer[..datagram.len()].copy_from_slice(&datagram);
        Ok(Some((datagram.len(), from)))
    }
}

/// Loses the datagram with this number, from 0.
struct Loses {
    port: Port,
    number: usize,
    sent: Mutex<Vec<Header>>,
}

impl Carrier for Loses {
    fn send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        let mut sent = self.sent.lock().unwrap();
        sent.push(Header::decode(datagram).unwrap().0);
        if sent.len() == self.number + 1 { Ok(()) } else { self.port.send(to, datagram) }
    }

    fn receive(&self, buffer: &mut [u8], within: Duration) -> io::Result<Option<(usize, SocketAddr)>> {
        self.port.receive(buffer, within)
    }
}

/// Counts how often an endpoint looks.
struct Looks {
    socket: UdpSocket,
    count: AtomicUsize,
}

impl Carrier for Looks {
    fn send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        Carrier::send(&self.socket, to, datagram)
    }

    fn receive(&self, buffer: &mut [u8], within: Duration) -> io::Result<Option<(usize, SocketAddr)>> {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.socket.receive(buffer, within)
    }
}

impl Wire {
    fn port(self: &Arc<Self>, number: u16) -> Port {
        Port { wire: Arc::clone(self), address: address(number) }
    }

    /// Takes the datagrams that were sent to an address and that nobody has received.
    fn take(&self, number: u16) -> Vec<Vec<u8>> {
        self.queues
            .lock()
            .unwrap()
            .remove(&address(number))
            .into_iter()
            .flatten()
            .map(|(_, datagram)| datagram)
            .collect()
    }
}

fn address(number: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], number))
}

fn soon(ms: u64) -> Until {
    Until::within(Duration::from_millis(ms))
}

/// Acknowledges a message; 0 packets are all of it.
fn ack(acked: u32, arrived: u32) -> Vec<u8> {
    Header { flag: Flag::Ack, count: 1, acked, arrived, ..Header::default() }.encode().to_vec()
}

fn data(id: u32, payload: &[u8]) -> Vec<u8> {
    [&Header { id, count: 1, ..Header::default() }.encode()[..], payload].concat()
}

#[test]
fn endpoints_may_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Endpoint<UdpSocket>>();
    shared::<Cancel>();
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// The server's endpoint acknowledges at once, and its answers are acknowledged.
    AtOnce,
    /// Answers acknowledge, and are acknowledged.
    Answer,
    /// Replies acknowledge, and the server hears no acknowledgements.
    Reply,
}

/// Three clients, each with an endpoint for two threads, call a server of two threads.
fn once(seed: u64, how: How) {
    let acknowledge = how == How::AtOnce;
    let wire = Arc::new(Wire::default());
    let faults = Faults { lost: 100, twice: 100, late: 150 };
    let settings = Settings { deadline: Duration::from_secs(20), acknowledge, ..Settings::default() };
    let server = Endpoint::with(Impaired::new(wire.port(1), faults, seed), settings);
    let seen = Mutex::new(HashMap::new());
    let mut orders = Vec::new();
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                // Ends also if a client fails.
                while let Ok(received) = server.recv_msg_until(&soon(40_000)) {
                    let key = received.message.get(1).unwrap().to_vec();
                    let length = received.message.get(2).map_or(0, <[u8]>::len);
                    *seen.lock().unwrap().entry(key.clone()).or_insert(0) += 1;
                    let answer = Message::new(1, 2).field(1, key).field(2, vec![9; length]);
                    if how == How::Reply {
                        server.reply(&received, &answer).unwrap();
                    } else {
                        server.answer(&received, &answer).unwrap();
                    }
                }
            });
        }
        let clients: Vec<_> = (0..3)
            .map(|client| {
                let wire = &wire;
                threads.spawn(move || {
                    let carrier = Impaired::new(wire.port(10 + client), faults, seed + 1 + u64::from(client));
                    let endpoint = Endpoint::with(carrier, settings);
                    std::thread::scope(|threads| {
                        for thread in 0..2 {
                            let endpoint = &endpoint;
                            threads.spawn(move || {
                                for number in 0..25 {
                                    let length = [0, 100, 3000, 16_000][number % 4];
                                    let key = format!("{client} {thread} {number}").into_bytes();
                                    let message = Message::new(1, 1).dispatch(1, key.clone()).field(2, vec![9; length]);
                                    let answer = endpoint.call(address(1), &message).unwrap();
                                    assert_eq!(answer.message.get(1), Some(&key[..]));
                                    assert_eq!(answer.message.get(2).unwrap(), vec![9; length]);
                                }
                            });
                        }
                    });
                    assert!(matches!(endpoint.recv_msg_until(&soon(0)), Err(Error::Timeout)));
                    (endpoint.counts(), endpoint)
                })
            })
            .collect();
        for client in clients {
            orders.push(client.join().unwrap());
        }
        // The clients acknowledge the last answers again as long as they wait for something.
        std::thread::scope(|threads| {
            for (_, endpoint) in &orders {
                threads.spawn(move || matches!(endpoint.recv_msg(), Err(Error::Closed)));
            }
            server.flush(&soon(30_000)).unwrap();
            orders.iter().for_each(|(_, endpoint)| endpoint.close());
        });
        server.close();
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 3 * 2 * 25);
    assert_eq!(seen.values().max(), Some(&1), "a message was received twice");
    let counts = server.counts();
    assert_eq!((counts.received, counts.late, counts.wrong), (150, 0, 0));
    assert!(counts.again > 10 && counts.repeated > 10, "{counts:?}");
    assert!(orders.iter().all(|(counts, _)| counts.received == 50 && counts.repeated > 0), "{orders:?}");
}

#[test]
fn each_message_arrives_once() {
    for seed in 0..3 {
        once(seed * 100, How::AtOnce);
    }
}

#[test]
fn each_message_arrives_once_if_answers_acknowledge() {
    once(1000, How::Answer);
}

#[test]
fn each_message_arrives_once_if_it_is_replied_to() {
    once(2000, How::Reply);
    once(2001, How::Reply);
}

/// A call ends with its reply, also if packets of the reply are lost, and nothing acknowledges the reply.
#[test]
fn a_reply_is_sent_again_with_its_message() {
    let wire = Arc::new(Wire::default());
    let client = Endpoint::new(wire.port(2));
    // A report of the first packet, and two packets of the reply, of which the second is lost.
    let carrier = Loses { port: wire.port(1), number: 2, sent: Mutex::default() };
    let server = Endpoint::with(carrier, Settings { acknowledge: false, ..Settings::default() });
    let answer = Message::new(1, 2).field(1, vec![5; 2000]);
    std::thread::scope(|threads| {
        let call = threads.spawn(|| client.call(address(1), &Message::new(1, 1).field(1, vec![4; 2000])));
        let received = server.recv_msg_until(&soon(5000)).unwrap();
        server.reply(&received, &answer).unwrap();
        while !call.is_finished() {
            assert!(matches!(server.recv_msg_until(&soon(20)), Err(Error::Timeout)));
        }
        assert_eq!(call.join().unwrap().unwrap().message.get(1), Some(&[5; 2000][..]));
    });
    let counts = server.counts();
    assert!(counts.received == 1 && counts.repeated >= 2 && counts.stray == 0, "{counts:?}");
    assert_eq!(server.unacknowledged(), 0);
    let sent = server.carrier().sent.lock().unwrap();
    assert_eq!(sent.iter().take(3).map(|one| one.flag).collect::<Vec<_>>(), [Flag::Ack, Flag::Data, Flag::Data]);
    // The client has not acknowledged it.
    assert!(wire.take(1).iter().all(|one| Header::decode(one).unwrap().0.flag == Flag::Data));
}

/// The network loses one of a message's three packets. The sender sends this packet alone again.
#[test]
fn a_lost_packet_is_sent_again() {
    let wire = Arc::new(Wire::default());
    let (client, server) = (Endpoint::new(wire.port(2)), Endpoint::new(wire.port(1)));
    let id = client.post(address(1), &Message::new(1, 1).field(3, vec![7; 4000])).unwrap();
    let mut sent = wire.take(1);
    assert_eq!(sent.len(), 3);
    sent.remove(1);
    sent.reverse();
    let stranger = wire.port(2);
    sent.iter().for_each(|datagram| stranger.send(address(1), datagram).unwrap());
    assert!(matches!(server.recv_msg_until(&soon(20)), Err(Error::Timeout)));
    assert!(matches!(client.recv_msg_until(&soon(150)), Err(Error::Timeout)));
    assert_eq!(client.counts().repeated, 1);
    let received = server.recv_msg_until(&soon(1000)).unwrap();
    assert_eq!((received.id, received.message.get(3).unwrap().len()), (id, 4000));
    client.wait(id, &soon(1000)).unwrap();
    assert_eq!((client.unacknowledged(), client.counts().acknowledged), (0, 1));
}

#[test]
fn acknowledgements_of_strangers_do_not_count() {
    let wire = Arc::new(Wire::default());
    let client = Endpoint::new(wire.port(2));
    let id = client.post(address(1), &Message::new(1, 1)).unwrap();
    let mut answer = data(5, b"\x01\x01x");
    answer[6..10].copy_from_slice(&id.to_be_bytes());
    let stranger = wire.port(3);
    for datagram in [ack(id, 0), ack(id, 1), answer.clone()] {
        stranger.send(address(2), &datagram).unwrap();
    }
    wire.port(1).send(address(2), &ack(id + 1, 0)).unwrap();
    // It is a message all the same.
    assert_eq!(client.recv_msg_until(&soon(1000)).unwrap().acknowledges, id);
    assert!(matches!(client.wait(id, &soon(20)), Err(Error::Timeout)));
    assert_eq!((client.unacknowledged(), client.counts().stray), (1, 4));
    wire.port(1).send(address(2), &ack(id, 0)).unwrap();
    client.wait(id, &soon(1000)).unwrap();
    // The answer of a stranger is none to a call.
    std::thread::scope(|threads| {
        let call = threads.spawn(|| client.call(address(1), &Message::new(1, 1)));
        let asked = loop {
            if let Some(sent) = wire.take(1).pop() {
                break Header::decode(&sent).unwrap().0.id;
            }
        };
        let id = if asked == id { id + 1 } else { asked };
        for (from, number) in [(3, b"\x01\x013"), (1, b"\x01\x011")] {
            let mut answer = data(9, number);
            answer[6..10].copy_from_slice(&id.to_be_bytes());
            wire.port(from).send(address(2), &answer).unwrap();
        }
        assert_eq!(call.join().unwrap().unwrap().message.get(1), Some(&b"1"[..]));
    });
}

#[test]
fn wrong_input_is_counted_and_skipped() {
    let wire = Arc::new(Wire::default());
    let server = Endpoint::new(wire.port(1));
    let stranger = wire.port(3);
    let wrong_count = [&Header { id: 3, count: 33, ..Header::default() }.encode()[..], b"x"].concat();
    for datagram in [b"noise".to_vec(), data(1, b"\x01\xffabc"), wrong_count, ack(77, 0), data(2, b"\x01\x02ok")] {
        stranger.send(address(1), &datagram).unwrap();
    }
    let received = server.recv_msg_until(&soon(1000)).unwrap();
    assert_eq!((received.id, received.message.get(1)), (2, Some(&b"ok"[..])));
    let counts = server.counts();
    assert_eq!((counts.noise, counts.wrong, counts.stray, counts.received), (2, 1, 1, 1));
    // The wrong message is not acknowledged, the right one is.
    let sent: Vec<u32> = wire.take(3).iter().map(|sent| Header::decode(sent).unwrap().0.acked).collect();
    assert_eq!(sent, [2]);
}

/// A call ends in time, also while datagrams of strangers arrive all the time.
#[test]
fn noise_does_not_extend_a_wait() {
    let wire = Arc::new(Wire::default());
    let client = Endpoint::new(wire.port(2));
    let end = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let stranger = wire.port(3);
            let begin = Instant::now();
            while !end.load(Ordering::Relaxed) && begin.elapsed() < Duration::from_secs(4) {
                stranger.send(address(2), b"noise").unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let begin = Instant::now();
        let results = [
            client.recv_msg_until(&soon(200)).map(|_| ()),
            client.send_msg_until(address(1), &Message::new(1, 1), &soon(200)).map(|_| ()),
            client.call_until(address(1), &Message::new(1, 1), &soon(200)).map(|_| ()),
        ];
        let time = begin.elapsed();
        end.store(true, Ordering::Relaxed);
        assert!(results.iter().all(|result| matches!(result, Err(Error::Timeout))), "{results:?}");
        assert!((600..3000).contains(&time.as_millis()), "{time:?}");
    });
    assert!(client.counts().noise > 20);
    assert_eq!((client.unacknowledged(), client.counts().late), (0, 2));
}

#[test]
fn other_threads_cancel_and_close() {
    let wire = Arc::new(Wire::default());
    let client = Endpoint::new(wire.port(2));
    let cancel = Cancel::default();
    let until = Until::forever().or(&cancel);
    let posted = client.post(address(1), &Message::new(1, 1)).unwrap();
    std::thread::scope(|threads| {
        let calls = [
            threads.spawn(|| client.call_until(address(1), &Message::new(1, 1), &until).map(|_| ())),
            threads.spawn(|| client.send_msg_until(address(1), &Message::new(1, 1), &until).map(|_| ())),
            threads.spawn(|| client.recv_msg_until(&until).map(|_| ())),
            threads.spawn(|| client.wait(posted, &Until::forever())),
        ];
        let receives = threads.spawn(|| client.recv_msg().map(|_| ()));
        std::thread::sleep(Duration::from_millis(100));
        let begin = Instant::now();
        cancel.cancel();
        assert!(client.cancel(posted) && !client.cancel(posted));
        for call in calls {
            assert!(matches!(call.join().unwrap(), Err(Error::Cancelled)));
        }
        assert_eq!(client.unacknowledged(), 0);
        assert!(!receives.is_finished());
        client.close();
        assert!(matches!(receives.join().unwrap(), Err(Error::Closed)));
        assert!(begin.elapsed() < Duration::from_secs(2));
    });
    assert!(matches!(client.post(address(1), &Message::new(1, 1)), Err(Error::Closed)));
    assert!(matches!(client.recv_msg(), Err(Error::Closed)));
}

/// Messages of an endpoint that is closed are not acknowledged.
#[test]
fn a_closed_endpoint_reports_no_success() {
    let wire = Arc::new(Wire::default());
    let client = Endpoint::new(wire.port(2));
    let posted = client.post(address(1), &Message::new(1, 1)).unwrap();
    std::thread::scope(|threads| {
        let calls = [
            threads.spawn(|| client.send_msg_until(address(1), &Message::new(1, 1), &Until::forever()).map(|_| ())),
            threads.spawn(|| client.wait(posted, &Until::forever())),
            threads.spawn(|| client.flush(&Until::forever())),
        ];
        std::thread::sleep(Duration::from_millis(100));
        client.close();
        for call in calls {
            assert!(matches!(call.join().unwrap(), Err(Error::Closed)));
        }
    });
    assert!(matches!(client.wait(posted, &soon(0)), Err(Error::Closed)));
    assert!(matches!(client.flush(&soon(0)), Err(Error::Closed)));
}

/// A message whose number the client knows is not given to the call, so the call goes on.
#[test]
fn a_known_message_does_not_end_a_call() {
    let wire = Arc::new(Wire::default());
    let client = Endpoint::new(wire.port(2));
    let server = wire.port(1);
    server.send(address(2), &data(5, b"\x01\x01x")).unwrap();
    assert_eq!(client.recv_msg_until(&soon(1000)).unwrap().id, 5);
    wire.take(1);
    let answer = |id: u32, acked: u32| {
        let mut answer = data(id, b"\x01\x01y");
        answer[6..10].copy_from_slice(&acked.to_be_bytes());
        answer
    };
    let asked = || {
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end {
            let sent = wire.take(1).into_iter().map(|sent| Header::decode(&sent).unwrap().0);
            if let Some(header) = sent.into_iter().find(|header| header.flag == Flag::Data) {
                return Some(header.id);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    };
    std::thread::scope(|threads| {
        let call = threads.spawn(|| client.call_until(address(1), &Message::new(1, 1), &soon(8000)));
        let id = asked().unwrap();
        server.send(address(2), &answer(5, id)).unwrap();
        let end = Instant::now() + Duration::from_secs(5);
        while client.counts().again == 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        wire.take(1);
        assert_eq!(asked(), Some(id), "the call does not ask any more");
        server.send(address(2), &answer(6, id)).unwrap();
        assert_eq!(call.join().unwrap().unwrap().id, 6);
    });
}

/// Two servers that reply to all they receive, and a datagram to one of them with the address of the other.
#[test]
fn servers_do_not_reply_to_replies() {
    let wire = Arc::new(Wire::default());
    let servers = [1, 2].map(|number| Endpoint::new(wire.port(number)));
    wire.port(2).send(address(1), &data(77, b"\x01\x01x")).unwrap();
    let mut received = Vec::new();
    for _ in 0..4 {
        for server in &servers {
            if let Ok(one) = server.recv_msg_until(&soon(20)) {
                server.reply(&one, &Message::new(0, 1)).unwrap();
                received.push(one.quiet);
            }
        }
    }
    assert_eq!(received, [false, true]);
}

/// Nothing can be sent to port 0.
#[test]
fn datagrams_from_port_0_are_noise() {
    let wire = Arc::new(Wire::default());
    let server = Endpoint::new(wire.port(1));
    wire.port(0).send(address(1), &data(1, b"\x01\x01x")).unwrap();
    assert!(matches!(server.recv_msg_until(&soon(20)), Err(Error::Timeout)));
    assert_eq!((server.counts().noise, server.counts().received, wire.take(0).len()), (1, 0, 0));
}

/// Fails to send, with this error.
struct Fails(Port, io::ErrorKind);

impl Carrier for Fails {
    fn send(&self, _: SocketAddr, _: &[u8]) -> io::Result<()> {
        Err(self.1.into())
    }

    fn receive(&self, buffer: &mut [u8], within: Duration) -> io::Result<Option<(usize, SocketAddr)>> {
        self.0.receive(buffer, within)
    }
}

/// A server goes on if one client cannot be reached, and not if its carrier has failed.
#[test]
fn a_reply_to_nowhere_is_lost() {
    let wire = Arc::new(Wire::default());
    let kinds = [io::ErrorKind::PermissionDenied, io::ErrorKind::InvalidInput, io::ErrorKind::HostUnreachable];
    for (number, kind) in (1..).zip(kinds.into_iter().chain([io::ErrorKind::BrokenPipe])) {
        let server = Endpoint::new(Fails(wire.port(number), kind));
        wire.port(9).send(address(number), &data(1, b"\x01\x01x")).unwrap();
        let received = server.recv_msg_until(&soon(1000)).unwrap();
        let unsent = server.counts().unsent;
        let replied = server.reply(&received, &Message::new(0, 1));
        assert_eq!(replied.is_err(), kind == io::ErrorKind::BrokenPipe, "{kind}");
        assert_eq!(server.counts().unsent, unsent + 1);
    }
}

/// An answer that comes when its call has ended is acknowledged, and the program does not get it.
#[test]
fn a_late_answer_is_nobodys() {
    let wire = Arc::new(Wire::default());
    let client = Endpoint::new(wire.port(2));
    assert!(matches!(client.call_until(address(1), &Message::new(1, 1), &soon(10)), Err(Error::Timeout)));
    let asked = Header::decode(&wire.take(1)[0]).unwrap().0.id;
    let mut answer = data(9, b"\x01\x01x");
    answer[6..10].copy_from_slice(&asked.to_be_bytes());
    wire.port(1).send(address(2), &answer).unwrap();
    assert!(matches!(client.recv_msg_until(&soon(20)), Err(Error::Timeout)));
    assert_eq!(Header::decode(&wire.take(1)[0]).unwrap().0.acked, 9);
}

/// Answers to a client that does not acknowledge them wait for its window. Those of another client do not.
#[test]
fn a_silent_client_stops_nobody() {
    let wire = Arc::new(Wire::default());
    let server = Endpoint::new(wire.port(1));
    for id in 1..=100 {
        wire.port(2).send(address(1), &data(id, b"x")).unwrap();
        let received = server.recv_msg_until(&soon(1000)).unwrap();
        server.answer(&received, &Message::new(1, 1)).unwrap();
    }
    let answers =
        |sent: &[Vec<u8>]| sent.iter().filter(|one| Header::decode(one).unwrap().0.flag == Flag::Data).count();
    assert_eq!(answers(&wire.take(2)), 64);
    wire.port(3).send(address(1), &data(1, b"x")).unwrap();
    let received = server.recv_msg_until(&soon(1000)).unwrap();
    server.answer(&received, &Message::new(1, 1)).unwrap();
    assert_eq!(answers(&wire.take(3)), 1);
    assert_eq!(server.unacknowledged(), 101);
}

/// A message for which there is no room is not acknowledged, and arrives when there is.
#[test]
fn a_full_receiver_loses_nothing() {
    let wire = Arc::new(Wire::default());
    let limits = Limits { each: 1000, ..Limits::default() };
    let server = Endpoint::with(wire.port(1), Settings { limits, ..Settings::default() });
    let client = Endpoint::new(wire.port(2));
    let ids: Vec<u32> =
        (0..10).map(|_| client.post(address(1), &Message::new(1, 1).field(1, vec![0; 200])).unwrap()).collect();
    // The server only sends, so nobody takes its messages.
    assert!(matches!(server.send_msg_until(address(9), &Message::new(1, 1), &soon(100)), Err(Error::Timeout)));
    assert_eq!((server.counts().received, server.counts().full), (2, 8));
    // Those two alone are acknowledged. The acknowledgements are lost here.
    assert_eq!(wire.take(2).len(), 2);
    std::thread::scope(|threads| {
        let flushed = threads.spawn(|| client.flush(&soon(10_000)));
        let got: HashSet<u32> = (0..10).map(|_| server.recv_msg_until(&soon(10_000)).unwrap().id).collect();
        assert_eq!(got, ids.into_iter().collect());
        assert!(matches!(server.recv_msg_until(&soon(100)), Err(Error::Timeout)));
        flushed.join().unwrap().unwrap();
    });
}

/// A server returns the first message of a client that was started again at the same address.
#[test]
fn a_client_starts_again() {
    let wire = Arc::new(Wire::default());
    let server = Endpoint::new(wire.port(1));
    for text in ["before", "after"] {
        let client = Endpoint::new(wire.port(2));
        client.post(address(1), &Message::new(1, 1).field(3, text)).unwrap();
        assert_eq!(server.recv_msg_until(&soon(1000)).unwrap().message.get(3), Some(text.as_bytes()));
    }
}

/// A wait without time takes what has arrived, and does not wait.
#[test]
fn a_wait_of_nothing_looks() {
    let server = Endpoint::new(Looks { socket: UdpSocket::bind("127.0.0.1:0").unwrap(), count: AtomicUsize::new(0) });
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    for id in 1..=3 {
        stranger.send_to(&data(id, b"\x01\x00"), server.carrier().socket.local_addr().unwrap()).unwrap();
    }
    let ids: Vec<u32> = std::iter::from_fn(|| server.recv_msg_until(&soon(0)).ok()).map(|one| one.id).collect();
    assert_eq!(ids, [1, 2, 3]);
    let looks = server.carrier().count.swap(0, Ordering::Relaxed);
    assert_eq!(looks, 4);
    // The socket blocks again.
    assert!(matches!(server.recv_msg_until(&soon(100)), Err(Error::Timeout)));
    assert!(server.carrier().count.load(Ordering::Relaxed) <= 6);
}

/// A socket of IPv6 takes IPv4, and shows its addresses in another form.
#[test]
fn sockets_of_both_families_work() {
    let server = Endpoint::new(UdpSocket::bind("[::]:0").unwrap());
    let client = Endpoint::new(UdpSocket::bind("127.0.0.1:0").unwrap());
    let at = SocketAddr::from(([127, 0, 0, 1], server.carrier().local_addr().unwrap().port()));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let received = server.recv_msg().unwrap();
            assert_eq!(received.from, client.carrier().local_addr().unwrap());
        });
        client.send_msg(at, &Message::new(1, 1).field(1, "x")).unwrap();
    });
}
