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
    /// SSH (RFC 4253): the messages before encryption begins.
    Ssh,
    /// SMTP (RFC 5321).
    Smtp,
    /// FTP (RFC 959): the control connection.
    Ftp,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Http, Self::Dns, Self::Tls, Self::Ssh, Self::Smtp, Self::Ftp];

    /// Its name in rules and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Dns => "dns",
            Self::Tls => "tls",
            Self::Ssh => "ssh",
            Self::Smtp => "smtp",
            Self::Ftp => "ftp",
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
    /// HTTP: headers behind the last chunk, as `name: value` with CR LF behind each.
    Trailer,
    /// A file: the body of HTTP, an attachment of a mail; a field for each.
    File,
    /// Name of a file; a field for each.
    FileName,
    /// Bytes of a file, 4 bytes; a field for each.
    FileSize,
    /// MD5 of a file; a field for each.
    FileMd5,
    /// SHA-1 of a file; a field for each.
    FileSha1,
    /// SHA-256 of a file; a field for each.
    FileSha256,
    /// DNS: name that a question of a query asks for; a field for each.
    Query,
    /// DNS: name of a question of any message; a field for each.
    QuestionName,
    /// DNS: name of a record in the answer section; a field for each.
    AnswerName,
    /// DNS: name of a record in the authority section; a field for each.
    AuthorityName,
    /// DNS: name of a record in the additional section; a field for each.
    AdditionalName,
    /// DNS: name of a question or record of a response; a field for each.
    ResponseName,
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
    /// TLS: random bytes of a hello.
    Random,
    /// TLS: the first 4 of them.
    RandomTime,
    /// TLS: the others.
    RandomBytes,
    /// TLS: JA4 of a client.
    Ja4,
    /// TLS: certificates of the chain, 4 bytes.
    ChainLength,
    /// TLS: alternative name in the first certificate; a field for each.
    AlternativeName,
    /// TLS: begin of the time for which the first certificate is valid, in s since 1970, 8 bytes with a sign.
    NotBefore,
    /// TLS: its end.
    NotAfter,
    /// SSH: version of the protocol.
    SshProto,
    /// SSH: name of the software.
    SshSoftware,
    /// SSH: MD5 of the string of a client's algorithms, in hexadecimal.
    Hassh,
    /// SSH: this string.
    HasshString,
    /// SSH: the same of a server.
    HasshServer,
    /// SSH: this string.
    HasshServerString,
    /// SMTP: name that the client gives itself.
    Helo,
    /// SMTP: sender of a mail.
    MailFrom,
    /// SMTP: a recipient; a field for each.
    Recipient,
    /// FTP: name of a command.
    FtpCommand,
    /// FTP: its argument.
    FtpCommandData,
    /// FTP: a line of a reply without the code; a field for each.
    FtpReply,
    /// FTP: code of a reply.
    FtpCode,
}

impl Field {
    /// The protocol whose messages have it; None: several have.
    #[must_use]
    pub fn protocol(self) -> Option<Protocol> {
        Some(match self {
            Self::File | Self::FileName | Self::FileSize | Self::FileMd5 | Self::FileSha1 | Self::FileSha256 => {
                return None;
            }
            Self::Query
            | Self::QuestionName
            | Self::AnswerName
            | Self::AuthorityName
            | Self::AdditionalName
            | Self::ResponseName
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
            | Self::Certificate
            | Self::Random
            | Self::RandomTime
            | Self::RandomBytes
            | Self::Ja4
            | Self::ChainLength
            | Self::AlternativeName
            | Self::NotBefore
            | Self::NotAfter => Protocol::Tls,
            Self::SshProto
            | Self::SshSoftware
            | Self::Hassh
            | Self::HasshString
            | Self::HasshServer
            | Self::HasshServerString => Protocol::Ssh,
            Self::Helo | Self::MailFrom | Self::Recipient => Protocol::Smtp,
            Self::FtpCommand | Self::FtpCommandData | Self::FtpReply | Self::FtpCode => Protocol::Ftp,
            _ => Protocol::Http,
        })
    }

    /// Number of the stage of a message with which the field is complete: of HTTP first line, headers, body, end; of TLS
    /// hello, certificate; of SSH identification, key exchange; of SMTP greeting, sender, recipients, attachments.
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
            Self::Recipient => 2,
            Self::Body | Self::File => 3,
            Self::Trailer | Self::FileName | Self::FileSize | Self::FileMd5 | Self::FileSha1 | Self::FileSha256 => 4,
            Self::Subject
            | Self::Issuer
            | Self::Serial
            | Self::Fingerprint
            | Self::Certificate
            | Self::ChainLength
            | Self::AlternativeName
            | Self::NotBefore
            | Self::NotAfter
            | Self::MailFrom => 1,
            Self::Hassh | Self::HasshString | Self::HasshServer | Self::HasshServerString => 1,
            field if field.protocol() == Some(Protocol::Http) => 1,
            _ => 0,
        }
    }
}
