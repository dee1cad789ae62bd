// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A key-value service behind a card that chooses servers by the prefix of the key (designs/l7-kv.toml), and its load.
//!
//! ```text
//! kv serve ADDRESS STORE [SEED]           a server with a store of its own
//! kv load ADDRESS LOG SENDERS MESSAGES SEED
//!                                         senders that put and get keys; LOG tells what each of them has put
//! kv dump STORE                           what a server was told to put: sender, number and key, in order
//! ```
//!
//! With a seed, a server loses, duplicates and reorders what it sends, and the load always does. Each sender waits for
//! the reply to a message before it sends the next one, so its messages arrive in order. A server replies when its store
//! is on the disk.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

#[rustfmt::skip]
#[allow(dead_code, unreachable_pub)]
mod messages;

use messages::{APPLICATION_KV, Get, Put, Reply};
use penstock_qnp::{Counts, Endpoint, Faults, Impaired, Message, Received, Settings, Until};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

type Anything<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Values by key.
const VALUES: TableDefinition<&[u8], &[u8]> = TableDefinition::new("values");
/// All puts, in order: sender, number, key.
const PUTS: TableDefinition<u64, (u32, u32, &[u8])> = TableDefinition::new("puts");

/// Messages that are written to the disk at once.
const BATCH: usize = 64;
/// Of a thousand datagrams
const FAULTS: Faults = Faults { lost: 50, twice: 50, late: 50 };

/// Keys of the load. The most frequent one is the first.
const KEYS: usize = 1000;
const ZIPF: f64 = 0.9;
const PREFIXES: [&str; 4] = ["cart:", "item:", "page:", "user:"];

fn main() -> Anything<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", address, store] => serve(address, Path::new(store), None),
        ["serve", address, store, seed] => serve(address, Path::new(store), Some(seed.parse()?)),
        ["load", address, log, senders, messages, seed] => {
            load(address.parse()?, Path::new(log), senders.parse()?, messages.parse()?, seed.parse()?)
        }
        ["dump", store] => dump(Path::new(store)),
        _ => Err("usage: kv serve ADDRESS STORE [SEED] | load ADDRESS LOG SENDERS MESSAGES SEED | dump STORE".into()),
    }
}

fn print(text: &str) -> Anything<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

fn serve(address: &str, store: &Path, seed: Option<u64>) -> Anything<()> {
    let store = Database::create(store)?;
    let begin = store.begin_write()?;
    begin.open_table(VALUES)?;
    begin.open_table(PUTS)?;
    begin.commit()?;
    let faults = seed.map_or(Faults::default(), |_| FAULTS);
    let carrier = Impaired::new(UdpSocket::bind(address)?, faults, seed.unwrap_or(0));
    // Replies acknowledge.
    let endpoint = Endpoint::with(carrier, Settings { acknowledge: false, ..Settings::default() });
    print("ready")?;
    loop {
        let mut batch = vec![endpoint.recv_msg()?];
        while batch.len() < BATCH
            && let Ok(received) = endpoint.recv_msg_until(&Until::within(Duration::ZERO))
        {
            batch.push(received);
        }
        let replies = carry_out(&store, &batch)?;
        for (received, reply) in batch.iter().zip(replies) {
            // A client that cannot be reached does not end the server.
            if let Err(error) = endpoint.reply(received, &reply) {
                print(&format!("no reply to {}: {error}", received.from))?;
            }
        }
    }
}

/// Carries messages out in one transaction; gives the reply to each.
fn carry_out(store: &Database, batch: &[Received]) -> Anything<Vec<Message>> {
    let write = store.begin_write()?;
    let mut replies = Vec::new();
    {
        let mut values = write.open_table(VALUES)?;
        let mut puts = write.open_table(PUTS)?;
        let mut next = puts.last()?.map_or(0, |(last, _)| last.value() + 1);
        for Received { message, .. } in batch {
            let mut reply = Reply::default();
            // Other messages, and those without a key, get an empty reply.
            if let Ok(Put { key: Some(key), sender, number, value: Some(value) }) = Put::decode(message) {
                values.insert(&key[..], &value[..])?;
                puts.insert(next, (sender.unwrap_or(0), number.unwrap_or(0), &key[..]))?;
                next += 1;
            } else if let Ok(Get { key: Some(key) }) = Get::decode(message) {
                reply.value = values.get(&key[..])?.map(|value| value.value().to_vec());
            }
            replies.push(reply.encode(APPLICATION_KV));
        }
    }
    write.commit()?;
    Ok(replies)
}

fn dump(store: &Path) -> Anything<()> {
    let store = Database::open(store)?;
    let read = store.begin_read()?;
    let mut text = String::new();
    for row in read.open_table(PUTS)?.iter()? {
        let (_, row) = row?;
        let (sender, number, key) = row.value();
        writeln!(text, "{sender} {number} {}", String::from_utf8_lossy(key))?;
    }
    print(text.trim_end())
}

/// Chooses keys: the key of rank r comes as often as 1 / r^0.9.
struct Zipf {
    random: u64,
    sums: Vec<f64>,
}

impl Zipf {
    fn new(seed: u64) -> Self {
        let mut sum = 0.0;
        let add = |rank: usize| {
            sum += (rank as f64).powf(-ZIPF);
            sum
        };
        Self { random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, sums: (1..=KEYS).map(add).collect() }
    }

    fn key(&mut self) -> String {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let all = self.sums.last().copied().unwrap_or(1.0);
        let at = (self.random >> 11) as f64 / (1_u64 << 53) as f64 * all;
        let rank = self.sums.partition_point(|sum| *sum < at).min(KEYS - 1);
        format!("{}{rank}", PREFIXES[rank % PREFIXES.len()])
    }
}

/// The counts of a sender.
struct Sent {
    log: String,
    times: Vec<Duration>,
    counts: Counts,
}

fn load(to: SocketAddr, log: &Path, senders: u32, messages: u32, seed: u64) -> Anything<()> {
    let sent = std::thread::scope(|threads| {
        let started: Vec<_> =
            (0..senders).map(|sender| threads.spawn(move || send(to, sender, messages, seed))).collect();
        started.into_iter().map(|one| one.join().map_err(|_| "a sender failed")?).collect::<Anything<Vec<Sent>>>()
    })?;
    std::fs::write(log, sent.iter().map(|one| one.log.as_str()).collect::<String>())?;
    let mut times: Vec<Duration> = sent.iter().flat_map(|one| one.times.iter().copied()).collect();
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_micros();
    let sum = |of: fn(&Counts) -> u64| sent.iter().map(|one| of(&one.counts)).sum::<u64>();
    print(&format!(
        "messages {} p50_us {} p99_us {} repeated {} again {} received {}",
        times.len(),
        at(50),
        at(99),
        sum(|counts| counts.repeated),
        sum(|counts| counts.again),
        sum(|counts| counts.received),
    ))
}

fn send(to: SocketAddr, sender: u32, messages: u32, seed: u64) -> Anything<Sent> {
    let any: SocketAddr = if to.is_ipv4() { "0.0.0.0:0".parse()? } else { "[::]:0".parse()? };
    let seed = seed * 1_000_003 + u64::from(sender);
    let carrier = Impaired::new(UdpSocket::bind(any)?, FAULTS, seed);
    let endpoint = Endpoint::with(carrier, Settings { deadline: Duration::from_secs(20), ..Settings::default() });
    let mut keys = Zipf::new(seed);
    let mut sent = Sent { log: String::new(), times: Vec::new(), counts: Counts::default() };
    for number in 0..messages {
        let key = keys.key();
        let message = if number % 4 == 3 {
            Get { key: Some(key.clone().into()) }.encode(APPLICATION_KV)
        } else {
            // One value of eight takes three packets.
            let value = [key.as_bytes(), &vec![b'='; if number % 8 == 0 { 4000 } else { 64 }]].concat();
            writeln!(sent.log, "{sender} {number} {key}")?;
            let (sender, number, value) = (Some(sender), Some(number), Some(value));
            Put { key: Some(key.clone().into()), sender, number, value }.encode(APPLICATION_KV)
        };
        let begin = Instant::now();
        let reply = endpoint.call(to, &message)?;
        sent.times.push(begin.elapsed());
        // The value of a key begins with the key.
        let value = Reply::decode(&reply.message)?.value;
        if value.is_some_and(|value| !value.starts_with(format!("{key}=").as_bytes())) {
            return Err(format!("another key's value for {key}").into());
        }
    }
    sent.counts = endpoint.counts();
    Ok(sent)
}
