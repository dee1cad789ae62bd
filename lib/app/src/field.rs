// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Names of protocols and of the parts of their messages.

/// An application protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// HTTP/1 (RFC 9112).
    Http,
    /// DNS over UDP and TCP (RFC 1035).
    Dns,
    /// TLS (RFC 5246, RFC 8446): the messages before encryption begins.
    Tls,
}

impl Protocol {
    /// Its name in rules and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Dns => "dns",
            Self::Tls => "tls",
        }
    }
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// HTTP: first line, without its end.
    Line,
    /// HTTP: method.
    Method,
    /// HTTP: path, decoded and normalized, and the query as it stands ([`normalized`](crate::normalized)).
    Uri,
    /// HTTP: the URI as it stands.
    UriRaw,
    /// HTTP: protocol and version, of both directions.
    Version,
    /// HTTP: status code.
    StatusCode,
    /// HTTP: reason phrase.
    StatusMessage,
    /// HTTP: headers as `name: value` with CR LF behind each, without cookies.
    Headers,
    /// HTTP: bytes behind the first line up to the empty line, which is included.
    HeadersRaw,
    /// HTTP: CR LF, then the name of each header and CR LF, then CR LF.
    HeaderNames,
    /// HTTP: first line and headers, with CR LF behind each and at the end.
    Start,
    /// HTTP: one header as `name: value`; a field for each.
    Header,
    /// HTTP: value of User-Agent.
    UserAgent,
    /// HTTP: host of the URI or of Host, in lower case, without port.
    Host,
    /// HTTP: the same as it stands.
    HostRaw,
    /// HTTP: value of Accept.
    Accept,
    /// HTTP: value of Accept-Encoding.
    AcceptEncoding,
    /// HTTP: value of Accept-Language.
    AcceptLanguage,
    /// HTTP: value of Referer.
    Referer,
    /// HTTP: value of Connection.
    Connection,
    /// HTTP: value of Content-Type.
    ContentType,
    /// HTTP: value of Content-Length.
    ContentLength,
    /// HTTP: value of Cookie or Set-Cookie.
    Cookie,
    /// HTTP: value of Server.
    Server,
    /// HTTP: value of Location.
    Location,
    /// HTTP: body without chunks and compression, as far as it is looked at.
    Body,
    /// DNS: name that a question of a query asks for; a field for each.
    Query,
    /// DNS: name of a question of any message; a field for each.
    QuestionName,
    /// DNS: name of a record in the answer section; a field for each.
    AnswerName,
    /// DNS: operation code, 4 bytes.
    Opcode,
    /// DNS: response code, 4 bytes.
    ResponseCode,
    /// DNS: type of a question or answer, 4 bytes; a field for each.
    RecordType,
    /// TLS: server name in the client hello.
    ServerName,
    /// TLS: version, as `1.2`.
    TlsVersion,
    /// TLS: protocol of the ALPN extension; a field for each.
    Alpn,
    /// TLS: MD5 of the JA3 string, in hexadecimal.
    Ja3Hash,
    /// TLS: JA3 string.
    Ja3String,
    /// TLS: MD5 of the JA3S string, in hexadecimal.
    Ja3sHash,
    /// TLS: JA3S string.
    Ja3sString,
    /// TLS: subject of the first certificate.
    Subject,
    /// TLS: its issuer.
    Issuer,
    /// TLS: its serial number, as `0A:1B`.
    Serial,
    /// TLS: its SHA-1, as `0a:1b`.
    Fingerprint,
    /// TLS: a certificate in DER; a field for each.
    Certificate,
}

impl Field {
    /// The protocol whose messages have it.
    #[must_use]
    pub fn protocol(self) -> Protocol {
        match self {
            Self::Query
            | Self::QuestionName
            | Self::AnswerName
            | Self::Opcode
            | Self::ResponseCode
            | Self::RecordType => Protocol::Dns,
            Self::ServerName
            | Self::TlsVersion
            | Self::Alpn
            | Self::Ja3Hash
            | Self::Ja3String
            | Self::Ja3sHash
            | Self::Ja3sString
            | Self::Subject
            | Self::Issuer
            | Self::Serial
            | Self::Fingerprint
            | Self::Certificate => Protocol::Tls,
            _ => Protocol::Http,
        }
    }

    /// Number of the stage of a message with which the field is complete: of HTTP first line, headers, body; of TLS
    /// hello, certificate.
    #[must_use]
    pub fn stage(self) -> u8 {
        match self {
            Self::Line
            | Self::Method
            | Self::Uri
            | Self::UriRaw
            | Self::Version
            | Self::StatusCode
            | Self::StatusMessage => 0,
            Self::Body => 2,
            Self::Subject | Self::Issuer | Self::Serial | Self::Fingerprint | Self::Certificate => 1,
            field if field.protocol() == Protocol::Http => 1,
            _ => 0,
        }
    }
}
