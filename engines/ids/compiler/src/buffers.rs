// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Buffers of application protocols: the keywords that name them, and what a rule asks of messages.

use penstock_app::{Field, Protocol};

use crate::dates::DateTest;
use crate::events::MessageEvent;
use crate::rule::{Protocol as Carrier, Step};
use crate::transforms::Transform;
use crate::wire::Wire;

/// A rule's conditions on the messages of a protocol.
#[derive(Debug, Clone)]
pub struct Messages {
    /// The protocol; None: any that has files.
    pub protocol: Option<Protocol>,
    /// Direction of the messages: to the server or to the client; None: both.
    pub to_server: Option<bool>,
    /// Conditions; all hold for one message.
    pub groups: Vec<Group>,
    /// Conditions on the validity of a certificate.
    pub dates: Vec<DateTest>,
    /// A command PORT of FTP names another address than that of the client.
    pub bounces: bool,
    /// Events that it has.
    pub events: Vec<MessageEvent>,
}

impl Messages {
    /// The stage of a message with which the conditions can be evaluated.
    #[must_use]
    pub fn stage(&self) -> u8 {
        let fields = self.groups.iter().map(|group| group.field).chain(self.dates.iter().map(|date| date.field));
        let events = self.events.iter().map(|event| event.stage());
        fields.map(Field::stage).chain(events).max().unwrap_or_default()
    }
}

/// Conditions on one field of a message: one of the fields of this kind meets them all.
#[derive(Debug, Clone)]
pub struct Group {
    /// The field.
    pub field: Field,
    /// The transforms of its bytes.
    pub transforms: Vec<Transform>,
    /// The conditions.
    pub steps: Vec<Step>,
    /// The result for a message without the field.
    pub absent: Absent,
}

/// The result for a message without a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Absent {
    /// No condition on the field.
    #[default]
    Never,
    /// All conditions on the field: it is not there, or it meets them.
    OrElse,
    /// The one condition that there is: it is not there.
    Must,
}

/// The protocol of a direction or a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoken {
    /// A protocol whose messages the engine reads.
    Read(Protocol),
    /// One that it knows by first bytes.
    Known(Wire),
    /// None that it knows.
    Nothing,
}

impl Spoken {
    /// The protocol with this name in rules, and what carries it.
    pub(crate) fn named(name: &str) -> Option<(Self, Carrier)> {
        match protocol(name) {
            Some(Protocol::Dns) => Some((Self::Read(Protocol::Dns), Carrier::Ip)),
            Some(read) => Some((Self::Read(read), Carrier::Tcp)),
            None => Wire::named(name).map(|(wire, carrier)| (Self::Known(wire), carrier)),
        }
    }

    /// Its name in rules and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read(protocol) => protocol.name(),
            Self::Known(wire) => wire.name(),
            Self::Nothing => "failed",
        }
    }
}

/// A condition on the protocol of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// The protocol.
    pub protocol: Spoken,
    /// It is any other, or none.
    pub negated: bool,
}

/// A keyword after which contents are about a buffer: the field, and the direction if the keyword says it.
type Named = (&'static str, Field, Option<bool>);

const TO_SERVER: Option<bool> = Some(true);
const TO_CLIENT: Option<bool> = Some(false);

/// Sticky buffers.
const STICKY: [Named; 59] = [
    ("http.method", Field::Method, TO_SERVER),
    ("http.uri", Field::Uri, TO_SERVER),
    ("http.uri.raw", Field::UriRaw, TO_SERVER),
    ("http.request_line", Field::Line, TO_SERVER),
    ("http.response_line", Field::Line, TO_CLIENT),
    ("http.protocol", Field::Version, None),
    ("http.stat_code", Field::StatusCode, TO_CLIENT),
    ("http.stat_msg", Field::StatusMessage, TO_CLIENT),
    ("http.header", Field::Headers, None),
    ("http.header.raw", Field::HeadersRaw, None),
    ("http.header_names", Field::HeaderNames, None),
    ("http.request_header", Field::Header, TO_SERVER),
    ("http.response_header", Field::Header, TO_CLIENT),
    ("http.start", Field::Start, None),
    ("http.user_agent", Field::UserAgent, TO_SERVER),
    ("http.host", Field::Host, TO_SERVER),
    ("http.host.raw", Field::HostRaw, TO_SERVER),
    ("http.accept", Field::Accept, TO_SERVER),
    ("http.accept_enc", Field::AcceptEncoding, TO_SERVER),
    ("http.accept_lang", Field::AcceptLanguage, TO_SERVER),
    ("http.referer", Field::Referer, TO_SERVER),
    ("http.connection", Field::Connection, None),
    ("http.content_type", Field::ContentType, None),
    ("http.content_len", Field::ContentLength, None),
    ("http.cookie", Field::Cookie, None),
    ("http.server", Field::Server, TO_CLIENT),
    ("http.location", Field::Location, TO_CLIENT),
    ("http_accept", Field::Accept, TO_SERVER),
    ("http_accept_enc", Field::AcceptEncoding, TO_SERVER),
    ("http_accept_lang", Field::AcceptLanguage, TO_SERVER),
    ("http_connection", Field::Connection, None),
    ("http_content_type", Field::ContentType, None),
    ("http_content_len", Field::ContentLength, None),
    ("http_header_names", Field::HeaderNames, None),
    ("http_protocol", Field::Version, None),
    ("http_referer", Field::Referer, TO_SERVER),
    ("http_request_line", Field::Line, TO_SERVER),
    ("http_response_line", Field::Line, TO_CLIENT),
    ("http_start", Field::Start, None),
    ("dns.query", Field::Query, TO_SERVER),
    ("dns_query", Field::Query, TO_SERVER),
    ("dns.queries.rrname", Field::QuestionName, None),
    ("dns.answers.rrname", Field::AnswerName, None),
    ("tls.sni", Field::ServerName, TO_SERVER),
    ("tls_sni", Field::ServerName, TO_SERVER),
    ("tls.cert_subject", Field::Subject, None),
    ("tls_cert_subject", Field::Subject, None),
    ("tls.cert_issuer", Field::Issuer, None),
    ("tls_cert_issuer", Field::Issuer, None),
    ("tls.cert_serial", Field::Serial, None),
    ("tls_cert_serial", Field::Serial, None),
    ("tls.cert_fingerprint", Field::Fingerprint, None),
    ("tls_cert_fingerprint", Field::Fingerprint, None),
    ("tls.certs", Field::Certificate, None),
    ("tls.alpn", Field::Alpn, None),
    ("ja3.hash", Field::Ja3Hash, TO_SERVER),
    ("ja3_hash", Field::Ja3Hash, TO_SERVER),
    ("ja3.string", Field::Ja3String, TO_SERVER),
    ("ja3_string", Field::Ja3String, TO_SERVER),
];

/// More sticky buffers.
const MORE: [Named; 45] = [
    // Names that these two had before.
    ("dns.query.name", Field::QuestionName, None),
    ("dns.answer.name", Field::AnswerName, None),
    ("ja3s.hash", Field::Ja3sHash, TO_CLIENT),
    ("ja3s.string", Field::Ja3sString, TO_CLIENT),
    ("ja4.hash", Field::Ja4, TO_SERVER),
    ("http.trailer", Field::Trailer, None),
    ("dns.authorities.rrname", Field::AuthorityName, None),
    ("dns.additionals.rrname", Field::AdditionalName, None),
    ("dns.response.rrname", Field::ResponseName, TO_CLIENT),
    ("tls.random", Field::Random, None),
    ("tls.random_time", Field::RandomTime, None),
    ("tls.random_bytes", Field::RandomBytes, None),
    ("tls.subjectaltname", Field::AlternativeName, None),
    ("ssh.proto", Field::SshProto, None),
    ("ssh_proto", Field::SshProto, None),
    ("ssh.software", Field::SshSoftware, None),
    ("ssh_software", Field::SshSoftware, None),
    ("ssh.hassh", Field::Hassh, TO_SERVER),
    ("ssh.hassh.string", Field::HasshString, TO_SERVER),
    ("ssh.hassh.server", Field::HasshServer, TO_CLIENT),
    ("ssh.hassh.server.string", Field::HasshServerString, TO_CLIENT),
    ("smtp.helo", Field::Helo, TO_SERVER),
    ("smtp.mail_from", Field::MailFrom, TO_SERVER),
    ("smtp.rcpt_to", Field::Recipient, TO_SERVER),
    ("ftp.command", Field::FtpCommand, TO_SERVER),
    ("ftp.command_data", Field::FtpCommandData, TO_SERVER),
    ("ftp.reply", Field::FtpReply, TO_CLIENT),
    ("ftp.completion_code", Field::FtpCode, TO_CLIENT),
    ("file.name", Field::FileName, None),
    ("file_name", Field::FileName, None),
    ("filesize", Field::FileSize, None),
    ("filemd5", Field::FileMd5, None),
    ("filesha1", Field::FileSha1, None),
    ("filesha256", Field::FileSha256, None),
    ("tls.cert_chain_len", Field::ChainLength, TO_CLIENT),
    ("tls_cert_notbefore", Field::NotBefore, TO_CLIENT),
    ("tls_cert_notafter", Field::NotAfter, TO_CLIENT),
    ("http.request_body", Field::Body, TO_SERVER),
    ("http.response_body", Field::Body, TO_CLIENT),
    ("file.data", Field::File, None),
    ("file_data", Field::File, None),
    ("tls.version", Field::TlsVersion, None),
    ("dns.opcode", Field::Opcode, None),
    ("dns.rcode", Field::ResponseCode, None),
    ("dns.rrtype", Field::RecordType, None),
];

/// Names of fields that have a value in place of contents behind them.
const VALUES: [&str; 11] = [
    "filesize",
    "filemd5",
    "filesha1",
    "filesha256",
    "tls.cert_chain_len",
    "tls_cert_notbefore",
    "tls_cert_notafter",
    "tls.version",
    "dns.opcode",
    "dns.rcode",
    "dns.rrtype",
];

/// Keywords behind a content that say which buffer it is about, and the letter for `pcre`.
const MODIFIERS: [(&str, char, Field, Option<bool>); 14] = [
    ("http_uri", 'U', Field::Uri, TO_SERVER),
    ("http_raw_uri", 'I', Field::UriRaw, TO_SERVER),
    ("http_method", 'M', Field::Method, TO_SERVER),
    ("http_header", 'H', Field::Headers, None),
    ("http_raw_header", 'D', Field::HeadersRaw, None),
    ("http_cookie", 'C', Field::Cookie, None),
    ("http_user_agent", 'V', Field::UserAgent, TO_SERVER),
    ("http_host", 'W', Field::Host, TO_SERVER),
    ("http_raw_host", 'Z', Field::HostRaw, TO_SERVER),
    ("http_client_body", 'P', Field::Body, TO_SERVER),
    ("http_server_body", 'Q', Field::Body, TO_CLIENT),
    ("http_stat_code", 'S', Field::StatusCode, TO_CLIENT),
    ("http_stat_msg", 'Y', Field::StatusMessage, TO_CLIENT),
    ("http_request_body", '\0', Field::Body, TO_SERVER),
];

/// The sticky buffer with this name.
pub(crate) fn sticky(keyword: &str) -> Option<(Field, Option<bool>)> {
    let mut all = STICKY.iter().chain(&MORE).filter(|(name, ..)| !VALUES.contains(name));
    all.find(|(name, ..)| *name == keyword).map(|(_, field, way)| (*field, *way))
}

/// The buffer that this modifier of a content names.
pub(crate) fn modifier(keyword: &str) -> Option<(Field, Option<bool>)> {
    MODIFIERS.iter().find(|(name, ..)| *name == keyword).map(|(_, _, field, way)| (*field, *way))
}

/// The buffer that this flag of `pcre` names.
pub(crate) fn flag(letter: char) -> Option<(Field, Option<bool>)> {
    MODIFIERS.iter().find(|(_, known, ..)| *known == letter && letter != '\0').map(|(_, _, field, way)| (*field, *way))
}

/// Name of a field in rules.
#[must_use]
pub fn name(field: Field) -> &'static str {
    match field {
        Field::Body => "body",
        _ => STICKY.iter().chain(&MORE).find(|(_, known, _)| *known == field).map_or("", |(name, ..)| name),
    }
}

/// Whether a message may have several fields of this kind. Each time that a rule names such a buffer it means one of
/// them.
pub(crate) fn is_many(field: Field) -> bool {
    matches!(
        field,
        Field::Header
            | Field::Query
            | Field::QuestionName
            | Field::AnswerName
            | Field::AuthorityName
            | Field::AdditionalName
            | Field::ResponseName
            | Field::AlternativeName
            | Field::Recipient
            | Field::File
            | Field::FtpReply
            | Field::RecordType
            | Field::Alpn
            | Field::Certificate
    )
}

/// Protocol by its name in rules.
pub(crate) fn protocol(name: &str) -> Option<Protocol> {
    Protocol::ALL.into_iter().find(|protocol| {
        // Rules name TLS also by the name that it had.
        protocol.name() == name
            || *protocol == Protocol::Http && name == "http1"
            || *protocol == Protocol::Tls && name == "ssl"
    })
}
