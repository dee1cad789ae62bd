// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Attachments of a mail (RFC 2045, RFC 2046, RFC 2183): the parts that have a name, without their transfer encoding.

use memchr::memmem;

use crate::base64;

/// Multiparts inside each other that are looked at.
const DEPTH: usize = 8;
/// Attachments of a mail that are looked at.
const FILES: usize = 64;
/// Bytes of the headers of a part.
const HEADERS: usize = 1 << 15;

/// How the bytes of a part were encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Encoding {
    #[default]
    None,
    Base64,
    Quoted,
}

/// An attachment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct File {
    pub(crate) name: Vec<u8>,
    /// Its bytes, as far as they are looked at.
    pub(crate) bytes: Vec<u8>,
    /// All bytes that it has.
    pub(crate) size: u64,
}

/// A mail that comes line by line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mail {
    /// Boundaries of the multiparts around the current part, the outer one first.
    boundaries: Vec<Vec<u8>>,
    /// Headers of the part, one behind the other, while they are read. None: its body is read.
    headers: Option<Vec<u8>>,
    encoding: Encoding,
    /// The attachment that is read.
    file: Option<File>,
    /// The last line's end: it belongs to the boundary that may follow.
    ending: bool,
    /// Letters of base64 that are not a whole group.
    letters: Vec<u8>,
    files: usize,
    /// Parts that have begun.
    parts: usize,
    /// It is a form, and not a mail.
    is_form: bool,
    pub(crate) cut: bool,
}

/// Sections of a value that RFC 2231 lets a header have.
const SECTIONS: usize = 64;

/// The value of a parameter of a header: `name*=set'language'value`, or its sections `name*0="val"; name*1=ue`, or
/// `name=value` or `name="value"`; the first of these that it has, as programs that know RFC 2231 do. With a star at the
/// end of its name, a value has `%HH` in it.
pub(crate) fn parameter(header: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    let mut quoted = false;
    // Parameters have semicolons between them, except in quotes.
    let parts = header.split(|byte| {
        quoted ^= *byte == b'"';
        *byte == b';' && !quoted
    });
    let (mut plain, mut extended) = (None, None);
    let mut sections: Vec<(u32, Vec<u8>)> = Vec::new();
    for part in parts {
        let Some(equals) = part.iter().position(|byte| *byte == b'=') else { continue };
        let (key, value) = (part[..equals].trim_ascii(), part[equals + 1..].trim_ascii());
        let Some((own, rest)) = key.split_at_checked(name.len()) else { continue };
        if !own.eq_ignore_ascii_case(name) || value.is_empty() || sections.len() >= SECTIONS {
            continue;
        }
        let value = value.strip_prefix(b"\"").map_or(value, |value| value.strip_suffix(b"\"").unwrap_or(value));
        let (section, is_encoded) = rest.strip_suffix(b"*").map_or((rest, false), |rest| (rest, true));
        let number = section.strip_prefix(b"*").and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
        let value = match number {
            _ if !is_encoded => value.to_vec(),
            None | Some(0) => escaped(behind_language(value), b'%'),
            Some(_) => escaped(value, b'%'),
        };
        match (section, number) {
            ([], _) if is_encoded => drop(extended.get_or_insert(value)),
            ([], _) => drop(plain.get_or_insert(value)),
            (_, Some(number)) => sections.push((number, value)),
            // Another parameter, whose name begins with this one.
            _ => {}
        }
    }
    sections.sort_by_key(|(number, _)| *number);
    let joined = sections.into_iter().flat_map(|(_, value)| value).collect::<Vec<u8>>();
    [extended, Some(joined), plain].into_iter().flatten().find(|value| !value.is_empty())
}

/// A value without the character set and the language that stand before it, each with a quote behind it.
fn behind_language(value: &[u8]) -> &[u8] {
    let quotes = value.iter().enumerate().filter(|(_, byte)| **byte == b'\'').map(|(at, _)| at);
    quotes.take(2).last().map_or(value, |at| &value[at + 1..])
}

/// Bytes in which this one and two digits in hexadecimal stand for a byte.
fn escaped(bytes: &[u8], escape: u8) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        out.push(match behind {
            [high, low, behind @ ..] if *first == escape => match (digit(high), digit(low)) {
                (Some(high), Some(low)) => {
                    rest = behind;
                    high << 4 | low
                }
                _ => escape,
            },
            _ => *first,
        });
    }
    out
}

/// The value of a header, by its name in lower case. Folded lines were joined.
fn header<'a>(headers: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    headers.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        line[..colon].trim_ascii().eq_ignore_ascii_case(name).then(|| line[colon + 1..].trim_ascii())
    })
}

/// The bytes of a line in quoted-printable, and whether it goes on in the next line.
fn unquoted(line: &[u8]) -> (Vec<u8>, bool) {
    let line = line.trim_ascii_end();
    let (line, soft) = line.strip_suffix(b"=").map_or((line, false), |line| (line, true));
    (escaped(line, b'='), soft)
}

/// A form (RFC 7578).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Form {
    /// Its parts that have the name of a file.
    pub(crate) files: Vec<File>,
    /// It has more parts, or more headers of a part, than are looked at: the last file is all that follows.
    pub(crate) cut: bool,
    /// All its parts; none if its boundary does not come.
    pub(crate) parts: usize,
}

/// Reads a form. `kind`: the value of Content-Type. `most`: bytes of each part that are looked at. None: this is no form.
/// Parts have no transfer encoding and no parts of their own, whatever their headers say, as receivers have it.
pub(crate) fn form(kind: &[u8], body: &[u8], most: usize) -> Option<Form> {
    const FORM: &[u8] = b"multipart/form-data";
    kind.get(..FORM.len()).filter(|kind| kind.eq_ignore_ascii_case(FORM))?;
    let boundary = parameter(kind, b"boundary")?;
    let mut mail = Mail { boundaries: vec![boundary], is_form: true, ..Mail::default() };
    let (mut form, mut rest) = (Form::default(), body);
    while !rest.is_empty() {
        // A line feed alone is a byte of a file.
        let end = memmem::find(rest, b"\r\n");
        let (line, behind) = end.map_or((rest, &b""[..]), |end| (&rest[..end], &rest[end + 2..]));
        form.files.extend(mail.line(line, most));
        rest = behind;
        if mail.cut {
            // Otherwise a sender could hide a file behind others.
            let bytes = rest[..rest.len().min(most)].to_vec();
            form.files.push(File { name: Vec::new(), bytes, size: rest.len() as u64 });
            break;
        }
    }
    form.files.extend(mail.end(most));
    Some(Form { cut: mail.cut, parts: mail.parts, ..form })
}

impl Mail {
    /// A mail of which nothing was read.
    pub(crate) fn new() -> Self {
        Self { headers: Some(Vec::new()), ..Self::default() }
    }

    pub(crate) fn memory(&self) -> usize {
        let file = self.file.as_ref().map_or(0, |file| file.bytes.capacity() + file.name.capacity());
        let boundaries: usize = self.boundaries.iter().map(Vec::capacity).sum();
        self.headers.as_ref().map_or(0, Vec::capacity) + file + boundaries + self.letters.capacity()
    }

    /// Takes a line without its end; the attachment that ends with it, if there is one.
    pub(crate) fn line(&mut self, line: &[u8], most: usize) -> Option<File> {
        if let Some(inner) = line.strip_prefix(b"--").map(<[u8]>::trim_ascii_end) {
            let found = self.boundaries.iter().rposition(|boundary| {
                inner.strip_prefix(boundary.as_slice()).is_some_and(|rest| rest.is_empty() || rest == b"--")
            });
            if let Some(at) = found {
                let last = inner.len() > self.boundaries[at].len();
                self.boundaries.truncate(at + usize::from(!last));
                let file = self.end(most);
                self.headers = (!last).then(Vec::new);
                self.parts += usize::from(!last);
                return file;
            }
        }
        match &mut self.headers {
            Some(headers) if line.is_empty() => {
                let headers = std::mem::take(headers);
                self.headers = None;
                self.begin(&headers);
            }
            Some(headers) => {
                if headers.len() < HEADERS {
                    // A folded line goes on with the header before it.
                    headers.extend_from_slice(if matches!(line.first(), Some(b' ' | b'\t')) { b" " } else { b"\n" });
                    headers.extend_from_slice(line.trim_ascii());
                } else {
                    self.cut = true;
                }
            }
            None => self.body(line, most),
        }
        None
    }

    /// The headers of a part are complete.
    fn begin(&mut self, headers: &[u8]) {
        let kind = header(headers, b"content-type").unwrap_or_default();
        if !self.is_form
            && kind.get(..10).is_some_and(|kind| kind.eq_ignore_ascii_case(b"multipart/"))
            && let Some(boundary) = parameter(kind, b"boundary")
        {
            if self.boundaries.len() < DEPTH {
                self.boundaries.push(boundary);
            } else {
                self.cut = true;
            }
            return;
        }
        let disposition = header(headers, b"content-disposition").unwrap_or_default();
        let name = parameter(disposition, b"filename").or_else(|| parameter(kind, b"name"));
        let encoding = header(headers, b"content-transfer-encoding").unwrap_or_default();
        self.encoding = if self.is_form {
            Encoding::None
        } else if encoding.eq_ignore_ascii_case(b"base64") {
            Encoding::Base64
        } else if encoding.eq_ignore_ascii_case(b"quoted-printable") {
            Encoding::Quoted
        } else {
            Encoding::None
        };
        self.cut |= name.is_some() && self.files >= FILES;
        self.file = name.filter(|_| self.files < FILES).map(|name| File { name, ..File::default() });
        self.files += usize::from(self.file.is_some());
        (self.ending, self.letters) = (false, Vec::new());
    }

    /// Takes a line of an attachment.
    fn body(&mut self, line: &[u8], most: usize) {
        if self.file.is_none() {
            return;
        }
        match self.encoding {
            Encoding::Base64 => {
                // Whatever else stands between the letters is skipped (RFC 2045, section 6.8): a sender may put it
                // there, and the receiver's program does not see it.
                let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
                self.letters.extend(line.iter().filter(is_letter));
                let whole = self.letters.len() / 4 * 4;
                let rest = self.letters.split_off(whole);
                let letters = std::mem::replace(&mut self.letters, rest);
                self.add(&base64::decoded(&letters), most);
            }
            Encoding::Quoted => {
                let (bytes, soft) = unquoted(line);
                self.separate(most);
                self.add(&bytes, most);
                self.ending = !soft;
            }
            Encoding::None => {
                self.separate(most);
                self.add(line, most);
                self.ending = true;
            }
        }
    }

    /// Adds the end of the line before.
    fn separate(&mut self, most: usize) {
        if std::mem::take(&mut self.ending) {
            self.add(b"\r\n", most);
        }
    }

    fn add(&mut self, bytes: &[u8], most: usize) {
        let Some(file) = &mut self.file else { return };
        let room = most.saturating_sub(file.bytes.len());
        file.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        file.size += bytes.len() as u64;
    }

    /// Ends the part; the attachment that it is, if it is one.
    pub(crate) fn end(&mut self, most: usize) -> Option<File> {
        let letters = std::mem::take(&mut self.letters);
        self.add(&base64::decoded(&letters), most);
        self.headers = None;
        self.file.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_files() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nno file\r\n\
            --x\r\nContent-Disposition: form-data; name=\"b\"; filename=\"c.bin\"\r\n\r\none\ntwo\r\n\r\n--y\r\n--x\r\n\
            Content-Disposition: form-data; filename=\"d\"\r\nContent-Type: a/b\r\n\r\n\r\n--x--\r\nend";
        let file =
            |name: &[u8], bytes: &[u8]| File { name: name.into(), bytes: bytes.into(), size: bytes.len() as u64 };
        let kind = b"Multipart/Form-Data; boundary=x";
        let files = vec![file(b"c.bin", b"one\ntwo\r\n\r\n--y"), file(b"d", b"")];
        assert_eq!(form(kind, body, 99), Some(Form { files, cut: false, parts: 3 }));
        let cut = form(kind, &body[..130], 4);
        let first = cut.and_then(|form| form.files.into_iter().next());
        assert!(first.is_some_and(|file| file.bytes.len() <= 4 && file.name == b"c.bin"));
        assert_eq!((form(b"multipart/mixed; boundary=x", body, 99), form(&kind[..19], body, 99)), (None, None));
    }

    /// A sender can try to hide a file of a form: the inspector must see the file that the receiver gets.
    #[test]
    fn forms_hide_no_file() {
        let kind = b"multipart/form-data; boundary=x";
        let part = |more: &str, bytes: &str| {
            format!("--x\r\nContent-Disposition: form-data; filename=a\r\n{more}\r\n{bytes}\r\n")
        };
        let read = |body: &str| form(kind, body.as_bytes(), 999).unwrap_or_default();
        for more in [
            "Content-Transfer-Encoding: base64\r\n",
            "Content-Transfer-Encoding: quoted-printable\r\n",
            "Content-Type: multipart/mixed; boundary=y\r\n",
        ] {
            let form = read(&(part(more, "a=3Devil\r\n--y") + "--x--"));
            let found: Vec<&[u8]> = form.files.iter().map(|file| file.bytes.as_slice()).collect();
            assert_eq!((found, form.cut), (vec![&b"a=3Devil\r\n--y"[..]], false), "{more}");
        }
        let many = part("", "no").repeat(FILES);
        let form = read(&many);
        assert_eq!((form.files.len(), form.cut), (FILES, false));
        let form = read(&(many + &part("", "evil") + &part("", "more")));
        let last = form.files.last().map(|file| file.bytes.clone()).unwrap_or_default();
        assert_eq!((form.files.len(), form.cut, form.parts), (FILES + 1, true, FILES + 1));
        assert!(last.starts_with(b"evil\r\n--x\r\n") && last.ends_with(b"more\r\n"));
        assert_eq!(read("evil"), Form::default());
    }

    #[test]
    fn parameters_may_be_in_quotes() {
        let value = b"multipart/mixed; charset=x; Boundary=\"a;b=c\"; name = plain";
        assert_eq!(parameter(value, b"boundary"), Some(b"a;b=c".to_vec()));
        assert_eq!(parameter(value, b"name"), Some(b"plain".to_vec()));
        let value = b"attachment; filename*1*=%65%20; filename*0*=us-ascii''a-fil; filename*2=\"b\"; filenames=c";
        assert_eq!(parameter(value, b"filename"), Some(b"a-file b".to_vec()));
        assert_eq!((parameter(value, b"name"), parameter(b"x; name=", b"name")), (None, None));
    }

    /// Of several forms of a name, receivers take the one that RFC 2231 added.
    #[test]
    fn an_extended_value_is_the_name() {
        for value in [
            "filename=\"a.pdf\"; filename*=UTF-8''evil%2Eexe",
            "filename*=UTF-8'en'evil.exe; filename=a.pdf",
            "filename=a.pdf; filename*0=evil; filename*1*=%2Eexe",
            "filename*=''evil.exe; filename*0=x; filename*=y",
            "filename*=''; filename=evil.exe; filename=b; filename*x=c",
        ] {
            assert_eq!(parameter(value.as_bytes(), b"filename"), Some(b"evil.exe".to_vec()), "{value}");
        }
        assert_eq!(parameter(b"filename*=utf-8''it's", b"filename"), Some(b"it's".to_vec()));
    }

    /// An attachment between whose letters other bytes stand.
    #[test]
    fn bytes_that_are_no_letters_are_skipped() {
        let mut mail = Mail::new();
        for line in ["Content-Disposition: attachment; filename=a", "Content-Transfer-Encoding: base64", ""] {
            assert_eq!(mail.line(line.as_bytes(), 99), None);
        }
        for line in ["T!W\u{e9}-0g", "*Z_X.Z\0p", " bA,==\u{7f}"] {
            assert_eq!(mail.line(line.as_bytes(), 99), None);
        }
        assert_eq!(mail.end(99).map(|file| file.bytes), Some(b"Mm evil".to_vec()));
    }

    #[test]
    fn quoted_printable_is_undone() {
        assert_eq!(unquoted(b"a=3Db=C3=A4=zz=4"), ("a=bä=zz=4".as_bytes().to_vec(), false));
        assert_eq!(unquoted(b"more=  "), (b"more".to_vec(), true));
    }
}
