// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Sends and receives messages. An answer acknowledges a message; a message that is not acknowledged can be sent again.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

use crate::assemble::{Added, Assembler, Limits};
use crate::carrier::{Carrier, LONGEST};
use crate::error::Error;
use crate::header::{Flag, Header};
use crate::message::Message;

/// Messages that wait for an acknowledgement; the oldest one is forgotten if there are more.
const WAITING: usize = 4096;

/// A received message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Its source. With [`Received::id`] it is the handle of the message: [`Endpoint::answer`] takes both.
    pub from: SocketAddr,
    /// Its number.
    pub id: u32,
    /// Number of the message that it acknowledges; 0: none.
    pub acknowledges: u32,
    /// The message.
    pub message: Message,
}

/// One side of a conversation.
#[derive(Debug)]
pub struct Endpoint<C> {
    carrier: C,
    assembler: Assembler,
    /// Number of the next message; 0 is none.
    next: u32,
    waiting: BTreeMap<u32, (SocketAddr, Vec<Vec<u8>>)>,
    buffer: Vec<u8>,
}

/// A number for a first message. It is random: if it were the same for all, receivers would take the first messages of a
/// program that was started again for those that they have had.
fn first_number() -> u32 {
    (RandomState::new().hash_one(0) as u32).max(1)
}

impl<C: Carrier> Endpoint<C> {
    /// An endpoint over a carrier. The numbers of its messages begin at random.
    pub fn new(carrier: C) -> Self {
        let assembler = Assembler::new(Limits::default());
        Self { carrier, assembler, next: first_number(), waiting: BTreeMap::new(), buffer: vec![0; LONGEST] }
    }

    /// The carrier.
    pub fn carrier(&self) -> &C {
        &self.carrier
    }

    /// Sends a message; gives its number.
    ///
    /// # Errors
    /// The message is too long, or the carrier fails.
    pub fn send_msg(&mut self, to: SocketAddr, message: &Message) -> Result<u32, Error> {
        self.send(to, message, 0)
    }

    /// Sends a message that answers another one, and acknowledges it; gives its number.
    ///
    /// # Errors
    /// The message is too long, or the carrier fails.
    pub fn answer(&mut self, received: &Received, message: &Message) -> Result<u32, Error> {
        self.send(received.from, message, received.id)
    }

    fn send(&mut self, to: SocketAddr, message: &Message, acked: u32) -> Result<u32, Error> {
        let id = self.next;
        let datagrams = message.datagrams(id, acked)?;
        self.next = self.next.checked_add(1).unwrap_or(1);
        for datagram in &datagrams {
            self.carrier.send(to, datagram)?;
        }
        if self.waiting.len() == WAITING {
            self.waiting.pop_first();
        }
        self.waiting.insert(id, (to, datagrams));
        Ok(id)
    }

    /// Acknowledges a message without an answer.
    ///
    /// # Errors
    /// The carrier fails.
    pub fn acknowledge(&mut self, received: &Received) -> Result<(), Error> {
        let Message { application, of_type, .. } = received.message;
        self.send_ack(received.from, Header { application, of_type, acked: received.id, ..Header::default() })
    }

    fn send_ack(&mut self, to: SocketAddr, header: Header) -> Result<(), Error> {
        let header = Header { flag: Flag::Ack, count: 1, ..header };
        Ok(self.carrier.send(to, &header.encode())?)
    }

    /// Waits for the next whole message. Datagrams that are none of QNP are skipped. A message that comes again is
    /// acknowledged again and not given twice.
    ///
    /// # Errors
    /// The carrier fails, or gives up waiting; or the fields of a message are wrong.
    pub fn recv_msg(&mut self) -> Result<Received, Error> {
        loop {
            let (length, from) = self.carrier.receive(&mut self.buffer)?;
            let Ok((header, payload)) = Header::decode(&self.buffer[..length]) else { continue };
            self.waiting.remove(&header.acked);
            if header.flag == Flag::Ack {
                continue;
            }
            let added = self.assembler.add(from, &header, payload);
            let Header { application, of_type, id, acked, .. } = header;
            match added {
                Added::Whole(payload) => {
                    let message = Message::decode(application, of_type, &payload)?;
                    return Ok(Received { from, id, acknowledges: acked, message });
                }
                Added::Again => self.send_ack(from, Header { application, of_type, acked: id, ..Header::default() })?,
                Added::Waits | Added::Refused => {}
            }
        }
    }

    /// Messages without an acknowledgement.
    pub fn unacknowledged(&self) -> usize {
        self.waiting.len()
    }

    /// Sends all messages without an acknowledgement again; [`Endpoint::recv_msg`] processes acknowledgements that have
    /// arrived.
    ///
    /// # Errors
    /// The carrier fails.
    pub fn send_again(&mut self) -> Result<(), Error> {
        for (to, datagrams) in self.waiting.values() {
            for datagram in datagrams {
                self.carrier.send(*to, datagram)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::VecDeque;
    use std::io;

    use super::*;

    /// A carrier whose datagrams the test moves.
    #[derive(Debug, Default)]
    struct Hands {
        out: Vec<(SocketAddr, Vec<u8>)>,
        come: VecDeque<(SocketAddr, Vec<u8>)>,
    }

    impl Carrier for Hands {
        fn send(&mut self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
            self.out.push((to, datagram.to_vec()));
            Ok(())
        }

        fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
            let (from, datagram) = self.come.pop_front().ok_or(io::ErrorKind::WouldBlock)?;
            buffer[..datagram.len()].copy_from_slice(&datagram);
            Ok((datagram.len(), from))
        }
    }

    #[test]
    fn a_lost_answer_is_no_second_message() {
        let at = SocketAddr::from(([10, 0, 0, 1], 7));
        let (mut client, mut server) = (Endpoint::new(Hands::default()), Endpoint::new(Hands::default()));
        client.send_msg(at, &Message::new(1, 1).field(3, vec![1; 2000])).unwrap();
        // The last packet arrives first, with another message in between.
        let mut sent = std::mem::take(&mut client.carrier.out);
        sent.reverse();
        sent.insert(1, (at, b"noise".to_vec()));
        server.carrier.come.extend(sent);
        let received = server.recv_msg().unwrap();
        assert_eq!(received.message.get(3).map(<[u8]>::len), Some(2000));
        assert!(matches!(server.recv_msg(), Err(Error::Carrier(_))));
        // The server answers, and the answer is lost.
        server.answer(&received, &Message::new(1, 1)).unwrap();
        server.carrier.out.clear();
        client.send_again().unwrap();
        assert_eq!(client.carrier.out.len(), 2);
        server.carrier.come.extend(std::mem::take(&mut client.carrier.out));
        assert!(matches!(server.recv_msg(), Err(Error::Carrier(_))));
        assert_eq!(client.unacknowledged(), 1);
        client.carrier.come.extend(std::mem::take(&mut server.carrier.out));
        assert!(matches!(client.recv_msg(), Err(Error::Carrier(_))));
        assert_eq!(client.unacknowledged(), 0);
    }

    /// A server gives the first message of a client that was started again at the same address.
    #[test]
    fn a_client_starts_again() {
        let at = SocketAddr::from(([10, 0, 0, 1], 7));
        let mut server = Endpoint::new(Hands::default());
        for text in ["before", "after"] {
            let mut client = Endpoint::new(Hands::default());
            client.send_msg(at, &Message::new(1, 1).field(3, text)).unwrap();
            server.carrier.come.extend(client.carrier.out);
            assert_eq!(server.recv_msg().unwrap().message.get(3), Some(text.as_bytes()));
        }
    }

    #[test]
    fn an_answer_acknowledges() {
        let at = SocketAddr::from(([10, 0, 0, 1], 7));
        let (mut client, mut server) = (Endpoint::new(Hands::default()), Endpoint::new(Hands::default()));
        client.next = 1;
        client.send_msg(at, &Message::new(1, 1).field(3, "first")).unwrap();
        let id = client.send_msg(at, &Message::new(1, 1).field(3, "second")).unwrap();
        server.carrier.come.push_back(client.carrier.out.pop().unwrap());
        let received = server.recv_msg().unwrap();
        server.answer(&received, &Message::new(1, 1)).unwrap();
        client.carrier.come.extend(std::mem::take(&mut server.carrier.out));
        assert_eq!(client.recv_msg().unwrap().acknowledges, id);
        assert_eq!(client.waiting.keys().collect::<Vec<_>>(), [&1]);
        // Without an answer
        server.acknowledge(&Received { id: 1, ..received }).unwrap();
        client.carrier.come.extend(std::mem::take(&mut server.carrier.out));
        assert!(matches!(client.recv_msg(), Err(Error::Carrier(_))));
        assert_eq!(client.unacknowledged(), 0);
    }

    #[test]
    fn numbers_begin_again_and_the_oldest_is_forgotten() {
        let at = SocketAddr::from(([10, 0, 0, 1], 7));
        let mut client = Endpoint::new(Hands::default());
        client.next = 1;
        for id in 1..=4097 {
            assert_eq!(client.send_msg(at, &Message::new(1, 1)).unwrap(), id);
        }
        assert_eq!((client.unacknowledged(), client.waiting.first_key_value().unwrap().0), (4096, &2));
        client.next = u32::MAX;
        assert_eq!(client.send_msg(at, &Message::new(1, 1)).unwrap(), u32::MAX);
        assert_eq!(client.send_msg(at, &Message::new(1, 1)).unwrap(), 1);
    }
}
